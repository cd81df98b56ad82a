//! Which slices of a run count: with few rows those of complete, undisturbed rounds, with many rows the
//! undisturbed ones. And the effect of the machine's state on each of them, from its neighbours ([`tare_stats::neighbours`]).
//!
//! The state changes within a round of many rows, so it does not cancel in their ratios. It is estimated from
//! the slices of all rows and removed from each, within a block only: blocks stay independent.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::RunIssue;
use crate::validity::{DROPPED_SHARE_MAX, Disturbance, Dropped, disturbance};
use tare_bench::{metric, plan::Plan, record::Record, sample::Sample, sample_agents::DiscardedSlice};
use tare_stats::neighbours;

/// The rounds of each block.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    whole: BTreeMap<usize, usize>,
    without: BTreeMap<usize, ExcludedPart>,
    moments: Moments,
    /// Rounds, by block, in which a row has no figures because its agents were invalid.
    discarded: BTreeSet<(usize, usize)>,
    pub dropped: Dropped,
}

/// The disturbed part of a block that is left out.
#[derive(Debug)]
enum ExcludedPart {
    /// Complete rounds. With few rows, each is compared with the others of its round only.
    Rounds(BTreeSet<usize>),
    /// Single slices, by round and row. With many rows, [neighbours](Moments) of any round adjust each.
    Slices(BTreeSet<(usize, usize)>),
}

impl ExcludedPart {
    fn has(&self, slice: &Sample) -> bool {
        match self {
            ExcludedPart::Rounds(rounds) => rounds.contains(&slice.round),
            ExcludedPart::Slices(slices) => slices.contains(&(slice.round, slice.row)),
        }
    }

    /// Whether the disturbed part is so large that the whole block counts.
    fn is_too_much(&self, rounds: usize) -> bool {
        let most = rounds as f64 * DROPPED_SHARE_MAX;
        match self {
            ExcludedPart::Rounds(without) => without.len() as f64 > most,
            ExcludedPart::Slices(without) => {
                let mut of_row: BTreeMap<usize, usize> = BTreeMap::new();
                without.iter().for_each(|(_, row)| *of_row.entry(*row).or_default() += 1);
                of_row.values().any(|slices| *slices as f64 > most)
            }
        }
    }
}

impl Rounds {
    pub(crate) fn of(plan: &Plan, records: &[Record]) -> Rounds {
        let failed = records.iter().filter_map(|record| match record {
            Record::Failed(failed) => Some(failed.row),
            _ => None,
        });
        let failed: BTreeSet<usize> = failed.collect();
        let rows = rows(records, &failed);
        let fewest = |rows: &BTreeMap<usize, usize>| rows.values().min().copied().unwrap_or(0);
        let whole = rows.iter().map(|(block, rows)| (*block, fewest(rows))).collect();
        let mut rounds = Rounds { whole, discarded: discarded(records, &rows), ..Rounds::default() };
        let disturbed = rounds.disturbed(plan, records, &failed);
        for (block, rows) in rows {
            rounds.leave_out(block, rows.len(), disturbed.get(&block).map_or(&[], Vec::as_slice));
        }
        rounds.moments = Moments::of(records, |slice| rounds.counts(slice) && !failed.contains(&slice.row));
        rounds
    }

    /// Leaves out the disturbed part of a block, unless it is too large.
    fn leave_out(&mut self, block: usize, rows: usize, disturbed: &[(&Sample, Disturbance)]) {
        let whole = self.whole[&block];
        let slices = disturbed.iter().map(|(slice, _)| slice);
        let without = match rows >= ROWS_MIN {
            true => ExcludedPart::Slices(slices.map(|slice| (slice.round, slice.row)).collect()),
            false => ExcludedPart::Rounds(slices.map(|slice| slice.round).collect()),
        };
        match without {
            ExcludedPart::Rounds(_) => self.dropped.of_rounds += whole,
            ExcludedPart::Slices(_) => self.dropped.of_slices += whole * rows,
        }
        if without.is_too_much(whole) {
            self.dropped.blocks_disturbed += 1;
            return;
        }
        disturbed.iter().for_each(|(_, why)| self.dropped.count(*why));
        match &without {
            ExcludedPart::Rounds(rounds) => self.dropped.rounds += rounds.len(),
            ExcludedPart::Slices(slices) => self.dropped.slices += slices.len(),
        }
        self.without.insert(block, without);
    }

    /// The disturbed slices of complete rounds, by block.
    fn disturbed<'a>(
        &self,
        plan: &Plan,
        records: &'a [Record],
        failed: &BTreeSet<usize>,
    ) -> BTreeMap<usize, Vec<(&'a Sample, Disturbance)>> {
        let mut found: BTreeMap<usize, Vec<(&Sample, Disturbance)>> = BTreeMap::new();
        for slice in records.iter().filter_map(Record::sample) {
            if !slice.is_open() && self.is_whole(slice) && !failed.contains(&slice.row) {
                let why = disturbance(slice, plan.pinning_of(slice.row));
                found.entry(slice.block).or_default().extend(why.map(|why| (slice, why)));
            }
        }
        found
    }

    /// Whether all other rows have a slice in its round.
    pub(crate) fn is_whole(&self, slice: &Sample) -> bool {
        self.whole.get(&slice.block).is_some_and(|whole| slice.round < *whole)
    }

    /// Whether the figures of a closed loop count.
    pub(crate) fn counts(&self, slice: &Sample) -> bool {
        let without = self.without.get(&slice.block);
        self.is_whole(slice) && self.is_paired(slice) && without.is_none_or(|without| !without.has(slice))
    }

    /// Whether no slice of its round was discarded with its agents.
    pub(crate) fn is_paired(&self, slice: &Sample) -> bool {
        !self.discarded.contains(&(slice.block, slice.round))
    }

    /// The effect of a slice's moment on its figures.
    pub(crate) fn moment(&self, slice: &Sample) -> Moment {
        self.moments.at(slice)
    }

    /// Rounds of a complete block. If the run chose the number, its blocks show it.
    pub(crate) fn planned(&self, plan: &Plan) -> usize {
        let most = self.whole.values().max().copied();
        most.filter(|_| plan.blocks().spread.is_some()).unwrap_or(plan.slices_per_block())
    }

    pub(crate) fn issues(&self, plan: &Plan, reference_blocks: usize) -> Vec<RunIssue> {
        let (dropped, blocks) = (&self.dropped, self.dropped.blocks_disturbed);
        let mut issues = Vec::new();
        issues
            .extend((dropped.rounds + dropped.slices > 0).then(|| RunIssue::SlicesDropped(dropped.clone())));
        issues.extend((blocks > 0).then_some(RunIssue::BlocksDisturbed { blocks }));
        let cut = self.whole.values().filter(|whole| **whole < self.planned(plan)).count();
        let begun = self.whole.len();
        issues.extend((cut > 0 && reference_blocks > 0).then_some(RunIssue::BlocksCut { cut, begun }));
        issues
    }
}

/// Slices of each row in each block, without failed rows. The minimum is the number of complete rounds. A
/// block that was cut off counts that far, because the cause did not depend on its figures.
fn rows(records: &[Record], failed: &BTreeSet<usize>) -> BTreeMap<usize, BTreeMap<usize, usize>> {
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
            // Its round took place.
            Record::Discarded(slice) if slice.is_closed => {
                *slices.entry(slice.block).or_default().entry(slice.row).or_default() += 1;
            }
            _ => {}
        }
    }
    for rows in slices.values_mut() {
        rows.retain(|row, _| !failed.contains(row));
    }
    slices
}

/// With few rows, each is compared within its round: if one has no figures, the round is lost. With many
/// rows, only the neighbours of the slice are affected.
fn discarded(records: &[Record], rows: &BTreeMap<usize, BTreeMap<usize, usize>>) -> BTreeSet<(usize, usize)> {
    let is_one_of_few =
        |slice: &&DiscardedSlice| rows.get(&slice.block).is_some_and(|rows| rows.len() < ROWS_MIN);
    let slices = records.iter().filter_map(Record::discarded).filter(|slice| slice.is_closed);
    slices.filter(is_one_of_few).map(|slice| (slice.block, slice.round)).collect()
}

/// With fewer rows the neighbours of a slice are mostly the slices of its own ratio.
pub(super) const ROWS_MIN: usize = 6;

/// Effects of the moment on the figures of a slice, as logarithms.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Moment {
    pub throughput: f64,
    pub cost: f64,
    /// Effect on the backing's cost; 0 without a backing.
    pub backing: f64,
}

/// The moments of slices, by block, round and row.
#[derive(Debug, Default)]
pub(crate) struct Moments(BTreeMap<(usize, usize, usize), Moment>);

impl Moments {
    /// The moments of counted closed loops.
    pub(super) fn of(records: &[Record], counts: impl Fn(&Sample) -> bool) -> Moments {
        let mut blocks: BTreeMap<usize, Vec<&Sample>> = BTreeMap::new();
        for slice in records.iter().filter_map(Record::sample).filter(|slice| !slice.is_open()) {
            blocks.entry(slice.block).or_default().push(slice);
        }
        let mut moments = BTreeMap::new();
        let has_rows = |slices: &Vec<&Sample>| {
            let counted = slices.iter().filter(|slice| counts(slice));
            counted.map(|slice| slice.row).collect::<BTreeSet<usize>>().len() >= ROWS_MIN
        };
        for slices in blocks.into_values().filter(has_rows) {
            let explained = |figure: fn(&Sample) -> Option<f64>| {
                let moment = |slice: &&Sample| {
                    let log = figure(slice).filter(|value| *value > 0.0 && counts(slice))?.ln();
                    Some(neighbours::Moment { series: slice.row, log })
                };
                neighbours::explained(&slices.iter().map(moment).collect::<Vec<_>>())
            };
            let both = explained(requests_per_second)
                .into_iter()
                .zip(explained(|slice| slice.cost()?.per_request()));
            let all = both.zip(explained(|slice| slice.backing_cost()?.per_request()));
            let keys = slices.iter().map(|slice| (slice.block, slice.round, slice.row));
            moments.extend(keys.zip(all.map(|((throughput, cost), backing)| Moment {
                throughput,
                cost,
                backing,
            })));
        }
        Moments(moments)
    }

    pub(super) fn at(&self, slice: &Sample) -> Moment {
        self.0.get(&(slice.block, slice.round, slice.row)).copied().unwrap_or_default()
    }
}

/// Answers per second within the window; absent without a window.
pub(super) fn requests_per_second(slice: &Sample) -> Option<f64> {
    let load = &slice.load;
    let answering_ns = slice.answering_ns();
    (answering_ns > 0).then(|| metric::per_second(load.answered_in_window as f64, answering_ns as f64))
}
