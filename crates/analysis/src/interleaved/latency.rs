//! Latency in open loops: from the records to the figures.
//!
//! The unit is the block: a percentile of a block is one observation. An interval over requests would treat a
//! thousand requests that waited for one stall as independent.

use tare_stats::summary;

use super::{OpenLatency, blocks::Blocks};
use crate::{
    estimate::Estimate,
    findings::{Finding, detect},
};
use tare_bench::sample::Sample;
use tare_bench::{plan::Plan, record::Latency};

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
        Estimate::of(&ns.collect::<Vec<f64>>())
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
