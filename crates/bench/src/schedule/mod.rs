//! The order of an experiment in time. It uses no process, socket or clock: an [`Executor`] runs its steps,
//! so all of it is tested without real time.

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
    record::{Ending, Journal, Pilot, Record, StoppedService},
    sample::{LoadResult, Sample},
    sample_agents::DiscardedSlice,
};

/// One service at one point in one round, as places in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    pub block: usize,
    pub round: usize,
    pub point: usize,
    pub row: usize,
}

/// Runs the steps of the schedule. Rows are places in the plan, with one process at a time. A call that fails
/// for a row stops that row's service before it returns.
pub trait Executor {
    /// Loads a fresh process until it is steady and leaves it frozen, for [`start`](Executor::start) or
    /// `release`. The load alternates with the quick row `beside`. The schedule fills in the row.
    ///
    /// # Errors
    /// If the service fails, or the instrument.
    fn pilot(&mut self, row: usize, beside: Option<usize>) -> Result<Pilot, ExecutorError>;
    /// Ends the process that a pilot left. Returns how long that took, in ns.
    fn release(&mut self, row: usize) -> u64;
    /// Takes the process that a pilot left, or a fresh one: verified, connected, warmed up for `warm_up_ns`
    /// in all, and frozen. Returns the time to its first answer; absent for a server that ran already.
    ///
    /// # Errors
    /// If the service fails, or the instrument.
    fn start(&mut self, slot: Slot, warm_up_ns: u64) -> Result<Option<Duration>, ExecutorError>;
    /// Thaws a process that was kept from an earlier block, warms it up and freezes it again.
    ///
    /// # Errors
    /// If the service fails, or the instrument.
    fn wake(&mut self, row: usize, warm_up_ns: u64) -> Result<(), ExecutorError>;
    /// Thaws the service, runs the load of the point, and freezes it again. `draw` varies its requests;
    /// `per_second` is the rate of an open loop. The schedule fills in places and rate.
    ///
    /// # Errors
    /// If the service or the instrument fails, or this slice alone has no figures.
    fn sample(&mut self, slot: Slot, draw: u64, per_second: Option<f64>) -> Result<Sample, ExecutorError>;
    /// Stops the process; `block` names the files that it leaves. The schedule fills in places.
    ///
    /// # Errors
    /// If the service fails: wrong answers after the load, death, or no stop.
    fn stop(&mut self, row: usize, block: usize) -> Result<StoppedService, ExecutorError>;
    fn now_ns(&self) -> u64;
    /// Whether the user wants to stop.
    fn interrupted(&self) -> bool;
}

/// Receives events, for progress on a screen.
pub trait Watch {
    /// A fresh process is about to be measured, after `done` samples; `left` is the expected rest.
    fn begins(&mut self, _slot: Slot, _done: usize, _left: Duration) {}
    /// A record was stored; `left` is the expected rest of the run.
    fn on_record(&mut self, record: &Record, left: Duration);
}

/// Decides when the question is answered. It receives every stored record, from the beginning.
pub trait StopRule {
    fn on_record(&mut self, _record: &Record) {}
    /// Called after each block: whether the question is answered.
    fn is_decided(&mut self) -> bool {
        false
    }
    /// Called before each slice of an open loop: the rate for a row with this capacity in the block's closed
    /// loops. `None` omits the slice. Default: the plan's rate.
    fn rate(&mut self, _row: usize, rate: Rate, capacity_per_second: f64) -> Option<f64> {
        Some(rate.per_second(capacity_per_second))
    }
}

/// Only the budget ends the run.
impl StopRule for () {}

/// The collaborators of a schedule.
#[derive(Debug)]
pub struct Parts<'a, E, J, W, D> {
    pub executor: &'a mut E,
    pub journal: &'a mut J,
    pub watch: &'a mut W,
    pub stop_rule: &'a mut D,
}

/// Runs an experiment to its end. `past` has the records of an earlier part; empty for a new run.
///
/// # Errors
/// If a record cannot be stored, or the instrument fails. Every started process is stopped then, and the
/// journal has no end.
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
    /// Stores a record, and passes it to the stopping rule and the watch.
    fn keep(&mut self, record: &Record, left: Duration) -> Result<(), CutOff> {
        self.journal.append(record)?;
        self.stop_rule.on_record(record);
        self.watch.on_record(record, left);
        Ok(())
    }
}

/// How long a service of this plan takes to start and to stop, and then to be warm, in ns, by its pilot. Without one, what is usual.
pub fn start_times_ns(plan: &Plan, pilot: Option<&Pilot>) -> (u64, u64) {
    let cost = pilot.map_or_else(|| StartCost::guess(plan), |pilot| StartCost::of(plan, pilot));
    (cost.start_ns, cost.warm_up_ns)
}

/// Answers of a service in closed loops.
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
