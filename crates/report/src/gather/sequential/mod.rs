//! A published experiment, measured again, beside what it published: the claims and their verdicts first, then the figures.

mod answer;
mod aspects;
mod claims;
mod environment;
mod journal;
mod latency;
mod loads;
mod published;
mod seconds;
mod series;
#[cfg(test)]
mod tests;

use std::path::Path;

use tare_analysis::{
    checks,
    published::{CellReport, PUBLISHED, PointReport, Report, RowReport, point_name},
    report::figures::time,
};
use tare_bench::{
    figures,
    grid::plan::{GridPlan, GridPlanRow, Offered},
    run::{about::About, folder::Kept},
    sample::LoadResult,
};

use super::{interleaved, lay};
use crate::document::{Document, FORMAT, Fact, Kind, Section, Status};

pub(crate) use series::document as series;

/// What is reported of a sequential experiment.
pub(crate) fn document(kept: &Kept<GridPlan>, report: &Report, run: &Path) -> Document {
    let grid = Grid { plan: &kept.header.plan, report, kept };
    let sections = [
        claims::verdicts(&grid),
        published::section(&grid).map(Section::brief),
        latency::section(&grid),
        loads::sweep(&grid).map(Section::brief),
        claims::evidence(&grid),
        journal::rounds(&grid),
        seconds::section(&grid),
        aspects::section(&grid),
        journal::failures(&grid),
        journal::validity(&grid),
        environment::section(&grid),
    ];
    let mut sections: Vec<_> = sections.into_iter().flatten().collect();
    let at = sections.iter().position(|section| section.id == "latency").unwrap_or(sections.len().min(2));
    sections.splice(at..at, loads::sections(&grid).into_iter().map(Section::brief));
    Document {
        format: FORMAT,
        kind: Kind::Sequential,
        title: report.title.clone(),
        question: report.question.clone(),
        answer: answer::answer(&grid),
        began: report.began.clone(),
        status: grid.status(),
        damage: kept.damage.clone(),
        notes: notes(&grid),
        facts: facts(&grid, About::read(run).ok().flatten().as_ref()),
        sections,
        checks: checks::of_published(report),
    }
}

/// What sections are made of.
struct Grid<'a> {
    plan: &'a GridPlan,
    report: &'a Report,
    kept: &'a Kept<GridPlan>,
}

/// One service under one load, measured or not.
#[derive(Clone, Copy)]
struct Entry<'a> {
    report: &'a Report,
    planned: &'a GridPlanRow,
    row: &'a RowReport,
    point: &'a PointReport,
    cell: Option<&'a CellReport>,
}

impl<'a> Grid<'a> {
    /// Every service under every load of one kind, in the order of the file.
    fn entries(&self, is: impl Fn(&str) -> bool) -> Vec<Entry<'a>> {
        let points = self.report.points.iter().filter(|point| is(&point.point.part));
        let each = points.flat_map(|point| point.point.rows.iter().map(move |row| (point, *row)));
        let entry = |(point, row): (&'a PointReport, usize)| Entry {
            report: self.report,
            planned: &self.plan.rows[row],
            row: &self.report.rows[row],
            point,
            cell: point.cell(row),
        };
        each.map(entry).collect()
    }

    fn status(&self) -> Status {
        Status::of(self.report.ending, self.kept.goes_on)
    }

    /// Whether each load is a number of messages: then what is shown is how long they took.
    fn is_of_batches(&self) -> bool {
        self.report.points.iter().any(|point| point.point.is_batch())
    }

    /// Whether there is more than one load, so that figures of different ones stand below each other.
    fn has_loads(&self) -> bool {
        self.report.points.len() > 1
    }
}

impl<'a> Entry<'a> {
    fn label(&self) -> &'a str {
        &self.row.label
    }

    /// `N=1000, t=0 ms, local, C=28`, or the name of a part.
    fn load(&self) -> String {
        load(&self.point.point)
    }

    /// Of the round in the middle.
    fn figures(&self) -> Option<&'a LoadResult> {
        Some(&self.cell?.typical.as_ref()?.load)
    }

    /// The published line; of the published load only.
    fn published(&self) -> Option<&'a figures::Row> {
        let name = self.row.published.as_deref().filter(|_| self.point.point.part == PUBLISHED)?;
        self.report.published.row(name)
    }

    /// In a word, whether there are figures.
    fn state(&self) -> &'static str {
        match self.cell {
            _ if self.row.excluded.is_some() => "left out",
            None => "not measured",
            Some(cell) if cell.stuck.is_some() => "stuck",
            Some(cell) if cell.per_second.is_some() => "measured",
            Some(cell) if cell.failed.is_some() => "failed",
            Some(cell) if cell.trouble.is_some() => "not counted",
            Some(_) => "not measured",
        }
    }

    /// What holds of it under every load.
    fn standing(&self) -> Option<String> {
        let left_out = self.row.excluded.as_ref().map(|out| out.reason.clone());
        let complaint = self.row.complaint.as_ref();
        left_out.or(complaint.map(|text| format!("measured as it was published, though {text}")))
    }

    /// Everything that a reader must know of it.
    fn remarks(&self) -> Option<String> {
        joined(self.standing().into_iter().chain(self.own()))
    }

    /// The same without what holds of it under every load: for tables in which it stands once for each.
    fn own_remarks(&self) -> Option<String> {
        joined(self.own())
    }

    fn own(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(cell) = self.cell {
            remarks.extend([&cell.stuck, &cell.failed].into_iter().flatten().cloned());
            // Failures that took a round away are reported with it.
            let of_answers = cell.trouble.as_ref().or(cell.failures.as_ref());
            remarks.extend(of_answers.map(ToString::to_string));
        }
        let typical = self.cell.and_then(|cell| cell.typical.as_ref());
        let process = typical.and_then(|sample| sample.host.process.as_ref());
        remarks.extend(process.and_then(|process| process.unclean_stop.clone()));
        remarks
    }
}

fn joined(remarks: impl IntoIterator<Item = String>) -> Option<String> {
    let remarks: Vec<String> = remarks.into_iter().collect();
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// A load, as tables name it.
fn load(point: &tare_bench::grid::plan::Point) -> String {
    match point.offered {
        Offered::Batch { .. } => point_name(point),
        _ => point.part.clone(),
    }
}

fn notes(grid: &Grid) -> Vec<String> {
    let published = grid.report.published.note.iter().map(|note| format!("of the published figures: {note}"));
    lay::notes(&grid.report.findings).into_iter().chain(published).collect()
}

fn facts(grid: &Grid, about: Option<&About>) -> Vec<Fact> {
    let (report, plan) = (grid.report, grid.plan);
    let (done, all) = report.cells;
    let cpus = |cpus: &[usize]| cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let mut facts = vec![
        Fact::new("Published", report.published.title.clone()).brief(),
        Fact::new("Machine", interleaved::machine(&report.environment)).brief(),
        Fact::new(
            "CPUs",
            format!(
                "services on {}, generator on {}",
                cpus(&plan.pinning.server),
                cpus(&plan.pinning.generator)
            ),
        ),
        Fact::new("Measured", format!("{done} of {all} cells in {}", time(report.elapsed_ns as f64))).brief(),
        Fact::new(
            "Scale",
            match report.scale {
                1.0 => "the published time, messages and connections".to_owned(),
                scale => format!("{scale} of the published time, messages and connections"),
            },
        )
        .brief(),
        Fact::new("Tare", grid.kept.header.tare.clone()),
        Fact::code("Seed", report.seed.to_string()).brief(),
    ];
    let words = || {
        let mut words = vec!["run".to_owned(), format!("experiments/published/{}.toml", report.experiment)];
        if report.scale != 1.0 {
            words.extend(["--scale".to_owned(), report.scale.to_string()]);
        }
        Some(words)
    };
    facts.push(Fact::code("Command", interleaved::command(about, words, report.seed)));
    facts.extend(interleaved::checkout(about));
    facts
}
