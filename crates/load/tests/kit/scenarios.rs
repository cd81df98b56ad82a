//! Experiments with a known result: short in the tests, long in the benchmark `accuracy`.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tare_base::{Histogram, Route};
use tare_load::{
    ArrivalProcess, DriverChoice, DriverKind, Generator, GeneratorSettings, Load, RequestQuota, RunReport,
    Schedule, Stop, Waiting,
};

use super::fixed::{Fixed, Stall};
use super::load::{TIMEOUT, generator_of, hello, ms, open, run, seconds, settings};
use super::process::{Server, rss_bytes};
use super::stations::Stations;

/// The connections of an open loop: more than are ever busy, and fewer than 1,024 open files together with a
/// server in the same process.
const CONNECTIONS: usize = 400;

/// The settings of the measuring side.
#[derive(Debug, Clone)]
pub struct Client {
    pub driver: DriverKind,
    pub cpus: Vec<usize>,
    pub seed: u64,
}

impl Client {
    pub fn with(driver: DriverKind) -> Client {
        Client { driver, cpus: Vec::new(), seed: 7 }
    }

    pub fn generator(&self, route: impl Into<Route>, total: usize) -> Generator {
        let settings = GeneratorSettings {
            driver: DriverChoice::Only(self.driver),
            cpus: self.cpus.clone(),
            seed: self.seed,
            ..settings(route, total, 1)
        };
        generator_of(settings, hello())
    }

    /// An open loop that polls ahead of due instants if it has CPUs of its own, as the command does.
    fn open_loop(&self, rate_per_s: f64, process: ArrivalProcess, window: Duration) -> Load {
        let waiting = if self.cpus.is_empty() {
            Waiting::Sleep
        } else {
            Waiting::PollBefore(Duration::from_micros(60))
        };
        Load { waiting, ..open(rate_per_s, process, window) }
    }
}

/// Runs an open loop of even arrivals over 64 connections. Also returns the number of arrivals.
pub fn at_rate(client: &Client, target: SocketAddr, rate_per_s: f64, window: Duration) -> (RunReport, f64) {
    let mut generator = client.generator(target, 64);
    generator.open(64, seconds(5)).unwrap();
    let load = client.open_loop(rate_per_s, ArrivalProcess::Constant, window);
    let Schedule::Open(arrivals) = &load.schedule else { unreachable!("it was just made") };
    let due = arrivals.profile.arrivals_before(window.as_nanos() as u64);
    (run(&mut generator, &load), due)
}

/// A quantile of the sojourn time in an M/M/1 queue.
#[derive(Debug, Clone, Copy)]
pub struct Sojourn {
    pub q: f64,
    /// Measured by the generator.
    pub measured_ns: f64,
    /// Measured by the server itself in this run.
    pub realised_ns: f64,
    /// Computed by the formula.
    pub theory_ns: f64,
    /// The standard error that chance alone gives a run of this length, as a share.
    pub error_share: f64,
}

/// Quantiles, and for each the number of requests of a half-loaded M/M/1 queue that have the information of
/// one independent request: requests that wait behind one another have similar waits. By simulation, 300 runs
/// of 20,000 requests; the asymptotic value for the mean of the waiting time is 29/3.
const QUANTILES: [(f64, f64); 3] = [(0.5, 3.4), (0.9, 7.1), (0.99, 9.2)];

/// Poisson arrivals at half the capacity of many M/M/1 stations. The sojourn time is exponential with mean 1
/// / (services - arrivals), so that its quantile q is -ln(1 - q) times that.
pub fn half_loaded(
    client: &Client,
    stations: Stations,
    window: Duration,
) -> (Vec<Sojourn>, RunReport, Histogram) {
    let (target, truth) = stations.serve();
    let rate_per_s = stations.services_per_s * stations.count as f64 / 2.0;
    let mut generator = client.generator(target, CONNECTIONS);
    generator.open(CONNECTIONS, seconds(5)).unwrap();
    let report = run(&mut generator, &client.open_loop(rate_per_s, ArrivalProcess::Poisson, window));
    let truth = truth.lock().unwrap().clone();
    let mean_ns = 1e9 / (stations.services_per_s / 2.0);
    let sojourn = |(q, requests_per_sample): (f64, f64)| {
        let samples = report.total.tally.answered as f64 / requests_per_sample;
        let theory_ns = -(1.0 - q).ln() * mean_ns;
        Sojourn {
            q,
            measured_ns: report.total.quantile(q).ns as f64,
            realised_ns: truth.sojourn.quantile_ns(q) as f64,
            theory_ns,
            error_share: (q / (1.0 - q) / samples).sqrt() / -(1.0 - q).ln(),
        }
    };
    (QUANTILES.map(sojourn).to_vec(), report, truth.late)
}

/// The server that pauses for 200 ms of every second.
#[derive(Debug, Clone, Copy)]
pub enum Pause {
    /// A server in this process, which pauses by itself.
    Own,
    /// A server in another process, paused by SIGSTOP and SIGCONT.
    Signals(fn() -> Server),
}

impl Pause {
    pub fn name(self) -> &'static str {
        match self {
            Pause::Own => "by itself",
            Pause::Signals(_) => "by SIGSTOP",
        }
    }
}

pub const STALL: Stall = Stall { every: Duration::from_secs(1), lasts: Duration::from_millis(200) };

/// A fifth of the requests arrive in pauses, and their waits are uniform between 0 and 200 ms. So 1% of all
/// requests wait longer than 95% of the pause.
pub const STALLED_P99_NS: f64 = 190e6;

/// The same server under two loops: first an open one at `rate_per_s`, then a closed one of 10 connections.
pub fn stalled(client: &Client, pause: Pause, rate_per_s: f64, window: Duration) -> [RunReport; 2] {
    let closed = Load::new(Schedule::SATURATE, Stop::after(window, TIMEOUT), seconds(10));
    let loads = [(open(rate_per_s, ArrivalProcess::Constant, window), CONNECTIONS), (closed, 10)];
    let measure = |target: SocketAddr, load: &Load, connections: usize| {
        let mut generator = client.generator(target, connections);
        generator.open(connections, seconds(5)).unwrap();
        run(&mut generator, load)
    };
    match pause {
        Pause::Own => {
            let target = Fixed { stall: Some(STALL), ..Fixed::hello() }.serve();
            loads.map(|(load, connections)| measure(target, &load, connections))
        }
        Pause::Signals(start) => {
            let server = start();
            paused(&server, || loads.map(|(load, connections)| measure(server.target, &load, connections)))
        }
    }
}

/// Runs `act` while a server is stopped at the end of every second.
pub fn paused<T>(server: &Server, act: impl FnOnce() -> T) -> T {
    let through = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            for second in 1.. {
                let resume = start + STALL.every * second;
                std::thread::sleep((resume - STALL.lasts).saturating_duration_since(Instant::now()));
                if through.load(Ordering::Relaxed) {
                    return;
                }
                server.signal(Signal::STOP);
                std::thread::sleep(resume.saturating_duration_since(Instant::now()));
                server.signal(Signal::CONT);
            }
        });
        let result = act();
        through.store(true, Ordering::Relaxed);
        result
    })
}

/// Runs a number of short connections, `at_a_time` of them concurrently, with a number of requests each.
pub fn sessions(
    client: &Client,
    target: SocketAddr,
    count: u64,
    requests: u64,
    at_a_time: usize,
) -> RunReport {
    // Closed connections keep their ports for a while, and four addresses have four times as many ports.
    let sources = (2..=5).map(|last| Ipv4Addr::new(127, 0, 0, last).into()).collect();
    let mut generator = client.generator(Route { sources, ..target.into() }, at_a_time);
    let stop = Stop::count(RequestQuota::Connections(count), seconds(300), TIMEOUT);
    let load =
        Load { requests_per_connection: Some(requests), ..Load::new(Schedule::SATURATE, stop, seconds(10)) };
    run(&mut generator, &load)
}

/// The memory use of connections.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    pub before_bytes: u64,
    /// All connections are open, and none has been used.
    pub idle_bytes: u64,
    /// Each connection has had an answer.
    pub used_bytes: u64,
}

impl Memory {
    pub fn bytes_per_connection(&self, connections: usize) -> f64 {
        let most_bytes = self.used_bytes.max(self.idle_bytes);
        most_bytes.saturating_sub(self.before_bytes) as f64 / connections as f64
    }
}

/// Opens a number of concurrent connections to a server in another process.
pub fn memory(client: &Client, target: SocketAddr, connections: usize) -> Memory {
    let before_bytes = rss_bytes();
    let mut generator = client.generator(target, connections);
    generator.open(connections, seconds(30)).unwrap();
    let idle_bytes = rss_bytes();
    let stop = Stop::count(RequestQuota::RequestsEach(1), seconds(30), TIMEOUT);
    let report = run(&mut generator, &Load::new(Schedule::SATURATE, stop, ms(10_000)));
    assert_eq!((report.total.tally.answered, report.total.tally.connects), (connections as u64, 0));
    Memory { before_bytes, idle_bytes, used_bytes: rss_bytes() }
}
