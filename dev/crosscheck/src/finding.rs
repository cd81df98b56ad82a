//! What is known of one metric of one tool, and what it means. Data; it computes nothing.

use serde::Serialize;

use super::rounds::Sample;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Right answers a second. This one decides.
    Throughput,
    /// The mean latency.
    Mean,
    /// The median latency.
    P50,
    /// The 99% quantile of latency.
    P99,
    /// CPU time of the service for a request: steadier than throughput while other processes use the machine.
    ServiceCpu,
}

/// What a comparison says.
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
    /// Upper end.
    pub high: Option<f64>,
    pub verdict: Verdict,
    /// The reason that is known, and how it shows here.
    pub explanation: Option<Explanation>,
    /// Warnings about the estimate.
    pub warnings: Vec<String>,
}

/// A known reason that is seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Its stable name.
    pub id: &'static str,
    pub why: &'static str,
    /// How it shows in this run.
    pub here: String,
}

impl Metric {
    /// All, in the order in which they are shown.
    pub const ALL: [Metric; 5] =
        [Metric::Throughput, Metric::ServiceCpu, Metric::Mean, Metric::P50, Metric::P99];

    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Mean => "mean latency",
            Metric::P50 => "p50",
            Metric::P99 => "p99",
            Metric::ServiceCpu => "service CPU",
        }
    }

    /// Of one sample, if the generator reports it.
    pub fn of(self, sample: &Sample) -> Option<f64> {
        match self {
            Metric::Throughput => Some(sample.per_second),
            Metric::Mean => sample.latency.mean_ns,
            Metric::P50 => sample.latency.p50_ns,
            Metric::P99 => sample.latency.p99_ns,
            Metric::ServiceCpu => Some(sample.server_cost_ns()),
        }
    }

    /// To what a generator rounds it.
    pub fn step_ns(self, sample: &Sample) -> f64 {
        match self {
            Metric::Throughput | Metric::ServiceCpu => 0.0,
            Metric::Mean => sample.latency.mean_step_ns,
            Metric::P50 | Metric::P99 => sample.latency.percentile_step_ns,
        }
    }
}

impl Verdict {
    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Agree => "agree",
            Verdict::Explained => "explained",
            Verdict::Disagree => "disagree",
            Verdict::Unclear => "unclear",
        }
    }
}
