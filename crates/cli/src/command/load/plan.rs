//! From words to values: what the generator is asked to do. Whatever contradicts itself is refused here.

use std::time::Duration;

use anyhow::ensure;
use tare_load::{
    Connections, Load, Quota, Schedule, Stop, Think,
    schedule::{Arrivals, Process},
};

use super::args::{PaceArgs, Spread, TransportArgs};

const CONNECTIONS_DEFAULT: u64 = 64;
const CONNECTIONS_MAX: u64 = 1_000_000;
const PIPELINE_MAX: u64 = 1_024;
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
/// A server that is gone must not hold a number of requests for ever.
const NUMBER_WITHIN: Duration = Duration::from_secs(3_600);
/// How often the progress of a load is printed.
const INTERVAL: Duration = Duration::from_secs(1);

/// What is going to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Over these.
    pub connections: Connections,
    /// The load that is reported.
    pub load: Load,
    /// What goes before it and is not reported.
    pub warm_up: Option<Load>,
}

/// Whatever the user left open, filled in.
pub struct Wish<'a> {
    /// When.
    pub pace: &'a PaceArgs,
    /// Over what.
    pub transport: &'a TransportArgs,
    /// How long a response may take.
    pub response_timeout: Duration,
    /// Whether responses are compared.
    pub check: bool,
}

/// Longer than a timer and the way out of a CPU's sleep usually take.
pub const SPIN: Duration = Duration::from_micros(60);

/// A generator that polls takes a CPU whole: it does so only where the server is left another.
fn spin(wish: &Wish<'_>) -> Duration {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let unasked = if wish.pace.rate.is_some() && usize::from(wish.transport.threads) < cpus {
        SPIN
    } else {
        Duration::ZERO
    };
    wish.pace.spin.unwrap_or(unasked)
}

impl Plan {
    /// The plan of a wish.
    pub fn new(wish: &Wish<'_>) -> anyhow::Result<Plan> {
        let pace = wish.pace;
        let quota = quota(pace);
        let drain = pace.drain.unwrap_or(wish.response_timeout);
        let stop = match quota {
            Some(quota) => Stop::count(quota, pace.duration.unwrap_or(NUMBER_WITHIN), drain),
            None => Stop::after(duration(pace), drain),
        };
        let pipeline = pace.pipeline.unwrap_or(1);
        ensure!(pipeline <= PIPELINE_MAX, "--pipeline {pipeline} is too much: give at most {PIPELINE_MAX}");
        let by_connections = pace.connections_total.is_some();
        let load = Load {
            schedule: schedule(pace),
            stop,
            response_timeout: wish.response_timeout,
            connect_timeout: wish.transport.connect_timeout,
            pipeline: pipeline as usize,
            requests_per_connection: pace.requests_per_connection.or(by_connections.then_some(1)),
            check: wish.check,
            spin: spin(wish),
            interval: Some(INTERVAL),
        };
        load.validate()?;
        let warm_up = pace.warm_up.map(|lasts| Load {
            stop: Stop::after(lasts, drain),
            interval: None,
            ..load.clone()
        });
        Ok(Plan { connections: connections(wish.transport, quota)?, load, warm_up })
    }

    /// Whether connections are opened before the load: not where they are part of what is measured.
    pub fn opens_before(&self) -> bool {
        self.load.requests_per_connection.is_none()
    }

    /// The load in words.
    pub fn describe(&self) -> String {
        let Connections { total, threads } = self.connections;
        let kind = match &self.load.schedule {
            Schedule::Closed { think: Think::None } => "closed loop".to_owned(),
            Schedule::Closed { think: Think::Fixed(ns) } => {
                format!("closed loop, {:?} of thinking", Duration::from_nanos(*ns))
            }
            Schedule::Closed { think: Think::Uniform { min_ns, max_ns } } => {
                let [min, max] = [min_ns, max_ns].map(|ns| Duration::from_nanos(*ns));
                format!("closed loop, {min:?} to {max:?} of thinking")
            }
            Schedule::Open(arrivals) => {
                let how = match arrivals.process {
                    Process::Constant => "evenly",
                    Process::Poisson => "at random",
                };
                format!("open loop, {} requests a second, {how}", arrivals.profile)
            }
        };
        let within = self.load.stop.window();
        let end = match self.load.stop.quota() {
            None => format!("for {within:?}"),
            Some(Quota::Requests(count)) => format!("{count} requests within {within:?}"),
            Some(Quota::RequestsEach(count)) => {
                format!("{count} requests by each connection within {within:?}")
            }
            Some(Quota::Connections(count)) => format!("{count} connections in all within {within:?}"),
        };
        let mut words = vec![kind, format!("{total} connections"), format!("{threads} thread(s)")];
        if self.load.pipeline > 1 {
            words.push(format!("{} requests in flight on each", self.load.pipeline));
        }
        if let Some(count) = self.load.requests_per_connection {
            words.push(format!("{count} requests a connection"));
        }
        words.push(end);
        words.join(", ")
    }
}

fn quota(pace: &PaceArgs) -> Option<Quota> {
    let requests = pace.requests.map(Quota::Requests);
    requests
        .or(pace.requests_each.map(Quota::RequestsEach))
        .or(pace.connections_total.map(Quota::Connections))
}

fn duration(pace: &PaceArgs) -> Duration {
    let lasts = pace.rate.as_ref().and_then(|rate| rate.lasts);
    pace.duration.or(lasts).unwrap_or(DURATION_DEFAULT)
}

fn schedule(pace: &PaceArgs) -> Schedule {
    match &pace.rate {
        None => Schedule::Closed { think: pace.think.unwrap_or(Think::None) },
        Some(rate) => {
            let process = match pace.arrivals {
                Spread::Constant => Process::Constant,
                Spread::Poisson => Process::Poisson,
            };
            Schedule::Open(Arrivals { profile: rate.profile.clone(), process })
        }
    }
}

fn connections(transport: &TransportArgs, quota: Option<Quota>) -> anyhow::Result<Connections> {
    let useful = match quota {
        Some(Quota::Requests(count) | Quota::Connections(count)) => count.max(transport.threads.into()),
        Some(Quota::RequestsEach(_)) | None => u64::MAX,
    };
    let total =
        transport.connections.unwrap_or(CONNECTIONS_DEFAULT.max(transport.threads.into()).min(useful));
    ensure!(
        total >= transport.threads.into(),
        "-c {total} is less than -t {}: each thread needs a connection",
        transport.threads
    );
    ensure!(total <= CONNECTIONS_MAX, "-c {total} is too much: give at most {CONNECTIONS_MAX}");
    Ok(Connections { total: total as usize, threads: transport.threads.into() })
}
