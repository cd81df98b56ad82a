//! One load, with the service settings and the link under which services meet it.

use serde::{Deserialize, Serialize};
use tare_host::link::LinkSpec;
use tare_load::Load;
use tare_service::{contract::Contract, settings::ServiceSettings};

use super::{Deadlines, LoadSpec};

/// A start and a stop, as a guess.
const START_NS: u64 = 700_000_000;
/// What one exchange over loopback takes, as a guess.
const EXCHANGE_NS: u64 = 100_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The part of the file that it comes from; in an interleaved experiment what its load is called.
    pub part: String,
    pub contract: String,
    /// The requests of it that are the load; without names, those that the contract says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// Samples of each row: in every block of an interleaved experiment, in all of a sequential one.
    pub rounds: usize,
    pub load: LoadSpec,
    /// How many requests a connection of HTTP/2 has on their way at a time; one of HTTP/1.1 has one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub streams: usize,
    /// How requests arrived in the published benchmark, if `load` is only a part of that.
    pub published: Option<LoadSpec>,
    /// Load on a fresh process before its first sample.
    pub warm_up_ns: u64,
    pub service_settings: ServiceSettings,
    pub link: Option<Link>,
    /// Places of the rows that take part.
    pub rows: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    pub name: String,
    pub spec: LinkSpec,
}

fn one() -> usize {
    1
}

fn is_one(streams: &usize) -> bool {
    *streams == 1
}

impl Point {
    /// Time that a request takes at the least: round trips over the link, and its turn at the service's threads.
    pub fn request_ns_ideal(&self) -> u64 {
        let turns = match self.load {
            LoadSpec::Batch { producers, .. } => producers.div_ceil(self.service_settings.threads) as u64,
            _ => 1,
        };
        let round_trips = if self.load.opens_before() { 1 } else { 2 };
        self.rtt_ns() * round_trips + turns * self.service_settings.delay_ms * 1_000_000
    }

    /// The contract that is its load, of the whole one; absent if that lost a request since the plan was made.
    pub fn narrowed(&self, whole: &Contract) -> Option<Contract> {
        if self.requests.is_empty() { Some(whole.clone()) } else { whole.narrowed(&self.requests) }
    }

    /// Whether it is a number of messages: then the result is how long they took.
    pub fn is_batch(&self) -> bool {
        matches!(self.load, LoadSpec::Batch { .. })
    }

    /// Of the link; nothing without one.
    pub(crate) fn rtt_ns(&self) -> u64 {
        self.link.as_ref().map_or(0, |link| link.spec.rtt_ns())
    }

    /// Time that one cell takes, with its start.
    pub fn expected_ns(&self) -> u64 {
        let load_ns = match self.load {
            LoadSpec::Closed { duration_ns, .. } | LoadSpec::Open { duration_ns, .. } => duration_ns,
            LoadSpec::Sessions { connections, calls } => {
                let calls_ns = calls.saturating_mul(self.rtt_ns() + EXCHANGE_NS);
                connections.saturating_mul(calls_ns.saturating_add(self.request_ns_ideal()))
            }
            LoadSpec::Batch { messages, .. } => {
                messages.saturating_mul(self.request_ns_ideal() + 10 * EXCHANGE_NS)
            }
        };
        load_ns.saturating_add(START_NS + self.warm_up_ns)
    }

    /// When one of its cells is given up.
    pub(crate) fn deadlines(&self) -> Deadlines {
        let requests_each = self.load.requests().unwrap_or(0) / self.load.connections().total as u64;
        Deadlines::new(self.request_ns_ideal(), requests_each)
    }

    /// The load that the generator is asked for, at this rate if it is an open one.
    pub(crate) fn for_generator(&self, per_second: f64) -> Load {
        self.load.for_generator(self.deadlines(), per_second)
    }

    pub fn published(&self) -> &LoadSpec {
        self.published.as_ref().unwrap_or(&self.load)
    }

    /// The load and what services were given, in words.
    pub fn describe(&self) -> String {
        let delay = match self.service_settings.delay_ms {
            0 => String::new(),
            ms => format!(" DELAY_MS={ms}"),
        };
        let link = self.link.as_ref().map_or(String::new(), |link| format!("; over {}", link.spec));
        let warm_up = match (self.warm_up_ns, &self.load) {
            (0, _) | (_, LoadSpec::Sessions { .. } | LoadSpec::Batch { .. }) => String::new(),
            (ns, _) => format!(", after {} s of warming up", ns as f64 / 1e9),
        };
        let rounds = if self.rounds == 1 { "once".to_owned() } else { format!("{} rounds", self.rounds) };
        format!(
            "{}{warm_up}; THREADS={}{delay}; contract {}{link}; {rounds}",
            self.load.describe(),
            self.service_settings.threads,
            self.contract
        )
    }
}
