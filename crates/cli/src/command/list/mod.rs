//! `tare list`: the services, and with `--footprint` their footprint.

use serde::Serialize;
use tare_report::document::{ALWAYS, Tone, Unit};
use tare_service::{
    catalogue::{GitSource, Row, Setting, Style, language_name},
    workspace::Workspace,
};

use crate::{
    exit::Outcome,
    output::{look, paint, print_either, table},
    workspace::{self, Global},
};

/// List services: versions, licences, contracts, and which are built
///
/// It runs nothing of the repository (with --footprint it asks tools such as cargo about it, and with --measure it builds and
/// starts the services); `tare doctor` asks whether this machine can build them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare list                             every service
  tare list --footprint                 licence, dependencies, lines of code, size, releases
  tare list group:go --json             all services in Go, with their settings, for a program
  tare list hyper --footprint --measure   its start-up time and idle memory too")]
pub(crate) struct Args {
    /// Services, or groups such as `group:go` [default: all services]
    services: Vec<String>,
    /// Print licence, dependencies, lines of code, size, build cost and releases
    #[arg(long)]
    footprint: bool,
    /// With --footprint: build each service and start it three times, for its start-up time and idle memory
    #[arg(long, requires = "footprint")]
    measure: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listing {
    service: String,
    title: Option<String>,
    language: String,
    framework: String,
    url: String,
    licence: String,
    style: Style,
    contracts: Vec<String>,
    settings: Vec<Setting>,
    /// The sources that its build fetches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<GitSource>,
    /// The version that the last good build reported.
    version: Option<String>,
}

/// Prints the footprint of services, which a part reads; if asked, it measures them first. The last is whether as JSON.
pub(crate) type PrintFootprints = fn(&Workspace, &[Row], bool, bool) -> anyhow::Result<Outcome>;

pub(crate) fn run(global: &Global, args: Args, print_footprints: PrintFootprints) -> anyhow::Result<Outcome> {
    let workspace = global.open_with(&args.services)?;
    let rows = workspace::select(&workspace, &args.services)?;
    if args.footprint {
        let outcome = print_footprints(&workspace, &rows, args.measure, args.json)?;
        return Ok(workspace::outcome_of_all(&workspace, &args.services, outcome));
    }
    let lines: Vec<Listing> = rows.iter().map(|row| line(&workspace, row)).collect();
    print_either(args.json, &lines, || text(&lines))?;
    if args.services.is_empty() && workspace.has_more_by_name() {
        tare_host::message!(
            "the services of Tare are found by name too, such as hyper; `tare catalogue` prints them"
        );
    }
    Ok(workspace::outcome_of_all(&workspace, &args.services, Outcome::Fine))
}

fn line(workspace: &Workspace, row: &Row) -> Listing {
    let service = &row.service;
    Listing {
        service: service.id.clone(),
        title: service.title.clone(),
        language: service.language.clone(),
        framework: service.framework.clone(),
        url: service.url.clone(),
        licence: service.licence.clone(),
        style: service.style,
        contracts: service.contracts.clone(),
        settings: service.settings.clone(),
        sources: service.sources.clone(),
        version: workspace.builder().last(service).map(|entry| entry.version),
    }
}

fn text(lines: &[Listing]) -> String {
    let columns = [
        ("service", Unit::Text, ALWAYS),
        ("language", Unit::Text, 4),
        ("framework", Unit::Text, 3),
        ("version", Unit::Text, 6),
        ("licence", Unit::Text, 2),
        ("contracts", Unit::Text, 1),
        ("on this machine", Unit::Text, 5),
    ];
    let row = |line: &Listing| {
        let state = match line.version {
            Some(_) => ("built", Tone::Good),
            None => ("not built", Tone::Plain),
        };
        [
            line.service.as_str().into(),
            language_name(&line.language).into(),
            line.framework.as_str().into(),
            line.version.clone().into(),
            line.licence.as_str().into(),
            line.contracts.join(" ").into(),
            state.into(),
        ]
    };
    let mut out = table(columns, lines.iter().map(row).collect(), look()) + "\n";
    for line in lines {
        let Some((first, others)) = line.sources.split_first() else { continue };
        let more = if others.is_empty() { String::new() } else { format!(", and {} more", others.len()) };
        out += &format!("{}: built from {} at {}{more}\n", line.service, first.git, first.commit);
    }
    if lines.iter().any(|line| line.version.is_none()) {
        out += &paint(
            "2",
            "-: the version is not known, since the service is not built here: a build reports it",
        );
        out += "\n";
    }
    let hint = "--json prints more, such as settings that differ from the defaults; --footprint prints size and dependencies";
    out + &paint("2", hint) + "\n"
}
