//! What the figures of a report are made of, for the programs that draw it: slices in the order of time, what was left out of
//! them and why, and the blocks, which are the unit that counts as independent. It decides nothing that the report has not
//! decided.

use std::collections::BTreeMap;

use super::{
    blocks::{Block, blocks_of},
    moments,
    rounds::Rounds,
    uncounted,
};
use crate::validity::{self, Disturbance};
use tare_bench::{folder::StoredRun, metric, record::Record, sample::Sample};

/// What became of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// It is among the figures.
    Counts,
    /// It was left out, or its round was, for all rows alike.
    Dropped,
    /// Others have no slice in its round, since the block was cut off.
    Cut,
}

/// A slice, and whether it counts.
#[derive(Debug, Clone, Copy)]
pub struct ClassifiedSlice<'a> {
    pub slice: &'a Sample,
    /// Its round, counted from 0 over all blocks of the run. All rows of a round were measured side by side.
    pub round: usize,
    /// Whether it counts. An open loop always does.
    pub disposition: Disposition,
    /// What disturbed this very slice: reason enough to leave it out, and of a few rows its round too.
    pub disturbance: Option<Disturbance>,
    /// Not all of the CPU time of its row is known.
    is_uncounted: bool,
}

impl ClassifiedSlice<'_> {
    /// Answers a second within the window; absent if there was no window.
    pub fn requests_per_second(&self) -> Option<f64> {
        moments::requests_per_second(self.slice)
    }

    /// CPU time of the service for each answer; absent if there was no answer, or not all CPU time was counted.
    pub fn cpu_ns_per_request(&self) -> Option<f64> {
        moments::cpu_ns_per_request(self.slice).filter(|_| !self.is_uncounted)
    }

    /// The share of the measured CPUs that others took.
    pub fn interference_share(&self, cpus: usize) -> Option<f64> {
        let all_ns = self.slice.load.elapsed_ns as f64 * cpus as f64;
        let taken_ns = self.slice.host.foreign_cpu_ns? as f64;
        (all_ns > 0.0).then(|| (taken_ns / all_ns).max(0.0))
    }
}

/// All slices of a run, in the order of time.
pub fn slices(kept: &StoredRun) -> Vec<ClassifiedSlice<'_>> {
    let plan = &kept.header.plan;
    let rounds = Rounds::of(plan, &kept.records);
    let begins = begins(&kept.records);
    let is_uncounted = |row| uncounted::why(&kept.records, row).is_some();
    let uncounted: Vec<bool> = (0..plan.rows.len()).map(is_uncounted).collect();
    let slices = kept.records.iter().filter_map(Record::sample);
    let classified = slices.map(|slice| ClassifiedSlice {
        slice,
        round: begins.get(&slice.block).copied().unwrap_or(0) + slice.round,
        disposition: match slice.is_open() {
            true => Disposition::Counts,
            false if rounds.counts(slice) => Disposition::Counts,
            false if rounds.is_whole(slice) => Disposition::Dropped,
            false => Disposition::Cut,
        },
        disturbance: (!slice.is_open())
            .then(|| validity::disturbance(slice, plan.pinning_of(slice.row)))
            .flatten(),
        is_uncounted: uncounted.get(slice.row).copied().unwrap_or(false),
    });
    classified.collect()
}

/// How many rounds came before each block.
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

/// What one row did in one block, of the rounds that count.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockFigures {
    pub block: usize,
    /// The block in which its process was started.
    pub process: usize,
    pub requests_per_second: f64,
    /// CPU time of the service for each answer; absent if the kernel counted none.
    pub cpu_ns_per_request: Option<f64>,
    pub rss_bytes_peak: Option<u64>,
    /// From `exec` to the first right answer; absent if the process lasted from an earlier block.
    pub start_up_ns: Option<u64>,
}

/// The blocks that are behind the figures of each row, by its label.
pub fn blocks(kept: &StoredRun) -> BTreeMap<&str, Vec<BlockFigures>> {
    let rounds = Rounds::of(&kept.header.plan, &kept.records);
    let figures = |(number, block): (&usize, &Block)| BlockFigures {
        block: *number,
        process: block.process,
        requests_per_second: block.requests_per_second(),
        cpu_ns_per_request: metric::figure(block.cpu_ns_per_request()),
        rss_bytes_peak: block.stopped.and_then(|stopped| stopped.rss_bytes_peak),
        start_up_ns: block.start_up_ns(),
    };
    let of_row = |row| blocks_of(&kept.records, &rounds, row).iter().map(figures).collect();
    let rows = kept.header.plan.rows.iter().enumerate();
    rows.map(|(place, row)| (row.label.as_str(), of_row(place))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interleaved::{compute, tests::kept_with};

    #[test]
    fn rounds_are_counted_over_all_blocks_and_one_that_was_left_out_is_marked() {
        let mut kept = kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 3);
        for record in &mut kept.records {
            if let Record::Sample(slice) = record
                && (slice.block, slice.round, slice.row) == (1, 0, 1)
            {
                slice.host.foreign_cpu_ns = Some(150_000_000);
            }
        }
        let slices = slices(&kept);
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
        let kept = kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 7);
        let report = compute(&kept);
        let half = report.rows.iter().find(|row| row.label == "half").unwrap();
        let blocks = &blocks(&kept)["half"];
        let logs: f64 = blocks.iter().map(|block| block.requests_per_second.ln()).sum();
        let found = half.requests_per_second.unwrap().value;
        assert_eq!(blocks.len(), half.blocks);
        assert!((found / (logs / 7.0).exp() - 1.0).abs() < 1e-9, "their geometric mean: {found}");
    }
}
