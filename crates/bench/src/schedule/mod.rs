//! The order of an experiment in time. Knows no process, no socket and no clock of its own: an [`Executor`] does what it says, so
//! that all of it can be tested without time.

mod failure;
mod interleaved;
mod resume;
pub mod searches;
mod sequential;
mod starts;

use std::time::Duration;

pub use failure::{CutOff, ExecutorError, InstrumentFailure, RowFailure};
use resume::ResumeState;
pub use sequential::order;
use starts::{Noise, StartCost, blocks_per_start, division};

use crate::{
    experiment::Rate,
    plan::{Order, Plan},
    record::{Ending, Journal, Pilot, Record, Stopped},
    sample::{LoadResult, Sample},
    sample_agents::DiscardedSlice,
};

/// One service at one point in one round, by places in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    pub block: usize,
    pub round: usize,
    pub point: usize,
    pub row: usize,
}

/// Does what the schedule says. Rows are given by their place in the plan, and have one process at a time. Whatever call
/// fails for a row has stopped that row's service before it returns.
pub trait Executor {
    /// A fresh process that is loaded until it is steady, and left frozen: for [`start`](Executor::start) or to be released. It is
    /// loaded in turns with a process of another row, which is warm at once. The row is filled in by the schedule.
    ///
    /// # Errors
    /// If the service fails, or the instrument.
    fn pilot(&mut self, row: usize, beside: Option<usize>) -> Result<Pilot, ExecutorError>;
    /// Ends the process that a pilot left. How long that took, in ns.
    fn release(&mut self, row: usize) -> u64;
    /// The process that a pilot left, or a fresh one, proved ready, connected, warmed up for so long in all and frozen. The time to
    /// its first answer; absent for a server that ran already.
    ///
    /// # Errors
    /// If the service fails, or the instrument.
    fn start(&mut self, slot: Slot, warm_up_ns: u64) -> Result<Option<Duration>, ExecutorError>;
    /// The process that was kept from an earlier block: thawed, warmed up for so long and frozen again.
    ///
    /// # Errors
    /// If the service fails, or the instrument.
    fn wake(&mut self, row: usize, warm_up_ns: u64) -> Result<(), ExecutorError>;
    /// Thawed, loaded until the load of the point has ended, frozen again. `draw` varies its requests; `per_second` is the rate
    /// of an open loop. Places and rate are filled in by the schedule.
    ///
    /// # Errors
    /// If the service fails, or the instrument; or if this slice alone has no figures, and the service goes on.
    fn sample(&mut self, slot: Slot, draw: u64, per_second: Option<f64>) -> Result<Sample, ExecutorError>;
    /// Stopped for good; `block` names the files it leaves. Places are filled in by the schedule.
    ///
    /// # Errors
    /// If the service fails: it was wrong after the load, had died, or cannot be stopped.
    fn stop(&mut self, row: usize, block: usize) -> Result<Stopped, ExecutorError>;
    fn now_ns(&self) -> u64;
    /// True once the user wants to stop.
    fn interrupted(&self) -> bool;
}

/// Is given what happens: for progress on a screen.
pub trait Watch {
    /// A fresh process is about to be measured, and stopped again. `done` samples were taken before it; `left` may still be to come.
    fn begins(&mut self, _slot: Slot, _done: usize, _left: Duration) {}
    /// A record was stored; so much of the run may still be to come.
    fn on_record(&mut self, record: &Record, left: Duration);
}

/// Decides when the question is answered. It is given every record after it was stored, those of an earlier part of the run
/// first.
pub trait StopRule {
    fn on_record(&mut self, _record: &Record) {}
    /// Asked after each block: whether there is nothing more to find out.
    fn is_decided(&mut self) -> bool {
        false
    }
    /// Asked before each slice of an open loop: the rate, for a row by its place and what it answered a second in the closed
    /// loops of the block. None leaves the slice out. If nothing is searched for, the plan's.
    fn rate(&mut self, _row: usize, rate: Rate, capacity_per_second: f64) -> Option<f64> {
        Some(rate.per_second(capacity_per_second))
    }
}

/// The budget alone ends the run.
impl StopRule for () {}

/// What a schedule works with.
#[derive(Debug)]
pub struct Parts<'a, E, J, W, D> {
    pub executor: &'a mut E,
    pub journal: &'a mut J,
    pub watch: &'a mut W,
    pub stop_rule: &'a mut D,
}

/// Runs an experiment to its end. `past` are the records of an earlier part of it that was cut off; none for a new one.
///
/// # Errors
/// If a record cannot be stored, or the instrument fails. Nothing that was started is left running then, and the journal has no
/// end.
pub fn run<E: Executor, J: Journal, W: Watch, D: StopRule>(
    plan: &Plan,
    parts: Parts<'_, E, J, W, D>,
    past: &[Record],
) -> Result<Ending, CutOff> {
    match plan.order {
        Order::Interleaved(_) => interleaved::run(plan, parts, past),
        Order::Sequential => sequential::run(plan, parts, past),
    }
}

impl<E, J: Journal, W: Watch, D: StopRule> Parts<'_, E, J, W, D> {
    /// Stores a record, and passes it on.
    fn keep(&mut self, record: &Record, left: Duration) -> Result<(), CutOff> {
        self.journal.append(record)?;
        self.stop_rule.on_record(record);
        self.watch.on_record(record, left);
        Ok(())
    }
}

/// What a service answered in closed loops.
#[derive(Debug, Clone, Copy, Default)]
struct Capacity {
    answered: u64,
    window_ns: u64,
}

impl Capacity {
    fn add(&mut self, load: &LoadResult) {
        self.answered += load.answered_in_window;
        self.window_ns += load.window_ns;
    }

    fn per_second(&self) -> f64 {
        if self.window_ns == 0 { 0.0 } else { self.answered as f64 / self.window_ns as f64 * 1e9 }
    }
}

impl Slot {
    pub fn of(sample: &Sample) -> Slot {
        Slot { block: sample.block, round: sample.round, point: sample.point, row: sample.row }
    }

    /// The sample, as taken in this slot at this rate.
    fn fill(self, mut sample: Sample, per_second: Option<f64>) -> Sample {
        let Slot { block, round, point, row } = self;
        sample.load.offered_per_second = per_second;
        Sample { block, round, point, row, ..sample }
    }

    fn fill_discarded(self, slice: DiscardedSlice, per_second: Option<f64>) -> DiscardedSlice {
        let Slot { block, round, point, row } = self;
        DiscardedSlice { block, round, point, row, is_closed: per_second.is_none(), ..slice }
    }
}
