//! The cost per request at a rate that is equal for all rows. At saturation a slow server receives large
//! batches; at an equal rate all services have the same load, and pay for wake-ups.

use tare_bench::{experiment::Rate, plan::Plan, sample::Sample};
use tare_stats::{DEFAULT_CONFIDENCE, Looks, interval};

use super::{
    RowReport, State,
    blocks::{Block, Blocks},
    relation::relate_by,
};
use crate::estimate::Estimate;

/// The cost of one row at one rate.
#[derive(Debug, Clone)]
pub struct CostAtRate {
    /// The rate as the experiment names it: `5000/s`.
    pub rate: String,
    pub cpu_ns_per_request: Estimate,
    /// CPU time of the backing; absent without one.
    pub backing_cpu_ns_per_request: Option<Estimate>,
    /// Divided by the reference's at the same rate; absent for the reference itself.
    pub cpu_ratio: Option<Estimate>,
}

/// Fills in the costs of each measured row at the common rates.
pub(super) fn fill_in(
    rows: &mut [(RowReport, Blocks)],
    plan: &Plan,
    reference: &Blocks,
    looks: Option<&Looks>,
) {
    let equal: Vec<(usize, Rate)> =
        plan.rates().filter(|(_, rate)| matches!(rate, Rate::PerSecond(_))).collect();
    for (row, blocks) in rows.iter_mut().filter(|(row, _)| row.state == State::Measured) {
        let is_reference = row.label == plan.reference();
        let at = |(point, rate): &(usize, Rate)| {
            let cost = |block: &Block| block.cpu_ns_per_request_at(*point);
            let of_backing = |block: &Block| block.cost_at(*point, Sample::backing_cost)?.per_request();
            Some(CostAtRate {
                rate: rate.label(),
                cpu_ns_per_request: own_level(&cost, blocks)?,
                backing_cpu_ns_per_request: own_level(&of_backing, blocks),
                cpu_ratio: (!is_reference).then(|| relate_by(cost, blocks, reference, looks)).flatten(),
            })
        };
        row.cost_at_rates = equal.iter().filter_map(at).collect();
    }
}

fn own_level(cost: &dyn Fn(&Block) -> Option<f64>, blocks: &Blocks) -> Option<Estimate> {
    let logs: Vec<f64> = blocks.values().filter_map(cost).map(f64::ln).collect();
    interval(&logs, DEFAULT_CONFIDENCE).ok().map(|found| Estimate::exp(&found))
}
