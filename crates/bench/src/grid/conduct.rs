//! The order of a grid in time: rounds, in each all points in random order, at each all services in random order. A service that
//! got stuck at a point is not asked again there: each time would cost a deadline and tell the same. Knows no process, no socket
//! and no clock of its own.

use std::{collections::BTreeSet, io, time::Duration};

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{
    plan::GridPlan,
    record::{Cell, CellRecord, Ending, Outcome, Record},
};
use crate::run::campaign::Journal;

/// Carries out what the grid orders.
pub trait Executor {
    /// A fresh service, loaded until the load has ended, and stopped. None where the user interrupted it: half a cell is none.
    fn cell(&mut self, cell: Cell) -> Option<Outcome>;
    /// Time that only moves forward.
    fn now_ns(&self) -> u64;
    /// True once the user wants to stop.
    fn interrupted(&self) -> bool;
}

/// Hears of what goes on: for progress on a screen.
pub trait Watch {
    /// A cell begins; about so much time is left.
    fn begins(&mut self, cell: Cell, done: usize, left: Duration);
    /// A cell has ended and was kept.
    fn ended(&mut self, record: &CellRecord);
}

/// Measures all cells of `plan` that `past` does not have.
pub fn conduct(
    plan: &GridPlan,
    executor: &mut impl Executor,
    journal: &mut impl Journal<Record>,
    watch: &mut impl Watch,
    past: &[Record],
) -> io::Result<Ending> {
    let began_ns = executor.now_ns();
    let done: BTreeSet<Cell> = past.iter().filter_map(cell_of).collect();
    let cells: Vec<Cell> = order(plan).into_iter().filter(|cell| !done.contains(cell)).collect();
    let mut stuck: BTreeSet<(usize, usize)> = past.iter().filter_map(stuck_at).collect();
    let mut left_ns: u64 = cells.iter().map(|cell| plan.points[cell.point].expected_ns()).sum();
    let mut ending = Ending::Complete;
    for (index, &cell) in cells.iter().enumerate() {
        left_ns = left_ns.saturating_sub(plan.points[cell.point].expected_ns());
        if stuck.contains(&(cell.point, cell.row)) {
            continue;
        }
        watch.begins(cell, done.len() + index, Duration::from_nanos(left_ns));
        let outcome = if executor.interrupted() { None } else { executor.cell(cell) };
        let Some(outcome) = outcome else {
            ending = Ending::Interrupted;
            break;
        };
        let record = Record::Cell(Box::new(CellRecord { cell, outcome }));
        journal.append(&record)?;
        stuck.extend(stuck_at(&record));
        if let Record::Cell(record) = &record {
            watch.ended(record);
        }
    }
    journal.append(&Record::Ended { reason: ending, elapsed_ns: executor.now_ns() - began_ns })?;
    Ok(ending)
}

fn cell_of(record: &Record) -> Option<Cell> {
    match record {
        Record::Cell(record) => Some(record.cell),
        Record::Ended { .. } => None,
    }
}

fn stuck_at(record: &Record) -> Option<(usize, usize)> {
    let Record::Cell(record) = record else { return None };
    matches!(record.outcome, Outcome::Stuck { .. }).then_some((record.cell.point, record.cell.row))
}

/// All cells, in the order of the seed: the same however often a grid is cut off.
pub fn order(plan: &GridPlan) -> Vec<Cell> {
    let mut cells = Vec::new();
    for round in 0..plan.rounds() {
        let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
        random.set_stream(round as u64);
        let mut points: Vec<usize> =
            (0..plan.points.len()).filter(|point| plan.points[*point].rounds > round).collect();
        points.shuffle(&mut random);
        for point in points {
            let mut rows: Vec<usize> = plan.members(&plan.points[point]).collect();
            rows.shuffle(&mut random);
            cells.extend(rows.into_iter().map(|row| Cell { round, point, row }));
        }
    }
    cells
}

#[cfg(test)]
mod tests;
