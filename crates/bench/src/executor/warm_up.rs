//! Load on a fresh process before anything counts, and the pilot that finds how much of it a service needs.

use std::time::Duration;

use tare_load::{Clock, Load, Monotonic, Quota, RunReport, Schedule, Stop};
use tare_service::{
    drive::{self, RESPONSE_TIMEOUT},
    prove::GRACE,
};

use super::{Bench, failure, process::Running, steady::steady_from};
use crate::{
    record::Pilot,
    schedule::{Executor, RowFailure, Slot},
};

/// Length of a window of a warm-up curve.
const PILOT_WINDOW_NS: u64 = 250_000_000;

impl Bench<'_> {
    /// Warmed up and frozen.
    pub(super) fn settle(&self, running: &mut Running, warm_up_ns: u64) -> Result<(), RowFailure> {
        if warm_up_ns > 0 && self.plan.points[running.slot.point].load.opens_before() {
            self.warm_up(running, warm_up_ns)?;
        }
        running.ready.process.freeze().map_err(failure)
    }

    /// In a closed loop without time to think, over the connections of the load.
    fn warm_up(&self, running: &mut Running, window_ns: u64) -> Result<RunReport, RowFailure> {
        let load = self.plan.points[running.slot.point].for_generator(0.0);
        let stop = Stop::after(Duration::from_nanos(window_ns), load.stop.drain);
        let load = Load { schedule: Schedule::SATURATE, stop, waiting: self.waiting(running), ..load };
        let report = running.generator.run(&load, &self.interrupt).map_err(failure)?;
        if report.total.tally.answered == 0 && self.plan.rows[running.slot.row].known_failure.is_none() {
            self.ask_once_more(running)?;
        }
        self.alive(running, "while it was warmed up")?;
        Ok(report)
    }

    /// A window without an answer says little if it was short and the machine busy: once more, with all the time that a
    /// request has.
    fn ask_once_more(&self, running: &mut Running) -> Result<(), RowFailure> {
        let connections = self.plan.points[running.slot.point].load.connections().total;
        let stop = Stop::count(Quota::Requests(connections as u64), RESPONSE_TIMEOUT, RESPONSE_TIMEOUT);
        let load = Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT);
        let report = running.generator.run(&load, &self.interrupt).map_err(failure)?;
        self.alive(running, "while it was warmed up")?;
        match report.total.tally.answered {
            0 if !self.interrupted() => Err(RowFailure(drive::no_right_answer(&report))),
            _ => Ok(()),
        }
    }

    /// Loads a fresh process window by window until its cost is steady, or it had the longest time.
    pub(super) fn warm_up_curve(&self, row: usize) -> Result<Pilot, RowFailure> {
        let began_ns = Monotonic.now_ns();
        // Requests of their own: no block has this number.
        let slot = Slot { block: usize::MAX >> 48, round: 0, point: 0, row };
        let mut running = self.launch(slot, "pilot")?;
        let longest_ns = self.plan.blocks().warm_up_ns_max.unwrap_or(self.plan.warm_up_ns());
        let (mut answered, mut cpu_ns, mut costs) = (Vec::new(), Vec::new(), Vec::new());
        let mut steady = None;
        while steady.is_none() && costs.len() as u64 * PILOT_WINDOW_NS < longest_ns && !self.interrupted() {
            let before = running.ready.process.cpu_ns().map_err(failure)?;
            let report = self.warm_up(&mut running, PILOT_WINDOW_NS)?;
            let cpu = running.ready.process.cpu_ns().map_err(failure)?.saturating_sub(before);
            answered.push(report.total.tally.answered);
            cpu_ns.push(cpu);
            costs.push(cpu as f64 / report.total.tally.answered.max(1) as f64);
            steady = steady_from(&costs);
        }
        running.generator.close();
        running.ready.process.stop(GRACE);
        let loaded_ns = costs.len() as u64 * PILOT_WINDOW_NS;
        Ok(Pilot {
            row,
            window_ns: PILOT_WINDOW_NS,
            start_ns: (Monotonic.now_ns() - began_ns).saturating_sub(loaded_ns),
            answered,
            server_cpu_ns: cpu_ns,
            steady_after_ns: steady.map(|windows| windows as u64 * PILOT_WINDOW_NS),
        })
    }
}
