//! The order of a sequential experiment in time: rounds, in each all points in random order, at each all services in random order. A
//! service that hung at a point is not measured again there: each time would cost a deadline and show the same. Knows no process,
//! no socket and no clock of its own.

use std::{collections::BTreeSet, io, time::Duration};

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{Cell, plan::GridPlan};
use crate::{
    run::record::{Ended, Ending, Journal, Record},
    sample::{Outcome, Sample},
};

/// Executes what the sequential experiment orders.
pub trait Executor {
    /// A fresh service, loaded until the load has ended, and stopped. Absent if the user interrupted it: half a cell is none.
    /// Places are for the caller to fill in.
    fn cell(&mut self, cell: Cell) -> Option<Sample>;
    /// Time that only moves forward.
    fn now_ns(&self) -> u64;
    /// True once the user wants to stop.
    fn interrupted(&self) -> bool;
}

/// Is given what happens: for progress on a screen.
pub trait Watch {
    /// A cell begins; about so much time is left.
    fn begins(&mut self, cell: Cell, done: usize, left: Duration);
    /// A cell has ended and was kept.
    fn ended(&mut self, sample: &Sample);
}

/// Measures all cells of `plan` that `past` does not have.
///
/// # Errors
/// If a record cannot be stored.
pub fn run(
    plan: &GridPlan,
    executor: &mut impl Executor,
    journal: &mut impl Journal,
    watch: &mut impl Watch,
    past: &[Record],
) -> io::Result<Ending> {
    let began_ns = executor.now_ns();
    let samples = || past.iter().filter_map(sample_of);
    let done: BTreeSet<Cell> = samples().map(Cell::of).collect();
    let cells: Vec<Cell> = order(plan).into_iter().filter(|cell| !done.contains(cell)).collect();
    let mut hung: BTreeSet<(usize, usize)> = samples().filter_map(hung_at).collect();
    let mut left_ns: u64 = cells.iter().map(|cell| plan.points[cell.point].expected_ns()).sum();
    let mut ending = Ending::Complete;
    for (index, &cell) in cells.iter().enumerate() {
        left_ns = left_ns.saturating_sub(plan.points[cell.point].expected_ns());
        if hung.contains(&(cell.point, cell.row)) {
            continue;
        }
        watch.begins(cell, done.len() + index, Duration::from_nanos(left_ns));
        let sample = if executor.interrupted() { None } else { executor.cell(cell) };
        let Some(sample) = sample else {
            ending = Ending::Interrupted;
            break;
        };
        let Cell { round, point, row } = cell;
        let sample = Sample { round, point, row, ..sample };
        hung.extend(hung_at(&sample));
        watch.ended(&sample);
        journal.append(&Record::Sample(Box::new(sample)))?;
    }
    let elapsed_ns = elapsed_ns(past) + executor.now_ns() - began_ns;
    journal.append(&Record::Ended(Ended { reason: ending, elapsed_ns }))?;
    Ok(ending)
}

/// Time that the sessions before this one took; of one that was killed, the time of its loads.
fn elapsed_ns(past: &[Record]) -> u64 {
    past.iter().fold(0, |elapsed_ns, record| match record {
        Record::Ended(ended) => ended.elapsed_ns,
        Record::Sample(sample) => elapsed_ns + sample.load.elapsed_ns,
        _ => elapsed_ns,
    })
}

fn sample_of(record: &Record) -> Option<&Sample> {
    match record {
        Record::Sample(sample) => Some(sample),
        _ => None,
    }
}

fn hung_at(sample: &Sample) -> Option<(usize, usize)> {
    matches!(sample.outcome, Outcome::Hung(_)).then_some((sample.point, sample.row))
}

/// All cells, in the order of the seed: the same however often a sequential experiment is cut off.
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
