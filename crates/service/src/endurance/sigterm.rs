//! The stage `sigterm`: SIGTERM arrives while requests continue, as in a real restart.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tare_load::{Connections, Generator, Load, LoadError, RunInterval, RunReport, Schedule, Stop, Tally};

use super::evaluate;
use super::{EnduranceTrial, Stage, StageFigures, StageResult};
use crate::drive::{self, RESPONSE_TIMEOUT};
use crate::prove::GRACE;
use tare_host::process::Stopped;

const CONNECTIONS: usize = 16;
/// Number of answers before SIGTERM; a time limit applies as well.
const BUSY_ANSWERS: u64 = 2 * CONNECTIONS as u64;
const BUSY_MOMENT: Duration = Duration::from_millis(200);
const BUSY_WITHIN: Duration = Duration::from_secs(5);
/// Interval of the load's reports.
const INTERVAL: Duration = Duration::from_millis(20);
/// The load ends with the service; this is a last resort.
const LOAD_MAX: Duration = Duration::from_secs(30);
const DRAIN: Duration = Duration::from_millis(500);

pub(super) fn under_load(trial: EnduranceTrial<'_>) -> StageResult {
    // A service that is known to fail with a crowd gets fewer connections.
    let total = match trial.known_failure(Stage::Crowd) {
        Some(_) => trial.threads.min(CONNECTIONS),
        None => CONNECTIONS,
    };
    let connections = Connections { total, threads: 1 };
    let seed = trial.seed ^ (Stage::Sigterm as u64 + 1);
    let mut generator = match trial.generator(connections, seed) {
        Ok(generator) => generator,
        Err(error) => return StageResult::failed(Stage::Sigterm, error.to_string()),
    };
    let progress = LoadProgress::default();
    let (report, stopped) = thread::scope(|scope| {
        let loading = scope.spawn(|| progress.while_loading(&mut generator));
        progress.wait_until_busy();
        progress.signalled.store(true, Ordering::SeqCst);
        let stopped = trial.ready.process.stop(GRACE);
        progress.over.store(true, Ordering::Relaxed);
        (loading.join().expect("the generator does not panic"), stopped)
    });
    match report {
        Ok(report) => found(&progress.before(), &report, &stopped),
        Err(error) => StageResult::failed(Stage::Sigterm, error.to_string()),
    }
}

fn found(before: &Tally, report: &RunReport, stopped: &Stopped) -> StageResult {
    let tally = &report.total.tally;
    let first = report.first_failure.as_ref().map(drive::describe);
    let (outcome, note) = evaluate::sigterm(before, tally, first.as_deref(), stopped);
    let figures = Some(StageFigures::of(tally, report.elapsed_ns));
    StageResult { stage: Stage::Sigterm, outcome, note, figures }
}

/// Shared by the load and the thread that sends SIGTERM.
#[derive(Default)]
struct LoadProgress {
    answered: AtomicU64,
    /// Set before SIGTERM is sent, which may cause later failures.
    signalled: AtomicBool,
    before: Mutex<Tally>,
    over: Arc<AtomicBool>,
}

impl LoadProgress {
    fn while_loading(&self, generator: &mut Generator) -> Result<RunReport, LoadError> {
        let stop = Stop::after(LOAD_MAX, DRAIN);
        let mut load = Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT);
        load.interval = Some(INTERVAL);
        generator.run_watched(&load, &self.over, &mut |interval| self.observe(interval))
    }

    fn observe(&self, interval: &RunInterval) {
        let tally = interval.measures.tally;
        self.answered.fetch_add(tally.answered, Ordering::Relaxed);
        if !self.signalled.load(Ordering::SeqCst) {
            *self.before.lock().unwrap_or_else(PoisonError::into_inner) += tally;
        }
    }

    fn wait_until_busy(&self) {
        let began = Instant::now();
        while self.answered.load(Ordering::Relaxed) < BUSY_ANSWERS && began.elapsed() < BUSY_WITHIN {
            thread::sleep(INTERVAL);
        }
        thread::sleep(BUSY_MOMENT);
    }

    fn before(&self) -> Tally {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
