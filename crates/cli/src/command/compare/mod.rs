//! `tare compare`: does B cost more than A? Two services, or two revisions of one; measured as a run is, until it is
//! decided.

mod contenders;
pub mod words;

use std::path::{Path, PathBuf};

use anyhow::ensure;
use tare_analysis::comparison::{self, Comparison};
use tare_bench::{
    experiment::Experiment,
    run::{
        folder,
        plan::Plan,
        until::{ALPHA, Gate, Metric, Until, looks},
    },
};
use tare_host::cpus::{self, Pinning};
use tare_service::catalogue::Row;

use super::campaign;
use super::report::page;
use super::run::{session::Session, show_plan};
use crate::{
    exit::{self, Outcome},
    output::{Format, print, print_json},
    workspace::Global,
};
use tare_service::workspace::Workspace;

/// Compare two services, or two revisions of one: PASS, FAIL or INCONCLUSIVE
///
/// The first is the baseline, the second the candidate. Both run in the same blocks, in short slices in random order,
/// until it is decided or the budget is spent. FAIL: the candidate is worse by delta or more in a metric that decides,
/// and not by chance. PASS: that is excluded in all of them. Status 0, 3, or 5 where neither is shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Baseline and candidate: names such as `hyper` or `restinio:timers`, or folders such as `./mine`, which have a
    /// slash. With `--revisions` one of them
    #[arg(required = true, num_args = 1..=2, value_name = "SERVICE")]
    services: Vec<String>,
    /// Compare two git revisions of the service, such as `main..HEAD`; the work tree is not touched
    #[arg(long, value_name = "A..B")]
    revisions: Option<String>,
    /// From which regression on the candidate fails, such as `3%` or `0.03`
    #[arg(long, default_value = "3%", value_parser = words::delta)]
    delta: f64,
    /// What decides, of throughput, cpu, p99 and rss; they share the 5% of error. What is not valid does not decide
    #[arg(long, value_name = "METRICS", value_delimiter = ',', default_value = "cpu,throughput", value_parser = words::metric)]
    metric: Vec<Metric>,
    /// The contract; the first that both declare where it is not given
    #[arg(long)]
    contract: Option<String>,
    /// Load, knobs, blocks and open loops as in this experiment, of which the services do not matter
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// How long to measure at most, such as `3m`; the blocks up to the first look are measured in any case
    #[arg(long)]
    budget: Option<jiff::SignedDuration>,
    /// Connections
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=20_000))]
    connections: Option<u16>,
    /// `THREADS` of the services, and as many of the generator
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    #[command(flatten)]
    campaign: campaign::Words,
}

pub fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let mut workspace = global.open()?;
    let rows = contenders::find(&mut workspace, &args.services, args.revisions.as_deref())?;
    let format = args.campaign.format();
    let plan = plan(&workspace, args, &rows)?;
    if args.campaign.dry_run {
        show_plan(&plan, format)?;
        return Ok(Outcome::Fine);
    }
    let began = jiff::Timestamp::now();
    let run = args.campaign.out.clone().unwrap_or_else(|| workspace.new_run(&plan.experiment, began));
    ensure!(!run.join("run.json").exists(), "{}: holds a run already; choose another folder", run.display());
    Session::new(&workspace, rows.into(), &run)?.carry_out(plan, began)?;
    tell(&run, format)?;
    page::tell_kept(&run);
    exit::of_run(&run)
}

/// Prints the verdict that a run folder holds; false where it is another kind of run.
pub fn tell(run: &Path, format: Format) -> anyhow::Result<bool> {
    let found = comparison::compute(&folder::read(run)?);
    found.map_or(Ok(false), |found| print_comparison(&found, format).map(|()| true))
}

fn plan(workspace: &Workspace, args: &Args, rows: &[Row; 2]) -> anyhow::Result<Plan> {
    let mut experiment = match &args.experiment {
        Some(path) => Experiment::load(path)?,
        None => Experiment::parse(Path::new("compare.toml"), include_str!("default.toml"))?,
    };
    let [baseline, candidate] = rows;
    experiment.name = "compare".to_owned();
    experiment.title = format!("{} against {}", candidate.label, baseline.label);
    experiment.question = format!("Does {} cost more than {}?", candidate.label, baseline.label);
    experiment.reference.clone_from(&baseline.label);
    experiment.contract = contenders::contract(workspace, args.contract.as_deref(), rows)?;
    if let Some(budget) = args.budget {
        experiment.campaign.budget = budget.unsigned_abs();
    }
    if let Some(connections) = args.connections {
        experiment.load.connections = connections.into();
    }
    if let Some(threads) = args.threads {
        experiment.knobs.threads = threads.into();
        experiment.load.threads = threads.into();
    }
    let pinning = Pinning::choose(&cpus::available(), experiment.knobs.threads, experiment.load.threads);
    let plan = Plan::new(&experiment, rows, args.campaign.seed(), pinning);
    let mut metrics = args.metric.clone();
    metrics.sort();
    metrics.dedup();
    let until = Until::Gate(Gate {
        candidate: candidate.label.clone(),
        delta: args.delta,
        metrics,
        looks: looks(plan.blocks_max),
        alpha: ALPHA,
    });
    Ok(Plan { until, ..plan })
}

/// Prints a comparison to stdout.
pub fn print_comparison(found: &Comparison, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Text => print(&comparison::text(found, true)),
        Format::Markdown => print(&comparison::markdown(found)),
        Format::Json => print_json(found),
    }
}
