//! `tare list --footprint`: licences, dependencies, sizes and costs. With `--measure` it starts the service for
//! two more figures.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use serde::Serialize;
use tare_base::units::several;
use tare_contract::Contract;
use tare_host::{process::Supervisor, signals};
use tare_import::footprint::{
    self, Kept,
    measure::{self, FootprintTrial},
};
use tare_report::{
    document::{ALWAYS, Unit, Value},
    write::text::TextLook,
};
use tare_service::{
    build::{BuildError, Site},
    catalogue::{Row, Service},
    footprint::{Footprint, FootprintSource, Licence},
    workspace::Workspace,
};

use crate::{
    exit::Outcome,
    output::{look, paint, print_either, table},
    progress::Progress,
    trust, workspace,
};

/// The width of the licence column; JSON has the full text.
const LICENCE: usize = 22;

#[derive(Serialize)]
struct FootprintLine {
    service: String,
    language: String,
    framework: String,
    /// The version in the record of the last good build.
    version: Option<String>,
    #[serde(flatten)]
    aspects: Footprint,
}

pub(crate) fn run(workspace: &Workspace, rows: &[Row], measure: bool, json: bool) -> anyhow::Result<Outcome> {
    // Cargo and Go run in the folders of services, where a file may redirect them to another program.
    trust::ask(workspace, rows.iter().map(|row| &row.service))?;
    let kept = Kept::of(workspace);
    let outcome = if measure { measure_all(workspace, rows, &kept)? } else { Outcome::Fine };
    let progress = Progress::new(false);
    progress.say(&format!("looking at {}", several(rows.len() as u64, "service")));
    let services: Vec<&Service> = rows.iter().map(|row| &row.service).collect();
    let footprints = footprint::read_all(workspace, &services)?;
    let line = |(service, aspects): (&Service, Footprint)| FootprintLine {
        service: service.id.clone(),
        language: service.language.clone(),
        framework: service.framework.clone(),
        version: workspace.builder().last(service).map(|entry| entry.version),
        aspects,
    };
    let lines: Vec<FootprintLine> = services.into_iter().zip(footprints).map(line).collect();
    progress.finish();
    print_either(json, &lines, || text(&lines, look()))?;
    Ok(outcome)
}

/// Measures the services that can be built. Figures are stored at once: an interrupt costs one service.
fn measure_all(workspace: &Workspace, rows: &[Row], kept: &Kept) -> anyhow::Result<Outcome> {
    let interrupt = signals::listen()?;
    let supervisor = workspace::supervisor(workspace, rows.iter().map(|row| &row.service))?;
    let site = Site::new(&supervisor, &interrupt);
    let measuring = Measuring { workspace, kept, supervisor: &supervisor, site, interrupt: &interrupt };
    let progress = Progress::new(false);
    let mut outcome = Outcome::Fine;
    for (index, row) in rows.iter().enumerate() {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        let id = &row.service.id;
        progress.say(&format!("measuring {id} ({} of {})", index + 1, rows.len()));
        if let Err(failure) = measuring.measure(&row.service) {
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
    /// `None` if nothing is wrong: the service was not selected, or is not built yet.
    outcome: Option<Outcome>,
}

struct Measuring<'a> {
    workspace: &'a Workspace,
    kept: &'a Kept,
    supervisor: &'a Supervisor,
    site: Site<'a>,
    interrupt: &'a AtomicBool,
}

impl Measuring<'_> {
    fn measure(&self, service: &Service) -> Result<(), Failure> {
        let fail = |word, outcome| move |reason: String| Failure { word, reason, outcome };
        let built = match self.workspace.builder().build(service, &self.site, false) {
            Ok(built) => built,
            Err(BuildError::Interrupted) => return Ok(()),
            Err(error) if error.is_of_this_machine() => return Err(fail("missing", None)(error.to_string())),
            Err(error) => return Err(fail("not built", Some(Outcome::SetUp))(error.to_string())),
        };
        let contract =
            self.contract(service).ok_or_else(|| fail("failed", None)("declares no contract".to_owned()))?;
        let (seed, folder) = (tare_host::seed::draw(), self.kept.output(service));
        let contract = contract.with_tables(seed, &folder);
        let contract = contract.map_err(|error| fail("failed", Some(Outcome::SetUp))(error.to_string()))?;
        let trial = FootprintTrial {
            contract: &contract,
            seed,
            now: Timestamp::now(),
            supervisor: self.supervisor,
            folder: &folder,
            interrupt: self.interrupt,
        };
        let measured = measure::measure(&service.at(built.place), &trial)
            .map_err(|error| fail("failed", Some(Outcome::ServiceFailed))(error.to_string()))?;
        let Some(measured) = measured else { return Ok(()) };
        let put = self.kept.put(service, &built.content, &measured);
        put.map_err(|error| fail("not kept", Some(Outcome::SetUp))(error.to_string()))
    }

    /// The contract with the smallest request that the service answers.
    fn contract(&self, service: &Service) -> Option<&Contract> {
        let declared = &service.contracts;
        let hello = declared.iter().find(|name| *name == "hello");
        hello.or_else(|| declared.first()).and_then(|name| self.workspace.contracts.get(name))
    }
}

fn text(lines: &[FootprintLine], look: TextLook) -> String {
    let columns = [
        ("service", Unit::Text, ALWAYS),
        ("licence", Unit::Text, 5),
        ("direct", Unit::Count, 3),
        ("total", Unit::Count, 5),
        ("lines", Unit::Count, 2),
        ("artefact", Unit::Bytes, 5),
        ("build", Unit::Nanoseconds, 2),
        ("start", Unit::Nanoseconds, 4),
        ("idle RSS", Unit::Bytes, 4),
        ("released", Unit::Text, 1),
    ];
    let mut out = table(columns, lines.iter().map(cells).collect(), look) + "\n";
    for line in lines {
        if let Some(contradiction) = &line.aspects.licence.contradiction {
            out += &format!("! {}: {contradiction}\n", line.service);
        }
        for source in &line.aspects.sources {
            out += &format!("{}: from {}\n", line.service, source.line());
        }
    }
    out + &look.paint("2", LEGEND)
}

const LEGEND: &str = "\
direct, total: packages that the service asks for, and all in the build; lines: code of the service;\n\
artefact: what must be shipped besides the language's runtime; build: duration of a full build;\n\
start, idle RSS: by --measure; (licence): known from the manifest alone; licence!: the package says something else\n\
than the manifest; -: not known, or not built or measured here; --json prints more\n";

fn cells(line: &FootprintLine) -> [Value; 10] {
    let aspects = &line.aspects;
    let measured = aspects.measured.as_ref();
    let released = aspects.release.as_ref().and_then(|release| release.newest_date);
    [
        line.service.as_str().into(),
        licence(&aspects.licence).into(),
        aspects.dependencies.direct.into(),
        aspects.dependencies.total.into(),
        aspects.code.as_ref().map(|code| code.lines).into(),
        aspects.artefact_bytes.into(),
        aspects.build.and_then(|cost| Some(cost.whole()?[0] * 1e9)).into(),
        measured.map(|measured| measured.start_up_ns).into(),
        measured.map(|measured| measured.rss_bytes).into(),
        released.map(|date| date.to_string()).into(),
    ]
}

/// The licence: in brackets if only the manifest states it, with a mark if the package states another.
fn licence(licence: &Licence) -> String {
    let mark = if licence.contradiction.is_some() { "!" } else { "" };
    let whole = format!("{}{mark}", licence.spdx);
    let room = if licence.source == FootprintSource::Manifest { LICENCE - 2 } else { LICENCE };
    let short = match whole.chars().count() > room {
        true => whole.chars().take(room - 1).chain(['…']).collect(),
        false => whole,
    };
    if licence.source == FootprintSource::Manifest { format!("({short})") } else { short }
}

#[cfg(test)]
mod tests;
