//! One value per block, the input of all statistics. Blocks are evaluated as in the table.

use std::collections::BTreeMap;

use crate::{
    findings::RowIssue,
    interleaved::blocks::{self, Block, Blocks},
};
use tare_bench::{
    folder::StoredRun,
    metric::{self, Metric},
    plan::Plan,
    record::Record,
};
use tare_stats::samples::samples_min;

/// The percentile that rows are compared by.
const P99: f64 = 0.99;

/// The values of one row by block. Blocks without a positive value are omitted.
pub fn of(plan: &Plan, records: &[Record], label: &str, metric: Metric) -> BTreeMap<usize, f64> {
    of_blocks(plan, &blocks::of_label(plan, records, label), metric)
}

/// Answers of one row in counted closed loops, by block.
pub fn answers(plan: &Plan, records: &[Record], label: &str) -> BTreeMap<usize, u64> {
    let answered = |block: &Block| block.slices.iter().map(|slice| slice.load.answered).sum();
    blocks::of_label(plan, records, label).iter().map(|(number, block)| (*number, answered(block))).collect()
}

pub(crate) fn of_blocks(plan: &Plan, blocks: &Blocks, metric: Metric) -> BTreeMap<usize, f64> {
    let figure = |block: &Block| metric::figure(value(plan, block, metric)?);
    blocks.iter().filter_map(|(number, block)| Some((*number, figure(block)?))).collect()
}

fn value(plan: &Plan, block: &Block, metric: Metric) -> Option<f64> {
    match metric {
        Metric::Throughput | Metric::Cpu | Metric::CpuWithDatabase => block.value(metric),
        Metric::P99 => block.latency_ns(point_of_latency(plan), P99),
        Metric::Rss => Some(block.stopped?.rss_bytes_peak? as f64),
        // Metrics of a single load or a batch have no value per block.
        _ => None,
    }
}

/// Finding: no block of a row has enough requests for a 99th percentile.
pub(crate) fn too_few_for_p99(stored: &StoredRun, label: &str) -> Option<RowIssue> {
    let plan = &stored.header.plan;
    let blocks = blocks::of_label(plan, &stored.records, label);
    let most = blocks.values().map(|block| block.timed(point_of_latency(plan))).max()?;
    let needed = samples_min(P99);
    (most < needed).then_some(RowIssue::TooFewRequests {
        percentile: P99 * 100.0,
        requests: most as f64,
        needed,
    })
}

/// The first open loop, or the first load without one.
fn point_of_latency(plan: &Plan) -> usize {
    plan.rates().next().map_or(0, |(point, _)| point)
}

/// The values of two rows in common blocks, in order.
pub fn paired(one: &BTreeMap<usize, f64>, other: &BTreeMap<usize, f64>) -> (Vec<f64>, Vec<f64>) {
    one.iter().filter_map(|(block, value)| Some((*value, *other.get(block)?))).unzip()
}
