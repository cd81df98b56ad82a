//! One value a block: what statistics are made of. A block is read as the table reads it.

use std::collections::BTreeMap;

use crate::interleaved::{
    blocks::{Block, blocks_of},
    rounds::Rounds,
};
use tare_bench::{
    plan::{Plan, until::Metric},
    record::Record,
};

/// The values of one row by block. A block without a value that has a logarithm is left out.
pub fn of(plan: &Plan, records: &[Record], row: usize, metric: Metric) -> BTreeMap<usize, f64> {
    let rounds = Rounds::of(plan, records);
    let blocks = blocks_of(records, &rounds, row);
    let values = blocks.iter().filter_map(|(number, block)| Some((*number, value(plan, block, metric)?)));
    values.filter(|(_, value)| value.is_finite() && *value > 0.0).collect()
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
