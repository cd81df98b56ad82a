//! What is written down while a campaign runs: one line of JSON a fact, integers in base units. The lines are the
//! measurement; every table is computed from them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::experiment::Point;

/// One line of `journal.ndjson`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(clippy::large_enum_variant, reason = "nearly all records are slices")]
pub enum Record {
    /// How a service warmed up, before the campaign.
    Pilot(Pilot),
    /// A block begins: every service is started afresh, in this order.
    Block {
        /// Counted from 0.
        block: usize,
        /// Labels of rows.
        order: Vec<String>,
        /// Time that the campaign had taken before.
        #[serde(default)]
        elapsed_ns: u64,
    },
    /// A service gave its first answer, was warmed up, and is frozen.
    Started(Started),
    /// One slice was measured.
    Slice(Slice),
    /// A service was stopped at the end of a block.
    Stopped(Stopped),
    /// A row is out, and why; it takes no part in later blocks.
    Failed {
        /// The block in which it happened.
        block: usize,
        /// Label of the row.
        row: String,
        /// What a reader of the table is told.
        reason: String,
    },
    /// The campaign ended of its own accord. A journal without this line was cut off.
    Ended {
        /// Why.
        reason: Ending,
        /// From the first block's start.
        elapsed_ns: u64,
    },
}

/// How a fresh process warmed up under load: a curve, and where it becomes flat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    /// Label of the row.
    pub row: String,
    /// Length of a window of the curve.
    pub window_ns: u64,
    /// Right answers in each window.
    pub answered: Vec<u64>,
    /// CPU time of the service's processes in each window.
    pub server_cpu_ns: Vec<u64>,
    /// What a start costs beside the load: until it is ready, and until it has stopped.
    #[serde(default)]
    pub start_ns: u64,
    /// From where on it is steady; absent if it was not within the time that it had.
    pub steady_after_ns: Option<u64>,
}

/// A service is ready for its slices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// Counted from 0.
    pub block: usize,
    /// Label of the row.
    pub row: String,
    /// From `exec` to the first right answer.
    pub start_up_ns: u64,
}

/// One service under one load for a short time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// Counted from 0.
    pub block: usize,
    /// Each row has one slice a round.
    pub round: usize,
    /// Label of the row.
    pub row: String,
    /// The open loop that it was; none for the closed one, in which the service is saturated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
    /// How long requests were sent.
    pub window_ns: u64,
    /// The window, and the time until the last request in flight was answered.
    pub elapsed_ns: u64,
    /// Requests sent.
    pub sent: u64,
    /// Right answers, those after the window among them.
    pub answered: u64,
    /// Right answers within the window.
    pub answered_in_window: u64,
    /// Wrong and missing answers, by class.
    pub failed: BTreeMap<String, u64>,
    /// Failures of connections that had no request out, by class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub connection_failed: BTreeMap<String, u64>,
    /// Requests without an answer when the slice was given up.
    pub in_flight: u64,
    /// Connections opened.
    pub connects: u64,
    /// Bytes on the wire, as the generator wrote them.
    pub bytes_sent: u64,
    /// Bytes on the wire, as the generator read them.
    pub bytes_received: u64,
    /// CPU time of the service's processes.
    pub server_cpu_ns: u64,
    /// CPU time of the generator's threads.
    pub generator_cpu_ns: u64,
    /// CPU time that others took on the CPUs of the service and the generator, stolen time among it; coarse, see
    /// [`tare_host::cpus::TICK_NS`], and so sometimes below 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_cpu_ns: Option<i64>,
    /// What the CPUs of both did, as the kernel counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub books: Option<tare_host::cpus::CpuAccounting>,
    /// Of the service's live threads, voluntary and forced together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// How long the kernel held the service back because its group had used up its share of CPU time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// The time that each request was in flight, added up: for Little's law. 0 where it was not kept.
    #[serde(default)]
    pub in_flight_ns: u64,
    /// Mean time from the send of an answered request to its answer.
    #[serde(default)]
    pub service_time_ns_mean: u64,
    /// Latency of the answered requests.
    pub latency_ns_p50: u64,
    /// Latency of the answered requests.
    pub latency_ns_p99: u64,
    /// Latency of the answered requests.
    pub latency_ns_max: u64,
    /// Right answers within each of the times that were asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<u64>,
    /// What the first failure looked like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<String>,
}

/// How requests arrived in an open loop, and what that loop alone can tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// Which of the plan's rates.
    pub point: Point,
    /// Requests a second that were due.
    pub offered_per_second: f64,
    /// Requests that were due and not sent before the slice was given up.
    pub unsent: u64,
    /// How late the generator itself was.
    pub lag_ns_p99: u64,
}

/// A service at the end of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// Counted from 0.
    pub block: usize,
    /// Label of the row.
    pub row: String,
    /// Sum of the peaks of its live processes.
    pub rss_bytes_peak: Option<u64>,
    /// Voluntary and forced together.
    pub context_switches: Option<u64>,
    /// Of all answers in the closed loops of the block.
    pub latency: Option<Latency>,
    /// From the instants at which requests were due, in the open loops of the block, in the order of the plan's rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_open: Vec<Latency>,
    /// How it stopped, where that was not clean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
}

/// Latency of answered requests, from the histogram of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Half of the requests took at most this.
    pub p50_ns: u64,
    /// 90%.
    pub p90_ns: u64,
    /// 99%.
    pub p99_ns: u64,
    /// 99.9%.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Some requests were never answered: quantiles from theirs on are lower bounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

/// Why a campaign ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// What was asked is answered.
    Decided,
    /// Another block would not fit.
    BudgetSpent,
    /// As many blocks as the experiment allows.
    BlocksMax,
    /// Every row has failed, or every one but the reference.
    NothingLeft,
    /// The user stopped it.
    Interrupted,
}

/// Why and when a campaign ended. One that was gone on with after an end has none until the next.
pub fn ending(records: &[Record]) -> Option<(Ending, u64)> {
    match records.last()? {
        Record::Ended { reason, elapsed_ns } => Some((*reason, *elapsed_ns)),
        _ => None,
    }
}

impl Ending {
    /// In words for the foot of a table.
    pub fn text(self) -> &'static str {
        match self {
            Ending::Decided => "the question was answered",
            Ending::BudgetSpent => "the budget was spent",
            Ending::BlocksMax => "all blocks were measured",
            Ending::NothingLeft => "no service was left to measure",
            Ending::Interrupted => "interrupted",
        }
    }
}
