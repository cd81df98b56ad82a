//! Load on a fresh process before anything counts.

use std::time::Duration;

use tare_load::{Clock, Load, Monotonic, Quota, RunReport, Schedule, Stop, Waiting};
use tare_service::drive::{self, RESPONSE_TIMEOUT};

use super::{Bench, load::has_descriptors, process::Running};
use crate::schedule::{Executor, ExecutorError, RowFailure};

impl Bench<'_> {
    /// Warmed up and frozen.
    pub(super) fn settle(&self, running: &mut Running, warm_up_ns: u64) -> Result<(), ExecutorError> {
        if warm_up_ns > 0 && self.plan.points[running.slot.point].load.opens_before() {
            self.lend_cpus(running);
            self.warm_up(running, warm_up_ns)?;
        }
        self.freeze(running)
    }

    /// While a fresh process is warmed up its compilers may use the CPUs of the generator too. Where each service has the same
    /// warm-up, as in the published benchmarks, all stays as it is.
    pub(super) fn lend_cpus(&self, running: &Running) {
        let pinning = self.pinning(running);
        if self.lends(running) {
            running.ready.process.place_compilers(&pinning.server, &pinning.all());
        }
    }

    fn lends(&self, running: &Running) -> bool {
        !running.is_warm && self.pinning(running).apart() && self.plan.blocks().warm_up_ns_max.is_some()
    }

    /// Frozen, and on its own CPUs: no thread is started meanwhile that would inherit others.
    pub(super) fn freeze(&self, running: &Running) -> Result<(), ExecutorError> {
        let pinning = self.pinning(running);
        running.ready.freeze()?;
        if self.lends(running) {
            running.ready.process.place_compilers(&pinning.all(), &pinning.server);
        }
        Ok(())
    }

    /// In a closed loop without time to think, over the connections of the load.
    pub(super) fn warm_up(&self, running: &mut Running, window_ns: u64) -> Result<RunReport, ExecutorError> {
        let load = self.plan.points[running.slot.point].for_generator(0.0);
        let stop = Stop::after(Duration::from_nanos(window_ns), load.stop.drain);
        // A generator that polls would take the CPU that was lent.
        let waiting = if self.lends(running) { Waiting::Sleep } else { self.waiting(running) };
        let load = Load { schedule: Schedule::SATURATE, stop, waiting, ..load };
        let report = match running.is_warm {
            true => self.load_aside(running, &load)?,
            false => running.generator.run(&load, &self.interrupt)?,
        };
        running.asked_ns = Monotonic.now_ns();
        running.not_measured(&self.contracts[running.slot.point], &report);
        if report.total.tally.answered == 0 && self.plan.rows[running.slot.row].known_failure.is_none() {
            self.ask_once_more(running)?;
        }
        self.alive(running, "while it was warmed up")?;
        Ok(report)
    }

    /// A window without an answer says little if it was short and the machine busy: once more, with all the time that a
    /// request has.
    fn ask_once_more(&self, running: &mut Running) -> Result<(), ExecutorError> {
        let connections = self.plan.points[running.slot.point].load.connections().total;
        let stop = Stop::count(Quota::Requests(connections as u64), RESPONSE_TIMEOUT, RESPONSE_TIMEOUT);
        let load = Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT);
        let report = running.generator.run(&load, &self.interrupt)?;
        running.asked(&self.contracts[running.slot.point], &report);
        has_descriptors(&report)?;
        self.alive(running, "while it was warmed up")?;
        match report.total.tally.answered {
            0 if !self.interrupted() => Err(RowFailure(drive::no_right_answer(&report)).into()),
            _ => Ok(()),
        }
    }
}
