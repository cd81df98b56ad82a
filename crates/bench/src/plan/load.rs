//! How requests arrive at a point, and what ends the load.

use std::time::Duration;
use tare_base::units::several;

use serde::{Deserialize, Serialize};
use tare_load::{
    ArrivalProcess, Arrivals, Connections, Load, RateProfile, RequestQuota, Schedule, Stop, Think,
};

use crate::experiment::Rate;

/// How long the generator waits for answers after a window.
const DRAIN_NS: u64 = 2_000_000_000;
/// Shortest load, however small the scale: shorter loads have no useful figures.
const DURATION_NS_MIN: u64 = 1_000_000_000;
/// Time beyond the plan, for a machine that is busy with other work.
const SLACK_NS: u64 = 10_000_000_000;
/// A load may take this multiple of the planned time. The slowest published service took 3.5 times
/// (cpp-httplib over the slow link with 4 threads).
const TIMES: u64 = 8;
/// Time that a service may take for one request beyond the plan.
const REQUEST_NS: u64 = 5_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadSpec {
    /// Each connection sends its next request after the previous answer and the think time.
    Closed {
        connections: usize,
        threads: usize,
        duration_ns: u64,
        /// Shortest and longest think time.
        think_ns: Option<(u64, u64)>,
    },
    /// Requests are due at random instants.
    Open { rate: Rate, connections: usize, threads: usize, duration_ns: u64 },
    /// Connections one after another, with `calls` requests each.
    Sessions { connections: u64, calls: u64 },
    /// Producers that send `messages` messages each, every message on its own connection.
    Batch { producers: usize, messages: u64 },
}

/// When a cell is given up. By its plan, a hung service costs a bounded time, and a slow one may finish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadlines {
    /// A time without any answer after which the service counts as hung.
    pub silence_ns: u64,
    /// Limit from the first request to the last answer.
    pub all_ns: u64,
}

impl Deadlines {
    /// Deadlines of a cell with `requests_each` requests per connection, each of at least `request_ns_ideal`.
    pub(super) fn new(request_ns_ideal: u64, requests_each: u64) -> Deadlines {
        let request_ns = TIMES.saturating_mul(request_ns_ideal.saturating_add(REQUEST_NS));
        Deadlines {
            silence_ns: (SLACK_NS / 2).saturating_add(TIMES.saturating_mul(request_ns_ideal)),
            all_ns: SLACK_NS.saturating_add(request_ns.saturating_mul(requests_each)),
        }
    }
}

impl LoadSpec {
    /// The load scaled down to the requested part.
    pub(super) fn scaled(mut self, scale: f64, duration_ns: Option<u64>) -> LoadSpec {
        match &mut self {
            LoadSpec::Closed { duration_ns: time, .. } | LoadSpec::Open { duration_ns: time, .. } => {
                let shortest = DURATION_NS_MIN.min(*time);
                *time = duration_ns.unwrap_or_else(|| ((*time as f64 * scale) as u64).max(shortest));
            }
            LoadSpec::Sessions { connections: number, .. } | LoadSpec::Batch { messages: number, .. } => {
                *number = ((*number as f64 * scale).round() as u64).max(1);
            }
        }
        self
    }

    /// The number of connections, and the generator threads that share them.
    pub fn connections(&self) -> Connections {
        match *self {
            LoadSpec::Closed { connections, threads, .. } | LoadSpec::Open { connections, threads, .. } => {
                Connections { total: connections, threads }
            }
            LoadSpec::Sessions { .. } => Connections { total: 1, threads: 1 },
            LoadSpec::Batch { producers, .. } => Connections { total: producers, threads: 1 },
        }
    }

    /// The rate at which requests are due; absent if the service sets the pace.
    pub fn rate(&self) -> Option<Rate> {
        match *self {
            LoadSpec::Open { rate, .. } => Some(rate),
            _ => None,
        }
    }

    /// How long requests are sent; 0 if a number of requests ends the load.
    pub fn duration_ns(&self) -> u64 {
        match *self {
            LoadSpec::Closed { duration_ns, .. } | LoadSpec::Open { duration_ns, .. } => duration_ns,
            LoadSpec::Sessions { .. } | LoadSpec::Batch { .. } => 0,
        }
    }

    /// Whether it loads the service to its limit.
    pub fn saturates(&self) -> bool {
        matches!(self, LoadSpec::Closed { think_ns: None, .. })
    }

    /// Whether connections are opened before the load; not if opening them is part of the measurement.
    pub(crate) fn opens_before(&self) -> bool {
        matches!(self, LoadSpec::Closed { .. } | LoadSpec::Open { .. })
    }

    /// The number of requests that ends the load; absent if a time ends it.
    pub fn requests(&self) -> Option<u64> {
        match *self {
            LoadSpec::Closed { .. } | LoadSpec::Open { .. } => None,
            LoadSpec::Sessions { connections, calls } => Some(connections.saturating_mul(calls)),
            LoadSpec::Batch { producers, messages } => Some(messages.saturating_mul(producers as u64)),
        }
    }

    /// A size that differs from `published`, a load of the same kind: `12 s instead of 600 s`.
    pub fn instead_of(&self, published: &LoadSpec) -> Option<String> {
        let size = |offered: &LoadSpec| match offered {
            LoadSpec::Closed { duration_ns, .. } | LoadSpec::Open { duration_ns, .. } => {
                (seconds(*duration_ns), "")
            }
            LoadSpec::Sessions { connections, .. } => (connections.to_string(), " connections"),
            LoadSpec::Batch { messages, .. } => (messages.to_string(), " messages"),
        };
        let ((here, what), (there, _)) = (size(self), size(published));
        (here != there).then(|| format!("{here}{what} instead of {there}"))
    }

    pub fn describe(&self) -> String {
        match self {
            LoadSpec::Closed { connections, threads, duration_ns, think_ns } => {
                let think = think_ns.map_or(String::new(), |(least, most)| {
                    format!(", {} to {} ms of thinking", least / 1_000_000, most / 1_000_000)
                });
                let time = seconds(*duration_ns);
                let connections = several(*connections, "connection");
                let threads = several(*threads, "generator thread");
                format!("closed loop, {connections}, {threads}{think}, {time}")
            }
            LoadSpec::Open { rate, connections, duration_ns, .. } => {
                let time = seconds(*duration_ns);
                format!(
                    "open loop, {} requests a second at random, at most {connections} connections, {time}",
                    rate.number()
                )
            }
            LoadSpec::Sessions { connections, calls } => {
                format!("{connections} connections one after another, {calls} requests on each")
            }
            LoadSpec::Batch { producers, messages } => {
                format!("{producers} producers, {messages} messages each, a new connection for each message")
            }
        }
    }

    /// The load for the generator; an open one has this rate.
    pub(super) fn for_generator(&self, deadlines: Deadlines, per_second: f64) -> Load {
        let time = Duration::from_nanos;
        let stop_at = |duration_ns: u64| Stop::after(time(duration_ns), time(DRAIN_NS));
        let stop_by = |quota| Stop::count(quota, time(deadlines.all_ns), time(DRAIN_NS));
        // Longer than the silence that ends a load: a hung service is one finding, not a failure per request.
        let timeout = time(deadlines.silence_ns.saturating_mul(2));
        match *self {
            LoadSpec::Closed { duration_ns, think_ns, .. } => {
                let think =
                    think_ns.map_or(Think::None, |(min_ns, max_ns)| Think::Uniform { min_ns, max_ns });
                Load::new(Schedule::Closed { think }, stop_at(duration_ns), timeout)
            }
            LoadSpec::Open { duration_ns, .. } => {
                // A service without answers in its closed loop still receives requests.
                let profile =
                    RateProfile::constant(per_second.max(1.0)).expect("a rate of 1 or more is valid");
                let arrivals = Arrivals { profile, process: ArrivalProcess::Poisson };
                Load::new(Schedule::Open(arrivals), stop_at(duration_ns), timeout)
            }
            LoadSpec::Sessions { connections, calls } => Load {
                requests_per_connection: Some(calls),
                ..Load::new(Schedule::SATURATE, stop_by(RequestQuota::Connections(connections)), timeout)
            },
            LoadSpec::Batch { messages, .. } => Load {
                requests_per_connection: Some(1),
                ..Load::new(Schedule::SATURATE, stop_by(RequestQuota::RequestsEach(messages)), timeout)
            },
        }
    }
}

fn seconds(ns: u64) -> String {
    format!("{} s", ns as f64 / 1e9)
}
