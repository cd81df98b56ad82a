//! Latency in open loops: from the records to the figures.
//!
//! The unit is the block: a percentile of a block is one observation. An interval over requests would treat a
//! thousand requests that waited for one stall as independent.

use tare_stats::summary;

use super::blocks::Blocks;
use crate::{
    estimate::UnitEstimate,
    findings::{Finding, detect},
};
use tare_bench::sample::Sample;
use tare_bench::{plan::Plan, record::Latency};

/// Latency of a row at one rate, from the instants at which requests were due.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenLatency {
    /// The rate as the experiment names it: `5000/s`, `80%`.
    pub point: String,
    /// Requests due per second; the median of the blocks.
    pub offered_per_second: f64,
    /// Each quantile covers the blocks with enough requests for it.
    pub p50_ns: Option<UnitEstimate>,
    pub p90_ns: Option<UnitEstimate>,
    pub p99_ns: Option<UnitEstimate>,
    pub p999_ns: Option<UnitEstimate>,
    /// Some requests were never answered, so the quantiles are lower bounds.
    pub at_least: bool,
    /// Schedule lag of the generator: the largest p99 of its slices.
    pub lag_ns_p99: u64,
    pub due: u64,
    /// Why it is not the service's latency; absent if it is valid.
    pub doubt: Option<Finding>,
}

/// The latency of one row at each rate with data.
pub(super) fn compute(plan: &Plan, row: &str, blocks: &Blocks) -> Vec<OpenLatency> {
    plan.rates().filter_map(|(point, rate)| at(point, row, rate.label(), blocks)).collect()
}

fn at(place: usize, row: &str, point: String, blocks: &Blocks) -> Option<OpenLatency> {
    let latencies: Vec<&Latency> =
        blocks.values().filter_map(|block| block.stopped?.latency_at(place)).collect();
    if latencies.is_empty() {
        return None;
    }
    let slices: Vec<&Sample> = blocks
        .values()
        .flat_map(|block| block.open.iter().copied())
        .filter(|slice| slice.point == place)
        .collect();
    let rates: Vec<f64> = slices.iter().filter_map(|slice| slice.load.offered_per_second).collect();
    // On the logarithmic scale, where latencies of blocks are most symmetric.
    let level_of = |probability| {
        let ns = blocks.values().filter_map(|block| Some(block.latency_ns(place, probability)?.max(1.0)));
        UnitEstimate::of(&ns.collect::<Vec<f64>>())
    };
    let lag_ns = |slice: &&Sample| slice.load.schedule_lag_ns_p99.unwrap_or(0);
    let lags: Vec<f64> = slices.iter().map(|slice| lag_ns(slice) as f64).collect();
    Some(OpenLatency {
        doubt: detect::late(&point, &lags).map(|issue| Finding::of_row(row, issue)),
        offered_per_second: summary::median(&rates).ok()?,
        p50_ns: level_of(0.5),
        p90_ns: level_of(0.9),
        p99_ns: level_of(0.99),
        p999_ns: level_of(0.999),
        at_least: latencies.iter().any(|latency| latency.at_least),
        lag_ns_p99: slices.iter().map(lag_ns).max()?,
        due: slices.iter().map(|slice| slice.load.sent + slice.load.unsent).sum(),
        point,
    })
}

/// The open loops in words, for the head of the table.
pub(super) fn load_text(plan: &Plan) -> String {
    let labels: Vec<String> = plan.rates().map(|(_, rate)| rate.label()).collect();
    let Some((first, _)) = plan.rates().next() else { return String::new() };
    let point = &plan.points[first];
    let ms = point.load.duration_ns() / 1_000_000;
    format!("; then open loops at {}, {} slices of {ms} ms each", labels.join(", "), point.rounds)
}
