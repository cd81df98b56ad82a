//! `tare cluster status`: the progress of the jobs of a batch.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use tare_base::units::parse_time;
use tare_cluster::{Batch, BatchStatus, JobState};
use tare_host::signals;

use super::{BatchOptions, batch::BatchView, report, states};
use crate::{exit::Outcome, output, progress::Progress};

/// The longest time for which a batch is watched on a terminal.
const WATCHED_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// The shortest and the longest interval between two queries of an engine.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];
const TICK: Duration = Duration::from_millis(50);

/// Show how far the jobs of a batch are
///
/// On a terminal the table is drawn anew until every job has ended; Ctrl-C ends that, and no job. Elsewhere it is printed once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare cluster status /shared/tare/quick-1f0c2a9b7d3e                 on a terminal: until every job has ended
  tare cluster status /shared/tare/quick-1f0c2a9b7d3e --wait 2h       wait for the end, for two hours at most
  tare cluster status /shared/tare/quick-1f0c2a9b7d3e --json          once, for a program

Exit codes: 0 every job has left a bundle, or may still leave one, 1 usage error, 5 a job ended without a bundle, or --wait was over \
before the jobs were, 130 or 143 interrupted.")]
pub(super) struct Args {
    #[command(flatten)]
    batch: BatchOptions,
    /// Wait until every job has ended, for at most this time [default: as long as it takes on a terminal, else not at all]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    wait: Option<Duration>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let batch = args.batch.open()?;
    let is_live = !args.batch.is_json() && output::is_on_terminal();
    let status = match args.wait.or(is_live.then_some(WATCHED_MAX)) {
        Some(time) => watch(&batch, time)?,
        None => look(&batch)?,
    };
    if let Some(error) = &status.engine_error {
        tare_host::message!("{}: {error}", output::paint("33", "warning"));
    }
    args.batch.print(&status, || report::table(&status))?;
    Ok(match status.count(JobState::Missing) > 0 || args.wait.is_some() && !status.is_settled() {
        true => Outcome::Inconclusive,
        false => Outcome::Fine,
    })
}

/// An engine that does not answer is a temporary state; one that is not installed is an error.
pub(super) fn look(batch: &Batch) -> anyhow::Result<BatchStatus> {
    match states(batch) {
        Ok(states) => Ok(BatchStatus::of(batch, Ok(&states))),
        Err(error) if error.is_passing() => Ok(BatchStatus::of(batch, Err(&error))),
        Err(error) => Err(error.into()),
    }
}

/// Queries until the batch has ended, the time is over, or the user interrupts.
fn watch(batch: &Batch, time: Duration) -> anyhow::Result<BatchStatus> {
    let interrupt = signals::listen()?;
    let progress = Progress::new(false);
    let mut view = BatchView::open(&progress);
    let began = Instant::now();
    loop {
        let status = look(batch)?;
        let is_over = status.is_settled() || began.elapsed() >= time || interrupt.load(Ordering::Relaxed);
        if is_over {
            return Ok(status);
        }
        view.draw(&batch.name(), &status, batch.list.head.expected_s);
        pause(began.elapsed(), &interrupt);
    }
}

/// Pauses longer the longer the batch runs.
fn pause(elapsed: Duration, interrupt: &AtomicBool) {
    let pause = (elapsed / 20).clamp(PAUSES[0], PAUSES[1]);
    let began = Instant::now();
    while began.elapsed() < pause && !interrupt.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
    }
}
