//! The effect of the machine's state on each slice, from its neighbours ([`tare_stats::neighbours`]).
//!
//! The state changes within a round of many rows, so it does not cancel in their ratios. It is estimated from
//! the slices of all rows and removed from each, within a block only: blocks stay independent.

use std::collections::{BTreeMap, BTreeSet};

use tare_bench::{metric, record::Record, sample::Sample};
use tare_stats::neighbours;

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

#[cfg(test)]
mod tests;
