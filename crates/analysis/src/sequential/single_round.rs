//! The possible error of a single round. It has no interval, so checks use a factor per metric that was
//! measured in stored runs with several rounds.
//!
//! `cargo run --release -p tare-analysis --example verdicts -- single-round` computes the factors again and
//! prints the number of left-out rounds that they cover; a test compares them with the stored rounds.

use tare_bench::{metric::Metric, plan::LoadSpec};

/// The factor that contains 95% of the ratios of two services in one round, up and down. Absent for a metric
/// without stored runs of several rounds: a single round of it decides nothing.
///
/// Loads that end by time come from `record/restinio-2017` (six services, six rounds). Loads that end by
/// number come from `record/rest-cpp-2020` (batches of five or six services at five points, three rounds).
/// There, a lost SYN turns a makespan of milliseconds into seconds.
pub fn factor(metric: Metric, load: &LoadSpec) -> Option<f64> {
    let (by_time, by_number) = match metric {
        Metric::Throughput | Metric::MsPerMessage => (1.55, 9.5),
        Metric::Cpu => (1.5, 1.55),
        Metric::Mean => (1.55, 1.75),
        Metric::P50 => (1.6, 1.85),
        Metric::P99 => (3.0, 3.0),
        Metric::Max => (4.2, 3.5),
        Metric::MaxOfP99 => (2.45, 2.05),
        Metric::Rss => (1.1, 1.1),
        // Counts have no noise; no stored run has several rounds of the other metric.
        Metric::RepliesPerConnection => return Some(1.0),
        Metric::ConnectionStdevOfMean | Metric::CpuWithDatabase => return None,
    };
    Some(if load.requests().is_some() { by_number } else { by_time })
}
