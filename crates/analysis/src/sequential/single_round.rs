//! How far a figure of one round may lie from that of many. A single round has no interval: checks take it for known within a
//! factor that was measured, for each metric, from stored runs of several rounds.
//!
//! `cargo run --release -p tare-analysis --example verdicts -- single-round` computes the factors again and prints how many left-out
//! rounds they cover; a test compares them with the stored rounds.

use tare_bench::{metric::Metric, plan::LoadSpec};

/// Within this factor, up and down, lie 95% of the ratios of two services in one round. Absent for a metric of which no stored run has
/// several rounds: one round of it decides nothing.
///
/// Loads that end by time are those of `record/restinio-2017` (six services, six rounds). Loads that end by number are
/// those of `record/rest-cpp-2020` (batches of five or six services at five points, three rounds): a makespan of
/// milliseconds becomes one of seconds where a SYN is lost.
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
        // A count has no noise; of the other no stored run has several rounds.
        Metric::RepliesPerConnection => return Some(1.0),
        Metric::ConnectionStdevOfMean => return None,
    };
    Some(if load.requests().is_some() { by_number } else { by_time })
}
