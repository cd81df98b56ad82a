//! From the records of a run to a view of it. Pure: the time is an argument.
//!
//! What is being done comes from each record; what is known is computed by what computes the table at the end
//! (`weigh`, `gate`, `capacity`: one for each question), and only when it is asked for.

mod capacity;
mod gate;
mod sequential;
mod weigh;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tare_analysis::figures::rate;
use tare_bench::{
    folder::{Header, StoredRun},
    plan::{Order, Plan, Until},
    record::{Block, Pilot, Record},
    sample::Sample,
    schedule::{Slot, StopRule, searches::Searches},
    slo::SloPlan,
};

use sequential::SequentialModel;

use super::view::{Row, Table, Tone, View};

/// Rows that are shown before others where not all fit.
mod interest {
    pub const MOVED: u8 = 1;
    pub const RAW_SOCKET: u8 = 2;
    pub const IN_BLOCK: u8 = 3;
    pub const FAILED: u8 = 4;
    pub const NOW: u8 = 5;
}

/// A run, as far as it has come.
#[derive(Debug)]
pub enum Model<'a> {
    Interleaved(Box<InterleavedModel<'a>>),
    Sequential(Box<SequentialModel>),
}

impl<'a> Model<'a> {
    /// With this head, after `past`.
    pub fn new(header: &'a Header, past: &[Record]) -> Model<'a> {
        match header.plan.order {
            Order::Interleaved(_) => Model::Interleaved(Box::new(InterleavedModel::new(header, past))),
            Order::Sequential => Model::Sequential(Box::new(SequentialModel::new(header, past))),
        }
    }

    /// A sample begins after this many others; so much may still be to come.
    pub fn begin(&mut self, slot: Slot, done: usize, left: Duration) {
        if let Model::Sequential(model) = self {
            model.begin(slot, done, left);
        }
    }

    /// A record was stored; so much may still be to come.
    pub fn hear(&mut self, record: &Record, left: Duration) {
        match self {
            Model::Interleaved(model) => model.hear(record.clone(), left),
            Model::Sequential(model) => model.hear(record),
        }
    }

    /// Whether there is more to know after this record: of blocks, once one is over.
    pub fn has_more_to_compute(&self, record: &Record) -> bool {
        match self {
            Model::Interleaved(_) => matches!(record, Record::Block(Block { block: 1.., .. })),
            Model::Sequential(_) => matches!(record, Record::Sample(_)),
        }
    }

    /// Brings what is known up to date: not while anything is measured.
    pub fn compute(&mut self) {
        match self {
            Model::Interleaved(model) => model.compute(),
            Model::Sequential(model) => model.compute(),
        }
    }

    /// How it looks, so long after this part of it began.
    pub fn view(&self, elapsed: Duration) -> View {
        match self {
            Model::Interleaved(model) => model.view(elapsed),
            Model::Sequential(model) => model.view(elapsed),
        }
    }
}

/// Slices in blocks.
#[derive(Debug)]
pub struct InterleavedModel<'a> {
    kept: StoredRun,
    question: Question<'a>,
    phase: Phase,
    block: usize,
    /// Blocks that there will be, as far as can be said.
    blocks: usize,
    first_block_ns: u64,
    /// Rows of this block that have not failed.
    order: Vec<String>,
    /// Those that have a process.
    live: BTreeSet<String>,
    /// In which block, and why.
    failed: BTreeMap<String, (usize, String)>,
    /// What the pilots have found.
    piloted: BTreeMap<String, String>,
    elapsed_before: Duration,
    left: Duration,
    table: Table,
    finding: String,
    /// Rows whose tier is another than a block ago.
    moved: BTreeSet<String>,
    remarks: Vec<String>,
}

/// What is asked.
#[derive(Debug)]
enum Question<'a> {
    Weigh,
    Gate,
    Capacity { plan: &'a SloPlan, searches: Searches<'a> },
}

#[derive(Debug)]
enum Phase {
    Pilots,
    Starting,
    Measuring { row: String, text: String },
    Stopping,
}

impl<'a> InterleavedModel<'a> {
    /// With this head, after `past`.
    pub fn new(header: &'a Header, past: &[Record]) -> InterleavedModel<'a> {
        let question = match &header.plan.until {
            Until::Search(plan) => Question::Capacity { plan, searches: Searches::new(plan) },
            Until::Gate(_) => Question::Gate,
            Until::Budget | Until::Tiers(_) => Question::Weigh,
        };
        let plan = &header.plan;
        let phase = if plan.blocks().warm_up_ns_max.is_some() { Phase::Pilots } else { Phase::Starting };
        let left = Duration::from_nanos(plan.expected_ns());
        let mut model = InterleavedModel {
            blocks: plan.blocks_expected() * plan.groups(),
            kept: StoredRun {
                header: header.clone(),
                records: Vec::new(),
                damage: Vec::new(),
                in_progress: true,
            },
            question,
            phase,
            block: 0,
            first_block_ns: 0,
            order: Vec::new(),
            live: BTreeSet::new(),
            failed: BTreeMap::new(),
            piloted: BTreeMap::new(),
            elapsed_before: Duration::ZERO,
            left,
            table: Table::default(),
            finding: String::new(),
            moved: BTreeSet::new(),
            remarks: Vec::new(),
        };
        past.iter().for_each(|record| model.hear(record.clone(), left));
        model.elapsed_before = elapsed(past);
        model.compute();
        model.moved.clear();
        model
    }

    /// A record was kept; so much may still be to come.
    pub fn hear(&mut self, record: Record, left: Duration) {
        self.left = left;
        if let Question::Capacity { searches, .. } = &mut self.question {
            searches.on_record(&record);
        }
        let label = |row: usize| self.kept.header.plan.rows[row].label.clone();
        match &record {
            Record::Pilot(pilot) => {
                self.piloted.insert(label(pilot.row), steady(pilot));
            }
            Record::Block(block) => self.begin(block),
            Record::Started(started) => drop(self.live.insert(label(started.row))),
            Record::Sample(slice) => {
                self.phase =
                    Phase::Measuring { row: label(slice.row), text: place(&self.kept.header.plan, slice) };
            }
            Record::Stopped(stopped) => {
                self.live.remove(&label(stopped.row));
                self.phase = Phase::Stopping;
            }
            Record::Failed(failed) => {
                let row = label(failed.row);
                self.live.remove(&row);
                self.order.retain(|label| *label != row);
                self.failed.insert(row, (failed.block, failed.reason.clone()));
            }
            Record::Ended(_) => {}
        }
        self.kept.records.extend(record.at_load(&self.kept.header.plan, 0));
    }

    fn begin(&mut self, record: &Block) {
        let (plan, block, elapsed_ns) = (&self.kept.header.plan, record.block, record.elapsed_ns);
        let order = record.order.iter().map(|row| plan.rows[*row].label.clone()).collect();
        if block == 0 {
            self.first_block_ns = elapsed_ns;
        } else {
            let mean_ns = (elapsed_ns.saturating_sub(self.first_block_ns) / block as u64).max(1);
            let left = (self.left.as_nanos() as f64 / mean_ns as f64).round() as usize;
            let (least, most) = (plan.blocks().min * plan.groups(), plan.blocks().max * plan.groups());
            self.blocks = (block + left).clamp(least, most);
        }
        self.block = block;
        self.order = order;
        self.phase = Phase::Starting;
    }

    /// Brings what is known up to date: not for nothing, and not while anything is measured.
    pub fn compute(&mut self) {
        let mut finding = String::new();
        let (table, remarks) = match &self.question {
            Question::Weigh => weigh::table(&self.kept),
            Question::Gate => {
                let (table, reason, doubts) = gate::table(&self.kept);
                finding = reason;
                (table, doubts)
            }
            Question::Capacity { plan, .. } => capacity::table(plan, &self.kept),
        };
        self.finding = finding;
        let tier = |table: &Table, name: &str| {
            table.rows.iter().find(|row| row.name == name).and_then(|row| row.cells.first().cloned())
        };
        let has_moved = |row: &&Row| tier(&self.table, &row.name) != row.cells.first().cloned();
        self.moved = table.rows.iter().filter(has_moved).map(|row| row.name.clone()).collect();
        // What is new stands first.
        let (old, new): (Vec<String>, _) =
            remarks.into_iter().partition(|remark| self.remarks.contains(remark));
        self.remarks = new.into_iter().chain(old).collect();
        self.table = table;
    }

    /// How it looks, so long after this part of it began.
    pub fn view(&self, elapsed: Duration) -> View {
        let mut table = self.table.clone();
        if !matches!(self.question, Question::Gate) {
            table.rows.iter_mut().for_each(|row| self.enter_state(row));
        }
        if let Question::Capacity { searches, .. } = &self.question {
            capacity::enter_searches(&mut table, self.plan(), searches, &self.measured_in_block());
        }
        let failed = self.failed.iter().map(|(row, (_, reason))| format!("{row}: {reason}"));
        View {
            title: self.kept.header.plan.title.clone(),
            place: self.place(),
            finding: self.finding.clone(),
            elapsed: self.elapsed_before + elapsed,
            left: self.left,
            table,
            remarks: failed.chain(self.remarks.iter().cloned()).collect(),
        }
    }

    fn measured_in_block(&self) -> BTreeSet<&str> {
        let this_block =
            self.kept.records.iter().rev().take_while(|record| !matches!(record, Record::Block(_)));
        this_block.filter_map(|record| self.row_of_slice(record)).collect()
    }

    fn row_of_slice(&self, record: &Record) -> Option<&str> {
        match record {
            Record::Sample(slice) => Some(&self.plan().rows[slice.row].label),
            _ => None,
        }
    }

    fn plan(&self) -> &Plan {
        &self.kept.header.plan
    }

    /// What a row does.
    fn enter_state(&self, row: &mut Row) {
        let name = row.name.as_str();
        let is_in_block = self.order.iter().any(|label| label == name);
        row.is_now = self.now() == Some(name);
        row.interest = match self.failed.get(name) {
            _ if row.is_now => interest::NOW,
            Some((block, _)) if block + 1 >= self.block => interest::FAILED,
            None if is_in_block => interest::IN_BLOCK,
            _ if self.plan().is_reference(name) => interest::RAW_SOCKET,
            _ if self.moved.contains(name) => interest::MOVED,
            _ => 0,
        };
        if let Some((block, reason)) = self.failed.get(name) {
            row.state = format!("failed in block {}: {reason}", block + 1);
            (row.tone, row.is_out, row.range) = (Tone::Bad, true, None);
            return;
        }
        let state = match &self.phase {
            _ if row.is_out => return,
            Phase::Pilots | Phase::Starting if row.is_now => "warming up",
            Phase::Measuring { .. } if row.is_now => "measuring",
            Phase::Pilots => self.piloted.get(name).map_or("", String::as_str),
            Phase::Starting if is_in_block && self.live.contains(name) => "ready",
            _ => return,
        };
        (row.state, row.tone) = (state.to_owned(), Tone::Plain);
    }

    /// The row that is at work.
    fn now(&self) -> Option<&str> {
        match &self.phase {
            Phase::Pilots => {
                let rows = self.plan().rows.iter().filter(|row| row.excluded.is_none());
                let mut labels = rows.map(|row| row.label.as_str());
                labels.find(|label| !self.piloted.contains_key(*label) && !self.failed.contains_key(*label))
            }
            Phase::Starting => {
                self.order.iter().map(String::as_str).find(|label| !self.live.contains(*label))
            }
            Phase::Measuring { row, .. } => Some(row),
            Phase::Stopping => None,
        }
    }

    fn place(&self) -> String {
        let now = self.now().unwrap_or_default();
        if matches!(self.phase, Phase::Pilots) {
            let members = self.plan().rows.iter().filter(|row| row.excluded.is_none()).count();
            let number = (self.piloted.len() + self.failed.len() + 1).min(members);
            return format!("finding how long each warms up, {number} of {members}: {now}");
        }
        let plan = self.plan();
        let about = if plan.blocks().min == plan.blocks().max { "" } else { "about " };
        let what = match &self.phase {
            Phase::Starting if now.is_empty() => "all are warm".to_owned(),
            Phase::Starting => format!("warming up {now}"),
            Phase::Measuring { row, text } => format!("{text}: {row}"),
            _ => "stopping".to_owned(),
        };
        let block = format!("block {} of {about}{}, {what}", self.block + 1, self.blocks);
        let looks: &[usize] = match &plan.until {
            Until::Budget | Until::Search(_) => &[],
            Until::Gate(gate) => &gate.looks,
            Until::Tiers(tiers) => &tiers.looks,
        };
        match looks.iter().find(|look| **look > self.block) {
            Some(look) => format!("{block}; next look after block {look}"),
            None => block,
        }
    }
}

/// What a pilot has found.
pub fn steady(pilot: &Pilot) -> String {
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

/// Time that the records tell of.
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
