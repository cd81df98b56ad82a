//! `tare cluster submit`: submits the jobs of a list to the engine of a cluster.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::builder::PossibleValuesParser;
use tare_base::spelling::suggestion;
use tare_cluster::{
    Batch, BatchHead, EngineName, EngineState, JobList, PlannedJob, Selftest, Start, collector_address,
    engine,
};

use super::{absolute, states};
use crate::{
    exit::Outcome,
    output::{print, print_json},
    workspace::{self, Global},
};

/// Run the jobs of a list on a cluster
///
/// The store is a folder that all machines of the cluster share. The repository and the program must be shared too (Slurm), or be in the
/// image of the machine class (Kubernetes). Everything of the batch lies in a folder of the store, which is printed: `tare cluster status`,
/// `cancel` and `collect` take it. To submit a list again submits what is missing, and nothing else: jobs that have left a bundle,
/// wait or run are left alone.
///
/// With `--push` nodes need no shared folder: a job leaves its bundle with the `tare cluster collect --listen` of the batch, at
/// this address.
/// Then the store is a folder of this machine. The token of the batch is in its folder, and in the environment of its jobs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare cluster submit jobs.ndjson --engine slurm --store /shared/tare                   prints the folder of the batch
  tare cluster submit jobs.ndjson --engine slurm --store /shared/tare --selftest full   with all trials
  tare cluster submit jobs.ndjson --engine kubernetes --store /shared/tare --trust      the nodes have an image of their own
  tare cluster submit jobs.ndjson --engine kubernetes --store /shared/tare --dry-run    only print the manifest, or the script for Slurm
  tare cluster submit jobs.ndjson --engine slurm --store batches --push http://10.0.0.1:7070jobs push their bundles

Exit codes: 0 fine, 1 usage error, or the engine refused.")]
pub(super) struct Args {
    /// The job list that `tare cluster plan` wrote
    jobs: PathBuf,
    /// The engine of the cluster
    #[arg(long, value_parser = PossibleValuesParser::new(EngineName::ALL.map(EngineName::as_str)))]
    engine: String,
    /// A folder that all machines share; with --push a folder of this one
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Jobs push their bundles to the `tare cluster collect --listen` at this address: http://HOST:PORT, as the nodes reach it
    #[arg(long, value_name = "URL")]
    push: Option<String>,
    /// How the instrument is tested on a machine that has no certificate: `quick` (a minute), `full`, `none`, or the names of trials
    #[arg(long, value_name = "FORM", default_value = "quick")]
    selftest: String,
    /// A certificate of the same machine, kernel and version of Tare is good for this number of days
    #[arg(long, value_name = "DAYS", default_value_t = 7)]
    certificate_days: u32,
    /// The command `tare`, as the nodes find it [default: this program; for Kubernetes: `tare` in the PATH of the image]
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    /// The repository, as the nodes find it [default: this one; for Kubernetes: `/repository` in the image]
    #[arg(long, value_name = "DIR")]
    repository: Option<PathBuf>,
    /// Print what the engine would be given, a manifest or a script, and stop
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, serde::Serialize)]
struct Submitted {
    batch: PathBuf,
    /// The names of the jobs that were submitted now.
    submitted: Vec<String>,
    /// The number of waiting and running jobs.
    active: usize,
    /// The number of jobs that have left a bundle.
    done: usize,
    /// The input for the engine, in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
}

/// The default path of the repository in an image.
const REPOSITORY: &str = "/repository";
/// The program, which an image must have in its PATH.
const PROGRAM: &str = "tare";

pub(super) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let list = JobList::load(&args.jobs)?;
    let head = head(global, args)?;
    if args.dry_run {
        return dry_run(args, list, head);
    }
    let batch = Batch::make(&args.store, list, head)?;
    let _alone = batch.lock()?;
    if batch.head.push.is_some() {
        batch.make_token()?;
    }
    let (submitted, missing) = look(&batch)?;
    if !missing.is_empty() {
        for line in engine(batch.head.engine).submit(&batch, &missing, &start(&batch))? {
            tare_host::message!("{line}");
        }
        batch.add_submitted(&missing)?;
    }
    print_submitted(&submitted, args)
}

/// The command that a node runs for each job.
fn start(batch: &Batch) -> Start {
    let root = ["--root".to_owned(), batch.head.root.display().to_string()];
    let program = batch.head.program.display().to_string();
    let job = match &batch.head.push {
        None => vec!["job".to_owned(), batch.folder.display().to_string()],
        Some(url) => {
            let words = ["job", "--push", url, "--engine", batch.head.engine.as_str()];
            words.map(str::to_owned).to_vec()
        }
    };
    Start { command: [&[program][..], &root, &batch.head.globals, &job].concat() }
}

/// Prints what would be submitted. A new batch misses every job, and no engine is queried.
fn dry_run(args: &Args, list: JobList, head: BatchHead) -> anyhow::Result<Outcome> {
    let folder = absolute(&args.store).join(list.batch_name());
    let (submitted, missing, batch) = match folder.exists() {
        true => {
            let batch = Batch { head, list, folder: Batch::open(&folder)?.folder };
            let (submitted, missing) = look(&batch)?;
            (submitted, missing, batch)
        }
        false => {
            let submitted = Submitted {
                batch: folder.clone(),
                submitted: list.jobs.iter().map(PlannedJob::name).collect(),
                active: 0,
                done: 0,
                preview: None,
            };
            let missing = (0..list.jobs.len()).collect();
            (submitted, missing, Batch { folder, head, list })
        }
    };
    let preview = engine(batch.head.engine).preview(&batch, &missing, &start(&batch))?;
    print_submitted(&Submitted { preview: Some(preview), ..submitted }, args)
}

/// The jobs to submit, by their positions in the list.
fn look(batch: &Batch) -> anyhow::Result<(Submitted, Vec<usize>)> {
    let known = states(batch)?;
    let is_active = |position: &usize| known.get(position).is_some_and(EngineState::is_active);
    let has_bundle = |position: &usize| batch.has_bundle(&batch.list.jobs[*position]);
    let (done, open): (Vec<usize>, Vec<usize>) = (0..batch.list.jobs.len()).partition(has_bundle);
    let (active, missing): (Vec<usize>, Vec<usize>) = open.into_iter().partition(is_active);
    let submitted = Submitted {
        submitted: missing.iter().map(|position| batch.list.jobs[*position].name()).collect(),
        active: active.len(),
        done: done.len(),
        batch: batch.folder.clone(),
        preview: None,
    };
    Ok((submitted, missing))
}

fn print_submitted(submitted: &Submitted, args: &Args) -> anyhow::Result<Outcome> {
    tell(submitted, args);
    match &submitted.preview {
        _ if args.json => print_json(submitted)?,
        Some(preview) => print(preview)?,
        None => print(&format!("{}\n", submitted.batch.display()))?,
    }
    Ok(Outcome::Fine)
}

fn tell(submitted: &Submitted, args: &Args) {
    let would = if args.dry_run { "would be submitted" } else { "submitted" };
    let jobs = submitted.submitted.len();
    tare_host::message!(
        "{jobs} jobs {would}; {} wait or run, {} have left a bundle",
        submitted.active,
        submitted.done
    );
    if args.dry_run {
        tare_host::message!("the folder of the batch would be {}", submitted.batch.display());
    } else {
        tare_host::message!("`tare cluster status {}` shows how far they are", submitted.batch.display());
        if args.push.is_some() {
            tare_host::message!(
                "`tare cluster collect {} --listen ADDRESS:PORT` receives their bundles: start it now",
                submitted.batch.display()
            );
        }
    }
}

fn head(global: &Global, args: &Args) -> anyhow::Result<BatchHead> {
    let engine: EngineName = args.engine.parse().map_err(anyhow::Error::msg)?;
    if let Some(url) = &args.push {
        collector_address(url).context("--push")?;
    }
    let (program, root) = on_nodes(args, engine, &global.find()?.folder)?;
    Ok(BatchHead {
        format: BatchHead::FORMAT.to_owned(),
        tare: env!("CARGO_PKG_VERSION").to_owned(),
        submitted: jiff::Timestamp::now().to_string(),
        engine,
        program,
        root,
        globals: global.words(),
        selftest: selftest(&args.selftest).context("--selftest")?,
        certificate_days: args.certificate_days,
        push: args.push.clone(),
    })
}

/// The paths of the program and the repository on the nodes. The contents of an image cannot be checked here.
fn on_nodes(args: &Args, engine: EngineName, here: &Path) -> anyhow::Result<(PathBuf, PathBuf)> {
    let Args { program, repository, .. } = args;
    if !engine.shares_files() {
        let repository = repository.clone().unwrap_or_else(|| REPOSITORY.into());
        ensure!(
            repository.is_absolute(),
            "--repository: {} is no absolute path of the image",
            repository.display()
        );
        return Ok((program.clone().unwrap_or_else(|| PROGRAM.into()), repository));
    }
    let program = match program {
        Some(program) => absolute(program),
        None => workspace::program()?,
    };
    ensure!(program.is_file(), "--program: there is no {}", program.display());
    let repository = repository.as_deref().map_or_else(|| here.to_owned(), absolute);
    Ok((program, repository))
}

fn selftest(text: &str) -> anyhow::Result<Selftest> {
    Ok(match text {
        "none" => Selftest::None,
        "quick" => Selftest::Quick,
        "full" => Selftest::Full,
        names => {
            let trials = tare_selftest::trials(true);
            let known = || trials.iter().map(|trial| trial.name);
            for name in names.split(',') {
                let forms = ["none", "quick", "full"].into_iter().chain(known());
                ensure!(
                    known().any(|known| known == name),
                    "unknown trial \"{name}\"{}",
                    suggestion(name, forms)
                );
            }
            Selftest::Only(names.split(',').map(str::to_owned).collect())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selftest_is_a_form_or_trials() {
        assert_eq!(selftest("quick").unwrap(), Selftest::Quick);
        assert_eq!(
            selftest("honest,cache").unwrap(),
            Selftest::Only(vec!["honest".to_owned(), "cache".to_owned()])
        );
        assert_eq!(
            selftest("qick").unwrap_err().to_string(),
            "unknown trial \"qick\"; did you mean \"quick\"?"
        );
        assert!(selftest("").is_err());
    }
}
