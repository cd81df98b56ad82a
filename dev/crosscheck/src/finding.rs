//! The result for one metric of one tool, as data without computations.

use serde::Serialize;
use tare_bench::metric::Metric;

use super::rounds::Sample;

/// The compared metrics, in the order of output. Throughput decides; CPU per request is steadier if other
/// processes use the machine.
pub(crate) const METRICS: [Metric; 5] =
    [Metric::Throughput, Metric::Cpu, Metric::Mean, Metric::P50, Metric::P99];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval of the ratio contains 1, and no distant value.
    Agree,
    /// It does not, but this run shows a known reason.
    Explained,
    /// It does not, and no known reason is visible.
    Disagree,
    /// There is no interval, or it is too wide to be informative, or the machine was too noisy.
    Unclear,
}

/// One metric of a tool, compared with that of Tare's generator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub metric: Metric,
    /// Whether this metric determines the verdict on the tool.
    pub decides: bool,
    /// The tool's median over the rounds: answers per second, or nanoseconds.
    pub theirs: f64,
    /// The median of Tare's generator.
    pub ours: f64,
    /// The ratio of the tool to Tare, paired by round.
    pub ratio: Option<f64>,
    /// The lower bound of the 95% interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: Verdict,
    pub explanation: Option<Explanation>,
    pub warnings: Vec<String>,
}

/// A known reason that the figures show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub id: &'static str,
    pub why: &'static str,
    /// The evidence in this run.
    pub here: String,
}

/// The value of one sample, if the generator reports it.
pub(crate) fn value(metric: Metric, sample: &Sample) -> Option<f64> {
    match metric {
        Metric::Throughput => Some(sample.per_second),
        Metric::Cpu => Some(sample.server_cost_ns()),
        Metric::Mean => sample.latency.mean_ns,
        Metric::P50 => sample.latency.p50_ns,
        Metric::P99 => sample.latency.p99_ns,
        _ => None,
    }
}

/// The rounding step of a generator.
pub(crate) fn step_ns(metric: Metric, sample: &Sample) -> f64 {
    match metric {
        Metric::Mean => sample.latency.mean_step_ns,
        Metric::P50 | Metric::P99 => sample.latency.percentile_step_ns,
        _ => 0.0,
    }
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Agree => "agree",
            Verdict::Explained => "explained",
            Verdict::Disagree => "disagree",
            Verdict::Unclear => "unclear",
        }
    }
}
