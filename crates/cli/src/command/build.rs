//! `tare build`: builds changed services in parallel, and prints the cost of each build.

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
use tare_base::units::{parse_time, spell_duration};
use tare_service::{
    build::{self, BuildCost, BuildError, BuildOptions, Built, Laid, Site, Store},
    catalogue::Service,
};

use crate::{
    exit::Outcome,
    output::{paint, print, print_either},
    progress::{Progress, duration},
    workspace::{self, Global},
};
use tare_host::signals;

/// Build services; what has not changed is not built again
///
/// Prints one line per service: the version that it reports, and the time, CPU time, download and disk space of its build. The
/// other commands build what they need; this one builds beforehand. Builds are cached by content in TARE_HOME, and services run
/// from there, so a second checkout does not build them again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare build                      every service
  tare build ./mine --force       again, even if nothing has changed
  tare build --prune=7            remove cached builds that were not used for a week

Examples in a clone of the repository of Tare:
  tare build group:rust --jobs 1  all services in Rust, one after the other

Exit codes: 0 fine, 1 a build failed, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// Services, groups such as `group:go`, or folders such as `./mine` (with a slash) [default: all services]
    services: Vec<String>,
    /// Build again, even if nothing has changed
    #[arg(long)]
    force: bool,
    /// Number of builds at once [default: the number of CPUs]; fewer while less than 2 GiB of memory is free
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Instead of building, remove cached builds that were not used for DAYS days [default: 30], and print the cache's size
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
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    within: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct BuildLine {
    service: String,
    #[serde(flatten)]
    result: BuildResult,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
enum BuildResult {
    Built(Ready),
    Current(Ready),
    Missing { reason: String },
    Failed { reason: String },
    Skipped { reason: String },
}

#[derive(Serialize)]
struct Ready {
    version: String,
    cost: BuildCost,
    content: String,
    folder: PathBuf,
    /// Third-party sources in the build, each with its licence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<Laid>,
}

pub(crate) fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if let Some(days) = args.prune {
        return prune(&global.open()?.store(), days, args.json);
    }
    let workspace = global.open_with(&args.services)?;
    let mut rows = workspace::select(&workspace, &args.services)?;
    rows.dedup_by(|a, b| a.service.name == b.service.name);
    let services: Vec<&Service> = rows.iter().map(|row| &row.service).collect();
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor(&workspace, services.iter().copied())?;
    let progress = Progress::new(false);
    let began = Instant::now();
    let may_begin = may_begin(&args, &interrupt, began);
    let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or_else(cpus, usize::from);
    let many = BuildOptions { jobs, force: args.force, may_begin: &may_begin };
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
    let lines = in_order_of(&services, lines.into_inner().expect("no thread panics with the lock"));
    print_either(args.json, &lines, || summary(&lines, began.elapsed()))?;
    let failed = lines.iter().any(|line| matches!(line.result, BuildResult::Failed { .. }));
    let outcome = if failed { Outcome::SetUp } else { Outcome::Fine };
    Ok(workspace::outcome_of_all(&workspace, &args.services, outcome))
}

fn prune(store: &Store, days: u16, json: bool) -> anyhow::Result<Outcome> {
    let unused = Duration::from_secs(u64::from(days) * 24 * 60 * 60);
    let before = SystemTime::now().checked_sub(unused).context("that is before the clock began")?;
    let folder = store.folder().display();
    let pruned = store.prune(before, &*signals::listen()?).with_context(|| folder.to_string())?;
    let [removed_bytes, kept_bytes] = [pruned.removed_bytes, pruned.kept_bytes].map(DecimalBytes);
    print_either(json, &pruned, || {
        let (removed, kept) = (pruned.removed, pruned.kept);
        let besides = |what: &str, counts: (usize, usize)| match counts {
            (0, 0) => String::new(),
            (removed, kept) => format!("; {what}: {removed} removed, {kept} kept"),
        };
        let sources = besides("fetched sources", (pruned.removed_sources, pruned.kept_sources));
        let revisions = besides("revisions taken out", (pruned.removed_revisions, pruned.kept_revisions));
        format!(
            "removed {removed} builds ({removed_bytes}), kept {kept} ({kept_bytes}) in {folder}{sources}{revisions}\n"
        )
    })?;
    Ok(Outcome::Fine)
}

/// Whether time is left, and no signal has arrived.
fn may_begin(args: &Args, interrupt: &AtomicBool, began: Instant) -> impl Fn() -> bool + Sync {
    let within = args.within;
    move || !interrupt.load(Ordering::Relaxed) && within.is_none_or(|within| began.elapsed() < within)
}

/// Sorts the lines: builds end in any order, but the JSON has the order of the catalogue.
fn in_order_of(services: &[&Service], mut lines: Vec<BuildLine>) -> Vec<BuildLine> {
    lines.sort_by_key(|line| services.iter().position(|service| service.name == line.service));
    lines
}

fn line(service: &Service, built: Option<Result<Built, BuildError>>, within: Option<Duration>) -> BuildLine {
    let ready = |built: Built| {
        let folder = built.place.to_path_buf();
        let Built { version, cost, content, sources, .. } = built;
        Ready { version, cost, content, folder, sources }
    };
    let result = match built {
        Some(Ok(built)) if built.cached => BuildResult::Current(ready(built)),
        Some(Ok(built)) => BuildResult::Built(ready(built)),
        Some(Err(error @ BuildError::Interrupted)) => BuildResult::Skipped { reason: error.to_string() },
        Some(Err(error)) if error.is_of_this_machine() => BuildResult::Missing { reason: error.to_string() },
        Some(Err(error)) => BuildResult::Failed { reason: error.to_string() },
        None => {
            let within =
                within.map(|within| format!(" within {}", spell_duration(within))).unwrap_or_default();
            BuildResult::Skipped { reason: format!("not started{within}") }
        }
    };
    BuildLine { service: service.name.clone(), result }
}

fn text(line: &BuildLine) -> String {
    let (code, word, rest) = match &line.result {
        BuildResult::Built(Ready { version, cost, .. }) if cost.seconds == 0.0 => {
            ("32", "built", format!("{version}, nothing to do"))
        }
        BuildResult::Built(Ready { version, cost, .. }) => {
            ("32", "built", format!("{version} in {}", describe(cost)))
        }
        BuildResult::Current(Ready { version, .. }) => ("32", "current", version.clone()),
        BuildResult::Missing { reason } => ("33", "missing", reason.clone()),
        BuildResult::Failed { reason } => ("31", "failed", reason.clone()),
        BuildResult::Skipped { reason } => ("33", "skipped", reason.clone()),
    };
    let from = match &line.result {
        BuildResult::Built(ready) | BuildResult::Current(ready) => ready.sources.as_slice(),
        _ => &[],
    };
    let from: String = from.iter().map(|source| format!("{:<17} from {}\n", "", source.line())).collect();
    format!("{:<17} {} {rest}\n{from}", line.service, paint(code, word))
}

fn describe(cost: &BuildCost) -> String {
    let download = cost.download_bytes.map_or("unknown".to_owned(), |bytes| DecimalBytes(bytes).to_string());
    format!(
        "{:.1} s: {:.1} s of CPU, {download} of download, {} on disk",
        cost.seconds,
        cost.cpu_seconds,
        DecimalBytes(cost.disk_bytes)
    )
}

fn summary(lines: &[BuildLine], took: Duration) -> String {
    let mut counts =
        [("built", 0), ("current", 0), ("failed", 0), ("not on this machine", 0), ("skipped", 0)];
    for line in lines {
        let place = match line.result {
            BuildResult::Built(_) => 0,
            BuildResult::Current(_) => 1,
            BuildResult::Failed { .. } => 2,
            BuildResult::Missing { .. } => 3,
            BuildResult::Skipped { .. } => 4,
        };
        counts[place].1 += 1;
    }
    let shown = counts.iter().filter(|(what, count)| *what != "skipped" || *count > 0);
    let parts: Vec<String> = shown.map(|(what, count)| format!("{count} {what}")).collect();
    format!("\n{}; {}\n", parts.join(", "), duration(took))
}
