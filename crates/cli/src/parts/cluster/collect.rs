//! `tare cluster collect`: checks the bundles of a batch that have arrived, and reports what is missing.

use std::path::{Path, PathBuf};

use tare_base::units::parse_size;
use tare_cluster::{BatchStatus, Collected, CollectedJob, JobState, collect};
use tare_report::{gather::gather, kept};

use super::{BatchOptions, listen, status};
use crate::{exit::Outcome, output::paint};

/// Check the bundles that have arrived, and print the runs that may be merged
///
/// Each bundle is checked once: every file has its hash, the run is the one that the job asks for, and its figures are computed again
/// from its samples. The first whole bundle of a job counts; others of the same job are kept aside and named. Jobs without a bundle are
/// named as missing, each with its reason. The folders of the runs are printed to stdout, one a line.
///
/// With `--listen` it first receives the bundles that jobs push which were submitted with `--push`: until each job has left one, or until
/// Ctrl-C. It may be ended at any instant and started again: jobs try for ten minutes. Requests and answers are shown to be of the batch by
/// its token, which is in none of them. Nothing is encrypted: across networks that are not yours use a tunnel, such as ssh -L.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare cluster collect /shared/tare/quick-1f0c2a9b7d3e             the folders of its runs, and what is missing
  tare cluster collect /shared/tare/quick-1f0c2a9b7d3e --json      with everything that is known of each bundle
  tare cluster collect batches/quick-1f0c2a9b7d3e --listen 10.0.0.1:7070
                                                           receive the bundles of jobs that share no folder with this machine

Exit codes: 0 there is a checked bundle of every job, 1 usage error, 4 a bundle was rejected, 5 jobs are missing.")]
pub(super) struct Args {
    #[command(flatten)]
    batch: BatchOptions,
    /// First receive bundles on this address and port, until each job has left one; port 0 lets the kernel choose
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// A larger bundle is refused
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = parse_size, requires = "listen")]
    max_size: u64,
}

/// The output of `--json`.
#[derive(Debug, serde::Serialize)]
struct Printed {
    batch: String,
    collected: Vec<PrintedJob>,
    rejected: Vec<PrintedBundle>,
    missing: Vec<PrintedMissing>,
}

#[derive(Debug, serde::Serialize)]
struct PrintedJob {
    job: String,
    class: String,
    seed: u64,
    run: PathBuf,
    node: String,
    attempt: String,
    /// The exit status of the measuring command.
    status: i32,
    is_new: bool,
    findings: Vec<String>,
    /// Bundles of other attempts, which are never merged.
    later: Vec<PathBuf>,
}

#[derive(Debug, serde::Serialize)]
struct PrintedBundle {
    path: PathBuf,
    reason: String,
}

#[derive(Debug, serde::Serialize)]
struct PrintedMissing {
    job: String,
    state: JobState,
    reason: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let batch = args.batch.open()?;
    if let Some(address) = &args.listen {
        listen::listen(&batch, address, args.max_size)?;
    }
    let Collected { jobs, rejected, missing } = collect(&batch, &recompute)?;
    // Bundles that arrive from now on are collected next time.
    let now = status::look(&batch)
        .map_err(|error| tare_host::message!("{}: {error:#}", paint("33", "warning")))
        .ok();
    let reason = |name: &str| {
        let found = now.as_ref().and_then(|now: &BatchStatus| now.jobs.iter().find(|job| job.name == name));
        found.map_or((JobState::Unknown, String::new()), |job| (job.state, job.detail.clone()))
    };
    let missing = missing.iter().map(|job| {
        let (state, reason) = reason(&job.name());
        PrintedMissing { job: job.name(), state, reason }
    });
    let printed = Printed {
        batch: batch.name(),
        missing: missing.collect(),
        collected: jobs.into_iter().map(printed).collect(),
        rejected: rejected
            .into_iter()
            .map(|found| PrintedBundle { path: found.path, reason: found.reason })
            .collect(),
    };
    tell(&printed);
    args.batch.print(&printed, || {
        printed.collected.iter().map(|job| format!("{}\n", job.run.display())).collect()
    })?;
    Ok(match (printed.rejected.is_empty(), printed.missing.is_empty()) {
        (false, _) => Outcome::MeasurementInvalid,
        (true, false) => Outcome::Inconclusive,
        (true, true) => Outcome::Fine,
    })
}

/// Checks that the figures of a run follow from its samples.
fn recompute(run: &Path) -> Result<(), String> {
    let document = gather(run).map_err(|error| error.to_string())?;
    match kept::difference(run, &document) {
        Ok(None) => Ok(()),
        Ok(Some(what)) => Err(format!("recomputed: not the same as {}: {what}", kept::NAME)),
        Err(error) => Err(error.to_string()),
    }
}

fn printed(job: CollectedJob) -> PrintedJob {
    let CollectedJob { bundle, run, is_new, later } = job;
    PrintedJob {
        job: bundle.job.name(),
        class: bundle.job.class.clone(),
        seed: bundle.job.seed,
        findings: bundle.findings(),
        node: bundle.node,
        attempt: bundle.attempt,
        status: bundle.status,
        run,
        is_new,
        later,
    }
}

fn tell(printed: &Printed) {
    let new = printed.collected.iter().filter(|job| job.is_new).count();
    let jobs = printed.collected.len() + printed.missing.len();
    tare_host::message!(
        "{}: {} of {jobs} jobs are collected, {new} of them now",
        printed.batch,
        printed.collected.len()
    );
    for job in &printed.collected {
        for finding in &job.findings {
            tare_host::message!("{} {} on {}: {finding}", paint("33", "finding"), job.job, job.node);
        }
        for later in &job.later {
            tare_host::message!("kept aside: another attempt of {}, in {}", job.job, later.display());
        }
    }
    for PrintedBundle { path, reason } in &printed.rejected {
        tare_host::message!("{} {}: {reason}", paint("31", "rejected"), path.display());
    }
    for PrintedMissing { job, state, reason } in &printed.missing {
        let reason = match (state, reason.as_str()) {
            (JobState::NotSubmitted, _) => "it was not submitted",
            (JobState::Running, _) => "it still runs",
            (JobState::Waiting, _) => "it waits",
            (_, "") => "nothing is known of it",
            (_, reason) => reason,
        };
        tare_host::message!("{} {job}: {reason}", paint("31", "missing"));
    }
    if !printed.collected.is_empty() {
        tare_host::message!("what may be merged is on stdout, a run folder a line");
    }
}
