//! The executor that is real: a fresh process for each cell, over a slow link where the point has one.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tare_load::{Clock, Generator, Interval, Load, Monotonic, Route, RunReport, Schedule, Stop};

use super::{
    Cell,
    deadline::Deadlines,
    plan::{GridPlan, Offered, Point},
    schedule::Executor,
};
use crate::{
    run::{bench::SPIN, folder},
    sample::{CpuByMode, HostUsage, Hung, LinkUsage, LoadResult, Outcome, ProcessFacts, Sample, Second},
};
use tare_host::{
    cpus,
    link::{Link, LinkError, WayCounters},
    process::{self, Supervisor, Throttle},
};
use tare_service::{
    catalogue,
    contract::{CheckId, Contract},
    drive,
    launch::{self, Ready},
    probe::Readiness,
    prove::{GRACE, verify_options},
    verify,
};

/// Length of the intervals in which a load is watched.
const SECOND: Duration = Duration::from_secs(1);
/// How long connections may take to open before the load, without a link.
const OPENING: Duration = Duration::from_secs(10);
/// What is asked again after the load. Whether `Date` moves was asked before: it takes seconds, of which a cell may have few.
const CHECKS_AFTER_LOAD: [CheckId; 1] = [CheckId::Response];
/// How long a service that says nothing is looked at, to see whether it does anything.
const LOOK: Duration = Duration::from_millis(300);

/// Runs the cells of a sequential experiment.
#[derive(Debug)]
pub struct Bench<'a> {
    plan: &'a GridPlan,
    /// In the order of the plan's rows.
    services: Vec<catalogue::Service>,
    /// In the order of the plan's points.
    contracts: Vec<Contract>,
    supervisor: &'a Supervisor,
    run: PathBuf,
    interrupt: Arc<AtomicBool>,
}

/// Why a cell has no figures.
enum Miss {
    Interrupted,
    Failed(String),
}

impl<E: std::error::Error> From<E> for Miss {
    fn from(error: E) -> Miss {
        Miss::Failed(error.to_string())
    }
}

/// A service that runs, and who loads it.
struct Stage<'a> {
    point: &'a Point,
    link: Option<Link>,
    ready: Ready,
    generator: Generator,
}

impl<'a> Bench<'a> {
    /// A bench for the rows of `plan`, whose services are `services`, and for its points, whose contracts are `contracts` in the
    /// same order; files go to the run folder `run`.
    pub fn new(
        plan: &'a GridPlan,
        services: Vec<catalogue::Service>,
        contracts: Vec<Contract>,
        supervisor: &'a Supervisor,
        run: &Path,
        interrupt: Arc<AtomicBool>,
    ) -> Bench<'a> {
        Bench { plan, services, contracts, supervisor, run: run.to_owned(), interrupt }
    }

    fn measured(&self, cell: Cell) -> Result<Sample, Miss> {
        let mut stage = self.stage(cell)?;
        self.warm_up(&mut stage)?;
        let mut sample = self.load(&mut stage)?;
        let right = match sample.is_measured() {
            true => self.still_right(cell, &stage),
            false => Ok(()),
        };
        let unclean_stop = self.end(cell, stage)?;
        right?;
        if let Some(process) = &mut sample.host.process {
            process.unclean_stop = unclean_stop;
        }
        Ok(sample)
    }

    /// Other requests in every cell.
    fn seed(&self, cell: Cell) -> u64 {
        self.plan.seed ^ ((cell.round as u64 + 1) << 40 | (cell.point as u64) << 20 | cell.row as u64)
    }

    fn stage(&self, cell: Cell) -> Result<Stage<'a>, Miss> {
        let point = &self.plan.points[cell.point];
        let contract = &self.contracts[cell.point];
        let pinning = &self.plan.pinning;
        let link = point
            .link
            .as_ref()
            .map(|link| Link::create(&link.spec, &pinning.generator, self.seed(cell)))
            .transpose()?;
        let service_settings = self.plan.service_settings(cell);
        let settings = launch::Settings {
            contract,
            service_settings: &service_settings,
            cpus: &pinning.server,
            seed: self.seed(cell),
            // Of what is known to be wrong no right answer is waited for.
            readiness: match self.plan.rows[cell.row].complaint {
                None => Readiness::AnswersRightly,
                Some(_) => Readiness::Speaks,
            },
            port: None,
        };
        let folder = folder::service_folder(&self.run, &self.plan.rows[cell.row].planned.label);
        let ready = at_the_service(link.as_ref(), || {
            let service = &self.services[cell.row];
            launch::launch(service, &settings, self.supervisor, &folder, &stem(cell))
        })??;
        let mut route = Route::from(ready.address);
        route.namespace = link.as_ref().map(|link| link.client().fd());
        let connections = point.offered.connections();
        let generator = drive::generator(contract, route, connections, &pinning.generator, self.seed(cell))?;
        let mut stage = Stage { point, link, ready, generator };
        if point.offered.opens_before() {
            let patience = OPENING + 20 * Duration::from_nanos(point.rtt_ns());
            stage.generator.open(connections.total, patience)?;
        }
        Ok(stage)
    }

    /// In a closed loop without time to think, over the connections of the load.
    fn warm_up(&self, stage: &mut Stage) -> Result<(), Miss> {
        if stage.point.warm_up_ns == 0 || !stage.point.offered.opens_before() {
            return Ok(());
        }
        let window = Duration::from_nanos(stage.point.warm_up_ns);
        let load = stage.point.load();
        let stop = Stop::after(window, load.stop.drain);
        let warm_up = Load { schedule: Schedule::SATURATE, stop, ..load };
        stage.generator.run(&warm_up, &self.interrupt)?;
        alive(&stage.ready.process, "while it warmed up")
    }

    /// The generator polls before an instant that is due only where it has CPUs of its own.
    fn spin(&self, stage: &Stage) -> Duration {
        let is_open = matches!(stage.point.offered, Offered::Open { .. });
        let is_alone = self.plan.pinning.apart() && stage.link.is_none();
        if is_open && is_alone { SPIN } else { Duration::ZERO }
    }

    fn load(&self, stage: &mut Stage) -> Result<Sample, Miss> {
        let pinning = &self.plan.pinning;
        let load = Load { interval: Some(SECOND), spin: self.spin(stage), ..stage.point.load() };
        let mut progress = Progress::new(stage.point.deadlines(), stage.point.offered.requests());
        let process = &stage.ready.process;
        let halt = Arc::new(AtomicBool::new(false));
        let reading = || cpus::Reading::take(pinning, Monotonic.now_ns());
        let throttle = Throttle::of(process.pid());
        let throttled_ns = throttle.ns();
        let (cpu_ns, modes, before) = (process.cpu_ns()?, process.cpu_by_mode(), reading());
        let report = stage.generator.run_watched(&load, &halt, &mut |interval| {
            progress.hear(interval);
            if progress.is_stuck() || self.interrupt.load(Ordering::Relaxed) {
                halt.store(true, Ordering::Relaxed);
            }
        })?;
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Miss::Interrupted);
        }
        let hung = progress.hung(&report).map(|hung| look(process, hung));
        alive(process, "during the load")?;
        process.freeze()?;
        let accounting = reading().zip(before).map(|(after, before)| after.since(&before));
        let server_cpu_ns = process.cpu_ns()?.saturating_sub(cpu_ns);
        let modes_after = process.cpu_by_mode();
        process.thaw()?;
        report.total.tally.reconcile()?;
        let link = stage.link.as_ref().map(LinkUsage::of).transpose()?;
        let mut host = HostUsage {
            server_cpu_ns,
            server_cpu_by_mode: Some(CpuByMode {
                user_ns: modes_after.user.saturating_sub(modes.user).as_nanos() as u64,
                system_ns: modes_after.system.saturating_sub(modes.system).as_nanos() as u64,
            }),
            generator_cpu_ns: report.generator_cpu_ns,
            accounting,
            throttled_ns: throttle.ns().zip(throttled_ns).map(|(after, before)| after.saturating_sub(before)),
            link,
            process: Some(ProcessFacts {
                start_up_ns: stage.ready.start_up.as_nanos() as u64,
                rss_bytes_peak: Some(process.rss_bytes_peak()).filter(|bytes| *bytes > 0),
                unclean_stop: None,
            }),
            ..HostUsage::default()
        };
        let own_ns = server_cpu_ns + report.generator_cpu_ns + host.link_cpu_ns();
        host.foreign_cpu_ns = accounting.map(|books| books.foreign_ns(pinning, own_ns));
        let load = LoadResult {
            offered_per_second: stage.point.offered.per_second(),
            seconds: progress.seconds,
            ..LoadResult::of(&report, &[])
        };
        let outcome = hung.map_or(Outcome::Measured, Outcome::Hung);
        Ok(Sample { outcome, load, host, ..Sample::default() })
    }

    /// A service that was right before the load and is wrong after it has no figures.
    fn still_right(&self, cell: Cell, stage: &Stage) -> Result<(), Miss> {
        if self.plan.rows[cell.row].complaint.is_some() {
            return Ok(());
        }
        let mut options = verify_options(&self.services[cell.row], self.seed(cell));
        options.timeouts.answer += Duration::from_millis(stage.point.service_settings.delay_ms);
        let transcript = at_the_service(stage.link.as_ref(), || {
            verify::verify_only(
                &self.contracts[cell.point],
                stage.ready.address,
                &options,
                &CHECKS_AFTER_LOAD,
            )
        })?;
        match transcript.reason() {
            None => Ok(()),
            Some(reason) => Err(Miss::Failed(format!("wrong after the load: {reason}"))),
        }
    }

    /// How the service stopped, where that was not clean.
    fn end(&self, cell: Cell, stage: Stage) -> Result<Option<String>, Miss> {
        let Stage { link, ready, mut generator, .. } = stage;
        generator.close();
        let stopped = at_the_service(link.as_ref(), || ready.process.stop(GRACE))?;
        let row = &self.plan.rows[cell.row].planned.label;
        self.drop_silent_logs(row, cell);
        Ok((!stopped.is_clean()).then(|| stopped.to_string()))
    }

    /// Hundreds of cells leave hundreds of files that say nothing.
    fn drop_silent_logs(&self, row: &str, cell: Cell) {
        let folder = folder::service_folder(&self.run, row);
        for kind in ["stdout", "stderr"] {
            let path = folder.join(format!("{}.{kind}", stem(cell)));
            if fs::metadata(&path).is_ok_and(|file| file.len() == 0) {
                // One that stays does no harm.
                let _gone = fs::remove_file(path);
            }
        }
    }
}

impl Executor for Bench<'_> {
    fn cell(&mut self, cell: Cell) -> Option<Sample> {
        match self.measured(cell) {
            Ok(sample) => Some(sample),
            Err(Miss::Interrupted) => None,
            Err(Miss::Failed(_)) if self.interrupted() => None,
            Err(Miss::Failed(reason)) => {
                Some(Sample { outcome: Outcome::Failed { reason }, ..Sample::default() })
            }
        }
    }

    fn now_ns(&self) -> u64 {
        Monotonic.now_ns()
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// On the service's side of the link, where there is one.
fn at_the_service<T: Send>(link: Option<&Link>, act: impl FnOnce() -> T + Send) -> Result<T, Miss> {
    match link {
        Some(link) => Ok(link.server().within(act)?),
        None => Ok(act()),
    }
}

fn alive(process: &process::Service, when: &str) -> Result<(), Miss> {
    drive::death(process, when).map_or(Ok(()), |death| Err(Miss::Failed(death)))
}

fn stem(cell: Cell) -> String {
    format!("round-{:02}-point-{:03}", cell.round, cell.point)
}

/// With what the service does that says nothing.
fn look(process: &process::Service, hung: Hung) -> Hung {
    let before = process.cpu_ns().unwrap_or(0);
    std::thread::sleep(LOOK);
    let cpu_ns = process.cpu_ns().unwrap_or(0).saturating_sub(before);
    Hung { threads: process.threads() as u64, cpu_share: cpu_ns as f64 / LOOK.as_nanos() as f64, ..hung }
}

impl LinkUsage {
    fn of(link: &Link) -> Result<LinkUsage, LinkError> {
        let books = link.counters()?;
        let both = |of: fn(&WayCounters) -> u64| of(&books.up) + of(&books.down);
        let mut late = books.up.late.clone();
        late.merge(&books.down.late);
        Ok(LinkUsage {
            kind: link.kind().to_string(),
            cpu_ns: books.cpu_ns,
            packets: both(|way| way.packets),
            lost: both(|way| way.lost),
            dropped: both(|way| way.dropped),
            unread: books.unread,
            late_ns_p99: late.quantile_ns(0.99),
        })
    }
}

/// How a load gets on, second by second.
struct Progress {
    deadlines: Deadlines,
    requests: Option<u64>,
    answered: u64,
    silent_ns: u64,
    seconds: Vec<Second>,
}

impl Progress {
    fn new(deadlines: Deadlines, requests: Option<u64>) -> Progress {
        Progress { deadlines, requests, answered: 0, silent_ns: 0, seconds: Vec::new() }
    }

    fn hear(&mut self, interval: &Interval) {
        let second = Second {
            ns: interval.to_ns - interval.from_ns,
            answered: interval.measures.tally.answered,
            latency_ns_max: interval.measures.latency.max_ns(),
        };
        self.answered += second.answered;
        // A wrong answer, or a reset, is no silence.
        let is_silent = second.answered == 0 && interval.measures.tally.failed.total() == 0;
        self.silent_ns = if is_silent { self.silent_ns + second.ns } else { 0 };
        self.seconds.push(second);
    }

    /// Of a load that ends by a number. One that ends by time ends in any case.
    fn is_stuck(&self) -> bool {
        self.requests
            .is_some_and(|requests| self.answered < requests && self.silent_ns >= self.deadlines.silence_ns)
    }

    /// How a load that should have come to its end did not.
    fn hung(&self, report: &RunReport) -> Option<Hung> {
        let requests = self.requests?;
        let hung = Hung { deadline_ns: self.deadlines.all_ns, requests, ..Hung::default() };
        if self.is_stuck() {
            return Some(Hung { silent_ns: Some(self.silent_ns), answered: self.answered, ..hung });
        }
        let answered = report.total.tally.answered;
        let is_over = report.elapsed_ns >= self.deadlines.all_ns && answered < requests;
        is_over.then_some(Hung { answered, ..hung })
    }
}
