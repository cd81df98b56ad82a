//! One run on the agent's side. One thread reads messages, and answers clock questions at once; another does
//! the slow work. The load ends when the controller is gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tare_base::{Clock, Monotonic};
use tare_load::{Generator, Load, RequestQuota, RunInterval, Schedule, Stop, Waiting};

use crate::job::Job;
use crate::link::{Receiver, Sender};
use crate::message::{ControllerMessage, Prepared, Reply};
use crate::options::AgentOptions;
use crate::report::ReportParts;
use crate::rig::{CpuMeter, ReadyJob, Rig};
use crate::watch;

/// A server accepts at least this many connections per millisecond.
const CONNECTS_PER_MS: usize = 1;

/// How a run ended on this side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// The controller ended the run.
    Complete,
    /// The controller is gone, for this reason.
    Gone(String),
    /// The agent was asked to stop.
    Stopped,
}

/// Serves a controller until the run ends.
pub(crate) fn hold(
    sender: Sender,
    receiver: Receiver,
    rig: &dyn Rig,
    options: &AgentOptions,
    stop: &AtomicBool,
) -> RunEnd {
    let sender = Mutex::new(sender);
    let says = Says(&sender);
    says.say(&Reply::About(options.about()));
    let interrupt = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (orders, received) = mpsc::channel();
        let works = Arc::clone(&interrupt);
        scope.spawn(move || {
            let mut runner =
                Runner { rig, says, is_watch: options.watch.is_some(), interrupt: works, ready: None };
            while let Ok(order) = received.recv() {
                runner.execute(order);
            }
        });
        let end = read(receiver, says, &orders, &interrupt, (options.silence, stop));
        interrupt.store(true, Ordering::Relaxed);
        end
    })
}

/// Reads orders until the run ends.
fn read(
    mut receiver: Receiver,
    says: Says<'_>,
    orders: &mpsc::Sender<ControllerMessage>,
    interrupt: &AtomicBool,
    (silence_max, stop): (Duration, &AtomicBool),
) -> RunEnd {
    let mut silence = Duration::ZERO;
    loop {
        if stop.load(Ordering::Relaxed) {
            says.say(&Reply::Failed("the agent was stopped".to_owned()));
            return RunEnd::Stopped;
        }
        match receiver.receive() {
            Ok(Some(ControllerMessage::Ping { sent_ns })) => {
                says.say(&Reply::Pong { sent_ns, clock_ns: Monotonic.now_ns() });
                silence = Duration::ZERO;
            }
            Ok(Some(ControllerMessage::Stop)) => interrupt.store(true, Ordering::Relaxed),
            Ok(Some(ControllerMessage::Bye)) => return RunEnd::Complete,
            Ok(Some(order)) => {
                silence = Duration::ZERO;
                let _panicked = orders.send(order);
            }
            Ok(None) => {
                silence += Receiver::PATIENCE;
                if silence >= silence_max {
                    return RunEnd::Gone(format!("it said nothing for {silence:?}"));
                }
            }
            Err(error) => return RunEnd::Gone(error.to_string()),
        }
    }
}

/// The sending half, shared by both threads.
#[derive(Clone, Copy)]
struct Says<'a>(&'a Mutex<Sender>);

impl Says<'_> {
    /// Errors are ignored: the reading thread notices when the controller is gone.
    fn say(self, reply: &Reply) {
        let mut sender = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sender.send(reply).is_err() {
            sender.close();
        }
    }
}

/// Runs orders in sequence.
struct Runner<'a> {
    rig: &'a dyn Rig,
    says: Says<'a>,
    is_watch: bool,
    interrupt: Arc<AtomicBool>,
    ready: Option<Part>,
}

/// The prepared form of a job.
enum Part {
    Generates(Box<(Generator, Waiting, Job)>),
    Watches(Box<dyn CpuMeter>, Box<Job>),
}

impl Runner<'_> {
    fn execute(&mut self, order: ControllerMessage) {
        let reply = match order {
            ControllerMessage::Learn(job) => self.rig.learn(&job).map(Reply::Learned),
            ControllerMessage::Prepare(job) => self.prepare(job).map(Reply::Prepared),
            ControllerMessage::Begin { at_ns, warm_up } => self.run(at_ns, warm_up),
            ControllerMessage::Release => return self.ready = None,
            // The reading thread has handled these.
            ControllerMessage::Ping { .. } | ControllerMessage::Stop | ControllerMessage::Bye => return,
        };
        self.says.say(&reply.unwrap_or_else(Reply::Failed));
    }

    fn prepare(&mut self, job: Box<Job>) -> Result<Prepared, String> {
        // Close the connections of the previous load, each of which may occupy a thread of the server.
        self.ready = None;
        if self.is_watch {
            let (meter, prepared) = self.rig.watch(&job)?;
            self.ready = Some(Part::Watches(meter, job));
            return Ok(prepared);
        }
        let ReadyJob { settings, pool, waiting, prepared } = self.rig.prepare(&job)?;
        let total = settings.connections.total;
        let mut generator = Generator::new(settings, pool).map_err(|error| error.to_string())?;
        if job.opens_before {
            let more = Duration::from_millis((total / CONNECTS_PER_MS) as u64);
            let patience = Duration::from_nanos(job.load.connect_timeout_ns) + more;
            match generator.open(total, patience) {
                Err(error) if !job.primes => return Err(error.to_string()),
                // A connection that failed is tried again in the load, and counted there.
                Err(_) | Ok(()) => {}
            }
        }
        let primed = if job.primes { self.prime(&mut generator, &job)? } else { None };
        let prepared = Prepared { primed, ..prepared };
        self.ready = Some(Part::Generates(Box::new((generator, waiting, *job))));
        Ok(prepared)
    }

    /// Sends one request over each connection.
    fn prime(&self, generator: &mut Generator, job: &Job) -> Result<Option<Box<ReportParts>>, String> {
        let patience = Duration::from_nanos(job.load.response_timeout_ns);
        let stop = Stop::count(RequestQuota::RequestsEach(1), patience, patience);
        let report = generator.run(&Load::new(Schedule::SATURATE, stop, patience), &self.interrupt);
        let report = report.map_err(|error| error.to_string())?;
        Ok(Some(Box::new((&report).into())))
    }

    fn run(&mut self, at_ns: u64, warm_up: bool) -> Result<Reply, String> {
        let late_ns = Monotonic.now_ns().saturating_sub(at_ns);
        // Without this check, requests that were due meanwhile would be sent at once.
        if late_ns > 0 {
            return Err(format!("it was given the start {:.3} s too late", late_ns as f64 / 1e9));
        }
        match self.ready.as_mut().ok_or("it was given a start before a job")? {
            Part::Watches(..) if warm_up => Ok(Reply::WarmedUp),
            Part::Watches(meter, job) => {
                watch::readings(meter.as_ref(), at_ns, &job.load.marks_ns, &self.interrupt)
                    .map(Reply::Watched)
                    .map_err(|error| format!("the CPU time of the service cannot be read: {error}"))
            }
            Part::Generates(part) => {
                let (generator, waiting, job) = part.as_mut();
                let load = if warm_up { job.warm_up(*waiting, at_ns) } else { job.load(*waiting, at_ns) };
                let load = load.map_err(|error| error.to_string())?;
                let says = self.says;
                let mut tell = |interval: &RunInterval| {
                    if !warm_up {
                        says.say(&Reply::Interval(Box::new(interval.into())));
                    }
                };
                let report = generator.run_watched(&load, &self.interrupt, &mut tell);
                let report = report.map_err(|error| error.to_string())?;
                Ok(if warm_up { Reply::WarmedUp } else { Reply::Finished(Box::new((&report).into())) })
            }
        }
    }
}
