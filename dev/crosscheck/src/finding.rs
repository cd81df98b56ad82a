//! What is known of one metric of one tool, and what it means. Data; it computes nothing.

use serde::Serialize;
use tare_bench::metric::Metric;

use super::rounds::Sample;

/// What is compared, in the order in which it is shown. Throughput decides; CPU per request is steadier while other
/// processes use the machine.
pub(crate) const METRICS: [Metric; 5] =
    [Metric::Throughput, Metric::Cpu, Metric::Mean, Metric::P50, Metric::P99];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval of the ratio contains 1, and no value far from it.
    Agree,
    /// It does not, and a known reason is seen in this run.
    Explained,
    /// It does not, and no known reason is seen.
    Disagree,
    /// There is no interval, or one so wide that to hold 1 says nothing, or the machine was too noisy for a difference to
    /// mean anything.
    Unclear,
}

/// One metric of a tool, beside that of Tare's generator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub metric: Metric,
    /// Whether the verdict of the tool is that of this metric.
    pub decides: bool,
    /// Median over the rounds, of the tool: answers a second, or nanoseconds.
    pub theirs: f64,
    /// The same of Tare's generator.
    pub ours: f64,
    /// Theirs as a multiple of ours, paired by round.
    pub ratio: Option<f64>,
    /// Lower end of the 95% interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: Verdict,
    pub explanation: Option<Explanation>,
    pub warnings: Vec<String>,
}

/// A known reason that is seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub id: &'static str,
    pub why: &'static str,
    /// How it shows in this run.
    pub here: String,
}

/// A figure of one sample, if the generator reports it.
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

/// To what a generator rounds it.
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
