//! `tare build`: builds changed services in parallel, and prints the cost of each build.

use std::{
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::DecimalBytes;
use serde::Serialize;
use tare_base::units::{parse_time, spell_duration};
use tare_service::{
    build::{self, BuildCost, BuildError, BuildOptions, Built, Laid, SharedCost, Site},
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
/// from there, so a second checkout does not build them again; `tare cache` lists and removes them.
///
/// Services in Rust share the crates of registries that they use. The line says how much of the CPU time went into a service's own
/// code, and how much into shared crates that were not there yet: the latter depends on what was built before.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare build                      every service
  tare build ./mine --force       again, even if nothing has changed
  tare build --force --unshared   again, each as if it were the only one: what does its build cost?
  tare build group:rust --jobs 1  all services in Rust, one after the other

Exit codes: 0 fine, 1 a build failed, 130 or 143 interrupted.")]
pub(crate) struct Args {
    /// Services, groups such as `group:go`, or folders such as `./mine` (with a slash) [default: all services]
    services: Vec<String>,
    /// Build again, even if nothing has changed
    #[arg(long)]
    force: bool,
    /// Number of builds that compile at once [default: the number of CPUs]; fewer while less than 2 GiB of memory is free. One more
    /// fetches meanwhile
    #[arg(long, short, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// Compile all for each service, also crates that services in Rust share: its cost then depends on no other build
    #[arg(long)]
    unshared: bool,
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
    let site = Site::new(&supervisor, &interrupt).unshared(args.unshared);
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
        "{:.1} s: {:.1} s of CPU{}, {download} of download, {} on disk",
        cost.seconds,
        cost.cpu_seconds,
        cost.shared.map(|shared| parts(cost, shared)).unwrap_or_default(),
        DecimalBytes(cost.disk_bytes)
    )
}

/// What of the CPU time depends on earlier builds.
fn parts(cost: &BuildCost, shared: SharedCost) -> String {
    let own = cost.own_cpu_seconds().unwrap_or(cost.cpu_seconds);
    let SharedCost { cpu_seconds, crates } = shared;
    format!(" ({own:.1} s its own code, {cpu_seconds:.1} s for {crates} shared crates that were not there)")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_says_what_of_it_depends_on_the_order_of_builds() {
        let mut cost = BuildCost {
            seconds: 50.0,
            cpu_seconds: 48.25,
            download_bytes: Some(0),
            disk_bytes: 13_000_000,
            ..BuildCost::default()
        };
        assert_eq!(describe(&cost), "50.0 s: 48.2 s of CPU, 0 B of download, 13.00 MB on disk");
        cost.shared = Some(SharedCost { cpu_seconds: 40.0, crates: 97 });
        let parts = "48.2 s of CPU (8.2 s its own code, 40.0 s for 97 shared crates that were not there)";
        assert_eq!(describe(&cost), format!("50.0 s: {parts}, 0 B of download, 13.00 MB on disk"));
    }
}
