//! Whether a row has figures, decided from its records before any figure is computed.

use std::collections::BTreeMap;

use tare_bench::{folder::StoredRun, plan::Excluded, record::Record, sample::Failure};

use super::blocks::{Block, Blocks};
use crate::{
    behaviour::thaw,
    findings::{Finding, RowIssue, detect},
    validity::RowLimits,
    verdict::{Question, Verdict},
};

/// Whether a row has figures.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum RowState {
    Measured,
    /// It was measured, but the measurement is invalid.
    Invalid(Finding),
    /// It failed during the measurement.
    Failed(String),
    /// It took no part: not on this machine, not built, or in violation of its contract.
    Excluded(Excluded),
    /// It has no complete block yet.
    #[default]
    Unmeasured,
}

impl RowState {
    /// The word that replaces figures in a table.
    pub fn word(&self) -> &'static str {
        self.verdict().word(Question::Row)
    }

    /// The verdict for a command that needs figures.
    pub fn verdict(&self) -> Verdict {
        match self {
            RowState::Measured => Verdict::Pass,
            RowState::Invalid(_) => Verdict::Invalid,
            RowState::Failed(_) => Verdict::ServiceFailed,
            RowState::Excluded(excluded) => excluded.why.into(),
            RowState::Unmeasured => Verdict::Unfinished,
        }
    }

    /// Why there are no figures; absent if there are.
    pub fn reason(&self) -> Option<String> {
        match self {
            RowState::Measured => None,
            RowState::Invalid(finding) => Some(finding.to_string()),
            RowState::Failed(reason) => Some(reason.clone()),
            RowState::Excluded(excluded) => Some(excluded.reason.clone()),
            RowState::Unmeasured => Some("no complete block".to_owned()),
        }
    }
}

/// Requests in all complete blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    pub sent: u64,
    /// Wrong and missing answers, by class.
    pub failed: BTreeMap<String, u64>,
}

impl Counts {
    pub(super) fn of(blocks: &Blocks) -> Counts {
        let mut counts = Counts::default();
        let mut add = |class: String, count: u64| *counts.failed.entry(class).or_default() += count;
        for load in blocks.values().flat_map(Block::all).map(|slice| &slice.load) {
            counts.sent += load.sent;
            load.failed.iter().for_each(|(class, count)| add(class.to_string(), count));
            load.connection_failed
                .iter()
                .for_each(|(class, count)| add(format!("connection {class}"), count));
            if load.in_flight > 0 {
                add("unanswered".to_owned(), load.in_flight);
            }
        }
        counts
    }
}

pub(super) fn of(
    stored: &StoredRun,
    place: usize,
    blocks: &Blocks,
    counts: &Counts,
    limits: &RowLimits,
) -> RowState {
    let plan = &stored.header.plan;
    let row = &plan.rows[place];
    if let Some(excluded) = &row.excluded {
        return RowState::Excluded(excluded.clone());
    }
    if let Some(reason) = failure(stored, place) {
        return RowState::Failed(reason);
    }
    let wrong = wrong_answers(stored, place);
    if wrong.is_none() && blocks.is_empty() {
        return RowState::Unmeasured;
    }
    let first = blocks.values().flat_map(Block::all).find_map(|slice| slice.load.first_failure.as_ref());
    let slices = || blocks.values().flat_map(|block| block.slices.iter().copied());
    let failing = || {
        let issue = detect::failing(counts.sent, &counts.failed, first, limits)?;
        let closed = thaw::closed(blocks.values().flat_map(Block::all), plan.load().connections);
        Some(closed.map_or(issue, RowIssue::ClosedAtThaw))
    };
    let no_progress = || {
        let answered_none = |block: &Block| block.sum(|slice| slice.load.answered) == 0.0;
        blocks.values().any(answered_none).then_some(RowIssue::NoProgress)
    };
    let issue = wrong.or_else(failing).or_else(|| detect::inconsistent(slices())).or_else(no_progress);
    issue.map_or(RowState::Measured, |issue| RowState::Invalid(Finding::of_row(&row.label, issue)))
}

/// The first failure of a row.
fn failure(stored: &StoredRun, row: usize) -> Option<String> {
    stored.records.iter().find_map(|record| match record {
        Record::Failed(failed) if failed.row == row => {
            Some(format!("block {}: {}", failed.block + 1, failed.reason))
        }
        _ => None,
    })
}

/// A single wrong answer is enough, also in incomplete blocks, pilots and warm-ups.
pub(crate) fn wrong_answers(stored: &StoredRun, row: usize) -> Option<RowIssue> {
    let loads = stored.records.iter().filter_map(|record| record.answers_of(row));
    detect::wrong_answers(loads, Failure::is_wrong_answer)
}
