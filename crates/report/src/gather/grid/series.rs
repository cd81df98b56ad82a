//! A folder of several published experiments: what is in it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tare_lab::{
    grid::record::Ending,
    published::{Report, Verdict, compute},
    run::folder,
};

use super::super::{
    fields::{field, table},
    lay::{column, quiet, text},
};
use super::answer::tally;
use crate::document::{Document, FORMAT, Kind, Section, Status, Unit};

/// An experiment of the series: its name, and its report or why there is none.
type Member = (String, Result<Report, String>);

/// What is told of a folder with a `series.json`; none where it has none that can be read.
pub fn document(run: &Path) -> Option<Document> {
    let head: Value = serde_json::from_str(&std::fs::read_to_string(run.join("series.json")).ok()?).ok()?;
    let names = head.get("members")?.as_array()?.iter().filter_map(Value::as_str);
    let members: Vec<Member> = names.map(|name| (name.to_owned(), read(run.join(name)))).collect();
    let told = || members.iter().filter_map(|(_, report)| report.as_ref().ok());
    let title = head.get("title").and_then(Value::as_str).unwrap_or("Published experiments");
    let whole = told().filter(|report| report.is_complete()).count();
    let claims: Vec<Verdict> = told().flat_map(|report| &report.claims).map(|claim| claim.verdict).collect();
    let tally = tally(&claims).map_or(String::new(), |tally| format!(" {tally}."));
    Some(Document {
        format: FORMAT,
        kind: Kind::Grid,
        title: title.to_owned(),
        question: "Do the published benchmarks still hold?".to_owned(),
        answer: format!("{whole} of {} experiments are complete.{tally}", members.len()),
        began: told().map(|report| report.began.clone()).min().unwrap_or_default(),
        status: if whole == members.len() { Status::Complete } else { Status::CutOff },
        damage: Vec::new(),
        notes: Vec::new(),
        facts: Vec::new(),
        sections: vec![section(&members)],
        checks: Vec::new(),
    })
}

fn read(run: PathBuf) -> Result<Report, String> {
    if !run.join("run.json").exists() {
        return Err("not begun".to_owned());
    }
    folder::read(&run).map(|kept| compute(&kept)).map_err(|error| error.to_string())
}

fn section(members: &[Member]) -> Section {
    let count = |verdict: Verdict| {
        move |(_, report): &Member| {
            let claims = &report.as_ref().ok()?.claims;
            Some(claims.iter().filter(|claim| claim.verdict == verdict).count())
        }
    };
    let claims =
        |key: &str, title: &str, verdict: Verdict| field(column(key, title, Unit::Count), count(verdict));
    let fields = vec![
        field(text("experiment", "experiment"), |(name, _): &Member| name.clone()),
        field(text("title", "title"), |(_, report): &Member| {
            report.as_ref().ok().map(|report| report.title.clone())
        }),
        field(text("state", "state").facet(), |(_, report): &Member| match report {
            Ok(report) => match report.ending {
                Some(Ending::Complete) => "complete".to_owned(),
                Some(Ending::Interrupted) => "interrupted".to_owned(),
                None => "cut off".to_owned(),
            },
            Err(reason) => reason.clone(),
        }),
        field(column("cells", "cells", Unit::Count), |(_, report): &Member| {
            report.as_ref().ok().map(|report| report.cells.0)
        }),
        field(column("cells_planned", "of", Unit::Count), |(_, report): &Member| {
            report.as_ref().ok().map(|report| report.cells.1)
        }),
        field(column("scale", "scale", Unit::Number), |(_, report): &Member| {
            report.as_ref().ok().map(|report| report.scale)
        }),
        claims("holding", "claims that hold", Verdict::Confirmed),
        claims("not_holding", "that do not", Verdict::Refuted),
        claims("untold", "that cannot be told", Verdict::CannotBeTold),
        field(column("elapsed_ns", "took", Unit::Nanoseconds), |(_, report): &Member| {
            report.as_ref().ok().map(|report| report.elapsed_ns)
        }),
    ];
    let lead = "Each experiment has a folder of its own, and a report of its own.";
    Section::new(
        "experiments",
        "Experiments",
        lead,
        quiet(table("Experiments of the series", fields, members.iter().cloned())),
    )
}
