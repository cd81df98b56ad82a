//! `tare load --calibrate`: the generator's limits on this machine, against the cheapest server, raw-socket.
//!
//! Every figure is measured now. With two CPUs or more, the server and the generator have one each.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, ensure};
use serde::Serialize;
use tare_base::Endpoint;
use tare_host::{
    cpus::{self, Pinning},
    process::Sandbox,
    signals,
};
use tare_load::{
    Connections, DriverChoice, DriverKind, Exchange, ExchangePool, Generator, GeneratorSettings, Load,
    RunReport, Schedule, Stop, Waiting,
    schedule::{ArrivalProcess, Arrivals, RateProfile},
};
use tare_report::{
    document::{ALWAYS, Unit},
    write::text::TextLook,
};
use tare_service::{catalogue::RAW_SOCKET, launch, probe::Readiness, settings::ServiceSettings};
use tare_stats::samples::carry;

use crate::{
    exit::Outcome,
    output::{look, print_either, table},
    progress::Progress,
    workspace::{self, Global},
};

const CONTRACT: &str = "hello";
const DRIVERS: [DriverKind; 2] = [DriverKind::IoUring, DriverKind::Epoll];
const WARM_UP: Duration = Duration::from_millis(200);
const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(2);
/// A SYN that a busy machine drops is sent again after 1, 3 and 7 s.
const OPEN_WITHIN: Duration = Duration::from_secs(10);
/// How long the server may take to end.
const GRACE: Duration = Duration::from_secs(3);
/// The busy share from which the generator is the limit.
const BUSY: f64 = 0.95;
/// A low rate at which neither side is late, so the latency is the lower bound.
const FLOOR_PER_S: f64 = 1_000.0;
/// The rate for which lateness is reported.
const LAG_PER_S: f64 = 20_000.0;

struct Trial {
    what: &'static str,
    connections: usize,
    schedule: Schedule,
    lasts: Duration,
}

#[derive(Debug, Serialize)]
struct Calibration {
    cpus: Pinning,
    rows: Vec<Measured>,
    missing: Vec<Missing>,
    interrupted: bool,
}

#[derive(Debug, Serialize)]
struct Measured {
    driver: &'static str,
    load: &'static str,
    connections: usize,
    window_ns: u64,
    answers_per_s: f64,
    generator_cpu_ns_per_answer: f64,
    generator_busy_share: f64,
    /// `None` if there were too few answers, as for the other percentiles.
    latency_ns_p50: Option<u64>,
    latency_ns_p99: Option<u64>,
    /// Only in an open loop, as for the next two fields.
    schedule_lag_ns_p50: Option<u64>,
    schedule_lag_ns_p99: Option<u64>,
    schedule_lag_ns_p999: Option<u64>,
    /// Requests that failed, or had no answer.
    errors: u64,
}

/// A driver that the kernel refuses.
#[derive(Debug, Serialize)]
struct Missing {
    driver: &'static str,
    reason: String,
}

pub(super) fn run(global: &Global, json: bool, quiet: bool) -> anyhow::Result<Outcome> {
    let workspace = global.open()?;
    let contract = workspace.contract(CONTRACT)?;
    let server = workspace.catalogue.get(RAW_SOCKET).context("the catalogue has no raw-socket server")?;
    let pinning = Pinning::choose(&cpus::available(), 1, 1);
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor(&workspace, [server])?;
    let service_settings = ServiceSettings::of_threads(1);
    let readiness = Readiness::AnswersRightly;
    let settings = launch::LaunchSettings {
        contract,
        service_settings: &service_settings,
        cpus: &pinning.server,
        seed: 0,
        readiness,
        port: None,
        serve_on: Ipv4Addr::LOCALHOST,
        sandbox: &Sandbox::default(),
    };
    let folder = workspace.scratch("calibrate");
    let ready = launch::launch(server, &settings, &supervisor, &folder, RAW_SOCKET)?;
    let bench = Bench {
        target: ready.address,
        exchanges: contract.exchanges_for_load(0, 1, &ready.host),
        cpus: pinning.generator.clone(),
        interrupt,
        progress: Progress::new(quiet),
    };
    let found = bench.measure(pinning);
    bench.progress.finish();
    ready.process.stop(GRACE);
    let found = found?;
    print_either(json, &found, || text(&found, look()))?;
    Ok(Outcome::Fine)
}

struct Bench {
    target: Endpoint,
    exchanges: Vec<Exchange>,
    cpus: Vec<usize>,
    interrupt: Arc<AtomicBool>,
    progress: Progress,
}

impl Bench {
    fn measure(&self, pinning: Pinning) -> anyhow::Result<Calibration> {
        let trials = trials()?;
        let mut found =
            Calibration { cpus: pinning, rows: Vec::new(), missing: Vec::new(), interrupted: false };
        for driver in DRIVERS {
            for trial in &trials {
                self.progress.say(&format!("{}: {}", driver.name(), trial.what));
                let mut generator = match self.generator(driver, trial.connections) {
                    Ok(generator) => generator,
                    Err(error) => {
                        found.missing.push(Missing { driver: driver.name(), reason: error.to_string() });
                        break;
                    }
                };
                let report = self.execute(&mut generator, trial)?;
                if self.interrupt.load(Ordering::Relaxed) {
                    found.interrupted = true;
                    return Ok(found);
                }
                found.rows.push(row(driver, trial, &report));
            }
        }
        ensure!(!found.rows.is_empty(), "no driver could be set up: {}", found.missing[0].reason);
        Ok(found)
    }

    fn generator(&self, driver: DriverKind, total: usize) -> Result<Generator, tare_load::GeneratorError> {
        let settings = GeneratorSettings {
            cpus: self.cpus.clone(),
            driver: DriverChoice::Only(driver),
            ..GeneratorSettings::new(self.target.clone().into(), Connections { total, threads: 1 }, 0)
        };
        Generator::new(settings, Arc::new(ExchangePool::new(self.exchanges.clone())))
    }

    fn execute(&self, generator: &mut Generator, trial: &Trial) -> anyhow::Result<RunReport> {
        generator.open(trial.connections, OPEN_WITHIN)?;
        let load = |lasts| Load {
            waiting: Waiting::Poll,
            ..Load::new(trial.schedule.clone(), Stop::after(lasts, PATIENCE), PATIENCE)
        };
        generator.run(&load(WARM_UP), &self.interrupt)?;
        let report = generator.run(&load(trial.lasts), &self.interrupt)?;
        report.total.tally.reconcile()?;
        Ok(report)
    }
}

/// All trials for one driver, about 5 s.
fn trials() -> anyhow::Result<Vec<Trial>> {
    let open = |rate_per_s| -> anyhow::Result<Schedule> {
        let profile = RateProfile::constant(rate_per_s)?;
        Ok(Schedule::Open(Arrivals { profile, process: ArrivalProcess::Constant }))
    };
    let trial = |what, connections, schedule, lasts| Trial { what, connections, schedule, lasts };
    Ok(vec![
        trial("closed loop", 64, Schedule::SATURATE, SECOND),
        trial("closed loop", 400, Schedule::SATURATE, SECOND),
        trial("closed loop", 1, Schedule::SATURATE, SECOND / 2),
        trial("1,000 a second", 64, open(FLOOR_PER_S)?, SECOND),
        trial("20,000 a second", 64, open(LAG_PER_S)?, SECOND),
    ])
}

fn row(driver: DriverKind, trial: &Trial, report: &RunReport) -> Measured {
    let total = &report.total;
    let is_open = matches!(trial.schedule, Schedule::Open(_));
    let lag =
        |q| (is_open && carry(total.schedule_lag.count(), q)).then(|| total.schedule_lag.quantile_ns(q));
    let latency = |q| carry(total.timed(), q).then(|| total.quantile(q).ns);
    Measured {
        driver: driver.name(),
        load: trial.what,
        connections: trial.connections,
        window_ns: report.window_ns,
        answers_per_s: report.answers_per_s(),
        generator_cpu_ns_per_answer: report.generator_cpu_ns_per_answer(),
        generator_busy_share: report.generator_busy_share(),
        latency_ns_p50: latency(0.5),
        latency_ns_p99: latency(0.99),
        schedule_lag_ns_p50: lag(0.5),
        schedule_lag_ns_p99: lag(0.99),
        schedule_lag_ns_p999: lag(0.999),
        errors: total.tally.failed.total() + total.tally.in_flight + total.tally.unsent,
    }
}

fn text(found: &Calibration, look: TextLook) -> String {
    let columns = [
        ("driver", Unit::Text, ALWAYS),
        ("load", Unit::Text, ALWAYS),
        ("connections", Unit::Count, 9),
        ("req/s", Unit::PerSecond, 8),
        ("CPU/req", Unit::Nanoseconds, 7),
        ("busy", Unit::Share, 6),
        ("p50", Unit::Nanoseconds, 3),
        ("p99", Unit::Nanoseconds, 4),
        ("lag p50", Unit::Nanoseconds, 1),
        ("lag p99", Unit::Nanoseconds, 5),
        ("lag p99.9", Unit::Nanoseconds, 2),
        ("errors", Unit::Count, ALWAYS),
    ];
    let row = |row: &Measured| {
        [
            row.driver.into(),
            row.load.into(),
            row.connections.into(),
            row.answers_per_s.into(),
            row.generator_cpu_ns_per_answer.into(),
            row.generator_busy_share.into(),
            row.latency_ns_p50.into(),
            row.latency_ns_p99.into(),
            row.schedule_lag_ns_p50.into(),
            row.schedule_lag_ns_p99.into(),
            row.schedule_lag_ns_p999.into(),
            row.errors.into(),
        ]
    };
    let notes: String = notes(found).iter().map(|note| format!("{note}\n")).collect();
    format!(
        "The generator with one thread on CPU {:?}, against the raw-socket server with one thread on CPU {:?}.\n\
         CPU/req and busy are the generator's; lag is how late it sends a request that is due.\n\n{}\n{notes}",
        found.cpus.generator,
        found.cpus.server,
        table(columns, found.rows.iter().map(row).collect(), look)
    )
}

fn notes(found: &Calibration) -> Vec<String> {
    let missing = found.missing.iter().map(|missing| format!("{}: {}", missing.driver, missing.reason));
    // The meaning of the closed loop's rate depends on what limited it.
    let closed = found.rows.iter().filter(|row| row.connections > 1 && row.schedule_lag_ns_p50.is_none());
    let limits = closed.map(|row| {
        let limit = match row.generator_busy_share >= BUSY {
            true => "the generator was the limit",
            false => "the server, or something else on this machine, was the limit",
        };
        format!("{}, {} connections: {limit}", row.driver, row.connections)
    });
    let shared = "both share the only CPU: each of these figures includes the server's time";
    let shared = (!found.cpus.apart()).then(|| shared.to_owned());
    let interrupted = "interrupted: the other measurements were not made";
    let interrupted = found.interrupted.then(|| interrupted.to_owned());
    missing.chain(limits).chain(shared).chain(interrupted).collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn what_was_measured_and_whose_limit_it_was() {
        let row = |connections, generator_busy_share, lag: Option<u64>| Measured {
            driver: "epoll",
            load: if lag.is_some() { "20,000 a second" } else { "closed loop" },
            connections,
            window_ns: 1_000_000_000,
            answers_per_s: 200_123.4,
            generator_cpu_ns_per_answer: 4_321.0,
            generator_busy_share,
            latency_ns_p50: Some(300_000),
            latency_ns_p99: Some(512_340),
            schedule_lag_ns_p50: lag,
            schedule_lag_ns_p99: lag.map(|lag| 2 * lag),
            schedule_lag_ns_p999: lag.map(|lag| 30 * lag),
            errors: 0,
        };
        let found = Calibration {
            cpus: Pinning { server: vec![0], generator: vec![0] },
            rows: vec![row(64, 0.5, None), row(400, 0.99, None), row(64, 0.2, Some(1_000))],
            missing: vec![Missing { driver: "io_uring", reason: "Operation not permitted".into() }],
            interrupted: true,
        };
        assert_snapshot!(text(&found, TextLook::default()));
    }
}
