//! `tare build`: builds services side by side, unless nothing has changed; prints the cost of each build.

use std::{
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use anyhow::Context;
use indicatif::DecimalBytes;
use serde::Serialize;
use tare_service::{
    build::{self, BuildError, Built, Cost, Many, Site, Store},
    catalogue::Service,
};

use crate::{
    exit::Outcome,
    output::{paint, print, print_json},
    progress::{Progress, duration},
    workspace::{self, Global},
};
use tare_host::signals;

/// Build services; what has not changed is not built again
///
/// Prints one line per service: the version that it reports, and the time, CPU time, download and disk space of its build. The
/// other commands build what they need; this one builds beforehand. Builds are cached by content in TARE_HOME, where services
/// run from, so that a second checkout does not build them again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare build                      every service
  tare build group:rust --jobs 1  all services in Rust, one after the other
  tare build hyper --force        again, even if nothing has changed
  tare build --prune=7            remove cached builds that were not used for a week

Exit codes: 0 fine, 1 a build failed, 130 or 143 interrupted.")]
pub struct Args {
    /// Services, groups such as `group:go`, or folders such as `./mine` (with a slash) [default: all services]
    services: Vec<String>,
    /// Build again, even if nothing has changed
    #[arg(long)]
    force: bool,
    /// Number of builds at once [default: the number of CPUs]; fewer while less than 2 GiB of memory are free
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Build nothing: remove cached builds that were not used for DAYS days [default: 30], and print the size of the cache
    #[arg(
        long,
        value_name = "DAYS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "30",
        conflicts_with_all = ["services", "force", "jobs", "within"]
    )]
    prune: Option<u16>,
    /// Start no build after this time, such as `20m`; the rest is reported as skipped
    #[arg(long, value_name = "TIME")]
    within: Option<jiff::SignedDuration>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line {
    service: String,
    #[serde(flatten)]
    result: Result,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
enum Result {
    Built(Ready),
    Current(Ready),
    Missing { reason: String },
    Failed { reason: String },
    Skipped { reason: String },
}

#[derive(Serialize)]
struct Ready {
    version: String,
    cost: Cost,
    content: String,
    /// Where it runs.
    folder: PathBuf,
}

impl From<Built> for Ready {
    fn from(built: Built) -> Ready {
        let folder = built.place.to_path_buf();
        Ready { version: built.version, cost: built.cost, content: built.content, folder }
    }
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if let Some(days) = args.prune {
        return prune(&global.open()?.store(), days, args.json);
    }
    let workspace = global.open_with(&args.services)?;
    let mut rows = workspace::select(&workspace, &args.services)?;
    rows.dedup_by(|a, b| a.service.name == b.service.name);
    let services: Vec<&Service> = rows.iter().map(|row| &row.service).collect();
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor()?;
    let progress = Progress::new(false);
    let began = Instant::now();
    let may_begin = may_begin(&args, &interrupt, began);
    let many = Many { jobs: jobs(&args), force: args.force, may_begin: &may_begin };
    let (done, lines) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    progress.say(&format!("building {} services", services.len()));
    let site = Site::new(&supervisor, &interrupt);
    build::build_many(&workspace.builder(), &services, &site, many, |service, built| {
        let line = line(service, built, args.within);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress.say(&format!("{done} of {}: {}", services.len(), service.name));
        if !args.json {
            let _ = progress.suspend(|| print(&text(&line)));
        }
        lines.lock().expect("no thread panics with the lock").push(line);
    });
    progress.finish();
    let lines = lines.into_inner().expect("no thread panics with the lock");
    match args.json {
        true => print_json(&in_order_of(&services, lines.iter()))?,
        false => print(&summary(&lines, began.elapsed()))?,
    }
    let failed = lines.iter().any(|line| matches!(line.result, Result::Failed { .. }));
    Ok(workspace::outcome_of_all(
        &workspace,
        &args.services,
        if failed { Outcome::SetUp } else { Outcome::Fine },
    ))
}

fn prune(store: &Store, days: u16, json: bool) -> anyhow::Result<Outcome> {
    let unused = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
    let before = SystemTime::now().checked_sub(unused).context("that is before the clock began")?;
    let folder = store.folder().display();
    let pruned = store.prune(before, &*signals::listen()?).with_context(|| folder.to_string())?;
    match json {
        true => print_json(&pruned)?,
        false => print(&format!(
            "removed {} builds ({}), kept {} ({}) in {folder}\n",
            pruned.removed,
            DecimalBytes(pruned.removed_bytes),
            pruned.kept,
            DecimalBytes(pruned.kept_bytes),
        ))?,
    }
    Ok(Outcome::Fine)
}

fn jobs(args: &Args) -> usize {
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or_else(cpus, usize::from)
}

/// Whether there is time left, and no signal has come.
fn may_begin(args: &Args, interrupt: &AtomicBool, began: Instant) -> impl Fn() -> bool + Sync {
    let within = args.within.map(|within| within.unsigned_abs());
    move || !interrupt.load(Ordering::Relaxed) && within.is_none_or(|within| began.elapsed() < within)
}

/// Builds end in any order; the JSON has the order of the catalogue.
fn in_order_of<'l>(services: &[&Service], lines: impl Iterator<Item = &'l Line>) -> Vec<&'l Line> {
    let mut lines: Vec<&Line> = lines.collect();
    lines.sort_by_key(|line| services.iter().position(|service| service.name == line.service));
    lines
}

fn line(
    service: &Service,
    built: Option<std::result::Result<Built, BuildError>>,
    within: Option<jiff::SignedDuration>,
) -> Line {
    let result = match built {
        Some(Ok(built)) if built.cached => Result::Current(built.into()),
        Some(Ok(built)) => Result::Built(built.into()),
        Some(Err(error @ BuildError::Missing(_))) => Result::Missing { reason: error.to_string() },
        Some(Err(error @ BuildError::Interrupted)) => Result::Skipped { reason: error.to_string() },
        Some(Err(error)) => Result::Failed { reason: error.to_string() },
        None => Result::Skipped { reason: not_begun(within) },
    };
    Line { service: service.name.clone(), result }
}

fn not_begun(within: Option<jiff::SignedDuration>) -> String {
    match within {
        Some(within) => format!("not started within {within:#}"),
        None => "not started".to_owned(),
    }
}

fn text(line: &Line) -> String {
    let (word, rest) = match &line.result {
        Result::Built(Ready { version, cost, .. }) if cost.seconds == 0.0 => {
            (paint("32", "built"), format!("{version}, nothing to do"))
        }
        Result::Built(Ready { version, cost, .. }) => {
            (paint("32", "built"), format!("{version} in {}", words(cost)))
        }
        Result::Current(Ready { version, .. }) => (paint("32", "current"), version.clone()),
        Result::Missing { reason } => (paint("33", "missing"), reason.clone()),
        Result::Failed { reason } => (paint("31", "failed"), reason.clone()),
        Result::Skipped { reason } => (paint("33", "skipped"), reason.clone()),
    };
    format!("{:<17} {word} {rest}\n", line.service)
}

fn words(cost: &Cost) -> String {
    let download = cost.download_bytes.map_or("unknown".to_owned(), |bytes| DecimalBytes(bytes).to_string());
    format!(
        "{:.1} s: {:.1} s of CPU, {download} of download, {} on disk",
        cost.seconds,
        cost.cpu_seconds,
        DecimalBytes(cost.disk_bytes)
    )
}

fn summary(lines: &[Line], took: Duration) -> String {
    let count = |wanted: fn(&Result) -> bool| lines.iter().filter(|line| wanted(&line.result)).count();
    let mut parts = vec![
        format!("{} built", count(|result| matches!(result, Result::Built(_)))),
        format!("{} current", count(|result| matches!(result, Result::Current(_)))),
        format!("{} failed", count(|result| matches!(result, Result::Failed { .. }))),
        format!("{} not on this machine", count(|result| matches!(result, Result::Missing { .. }))),
    ];
    let skipped = count(|result| matches!(result, Result::Skipped { .. }));
    if skipped > 0 {
        parts.push(format!("{skipped} skipped"));
    }
    format!("\n{}; {}\n", parts.join(", "), duration(took))
}
