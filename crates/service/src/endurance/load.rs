//! The stages that are loads of a known size: `long-connection` and `crowd`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_load::{Connections, Generator, Load, LoadError, RequestQuota, RunReport, Schedule, Stop};

use super::evaluate::{self, Wanted};
use super::{EnduranceTrial, Stage, StageFigures, StageResult};
use crate::drive::{self, RESPONSE_TIMEOUT};
use crate::verify::CheckOutcome;

const LONG_REQUESTS: u64 = 10_000;
const CROWD_CONNECTIONS: usize = 64;
/// Requests of each connection rather than of all: a service must not serve only the first few.
const CROWD_REQUESTS_EACH: u64 = 100;
/// Time limit of a stage; a slow but correct service sends fewer answers.
pub(super) const WITHIN: Duration = Duration::from_secs(30);
/// Longer than a request's time limit, so that each request ends as answered or failed.
const DRAIN: Duration = Duration::from_secs(6);
/// Interval of checks for failures and of memory readings.
const INTERVAL: Duration = Duration::from_millis(50);

pub(super) fn long_connection(trial: &EnduranceTrial<'_>) -> StageResult {
    let wanted = Wanted { requests: LONG_REQUESTS, connections: Some(1), within: WITHIN };
    load(trial, Stage::LongConnection, 1, RequestQuota::Requests(LONG_REQUESTS), &wanted)
}

pub(super) fn crowd(trial: &EnduranceTrial<'_>) -> StageResult {
    let wanted = Wanted {
        requests: CROWD_CONNECTIONS as u64 * CROWD_REQUESTS_EACH,
        connections: trial.must_keep().then_some(CROWD_CONNECTIONS as u64),
        within: WITHIN,
    };
    load(trial, Stage::Crowd, CROWD_CONNECTIONS, RequestQuota::RequestsEach(CROWD_REQUESTS_EACH), &wanted)
}

fn load(
    trial: &EnduranceTrial<'_>,
    stage: Stage,
    total: usize,
    quota: RequestQuota,
    wanted: &Wanted,
) -> StageResult {
    let connections = Connections { total, threads: 1 };
    let seed = trial.seed ^ (stage as u64 + 1);
    let stop = Stop::count(quota, wanted.within, DRAIN);
    let load = Load { interval: Some(INTERVAL), ..Load::new(Schedule::SATURATE, stop, RESPONSE_TIMEOUT) };
    let generator = trial.generator(connections, seed);
    let report = generator.map_err(|error| error.to_string()).and_then(|mut generator| {
        until_one_fails(trial, &mut generator, &load).map_err(|error| error.to_string())
    });
    // The generator and its connections are gone, so the next stage has the service to itself.
    let report = match report {
        Ok(report) => report,
        Err(error) => return StageResult::failed(stage, error),
    };
    let first = report.first_failure.as_ref().map(drive::describe);
    let (outcome, note) = match trial.interrupt.load(Ordering::Relaxed) {
        true => (CheckOutcome::Skipped("interrupted".to_owned()), None),
        false => evaluate::load(&report.total.tally, first.as_deref(), wanted, report.elapsed_ns),
    };
    let figures = Some(StageFigures::of(&report.total.tally, report.elapsed_ns));
    StageResult { stage, outcome, note, figures }
}

/// Stops the load at the first failure: a service that starves connections would take the whole time.
fn until_one_fails(
    trial: &EnduranceTrial<'_>,
    generator: &mut Generator,
    load: &Load,
) -> Result<RunReport, LoadError> {
    let over = Arc::new(AtomicBool::new(false));
    generator.run_watched(load, &over, &mut |interval| {
        let tally = &interval.measures.tally;
        trial.memory.add(tally.answered, trial);
        let failed = tally.failed.total() + tally.connection_failed.total() > 0;
        if failed || trial.interrupt.load(Ordering::Relaxed) {
            over.store(true, Ordering::Relaxed);
        }
    })
}
