//! Which rounds of a cell count: for tables and for checks alike.

use tare_bench::{grid::record::Figures, validity::FAILURE_SHARE_MAX};

use crate::findings::RowIssue;

/// The rounds that tell how fast the service is; absent if that is fewer than half of them.
pub fn sound(by_round: &[(usize, Figures)]) -> Vec<&(usize, Figures)> {
    let sound: Vec<_> = by_round.iter().filter(|(_, figures)| invalid(figures).is_none()).collect();
    if 2 * sound.len() >= by_round.len() { sound } else { Vec::new() }
}

/// Why a round tells nothing of how fast the service is: the generator or the machine was the limit, answers were wrong or
/// missing, or there was none.
pub fn invalid(figures: &Figures) -> Option<RowIssue> {
    let (failed, sent) = (figures.failures(), figures.sent);
    if let Some(what) = figures.doubts.first() {
        return Some(RowIssue::Recorded { what: what.clone() });
    }
    if figures.answered == 0 {
        return Some(RowIssue::NoAnswer);
    }
    (failed as f64 > FAILURE_SHARE_MAX * (sent + figures.unsent) as f64).then(|| RowIssue::Failing {
        failed,
        sent,
        by_class: figures.failed.clone(),
        first: figures.first_failure.clone(),
    })
}
