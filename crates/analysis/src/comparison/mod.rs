//! A against B: does the candidate cost more than the baseline, by so much that it matters? Records in, a verdict out;
//! pure, so that the stopping rule that ends a run, the command that prints it and a later reader of the folder agree.

mod again;
mod compute;
mod decide;
mod pair;
mod text;

use std::collections::BTreeMap;

use tare_stats::Warning;

pub use again::Again;
pub use compute::compute;

use crate::{estimate::Estimate, findings::Finding, verdict::Verdict};
use tare_bench::{plan::until::Metric, record::Ending};

/// All that is reported of a comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub verdict: Verdict,
    pub reason: String,
    /// From which regression on the candidate fails.
    pub delta: f64,
    /// What must not have become worse.
    pub candidate: Contender,
    pub baseline: Contender,
    pub contract: String,
    pub load: String,
    /// Blocks that both have.
    pub blocks: usize,
    /// After how many blocks there was a look, or would have been.
    pub looks: Vec<usize>,
    /// The look that the verdict and the figures are from; absent if there was none yet.
    pub look: Option<usize>,
    /// Time of the run; absent if it was cut off.
    pub elapsed_ns: Option<u64>,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    /// In the order of [`Metric::COMPARED`].
    pub figures: Vec<Figure>,
    /// Absent if the candidate was not measured a second time.
    pub again: Option<Again>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    pub label: String,
    /// How it differs, such as the commit that it was built from.
    pub title: Option<String>,
    pub version: Option<String>,
    /// The content hash of its build.
    pub content: Option<String>,
    /// Requests sent in all complete blocks.
    pub sent: u64,
    /// Wrong and missing answers among them, by class.
    pub failed: BTreeMap<String, u64>,
}

/// One metric of the two.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub metric: Metric,
    /// For a reader: with the rate if it is latency at a rate.
    pub name: String,
    /// Whether the verdict is made of it.
    pub decides: bool,
    /// The baseline's geometric mean over the blocks: requests a second, nanoseconds or bytes.
    pub baseline: Option<f64>,
    pub candidate: Option<f64>,
    /// Candidate by baseline, paired by block.
    pub ratio: Option<Estimate>,
    /// The confidence of the interval over all looks; of those that decide together, each has more than 95%.
    pub confidence: f64,
    /// The ratio from which on it is a regression of delta.
    pub bound: f64,
    /// Of this metric by itself; absent if it does not decide.
    pub verdict: Option<Verdict>,
    /// The greatest regression that is not excluded, as a share; absent without an interval.
    pub regression_most: Option<f64>,
    /// Why it does not decide although it was to.
    pub doubts: Vec<Finding>,
    pub warnings: Vec<Warning>,
}

#[cfg(test)]
mod tests;
