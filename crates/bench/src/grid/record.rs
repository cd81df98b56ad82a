//! What is written down while a grid is measured: a line of JSON for each cell, integers in base units.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::validity::FAILURE_SHARE_MAX;

/// One line of `journal.ndjson`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Record {
    /// A cell has ended.
    Cell(Box<CellRecord>),
    /// The grid ended of its own accord. A journal without this line was cut off.
    Ended {
        /// Why.
        reason: Ending,
        /// Time of this session of it.
        elapsed_ns: u64,
    },
}

/// Why a grid ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every cell was measured.
    Complete,
    /// The user stopped it.
    Interrupted,
}

/// What became of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellRecord {
    /// Which.
    pub cell: Cell,
    /// What became of it.
    pub outcome: Outcome,
}

/// One service at one point in one round. By places in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Counted from 0.
    pub round: usize,
    /// Place of the point.
    pub point: usize,
    /// Place of the row.
    pub row: usize,
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The load came to its end.
    Measured(Figures),
    /// The service stopped answering before the load was done, or would not have been done with it in many times the time that
    /// the plan asks for.
    Stuck {
        /// Which of both, and what it looked like.
        evidence: String,
        /// As far as it came.
        figures: Figures,
    },
    /// There is nothing to show, and why.
    Failed(String),
}

/// What was counted and timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// How long requests were sent.
    pub window_ns: u64,
    /// From the first request to the last answer: the makespan of a batch.
    pub elapsed_ns: u64,
    /// Requests sent.
    pub sent: u64,
    /// Right answers.
    pub answered: u64,
    /// Right answers within the window.
    pub answered_in_window: u64,
    /// Wrong and missing answers, by class.
    pub failed: BTreeMap<String, u64>,
    /// Failures of connections that had no request out, by class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub connection_failed: BTreeMap<String, u64>,
    /// Requests without an answer at the end.
    pub in_flight: u64,
    /// Requests that were due and never sent.
    pub unsent: u64,
    /// Connections opened.
    pub connects: u64,
    /// As the generator wrote them.
    pub bytes_sent: u64,
    /// As the generator read them.
    pub bytes_received: u64,
    /// Of the service's processes.
    pub server_cpu_ns: u64,
    /// The part of it in user mode, as far as ticks of 10 ms tell.
    pub server_user_ns: u64,
    /// The part of it in the kernel, as far as ticks of 10 ms tell.
    pub server_system_ns: u64,
    /// Of the generator's threads.
    pub generator_cpu_ns: u64,
    /// What the slow link did, where there is one.
    #[serde(default)]
    pub link: Option<LinkFigures>,
    /// Of what was neither the service nor the generator nor the link, on their CPUs; coarse.
    pub foreign_cpu_ns: Option<i64>,
    /// How long the service was held back by a quota of CPU time; absent if the kernel keeps no such books.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// From `exec` to the first right answer.
    pub start_up_ns: u64,
    /// Sum of the peaks of its processes.
    pub rss_bytes_peak: Option<u64>,
    /// Of all answers, from the instant each request was due.
    pub latency: Spread,
    /// From the attempt to connect to the connection.
    pub connect_time: Spread,
    /// From the attempt to connect to the close, of connections that had all their answers.
    pub connection_time: Spread,
    /// A second each, but for the last.
    pub seconds: Vec<Second>,
    /// Reasons not to trust it, in words.
    pub doubts: Vec<String>,
    /// The first failure in one line.
    pub first_failure: Option<String>,
    /// How the service stopped, where that was not clean.
    pub complaint: Option<String>,
}

/// What a slow link did during the load, and before it, since it was made for the cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkFigures {
    /// What makes it slow, and why that.
    pub kind: String,
    /// CPU time of its own thread, on the generator's CPUs; absent if the kernel does the work in everybody's time.
    pub cpu_ns: Option<u64>,
    /// Packets that came out, both ways.
    pub packets: u64,
    /// Lost as they should be.
    pub lost: u64,
    /// Found a full queue.
    pub dropped: u64,
    /// Never read, since its thread was too slow.
    pub unread: u64,
    /// How much later than they should have 1% of the packets came out.
    pub late_ns_p99: u64,
}

/// What happened in a second of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Second {
    /// Its length.
    pub ns: u64,
    /// Right answers.
    pub answered: u64,
    /// The longest latency of them.
    pub latency_ns_max: u64,
}

/// The probabilities that [`Spread::quantiles_ns`] is kept for: those of all five tables.
pub const PROBABILITIES: [f64; 10] = [0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 1.0];

/// A distribution of times, as far as tables show it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// Shortest.
    pub ns_min: u64,
    /// Mean.
    pub ns_mean: f64,
    /// Standard deviation.
    pub ns_stdev: f64,
    /// The share that lies within one standard deviation of the mean.
    pub share_within_stdev: f64,
    /// At [`PROBABILITIES`].
    pub quantiles_ns: Vec<u64>,
    /// Requests were never answered: the true quantiles may be longer.
    pub at_least: bool,
}

impl Spread {
    /// The quantile at one of [`PROBABILITIES`]; absent if nothing was timed.
    pub fn ns_at(&self, probability: f64) -> Option<u64> {
        let place = PROBABILITIES.iter().position(|known| *known == probability)?;
        self.quantiles_ns.get(place).copied().filter(|_| self.count > 0)
    }
}

impl Figures {
    /// Right answers a second of the window.
    pub fn per_second(&self) -> f64 {
        if self.window_ns == 0 { 0.0 } else { self.answered_in_window as f64 * 1e9 / self.window_ns as f64 }
    }

    /// Wrong and missing answers, those among them that were still waited for when the load ended.
    pub fn failures(&self) -> u64 {
        self.failed.values().chain(self.connection_failed.values()).sum::<u64>() + self.in_flight
    }

    /// Why it tells nothing of how fast the service is: the generator or the machine was the limit, answers were wrong or missing,
    /// or there was none.
    pub fn trouble(&self) -> Option<String> {
        let failures = self.failures();
        if let Some(doubt) = self.doubts.first() {
            Some(doubt.clone())
        } else if self.answered == 0 {
            Some("no answer at all".to_owned())
        } else if failures as f64 > FAILURE_SHARE_MAX * (self.sent + self.unsent) as f64 {
            let first =
                self.first_failure.as_ref().map_or(String::new(), |first| format!(", the first: {first}"));
            Some(format!("erroring: {failures} of {} requests failed{first}", self.sent))
        } else {
            None
        }
    }

    /// CPU time of the user-space link.
    pub fn link_cpu_ns(&self) -> u64 {
        self.link.as_ref().and_then(|link| link.cpu_ns).unwrap_or(0)
    }

    /// CPU time of the service for each right answer.
    pub fn cpu_ns_per_request(&self) -> Option<f64> {
        (self.answered > 0).then(|| self.server_cpu_ns as f64 / self.answered as f64)
    }
}

impl Outcome {
    /// What was measured, where the load came to its end.
    pub fn figures(&self) -> Option<&Figures> {
        match self {
            Outcome::Measured(figures) => Some(figures),
            Outcome::Stuck { .. } | Outcome::Failed(_) => None,
        }
    }
}
