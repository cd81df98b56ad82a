//! Turns the records of a run into a view. Pure: the time is an argument.
//!
//! Each record shows the current step. The results are the report's main table, computed on request.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tare_analysis::{figures::rate, verdict::Tone};
use tare_bench::{
    folder::{Header, StoredRun},
    plan::{Plan, PlannedRow, Until},
    record::{Block, Pilot, Record},
    sample::{Sample, SampleOutcome},
    schedule::{Slot, StopRule, searches::Searches},
    slo::FoundRate,
};
use tare_report::{
    document::{ALWAYS, Table, Value},
    gather::{Interim, interim},
};

use super::view::{Interest, View};

/// A run in progress. Rows are identified by their positions in the plan.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    stored: StoredRun,
    searches: Option<Searches<'a>>,
    phase: Phase,
    block: usize,
    /// The expected number of blocks.
    blocks: usize,
    first_block_ns: u64,
    /// The rows of this block that have not failed.
    order: Vec<usize>,
    /// The rows that have a process.
    live: BTreeSet<usize>,
    /// For each failed row, the block and the reason.
    failed: BTreeMap<usize, (usize, String)>,
    piloted: BTreeMap<usize, String>,
    elapsed_before: Duration,
    left: Duration,
    known: Interim,
    /// Rows whose ranks changed with the last block.
    moved: BTreeSet<usize>,
}

#[derive(Debug)]
enum Phase {
    Pilots,
    Starting,
    Measuring {
        row: usize,
        text: String,
    },
    Stopping,
    /// A sequential experiment: the current sample, and the number of samples before it.
    Sample(Slot, usize),
}

impl<'a> Model<'a> {
    /// A model of the run with this head, after the records `past`.
    pub(crate) fn new(header: &'a Header, past: &[Record]) -> Model<'a> {
        let plan = &header.plan;
        let left = Duration::from_nanos(plan.expected_ns());
        let mut model = Model {
            stored: StoredRun::beginning(header),
            searches: if let Until::Search(slo) = &plan.until { Some(Searches::new(slo)) } else { None },
            phase: if plan.blocks().warm_up_ns_max.is_some() { Phase::Pilots } else { Phase::Starting },
            block: 0,
            blocks: plan.blocks_expected() * plan.groups(),
            first_block_ns: 0,
            order: Vec::new(),
            live: BTreeSet::new(),
            failed: BTreeMap::new(),
            piloted: BTreeMap::new(),
            elapsed_before: Duration::ZERO,
            left,
            known: Interim::default(),
            moved: BTreeSet::new(),
        };
        past.iter().for_each(|record| model.on_record(record, left));
        model.elapsed_before = elapsed(past);
        model.compute();
        model.moved.clear();
        model
    }

    /// Begins a sample of a sequential experiment, after `done` others; `left` is the estimated rest.
    pub(crate) fn begin(&mut self, slot: Slot, done: usize, left: Duration) {
        (self.phase, self.left) = (Phase::Sample(slot, done), left);
    }

    /// Handles a stored record; `left` is the estimated remaining time.
    pub(crate) fn on_record(&mut self, record: &Record, left: Duration) {
        self.left = left;
        if let Some(searches) = &mut self.searches {
            searches.on_record(record);
        }
        match record {
            Record::Pilot(pilot) => drop(self.piloted.insert(pilot.row, steady(pilot))),
            Record::Block(block) => self.begin_block(block),
            Record::Started(started) => drop(self.live.insert(started.row)),
            Record::Sample(_) if self.plan().is_sequential() => {}
            Record::Sample(slice) => {
                let text = place(self.plan(), slice);
                self.phase = Phase::Measuring { row: slice.row, text };
            }
            Record::Stopped(stopped) => {
                self.live.remove(&stopped.row);
                self.phase = Phase::Stopping;
            }
            Record::Failed(failed) => {
                self.live.remove(&failed.row);
                self.order.retain(|row| *row != failed.row);
                self.failed.insert(failed.row, (failed.block, failed.reason.clone()));
            }
            Record::Discarded(_) | Record::Ended(_) => {}
        }
        self.stored.header.plan.learn(record);
        match self.plan().is_sequential() {
            true => self.stored.records.push(record.clone()),
            false => self.stored.records.extend(record.clone().at_load(&self.stored.header.plan, 0)),
        }
    }

    fn begin_block(&mut self, record: &Block) {
        let (plan, block, elapsed_ns) = (&self.stored.header.plan, record.block, record.elapsed_ns);
        if block == 0 {
            self.first_block_ns = elapsed_ns;
        } else {
            let mean_ns = (elapsed_ns.saturating_sub(self.first_block_ns) / block as u64).max(1);
            let left = (self.left.as_nanos() as f64 / mean_ns as f64).round() as usize;
            let (least, most) = (plan.blocks().min * plan.groups(), plan.blocks().max * plan.groups());
            self.blocks = (block + left).clamp(least, most);
        }
        self.block = block;
        self.order.clone_from(&record.order);
        self.phase = Phase::Starting;
    }

    /// Whether this record adds results: in a run of blocks, once one is finished.
    pub(crate) fn has_more_to_compute(&self, record: &Record) -> bool {
        match record {
            Record::Block(Block { block, .. }) => *block > 0,
            Record::Sample(_) => self.plan().is_sequential(),
            _ => false,
        }
    }

    /// Computes the results. It takes CPU time: call it only for new ones, and never while measuring.
    pub(crate) fn compute(&mut self) {
        let point = if let Phase::Sample(slot, _) = self.phase { slot.point } else { 0 };
        let mut known = interim(&self.stored, point);
        let ranks = |table: &Table| -> BTreeMap<usize, Value> {
            let place = table.place("ranks");
            let of = |row: &Vec<Value>| Some((self.row_of(row)?, row.get(place?)?.clone()));
            table.rows.iter().filter_map(of).collect()
        };
        let before = ranks(&self.known.table);
        let moved = ranks(&known.table).into_iter().filter(|(row, ranks)| before.get(row) != Some(ranks));
        self.moved = moved.map(|(row, _)| row).collect();
        // New findings come first.
        known.remarks.sort_by_key(|remark| self.known.remarks.contains(remark));
        self.known = known;
    }

    /// The view, this long after the current part began.
    pub(crate) fn view(&self, elapsed: Duration) -> View {
        let mut table = self.known.table.clone();
        let interest = self.enter_states(&mut table);
        let failed = self.failed.iter().map(|(row, (_, reason))| format!("{}: {reason}", self.label(*row)));
        View {
            title: self.plan().title.clone(),
            place: self.place(),
            answer: self.known.answer.clone(),
            elapsed: self.elapsed_before + elapsed,
            left: self.left,
            table,
            interest,
            remarks: failed.chain(self.known.remarks.iter().cloned()).collect(),
        }
    }

    fn plan(&self) -> &Plan {
        &self.stored.header.plan
    }

    fn label(&self, row: usize) -> &str {
        &self.plan().rows[row].label
    }

    /// The row of the plan that a row of the table belongs to.
    fn row_of(&self, cells: &[Value]) -> Option<usize> {
        let label = cells.first()?.text()?;
        self.plan().rows.iter().position(|row| row.label == label)
    }

    /// Replaces the state of each row by its current action; returns how interesting each row is. A table of
    /// metrics has no states.
    fn enter_states(&self, table: &mut Table) -> Vec<Interest> {
        let Some(state) = table.place("state") else { return Vec::new() };
        let column = &mut table.columns[state];
        (column.priority, column.hidden) = (ALWAYS, false);
        let reason = table.place("reason").or(table.place("remarks"));
        if let Some(reason) = reason.filter(|_| !self.failed.is_empty()) {
            table.columns[reason].hidden = false;
        }
        let measured = self.measured_in_block();
        let enter = |cells: &mut Vec<Value>| {
            let Some(row) = self.row_of(cells) else { return Interest::None };
            if let Some((block, why)) = self.failed.get(&row) {
                let figures = cells.iter_mut().filter(|cell| matches!(cell, Value::Number(_)));
                figures.for_each(|figure| *figure = Value::None);
                cells[state] = ("failed", Tone::Bad).into();
                if let Some(reason) = reason {
                    cells[reason] = format!("block {}: {why}", block + 1).into();
                }
            } else if self.plan().rows[row].excluded.is_none() {
                cells[state] = self.state(row, measured.contains(&row)).unwrap_or_default().into();
            }
            self.interest(row)
        };
        table.rows.iter_mut().map(enter).collect()
    }

    fn state(&self, row: usize, is_measured: bool) -> Option<String> {
        let is_now = self.now() == Some(row);
        let found = self.searches.as_ref().filter(|_| is_measured);
        let found = found.and_then(|searches| state_of_search(searches, row));
        let state = match &self.phase {
            _ if found.is_some() => return found,
            Phase::Pilots | Phase::Starting if is_now => "warming up",
            Phase::Measuring { .. } | Phase::Sample(..) if is_now => "measuring",
            Phase::Pilots => self.piloted.get(&row)?,
            Phase::Starting | Phase::Measuring { .. } if self.live.contains(&row) => "ready",
            Phase::Stopping if self.live.contains(&row) => "stopping",
            _ => return self.outcome(row),
        };
        Some(state.to_owned())
    }

    /// Why the last sample of a row has no figures.
    fn outcome(&self, row: usize) -> Option<String> {
        let samples = self.stored.records.iter().rev().filter_map(|record| match record {
            Record::Sample(sample) if sample.row == row => Some(sample),
            _ => None,
        });
        match samples.map(|sample| &sample.outcome).next()? {
            SampleOutcome::Measured => None,
            SampleOutcome::Hung(_) => Some("hung".to_owned()),
            SampleOutcome::Failed { .. } => Some("failed".to_owned()),
        }
    }

    fn measured_in_block(&self) -> BTreeSet<usize> {
        let records = self.stored.records.iter().rev();
        let this_block = records.take_while(|record| !matches!(record, Record::Block(_)));
        let row = |record: &Record| if let Record::Sample(slice) = record { Some(slice.row) } else { None };
        this_block.filter_map(row).collect()
    }

    fn interest(&self, row: usize) -> Interest {
        match self.failed.get(&row) {
            _ if self.now() == Some(row) => Interest::Now,
            Some((block, _)) if block + 1 >= self.block => Interest::Failed,
            None if self.order.contains(&row) => Interest::InBlock,
            _ if self.plan().is_reference(self.label(row)) => Interest::Reference,
            _ if self.moved.contains(&row) => Interest::Moved,
            _ => Interest::None,
        }
    }

    /// The row that is being measured.
    fn now(&self) -> Option<usize> {
        match &self.phase {
            Phase::Pilots => {
                let rows = self.plan().rows.iter().enumerate();
                let mut members = rows.filter(|(_, row)| has_pilot(self.plan(), row)).map(|(row, _)| row);
                members.find(|row| !self.piloted.contains_key(row) && !self.failed.contains_key(row))
            }
            Phase::Starting => self.order.iter().copied().find(|row| !self.live.contains(row)),
            Phase::Measuring { row, .. } => Some(*row),
            Phase::Stopping => None,
            Phase::Sample(slot, _) => Some(slot.row),
        }
    }

    fn place(&self) -> String {
        let plan = self.plan();
        let now = self.now().map(|row| self.label(row)).unwrap_or_default();
        let what = match &self.phase {
            Phase::Pilots => {
                let members = plan.rows.iter().filter(|row| has_pilot(plan, row)).count();
                let number = (self.piloted.len() + self.failed.len() + 1).min(members);
                return format!("finding how long each warms up, {number} of {members}: {now}");
            }
            Phase::Sample(slot, done) => {
                let (number, all, round) = (done + 1, plan.samples(), slot.round + 1);
                let point = plan.points[slot.point].describe();
                return format!("sample {number} of {all}, round {round}: {now}, {point}");
            }
            Phase::Starting if plan.is_sequential() => return "starting".to_owned(),
            Phase::Starting if now.is_empty() => "all are warm".to_owned(),
            Phase::Starting => format!("warming up {now}"),
            Phase::Measuring { text, .. } => format!("{text}: {now}"),
            Phase::Stopping => "stopping".to_owned(),
        };
        let about = if plan.blocks().min == plan.blocks().max { "" } else { "about " };
        let block = format!("block {} of {about}{}, {what}", self.block + 1, self.blocks);
        let looks: &[usize] = match &plan.until {
            Until::Budget | Until::Precision(_) | Until::Search(_) => &[],
            Until::Gate(gate) => &gate.looks,
            Until::Apart(apart) => &apart.looks,
            Until::Ranks(ranks) => &ranks.looks,
        };
        match looks.iter().find(|look| **look > self.block) {
            Some(look) => format!("{block}; next look after block {look}"),
            None => block,
        }
    }
}

fn has_pilot(plan: &Plan, row: &PlannedRow) -> bool {
    row.excluded.is_none() && !plan.is_twin(&row.label)
}

/// The result of a pilot.
pub(crate) fn steady(pilot: &Pilot) -> String {
    match pilot.steady_after_ns {
        Some(ns) => format!("steady after {:.1} s", ns as f64 / 1e9),
        None => "not steady in the time it had".to_owned(),
    }
}

fn place(plan: &Plan, slice: &Sample) -> String {
    let round = slice.round + 1;
    let load = (0..plan.loads().len()).find(|load| plan.point_of_load(*load) == slice.point);
    match slice.load.offered_per_second {
        None => match load.filter(|_| plan.loads().len() > 1) {
            Some(load) => format!("round {round} of {}", plan.loads()[load].label()),
            None => format!("round {round}"),
        },
        Some(per_second) => format!("round {round} at {}/s", rate(per_second)),
    }
}

/// `window 3: 84.0 k .. 101 k`: between the highest rate that held and the lowest that did not.
fn state_of_search(searches: &Searches, row: usize) -> Option<String> {
    let search = searches.of(row).last()?.search.as_ref()?;
    if search.is_over() {
        return Some("found".to_owned());
    }
    let window = format!("window {}", search.counted() + search.discarded());
    Some(match search.found() {
        FoundRate::Between { held, broke } => format!("{window}: {} .. {}", rate(held), rate(broke)),
        FoundRate::AtLeast(held) => format!("{window}: {} or more", rate(held)),
        FoundRate::Below(broke) => format!("{window}: below {}", rate(broke)),
        FoundRate::Nothing => window,
    })
}

/// The elapsed time according to the records.
fn elapsed(records: &[Record]) -> Duration {
    let elapsed = records.iter().filter_map(|record| match record {
        Record::Block(block) => Some(block.elapsed_ns),
        Record::Ended(ended) => Some(ended.elapsed_ns),
        _ => None,
    });
    Duration::from_nanos(elapsed.max().unwrap_or(0))
}

#[cfg(test)]
mod tests;
