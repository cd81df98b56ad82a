//! A against B: does the candidate cost so much more than the baseline that it matters? A pure function of
//! the records, so that the stopping rule, the command and later readers agree.

mod again;
mod compute;
mod decide;
mod pair;
mod text;

use std::collections::BTreeMap;

use tare_stats::Warning;

pub use again::TwinComparison;
pub use compute::{compute, of_table};

use crate::{estimate::UnitEstimate, findings::Finding, verdict::Verdict};
use tare_bench::{plan::until::Metric, record::Ending};

/// All results of a comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub verdict: Verdict,
    pub reason: String,
    /// The regression at which the candidate fails.
    pub delta: f64,
    /// The service under test.
    pub candidate: Contender,
    pub baseline: Contender,
    pub contract: String,
    pub load: String,
    /// Blocks that both have.
    pub blocks: usize,
    /// The planned looks, in blocks.
    pub looks: Vec<usize>,
    /// The look of the verdict and figures; absent before the first one.
    pub look: Option<usize>,
    /// Wall time of the run; absent if it was cut off.
    pub elapsed_ns: Option<u64>,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    /// In the order of [`Metric::COMPARED`].
    pub figures: Vec<Figure>,
    /// Absent if the candidate has no twin.
    pub again: Option<TwinComparison>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    pub label: String,
    /// How it differs from the other, such as its commit.
    pub title: Option<String>,
    pub version: Option<String>,
    /// The content hash of its build.
    pub content: Option<String>,
    /// Requests sent in all complete blocks.
    pub sent: u64,
    /// Wrong and missing answers, by class.
    pub failed: BTreeMap<String, u64>,
}

/// One metric of the two.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub metric: Metric,
    /// Name for readers; includes the rate of an open loop.
    pub name: String,
    /// Whether the verdict depends on it.
    pub decides: bool,
    /// The baseline's geometric mean over the blocks: requests per second, nanoseconds or bytes.
    pub baseline: Option<f64>,
    pub candidate: Option<f64>,
    /// Candidate divided by baseline, paired by block.
    pub ratio: Option<UnitEstimate>,
    /// Simultaneous confidence of the interval over all looks; above 95% if several metrics decide.
    pub confidence: f64,
    /// The ratio at which a regression of delta begins.
    pub bound: f64,
    /// Verdict of this metric alone; absent if it does not decide.
    pub verdict: Option<Verdict>,
    /// The greatest regression that is not excluded, as a share; absent without an interval.
    pub regression_most: Option<f64>,
    /// Why it does not decide although the plan wants it to.
    pub doubts: Vec<Finding>,
    pub warnings: Vec<Warning>,
}

#[cfg(test)]
mod tests;
