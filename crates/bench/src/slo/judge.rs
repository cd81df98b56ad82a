//! One search for each row of each block, fed by the records of a campaign: while it runs, and again when the folder is
//! read. So a table can only show what the records say.

use std::collections::BTreeMap;

use super::{Search, SloPlan, objective::due, search::Outcome};
use crate::{
    experiment::Point,
    run::{
        campaign::Judge,
        record::{Record, Slice},
    },
};

/// One fresh start of one row.
#[derive(Debug, Clone, Default)]
pub struct Start {
    answered: u64,
    window_ns: u64,
    /// None before its first window.
    pub search: Option<Search>,
    /// Those of its windows that count.
    pub windows: Vec<Window>,
}

/// A window that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Requests a second that were due.
    pub per_second: f64,
    /// Requests that were due.
    pub due: u64,
    /// Of the answered requests.
    pub latency_ns_p99: u64,
}

/// All searches of a campaign.
#[derive(Debug, Clone)]
pub struct Searches<'a> {
    plan: &'a SloPlan,
    block: usize,
    starts: BTreeMap<(String, usize), Start>,
}

impl Start {
    /// What it answered a second in closed loops.
    pub fn capacity_per_second(&self) -> f64 {
        if self.window_ns == 0 { 0.0 } else { self.answered as f64 / self.window_ns as f64 * 1e9 }
    }

    fn search(&mut self, plan: &SloPlan) -> &mut Search {
        let capacity = self.capacity_per_second();
        self.search.get_or_insert_with(|| Search::new(capacity, plan.slo.allowed(), plan.windows))
    }

    fn hear(&mut self, slice: &Slice, plan: &SloPlan) {
        let Some(open) = &slice.open else {
            self.answered += slice.answered_in_window;
            self.window_ns += slice.window_ns;
            return;
        };
        let is_void = open.lag_ns_p99 > plan.lag_ns_max;
        let outcome = match is_void {
            true => Outcome::Void,
            false => Outcome::Counted { due: due(slice), bad: plan.slo.bad(slice) },
        };
        self.search(plan).hear(open.offered_per_second, outcome);
        if !is_void {
            self.windows.push(Window {
                per_second: open.offered_per_second,
                due: due(slice),
                latency_ns_p99: slice.latency_ns_p99,
            });
        }
    }
}

impl<'a> Searches<'a> {
    /// Before the first record.
    pub fn new(plan: &'a SloPlan) -> Searches<'a> {
        Searches { plan, block: 0, starts: BTreeMap::new() }
    }

    /// The starts of a row, in the order of blocks.
    pub fn of<'s>(&'s self, row: &'s str) -> impl Iterator<Item = &'s Start> {
        self.starts.iter().filter(move |((label, _), _)| label == row).map(|(_, start)| start)
    }
}

impl Judge for Searches<'_> {
    fn heard(&mut self, record: &Record) {
        match record {
            Record::Block { block, .. } => self.block = *block,
            Record::Slice(slice) => {
                let start = self.starts.entry((slice.row.clone(), slice.block)).or_default();
                start.hear(slice, self.plan);
            }
            _ => {}
        }
    }

    fn is_decided(&mut self) -> bool {
        false
    }

    fn rate(&mut self, row: &str, _: Point, _: f64) -> Option<f64> {
        self.starts.entry((row.to_owned(), self.block)).or_default().search(self.plan).next_rate()
    }
}
