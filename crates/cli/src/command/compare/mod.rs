//! `tare compare`: does B cost more than A? Measures two services or revisions until the answer is clear.

pub(crate) mod contenders;
mod gate;

use std::{path::PathBuf, time::Duration};

use anyhow::{anyhow, ensure};
use clap::{Args as _, FromArgMatches};
use tare_base::units::parse_time;
use tare_bench::{
    experiment::Experiment,
    plan::{Plan, until::Metric},
};
use tare_service::{catalogue::Row, workspace::Workspace};

use super::asked::{self, AskedOptions};
use super::load_options::LoadOptions;
use super::revised::BuildOptions;
use super::run::{
    explain::{WhyOptions, WhyPart},
    measure_and_explain, pinning,
};
use super::running::{self, RunningOptions};
use super::start;
use super::words;
use crate::{
    exit::{FailOn, Outcome},
    workspace::Global,
};

const NAME: &str = "compare";
/// The smallest regression that matters.
const DELTA: f64 = 0.03;
const METRICS: [Metric; 2] = [Metric::Throughput, Metric::Cpu];

/// Compare two services, or two revisions of one: PASS, FAIL, WORSE or INCONCLUSIVE
///
/// The first service is the baseline, the second the candidate. Both are measured in the same blocks, in short slices in
/// random order, until the question is decided or the budget is spent. PASS: a regression of `--delta` or more is excluded
/// in all deciding metrics. FAIL: in one of them the whole interval lies beyond `--delta`. WORSE: an interval excludes "no
/// change", and neither shows nor excludes `--delta`. The intervals of all deciding metrics, at all looks, hold together with 95%.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare compare 'node a.js' 'node b.js' --get /items/1     two commands; each listens on $PORT, or on {port} in its words
  tare compare http://127.0.0.1:3000 http://127.0.0.1:3001     two servers that run already
  tare compare 'node a.js' --revisions main...HEAD        did this branch make the service slower?
  tare compare ./mine ./other --metric cpu,p99 --delta 5%  folders with a service.toml, other metrics
  tare compare 'node a.js' 'node b.js' --why              which functions are behind the difference?
  tare compare --gate shop --fail-on worse                a gate of tare.toml; PASS and INCONCLUSIVE end with 0
  tare compare hyper axum                                 does axum cost more than hyper?

Exit codes: 0 PASS, 1 usage or set-up error, 2 a service failed its contract, 3 FAIL, 4 measurement invalid, 5 INCONCLUSIVE, \
6 WORSE, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// Baseline and candidate: commands such as `'node server.js'`, which listen on the port that is in their environment as
    /// PORT or that replaces `{port}`; URLs of servers that run already; names such as `hyper` or `restinio:timers`; or folders
    /// such as `./mine` (with a slash). One service with `--revisions`
    #[arg(required_unless_present = "gate", num_args = 1..=2, value_name = "SERVICE")]
    services: Vec<String>,
    /// The comparison that `tare.toml` describes as `[gate.NAME]`; options that are given here come before its own
    #[arg(long, value_name = "NAME")]
    gate: Option<String>,
    /// What to call the baseline and, given a second time, the candidate, in place of their commands or addresses
    #[arg(long = "name", short = 'n', value_name = "NAME")]
    names: Vec<String>,
    /// Compare two git revisions of the service, such as `main..HEAD`, or `main...HEAD` to begin where HEAD parted from main; your
    /// work tree is not changed
    #[arg(long, value_name = "A..B")]
    revisions: Option<String>,
    /// With `--revisions`: the candidate is the work tree as it is, with what is in no commit
    #[arg(long, requires = "revisions")]
    work_tree: bool,
    #[command(flatten)]
    build: BuildOptions,
    /// The smallest regression that matters, such as `3%` or `0.03` [default: 3%]
    #[arg(long, value_parser = words::delta)]
    delta: Option<f64>,
    /// The deciding metrics, of throughput, cpu, p99 and rss. They share an error probability of 5% [default: cpu,throughput;
    /// throughput if the CPU time of a server that runs already cannot be read]
    #[arg(long, value_name = "METRICS", value_delimiter = ',', value_parser = words::metric)]
    metric: Vec<Metric>,
    /// Measure the candidate a second time, in a process of its own. What differs between the two was made by this machine: it
    /// shows what the comparison can see, and a comparison is not valid if they differ by `--delta` or more
    #[arg(long)]
    again: bool,
    /// Which results end with a status other than 0: only a regression of `--delta` or more, any regression that is shown, or
    /// also one that cannot be excluded [default: inconclusive]
    #[arg(long, value_name = "RESULT", value_enum)]
    fail_on: Option<FailOn>,
    /// The contract [default: the first that both services declare]
    #[arg(long)]
    contract: Option<String>,
    /// Take the load, the service settings and the blocks from this experiment file; its services are ignored
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// The measuring may not take longer than this, such as `90s`; building and verifying are not counted [default: 3m, and
    /// the blocks up to the first look]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    budget: Option<Duration>,
    #[command(flatten)]
    why: WhyOptions,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    asked: AskedOptions,
    #[command(flatten)]
    running: RunningOptions,
    #[command(flatten)]
    start: start::StartOptions,
}

/// Runs the command with these arguments, and explains nothing; the first is the name of the command.
pub(crate) fn run_words(global: &Global, words: &[&str]) -> anyhow::Result<Outcome> {
    let matches = Args::augment_args(clap::Command::new(NAME)).try_get_matches_from(words)?;
    run(global, Args::from_arg_matches(&matches)?, None)
}

pub(crate) fn run(global: &Global, mut args: Args, why: Option<WhyPart>) -> anyhow::Result<Outcome> {
    // A mistake in them is said before anything is asked of the services.
    let names = two_names(std::mem::take(&mut args.names))?;
    let root = global.find()?;
    let of_gate = args.gate.take().map(|name| gate::enter(&mut args, &name, &root)).transpose()?.flatten();
    let mut workspace = global.open_at(&root)?;
    let folder = workspace.root.clone();
    workspace.adopt_from(&folder, of_gate.as_deref())?;
    args.running.tell_apart(&mut args.services);
    let words: Vec<&str> = args.services.iter().map(String::as_str).collect();
    args.running.take_in(&mut workspace, &words)?;
    let (range, build) = (args.revisions.as_deref(), args.build.build.as_deref());
    let [baseline, candidate] =
        contenders::find(&mut workspace, &args.services, range, args.work_tree, build)?;
    let again = args.again.then(|| Row { label: format!("{}@again", candidate.label), ..candidate.clone() });
    let mut rows: Vec<Row> = [baseline, candidate].into_iter().chain(again).collect();
    running::declare(&mut rows, args.contract.as_deref());
    if let Some(asked) = args.asked.of(&rows, args.contract.as_deref())? {
        let settings = args.load.service_settings();
        asked::learn_for_run(&mut workspace, &mut rows, &asked, &mut args.start, &settings, NAME)?;
    }
    if let Some(names) = names {
        name_rows(&mut rows, names);
    }
    let plan = plan(&workspace, &args, &rows)?;
    let why = why.map(|part| (part, &args.why));
    let outcome = measure_and_explain(&workspace, &args.start, plan, rows, why)?;
    Ok(outcome.where_fails(args.fail_on.unwrap_or_default()))
}

/// The most letters of a `--name`, which is in sentences, in heads of columns and in names of files.
const NAME_LETTERS_MAX: usize = 60;

/// The names for baseline and candidate, if there are some.
fn two_names(names: Vec<String>) -> anyhow::Result<Option<[String; 2]>> {
    if names.is_empty() {
        return Ok(None);
    }
    for name in &names {
        let letters = name.chars().count();
        ensure!(!name.trim().is_empty(), "--name is empty: give a text such as \"before\"");
        let is_wrong = |letter: char| letter.is_control() || ['@', ','].contains(&letter);
        ensure!(
            !name.contains(is_wrong),
            "--name {name:?}: leave out \"@\", \",\" and control characters, as in \"before\""
        );
        ensure!(
            letters <= NAME_LETTERS_MAX,
            "--name has {letters} letters, and may have {NAME_LETTERS_MAX}: give a short text such as \"before\""
        );
    }
    let [baseline, candidate] = <[String; 2]>::try_from(names).map_err(|names| {
        let count = tare_base::units::several(names.len(), "name");
        anyhow!("--name was given {count}, and needs two: `-n BASELINE -n CANDIDATE`")
    })?;
    ensure!(baseline != candidate, "--name was \"{baseline}\" twice: the two rows need different names");
    Ok(Some([baseline, candidate]))
}

/// Gives the rows these labels; the candidate that is measured again is called after the candidate.
fn name_rows(rows: &mut [Row], [baseline, candidate]: [String; 2]) {
    let again = format!("{candidate}@again");
    for (row, label) in rows.iter_mut().zip([baseline, candidate, again]) {
        let was = std::mem::replace(&mut row.label, label);
        row.service.title.get_or_insert(was);
    }
}

/// The role if the label is a command, which is too long for a sentence and is in the title.
fn short<'a>((row, role): (&'a Row, &'a str)) -> &'a str {
    if row.label.contains(' ') { role } else { &row.label }
}

/// The plan for baseline, candidate, and perhaps the candidate again.
fn plan(workspace: &Workspace, args: &Args, rows: &[Row]) -> anyhow::Result<Plan> {
    let mut experiment = match &args.experiment {
        Some(path) => Experiment::load(path)?,
        None => Experiment::of_versions(),
    };
    let [baseline, candidate] = [&rows[0], &rows[1]];
    experiment.name = NAME.to_owned();
    experiment.title = format!("{} against {}", candidate.label, baseline.label);
    let [new, old] = [(candidate, "the candidate"), (baseline, "the baseline")].map(short);
    experiment.question = format!("Does {new} cost more than {old}?");
    experiment.reference.clone_from(&baseline.label);
    experiment.contract = contenders::contract(workspace, args.contract.as_deref(), [baseline, candidate])?;
    args.load.enter(&mut experiment);
    let metrics = running::metrics(rows, &args.metric, &METRICS)?;
    let plan = Plan::interleaved(&experiment, rows, args.start.seed(), pinning(&experiment, rows));
    let plan = plan.until_compared(args.delta.unwrap_or(DELTA), metrics);
    Ok(match args.budget {
        Some(budget) => plan.bounded_with_looks(budget),
        None => plan,
    })
}
