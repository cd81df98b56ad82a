//! `tare load --calibrate`: what the generator can do on this machine, against the raw-socket server that costs least.
//!
//! Every figure is measured within these seconds. The server has one CPU and the generator another, where there are two.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, ensure};
use serde::Serialize;
use tare_analysis::report::figures;
use tare_host::cpus::{self, Pinning};
use tare_load::{
    Connections, DriverChoice, DriverKind, Exchange, ExchangePool, Generator, Load, RunReport, Schedule,
    Settings, Stop,
    schedule::{Arrivals, Process, Profile},
};
use tare_service::{catalogue::RAW_SOCKET, launch, probe::Readiness, settings::ServiceSettings};

use crate::{
    exit::Outcome,
    output::{columns, print, print_json},
    progress::Progress,
    workspace::{self, Global},
};
use tare_host::signals;

const CONTRACT: &str = "hello";
const DRIVERS: [DriverKind; 2] = [DriverKind::IoUring, DriverKind::Epoll];
const WARM_UP: Duration = Duration::from_millis(200);
const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(2);
/// A SYN that a busy machine drops comes back after 1, 3 and 7 s.
const OPEN_WITHIN: Duration = Duration::from_secs(10);
/// How long the reference may take to end.
const GRACE: Duration = Duration::from_secs(3);
/// From this share of its time on, the generator is the limit.
const BUSY: f64 = 0.95;
/// The rate at which the floor is looked at: neither side is ever behind.
const FLOOR_PER_S: f64 = 1_000.0;
/// The rate at which lateness is looked at.
const LAG_PER_S: f64 = 20_000.0;

/// One measurement: a load, and how it is called.
struct Trial {
    what: String,
    connections: usize,
    schedule: Schedule,
    lasts: Duration,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Calibration {
    cpus: Pinning,
    rows: Vec<Row>,
    missing: Vec<Missing>,
    interrupted: bool,
}

/// One measurement's figures.
#[derive(Debug, Serialize)]
struct Row {
    driver: &'static str,
    load: String,
    connections: usize,
    window_ns: u64,
    answers_per_s: f64,
    generator_cpu_ns_per_answer: f64,
    generator_cpu_share: f64,
    latency_ns_p50: u64,
    latency_ns_p99: u64,
    /// In an open loop only.
    schedule_lag_ns: Option<Lag>,
    /// Failed, or without an answer.
    errors: u64,
}

/// How late the generator is.
#[derive(Debug, Serialize)]
struct Lag {
    p50: u64,
    p99: u64,
    p999: u64,
}

/// A driver that the kernel refuses.
#[derive(Debug, Serialize)]
struct Missing {
    driver: &'static str,
    reason: String,
}

/// Measures, and prints what was found.
pub fn run(global: &Global, json: bool, quiet: bool) -> anyhow::Result<Outcome> {
    let workspace = global.open()?;
    let contract = workspace.contract(CONTRACT)?;
    let reference = workspace.catalogue.get(RAW_SOCKET).context("there is no reference")?;
    let pinning = Pinning::choose(&cpus::available(), 1, 1);
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor()?;
    let service_settings = ServiceSettings { threads: 1, delay_ms: 0 };
    let readiness = Readiness::AnswersRightly;
    let settings = launch::Settings {
        contract,
        service_settings: &service_settings,
        cpus: &pinning.server,
        seed: 0,
        readiness,
        port: None,
    };
    let folder = workspace.root.join(".tare").join("calibrate");
    let ready = launch::launch(reference, &settings, &supervisor, &folder, RAW_SOCKET)?;
    let bench = Bench {
        target: ready.address,
        exchanges: contract.exchanges_for_load(0, 1, &ready.address.to_string()),
        cpus: pinning.generator.clone(),
        interrupt,
        progress: Progress::new(quiet),
    };
    let found = bench.measure(pinning);
    bench.progress.finish();
    ready.process.stop(GRACE);
    let found = found?;
    if json {
        print_json(&found)?;
    } else {
        print(&text(&found))?;
    }
    Ok(Outcome::Fine)
}

struct Bench {
    target: std::net::SocketAddr,
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
                let report = self.carry_out(&mut generator, trial)?;
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
        let settings = Settings {
            route: self.target.into(),
            connections: Connections { total, threads: 1 },
            cpus: self.cpus.clone(),
            driver: DriverChoice::Only(driver),
            seed: 0,
        };
        Generator::new(settings, Arc::new(ExchangePool::new(self.exchanges.clone())))
    }

    fn carry_out(&self, generator: &mut Generator, trial: &Trial) -> anyhow::Result<RunReport> {
        generator.open(trial.connections, OPEN_WITHIN)?;
        let load = |lasts| Load {
            spin: super::plan::SPIN,
            ..Load::new(trial.schedule.clone(), Stop::after(lasts, PATIENCE), PATIENCE)
        };
        generator.run(&load(WARM_UP), &self.interrupt)?;
        let report = generator.run(&load(trial.lasts), &self.interrupt)?;
        report.total.tally.reconcile()?;
        Ok(report)
    }
}

/// All of them for one driver, about 5 s.
fn trials() -> anyhow::Result<Vec<Trial>> {
    let open = |rate_per_s| -> anyhow::Result<Schedule> {
        let profile = Profile::constant(rate_per_s)?;
        Ok(Schedule::Open(Arrivals { profile, process: Process::Constant }))
    };
    let trial = |what: &str, connections, schedule, lasts| Trial {
        what: what.to_owned(),
        connections,
        schedule,
        lasts,
    };
    Ok(vec![
        trial("closed loop", 64, Schedule::SATURATE, SECOND),
        trial("closed loop", 400, Schedule::SATURATE, SECOND),
        trial("closed loop", 1, Schedule::SATURATE, SECOND / 2),
        trial("1,000 a second", 64, open(FLOOR_PER_S)?, SECOND),
        trial("20,000 a second", 64, open(LAG_PER_S)?, SECOND),
    ])
}

fn row(driver: DriverKind, trial: &Trial, report: &RunReport) -> Row {
    let total = &report.total;
    let lag = &total.schedule_lag;
    let lag = matches!(trial.schedule, Schedule::Open(_)).then(|| Lag {
        p50: lag.quantile_ns(0.5),
        p99: lag.quantile_ns(0.99),
        p999: lag.quantile_ns(0.999),
    });
    Row {
        driver: driver.name(),
        load: trial.what.clone(),
        connections: trial.connections,
        window_ns: report.window_ns,
        answers_per_s: report.answers_per_s(),
        generator_cpu_ns_per_answer: report.generator_cpu_ns_per_answer(),
        generator_cpu_share: report.generator_cpu_share(),
        latency_ns_p50: total.quantile(0.5).ns,
        latency_ns_p99: total.quantile(0.99).ns,
        schedule_lag_ns: lag,
        errors: total.tally.failed.total() + total.tally.in_flight + total.tally.unsent,
    }
}

fn text(found: &Calibration) -> String {
    let head = [
        "driver",
        "load",
        "connections",
        "req/s",
        "CPU/req",
        "busy",
        "p50",
        "p99",
        "lag p50",
        "p99",
        "p99.9",
        "errors",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for row in &found.rows {
        let lag = |read: fn(&Lag) -> u64| {
            row.schedule_lag_ns.as_ref().map_or("-".to_owned(), |lag| figures::time(read(lag) as f64))
        };
        rows.push(vec![
            row.driver.to_owned(),
            row.load.clone(),
            row.connections.to_string(),
            figures::rate(row.answers_per_s),
            figures::time(row.generator_cpu_ns_per_answer),
            format!("{:.0}%", row.generator_cpu_share * 100.0),
            figures::time(row.latency_ns_p50 as f64),
            figures::time(row.latency_ns_p99 as f64),
            lag(|lag| lag.p50),
            lag(|lag| lag.p99),
            lag(|lag| lag.p999),
            row.errors.to_string(),
        ]);
    }
    let mut out = format!(
        "The generator, one thread on CPU {:?}, against the reference, one thread on CPU {:?}\n\
         CPU/req and busy are the generator's; lag is how late it sends what is due\n\n{}\n",
        found.cpus.generator,
        found.cpus.server,
        columns(&rows)
    );
    for missing in &found.missing {
        out += &format!("{} is not to be had: {}\n", missing.driver, missing.reason);
    }
    out += &limits(found);
    if !found.cpus.apart() {
        out += "Both share the only CPU: each of these figures holds the reference's time as well.\n";
    }
    if found.interrupted {
        out += "Interrupted: the other measurements were not made.\n";
    }
    out
}

/// Whose limit the closed loop met: that decides how its rate is to be read.
fn limits(found: &Calibration) -> String {
    let mut out = String::new();
    for row in found.rows.iter().filter(|row| row.connections > 1 && row.schedule_lag_ns.is_none()) {
        let whose = if row.generator_cpu_share >= BUSY {
            "the generator was the limit"
        } else {
            "not the generator was the limit, but the reference or whatever else runs here"
        };
        out += &format!("{}, {} connections: {whose}.\n", row.driver, row.connections);
    }
    out
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn what_was_measured_and_whose_limit_it_was() {
        let row = |connections, generator_cpu_share, lag: Option<Lag>| Row {
            driver: "epoll",
            load: if lag.is_some() { "20,000 a second".into() } else { "closed loop".into() },
            connections,
            window_ns: 1_000_000_000,
            answers_per_s: 200_123.4,
            generator_cpu_ns_per_answer: 4_321.0,
            generator_cpu_share,
            latency_ns_p50: 300_000,
            latency_ns_p99: 512_340,
            schedule_lag_ns: lag,
            errors: 0,
        };
        let found = Calibration {
            cpus: Pinning { server: vec![0], generator: vec![0] },
            rows: vec![
                row(64, 0.5, None),
                row(400, 0.99, None),
                row(64, 0.2, Some(Lag { p50: 1_000, p99: 2_500, p999: 30_000 })),
            ],
            missing: vec![Missing { driver: "io_uring", reason: "Operation not permitted".into() }],
            interrupted: true,
        };
        assert_snapshot!(anstream::adapter::strip_str(&text(&found)));
    }
}
