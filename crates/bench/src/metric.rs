//! The metrics of a service: name, unit, and better direction. Plans, tables, gates and claims share this
//! list.

use std::fmt;

use serde::{Deserialize, Serialize};
use tare_stats::Better;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Correct answers per second, within the window.
    Throughput,
    /// CPU time of the service per answer.
    #[serde(alias = "cpu-per-request")]
    Cpu,
    /// The same with the CPU time of its database. Ranks are made of it where services have one; nothing else asks for it.
    #[serde(skip)]
    CpuWithDatabase,
    /// The 99th percentile of latency, from the first open loop, else from the closed loops.
    #[serde(alias = "latency-ms-p99")]
    P99,
    Rss,
    Mean,
    #[serde(alias = "latency-ms-p50")]
    P50,
    #[serde(alias = "latency-ms-max")]
    Max,
    /// The longest latency divided by the 99th percentile.
    #[serde(alias = "latency-max-of-p99")]
    MaxOfP99,
    /// Time from the first request to the last answer, per message of a producer.
    MsPerMessage,
    /// Correct answers per connection.
    RepliesPerConnection,
    /// The standard deviation of connection times divided by their mean.
    ConnectionStdevOfMean,
}

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureUnit {
    PerSecond,
    Nanoseconds,
    Milliseconds,
    Bytes,
    Count,
    Ratio,
}

impl Metric {
    /// The metrics that compare two services, in the order of a table.
    pub const COMPARED: [Metric; 4] = [Metric::Throughput, Metric::Cpu, Metric::P99, Metric::Rss];

    pub fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Cpu => "CPU/request",
            Metric::CpuWithDatabase => "CPU/request of service + database",
            Metric::P99 => "p99",
            Metric::Rss => "peak RSS",
            Metric::Mean => "mean latency",
            Metric::P50 => "p50",
            Metric::Max => "longest latency",
            Metric::MaxOfP99 => "longest latency / p99",
            Metric::MsPerMessage => "ms a message",
            Metric::RepliesPerConnection => "replies a connection",
            Metric::ConnectionStdevOfMean => "standard deviation / mean of connection times",
        }
    }

    pub fn unit(self) -> FigureUnit {
        match self {
            Metric::Throughput => FigureUnit::PerSecond,
            Metric::Cpu | Metric::CpuWithDatabase => FigureUnit::Nanoseconds,
            Metric::P99 | Metric::Mean | Metric::P50 | Metric::Max => FigureUnit::Nanoseconds,
            Metric::MsPerMessage => FigureUnit::Milliseconds,
            Metric::Rss => FigureUnit::Bytes,
            Metric::RepliesPerConnection => FigureUnit::Count,
            Metric::MaxOfP99 | Metric::ConnectionStdevOfMean => FigureUnit::Ratio,
        }
    }

    pub fn better(self) -> Better {
        match self {
            Metric::Throughput | Metric::RepliesPerConnection => Better::Higher,
            Metric::Cpu | Metric::CpuWithDatabase => Better::Lower,
            Metric::P99 | Metric::Rss | Metric::Mean | Metric::P50 | Metric::Max => Better::Lower,
            Metric::MaxOfP99 | Metric::MsPerMessage | Metric::ConnectionStdevOfMean => Better::Lower,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Keeps a value that has a logarithm: figures are compared as ratios.
pub fn figure(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then_some(value)
}

pub fn per_second(answered_in_window: f64, window_ns: f64) -> f64 {
    answered_in_window / window_ns * 1e9
}
