//! `tare cluster cancel`: ends the jobs of a batch.

use std::time::{Duration, Instant};

use anyhow::ensure;

use super::{BatchOptions, report, status};
use crate::exit::Outcome;

/// A cancelled job has half a minute to stop its services.
const ENDED_WITHIN: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);

/// End the jobs of a batch, those that wait and those that run
///
/// Bundles that have arrived stay: `tare cluster collect` takes them, and to submit the list again runs what is missing. With `--clean-up`
/// nothing of the batch is left on the engine, and nothing in the store of jobs that did not end.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare cluster cancel /shared/tare/quick-1f0c2a9b7d3e                end its jobs
  tare cluster cancel /shared/tare/quick-1f0c2a9b7d3e --clean-up     and remove what they left unfinished

Exit codes: 0 fine, 1 usage error, or the engine refused.")]
pub(super) struct Args {
    #[command(flatten)]
    batch: BatchOptions,
    /// Wait until the jobs have ended, and remove what the engine keeps of them, and bundles that are not whole
    #[arg(long)]
    clean_up: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let batch = args.batch.open()?;
    let _alone = batch.lock()?;
    let engine = tare_cluster::engine(batch.head.engine);
    engine.cancel(&batch)?;
    let mut now = status::look(&batch)?;
    if args.clean_up {
        let began = Instant::now();
        while !now.is_settled() {
            ensure!(began.elapsed() < ENDED_WITHIN, "jobs still run: {}", now.summary());
            std::thread::sleep(PAUSE);
            now = status::look(&batch)?;
        }
        engine.clean_up(&batch)?;
        let removed = batch.sweep()?;
        tare_host::message!("removed {removed} bundles that were not whole; those that are whole stay");
    }
    args.batch.print(&now, || report::table(&now))?;
    Ok(Outcome::Fine)
}
