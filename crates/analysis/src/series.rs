//! One value a block: what statistics are made of. A block is read as the table reads it.

use std::collections::BTreeMap;

use crate::interleaved::{
    blocks::{Block, Blocks, blocks_of},
    rounds::Rounds,
};
use tare_bench::{
    metric::{self, Metric},
    plan::Plan,
    record::Record,
};

/// The values of one row by block. A block without a value that has a logarithm is left out.
pub fn of(plan: &Plan, records: &[Record], label: &str, metric: Metric) -> BTreeMap<usize, f64> {
    let rounds = Rounds::of(plan, records);
    let place = plan.rows.iter().position(|row| row.label == label);
    place.map(|row| of_blocks(plan, &blocks_of(records, &rounds, row), metric)).unwrap_or_default()
}

/// Answers of one row in the closed loops that count, by block.
pub fn answers(plan: &Plan, records: &[Record], label: &str) -> BTreeMap<usize, u64> {
    let rounds = Rounds::of(plan, records);
    let place = plan.rows.iter().position(|row| row.label == label);
    let blocks = place.map(|row| blocks_of(records, &rounds, row)).unwrap_or_default();
    let answered = |block: &Block| block.slices.iter().map(|slice| slice.load.answered).sum();
    blocks.iter().map(|(number, block)| (*number, answered(block))).collect()
}

pub(crate) fn of_blocks(plan: &Plan, blocks: &Blocks, metric: Metric) -> BTreeMap<usize, f64> {
    let figure = |block: &Block| metric::figure(value(plan, block, metric)?);
    blocks.iter().filter_map(|(number, block)| Some((*number, figure(block)?))).collect()
}

fn value(plan: &Plan, block: &Block, metric: Metric) -> Option<f64> {
    match metric {
        Metric::Throughput => Some(block.requests_per_second()),
        Metric::Cpu => Some(block.cpu_ns_per_request()),
        // Of the first open loop where there is any.
        Metric::P99 => {
            Some(block.stopped?.latency_at(plan.rates().next().map_or(0, |(point, _)| point))?.p99_ns as f64)
        }
        Metric::Rss => Some(block.stopped?.rss_bytes_peak? as f64),
        // Of one load alone, or of a batch: no figure of a block.
        _ => None,
    }
}

/// The values of two rows in the blocks that both have, in their order.
pub fn paired(one: &BTreeMap<usize, f64>, other: &BTreeMap<usize, f64>) -> (Vec<f64>, Vec<f64>) {
    one.iter().filter_map(|(block, value)| Some((*value, *other.get(block)?))).unzip()
}
