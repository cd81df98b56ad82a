//! A folder of several published experiments: its contents.

use std::path::Path;

use tare_analysis::{
    checks,
    sequential::{SequentialReport, compute},
};
use tare_bench::folder::{self, FolderError, RunHead, StoredRun, series::SeriesHead};

use super::{
    super::{columns::Columns, damage},
    answer::tally,
};
use crate::document::{Check, Document, FORMAT, Kind, Section, Status, Verdict};

/// An experiment of the series.
#[derive(Debug, Clone)]
struct Member {
    name: String,
    found: Found,
}

#[derive(Debug, Clone)]
enum Found {
    /// The experiment has no folder yet.
    NotBegun,
    /// Why the experiment cannot be reported.
    Unreadable(String),
    Told(Box<SequentialReport>, Status, Vec<String>),
}

/// The document of a folder with a `series.json`.
pub(crate) fn document(run: &Path) -> Result<Document, FolderError> {
    let (head, mut damage) = SeriesHead::read(run)?;
    let members: Vec<Member> = head.members.iter().map(|name| Member::read(run, name)).collect();
    damage.extend(members.iter().flat_map(Member::damage));
    let told = || members.iter().filter_map(Member::report);
    let whole = told().filter(|report| report.is_complete()).count();
    let claims = told().flat_map(|report| &report.claims);
    let tally = tally(claims, 1.0).map_or(String::new(), |tally| format!("{tally}."));
    Ok(Document {
        format: FORMAT,
        kind: Kind::Sequential,
        title: head.title,
        question: "Do the published benchmarks still hold?".to_owned(),
        answer: format!("{whole} of {} experiments are complete.", members.len()),
        basis: tally,
        began: told().map(|report| report.began.clone()).min().unwrap_or_default(),
        status: status(&members),
        damage,
        cautions: Vec::new(),
        notes: Vec::new(),
        facts: Vec::new(),
        sections: vec![section(&members)],
        checks: members.iter().flat_map(Member::checks).collect(),
    })
}

/// Complete if all are; else the most informative of the other states.
fn status(members: &[Member]) -> Status {
    let has = |status: Status| {
        members.iter().any(|member| matches!(&member.found, Found::Told(_, found, _) if *found == status))
    };
    let is_complete = |member: &Member| member.report().is_some_and(SequentialReport::is_complete);
    match members.iter().all(is_complete) {
        true => Status::Complete,
        false if has(Status::Running) => Status::Running,
        false if has(Status::Interrupted) => Status::Interrupted,
        false => Status::CutOff,
    }
}

impl Member {
    fn read(series: &Path, name: &str) -> Member {
        let run = series.join(name);
        let found = match run.join("run.json").exists() {
            true => Found::read(&run),
            false => Found::NotBegun,
        };
        Member { name: name.to_owned(), found }
    }

    fn report(&self) -> Option<&SequentialReport> {
        match &self.found {
            Found::Told(report, ..) => Some(report),
            Found::NotBegun | Found::Unreadable(_) => None,
        }
    }

    fn state(&self) -> &str {
        match &self.found {
            Found::NotBegun => "not begun",
            Found::Unreadable(_) => "not readable",
            Found::Told(_, status, _) => status.text(),
        }
    }

    fn damage(&self) -> Vec<String> {
        let own = match &self.found {
            Found::NotBegun => &[][..],
            Found::Unreadable(reason) => std::slice::from_ref(reason),
            Found::Told(_, _, damage) => damage,
        };
        own.iter().map(|sentence| format!("{}: {sentence}", self.name)).collect()
    }

    /// The checks of each of its rows, and whether it is complete.
    fn checks(&self) -> Vec<Check> {
        let named = |check: Check| Check { name: format!("{}: {}", self.name, check.name), ..check };
        let not = |verdict, text: &str| vec![named(Check::new("complete", verdict, text))];
        match &self.found {
            Found::NotBegun => not(Verdict::Unfinished, "not begun"),
            Found::Unreadable(reason) => not(Verdict::Invalid, reason),
            Found::Told(report, status, _) => {
                let end = checks::of_status(*status);
                checks::of_published(report).into_iter().chain(end).map(named).collect()
            }
        }
    }
}

impl Found {
    fn read(run: &Path) -> Found {
        let head = match RunHead::read(run) {
            Ok(head) => head,
            Err(error) => {
                return Found::Unreadable(format!("run.json cannot be read: {}", damage::reason(error)));
            }
        };
        if !folder::is_readable(&head.format) {
            return Found::Unreadable(damage::unknown(&head));
        }
        match folder::read(run) {
            Ok(kept) if !kept.header.plan.is_sequential() => {
                Found::Unreadable("it is an interleaved experiment, and no published one".to_owned())
            }
            Ok(kept) => Found::of(kept),
            Err(error) => {
                Found::Unreadable(format!("run.json cannot be understood: {}", damage::reason(error)))
            }
        }
    }

    fn of(kept: StoredRun) -> Found {
        let report = compute(&kept);
        let status = Status::of(report.ending, kept.in_progress);
        Found::Told(Box::new(report), status, kept.damage)
    }
}

fn section(members: &[Member]) -> Section {
    let count = |verdict: Verdict| {
        move |member: &Member| {
            let claims = &member.report()?.claims;
            Some(claims.iter().filter(|claim| claim.stated.verdict == verdict).count())
        }
    };
    let columns = Columns::new()
        .text("experiment", "experiment", |member: &Member| member.name.clone())
        .text("title", "title", |member| Some(member.report()?.title.clone()))
        .facet("state", "state", |member| member.state().to_owned())
        .count("cells", "cells", |member| Some(member.report()?.cells.0))
        .count("cells_planned", "of", |member| Some(member.report()?.cells.1))
        .number("scale", "scale", |member| Some(member.report()?.scale))
        .count("holding", "claims that hold", count(Verdict::Pass))
        .count("not_holding", "that do not", count(Verdict::Fail))
        .count("inconclusive", "inconclusive", count(Verdict::Inconclusive))
        .ns("elapsed_ns", "took", |member| Some(member.report()?.elapsed_ns));
    let lead = "Each experiment has a folder of its own, and a report of its own.";
    let table = columns.table("Experiments of the series", members.iter().cloned());
    Section::new("experiments", "Experiments", lead, table)
}
