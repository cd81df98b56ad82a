//! Which rounds of a cell count: for tables and for checks alike.

use tare_bench::{
    grid::{Cell, plan::GridPlan},
    sample::Sample,
};

use crate::findings::{RowIssue, detect};

/// A round that came to its end.
#[derive(Debug, Clone)]
pub struct Round {
    pub sample: Sample,
    /// Why it does not measure the service's speed.
    pub trouble: Option<RowIssue>,
}

impl Round {
    pub fn of(plan: &GridPlan, sample: &Sample) -> Round {
        Round { sample: sample.clone(), trouble: trouble(plan, sample) }
    }
}

/// Why a sample does not measure the service's speed.
pub fn trouble(plan: &GridPlan, sample: &Sample) -> Option<RowIssue> {
    let threads = plan.service_settings(Cell::of(sample)).threads;
    let saturates = plan.points[sample.point].offered.saturates();
    detect::of_whole_load(sample, &plan.pinning, threads, saturates)
}

/// The rounds that measure the service's speed; absent if that is fewer than half of them.
pub fn sound(by_round: &[Round]) -> Vec<&Round> {
    let sound: Vec<_> = by_round.iter().filter(|round| round.trouble.is_none()).collect();
    if 2 * sound.len() >= by_round.len() { sound } else { Vec::new() }
}
