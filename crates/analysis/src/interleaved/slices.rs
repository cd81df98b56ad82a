//! The data behind a report's figures, for programs that draw it: slices in chronological order, which of
//! them are left out and why, and blocks, the independent unit. All decisions are the report's.

use std::collections::BTreeMap;

use super::{
    blocks::{self, Block},
    rounds::{self, Rounds},
    uncounted,
};
use crate::validity::{self, Disturbance};
use tare_bench::{folder::StoredRun, record::Record, sample::Sample};

/// The treatment of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// It counts in the figures.
    Counts,
    /// It, or its round for all rows, was left out, because it was disturbed.
    Dropped,
    /// Its round was left out for all rows, because one of its slices has no figures: an agent was not usable.
    Unpaired,
    /// Other rows have no slice in its round, because the block was cut off.
    Cut,
}

/// A slice and its treatment.
#[derive(Debug, Clone, Copy)]
pub struct ClassifiedSlice<'a> {
    pub slice: &'a Sample,
    /// Its round, counted from 0 over all blocks. All rows of a round were measured side by side.
    pub round: usize,
    /// Open loops always count.
    pub disposition: Disposition,
    /// The disturbance of this slice, which excludes it; with few rows, also its round.
    pub disturbance: Option<Disturbance>,
    /// Some of the row's CPU time is unknown.
    is_uncounted: bool,
}

impl ClassifiedSlice<'_> {
    /// Answers per second within the window; absent without a window.
    pub fn requests_per_second(&self) -> Option<f64> {
        rounds::requests_per_second(self.slice)
    }

    /// CPU time of the service per answer; absent without answers, or if CPU time is incomplete.
    pub fn cpu_ns_per_request(&self) -> Option<f64> {
        self.slice.cost().filter(|_| !self.is_uncounted)?.per_request()
    }

    /// The share of the measured CPUs that others took.
    pub fn interference_share(&self, cpus: usize) -> Option<f64> {
        let all_ns = self.slice.load.elapsed_ns as f64 * cpus as f64;
        let taken_ns = self.slice.host.foreign_cpu_ns? as f64;
        (all_ns > 0.0).then(|| (taken_ns / all_ns).max(0.0))
    }
}

/// All slices of a run in chronological order.
pub fn slices(stored: &StoredRun) -> Vec<ClassifiedSlice<'_>> {
    let plan = &stored.header.plan;
    let rounds = Rounds::of(plan, &stored.records);
    let begins = begins(&stored.records);
    let is_uncounted = |row| uncounted::why(&stored.records, row).is_some();
    let uncounted: Vec<bool> = (0..plan.rows.len()).map(is_uncounted).collect();
    let slices = stored.records.iter().filter_map(Record::sample);
    let classified = slices.map(|slice| ClassifiedSlice {
        slice,
        round: begins.get(&slice.block).copied().unwrap_or(0) + slice.round,
        disposition: match slice.is_open() {
            true => Disposition::Counts,
            false if rounds.counts(slice) => Disposition::Counts,
            false if !rounds.is_whole(slice) => Disposition::Cut,
            false if !rounds.is_paired(slice) => Disposition::Unpaired,
            false => Disposition::Dropped,
        },
        disturbance: (!slice.is_open())
            .then(|| validity::disturbance(slice, plan.pinning_of(slice.row)))
            .flatten(),
        is_uncounted: uncounted.get(slice.row).copied().unwrap_or(false),
    });
    classified.collect()
}

/// The number of rounds before each block.
fn begins(records: &[Record]) -> BTreeMap<usize, usize> {
    let mut rounds: BTreeMap<usize, usize> = BTreeMap::new();
    for record in records {
        if let Record::Sample(slice) = record {
            let most = rounds.entry(slice.block).or_default();
            *most = (*most).max(slice.round + 1);
        }
    }
    let mut before = 0;
    for most in rounds.values_mut() {
        before += std::mem::replace(most, before);
    }
    rounds
}

/// The figures of one row in one block, over counted rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockFigures {
    pub block: usize,
    /// The block in which its process was started.
    pub process: usize,
    pub requests_per_second: f64,
    /// CPU time of the service per answer; absent if the kernel counted none.
    pub cpu_ns_per_request: Option<f64>,
    pub rss_bytes_peak: Option<u64>,
    /// From `exec` to the first correct answer; absent if the process started in an earlier block.
    pub start_up_ns: Option<u64>,
}

/// The blocks behind the figures of each row, by label.
pub fn blocks(stored: &StoredRun) -> BTreeMap<&str, Vec<BlockFigures>> {
    let figures = |(number, block): (&usize, &Block)| BlockFigures {
        block: *number,
        process: block.process,
        requests_per_second: block.requests_per_second(),
        cpu_ns_per_request: block.cpu_ns_per_request(),
        rss_bytes_peak: block.stopped.and_then(|stopped| stopped.rss_bytes_peak),
        start_up_ns: block.start_up_ns(),
    };
    let rows = stored.header.plan.rows.iter().zip(blocks::of_rows(stored));
    rows.map(|(row, blocks)| (row.label.as_str(), blocks.iter().map(figures).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interleaved::{compute, tests::kept_with};

    #[test]
    fn rounds_are_counted_over_all_blocks_and_one_that_was_left_out_is_marked() {
        let mut stored = kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 3);
        for record in &mut stored.records {
            if let Record::Sample(slice) = record
                && (slice.block, slice.round, slice.row) == (1, 0, 1)
            {
                slice.host.foreign_cpu_ns = Some(150_000_000);
            }
        }
        let slices = slices(&stored);
        let of_half: Vec<(usize, Disposition, Option<Disturbance>)> = slices
            .iter()
            .filter(|classified| classified.slice.row == 1)
            .map(|classified| (classified.round, classified.disposition, classified.disturbance))
            .collect();
        let counts = |round| (round, Disposition::Counts, None);
        let dropped = (2, Disposition::Dropped, Some(Disturbance::Taken));
        assert_eq!(of_half, [counts(0), counts(1), dropped, counts(3), counts(4), counts(5)]);
        let references =
            slices.iter().find(|classified| classified.slice.row == 0 && classified.round == 2).unwrap();
        assert_eq!(
            (references.disposition, references.disturbance),
            (Disposition::Dropped, None),
            "left out for all alike"
        );
    }

    #[test]
    fn the_blocks_of_a_row_are_those_of_its_figures() {
        let stored = kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 7);
        let report = compute(&stored);
        let half = report.rows.iter().find(|row| row.label == "half").unwrap();
        let blocks = &blocks(&stored)["half"];
        let logs: f64 = blocks.iter().map(|block| block.requests_per_second.ln()).sum();
        let found = half.requests_per_second.unwrap().value;
        assert_eq!(blocks.len(), half.blocks);
        assert!((found / (logs / 7.0).exp() - 1.0).abs() < 1e-9, "their geometric mean: {found}");
    }
}
