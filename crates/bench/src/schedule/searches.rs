//! One search per row and block, driven by the records of a run. The same code runs during the run and when
//! the folder is read, so tables show only what the records contain.

use std::collections::BTreeMap;

use super::{Capacity, StopRule};
use crate::{
    experiment::Rate,
    record::Record,
    sample::Sample,
    slo::{Search, SloPlan, objective::due, search::WindowOutcome},
};

/// One fresh start of one row.
#[derive(Debug, Clone, Default)]
pub struct SearchStart {
    closed: Capacity,
    /// Absent before its first window.
    pub search: Option<Search>,
    /// Its counted windows.
    pub windows: Vec<SearchWindow>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchWindow {
    /// Requests a second that were due.
    pub per_second: f64,
    pub due: u64,
    /// Latency of answered requests at the SLO's percentiles, in order; absent without enough answers.
    pub latency_ns: Vec<Option<u64>>,
}

/// All searches of a run.
#[derive(Debug, Clone)]
pub struct Searches<'a> {
    plan: &'a SloPlan,
    block: usize,
    starts: BTreeMap<(usize, usize), SearchStart>,
}

impl SearchStart {
    /// Answers per second in closed loops.
    pub fn capacity_per_second(&self) -> f64 {
        self.closed.per_second()
    }

    fn search(&mut self, plan: &SloPlan) -> &mut Search {
        let capacity = self.capacity_per_second();
        self.search.get_or_insert_with(|| Search::new(capacity, plan.slo.allowed(), plan.windows))
    }

    fn add(&mut self, sample: &Sample, plan: &SloPlan) {
        let load = &sample.load;
        let Some(per_second) = load.offered_per_second else {
            return self.closed.add(load);
        };
        let is_discarded = load.schedule_lag_ns_p99.unwrap_or(0) > plan.lag_ns_max;
        let outcome = match is_discarded {
            true => WindowOutcome::Discarded,
            false => WindowOutcome::Counted { due: due(load), bad: plan.slo.bad(load) },
        };
        self.search(plan).add(per_second, outcome);
        if !is_discarded {
            let percents = plan.slo.percents().into_iter();
            let latency_ns = percents.map(|percent| load.latency.ns_at(percent / 100.0));
            self.windows.push(SearchWindow { per_second, due: due(load), latency_ns: latency_ns.collect() });
        }
    }
}

impl<'a> Searches<'a> {
    pub fn new(plan: &'a SloPlan) -> Searches<'a> {
        Searches { plan, block: 0, starts: BTreeMap::new() }
    }

    /// The starts of a row, in the order of blocks.
    pub fn of(&self, row: usize) -> impl Iterator<Item = &SearchStart> {
        self.starts.range((row, 0)..=(row, usize::MAX)).map(|(_, start)| start)
    }
}

impl StopRule for Searches<'_> {
    fn on_record(&mut self, record: &Record) {
        match record {
            Record::Block(block) => self.block = block.block,
            Record::Sample(sample) => {
                self.starts.entry((sample.row, sample.block)).or_default().add(sample, self.plan);
            }
            _ => {}
        }
    }

    fn rate(&mut self, row: usize, _: Rate, _: f64) -> Option<f64> {
        self.starts.entry((row, self.block)).or_default().search(self.plan).next_rate()
    }
}
