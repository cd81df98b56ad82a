use super::*;
use crate::{
    fixture::{Memory, Unwatched, published::plan},
    plan::SequentialOptions,
    record::Pilot,
    sample::Hung,
};

/// Answers immediately, and is interrupted after `left` samples.
struct Fake {
    left: usize,
    asked: Vec<Slot>,
    running: Option<usize>,
    hangs: Option<usize>,
    /// Its service answers incorrectly after the load.
    fails: Option<usize>,
    /// The disk has no room for the service's files.
    is_full: bool,
}

impl Fake {
    fn new(left: usize) -> Fake {
        Fake { left, asked: Vec::new(), running: None, hangs: None, fails: None, is_full: false }
    }
}

impl Executor for Fake {
    fn pilot(&mut self, _: usize, _: Option<usize>) -> Result<Pilot, ExecutorError> {
        unreachable!("a sequential experiment has no pilots")
    }

    fn release(&mut self, _: usize) -> u64 {
        unreachable!("a sequential experiment has no pilots")
    }

    fn start(&mut self, slot: Slot, _: u64) -> Result<Option<Duration>, ExecutorError> {
        assert_eq!(self.running.replace(slot.row), None, "one process at a time");
        self.asked.push(slot);
        Ok(Some(Duration::from_millis(5)))
    }

    fn wake(&mut self, _: usize, _: u64) -> Result<(), ExecutorError> {
        unreachable!("each sample has a process of its own")
    }

    fn sample(&mut self, slot: Slot, _: u64, _: Option<f64>) -> Result<Sample, ExecutorError> {
        self.left = self.left.saturating_sub(1);
        let outcome = match self.hangs == Some(slot.row) {
            true => SampleOutcome::Hung(Hung::default()),
            false => SampleOutcome::Measured,
        };
        Ok(Sample { outcome, ..Sample::default() })
    }

    fn stop(&mut self, row: usize, _: usize) -> Result<StoppedService, ExecutorError> {
        assert_eq!(self.running.take(), Some(row));
        match self.fails == Some(row) || self.hangs == Some(row) {
            true => Err(RowFailure("wrong after the load".to_owned()).into()),
            false if self.is_full => Err(InstrumentFailure("no space".to_owned()).into()),
            false => Ok(StoppedService { rss_bytes_peak: Some(7), ..StoppedService::default() }),
        }
    }

    fn now_ns(&self) -> u64 {
        0
    }

    fn interrupted(&self) -> bool {
        self.left == 0
    }
}

fn run(plan: &Plan, executor: &mut Fake, journal: &mut Memory, past: &[Record]) -> Ending {
    super::run(plan, Parts { executor, journal, watch: &mut Unwatched, stop_rule: &mut () }, past).unwrap()
}

/// Resumes from the journal, and is interrupted after `samples` samples.
fn resume(plan: &Plan, samples: usize, journal: &mut Memory) -> (Ending, Vec<Slot>) {
    let mut fake = Fake::new(samples);
    let past = journal.0.clone();
    (run(plan, &mut fake, journal, &past), fake.asked)
}

#[test]
fn a_round_has_every_slot_once_and_points_stay_together() {
    let plan = plan("rest-cpp-2020", &SequentialOptions { rounds: Some(2), ..SequentialOptions::default() });
    let order = order(&plan);
    assert_eq!(order.len(), plan.samples());
    assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), plan.samples());
    assert!(order.is_sorted_by_key(|slot| slot.round));
    let mut points: Vec<(usize, usize)> = order.iter().map(|slot| (slot.round, slot.point)).collect();
    points.dedup();
    assert_eq!(points.len(), 2 * plan.points.len(), "no point is taken up again in a round");
    let of_round =
        |round| order.iter().filter(move |slot| slot.round == round).map(|cell| (cell.point, cell.row));
    assert!(!of_round(0).eq(of_round(1)), "each round has an order of its own");
}

#[test]
fn wherever_it_is_interrupted_a_run_loses_at_most_the_sample_in_flight() {
    let plan = plan(
        "simple-web-server-2019",
        &SequentialOptions { rounds: Some(3), ..SequentialOptions::default() },
    );
    let (whole, in_order) = resume(&plan, usize::MAX, &mut Memory::default());
    assert_eq!((whole, in_order.len()), (Ending::Complete, plan.samples()));
    for cut in 0..plan.samples() {
        let mut journal = Memory::default();
        let (ending, first) = resume(&plan, cut + 1, &mut journal);
        assert_eq!((ending, first.len()), (Ending::Interrupted, cut + 1));
        let (ending, rest) = resume(&plan, usize::MAX, &mut journal);
        assert_eq!(ending, Ending::Complete);
        assert_eq!([&first[..cut], &rest[..]].concat(), in_order, "cut after {cut}");
    }
}

#[test]
fn what_the_instrument_cannot_do_is_no_sample_and_can_be_resumed() {
    let plan = plan(
        "simple-web-server-2019",
        &SequentialOptions { rounds: Some(2), ..SequentialOptions::default() },
    );
    let mut journal = Memory::default();
    resume(&plan, 3, &mut journal);
    let past = journal.0.clone();
    let executor = &mut Fake { is_full: true, ..Fake::new(usize::MAX) };
    let parts = Parts { executor, journal: &mut journal, watch: &mut Unwatched, stop_rule: &mut () };
    assert_eq!(super::run(&plan, parts, &past).unwrap_err().to_string(), "no space");
    assert_eq!(journal.0, past, "neither a sample of the service nor an end");
    let (ending, rest) = resume(&plan, usize::MAX, &mut journal);
    assert_eq!((ending, rest.len()), (Ending::Complete, plan.samples() - 2));
}

#[test]
fn what_hung_once_is_not_asked_again_at_that_point() {
    let plan = plan(
        "simple-web-server-2019",
        &SequentialOptions { rounds: Some(3), ..SequentialOptions::default() },
    );
    let mut fake = Fake { hangs: Some(1), ..Fake::new(usize::MAX) };
    let mut journal = Memory::default();
    run(&plan, &mut fake, &mut journal, &[]);
    let of_row = |row: usize| fake.asked.iter().filter(|slot| slot.row == row).count();
    assert_eq!([of_row(0), of_row(1), of_row(2)], [3, 1, 3]);
    let mut rest = Fake::new(usize::MAX);
    run(&plan, &mut rest, &mut Memory::default(), &journal.0);
    assert_eq!(rest.asked, [], "nor after it was resumed");
}

#[test]
fn a_sample_is_one_process_from_its_start_to_its_stop() {
    let plan = plan(
        "simple-web-server-2019",
        &SequentialOptions { rounds: Some(2), ..SequentialOptions::default() },
    );
    let mut fake = Fake { fails: Some(1), ..Fake::new(usize::MAX) };
    let mut journal = Memory::default();
    assert_eq!(run(&plan, &mut fake, &mut journal, &[]), Ending::Complete);
    for sample in journal.0.iter().filter_map(Record::sample) {
        let process = sample.host.process.as_ref();
        match &sample.outcome {
            SampleOutcome::Failed { reason } => {
                assert_eq!((sample.row, reason.as_str(), process), (1, "wrong after the load", None));
            }
            _ => assert_eq!(process.map(|process| process.rss_bytes_peak), Some(Some(7))),
        }
    }
    let failed = journal.0.iter().filter_map(Record::sample).filter(|sample| !sample.is_measured());
    assert_eq!(failed.count(), 2, "it is tried in every round");
}
