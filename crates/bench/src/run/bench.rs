//! The executor that is real: processes, sockets and the clock of this machine.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tare_service::prove::{CHECKS_AFTER_LOAD, GRACE, verify_options};

use tare_load::{
    Arrivals, Clock, Connections, Generator, Load, Measures, Monotonic, Process, Profile, Quota, RunReport,
    Schedule, Stop,
};

use super::{
    folder,
    plan::Plan,
    record::{self, Latency, Pilot},
    schedule::{Executor, RowFailure, SliceLoad},
    steady::steady_from,
};
use crate::experiment::LoadSetting;
use crate::sample::{HostUsage, LoadResult, Sample};
use tare_host::cpus;
use tare_host::process::{Stopped, Supervisor, Throttle};
use tare_service::{catalogue, contract::Contract, verify};
use tare_service::{
    drive::{self, RESPONSE_TIMEOUT},
    launch::{self, Ready, Settings},
    probe::Readiness,
};

/// How long answers are waited for after a slice's window.
const DRAIN: Duration = Duration::from_secs(2);
/// How long before a due instant the generator stops sleeping.
pub const SPIN: Duration = Duration::from_micros(60);
/// Length of a window of a warm-up curve.
const PILOT_WINDOW_NS: u64 = 250_000_000;

/// Runs services and loads them.
#[derive(Debug)]
pub struct Bench<'a> {
    plan: &'a Plan,
    /// In the order of the plan's rows.
    services: Vec<catalogue::Service>,
    contract: &'a Contract,
    supervisor: &'a Supervisor,
    run: PathBuf,
    interrupt: Arc<AtomicBool>,
    running: BTreeMap<usize, Running>,
    limits_ns: Vec<u64>,
}

#[derive(Debug)]
struct Running {
    ready: Ready,
    throttle: Throttle,
    /// With the connections of one load.
    generator: Generator,
    /// In the order of the plan's points.
    latency: Vec<Measures>,
}

impl<'a> Bench<'a> {
    /// A bench for the rows of `plan`, whose services are `services`; files go to the run folder `run`.
    pub fn new(
        plan: &'a Plan,
        services: Vec<catalogue::Service>,
        contract: &'a Contract,
        supervisor: &'a Supervisor,
        run: &Path,
        interrupt: Arc<AtomicBool>,
    ) -> Bench<'a> {
        Bench {
            plan,
            services,
            contract,
            supervisor,
            run: run.to_owned(),
            interrupt,
            running: BTreeMap::new(),
            limits_ns: Vec::new(),
        }
    }

    /// Counts in every slice how many answers came within these times.
    #[must_use]
    pub fn counting_within(mut self, limits_ns: Vec<u64>) -> Bench<'a> {
        self.limits_ns = limits_ns;
        self
    }

    /// Other requests for every process that is started.
    fn seed(&self, row: usize, block: usize) -> u64 {
        self.plan.seed ^ ((block as u64 + 1) << 32 | row as u64)
    }

    /// A fresh process with open connections, and no load yet.
    fn launch(&self, row: usize, stem: &str, seed: u64) -> Result<Running, RowFailure> {
        let settings = Settings {
            contract: self.contract,
            service_settings: &self.plan.service_settings,
            cpus: &self.plan.pinning.server,
            seed,
            readiness: Readiness::AnswersRightly,
            port: None,
        };
        let folder = folder::service_folder(&self.run, &self.plan.rows[row].label);
        let ready = launch::launch(&self.services[row], &settings, self.supervisor, &folder, stem)
            .map_err(failure)?;
        Ok(Running {
            generator: self.generator(&ready, self.plan.load(), seed)?,
            throttle: Throttle::of(ready.process.pid()),
            ready,
            latency: vec![Measures::default(); self.plan.points()],
        })
    }

    fn generator(&self, ready: &Ready, load: &LoadSetting, seed: u64) -> Result<Generator, RowFailure> {
        let connections = Connections { total: load.connections, threads: load.threads };
        let cpus = &self.plan.pinning.generator;
        drive::generator(self.contract, ready.address, connections, cpus, seed).map_err(failure)
    }

    /// Where a plan has several loads, each slice begins with connections of its own, each with one answer before the window: a
    /// service must not hold connections of another load, each of which may have a thread there. Always, and not only where
    /// the load is another one, so that the slices of all loads begin alike.
    fn connect(&self, running: &mut Running, draw: u64, offer: SliceLoad) -> Result<(), RowFailure> {
        if self.plan.loads.len() == 1 {
            return Ok(());
        }
        let load = match offer {
            SliceLoad::Closed { load } => &self.plan.loads[load],
            SliceLoad::Open { .. } => self.plan.load(),
        };
        running.ready.process.thaw().map_err(failure)?;
        running.generator.close();
        running.generator = self.generator(&running.ready, load, draw)?;
        // What cannot be opened is tried again in the window, and counted there.
        let _not_all_are_open = running.generator.open(load.connections, RESPONSE_TIMEOUT);
        let stop = Stop::count(Quota::RequestsEach(1), RESPONSE_TIMEOUT, RESPONSE_TIMEOUT);
        let once = Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT);
        running.generator.run(&once, &self.interrupt).map_err(failure)?;
        running.ready.process.freeze().map_err(failure)
    }

    fn begin(&self, row: usize, block: usize, warm_up_ns: u64) -> Result<Running, RowFailure> {
        let mut running = self.launch(row, &format!("block-{block:03}"), self.seed(row, block))?;
        self.settle(&mut running, warm_up_ns)?;
        Ok(running)
    }

    /// Warmed up and frozen.
    fn settle(&self, running: &mut Running, warm_up_ns: u64) -> Result<(), RowFailure> {
        if warm_up_ns > 0 {
            self.warm_up(running, warm_up_ns)?;
        }
        running.ready.process.freeze().map_err(failure)
    }

    /// On failure the service is dropped by whoever took it, which kills it.
    fn taken(&mut self, row: usize) -> Result<Running, RowFailure> {
        self.running.remove(&row).ok_or_else(|| RowFailure("is not running".to_owned()))
    }

    fn warm_up(&self, running: &mut Running, window_ns: u64) -> Result<RunReport, RowFailure> {
        let report = self.drive(&mut running.generator, window_ns)?;
        if report.total.tally.answered == 0 {
            self.ask_once_more(running)?;
        }
        self.alive(running, "while it was warmed up")?;
        Ok(report)
    }

    /// A window without an answer says little where it was short and the machine busy: once more, with all the time that a
    /// request has.
    fn ask_once_more(&self, running: &mut Running) -> Result<(), RowFailure> {
        let asked = Quota::Requests(self.plan.load().connections as u64);
        let stop = Stop::count(asked, RESPONSE_TIMEOUT, RESPONSE_TIMEOUT);
        let load = Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT);
        let report = running.generator.run(&load, &self.interrupt).map_err(failure)?;
        self.alive(running, "while it was warmed up")?;
        match report.total.tally.answered {
            0 if !self.interrupted() => Err(RowFailure(drive::no_right_answer(&report))),
            _ => Ok(()),
        }
    }

    /// Loads a fresh process window by window until its cost is steady, or it had the longest time.
    fn warm_up_curve(&self, row: usize) -> Result<Pilot, RowFailure> {
        let began_ns = Monotonic.now_ns();
        let mut running = self.launch(row, "pilot", self.seed(row, usize::MAX >> 32))?;
        let longest_ns = self.plan.warm_up_ns_max.unwrap_or(self.plan.warm_up_ns);
        let (mut answered, mut cpu_ns, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        let mut steady = None;
        while steady.is_none() && costs.len() as u64 * PILOT_WINDOW_NS < longest_ns && !self.interrupted() {
            let before = running.ready.process.cpu_ns().map_err(failure)?;
            let report = self.warm_up(&mut running, PILOT_WINDOW_NS)?;
            let cpu = running.ready.process.cpu_ns().map_err(failure)?.saturating_sub(before);
            answered.push(report.total.tally.answered);
            cpu_ns.push(cpu);
            costs.push(cpu as f64 / report.total.tally.answered.max(1) as f64);
            steady = steady_from(&costs);
        }
        running.generator.close();
        running.ready.process.stop(GRACE);
        let loaded_ns = costs.len() as u64 * PILOT_WINDOW_NS;
        Ok(Pilot {
            row,
            window_ns: PILOT_WINDOW_NS,
            start_ns: (Monotonic.now_ns() - began_ns).saturating_sub(loaded_ns),
            answered,
            server_cpu_ns: cpu_ns,
            steady_after_ns: steady.map(|windows| windows as u64 * PILOT_WINDOW_NS),
        })
    }

    fn drive(&self, generator: &mut Generator, window_ns: u64) -> Result<RunReport, RowFailure> {
        generator.run(&load(Schedule::SATURATE, window_ns), &self.interrupt).map_err(failure)
    }

    /// The load of one slice. The generator polls before an instant that is due only where it has CPUs of its own.
    fn load_of(&self, offer: SliceLoad) -> Result<Load, RowFailure> {
        let (SliceLoad::Open { per_second, .. }, Some(latency)) = (offer, &self.plan.latency) else {
            return Ok(load(Schedule::SATURATE, self.plan.slice_ns));
        };
        // A service that answered nothing in its closed loop is asked something all the same.
        let profile = Profile::constant(per_second.max(1.0)).map_err(failure)?;
        let arrivals = Arrivals { profile, process: Process::Poisson };
        let spin = if self.plan.pinning.apart() { SPIN } else { Duration::ZERO };
        Ok(Load { spin, ..load(Schedule::Open(arrivals), latency.slice_ns) })
    }

    fn alive(&self, running: &Running, when: &str) -> Result<(), RowFailure> {
        drive::death(&running.ready.process, when).map_or(Ok(()), |death| Err(RowFailure(death)))
    }

    fn measure(&self, running: &mut Running, draw: u64, offer: SliceLoad) -> Result<Sample, RowFailure> {
        self.connect(running, draw, offer)?;
        let load = self.load_of(offer)?;
        let pool = drive::pool(self.contract, running.ready.address, draw);
        running.generator.set_pool(pool);
        let process = &running.ready.process;
        let pinning = &self.plan.pinning;
        let reading = || cpus::Reading::take(pinning, self.now_ns());
        let cpu_ns_before = process.cpu_ns().map_err(failure)?;
        let (throttled_ns_before, switches_before) = (running.throttle.ns(), process.context_switches());
        process.thaw().map_err(failure)?;
        let before = reading();
        let report = running.generator.run(&load, &self.interrupt).map_err(failure)?;
        let accounting = reading().zip(before).map(|(after, before)| after.since(&before));
        self.alive(running, "during a slice")?;
        let process = &running.ready.process;
        process.freeze().map_err(failure)?;
        let server_cpu_ns = process.cpu_ns().map_err(failure)?.saturating_sub(cpu_ns_before);
        report.total.tally.reconcile().map_err(failure)?;
        running.latency[offer.point(self.plan)] += &report.total;
        let own_ns = server_cpu_ns + report.generator_cpu_ns;
        let throttled = running.throttle.ns().zip(throttled_ns_before);
        let host = HostUsage {
            server_cpu_ns,
            generator_cpu_ns: report.generator_cpu_ns,
            foreign_cpu_ns: accounting.map(|books| books.foreign_ns(pinning, own_ns)),
            accounting,
            throttled_ns: throttled.map(|(after, before)| after.saturating_sub(before)),
            context_switches: Some(process.context_switches().saturating_sub(switches_before)),
            ..HostUsage::default()
        };
        Ok(Sample { load: LoadResult::of(&report, &self.limits_ns), host, ..Sample::default() })
    }

    fn finish(&self, row: usize, block: usize, mut running: Running) -> Result<record::Stopped, RowFailure> {
        running.ready.process.thaw().map_err(failure)?;
        self.still_right(row, block, &running)?;
        let process = &running.ready.process;
        let mut facts = record::Stopped {
            rss_bytes_peak: Some(process.rss_bytes_peak()).filter(|bytes| *bytes > 0),
            context_switches: Some(process.context_switches()),
            latency: running.latency.iter().map(latency).collect(),
            ..record::Stopped::default()
        };
        self.keep_histograms(row, block, &running)?;
        running.generator.close();
        let stopped = running.ready.process.stop(GRACE);
        match stopped {
            Stopped::ExitedBefore { .. } | Stopped::Unstoppable { .. } => {
                Err(RowFailure(stopped.to_string()))
            }
            stopped if stopped.is_clean() => Ok(facts),
            stopped => {
                facts.unclean_stop = Some(stopped.to_string());
                Ok(facts)
            }
        }
    }

    /// One file for each point.
    fn keep_histograms(&self, row: usize, block: usize, running: &Running) -> Result<(), RowFailure> {
        for (point, measures) in self.plan.point_labels().into_iter().zip(&running.latency) {
            let label = &self.plan.rows[row].label;
            let path = folder::histogram_path(&self.run, label, block, point.as_deref());
            write(&path, &measures.latency.serialize())
                .map_err(|error| RowFailure(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }

    /// A service that was right before the load and is wrong after it has no figures.
    fn still_right(&self, row: usize, block: usize, running: &Running) -> Result<(), RowFailure> {
        if self.interrupted() {
            return Ok(());
        }
        self.alive(running, "between two slices")?;
        let options = verify_options(&self.services[row], self.seed(row, block));
        let transcript =
            verify::verify_only(self.contract, running.ready.address, &options, &CHECKS_AFTER_LOAD);
        match transcript.reason() {
            None => Ok(()),
            Some(reason) => Err(RowFailure(format!("wrong after the load: {reason}"))),
        }
    }
}

impl Executor for Bench<'_> {
    fn pilot(&mut self, row: usize) -> Result<Pilot, RowFailure> {
        self.warm_up_curve(row)
    }

    fn start(&mut self, row: usize, block: usize, warm_up_ns: u64) -> Result<Duration, RowFailure> {
        let running = self.begin(row, block, warm_up_ns)?;
        let start_up = running.ready.start_up;
        self.running.insert(row, running);
        Ok(start_up)
    }

    fn wake(&mut self, row: usize, warm_up_ns: u64) -> Result<(), RowFailure> {
        let mut running = self.taken(row)?;
        running.ready.process.thaw().map_err(failure)?;
        self.settle(&mut running, warm_up_ns)?;
        self.running.insert(row, running);
        Ok(())
    }

    fn slice(&mut self, row: usize, draw: u64, offer: SliceLoad) -> Result<Sample, RowFailure> {
        let mut running = self.taken(row)?;
        let sample = self.measure(&mut running, draw, offer)?;
        self.running.insert(row, running);
        Ok(sample)
    }

    fn stop(&mut self, row: usize, block: usize) -> Result<record::Stopped, RowFailure> {
        let running = self.taken(row)?;
        self.finish(row, block, running)
    }

    fn now_ns(&self) -> u64 {
        Monotonic.now_ns()
    }

    fn interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

fn load(schedule: Schedule, window_ns: u64) -> Load {
    let stop = Stop::after(Duration::from_nanos(window_ns), DRAIN);
    Load::new(schedule, stop, RESPONSE_TIMEOUT)
}

fn failure(error: impl std::fmt::Display) -> RowFailure {
    RowFailure(error.to_string())
}

fn latency(measures: &Measures) -> Option<Latency> {
    let of = |q| measures.quantile(q).ns;
    (measures.latency.count() + measures.unanswered.count() > 0).then(|| Latency {
        p50_ns: of(0.5),
        p90_ns: of(0.9),
        p99_ns: of(0.99),
        p999_ns: of(0.999),
        max_ns: of(1.0),
        at_least: measures.unanswered.count() > 0,
    })
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}
