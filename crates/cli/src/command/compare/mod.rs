//! `tare compare`: does B cost more than A? Two services, or two revisions of one, measured until it is decided.

mod contenders;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use tare_bench::{
    experiment::Experiment,
    plan::{
        Plan,
        until::{ALPHA, Gate, Metric, Until, looks},
    },
};
use tare_load::units::parse_duration;
use tare_service::{catalogue::Row, workspace::Workspace};

use super::run::{measure, pinning};
use super::start;
use super::words;
use crate::{exit::Outcome, workspace::Global};

/// Compare two services, or two revisions of one: PASS, FAIL, WORSE or INCONCLUSIVE
///
/// The first service is the baseline, the second the candidate. Both are measured in the same blocks, in short slices in
/// random order, until the question is decided or the budget is spent. PASS: a regression of `--delta` or more is excluded
/// in all deciding metrics. FAIL: in one of them the whole interval lies beyond `--delta`. WORSE: an interval excludes "no
/// change", and neither shows nor excludes `--delta`. The intervals of all deciding metrics, at all looks, hold together with 95%.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare compare hyper axum                                 does axum cost more than hyper?
  tare compare hyper --revisions main..HEAD               did this branch make the service slower?
  tare compare hyper ./mine --metric cpu,p99 --delta 5%   your service, other metrics, 5% allowed

Exit codes: 0 PASS, 1 usage or set-up error, 2 a service failed its contract, 3 FAIL, 4 measurement invalid, 5 INCONCLUSIVE, \
6 WORSE, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// Baseline and candidate: names such as `hyper` or `restinio:timers`, or folders such as `./mine` (with a slash). One
    /// service with `--revisions`
    #[arg(required = true, num_args = 1..=2, value_name = "SERVICE")]
    services: Vec<String>,
    /// Compare two git revisions of the service, such as `main..HEAD`; your work tree is not changed
    #[arg(long, value_name = "A..B")]
    revisions: Option<String>,
    /// The smallest regression that matters, such as `3%` or `0.03`
    #[arg(long, default_value = "3%", value_parser = words::delta)]
    delta: f64,
    /// The deciding metrics, of throughput, cpu, p99 and rss. They share an error probability of 5%
    #[arg(long, value_name = "METRICS", value_delimiter = ',', default_value = "cpu,throughput", value_parser = words::metric)]
    metric: Vec<Metric>,
    /// The contract [default: the first that both services declare]
    #[arg(long)]
    contract: Option<String>,
    /// Take the load, the service settings and the blocks from this experiment file; its services are ignored
    #[arg(long, value_name = "FILE")]
    experiment: Option<PathBuf>,
    /// Maximum measuring time, such as `3m`; the blocks up to the first look are measured anyway
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Number of connections
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=20_000))]
    connections: Option<u16>,
    /// `THREADS` of the services, and threads of the generator
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    #[command(flatten)]
    start: start::StartOptions,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let mut workspace = global.open()?;
    let rows = contenders::find(&mut workspace, &args.services, args.revisions.as_deref())?;
    let plan = plan(&workspace, args, &rows)?;
    measure(&workspace, &args.start, plan, rows.into())
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
        experiment.schedule.budget = budget;
    }
    if let Some(connections) = args.connections {
        experiment.loads.truncate(1);
        experiment.loads[0].connections = connections.into();
    }
    if let Some(threads) = args.threads {
        experiment.service_settings.threads = threads.into();
        experiment.loads.iter_mut().for_each(|load| load.threads = threads.into());
    }
    let plan = Plan::interleaved(&experiment, rows, args.start.seed(), pinning(&experiment));
    let mut metrics = args.metric.clone();
    metrics.sort();
    metrics.dedup();
    let until = Until::Gate(Gate {
        candidate: candidate.label.clone(),
        delta: args.delta,
        metrics,
        looks: looks(plan.blocks().max),
        alpha: ALPHA,
    });
    Ok(Plan { until, ..plan })
}
