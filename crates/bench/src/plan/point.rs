//! One load, with the service settings and the link that apply to it.

use serde::{Deserialize, Serialize};
use tare_contract::Contract;
use tare_host::link::LinkSpec;
use tare_load::Load;
use tare_service::settings::ServiceSettings;

use super::{Deadlines, LoadSpec};
use crate::experiment::ConnectionUse;

/// Estimated duration of a start and a stop.
const START_NS: u64 = 700_000_000;
/// Estimated duration of one exchange over loopback.
const EXCHANGE_NS: u64 = 100_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The part of the file that it comes from; in an interleaved experiment, the name of its load.
    pub part: String,
    pub contract: String,
    /// Names of the requests that make up the load; if empty, the contract decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// Samples of each row: per block of an interleaved experiment, or in total of a sequential one.
    pub rounds: usize,
    pub load: LoadSpec,
    #[serde(default, skip_serializing_if = "ConnectionUse::is_usual")]
    pub connection_use: ConnectionUse,
    /// How requests arrived in the published benchmark, if `load` is only a part of it.
    pub published: Option<LoadSpec>,
    /// Warm-up load on a fresh process before its first sample.
    pub warm_up_ns: u64,
    pub service_settings: ServiceSettings,
    pub link: Option<NamedLink>,
    /// Places of the rows that take part.
    pub rows: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedLink {
    pub name: String,
    pub spec: LinkSpec,
}

impl Point {
    /// Minimum time of a request: round trips over the link, and the wait for a thread of the service.
    pub fn request_ns_ideal(&self) -> u64 {
        let turns = match self.load {
            LoadSpec::Batch { producers, .. } => producers.div_ceil(self.service_settings.threads) as u64,
            _ => 1,
        };
        let round_trips = if self.load.opens_before() { 1 } else { 2 };
        self.rtt_ns() * round_trips + turns * self.service_settings.delay_ms * 1_000_000
    }

    /// The part of contract `whole` that is this load; absent if a request has been removed since.
    pub fn narrowed(&self, whole: &Contract) -> Option<Contract> {
        if self.requests.is_empty() { Some(whole.clone()) } else { whole.narrowed(&self.requests) }
    }

    /// Whether the load is a number of messages; its result is then their duration.
    pub fn is_batch(&self) -> bool {
        matches!(self.load, LoadSpec::Batch { .. })
    }

    /// Round-trip time of the link; 0 without one.
    pub(crate) fn rtt_ns(&self) -> u64 {
        self.link.as_ref().map_or(0, |link| link.spec.rtt_ns())
    }

    /// Expected duration of one cell, including its start.
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

    /// The times after which one of its cells is given up.
    pub(crate) fn deadlines(&self) -> Deadlines {
        let requests_each = self.load.requests().unwrap_or(0) / self.load.connections().total as u64;
        Deadlines::new(self.request_ns_ideal(), requests_each)
    }

    /// The load for the generator; an open one has this rate.
    pub(crate) fn for_generator(&self, per_second: f64) -> Load {
        let load = self.load.for_generator(self.deadlines(), per_second);
        Load {
            requests_per_connection: load.requests_per_connection.or(self.connection_use.requests),
            ..load
        }
    }

    pub fn published(&self) -> &LoadSpec {
        self.published.as_ref().unwrap_or(&self.load)
    }

    /// The load and the service settings, in words.
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
            "{}{}{warm_up}; THREADS={}{delay}; contract {}{link}; {rounds}",
            self.load.describe(),
            self.connection_use.describe(self.load.connections().total),
            self.service_settings.threads,
            self.contract
        )
    }
}
