mod chosen;
mod cores;
mod cut_off;
mod discarded;
mod kept;

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    io,
};

use super::*;
use crate::{
    experiment::Rate,
    fixture::{self, in_blocks},
    sample::{LoadResult, Sample},
    sample_agents::DiscardedSlice,
    schedule::InstrumentFailure,
};

/// A simulated machine: a slice takes its length, a start half a second by default.
struct Fake {
    now_ns: Cell<u64>,
    start_ns: u64,
    slices: usize,
    running: BTreeSet<usize>,
    /// Rows with a process left by their pilot.
    piloted: BTreeSet<usize>,
    /// A row, and the number of the slice (over all rows) in which it dies.
    dies: Option<(usize, usize)>,
    interrupt_after_slices: usize,
    /// The user interrupts the first pilot.
    interrupts_pilot: bool,
    /// The disk is full from this slice on.
    full_from: Option<usize>,
    /// This row leaves requests without an answer.
    hangs: Option<usize>,
    /// Slices (over all rows) in which an agent is lost.
    spoils: BTreeSet<usize>,
    warm_ups: Vec<(usize, u64)>,
    /// Rows that started with the process of their pilot.
    from_pilots: Vec<usize>,
    woken: Vec<usize>,
    /// Rows whose process was stopped, with the block of the record.
    stopped: Vec<(usize, usize)>,
    asked: Vec<(usize, usize, Option<f64>)>,
}

impl Fake {
    fn new() -> Fake {
        Fake {
            now_ns: Cell::new(7),
            start_ns: 500_000_000,
            slices: 0,
            running: BTreeSet::new(),
            piloted: BTreeSet::new(),
            from_pilots: Vec::new(),
            dies: None,
            interrupt_after_slices: usize::MAX,
            interrupts_pilot: false,
            full_from: None,
            hangs: None,
            spoils: BTreeSet::new(),
            warm_ups: Vec::new(),
            woken: Vec::new(),
            stopped: Vec::new(),
            asked: Vec::new(),
        }
    }

    fn pass(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
    }

    /// Whether no started process is left running.
    fn is_alone(&self) -> bool {
        self.running.is_empty() && self.piloted.is_empty()
    }

    fn has_room(&self) -> Result<(), InstrumentFailure> {
        let is_full = self.full_from.is_some_and(|slice| self.slices >= slice);
        if is_full { Err(InstrumentFailure("no space".to_owned())) } else { Ok(()) }
    }
}

impl Executor for Fake {
    fn pilot(&mut self, row: usize, _beside: Option<usize>) -> Result<Pilot, ExecutorError> {
        self.pass(3_000_000_000);
        assert!(self.piloted.insert(row) && !self.running.contains(&row));
        self.interrupt_after_slices = if self.interrupts_pilot { 0 } else { self.interrupt_after_slices };
        let steady_after_ns = (row > 0).then_some(row as u64 * 1_000_000_000);
        Ok(Pilot {
            row: 0,
            window_ns: 1_000_000_000,
            start_ns: self.start_ns + 100_000_000,
            answered: vec![1; 3],
            server_cpu_ns: vec![1; 3],
            steady_after_ns,
            ..Pilot::default()
        })
    }

    fn release(&mut self, row: usize) -> u64 {
        if self.piloted.remove(&row) { 100_000_000 } else { 0 }
    }

    fn start(&mut self, Slot { row, .. }: Slot, warm_up_ns: u64) -> Result<Option<Duration>, ExecutorError> {
        self.from_pilots.extend(self.piloted.take(&row));
        self.warm_ups.push((row, warm_up_ns));
        assert!(self.running.insert(row), "row {row} was still running");
        self.pass(self.start_ns);
        Ok(Some(Duration::from_millis(row as u64)))
    }

    fn wake(&mut self, row: usize, warm_up_ns: u64) -> Result<(), ExecutorError> {
        assert!(self.running.contains(&row), "row {row} was not kept");
        self.woken.push(row);
        self.pass(warm_up_ns);
        Ok(())
    }

    fn sample(&mut self, slot: Slot, _draw: u64, per_second: Option<f64>) -> Result<Sample, ExecutorError> {
        let row = slot.row;
        self.asked.push((row, slot.point, per_second));
        assert!(self.running.contains(&row));
        self.slices += 1;
        self.pass(100_000_000);
        if self.spoils.contains(&self.slices) {
            return Err(ExecutorError::Slice(Box::new(DiscardedSlice::lost("b:2 is lost".to_owned()))));
        }
        match self.dies {
            Some((dying, at)) if dying == row && self.slices >= at => {
                self.running.remove(&row);
                Err(RowFailure("was killed".to_owned()).into())
            }
            _ => {
                // A capacity of 1,000 per second times the place in the plan.
                let answered_in_window = 100 * (row as u64 + 1);
                let window_ns = 100_000_000;
                let in_flight = if self.hangs == Some(row) { 56 } else { 0 };
                let load = LoadResult {
                    window_ns,
                    elapsed_ns: window_ns + 2_000_000_000,
                    sent: 66,
                    answered: 10,
                    answered_in_window,
                    in_flight,
                    ..LoadResult::default()
                };
                Ok(Sample { load, ..Sample::default() })
            }
        }
    }

    fn stop(&mut self, row: usize, block: usize) -> Result<StoppedService, ExecutorError> {
        self.stopped.push((row, block));
        assert!(self.running.remove(&row), "row {row} was not running");
        self.pass(500_000_000);
        self.has_room()?;
        Ok(StoppedService::default())
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

/// A run without a stopping rule, from the start.
fn run(plan: &Plan, executor: &mut Fake, journal: &mut Memory) -> Result<Ending, CutOff> {
    resume(plan, executor, journal, &[])
}

fn resume(plan: &Plan, executor: &mut Fake, journal: &mut Memory, past: &[Record]) -> Result<Ending, CutOff> {
    super::run(plan, Parts { executor, journal, watch: &mut (), stop_rule: &mut () }, past)
}

impl Watch for () {
    fn on_record(&mut self, _record: &Record, _left: Duration) {}
}

/// Rounds of each stored block.
fn rounds_of(records: &[Record]) -> BTreeMap<usize, usize> {
    let mut rounds = BTreeMap::new();
    for sample in records.iter().filter_map(Record::sample) {
        let most = rounds.entry(sample.block).or_insert(0);
        *most = (*most).max(sample.round + 1);
    }
    rounds
}

#[test]
fn slices_are_chosen_after_the_pilots_and_stay_when_a_run_is_resumed() {
    let plan = in_blocks(plan(3, 5), |blocks| {
        (blocks.min, blocks.max, blocks.budget_ns) = (6, 40, 120_000_000_000);
        (blocks.warm_up_ns_max, blocks.spread) = (Some(3_000_000_000), Some(crate::plan::Spread::DEFAULT));
    });
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    assert_eq!(run(&plan, &mut fake, &mut journal).unwrap(), Ending::BudgetSpent);
    let rounds = rounds_of(&journal.records);
    let (chosen, blocks) = (rounds[&0], rounds.len());
    assert!(chosen != plan.slices_per_block() && chosen > 8, "{rounds:?}");
    assert!(blocks >= 6 && rounds.values().all(|rounds| *rounds == chosen), "{rounds:?}");
    let cut =
        journal.records.iter().position(|record| matches!(record, Record::Block(Block { block: 2, .. })));
    let past = &journal.records[..cut.unwrap()];
    let (mut fake, mut rest) = (Fake::new(), Memory::default());
    resume(&plan, &mut fake, &mut rest, past).unwrap();
    assert!(
        rounds_of(&rest.records).values().all(|rounds| *rounds == chosen),
        "{:?}",
        rounds_of(&rest.records)
    );
}

/// The last row is the twin of the first.
fn with_twin(plan: Plan) -> Plan {
    let (first, last) = (plan.rows[0].service.clone(), plan.rows.len() - 1);
    let mut plan = plan.clone().with_twin(&plan.rows[last].label);
    plan.rows[last].service = first;
    plan
}

/// Row 1 is steady after 1 s, row 2 after 2 s; their warm-up takes twice that.
#[test]
fn versions_are_warmed_up_alike_and_other_services_as_each_needs() {
    let plan = in_blocks(plan(3, 5), |blocks| blocks.warm_up_ns_max = Some(5_000_000_000));
    let warm_ups = |plan: &Plan| {
        let mut fake = Fake::new();
        run(plan, &mut fake, &mut Memory::default()).unwrap();
        let of =
            |row| fake.warm_ups.iter().find(|(other, _)| *other == row).map(|(_, ns)| ns / 1_000_000_000);
        [0, 1, 2].map(|row| of(row).unwrap())
    };
    assert_eq!(warm_ups(&plan), [5, 2, 4]);
    assert_eq!(warm_ups(&Plan { are_versions: true, ..plan.clone() }), [5; 3]);
    assert_eq!(warm_ups(&Plan { until: fixture::compared().plan.until, ..plan }), [5; 3]);
}

#[test]
fn a_twin_has_the_warm_up_of_the_reference_and_no_pilot() {
    let plan = in_blocks(with_twin(plan(3, 5)), |blocks| blocks.warm_up_ns_max = Some(30_000_000_000));
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    run(&plan, &mut fake, &mut journal).unwrap();
    let is_pilot = |record: &&Record| matches!(record, Record::Pilot(_));
    assert_eq!(journal.records.iter().filter(is_pilot).count(), 2);
    let warm_up = |row| fake.warm_ups.iter().find(|(other, _)| *other == row).map(|(_, ns)| *ns);
    assert_eq!((warm_up(0), warm_up(2)), (Some(30_000_000_000), Some(30_000_000_000)));
    assert_eq!(warm_up(1), Some(2_000_000_000));
}

#[test]
fn the_reference_and_its_twin_alone_have_nothing_to_relate() {
    let plan = with_twin(plan(3, 5));
    let mut fake = Fake { dies: Some((1, 4)), ..Fake::new() };
    let ending = run(&plan, &mut fake, &mut Memory::default()).unwrap();
    assert_eq!(ending, Ending::NothingLeft);
}

fn plan(rows: usize, seed: u64) -> Plan {
    let labels: Vec<String> = (0..rows).map(|row| format!("row{row}")).collect();
    let plan = fixture::plan(&labels.iter().map(String::as_str).collect::<Vec<_>>());
    let plan = fixture::at_points(Plan { seed, ..plan }, |point| point.rounds = 4);
    in_blocks(plan, |blocks| (blocks.min, blocks.budget_ns) = (6, 60_000_000_000))
}

fn slices_of(records: &[Record]) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    for record in records {
        if let Record::Sample(sample) = record {
            *counts.entry(sample.row).or_default() += 1;
        }
    }
    counts
}

#[test]
fn blocks_are_complete_and_end_within_the_budget() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    let ending = run(&plan(3, 1), &mut fake, &mut journal).unwrap();
    // A block takes 3 x (0.5 + 4 x 0.1 + 0.5) = 4.2 s, so 14 blocks fit into 60 s.
    assert_eq!(ending, Ending::BudgetSpent);
    assert_eq!(slices_of(&journal.records).into_values().collect::<Vec<_>>(), [56, 56, 56]);
    assert!(fake.is_alone());
    assert!(matches!(journal.records.last(), Some(Record::Ended(_))));
}

#[test]
fn every_round_holds_every_row_once_in_an_order_of_its_own() {
    let mut journal = Memory::default();
    run(&plan(5, 1), &mut Fake::new(), &mut journal).unwrap();
    let mut rounds: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for record in &journal.records {
        if let Record::Sample(sample) = record {
            rounds.entry((sample.block, sample.round)).or_default().push(sample.row);
        }
    }
    assert!(rounds.values().all(|rows| rows.iter().collect::<BTreeSet<_>>().len() == 5));
    assert!(rounds.values().collect::<BTreeSet<_>>().len() > 10, "orders must differ");
}

#[test]
fn the_seed_decides_the_order() {
    let records = |seed| {
        let mut journal = Memory::default();
        run(&plan(4, seed), &mut Fake::new(), &mut journal).unwrap();
        journal.records
    };
    assert_eq!(records(1), records(1));
    assert_ne!(records(1), records(2));
}

#[test]
fn a_service_that_dies_is_out_and_the_others_go_on() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.dies = Some((1, 5));
    run(&plan(3, 1), &mut fake, &mut journal).unwrap();
    let failed: Vec<_> =
        journal.records.iter().filter(|record| matches!(record, Record::Failed(_))).collect();
    assert_eq!(failed.len(), 1);
    let counts = slices_of(&journal.records);
    assert!(counts[&1] < 4 && counts[&0] >= 24 && counts[&0] == counts[&2], "{counts:?}");
}

#[test]
fn a_reference_that_is_left_alone_is_measured_no_further() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.dies = Some((1, 5));
    assert_eq!(run(&plan(2, 1), &mut fake, &mut journal).unwrap(), Ending::NothingLeft);
    assert!(slices_of(&journal.records)[&0] <= 2 * 4);
    assert_eq!(run(&plan(1, 1), &mut Fake::new(), &mut Memory::default()).unwrap(), Ending::BlocksMax);
}

#[test]
fn the_fewest_blocks_are_measured_even_beyond_the_budget() {
    let (mut plan, mut journal) = (plan(3, 1), Memory::default());
    plan.blocks_mut().budget_ns = 1;
    assert_eq!(run(&plan, &mut Fake::new(), &mut journal).unwrap(), Ending::BudgetSpent);
    assert_eq!(slices_of(&journal.records)[&0], 6 * 4);
}

#[test]
fn a_bound_ends_the_run_within_a_slice_wherever_it_is() {
    for budget_ms in [1, 2_000, 10_000, 33_333] {
        let plan = plan(3, 1).bounded(Duration::from_millis(budget_ms));
        let (mut fake, mut journal) = (Fake::new(), Memory::default());
        let began_ns = fake.now_ns();
        assert_eq!(run(&plan, &mut fake, &mut journal).unwrap(), Ending::BudgetSpent);
        // A started step finishes: a start or a slice, and then three stops.
        let over_ms = ((fake.now_ns() - began_ns) / 1_000_000).saturating_sub(budget_ms);
        assert!(over_ms <= 500 + 3 * 500, "{budget_ms} ms: {over_ms} ms over");
        assert!(fake.is_alone());
    }
}

#[test]
fn a_service_that_leaves_requests_without_an_answer_is_out() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.hangs = Some(2);
    run(&plan(3, 1), &mut fake, &mut journal).unwrap();
    let reasons = journal.records.iter().filter_map(|record| match record {
        Record::Failed(failed) => Some((failed.row, failed.reason.as_str())),
        _ => None,
    });
    let reasons = reasons.collect::<Vec<_>>();
    assert_eq!(
        reasons,
        [(
            2,
            "5 slices one after the other left requests without an answer; in the last one 56 of 66 were waited for until \
             2.0 s after its end"
        )]
    );
    assert_eq!(slices_of(&journal.records)[&2], UNANSWERED_SLICES_MAX);
    assert!(fake.is_alone());
}

#[test]
fn an_interruption_stops_every_service_and_says_so() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.interrupt_after_slices = 10;
    assert_eq!(run(&plan(3, 1), &mut fake, &mut journal).unwrap(), Ending::Interrupted);
    assert!(fake.is_alone());
    assert_eq!(fake.slices, 10);
}

#[test]
fn a_full_disk_ends_the_run_and_leaves_nothing_running() {
    for full_after in [0, 1, 5, 9] {
        let (mut fake, mut journal) =
            (Fake::new(), Memory { full_after: Some(full_after), ..Memory::default() });
        let error = run(&plan(3, 1), &mut fake, &mut journal).unwrap_err();
        assert!(
            matches!(&error, CutOff::Storage(error) if error.kind() == io::ErrorKind::StorageFull),
            "{error}"
        );
        assert!(fake.is_alone());
    }
}

/// Records without times, which differ on another fake machine.
fn timeless(records: &[Record]) -> Vec<Record> {
    let mut records = records.to_vec();
    for record in &mut records {
        if let Record::Block(block) = record {
            block.elapsed_ns = 0;
        }
    }
    records
}

#[test]
fn a_run_that_was_cut_off_continues_with_the_next_block() {
    let mut plan = plan(3, 1);
    plan.blocks_mut().max = 8;
    let mut whole = Memory::default();
    run(&plan, &mut Fake::new(), &mut whole).unwrap();
    // A block has 1 + 3 + 12 + 3 records. A run cut off between two blocks continues normally.
    let (before, after) = whole.records.split_at(3 * 19);
    let mut rest = Memory::default();
    let ending = resume(&plan, &mut Fake::new(), &mut rest, before).unwrap();
    assert_eq!((ending, timeless(&rest.records[..5 * 19])), (Ending::BlocksMax, timeless(&after[..5 * 19])));
    // A block that was cut off stays incomplete.
    let mut rest = Memory::default();
    resume(&plan, &mut Fake::new(), &mut rest, &whole.records[..3 * 19 + 7]).unwrap();
    assert!(matches!(rest.records[0], Record::Block(Block { block: 4, .. })), "{:?}", rest.records[0]);
}

#[test]
fn time_and_failures_of_the_past_count() {
    let mut plan = plan(3, 1);
    plan.blocks_mut().budget_ns = 30_000_000_000;
    let mut whole = Memory::default();
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    fake.dies = Some((1, 5));
    fake.interrupt_after_slices = 20;
    assert_eq!(run(&plan, &mut fake, &mut journal).unwrap(), Ending::Interrupted);
    assert_eq!(resume(&plan, &mut Fake::new(), &mut whole, &journal.records).unwrap(), Ending::BudgetSpent);
    assert_eq!(slices_of(&whole.records).keys().collect::<Vec<_>>(), [&0, &2]);
    let Some(Record::Ended(EndedRun { elapsed_ns, .. })) = whole.records.last() else { panic!("no end") };
    assert!((25_000_000_000..=30_000_000_000).contains(elapsed_ns), "{elapsed_ns}");
}

#[test]
fn a_pilot_finds_how_long_each_service_is_warmed_up() {
    let mut plan = plan(3, 1);
    plan.points[0].warm_up_ns = 2_500_000_000;
    let blocks = plan.blocks_mut();
    (blocks.warm_up_ns_max, blocks.max) = (Some(9_000_000_000), 6);
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    run(&plan, &mut fake, &mut journal).unwrap();
    let pilots = journal.records.iter().take_while(|record| matches!(record, Record::Pilot(_))).count();
    assert_eq!(pilots, 3);
    // The first is never steady. Others warm up for twice their time, the second for the minimum.
    let expected = BTreeMap::from([(0, 9_000_000_000), (1, 2_500_000_000), (2, 4_000_000_000)]);
    assert_eq!(fake.warm_ups.iter().copied().collect::<BTreeMap<_, _>>(), expected);
    // A resumed run does not pilot again.
    let (mut again, mut rest) = (Fake::new(), Memory::default());
    resume(&plan, &mut again, &mut rest, &journal.records[..5]).unwrap();
    assert!(!rest.records.iter().any(|record| matches!(record, Record::Pilot(_))));
    assert_eq!(again.warm_ups.iter().copied().collect::<BTreeMap<_, _>>(), expected);
}

#[test]
fn more_rows_than_fit_into_a_block_are_measured_in_groups_that_share_the_reference() {
    let mut plan = plan(8, 1);
    let blocks = plan.blocks_mut();
    (blocks.group_max, blocks.max, blocks.budget_ns) = (4, 9, u64::MAX);
    assert_eq!(plan.groups(), 3);
    let mut journal = Memory::default();
    run(&plan, &mut Fake::new(), &mut journal).unwrap();
    let blocks: Vec<BTreeSet<usize>> = journal
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Block(block) => Some(block.order.iter().copied().collect()),
            _ => None,
        })
        .collect();
    assert_eq!(blocks.len(), 9 * 3);
    assert!(blocks.iter().all(|block| block.contains(&0) && (3..=4).contains(&block.len())));
    for cycle in blocks.chunks(3) {
        assert_eq!(cycle.iter().flatten().collect::<BTreeSet<_>>().len(), 8, "a cycle measures every row");
        assert_eq!(cycle.iter().map(BTreeSet::len).sum::<usize>(), 7 + 3, "and none but the reference twice");
    }
    assert!(blocks.iter().collect::<BTreeSet<_>>().len() > 6, "company must change");
}

/// Decides after this many blocks.
struct After(usize, usize);

impl StopRule for After {
    fn on_record(&mut self, record: &Record) {
        self.1 += usize::from(matches!(record, Record::Block(_)));
    }

    fn is_decided(&mut self) -> bool {
        self.1 >= self.0
    }
}

#[test]
fn a_stopping_rule_ends_a_run_when_the_question_is_answered() {
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    let mut stop_rule = After(3, 0);
    let parts =
        Parts { executor: &mut fake, journal: &mut journal, watch: &mut (), stop_rule: &mut stop_rule };
    assert_eq!(super::run(&plan(3, 1), parts, &[]).unwrap(), Ending::Decided);
    assert_eq!(slices_of(&journal.records)[&0], 3 * 4);
    // Stored records count too.
    let mut stop_rule = After(3, 0);
    let (mut fake, mut rest) = (Fake::new(), Memory::default());
    let parts = Parts { executor: &mut fake, journal: &mut rest, watch: &mut (), stop_rule: &mut stop_rule };
    assert_eq!(super::run(&plan(3, 1), parts, &journal.records).unwrap(), Ending::Decided);
    assert_eq!(rest.records.len(), 1);
}

#[test]
fn open_loops_follow_the_closed_ones_at_rates_of_all_and_of_each() {
    let plan = fixture::with_rates(plan(3, 1), &[Rate::PerSecond(50.0), Rate::OfCapacity(0.5)], 3);
    let plan = in_blocks(plan, |blocks| blocks.max = 6);
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    run(&plan, &mut fake, &mut journal).unwrap();
    let (closed, open) = fake.asked[..3 * 4 + 3 * 2 * 3].split_at(3 * 4);
    assert!(closed.iter().all(|(_, point, rate)| (*point, *rate) == (0, None)));
    let rates = |row: usize, point: usize| -> Vec<f64> {
        let is_there = |asked: &&(usize, usize, Option<f64>)| (asked.0, asked.1) == (row, point);
        open.iter().filter(is_there).filter_map(|asked| asked.2).collect()
    };
    for row in 0..3 {
        assert_eq!(rates(row, 1), [50.0; 3]);
        assert_eq!(rates(row, 2), [500.0 * (row as f64 + 1.0); 3]);
    }
    let orders: BTreeSet<String> = open.chunks(6).map(|round| format!("{round:?}")).collect();
    assert_eq!(orders.len(), 3, "rates and rows are interleaved at random");
}

#[test]
fn the_loads_of_all_rows_are_interleaved_in_each_round() {
    let plan = fixture::under_loads(plan(2, 1), &[16, 64, 256]);
    let plan = in_blocks(plan, |blocks| blocks.max = 6);
    let (mut fake, mut journal) = (Fake::new(), Memory::default());
    run(&plan, &mut fake, &mut journal).unwrap();
    let rounds: Vec<_> = fake.asked.chunks(2 * 3).take(4).collect();
    let all = |round: &[(usize, usize, Option<f64>)]| {
        round.iter().map(|(row, point, _)| (*row, *point)).collect::<BTreeSet<_>>()
    };
    assert!(rounds.iter().all(|round| all(round).len() == 6 && all(round) == all(rounds[0])));
    assert!(rounds.iter().any(|round| *round != rounds[0]), "in another order");
    let starts = journal.records.iter().filter(|record| matches!(record, Record::Started(_))).count();
    assert_eq!(starts, 2 * 6, "a process serves all loads of its block");
    let points = |round: usize| {
        journal.records.iter().filter_map(move |record| match record {
            Record::Sample(sample) if (sample.block, sample.round) == (0, round) => {
                Some((sample.row, sample.point))
            }
            _ => None,
        })
    };
    let points: BTreeSet<_> = points(3).collect();
    assert_eq!(points.into_iter().collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
}
