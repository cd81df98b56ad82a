//! `tare build`: builds services, or finds that nothing has changed.

use serde::Serialize;
use tare_lab::build::BuildError;

use crate::{
    exit::Outcome,
    output::{paint, print, print_json},
    progress::Progress,
    workspace::{Global, Workspace},
};

/// Build services; what has not changed is not built again
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Services, or groups such as `group:go`; all of them where none is named
    services: Vec<String>,
    /// Build even what has not changed
    #[arg(long)]
    force: bool,
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
    Built { version: String, build_seconds: f64, content: String },
    Current { version: String, build_seconds: f64, content: String },
    Missing { reason: String },
    Failed { reason: String },
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let workspace = Workspace::open(global)?;
    let mut rows = workspace.select(&args.services)?;
    rows.dedup_by(|a, b| a.service.name == b.service.name);
    let builder = workspace.builder();
    let progress = Progress::new(false);
    let mut lines = Vec::new();
    for row in &rows {
        progress.say(&format!("building {}", row.service.name));
        let result = match builder.build(&row.service, args.force) {
            Ok(built) if built.cached => Result::Current {
                version: built.version,
                build_seconds: built.build_seconds,
                content: built.content,
            },
            Ok(built) => Result::Built {
                version: built.version,
                build_seconds: built.build_seconds,
                content: built.content,
            },
            Err(error @ BuildError::Missing(_)) => Result::Missing { reason: error.to_string() },
            Err(error) => Result::Failed { reason: error.to_string() },
        };
        let line = Line { service: row.service.name.clone(), result };
        if !args.json {
            progress.suspend(|| print(&text(&line)))?;
        }
        lines.push(line);
    }
    progress.finish();
    if args.json {
        print_json(&lines)?;
    }
    let failed = lines.iter().any(|line| matches!(line.result, Result::Failed { .. }));
    Ok(if failed { Outcome::SetUp } else { Outcome::Fine })
}

fn text(line: &Line) -> String {
    let (word, rest) = match &line.result {
        Result::Built { version, build_seconds, .. } => {
            (paint("32", "built"), format!("{version} in {build_seconds:.1} s"))
        }
        Result::Current { version, .. } => (paint("32", "current"), version.clone()),
        Result::Missing { reason } => (paint("33", "missing"), reason.clone()),
        Result::Failed { reason } => (paint("31", "failed"), reason.clone()),
    };
    format!("{:<16} {word} {rest}\n", line.service)
}
