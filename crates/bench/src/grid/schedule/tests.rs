use super::*;
use crate::{
    grid::{fixture::plan, plan::Options},
    sample::Hung,
};

/// Answers every cell at once, and is interrupted after this many.
struct Fake {
    left: usize,
    asked: Vec<Cell>,
    gets_stuck: Option<usize>,
}

impl Executor for Fake {
    fn cell(&mut self, cell: Cell) -> Option<Sample> {
        self.asked.push(cell);
        self.left = self.left.checked_sub(1)?;
        let outcome = match self.gets_stuck == Some(cell.row) {
            true => Outcome::Hung(Hung::default()),
            false => Outcome::Measured,
        };
        Some(Sample { outcome, ..Sample::default() })
    }

    fn now_ns(&self) -> u64 {
        0
    }

    fn interrupted(&self) -> bool {
        false
    }
}

#[derive(Default)]
struct Memory(Vec<Record>);

impl Journal for Memory {
    fn append(&mut self, record: &Record) -> io::Result<()> {
        self.0.push(record.clone());
        Ok(())
    }
}

struct Nobody;

impl Watch for Nobody {
    fn begins(&mut self, _: Cell, _: usize, _: Duration) {}
    fn ended(&mut self, _: &Sample) {}
}

fn go_on(plan: &GridPlan, cells: usize, journal: &mut Memory) -> (Ending, Vec<Cell>) {
    let mut fake = Fake { left: cells, asked: Vec::new(), gets_stuck: None };
    let past = journal.0.clone();
    let ending = run(plan, &mut fake, journal, &mut Nobody, &past).unwrap();
    (ending, fake.asked)
}

#[test]
fn a_round_has_every_cell_once_and_points_stay_together() {
    let plan = plan("rest-cpp-2020", &Options { rounds: Some(2), ..Options::default() });
    let order = order(&plan);
    assert_eq!(order.len(), plan.cells());
    assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), plan.cells());
    assert!(order.is_sorted_by_key(|cell| cell.round));
    let mut points: Vec<(usize, usize)> = order.iter().map(|cell| (cell.round, cell.point)).collect();
    points.dedup();
    assert_eq!(points.len(), 2 * plan.points.len(), "no point is taken up again in a round");
    let of_round =
        |round| order.iter().filter(move |cell| cell.round == round).map(|cell| (cell.point, cell.row));
    assert!(!of_round(0).eq(of_round(1)), "each round has an order of its own");
}

#[test]
fn wherever_it_is_interrupted_a_grid_loses_at_most_the_cell_in_flight() {
    let plan = plan("simple-web-server-2019", &Options { rounds: Some(3), ..Options::default() });
    let (whole, in_order) = go_on(&plan, usize::MAX, &mut Memory::default());
    assert_eq!((whole, in_order.len()), (Ending::Complete, plan.cells()));
    for cut in 0..plan.cells() {
        let mut journal = Memory::default();
        let (ending, first) = go_on(&plan, cut, &mut journal);
        assert_eq!((ending, first.len()), (Ending::Interrupted, cut + 1));
        let (ending, rest) = go_on(&plan, usize::MAX, &mut journal);
        assert_eq!(ending, Ending::Complete);
        assert_eq!([&first[..cut], &rest[..]].concat(), in_order, "cut after {cut}");
    }
}

#[test]
fn what_got_stuck_once_is_not_asked_again_at_that_point() {
    let plan = plan("simple-web-server-2019", &Options { rounds: Some(3), ..Options::default() });
    let mut fake = Fake { left: usize::MAX, asked: Vec::new(), gets_stuck: Some(1) };
    let mut journal = Memory::default();
    run(&plan, &mut fake, &mut journal, &mut Nobody, &[]).unwrap();
    let of_row = |row: usize| fake.asked.iter().filter(|cell| cell.row == row).count();
    assert_eq!([of_row(0), of_row(1), of_row(2)], [3, 1, 3]);
    let mut rest = Fake { left: usize::MAX, asked: Vec::new(), gets_stuck: None };
    run(&plan, &mut rest, &mut Memory::default(), &mut Nobody, &journal.0).unwrap();
    assert_eq!(rest.asked, [], "nor after it was resumed");
}
