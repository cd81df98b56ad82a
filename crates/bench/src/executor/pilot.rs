//! The pilot: how a fresh process of a service warms up under load, in windows, until its cost is steady.
//!
//! Other programs change the cost as a warm-up does. Two measures separate the two. A window in which others
//! took the CPUs is discarded, and the pilot lasts longer. And the reference is loaded in turns with the
//! service: an influence on both, such as a neighbour on the same core, cancels in the ratio of their costs.

use tare_base::{Clock, Monotonic};
use tare_service::prove::GRACE;

use super::{
    Bench,
    process::{Piloted, Running},
    steady::{Patience, PilotWindow, steady_after, still_falls},
};
use crate::{
    disturbance::taker,
    record::{Pilot, ReferenceWindows},
    schedule::{Executor, ExecutorError, Slot},
};

/// Length of a window of a warm-up curve.
const WINDOW_NS: u64 = 100_000_000;
/// Length of a window of the reference in between.
const BESIDE_NS: u64 = 20_000_000;
/// A pilot with discarded windows may take this multiple of the longest time.
const LONGEST_TIMES: u64 = 2;
/// Seeds the pilots' own requests; no block has this number.
const BLOCK: usize = usize::MAX >> 48;

/// Counts of one window.
struct Counts {
    answered: u64,
    /// Absent if unknown.
    server_cpu_ns: Option<u64>,
    /// Cost of its requests: CPU time, or elapsed time if that is unknown.
    cost_ns: u64,
    taken_ns: u64,
    is_taken: bool,
}

impl Bench<'_> {
    /// Loads a fresh process window by window until its cost is steady or the longest time is over. With a
    /// `reference`, both take turns. The process is left frozen.
    pub(super) fn warm_up_curve(
        &self,
        row: usize,
        reference: &mut Option<Running>,
    ) -> Result<(Pilot, Piloted), ExecutorError> {
        let began_ns = Monotonic.now_ns();
        let mut running = self.launch(Slot { block: BLOCK, round: 0, point: 0, row }, "pilot")?;
        let start_ns = Monotonic.now_ns() - began_ns;
        let mut pilot = Pilot { row, window_ns: WINDOW_NS, start_ns, ..Pilot::default() };
        let mut windows: Vec<PilotWindow> = Vec::new();
        let longest_ns = self.plan.blocks().warm_up_ns_max.unwrap_or(self.plan.warm_up_ns());
        let limit_ns = self.plan.blocks().warm_up_ns_limit.unwrap_or(longest_ns);
        let mut patience = Patience::Left;
        let is_over = |windows: &[PilotWindow], went_on: bool| match went_on {
            false => is_past(windows, longest_ns),
            true => windows.len() as u64 * WINDOW_NS >= limit_ns,
        };
        while pilot.steady_after_ns.is_none() && !self.interrupted() && !is_over(&windows, pilot.went_on) {
            let counts = self.window(&mut running, WINDOW_NS)?;
            let mut window = PilotWindow::of(counts.answered, counts.cost_ns, counts.is_taken);
            pilot.add(&counts);
            match reference.as_mut().map(|reference| self.window(reference, BESIDE_NS)) {
                Some(Ok(counts)) => {
                    window.set_beside(counts.answered, counts.cost_ns);
                    pilot.beside.add(&counts);
                }
                // An error of the reference is not a failure of this service: the pilot continues alone.
                Some(Err(_)) => *reference = None,
                None => {}
            }
            windows.push(window);
            pilot.steady_after_ns = steady_ns(&windows, patience);
            if is_past(&windows, longest_ns) && limit_ns > longest_ns && still_falls(&windows) {
                (patience, pilot.went_on) = (Patience::Over, true);
            }
        }
        pilot.steady_after_ns = pilot.steady_after_ns.or_else(|| steady_ns(&windows, Patience::Over));
        pilot.wrong_aside = running.wrong_aside.take();
        pilot.failed_in_warm_up = std::mem::take(&mut running.failed_in_warm_up);
        Ok((pilot, Piloted { running, loaded_ns: windows.len() as u64 * WINDOW_NS }))
    }

    /// A process of the reference, which warms up quickly, for all pilots.
    pub(super) fn launch_beside(&self, row: usize) -> Result<Running, ExecutorError> {
        let mut running = self.launch(Slot { block: BLOCK, round: 0, point: 0, row }, "pilot-beside")?;
        self.settle(&mut running, WINDOW_NS)?;
        Ok(running)
    }

    /// One window. The process is thawed for it, and frozen before its CPU time is read.
    fn window(&self, running: &mut Running, window_ns: u64) -> Result<Counts, ExecutorError> {
        let cpu_time = running.cpu_time()?;
        running.ready.thaw()?;
        self.lend_cpus(running);
        let before = self.reading(running);
        let report = self.warm_up(running, window_ns)?;
        let after = self.reading(running);
        self.freeze(running)?;
        let server_cpu_ns = running.cpu_ns_since(&cpu_time)?.ok();
        let accounting = after.zip(before).map(|(after, before)| after.since(&before)).unwrap_or_default();
        let pinning = self.pinning(running);
        // Without CPU counters the use by others is unknown.
        let foreign_ns = server_cpu_ns.map_or(0, |server_cpu_ns| {
            accounting.foreign_ns(pinning, server_cpu_ns + report.generator_cpu_ns).max(0)
        });
        Ok(Counts {
            answered: report.total.tally.answered,
            server_cpu_ns,
            cost_ns: server_cpu_ns.unwrap_or(report.elapsed_ns),
            taken_ns: foreign_ns.cast_unsigned(),
            is_taken: taker(report.elapsed_ns, foreign_ns, &accounting, pinning).is_some(),
        })
    }
}

/// Whether a pilot had `ns` of undisturbed windows, or a multiple of that with disturbed ones.
fn is_past(windows: &[PilotWindow], ns: u64) -> bool {
    let sound = windows.iter().filter(|window| !window.is_taken).count() as u64;
    sound * WINDOW_NS >= ns || windows.len() as u64 * WINDOW_NS >= ns.saturating_mul(LONGEST_TIMES)
}

fn steady_ns(windows: &[PilotWindow], patience: Patience) -> Option<u64> {
    steady_after(windows, patience).map(|windows| windows as u64 * WINDOW_NS)
}

pub(super) fn end(mut running: Running) {
    running.generator.close();
    running.ready.process.stop(GRACE);
}

impl Pilot {
    fn add(&mut self, counts: &Counts) {
        self.answered.push(counts.answered);
        self.server_cpu_ns.extend(counts.server_cpu_ns);
        self.taken_ns.push(counts.taken_ns);
        self.discarded += usize::from(counts.is_taken);
    }
}

impl ReferenceWindows {
    fn add(&mut self, counts: &Counts) {
        self.answered.push(counts.answered);
        self.server_cpu_ns.extend(counts.server_cpu_ns);
    }
}
