//! Resamples runs from the slices of a stored run, to measure how often the statistics err on the noise of a
//! real machine. Pure: a stored run and a seed in, shares out.
//!
//! Blocks of the run are drawn with replacement, and within a block slices are dealt or drawn. So the spread
//! and the tails of slices are real, and so are the differences between processes. The correlation of
//! neighbouring blocks is *not* preserved, because blocks are drawn independently.
//!
//! If two names stand for one service, the name of a drawn value is drawn too. Otherwise a random difference
//! within the few blocks of the run would be real in every resampled run.
#![warn(clippy::missing_errors_doc, unreachable_pub)]

mod eprocess;
#[cfg(test)]
#[path = "../../../crates/stats/tests/methods/models.rs"]
#[allow(unreachable_pub, reason = "other tests share it")]
mod models;
mod verdict;

use std::collections::BTreeSet;

use rand::{Rng, RngExt, seq::SliceRandom};
use tare_stats::Better;

pub use verdict::{Tally, Verdict, evaluate};

use tare_bench::{
    folder::StoredRun,
    metric::{Metric, figure, per_second},
    record::Record,
    sample::{RequestCost, Sample as Slice},
};

/// Why a run cannot be resampled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    #[error("the run has no row \"{0}\"; `tare show` lists them")]
    Row(String),
    #[error("the run has no block in which all of these were measured: {0}")]
    NoBlock(String),
    #[error("\"{0}\" kept a process for several blocks, so its blocks are not independent: name other rows")]
    Lasting(String),
}

/// The closed-loop slices of some rows of a run, in the blocks that all of them have.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub rows: Vec<String>,
    /// `blocks[block][row][round]`; all rows of a block have as many rounds.
    blocks: Vec<Vec<Vec<Slice>>>,
}

/// Throughput or CPU per request of some slices; `None` if no request was answered in them, and for other
/// metrics, which are no sums over slices.
fn value<'a>(metric: Metric, slices: impl Iterator<Item = &'a Slice> + Clone) -> Option<f64> {
    let sum = |value: fn(&Slice) -> u64| slices.clone().map(value).sum::<u64>();
    match metric {
        Metric::Throughput => {
            let (answered, window_ns) =
                (sum(|slice| slice.load.answered_in_window), sum(|slice| slice.load.window_ns));
            figure(per_second(answered as f64, window_ns as f64))
        }
        Metric::Cpu => {
            RequestCost::of(sum(|slice| slice.host.server_cpu_ns), sum(|slice| slice.load.answered))
                .per_request()
        }
        _ => None,
    }
}

impl Sample {
    /// The slices of `rows` in `kept`. Default: all rows that were measured.
    ///
    /// # Errors
    /// A row is unknown or kept one process for several blocks, or no block has all rows.
    pub fn of(kept: &StoredRun, rows: &[String]) -> Result<Sample, ReplayError> {
        let slices = kept.records.iter().filter_map(|record| match record {
            Record::Sample(slice) if !slice.is_open() => Some(&**slice),
            _ => None,
        });
        let slices: Vec<&Slice> = slices.collect();
        let place = |label: &str| kept.header.plan.rows.iter().position(|row| row.label == label);
        let is_measured = |label: &str| slices.iter().any(|slice| Some(slice.row) == place(label));
        let planned = || kept.header.plan.rows.iter().map(|row| row.label.as_str());
        if let Some(unknown) = rows.iter().find(|row| !planned().any(|label| label == *row)) {
            return Err(ReplayError::Row(unknown.clone()));
        }
        let rows: Vec<String> = match rows {
            [] => planned().filter(|label| is_measured(label)).map(str::to_owned).collect(),
            rows => rows.to_vec(),
        };
        if let Some(lasting) = rows.iter().find(|row| kept_a_process(kept, row)) {
            return Err(ReplayError::Lasting(lasting.clone()));
        }
        let last = slices.iter().map(|slice| slice.block).max();
        let blocks = last.map_or(0..0, |last| 0..last + 1);
        let blocks = blocks.map(|block| {
            let of = |row: &String| {
                slices_of(slices.iter().filter(|s| s.block == block && Some(s.row) == place(row)))
            };
            let mut rows: Vec<Vec<Slice>> = rows.iter().map(of).collect();
            let rounds = rows.iter().map(Vec::len).min().unwrap_or(0);
            rows.iter_mut().for_each(|slices| slices.truncate(rounds));
            rows
        });
        let blocks: Vec<_> =
            blocks.filter(|rows: &Vec<Vec<Slice>>| rows.iter().all(|slices| !slices.is_empty())).collect();
        match blocks.is_empty() || rows.is_empty() {
            true => Err(ReplayError::NoBlock(rows.join(", "))),
            false => Ok(Sample { rows, blocks }),
        }
    }

    /// The number of blocks that all rows have.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The smallest number of slices of a row in a block.
    pub fn rounds(&self) -> usize {
        self.blocks.iter().map(|rows| rows[0].len()).min().unwrap_or(0)
    }

    /// A run of `blocks` blocks with `copies` equal rows: in each block the slices of `row` are dealt to them
    /// at random. Returned as `[copy][block]`; `None` if a copy has no slice, or no answer in a block.
    pub fn split(
        &self,
        row: usize,
        copies: usize,
        blocks: usize,
        metric: Metric,
        random: &mut impl Rng,
    ) -> Option<Vec<Vec<f64>>> {
        let mut values = vec![Vec::new(); copies];
        for _ in 0..blocks {
            let mut slices: Vec<&Slice> = self.draw(random)[row].iter().collect();
            slices.shuffle(random);
            let hand = slices.len() / copies;
            for (copy, values) in values.iter_mut().enumerate() {
                let mine = slices.iter().skip(copy * hand).take(hand).copied();
                values.push(value(metric, mine)?);
            }
        }
        Some(values)
    }

    /// A run of `blocks` blocks of these rows. Rounds are drawn with replacement for all rows together, so
    /// that a disturbance affects all of them. If they are `one` service, names are shuffled by block.
    pub fn together(
        &self,
        rows: &[usize],
        one: bool,
        blocks: usize,
        metric: Metric,
        random: &mut impl Rng,
    ) -> Option<Vec<Vec<f64>>> {
        let mut values = vec![Vec::new(); rows.len()];
        let mut places: Vec<usize> = (0..rows.len()).collect();
        for _ in 0..blocks {
            let block = self.draw(random);
            let all = block[*rows.first()?].len();
            let rounds: Vec<usize> = (0..all).map(|_| random.random_range(0..all)).collect();
            if one {
                places.shuffle(random);
            }
            for (row, place) in rows.iter().zip(&places) {
                values[*place].push(value(metric, rounds.iter().map(|round| &block[*row][*round]))?);
            }
        }
        Some(values)
    }

    fn draw(&self, random: &mut impl Rng) -> &[Vec<Slice>] {
        &self.blocks[random.random_range(0..self.blocks.len())]
    }
}

fn kept_a_process(kept: &StoredRun, label: &str) -> bool {
    let is = |row: usize| kept.header.plan.rows[row].label == label;
    let starts = kept.records.iter().filter(|record| matches!(record, Record::Started(s) if is(s.row)));
    let blocks = kept.records.iter().filter_map(|record| match record {
        Record::Sample(slice) if is(slice.row) => Some(slice.block),
        _ => None,
    });
    (1..blocks.collect::<BTreeSet<_>>().len()).contains(&starts.count())
}

/// The slices in the order of rounds.
fn slices_of<'a>(slices: impl Iterator<Item = &'a &'a Slice>) -> Vec<Slice> {
    let mut slices: Vec<Slice> = slices.map(|slice| (*slice).clone()).collect();
    slices.sort_by_key(|slice| slice.round);
    slices
}

/// Makes the last row of a run slower by the share `by` (0.02 for 2% more CPU time).
pub fn inject(values: &mut [Vec<f64>], metric: Metric, by: f64) {
    let factor = match metric.better() {
        Better::Higher => 1.0 / (1.0 + by),
        Better::Lower => 1.0 + by,
    };
    values.last_mut().into_iter().flatten().for_each(|value| *value *= factor);
}

#[cfg(test)]
mod tests;
