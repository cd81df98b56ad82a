//! Which rounds of a cell count, for tables and checks.

use tare_bench::{plan::Plan, sample::Sample};

use crate::findings::{RowIssue, detect};

/// A finished round.
#[derive(Debug, Clone)]
pub struct Round {
    pub sample: Sample,
    /// Why it does not measure the service's speed.
    pub invalid: Option<RowIssue>,
}

impl Round {
    pub(crate) fn of(plan: &Plan, sample: &Sample) -> Round {
        Round { sample: sample.clone(), invalid: invalid(plan, sample) }
    }
}

/// Why a sample does not measure the service's speed.
pub fn invalid(plan: &Plan, sample: &Sample) -> Option<RowIssue> {
    let threads = plan.service_settings(sample.row, sample.point).threads;
    let saturates = plan.points[sample.point].load.saturates();
    detect::of_whole_load(sample, &plan.pinning, threads, saturates)
}

/// The rounds that measure the service's speed. Empty if they are fewer than half, or if any round had wrong
/// answers, because such a service is not known to be correct.
pub(crate) fn sound(by_round: &[Round]) -> Vec<&Round> {
    let is_wrong = |round: &Round| matches!(round.invalid, Some(RowIssue::WrongAnswers { .. }));
    if by_round.iter().any(is_wrong) {
        return Vec::new();
    }
    let sound: Vec<_> = by_round.iter().filter(|round| round.invalid.is_none()).collect();
    if 2 * sound.len() >= by_round.len() { sound } else { Vec::new() }
}
