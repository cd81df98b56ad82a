//! Warm-up load on a fresh process.

use std::time::Duration;

use tare_base::{Clock, Monotonic};
use tare_load::{Load, RequestQuota, RunReport, Schedule, Stop, Waiting};
use tare_service::drive::{self, RESPONSE_TIMEOUT};

use super::{Bench, load::has_descriptors, process::Running};
use crate::schedule::{Executor, ExecutorError, RowFailure};

impl Bench<'_> {
    /// Warms a process up, and leaves it frozen.
    pub(super) fn settle(&self, running: &mut Running, warm_up_ns: u64) -> Result<(), ExecutorError> {
        if warm_up_ns > 0 && self.plan.points[running.slot.point].load.opens_before() {
            self.lend_cpus(running);
            self.warm_up(running, warm_up_ns)?;
        }
        self.freeze(running)
    }

    /// Lends the generator's CPUs to the compilers of a fresh process, unless all warm-ups are equal.
    pub(super) fn lend_cpus(&self, running: &Running) {
        let pinning = self.pinning(running);
        if self.lends(running) {
            running.ready.process.place_compilers(&pinning.server, &pinning.all());
        }
    }

    fn lends(&self, running: &Running) -> bool {
        !running.is_warm && self.pinning(running).apart() && self.plan.blocks().warm_up_ns_max.is_some()
    }

    /// Freezes the service, then restores its CPUs. A frozen service starts no thread that would inherit the
    /// lent CPUs.
    pub(super) fn freeze(&self, running: &Running) -> Result<(), ExecutorError> {
        let pinning = self.pinning(running);
        running.ready.freeze()?;
        if self.lends(running) {
            running.ready.process.place_compilers(&pinning.all(), &pinning.server);
        }
        Ok(())
    }

    /// Saturates the service over the connections of the load.
    pub(super) fn warm_up(&self, running: &mut Running, window_ns: u64) -> Result<RunReport, ExecutorError> {
        let load = self.plan.points[running.slot.point].for_generator(0.0);
        let stop = Stop::after(Duration::from_nanos(window_ns), load.stop.drain);
        // A polling generator would occupy the lent CPU.
        let waiting = if self.lends(running) { Waiting::Sleep } else { self.waiting(running) };
        let load = Load { schedule: Schedule::SATURATE, stop, waiting, ..load };
        let report = match running.is_warm {
            true => self.load_aside(running, &load)?,
            false => running.generator.run(&load, &self.interrupt)?,
        };
        running.asked_ns = Monotonic.now_ns();
        running.not_measured(&self.contracts[running.slot.point], &report);
        running.failed_in_warm_up += report.total.tally.failed;
        if fell_silent(&report) && self.plan.rows[running.slot.row].known_failure.is_none() {
            self.ask_once_more(running)?;
        }
        self.alive(running, "while it was warmed up")?;
        Ok(report)
    }

    /// Repeats the requests with their full time limit, because a busy machine may explain silence.
    fn ask_once_more(&self, running: &mut Running) -> Result<(), ExecutorError> {
        let connections = self.plan.points[running.slot.point].load.connections().total;
        let stop =
            Stop::count(RequestQuota::Requests(connections as u64), RESPONSE_TIMEOUT, RESPONSE_TIMEOUT);
        let load = Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT);
        let report = running.generator.run(&load, &self.interrupt)?;
        running.asked(&self.contracts[running.slot.point], &report);
        has_descriptors(&report)?;
        self.alive(running, "while it was warmed up")?;
        match report.total.tally.answered {
            0 if !self.interrupted() => {
                let reason = drive::no_right_answer(&report);
                Err(RowFailure(reason + &running.stands_still()).into())
            }
            _ => Ok(()),
        }
    }
}

/// Whether a load had no answer, or none after its window: the service may have stopped.
fn fell_silent(report: &RunReport) -> bool {
    let tally = &report.total.tally;
    tally.answered == 0 || (tally.in_flight > 0 && tally.answered == tally.answered_in_window)
}

#[cfg(test)]
mod tests {
    use tare_load::{Measures, Tally};

    use super::*;

    #[test]
    fn a_service_that_stops_in_its_warm_up_fell_silent() {
        let report = |answered, answered_in_window, in_flight| {
            let tally = Tally { answered, answered_in_window, in_flight, ..Tally::default() };
            RunReport::usual(1, Measures { tally, ..Measures::default() })
        };
        assert!(fell_silent(&report(0, 0, 0)) && fell_silent(&report(900, 900, 16)));
        assert!(!fell_silent(&report(900, 890, 0)), "the last answers came in the drain");
        assert!(!fell_silent(&report(900, 890, 2)), "some came in the drain");
        assert!(!fell_silent(&report(900, 900, 0)), "none was waited for");
    }
}
