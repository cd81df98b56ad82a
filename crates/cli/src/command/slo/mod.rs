//! `tare slo`: the highest rate at which services hold an SLO.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tare_analysis::capacity::{self, SloReport};

use anyhow::{Context, ensure};
use tare_bench::{
    experiment::LoadSetting,
    run::{folder, plan::Plan},
    slo::{Slo, SloPlan, plan::Setting},
};
use tare_host::cpus::{self, Pinning};
use tare_load::schedule::parse;
use tare_service::{catalogue::Row, knobs::Knobs};

use super::campaign;
use super::report::page;
use super::run::{kept_rows, session::Session};
use crate::{
    exit::{self, Outcome},
    output::{self, Format, print, print_json},
    progress::duration,
    workspace::{self, Global},
};
use tare_service::workspace::Workspace;

/// Find the highest rate at which services hold an SLO, such as p99=10ms
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Services: names, `NAME@2` for a second row of the same, groups such as `group:go`
    #[arg(required_unless_present = "resume", value_delimiter = ',')]
    services: Vec<String>,
    /// What has to hold: `p50`, `p90`, `p99`, `p99.9` with a time, and `errors=0.1%` (which is the default); all of it
    #[arg(long = "slo", value_name = "p99=10ms", required_unless_present = "resume", value_delimiter = ',')]
    slo: Vec<String>,
    /// Go on with a search that was cut off: the starts that it has finished count, and the rest is done
    #[arg(long, value_name = "RUN", conflicts_with_all = ["services", "slo", "seed", "out", "dry_run"])]
    resume: Option<PathBuf>,
    /// The contract under which they are loaded
    #[arg(long, default_value = "hello")]
    contract: String,
    /// End with status 3 where a row does not hold this rate, such as `20k`, and with 5 where that is not clear
    #[arg(long, value_name = "RATE")]
    at_least: Option<String>,
    /// Fresh starts of every service, each of which is one search; an interval that assumes little takes 6
    #[arg(long, default_value = "6")]
    starts: usize,
    /// Windows of one search
    #[arg(long, default_value = "14")]
    windows: usize,
    /// Length of a window; a hundred times the longest time of the SLO, from 0.5 s to 10 s, where it is not given
    #[arg(long, value_name = "TIME")]
    window: Option<jiff::SignedDuration>,
    /// A window in which the generator itself is later than this, in 1% of its requests, is void and tried again
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    max_lag: jiff::SignedDuration,
    /// Load on a fresh process before anything counts
    #[arg(long, value_name = "TIME", default_value = "1s")]
    warm_up: jiff::SignedDuration,
    /// The most of it, for a service that a pilot finds not steady before
    #[arg(long, value_name = "TIME", default_value = "10s")]
    warm_up_max: jiff::SignedDuration,
    /// The most connections that an open loop may have
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
    let Some((run, report)) = found else { return Ok(Outcome::Fine) };
    print_report(&report, args.campaign.format())?;
    exit::of_run(&run)
}

/// The rest of a search that was cut off. A rate that is asked of it now is kept in its folder, as that of the first time was.
fn resume(workspace: &mut Workspace, run: &Path, at_least: Option<f64>) -> anyhow::Result<SloReport> {
    let kept = folder::read(run)?;
    let mut slo =
        SloPlan::read(run)?.with_context(|| format!("{}: no search for capacity", run.display()))?;
    if at_least.is_some() {
        slo.at_least = at_least;
        slo.keep(run)?;
    }
    let rows = kept_rows(workspace, &kept)?;
    Session::new(workspace, rows, run)?.go_on_searching(&slo, &kept)
}

/// A new search; nothing where only the plan was asked for.
fn begin(
    workspace: &mut Workspace,
    args: &Args,
    at_least: Option<f64>,
) -> anyhow::Result<Option<(PathBuf, SloReport)>> {
    let slo = Slo::parse(args.slo.iter().map(String::as_str)).context("--slo")?;
    let setting = setting(args)?;
    workspace.contract(&setting.contract)?;
    workspace.adopt(args.services.iter().map(String::as_str))?;
    let rows = workspace.rows(args.services.iter().map(String::as_str))?;
    let pinning = Pinning::choose(&cpus::available(), setting.knobs.threads, setting.load.threads);
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
) -> anyhow::Result<(PathBuf, SloReport)> {
    let began = jiff::Timestamp::now();
    let run = || workspace.new_run("slo", began);
    let run = args.campaign.out.clone().unwrap_or_else(run);
    ensure!(!run.join("run.json").exists(), "{}: holds a run already; choose another folder", run.display());
    workspace::print_broken(workspace);
    let report = Session::new(workspace, rows, &run)?.search(slo, plan, began)?;
    page::tell_kept(&run);
    Ok((run, report))
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
        knobs: Knobs { threads: args.threads, delay_ms: 0 },
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

/// Prints the report of a search to stdout.
pub fn print_report(report: &SloReport, format: Format) -> anyhow::Result<()> {
    match format {
        Format::Text => print(&capacity::text(report, |cells| output::aligned(cells, 1))),
        Format::Markdown => print(&capacity::markdown(report)),
        Format::Json => print_json(report),
    }
}
