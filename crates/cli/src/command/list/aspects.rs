//! `tare list --aspects`: licences, dependencies, sizes and costs, and with `--measure` two figures that take a start.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use serde::Serialize;
use tare_analysis::report::figures::{bytes, time};
use tare_host::process::Supervisor;
use tare_service::{
    build::{BuildError, Site},
    catalogue::{Row, Service},
    contract::Contract,
    footprint::{
        Footprint, Kept, Licence, Releases, Source,
        measure::{self, Trial},
    },
};

use super::{in_parallel, last, missing};
use crate::{
    exit::Outcome,
    output::{aligned, paint, print, print_json},
    progress::Progress,
    workspace,
};
use tare_host::signals;
use tare_service::workspace::Workspace;

/// Long licences are cut in the table, and whole in JSON.
const LICENCE: usize = 22;

#[derive(Serialize)]
struct Line {
    service: String,
    language: String,
    framework: String,
    /// The record of the last good build.
    version: Option<String>,
    /// Why this machine cannot build it.
    missing: Option<String>,
    #[serde(flatten)]
    aspects: Footprint,
}

pub fn run(workspace: &Workspace, rows: &[Row], measure: bool, json: bool) -> anyhow::Result<Outcome> {
    let releases = Releases::load(&workspace.root)?;
    let kept = Kept::new(&workspace.root);
    let outcome = if measure { measure_all(workspace, rows, &kept)? } else { Outcome::Fine };
    let progress = Progress::new(false);
    let line = |row: &Row| {
        let service = &row.service;
        progress.say(&format!("looking at {}", service.id));
        let missing = missing(service);
        let stamp = last(workspace, service, missing.as_deref());
        Line {
            service: service.id.clone(),
            language: service.language.clone(),
            framework: service.framework.clone(),
            version: stamp.as_ref().map(|stamp| stamp.version.clone()),
            missing,
            aspects: Footprint::read(service, stamp.as_ref(), &releases, &kept),
        }
    };
    let lines = in_parallel(rows, line);
    progress.finish();
    match json {
        true => print_json(&lines)?,
        false => print(&text(&lines))?,
    }
    Ok(outcome)
}

/// Measures what can be built. Each figure is kept as soon as it is there, so that an interrupt costs one service.
fn measure_all(workspace: &Workspace, rows: &[Row], kept: &Kept) -> anyhow::Result<Outcome> {
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor()?;
    let site = Site::new(&supervisor, &interrupt);
    let session = Session { workspace, kept, supervisor: &supervisor, site, interrupt: &interrupt };
    let progress = Progress::new(false);
    let mut outcome = Outcome::Fine;
    for (index, row) in rows.iter().enumerate() {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        let id = &row.service.id;
        progress.say(&format!("measuring {id} ({} of {})", index + 1, rows.len()));
        if let Err(failure) = session.measure(&row.service) {
            progress.keep(&format!("{} {id}: {}", paint("31", failure.word), failure.reason));
            outcome = failure.outcome.unwrap_or(outcome);
        }
    }
    progress.finish();
    Ok(outcome)
}

/// Why a service has no new figures.
struct Failure {
    word: &'static str,
    reason: String,
    /// Absent if nothing is wrong: it was not asked for, or not built yet.
    outcome: Option<Outcome>,
}

struct Session<'a> {
    workspace: &'a Workspace,
    kept: &'a Kept,
    supervisor: &'a Supervisor,
    site: Site<'a>,
    interrupt: &'a AtomicBool,
}

impl Session<'_> {
    fn measure(&self, service: &Service) -> Result<(), Failure> {
        let fail = |word, outcome| move |reason: String| Failure { word, reason, outcome };
        let built = match self.workspace.builder().build(service, &self.site, false) {
            Ok(built) => built,
            Err(BuildError::Interrupted) => return Ok(()),
            Err(error @ BuildError::Missing(_)) => return Err(fail("missing", None)(error.to_string())),
            Err(error) => return Err(fail("not built", Some(Outcome::SetUp))(error.to_string())),
        };
        let contract =
            self.contract(service).ok_or_else(|| fail("failed", None)("declares no contract".to_owned()))?;
        let trial = Trial {
            contract,
            seed: tare_host::seed::draw(),
            now: Timestamp::now(),
            supervisor: self.supervisor,
            folder: &self.kept.output(service),
            interrupt: self.interrupt,
        };
        let measured = measure::measure(&service.at(built.place), &trial)
            .map_err(|error| fail("failed", Some(Outcome::ServiceFailed))(error.to_string()))?;
        let Some(measured) = measured else { return Ok(()) };
        let put = self.kept.put(service, &built.content, &measured);
        put.map_err(|error| fail("not kept", Some(Outcome::SetUp))(error.to_string()))
    }

    /// The smallest question that the service answers.
    fn contract(&self, service: &Service) -> Option<&Contract> {
        let declared = &service.contracts;
        let hello = declared.iter().find(|name| *name == "hello");
        hello.or_else(|| declared.first()).and_then(|name| self.workspace.contracts.get(name))
    }
}

fn text(lines: &[Line]) -> String {
    let head = [
        "service", "licence", "direct", "total", "lines", "artefact", "build", "start", "idle RSS",
        "released",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(lines.iter().map(cells));
    let mut out = aligned(&rows, 2) + "\n";
    let contradictions = lines.iter().filter_map(|line| {
        let contradiction = line.aspects.licence.contradiction.as_ref()?;
        Some(format!("! {}: {contradiction}\n", line.service))
    });
    out.extend(contradictions);
    out += &paint("2", LEGEND);
    out
}

const LEGEND: &str = "\
direct, total: packages asked for, and all in the build; lines: code of the service; artefact: what must be shipped\n\
besides the language's runtime; build: a whole one; start, idle RSS: by --measure; (licence): as the manifest alone\n\
says, ! where the package says something else than the manifest; `--json` tells more\n";

fn cells(line: &Line) -> Vec<String> {
    fn cell<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
        value.map_or_else(|| "-".to_owned(), show)
    }
    let aspects = &line.aspects;
    let measured = aspects.measured.as_ref();
    vec![
        line.service.clone(),
        licence(&aspects.licence),
        cell(aspects.dependencies.direct, |count| count.to_string()),
        cell(aspects.dependencies.total, |count| count.to_string()),
        cell(aspects.code.as_ref(), |code| code.lines.to_string()),
        cell(aspects.artefact_bytes, |count| bytes(count as f64)),
        cell(aspects.build, |cost| time(cost.seconds * 1e9)),
        cell(measured, |measured| time(measured.start_up_ns as f64)),
        cell(measured, |measured| bytes(measured.rss_bytes as f64)),
        cell(aspects.release.as_ref().and_then(|release| release.newest_date), |date| date.to_string()),
    ]
}

/// In brackets where only the manifest says it, with a mark where the package says something else.
fn licence(licence: &Licence) -> String {
    let mark = if licence.contradiction.is_some() { "!" } else { "" };
    let whole = format!("{}{mark}", licence.spdx);
    let room = if licence.source == Source::Manifest { LICENCE - 2 } else { LICENCE };
    let short = match whole.chars().count() > room {
        true => whole.chars().take(room - 1).chain(['…']).collect(),
        false => whole,
    };
    if licence.source == Source::Manifest { format!("({short})") } else { short }
}

#[cfg(test)]
mod tests;
