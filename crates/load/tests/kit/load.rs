//! The client's side: one exchange, a generator, and runs that check their own totals.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tare_base::{Histogram, Route};
use tare_load::{
    After, ArrivalProcess, Arrivals, Connections, DriverChoice, DriverKind, EngineFinding, Exchange,
    ExchangePool, Expected, ExpectedBody, Failure, Generator, GeneratorError, GeneratorSettings, Limits,
    Load, RateProfile, RequestQuota, RunReport, Schedule, Stop, evaluate,
};

use super::peer::{Peer, serve};

pub const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello world!";

/// The time that a run may take beyond its window and drain, on a machine that is also busy.
pub const SLACK: Duration = Duration::from_millis(500);

/// The limit for an answer. A load whose answers must all arrive also drains for this long: beside a test that
/// measures, a server may have a tenth of a CPU.
pub const TIMEOUT: Duration = Duration::from_secs(10);

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub fn exchange(body: ExpectedBody) -> Exchange {
    Exchange {
        request: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        is_head: false,
        expected: Expected { status: 200, body },
        name: "hello".to_owned(),
        step: None,
    }
}

pub fn hello() -> Exchange {
    exchange(ExpectedBody::Exact(b"Hello world!".to_vec()))
}

pub fn settings(route: impl Into<Route>, total: usize, threads: usize) -> GeneratorSettings {
    GeneratorSettings::new(route.into(), Connections { total, threads }, 7)
}

pub fn pool(exchange: Exchange) -> Arc<ExchangePool> {
    Arc::new(ExchangePool::new(vec![exchange]))
}

/// A generator of `hello` requests with the best available driver.
pub fn generator(route: impl Into<Route>, total: usize, threads: usize) -> Generator {
    generator_of(settings(route, total, threads), hello())
}

pub fn generator_of(settings: GeneratorSettings, exchange: Exchange) -> Generator {
    Generator::new(settings, pool(exchange)).unwrap()
}

/// Prints a skipped test, bypassing the harness, which hides the output of tests that pass.
pub fn skip(what: &str, reason: &str) {
    let _told = io::stderr().write_all(format!("skipped: {what}: {reason}\n").as_bytes());
}

/// The drivers that this machine supports; unsupported ones are printed.
pub fn drivers() -> Vec<DriverKind> {
    static FOUND: OnceLock<Vec<DriverKind>> = OnceLock::new();
    let works = |kind: &DriverKind| {
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 1));
        let settings = GeneratorSettings { driver: DriverChoice::Only(*kind), ..settings(nowhere, 1, 1) };
        match Generator::new(settings, pool(hello())) {
            Ok(_) => true,
            Err(GeneratorError::Driver { source, .. }) => {
                skip(kind.name(), &source.to_string());
                false
            }
            Err(error) => panic!("{error}"),
        }
    };
    FOUND.get_or_init(|| [DriverKind::Epoll, DriverKind::IoUring].into_iter().filter(works).collect()).clone()
}

/// A closed loop for a time.
pub fn load(window_ms: u64, drain_ms: u64) -> Load {
    Load::new(Schedule::SATURATE, Stop::after(ms(window_ms), ms(drain_ms)), TIMEOUT)
}

/// A closed loop until a quota is spent.
pub fn counted(quota: RequestQuota) -> Load {
    Load::new(Schedule::SATURATE, Stop::count(quota, seconds(20), TIMEOUT), TIMEOUT)
}

/// An open loop for a time.
pub fn open(rate_per_s: f64, process: ArrivalProcess, window: Duration) -> Load {
    let profile = RateProfile::constant(rate_per_s).unwrap();
    let schedule = Schedule::Open(Arrivals { profile, process });
    Load::new(schedule, Stop::after(window, TIMEOUT), TIMEOUT)
}

/// Runs the load, and checks that the run ended in time with totals that add up.
pub fn run(generator: &mut Generator, load: &Load) -> RunReport {
    run_until(generator, load, &Arc::default())
}

pub fn run_until(generator: &mut Generator, load: &Load, interrupt: &Arc<AtomicBool>) -> RunReport {
    let start = Instant::now();
    let report = generator.run(load, interrupt).unwrap();
    let took = start.elapsed();
    assert!(took < load.stop.window() + load.stop.drain + SLACK, "the run took {took:?}");
    prove(&report);
    assert_eq!(report.total.connect_time.count(), report.total.tally.connects);
    report
}

/// The same for a server's behaviour within a short window. A busy machine can leave the server without CPU
/// for the whole window. Then no request and no connection has an outcome, which shows nothing about the
/// generator, and the window is extended.
pub fn run_heard(generator: &mut Generator, load: &Load) -> RunReport {
    let times = |factor| {
        let mut longer = load.clone();
        longer.stop.after = After::Time(factor * load.stop.window());
        longer
    };
    let is_silent = |report: &RunReport| {
        let tally = &report.total.tally;
        tally.answered + tally.failed.total() + tally.connection_failed.total() == 0
    };
    let mut report = run(generator, load);
    for factor in [5, 25] {
        if is_silent(&report) {
            report = run(generator, &times(factor));
        }
    }
    report
}

/// The same if connections are replaced that the server ends: no request waits for their replacements.
pub fn run_replacing(generator: &mut Generator, load: &Load) -> RunReport {
    let start = Instant::now();
    let report = generator.run(load, &Arc::default()).unwrap();
    let took = start.elapsed();
    assert!(took < load.stop.window() + load.stop.drain + SLACK, "the run took {took:?}");
    prove(&report);
    assert!(report.total.connect_time.count() <= report.total.tally.connects);
    report
}

/// Checks that every request has one outcome and every outcome one time, without contradictions.
pub fn prove(report: &RunReport) {
    report.total.tally.reconcile().unwrap();
    let doubts = evaluate(report, &Limits::default());
    let contradiction = doubts.iter().find(|doubt| matches!(doubt, EngineFinding::Inconsistent(_)));
    assert_eq!(contradiction, None, "{:?}", report.total);
}

/// Runs four connections on two threads against a server for a short time.
pub fn meet(behave: impl Fn(Peer) + Send + Sync + 'static) -> RunReport {
    let mut generator = generator(serve(behave), 4, 2);
    generator.open(4, TIMEOUT).unwrap();
    run_heard(&mut generator, &load(150, 100))
}

/// Asserts that requests failed in this way and no other.
pub fn only(report: &RunReport, failure: Failure) {
    let tally = &report.total.tally;
    let kinds: Vec<_> = tally.failed.iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [failure], "{tally:?}");
    let sample = report.first_failure.as_ref().expect("a failure leaves a sample");
    assert_eq!((sample.failure, sample.exchange.as_str()), (failure, "hello"));
}

/// A measurement outside of its bounds.
pub struct Off {
    pub what: String,
    /// The evidence that the machine, and neither the generator nor the server, is the reason.
    pub excuse: Option<String>,
}

impl From<String> for Off {
    fn from(what: String) -> Off {
        Off { what, excuse: None }
    }
}

/// Repeats a measurement that a busy machine disturbed. If every attempt fails, that is an error, unless the
/// run itself shows the disturbance: then the test is skipped, and printed.
pub fn attempts(name: &str, mut attempt: impl FnMut() -> Result<(), Off>) {
    for left in (0..3).rev() {
        match attempt() {
            Ok(()) => return,
            Err(Off { what, excuse: Some(excuse) }) if left == 0 => skip(name, &format!("{what}; {excuse}")),
            Err(Off { what, excuse: None }) if left == 0 => panic!("{name}: {what}"),
            Err(Off { what, .. }) => println!("{name}, again: {what}"),
        }
    }
}

/// Evidence in a run, or in the server's own lateness, that the machine was overloaded.
pub fn excuse(report: &RunReport, server_late: &Histogram) -> Option<String> {
    let p99_us = |histogram: &Histogram| histogram.quantile_ns(0.99) / 1_000;
    let (lag_us, late_us) = (p99_us(&report.total.schedule_lag), p99_us(server_late));
    let text = || {
        format!("the machine is busy: p99 of schedule lag {lag_us} us, of the server's lateness {late_us} us")
    };
    (lag_us.max(late_us) > 1_000).then(text)
}

/// Checks that two figures differ by at most a share of the second.
pub fn near(what: &str, measured: f64, expected: f64, share: f64) -> Result<(), String> {
    let off = measured / expected - 1.0;
    let text = || format!("{what} is {measured:.1}, {:.2}% off {expected:.1}", off * 100.0);
    if off.abs() <= share { Ok(()) } else { Err(text()) }
}
