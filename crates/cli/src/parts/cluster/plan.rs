//! `tare cluster plan`: makes a job list.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use tare_base::document;
use tare_base::units::spell_duration;
use tare_bench::{
    experiment::{Experiment, ExperimentFile},
    plan::Plan,
};
use tare_cluster::{JobList, ListHead, Machines, PlanRequest, PlannedJob};
use tare_host::process::Query;
use tare_service::revisions;

use super::absolute;
use crate::{
    command::{revised::Revised, run},
    exit::Outcome,
    output,
    progress::duration,
    workspace::{self, Global},
};

/// The time limit for planning, which builds nothing.
const PLAN_WITHIN: Duration = Duration::from_secs(120);
/// A larger number of seeds is a mistake.
const SEEDS_MAX: usize = 1000;
/// Options that a job sets by itself, or that would keep it from measuring.
const RESERVED: [&str; 8] =
    ["--seed", "--out", "--resume", "--dry-run", "--json", "--format", "--get", "--post"];

/// Make a job list: an experiment on several classes of machines, with several seeds
///
/// A job is one whole run of the experiment on one machine: rows are compared within blocks, so a run is never divided by service.
/// With `--revisions` a job is a history of one service instead; a long history is several jobs, each of which begins with the version
/// with which the one before it ends. The list is printed, or written to a file, as JSON lines. `tare cluster submit` runs it on a cluster.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare cluster plan mine.toml --on machines.toml --seeds 3 --output jobs.ndjson              three runs on each class of machines
  tare cluster plan quick --on machines.toml -- --services hyper,axum --budget 2m            with options for it
  tare cluster plan quick --on machines.toml --service shop --revisions v1.0..HEAD           a history on each class of machines

Exit codes: 0 fine, 1 usage error, or an experiment or a file with a mistake.")]
pub(super) struct Args {
    /// The experiment: a name such as `quick`, of a file that `tare.toml` has among its `experiments` or of one that Tare brings
    /// (`tare catalogue` prints them); or a file such as ./mine.toml
    experiment: PathBuf,
    /// The file with the classes of machines
    #[arg(long = "on", value_name = "MACHINES")]
    machines: PathBuf,
    /// Runs on each class of machines
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seeds: usize,
    /// Seed of the first run; the others have the numbers after it [default: random, and part of the list]
    #[arg(long)]
    seed: Option<u64>,
    /// Compare the commits of this range, such as `v1.0..HEAD`: each job is then a `tare history` of one service, under the contract
    /// and the load of the experiment
    #[arg(long, value_name = "RANGE")]
    revisions: Option<String>,
    /// The service whose revisions are compared [default: the one service of the experiment besides its reference]
    #[arg(long, requires = "revisions")]
    service: Option<String>,
    /// Write the list to this file [default: print it]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// More options of `tare run`, or of `tare history` with `--revisions`
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<String>,
}

pub(super) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    ensure!((1..=SEEDS_MAX).contains(&args.seeds), "--seeds: {} is not 1 to {SEEDS_MAX}", args.seeds);
    if let Some(word) = args.options.iter().find(|word| is_reserved(word)) {
        bail!("{word}: a job has this from its list, or cannot have it");
    }
    let path = run::experiment_file(global, &args.experiment)?;
    let text = document::read(&path)?;
    let machines = Machines::load(&args.machines)?;
    let history =
        args.revisions.as_deref().map(|range| History::of(global, args, &path, range)).transpose()?;
    let (service, revisions, mut options) = match history {
        Some(history) => (Some(history.service), history.revisions, history.options),
        None => (None, Vec::new(), Vec::new()),
    };
    if service.is_none() && matches!(ExperimentFile::load(&path)?, ExperimentFile::Series(_)) {
        bail!("{}: is a series of experiments: plan each of them", path.display());
    }
    options.extend(args.options.iter().cloned());
    let root = global.find()?.folder;
    let head = ListHead {
        format: ListHead::FORMAT.to_owned(),
        tare: env!("CARGO_PKG_VERSION").to_owned(),
        experiment: within(&path, &root),
        content: tare_cluster::content(text.as_bytes()),
        service,
        options,
        expected_s: None,
        classes: machines.classes,
    };
    let seed = args.seed.unwrap_or_else(tare_host::seed::draw);
    let request = PlanRequest { revisions: &revisions, seeds: args.seeds, seed };
    let list = expected(global, JobList::plan(head, request), &root)?;
    let text = list.text()?;
    match &args.output {
        Some(path) => output::write_file(path, text.as_bytes())?,
        None => output::print_bytes(text.as_bytes())?,
    }
    tell(&list, args.output.as_deref());
    Ok(Outcome::Fine)
}

fn is_reserved(word: &str) -> bool {
    RESERVED.iter().any(|reserved| word == *reserved || word.starts_with(&format!("{reserved}=")))
}

/// The path relative to the root of the repository, if it is inside.
fn within(path: &Path, root: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| absolute(path));
    path.strip_prefix(root).unwrap_or(&path).display().to_string()
}

/// The revisions that a job compares, instead of the services of the experiment.
struct History {
    service: String,
    revisions: Vec<String>,
    options: Vec<String>,
}

impl History {
    fn of(global: &Global, args: &Args, path: &Path, range: &str) -> anyhow::Result<History> {
        let ExperimentFile::Interleaved(experiment) = ExperimentFile::load(path)? else {
            bail!("--revisions: {} is no interleaved experiment", path.display());
        };
        let service = match &args.service {
            Some(service) => service.clone(),
            None => only_service(&experiment)?,
        };
        let mut workspace = global.open()?;
        let now = Revised::of(&mut workspace, &service, None)?.now;
        let [good, bad] = revisions::range(range, &now.service.folder).context("--revisions")?;
        let commits = revisions::between(&now.service.folder, &good, &bad).context("--revisions")?;
        ensure!(commits.len() > 1, "--revisions: {range} has one commit, which has no history");
        Ok(History {
            service,
            revisions: commits.into_iter().map(|commit| commit.name).collect(),
            options: History::options(&experiment)?,
        })
    }

    /// The contract and the load of the experiment, as options of `tare history`.
    fn options(experiment: &Experiment) -> anyhow::Result<Vec<String>> {
        let [load] = &experiment.loads[..] else {
            bail!("--revisions: the experiment has {} loads, and a history has one", experiment.loads.len());
        };
        let budget = experiment.schedule.budget;
        let mut options = vec![
            ("--contract", experiment.contract.clone()),
            ("--connections", load.connections.to_string()),
            ("--threads", load.threads.to_string()),
        ];
        // A history without a budget has the budget of a comparison.
        if !budget.is_zero() && budget != Experiment::of_versions().schedule.budget {
            options.push(("--budget", spell_duration(budget)));
        }
        Ok(options.into_iter().flat_map(|(option, value)| [option.to_owned(), value]).collect())
    }
}

fn only_service(experiment: &Experiment) -> anyhow::Result<String> {
    let others: Vec<&String> =
        experiment.services.iter().filter(|word| **word != experiment.reference).collect();
    match others[..] {
        [only] => Ok(only.clone()),
        _ => bail!(
            "--revisions: the experiment has {} services: choose one of them by --service",
            others.len()
        ),
    }
}

/// Fills in the measuring time of each job. For that, each kind of job is planned once, so mistakes are found
/// before anything is submitted.
fn expected(global: &Global, list: JobList, root: &Path) -> anyhow::Result<JobList> {
    let JobList { head, jobs } = list;
    let mut expected_s = 0;
    let mut planned: Vec<&[String]> = Vec::new();
    for job in &jobs {
        if !planned.contains(&&job.revisions[..]) {
            planned.push(&job.revisions);
            expected_s = expected_s.max(plan_of(global, job, &head, root)?.expected_ns() / 1_000_000_000);
        }
    }
    for class in &head.classes {
        let limit = class.time_limit.unwrap_or(Duration::MAX);
        ensure!(
            Duration::from_secs(expected_s) < limit,
            "class \"{}\": its time limit of {} is over before a job has measured for about {}",
            class.name,
            duration(limit),
            duration(Duration::from_secs(expected_s))
        );
    }
    Ok(JobList { head: ListHead { expected_s: Some(expected_s), ..head }, jobs })
}

/// The plan that the job would make, computed on this machine.
fn plan_of(global: &Global, job: &PlannedJob, head: &ListHead, root: &Path) -> anyhow::Result<Plan> {
    let mut command = Command::new(workspace::program()?);
    command.arg("--root").arg(root).args(global.words()).args(job.words(head)).args(["--dry-run", "--json"]);
    let output = Query::put(command.current_dir(root), PLAN_WITHIN)?.answer()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let error = said.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or_else(|| said.trim());
    ensure!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).context("the plan of a job")
}

fn tell(list: &JobList, output: Option<&Path>) {
    let expected = Duration::from_secs(list.head.expected_s.unwrap_or(0));
    let jobs = list.jobs.len();
    tare_host::message!(
        "{jobs} job{} on {} class{} of machines, each about {} of measuring",
        if jobs == 1 { "" } else { "s" },
        list.head.classes.len(),
        if list.head.classes.len() == 1 { "" } else { "es" },
        duration(expected)
    );
    if let Some(path) = output {
        tare_host::message!("`tare cluster submit {} --engine ENGINE --store DIR` runs them", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_sets_its_seed_and_its_folder_by_itself() {
        assert!(is_reserved("--seed") && is_reserved("--out=runs/A") && is_reserved("--json"));
        assert!(!is_reserved("--services") && !is_reserved("--seeds") && !is_reserved("seed"));
    }

    #[test]
    fn an_experiment_in_the_repository_is_named_from_its_root() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().canonicalize().unwrap();
        std::fs::write(folder.join("tiny.toml"), "").unwrap();
        assert_eq!(within(&folder.join("tiny.toml"), &folder), "tiny.toml");
        assert_eq!(within(Path::new("/no/such.toml"), &folder), "/no/such.toml");
    }
}
