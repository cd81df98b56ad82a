use std::{cell::Cell, collections::BTreeMap};

use super::*;
use crate::run::{cpus::Pinning, plan::PlannedRow};

/// A machine without time: every slice takes its length, every start and stop half a second.
struct Fake {
    now_ns: Cell<u64>,
    slices: usize,
    running: BTreeSet<usize>,
    /// Row and the number of the slice (over all rows) in which it dies.
    dies: Option<(usize, usize)>,
    interrupt_after_slices: usize,
}

impl Fake {
    fn new() -> Fake {
        let running = BTreeSet::new();
        Fake { now_ns: Cell::new(7), slices: 0, running, dies: None, interrupt_after_slices: usize::MAX }
    }

    fn pass(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }
}

impl Executor for Fake {
    fn start(&mut self, row: usize, _block: usize) -> Result<Duration, RowFailure> {
        assert!(self.running.insert(row), "row {row} was still running");
        self.pass(500_000_000);
        Ok(Duration::from_millis(row as u64))
    }

    fn slice(&mut self, row: usize, _draw: u64) -> Result<Slice, RowFailure> {
        assert!(self.running.contains(&row));
        self.slices += 1;
        self.pass(100_000_000);
        match self.dies {
            Some((dying, at)) if dying == row && self.slices >= at => {
                self.running.remove(&row);
                Err(RowFailure("was killed".to_owned()))
            }
            _ => Ok(Slice { window_ns: 100_000_000, answered: 10, ..Slice::default() }),
        }
    }

    fn stop(&mut self, row: usize, _block: usize) -> Result<StopFacts, RowFailure> {
        assert!(self.running.remove(&row), "row {row} was not running");
        self.pass(500_000_000);
        Ok(StopFacts::default())
    }

    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn interrupted(&self) -> bool {
        self.slices >= self.interrupt_after_slices
    }
}

#[derive(Default)]
struct Memory {
    records: Vec<Record>,
    full_after: Option<usize>,
}

impl Journal for Memory {
    fn append(&mut self, record: &Record) -> io::Result<()> {
        if self.full_after == Some(self.records.len()) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.records.push(record.clone());
        Ok(())
    }
}

impl Watch for () {
    fn heard(&mut self, _record: &Record, _left: Duration) {}
}

fn plan(rows: usize, seed: u64) -> Plan {
    let row = |index: usize| PlannedRow {
        label: format!("row{index}"),
        service: format!("row{index}"),
        title: None,
        language: "rust".to_owned(),
        framework: "none".to_owned(),
        licence: "MIT".to_owned(),
        style: crate::catalogue::Style::Framework,
        settings: Vec::new(),
        version: None,
        excluded: None,
    };
    Plan {
        experiment: "test".to_owned(),
        title: String::new(),
        question: String::new(),
        contract: "hello".to_owned(),
        pivot: "row0".to_owned(),
        seed,
        load: crate::experiment::LoadSetting { connections: 1, threads: 1 },
        knobs: crate::experiment::Knobs { threads: 1, delay_ms: 0 },
        budget_ns: 60_000_000_000,
        slice_ns: 100_000_000,
        slices_per_block: 4,
        warm_up_ns: 0,
        blocks_min: 6,
        blocks_max: 40,
        pinning: Pinning { server: vec![0], generator: vec![1] },
        rows: (0..rows).map(row).collect(),
    }
}

fn slices_of(records: &[Record]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in records {
        if let Record::Slice(slice) = record {
            *counts.entry(slice.row.clone()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn blocks_are_complete_and_end_within_the_budget() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    let ending = run(&plan(3, 1), &mut fake, &mut journal, &mut ()).unwrap();
    // A block takes 3 x (0.5 + 4 x 0.1 + 0.5) = 4.2 s, so 14 of them fit into 60 s.
    assert_eq!(ending, Ending::BudgetSpent);
    assert_eq!(slices_of(&journal.records).into_values().collect::<Vec<_>>(), [56, 56, 56]);
    assert!(fake.running.is_empty());
    assert!(matches!(journal.records.last(), Some(Record::Ended { .. })));
}

#[test]
fn every_round_holds_every_row_once_in_an_order_of_its_own() {
    let mut journal = Memory::default();
    run(&plan(5, 1), &mut Fake::new(), &mut journal, &mut ()).unwrap();
    let mut rounds: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for record in &journal.records {
        if let Record::Slice(slice) = record {
            rounds.entry((slice.block, slice.round)).or_default().push(slice.row.clone());
        }
    }
    assert!(rounds.values().all(|rows| rows.iter().collect::<BTreeSet<_>>().len() == 5));
    assert!(rounds.values().collect::<BTreeSet<_>>().len() > 10, "orders must differ");
}

#[test]
fn the_seed_decides_the_order() {
    let records = |seed| {
        let mut journal = Memory::default();
        run(&plan(4, seed), &mut Fake::new(), &mut journal, &mut ()).unwrap();
        journal.records
    };
    assert_eq!(records(1), records(1));
    assert_ne!(records(1), records(2));
}

#[test]
fn a_service_that_dies_is_out_and_the_others_go_on() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.dies = Some((1, 5));
    run(&plan(3, 1), &mut fake, &mut journal, &mut ()).unwrap();
    let failed: Vec<_> =
        journal.records.iter().filter(|record| matches!(record, Record::Failed { .. })).collect();
    assert_eq!(failed.len(), 1);
    let counts = slices_of(&journal.records);
    assert!(counts["row1"] < 4 && counts["row0"] >= 24 && counts["row0"] == counts["row2"], "{counts:?}");
}

#[test]
fn a_pivot_that_is_left_alone_is_measured_no_further() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.dies = Some((1, 5));
    assert_eq!(run(&plan(2, 1), &mut fake, &mut journal, &mut ()).unwrap(), Ending::NothingLeft);
    assert!(slices_of(&journal.records)["row0"] <= 2 * 4);
    assert_eq!(
        run(&plan(1, 1), &mut Fake::new(), &mut Memory::default(), &mut ()).unwrap(),
        Ending::BlocksMax
    );
}

#[test]
fn the_fewest_blocks_are_measured_even_beyond_the_budget() {
    let (mut plan, mut journal) = (plan(3, 1), Memory::default());
    plan.budget_ns = 1;
    assert_eq!(run(&plan, &mut Fake::new(), &mut journal, &mut ()).unwrap(), Ending::BudgetSpent);
    assert_eq!(slices_of(&journal.records)["row0"], 6 * 4);
}

#[test]
fn an_interruption_stops_every_service_and_says_so() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.interrupt_after_slices = 10;
    assert_eq!(run(&plan(3, 1), &mut fake, &mut journal, &mut ()).unwrap(), Ending::Interrupted);
    assert!(fake.running.is_empty());
    assert_eq!(fake.slices, 10);
}

#[test]
fn a_full_disk_ends_the_campaign_and_leaves_nothing_running() {
    for full_after in [0, 1, 5, 9] {
        let (mut fake, mut journal) =
            (Fake::new(), Memory { full_after: Some(full_after), ..Memory::default() });
        let error = run(&plan(3, 1), &mut fake, &mut journal, &mut ()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(fake.running.is_empty());
    }
}
