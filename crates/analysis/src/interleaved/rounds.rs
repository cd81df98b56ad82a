//! Which rounds of a run count: those that are whole, and in which the machine did nothing else.

use std::collections::{BTreeMap, BTreeSet};

use crate::faults::{self, Fault};
use crate::findings::RunIssue;
use crate::validity::{DROPPED_SHARE_MAX, Disturbance, Dropped, disturbance};
use tare_bench::{plan::Plan, record::Record, sample::Sample};

/// The rounds of each block.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    whole: BTreeMap<usize, usize>,
    without: BTreeMap<usize, BTreeSet<usize>>,
    pub dropped: Dropped,
}

impl Rounds {
    pub(crate) fn of(plan: &Plan, records: &[Record]) -> Rounds {
        let failed = records.iter().filter_map(|record| match record {
            Record::Failed(failed) => Some(failed.row),
            _ => None,
        });
        let failed: BTreeSet<usize> = failed.collect();
        let mut rounds = Rounds { whole: whole(records, &failed), ..Rounds::default() };
        let disturbed = rounds.disturbed(plan, records, &failed);
        for (&block, &whole) in &rounds.whole {
            let found = disturbed.get(&block).map_or(&[][..], |found| found);
            let without: BTreeSet<usize> = found.iter().map(|(round, _)| *round).collect();
            rounds.dropped.of_rounds += whole;
            if without.len() as f64 > whole as f64 * DROPPED_SHARE_MAX {
                rounds.dropped.blocks_disturbed += 1;
                continue;
            }
            found.iter().for_each(|(_, why)| rounds.dropped.count(*why));
            rounds.dropped.rounds += without.len();
            rounds.without.insert(block, without);
        }
        rounds
    }

    /// The disturbed slices of whole rounds: the round and the reason, by block.
    fn disturbed(
        &self,
        plan: &Plan,
        records: &[Record],
        failed: &BTreeSet<usize>,
    ) -> BTreeMap<usize, Vec<(usize, Disturbance)>> {
        let mut found: BTreeMap<usize, Vec<(usize, Disturbance)>> = BTreeMap::new();
        for record in records {
            let Record::Sample(slice) = record else { continue };
            if !slice.is_open() && self.is_whole(slice) && !failed.contains(&slice.row) {
                let why = disturbance(slice, &plan.pinning);
                found.entry(slice.block).or_default().extend(why.map(|why| (slice.round, why)));
            }
        }
        found
    }

    /// Whether all others have their slice in its round too.
    pub(crate) fn is_whole(&self, slice: &Sample) -> bool {
        self.whole.get(&slice.block).is_some_and(|whole| slice.round < *whole)
    }

    /// Whether the figures of a closed loop count.
    pub(crate) fn counts(&self, slice: &Sample) -> bool {
        let without = self.without.get(&slice.block).filter(|_| !faults::is_active(Fault::Rounds));
        self.is_whole(slice) && without.is_none_or(|without| !without.contains(&slice.round))
    }

    /// Rounds of a block that was not cut off. A run that chose their number says it by its blocks.
    pub(crate) fn planned(&self, plan: &Plan) -> usize {
        let most = self.whole.values().max().copied();
        most.filter(|_| plan.blocks().spread.is_some()).unwrap_or(plan.slices_per_block())
    }

    pub(crate) fn issues(&self, plan: &Plan, reference_blocks: usize) -> Vec<RunIssue> {
        let (dropped, blocks) = (&self.dropped, self.dropped.blocks_disturbed);
        let mut issues = Vec::new();
        issues.extend((dropped.rounds > 0).then(|| RunIssue::RoundsDropped(dropped.clone())));
        issues.extend((blocks > 0).then_some(RunIssue::BlocksDisturbed { blocks }));
        let cut = self.whole.values().filter(|whole| **whole < self.planned(plan)).count();
        let begun = self.whole.len();
        issues.extend((cut > 0 && reference_blocks > 0).then_some(RunIssue::BlocksCut { cut, begun }));
        issues
    }
}

/// How many rounds of each block are whole: every row that has not failed has its slice in them. A block that was cut off
/// counts as far as that, since what cut it off had no regard for its figures.
fn whole(records: &[Record], failed: &BTreeSet<usize>) -> BTreeMap<usize, usize> {
    let mut slices: BTreeMap<usize, BTreeMap<usize, usize>> = BTreeMap::new();
    for record in records {
        match record {
            Record::Block(block) => {
                let rows = slices.entry(block.block).or_default();
                rows.extend(block.order.iter().map(|row| (*row, 0)));
            }
            Record::Sample(slice) if !slice.is_open() => {
                *slices.entry(slice.block).or_default().entry(slice.row).or_default() += 1;
            }
            _ => {}
        }
    }
    let fewest = |rows: BTreeMap<usize, usize>| {
        rows.into_iter().filter(|(row, _)| !failed.contains(row)).map(|(_, slices)| slices).min().unwrap_or(0)
    };
    slices.into_iter().map(|(block, rows)| (block, fewest(rows))).collect()
}
