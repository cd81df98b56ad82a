//! `tare list`: what there is to weigh.

use serde::Serialize;
use tare_lab::catalogue::{Service, Setting, Style};

use crate::{
    exit::Outcome,
    output::{columns, paint, print, print_json},
    workspace::{Global, Workspace},
};

/// List services: versions, licences, contracts, and whether this machine can build them
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Services, or groups such as `group:go`; all of them where none is named
    services: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line {
    service: String,
    title: Option<String>,
    language: String,
    framework: String,
    url: String,
    licence: String,
    style: Style,
    contracts: Vec<String>,
    settings: Vec<Setting>,
    /// The receipt of the last good build.
    version: Option<String>,
    /// Why this machine cannot build it.
    missing: Option<String>,
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    let workspace = Workspace::open(global)?;
    let builder = workspace.builder();
    let line = |service: &Service| Line {
        service: service.id.clone(),
        title: service.title.clone(),
        language: service.language.clone(),
        framework: service.framework.clone(),
        url: service.url.clone(),
        licence: service.licence.clone(),
        style: service.style,
        contracts: service.contracts.clone(),
        settings: service.settings.clone(),
        version: builder.last(service).map(|stamp| stamp.version),
        missing: tare_lab::build::check_requirements(service).err().map(|missing| missing.to_string()),
    };
    let lines: Vec<Line> = workspace.select(&args.services)?.iter().map(|row| line(&row.service)).collect();
    match args.json {
        true => print_json(&lines)?,
        false => print(&text(&lines))?,
    }
    Ok(workspace.outcome_of_all(&args.services, Outcome::Fine))
}

fn text(lines: &[Line]) -> String {
    let head = ["service", "language", "framework", "version", "licence", "contracts", "on this machine"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(lines.iter().map(|line| {
        let state = match (&line.missing, &line.version) {
            (Some(missing), _) => missing.clone(),
            (None, Some(_)) => "built".to_owned(),
            (None, None) => "can be built".to_owned(),
        };
        let version = line.version.clone().unwrap_or_else(|| "-".to_owned());
        let contracts = line.contracts.join(" ");
        let names =
            [&line.service, &line.language, &line.framework, &version, &line.licence, &contracts, &state];
        names.map(String::clone).to_vec()
    }));
    columns(&rows)
        + &format!("\n{}\n", paint("2", "`tare list --json` tells more, such as what is not default"))
}
