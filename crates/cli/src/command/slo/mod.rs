//! `tare slo`: the highest rate at which services hold an SLO.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use tare_base::units::{parse_rate, parse_time};
use tare_bench::{
    experiment::LoadSetting,
    folder,
    plan::{Plan, SearchSetting, Until},
    slo::{Slo, objective::PERCENTILES},
};
use tare_service::{
    catalogue::Row,
    settings::ServiceSettings,
    workspace::{Workspace, split},
};

use super::{
    asked::{self, AskedOptions},
    run::{agents::RunAgents, measure, resume, with_windows_taken},
    running::{self, RunningOptions},
    start,
};
use crate::{
    exit::Outcome,
    workspace::{self, Global},
};

/// The default contract, if all services declare it.
const CONTRACT: &str = "hello";

/// Find the highest request rate at which a service holds an SLO, such as p99=10ms
///
/// Each search raises and lowers the rate of an open loop: requests are due at random instants, whether or not the service has
/// answered the earlier ones, and latency counts from the instant a request was due. Every search uses a fresh process; the
/// capacity and its interval are computed over several of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare slo 'node server.js' --get / --slo p99=10ms       a command that listens on $PORT, or on {port} in its words
  tare slo http://127.0.0.1:3000/ --slo p99=10ms         a server that runs already
  tare slo ./mine --slo p99=10ms --at-least 20k          for CI: fail below 20,000 requests/s
  tare slo --resume .tare/runs/20261122T120000.000Z-slo        continue an interrupted search
  tare slo hyper --slo p99=10ms                          the capacity of one service
  tare slo hyper,axum,ntex --slo p99=10ms,errors=0.1%    of three, measured in turns

Exit codes: 0 fine, 1 usage or set-up error, 2 a service failed its contract, 3 a row holds less than --at-least, \
4 measurement invalid, 5 inconclusive, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// Services: names, groups such as `group:go`, folders such as `./mine`, commands such as `'node server.js'`, URLs of servers
    /// that run already, or `NAME@2` for a second row of the same service
    #[arg(required_unless_present = "resume")]
    services: Vec<String>,
    #[arg(long = "slo", value_name = "p99=10ms", required_unless_present = "resume", value_delimiter = ',', help = objectives())]
    slo: Vec<String>,
    /// Continue an interrupted search: its finished starts count, and the rest is measured
    #[arg(long, value_name = "RUN", conflicts_with_all = ["services", "slo", "budget", "seed", "out", "dry_run"])]
    resume: Option<PathBuf>,
    /// The contract whose requests are sent [default: hello, or else the first that all services declare]
    #[arg(long)]
    contract: Option<String>,
    /// Exit with 3 if a row does not hold this rate, such as `20k`, and with 5 if that is not clear
    #[arg(long, value_name = "RATE")]
    at_least: Option<String>,
    /// Fresh processes of every service, one search each; a distribution-free interval needs 6
    #[arg(long, default_value = "6")]
    starts: usize,
    /// Measuring windows of one search
    #[arg(long, default_value = "14")]
    windows: usize,
    /// The measuring may not take longer than this, such as `2m`; building and verifying are not counted, nor is a search that it
    /// cuts off [default: as long as all starts take]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    budget: Option<Duration>,
    /// Length of a window [default: 100 times the longest time of the SLO, at least 0.5 s, at most 10 s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    window: Option<Duration>,
    /// Discard and repeat a window in which the generator sent 1% of its requests later than this
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = parse_time)]
    max_lag: Duration,
    /// Warm-up load on a fresh process
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_time)]
    warm_up: Duration,
    /// The longest warm-up, for a service that a pilot run finds not steady earlier
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_time)]
    warm_up_max: Duration,
    /// The most connections of the open loop
    #[arg(short, long, default_value = "64")]
    connections: usize,
    /// `THREADS` of the services
    #[arg(short, long, default_value = "1")]
    threads: usize,
    #[command(flatten)]
    asked: AskedOptions,
    #[command(flatten)]
    running: RunningOptions,
    #[command(flatten)]
    start: start::StartOptions,
}

/// The help of `--slo`, built from the parser's own list.
fn objectives() -> String {
    format!(
        "The objectives, all of which must hold: a percentile with a time, {PERCENTILES}; `errors` with a share [default share: 0.1%]"
    )
}

pub(crate) fn run(global: &Global, mut args: Args, agents: RunAgents) -> anyhow::Result<Outcome> {
    let at_least = args.at_least.as_deref().map(parse_rate).transpose().context("--at-least")?;
    let Some(run) = &args.resume else { return begin(global, &mut args, at_least) };
    ask_of_stored(run, at_least)?;
    resume(global, run, &args.start, agents)
}

/// Stores the rate of a resumed search in its folder, as for a new one.
fn ask_of_stored(run: &Path, at_least: Option<f64>) -> anyhow::Result<()> {
    let mut header = folder::read_header(run)?;
    let Until::Search(slo) = &mut header.plan.until else {
        bail!("{}: not a search for capacity", run.display())
    };
    if at_least.is_some() {
        slo.at_least = at_least;
        folder::replace_header(run, &header)?;
    }
    Ok(())
}

fn begin(global: &Global, args: &mut Args, at_least: Option<f64>) -> anyhow::Result<Outcome> {
    let slo = Slo::parse(args.slo.iter().map(String::as_str)).context("--slo")?;
    let mut workspace = running::open(global, &args.services, &args.running)?;
    let mut rows = workspace.rows(args.services.iter().flat_map(|word| split(word)))?;
    running::declare(&mut rows, args.contract.as_deref());
    if let Some(asked) = args.asked.of(&rows, args.contract.as_deref())? {
        let settings = ServiceSettings::of_threads(args.threads);
        asked::learn_for_run(&mut workspace, &mut rows, &asked, &mut args.start, &settings, "slo")?;
    }
    let setting = setting(args, contract(&workspace, args, &rows)?, slo, at_least)?;
    let pinning = running::pinning(&rows, setting.service_settings.threads, setting.load.threads);
    let plan = Plan::search(&setting, &rows, args.start.seed(), pinning);
    let plan = with_windows_taken(plan, &workspace.runs());
    let plan = match args.budget {
        Some(budget) => plan.bounded(budget),
        None => plan,
    };
    workspace::print_broken(&workspace);
    measure(&workspace, &args.start, plan, rows)
}

fn contract(workspace: &Workspace, args: &Args, rows: &[Row]) -> anyhow::Result<String> {
    if let Some(name) = &args.contract {
        workspace.contract(name)?;
        return Ok(name.clone());
    }
    let declare = |name: &str| rows.iter().all(|row| row.service.contracts.iter().any(|own| own == name));
    if declare(CONTRACT) {
        return Ok(CONTRACT.to_owned());
    }
    let of_first = rows.iter().take(1).flat_map(|row| &row.service.contracts).find(|name| declare(name));
    of_first
        .cloned()
        .context("the services have no contract in common: choose one with --contract, or use --get")
}

fn setting(args: &Args, contract: String, slo: Slo, at_least: Option<f64>) -> anyhow::Result<SearchSetting> {
    for (name, value, most) in [
        ("--starts", args.starts, 100),
        ("--windows", args.windows, 1_000),
        ("--connections", args.connections, 20_000),
        ("--threads", args.threads, 1_024),
    ] {
        ensure!((1..=most).contains(&value), "{name}: {value} is not 1 to {most}");
    }
    let window = args.window;
    let lengths = Duration::from_millis(20)..=Duration::from_secs(60);
    ensure!(window.is_none_or(|window| lengths.contains(&window)), "--window: give 20ms to 60s");
    Ok(SearchSetting {
        slo,
        at_least,
        contract,
        load: LoadSetting::new(args.connections, 1),
        service_settings: ServiceSettings::of_threads(args.threads),
        starts: args.starts,
        windows: args.windows,
        window,
        lag_max: args.max_lag,
        warm_up: args.warm_up,
        warm_up_max: args.warm_up_max,
    })
}
