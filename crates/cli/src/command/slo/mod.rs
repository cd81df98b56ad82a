//! `tare slo`: the highest rate at which services hold an SLO.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, ensure};
use tare_bench::{
    experiment::LoadSetting,
    run::{folder, plan::Plan},
    slo::{Slo, SloPlan, plan::Setting},
};
use tare_host::cpus::{self, Pinning};
use tare_load::schedule::parse;
use tare_report::Document;
use tare_service::{catalogue::Row, settings::ServiceSettings};

use super::campaign;
use super::run::{ended, kept_rows, session::Session};
use crate::{
    exit::Outcome,
    progress::duration,
    workspace::{self, Global},
};
use tare_service::workspace::Workspace;

/// Find the highest request rate at which a service holds an SLO, such as p99=10ms
///
/// Each search raises and lowers the rate of an open loop: requests are due at random instants, whether or not the service has
/// answered the earlier ones, and latency counts from the instant a request was due. Every search uses a fresh process; the
/// capacity and its interval are computed over several of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare slo hyper --slo p99=10ms                          the capacity of one service
  tare slo hyper,axum,ntex --slo p99=10ms,errors=0.1%    of three, measured in turns
  tare slo hyper --slo p99=10ms --at-least 20k           for CI: fail below 20,000 requests/s
  tare slo --resume runs/20261122T120000.000Z-slo        continue an interrupted search

Exit codes: 0 fine, 1 usage or set-up, 2 a service failed its contract, 3 a row holds less than --at-least, \
4 measurement invalid, 5 inconclusive, 130 or 143 interrupted.")]
pub struct Args {
    /// Services: names, groups such as `group:go`, folders such as `./mine`, or `NAME@2` for a second row of the same service
    #[arg(required_unless_present = "resume", value_delimiter = ',')]
    services: Vec<String>,
    /// The objectives, all of which must hold: `p50`, `p90`, `p99` or `p99.9` with a time; `errors` with a share
    /// [default share: 0.1%]
    #[arg(long = "slo", value_name = "p99=10ms", required_unless_present = "resume", value_delimiter = ',')]
    slo: Vec<String>,
    /// Continue an interrupted search: its finished starts count, and the rest is measured
    #[arg(long, value_name = "RUN", conflicts_with_all = ["services", "slo", "seed", "out", "dry_run"])]
    resume: Option<PathBuf>,
    /// The contract whose requests are sent
    #[arg(long, default_value = "hello")]
    contract: String,
    /// Exit with 3 if a row does not hold this rate, such as `20k`, and with 5 if that is not clear
    #[arg(long, value_name = "RATE")]
    at_least: Option<String>,
    /// Fresh processes of every service, one search each; a distribution-free interval needs 6
    #[arg(long, default_value = "6")]
    starts: usize,
    /// Measuring windows of one search
    #[arg(long, default_value = "14")]
    windows: usize,
    /// Length of a window [default: 100 times the longest time of the SLO, at least 0.5 s, at most 10 s]
    #[arg(long, value_name = "TIME")]
    window: Option<jiff::SignedDuration>,
    /// Discard and repeat a window in which the generator sent 1% of its requests later than this
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    max_lag: jiff::SignedDuration,
    /// Warm-up load on a fresh process
    #[arg(long, value_name = "TIME", default_value = "1s")]
    warm_up: jiff::SignedDuration,
    /// The longest warm-up, for a service that a pilot run finds not steady earlier
    #[arg(long, value_name = "TIME", default_value = "10s")]
    warm_up_max: jiff::SignedDuration,
    /// The most connections of the open loop
    #[arg(short, long, default_value = "64")]
    connections: usize,
    /// `THREADS` of the services
    #[arg(short, long, default_value = "1")]
    threads: usize,
    #[command(flatten)]
    campaign: campaign::Words,
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let mut workspace = global.open()?;
    let at_least = args.at_least.as_deref().map(parse::parse_rate).transpose().context("--at-least")?;
    let found = match &args.resume {
        Some(run) => Some((run.clone(), resume(&mut workspace, run, at_least)?)),
        None => begin(&mut workspace, &args, at_least)?,
    };
    let Some((run, document)) = found else { return Ok(Outcome::Fine) };
    ended(&run, &document, args.campaign.format())
}

/// The rest of a search that was cut off. A rate that is asked of it now is kept in its folder, as that of the first time was.
fn resume(workspace: &mut Workspace, run: &Path, at_least: Option<f64>) -> anyhow::Result<Document> {
    let kept = folder::read(run)?;
    let mut slo =
        SloPlan::read(run)?.with_context(|| format!("{}: not a search for capacity", run.display()))?;
    if at_least.is_some() {
        slo.at_least = at_least;
        slo.keep(run)?;
    }
    let rows = kept_rows(workspace, &kept)?;
    Session::new(workspace, rows, run)?.resume_search(&slo, &kept)
}

/// A new search; nothing where only the plan was asked for.
fn begin(
    workspace: &mut Workspace,
    args: &Args,
    at_least: Option<f64>,
) -> anyhow::Result<Option<(PathBuf, Document)>> {
    let slo = Slo::parse(args.slo.iter().map(String::as_str)).context("--slo")?;
    let setting = setting(args)?;
    workspace.contract(&setting.contract)?;
    workspace.adopt(args.services.iter().map(String::as_str))?;
    let rows = workspace.rows(args.services.iter().map(String::as_str))?;
    let pinning = Pinning::choose(&cpus::available(), setting.service_settings.threads, setting.load.threads);
    let (slo, plan) = SloPlan::new(slo, &setting, &rows, pinning);
    let slo = SloPlan { at_least, ..slo };
    eprintln!("{}", words(&slo, &plan));
    match args.campaign.dry_run {
        true => Ok(None),
        false => measure(workspace, args, rows, &slo, plan).map(Some),
    }
}

fn measure(
    workspace: &Workspace,
    args: &Args,
    rows: Vec<Row>,
    slo: &SloPlan,
    plan: Plan,
) -> anyhow::Result<(PathBuf, Document)> {
    let began = jiff::Timestamp::now();
    let run = || workspace.new_run("slo", began);
    let run = args.campaign.out.clone().unwrap_or_else(run);
    ensure!(
        !run.join("run.json").exists(),
        "{}: contains a run already; choose another folder",
        run.display()
    );
    workspace::print_broken(workspace);
    let document = Session::new(workspace, rows, &run)?.search(slo, plan, began)?;
    Ok((run, document))
}

fn setting(args: &Args) -> anyhow::Result<Setting> {
    for (name, value, most) in [
        ("--starts", args.starts, 100),
        ("--windows", args.windows, 1_000),
        ("--connections", args.connections, 20_000),
        ("--threads", args.threads, 1_024),
    ] {
        ensure!((1..=most).contains(&value), "{name}: {value} is not 1 to {most}");
    }
    let window = args.window.map(|window| window.unsigned_abs());
    let lengths = Duration::from_millis(20)..=Duration::from_secs(60);
    ensure!(window.is_none_or(|window| lengths.contains(&window)), "--window: give 20ms to 60s");
    Ok(Setting {
        contract: args.contract.clone(),
        load: LoadSetting { connections: args.connections, threads: 1 },
        service_settings: ServiceSettings { threads: args.threads, delay_ms: 0 },
        starts: args.starts,
        windows: args.windows,
        window,
        lag_max: args.max_lag.unsigned_abs(),
        warm_up: args.warm_up.unsigned_abs(),
        warm_up_max: args.warm_up_max.unsigned_abs(),
        seed: args.campaign.seed(),
    })
}

/// What is going to be done, and how long it takes if no window is void.
fn words(slo: &SloPlan, plan: &Plan) -> String {
    let labels: Vec<&str> = plan.rows.iter().map(|row| row.label.as_str()).collect();
    let window_ns = plan.latency.as_ref().map_or(0, |latency| latency.slice_ns);
    let void_ns = window_ns * (slo.windows * plan.group(0).len()) as u64;
    let block_ns = plan.block_ns_expected().saturating_sub(void_ns);
    let blocks = (plan.blocks_max * plan.groups()) as u64;
    format!(
        "highest rate of {} that holds {}: {} starts of each, {} windows of {} ms in a start, seed {}; about {}",
        labels.join(", "),
        slo.slo,
        plan.blocks_max,
        slo.windows,
        window_ns / 1_000_000,
        plan.seed,
        duration(Duration::from_nanos(block_ns * blocks)),
    )
}
