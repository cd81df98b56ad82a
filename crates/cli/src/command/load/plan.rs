//! Turns options into the settings of the generator, and refuses contradictions.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tare_base::units::several;

use anyhow::ensure;
use tare_base::units::spell_duration;
use tare_load::{
    Connections, Generator, Load, Protocol, RequestQuota, Schedule, Stop, Think, Waiting,
    schedule::{ArrivalProcess, Arrivals},
};

use super::args::{CheckingArgs, PaceArgs, Spread, TransportArgs};

const CONNECTIONS_DEFAULT: u64 = 64;
const CONNECTIONS_MAX: u64 = 1_000_000;
const PIPELINE_MAX: u64 = 1_024;
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
/// The time limit for a number of requests, in case the server is gone.
const NUMBER_WITHIN: Duration = Duration::from_secs(3_600);
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);
/// Long enough for a dropped SYN to be sent again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval of progress lines.
const INTERVAL: Duration = Duration::from_secs(1);

/// A server accepts at least this many connections per millisecond.
const CONNECTS_PER_MS: u32 = 1;

/// Longer than the usual delay of a timer and of a CPU's wake-up.
pub(crate) const SPIN: Duration = Duration::from_micros(60);

/// The command line with all defaults.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub connections: Connections,
    pub load: Load,
    /// The load before it, which is not reported.
    pub warm_up: Option<Load>,
}

impl Plan {
    pub(crate) fn new(
        pace: &PaceArgs,
        transport: &TransportArgs,
        checking: &CheckingArgs,
    ) -> anyhow::Result<Plan> {
        let quota = quota(pace);
        let response_timeout = checking.timeout.unwrap_or(RESPONSE_TIMEOUT);
        let drain = pace.drain.unwrap_or(response_timeout);
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
            response_timeout,
            connect_timeout: connect_timeout(transport, checking),
            pipeline: pipeline as usize,
            requests_per_connection: pace.requests_per_connection.or(by_connections.then_some(1)),
            check: !checking.no_check,
            waiting: waiting(pace, transport),
            interval: Some(INTERVAL),
            aligned: None,
        };
        load.validate()?;
        let warm_up = pace.warm_up.map(|lasts| Load {
            stop: Stop::after(lasts, drain),
            interval: None,
            ..load.clone()
        });
        Ok(Plan { connections: connections(transport, quota)?, load, warm_up })
    }

    /// The number of connections to open before the load: none if opening them is part of the measurement.
    pub(crate) fn opened_before(&self) -> usize {
        if self.load.requests_per_connection.is_none() { self.connections.total } else { 0 }
    }

    /// Loads the server before the load, if the user asks for it.
    pub(super) fn warm_up(
        &self,
        generator: &mut Generator,
        interrupt: &Arc<AtomicBool>,
    ) -> anyhow::Result<()> {
        if let Some(warm_up) = &self.warm_up {
            generator.run(warm_up, interrupt)?;
            ensure!(!interrupt.load(Ordering::Relaxed), "interrupted in the warm-up: nothing was measured");
        }
        Ok(())
    }

    /// The same number, and the time limit for opening.
    pub(crate) fn opening(&self) -> (usize, Duration) {
        let opened = self.opened_before();
        let patience =
            self.load.connect_timeout + Duration::from_millis(1) * (opened as u32 / CONNECTS_PER_MS);
        (opened, patience)
    }
}

pub(crate) fn describe(
    connections: Connections,
    (protocol, streams): (Protocol, usize),
    load: &Load,
) -> String {
    let Connections { total, threads } = connections;
    let kind = match &load.schedule {
        Schedule::Closed { think: Think::None } => "closed loop".to_owned(),
        Schedule::Closed { think: Think::Fixed(ns) } => {
            format!("closed loop with {} of think time", spell_duration(Duration::from_nanos(*ns)))
        }
        Schedule::Closed { think: Think::Uniform { min_ns, max_ns } } => {
            let [min, max] = [min_ns, max_ns].map(|ns| spell_duration(Duration::from_nanos(*ns)));
            format!("closed loop with {min} to {max} of think time")
        }
        Schedule::Open(arrivals) => {
            let how = match arrivals.process {
                ArrivalProcess::Constant => "evenly spaced",
                ArrivalProcess::Poisson => "at random",
            };
            format!("open loop, {} requests a second, {how}", arrivals.profile)
        }
    };
    let mut words = vec![kind, several(total, "connection"), several(threads, "thread")];
    if protocol.is_http2() {
        words.push(format!("{} on each", several(streams, "stream")));
    }
    if load.pipeline > 1 {
        words.push(format!("{} in flight on each", several(load.pipeline, "request")));
    }
    if let Some(count) = load.requests_per_connection {
        words.push(format!("{} per connection", several(count, "request")));
    }
    let within = spell_duration(load.stop.window());
    words.push(match load.stop.quota() {
        None => format!("for {within}"),
        Some(RequestQuota::Requests(count)) => format!("{} within {within}", several(count, "request")),
        Some(RequestQuota::RequestsEach(count)) => {
            format!("{} by each connection within {within}", several(count, "request"))
        }
        Some(RequestQuota::Connections(count)) => {
            format!("{} in all within {within}", several(count, "connection"))
        }
    });
    if protocol != Protocol::Http1 {
        words.insert(0, protocol.name().to_owned());
    }
    words.join(", ")
}

/// A polling generator takes a whole CPU, and the server may need all of them. So by default the generator
/// polls only shortly before a request is due, and only if the server has another CPU. [`super::own_cpus`]
/// decides again once the server is found.
fn waiting(pace: &PaceArgs, transport: &TransportArgs) -> Waiting {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let has_own = pace.rate.is_some() && usize::from(transport.threads) < cpus;
    pace.spin.unwrap_or(if has_own { Waiting::PollBefore(SPIN) } else { Waiting::Sleep })
}

/// The connect timeout, which is no longer than a short response timeout of the user.
fn connect_timeout(transport: &TransportArgs, checking: &CheckingArgs) -> Duration {
    let unasked = checking.timeout.map_or(CONNECT_TIMEOUT, |timeout| timeout.min(CONNECT_TIMEOUT));
    transport.connect_timeout.unwrap_or(unasked)
}

fn quota(pace: &PaceArgs) -> Option<RequestQuota> {
    let requests = pace.requests.map(RequestQuota::Requests);
    requests
        .or(pace.requests_each.map(RequestQuota::RequestsEach))
        .or(pace.connections_total.map(RequestQuota::Connections))
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
                Spread::Constant => ArrivalProcess::Constant,
                Spread::Poisson => ArrivalProcess::Poisson,
            };
            Schedule::Open(Arrivals { profile: rate.profile.clone(), process })
        }
    }
}

fn connections(transport: &TransportArgs, quota: Option<RequestQuota>) -> anyhow::Result<Connections> {
    let useful = match quota {
        Some(RequestQuota::Requests(count) | RequestQuota::Connections(count)) => {
            count.max(transport.threads.into())
        }
        Some(RequestQuota::RequestsEach(_)) | None => u64::MAX,
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
