//! A published experiment measured again, beside its published figures: first the verdicts, then the figures.

mod answer;
mod claims;
mod headline;
mod journal;
mod latency;
mod loads;
mod matrix;
mod published;
mod seconds;
mod series;
#[cfg(test)]
mod tests;

use std::path::Path;

use tare_analysis::{
    estimate::UnitEstimate,
    figures::time,
    sequential::{CellReport, PUBLISHED, PointReport, SequentialReport, point_name},
};
use tare_bench::{
    figures,
    folder::{StoredRun, about::About},
    plan::{LoadSpec, Plan, PlannedRow, Point},
    sample::LoadResult,
};

use super::{
    columns::Columns,
    environment::{self, Setting},
    footprint::{self, Described},
};
use crate::document::{Column, Document, Fact, Kind, Section, Sentences, Status, Table, Unit};

pub(crate) use series::document as series;

pub(crate) fn document(stored: &StoredRun, report: &SequentialReport, folder: &Path) -> Document {
    let run = Experiment { plan: &stored.header.plan, report, stored };
    let about = About::read(folder).ok().flatten();
    let published = report.published.note.iter().map(|note| format!("of the published figures: {note}"));
    let mut document = Document {
        facts: facts(&run, about.as_ref()),
        sections: sections(&run, about.as_ref()),
        ..super::of_run(Kind::Sequential, stored, &report.findings)
    };
    document.notes.extend(published);
    document.answered(answer::answer(&run))
}

fn sections(run: &Experiment, about: Option<&About>) -> Vec<Section> {
    let first = claims::verdicts(run).into_iter().chain(published::sections(run));
    let loads = loads::sections(run).into_iter().map(Section::brief);
    let then = latency::section(run).into_iter().chain(loads::sweep(run));
    let rest = [
        claims::evidence(run),
        journal::rounds(run),
        seconds::section(run),
        of_footprint(run, about),
        about.and_then(|about| of_settings(run, about)),
        journal::failures(run),
        journal::validity(run),
        Some(environment::section(&run.stored.header.environment, settings(run))),
    ];
    first.chain(loads).chain(then).chain(rest.into_iter().flatten()).collect()
}

/// The services at one point, for the view of a run in progress.
pub(crate) fn at_point(stored: &StoredRun, report: &SequentialReport, point: usize) -> Table {
    let run = Experiment { plan: &stored.header.plan, report, stored };
    let Some(at) = report.points.get(point) else { return Table::default() };
    let cells = run.cells(|_| true).into_iter().filter(|cell| std::ptr::eq(cell.point, at));
    let columns = Columns::new().text("label", "service", |cell: &ServiceAt| cell.label().to_owned());
    let columns = match at.point.is_batch() {
        true => columns.estimate(Unit::Nanoseconds, "makespan_ns", "makespan", |cell| cell.cell?.makespan_ns),
        false => {
            columns.estimate(Unit::PerSecond, "requests_per_second", "req/s", |cell| cell.cell?.per_second)
        }
    };
    let value =
        |of: fn(&CellReport) -> Option<UnitEstimate>| move |cell: &ServiceAt| Some(of(cell.cell?)?.value);
    let columns = columns
        .share("of_reference", "of reference", value(|cell| cell.of_reference))
        .with(Column::bar)
        .ns("cpu_ns_per_request", "CPU/request", value(|cell| cell.cpu_ns_per_request))
        .priority(20)
        .count("rounds", "rounds", |cell| cell.cell.map_or(0, |cell| cell.rounds))
        .priority(10)
        .facet("state", "state", ServiceAt::state)
        .text("reason", "reason", ServiceAt::remarks);
    columns.table("Services at one point", cells)
}

/// The data behind the sections.
struct Experiment<'a> {
    plan: &'a Plan,
    report: &'a SequentialReport,
    stored: &'a StoredRun,
}

/// A service under a load, measured or not.
#[derive(Clone, Copy)]
struct ServiceAt<'a> {
    report: &'a SequentialReport,
    row: &'a PlannedRow,
    point: &'a PointReport,
    cell: Option<&'a CellReport>,
}

impl<'a> Experiment<'a> {
    /// Every service under every load of one kind, in the order of the file.
    fn cells(&self, is: impl Fn(&str) -> bool) -> Vec<ServiceAt<'a>> {
        let points = self.report.points.iter().filter(|point| is(&point.point.part));
        let each = points.flat_map(|point| point.point.rows.iter().map(move |row| (point, *row)));
        let cell = |(point, row): (&'a PointReport, usize)| ServiceAt {
            report: self.report,
            row: &self.report.rows[row],
            point,
            cell: point.cell(row),
        };
        each.map(cell).collect()
    }

    /// The parts of the file, in its order.
    fn parts(&self) -> Vec<&'a str> {
        let mut parts: Vec<&str> = self.report.points.iter().map(|point| point.point.part.as_str()).collect();
        parts.dedup();
        parts
    }

    fn status(&self) -> Status {
        Status::of(self.report.ending, self.stored.in_progress)
    }

    /// Whether each load is a number of messages: then their duration is shown.
    fn is_of_batches(&self) -> bool {
        self.report.points.iter().any(|point| point.point.is_batch())
    }

    /// A unique name of each service under each load.
    fn cell_name(&self, label: &str, load: &str) -> String {
        if self.report.points.len() > 1 { format!("{label}, {load}") } else { label.to_owned() }
    }
}

impl<'a> ServiceAt<'a> {
    fn label(&self) -> &'a str {
        &self.row.label
    }

    /// `N=1000, t=0 ms, local, C=28`, or the name of a part.
    fn load(&self) -> String {
        load(&self.point.point)
    }

    /// The figures of the middle round.
    fn figures(&self) -> Option<&'a LoadResult> {
        Some(&self.cell?.typical.as_ref()?.load)
    }

    fn quantile(&self, probability: f64) -> Option<u64> {
        self.figures()?.latency.ns_at(probability)
    }

    fn rounds(&self) -> usize {
        self.cell.map_or(0, |cell| cell.rounds)
    }

    fn failures(&self) -> Option<u64> {
        self.figures().map(LoadResult::failures)
    }

    fn cpu_ns_per_request(&self) -> Option<f64> {
        self.cell?.cpu_ns_per_request.map(|found| found.value)
    }

    /// The published row, for the published load only.
    fn published(&self) -> Option<&'a figures::PublishedRow> {
        let name = self.row.published.as_deref().filter(|_| self.point.point.part == PUBLISHED)?;
        self.report.published.row(name)
    }

    /// The state in one word.
    fn state(&self) -> &'static str {
        match self.cell {
            _ if self.row.excluded.is_some() => "left out",
            None => "not measured",
            Some(cell) if cell.hung.is_some() => "stuck",
            Some(cell) if cell.per_second.is_some() => "measured",
            Some(cell) if cell.failed.is_some() => "failed",
            Some(cell) if cell.invalid.is_some() => "not counted",
            Some(_) => "not measured",
        }
    }

    /// A remark that applies under every load.
    fn standing(&self) -> Option<String> {
        let left_out = self.row.excluded.as_ref().map(|out| out.reason.clone());
        let complaint = self.row.known_failure.as_ref();
        left_out.or(complaint.map(|text| format!("measured as it was published, though {text}")))
    }

    fn remarks(&self) -> Option<Sentences> {
        Sentences::new(self.standing().into_iter().chain(self.own()))
    }

    /// The remarks without the one that applies under every load, which some tables show once.
    fn own_remarks(&self) -> Option<Sentences> {
        Sentences::new(self.own())
    }

    fn own(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(cell) = self.cell {
            remarks.extend([&cell.hung, &cell.failed].into_iter().flatten().cloned());
            // Failures that invalidated a round are reported with it.
            let of_answers = cell.invalid.as_ref().or(cell.failures.as_ref());
            remarks.extend(of_answers.map(ToString::to_string));
        }
        let typical = self.cell.and_then(|cell| cell.typical.as_ref());
        let process = typical.and_then(|sample| sample.host.process.as_ref());
        remarks.extend(process.and_then(|process| process.unclean_stop.clone()));
        remarks
    }
}

/// The name of a load in tables.
fn load(point: &Point) -> String {
    match point.load {
        LoadSpec::Batch { .. } => point_name(point),
        _ => point.part.clone(),
    }
}

fn facts(run: &Experiment, about: Option<&About>) -> Vec<Fact> {
    let report = run.report;
    let (done, all) = report.cells;
    let scale = match report.scale {
        1.0 => "the published time, messages and connections".to_owned(),
        scale => format!("{scale} of the published time, messages and connections"),
    };
    let own = [
        Fact::new("Published", report.published.title.clone()).brief(),
        Fact::new("Measured", format!("{done} of {all} cells in {}", time(report.elapsed_ns as f64))).brief(),
        Fact::new("Scale", scale).brief(),
    ];
    own.into_iter().chain(environment::facts(run.stored, about, || Some(words_of(report)))).collect()
}

/// The command that repeats it.
fn words_of(report: &SequentialReport) -> Vec<String> {
    let mut words = vec!["run".to_owned(), report.experiment.clone()];
    if report.scale != 1.0 {
        words.extend(["--scale".to_owned(), report.scale.to_string()]);
    }
    words
}

/// Loads and machine, with their published values.
fn settings(run: &Experiment) -> Vec<Setting> {
    let published = &run.report.published;
    let load = |(place, point): (usize, &PointReport)| {
        let line = Setting::new(format!("load, {}", point.point.part), point.point.describe());
        if place == 0 { line.published(&published.load) } else { line }
    };
    let points = run.report.points.iter();
    let mut lines: Vec<Setting> = match run.is_of_batches() {
        true => points
            .take(1)
            .map(|point| Setting::new("load", point.point.load.describe()).published(&published.load))
            .collect(),
        false => points.enumerate().map(load).collect(),
    };
    let machine = environment::machine(&run.stored.header.environment);
    lines.push(Setting::new("machine", machine).published(&published.machine));
    for (what, text) in [("request", &published.request), ("response", &published.response)] {
        lines.extend(text.as_ref().map(|text| Setting::new(what, "").published(text)));
    }
    lines
}

fn of_settings(run: &Experiment, about: &About) -> Option<Section> {
    crate::gather::settings::section(about, run.report.rows.iter().map(|row| row.label.as_str()))
}

/// The size of a framework and of its user's code, with the published values.
fn of_footprint(run: &Experiment, about: Option<&About>) -> Option<Section> {
    let published = &run.report.published;
    let services = run.report.rows.iter().map(|row| {
        let name = row.published.as_ref();
        let line = || published.rows.iter().find(|line| Some(&line.service) == name)?.version.as_ref();
        Described {
            label: &row.label,
            language: &row.language,
            framework: &row.framework,
            version: row.version.as_deref(),
            licence: &row.licence,
            counted: row.counted.clone(),
            footprint: about.and_then(|about| about.aspects.get(&row.label)),
            profile: about.and_then(|about| about.profiles.get(&row.label)),
            version_published: name
                .and_then(|name| published.versions.get(name))
                .or_else(line)
                .map(String::as_str),
            published: published.aspects.iter().find(|aspect| Some(&aspect.service) == name),
            threads: row.threads,
        }
    });
    (!run.report.rows.is_empty()).then(|| footprint::section(services))
}
