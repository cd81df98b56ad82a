//! The cost per request at a rate that is equal for all rows. At saturation a slow server receives large
//! batches; at an equal rate all services have the same load, and pay for wake-ups.

use tare_bench::{experiment::Rate, plan::Plan, sample::Sample};
use tare_stats::Looks;

use super::{
    blocks::{Block, Blocks},
    relation::{relate_by, related_level},
};
use crate::estimate::UnitEstimate;

/// The cost of one row at one rate.
#[derive(Debug, Clone)]
pub struct CostAtRate {
    /// The rate as the experiment names it: `5000/s`.
    pub rate: String,
    point: usize,
    pub cpu_ns_per_request: UnitEstimate,
    /// CPU time of the backing; absent without one.
    pub backing_cpu_ns_per_request: Option<UnitEstimate>,
    /// Divided by the reference's at the same rate; absent for the reference itself.
    pub cpu_ratio: Option<UnitEstimate>,
}

/// The costs of a row at the common rates, related to no other row.
pub(super) fn own_costs(plan: &Plan, blocks: &Blocks) -> Vec<CostAtRate> {
    let equal = plan.rates().filter(|(_, rate)| matches!(rate, Rate::PerSecond(_)));
    let at = |(point, rate): (usize, Rate)| {
        let level = |cost: &dyn Fn(&Block) -> Option<f64>| {
            UnitEstimate::of(&blocks.values().filter_map(cost).collect::<Vec<f64>>())
        };
        let of_backing = |block: &Block| block.cost_at(point, Sample::backing_cost)?.per_request();
        Some(CostAtRate {
            rate: rate.label(),
            point,
            cpu_ns_per_request: level(&|block| block.cpu_ns_per_request_at(point))?,
            backing_cpu_ns_per_request: level(&of_backing),
            cpu_ratio: None,
        })
    };
    equal.filter_map(at).collect()
}

/// The costs of a row with these blocks, related to those of the reference at the same rates.
pub(super) fn related(
    (own, blocks): (&[CostAtRate], &Blocks),
    reference: Option<(&[CostAtRate], &Blocks)>,
    looks: Option<&Looks>,
) -> Vec<CostAtRate> {
    let at = |own: &CostAtRate| {
        let cost = |block: &Block| block.cpu_ns_per_request_at(own.point);
        let cpu_ratio = reference.and_then(|(_, base)| relate_by(cost, blocks, base, looks));
        let same = reference.and_then(|(costs, _)| costs.iter().find(|other| other.rate == own.rate));
        let level = same.map(|same| same.cpu_ns_per_request);
        let related = related_level(Some(own.cpu_ns_per_request), level, cpu_ratio);
        CostAtRate { cpu_ratio, cpu_ns_per_request: related.unwrap_or(own.cpu_ns_per_request), ..own.clone() }
    };
    own.iter().map(at).collect()
}
