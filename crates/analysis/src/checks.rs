//! The checks of a gate: one per row or deciding metric. Verdict, exit status and test cases follow from
//! them.

use serde::Serialize;
use tare_base::units::several;

use crate::{
    capacity::{SloReport, SloRow},
    comparison::{Comparison, Figure},
    figures::rate,
    interleaved::{Report, RowReport},
    sequential::{self, CellReport},
    status::Status,
    verdict::Verdict,
};

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Unique in its run and stable between runs, such as the label of a row, or a metric.
    pub name: String,
    pub verdict: Verdict,
    /// Why, in a sentence with its figures.
    pub text: String,
}

impl Check {
    pub fn new(name: impl Into<String>, verdict: Verdict, text: impl Into<String>) -> Check {
        Check { name: name.into(), verdict, text: text.into() }
    }
}

pub fn verdict(checks: &[Check]) -> Verdict {
    Verdict::of_all(checks.iter().map(|check| check.verdict))
}

/// An unfinished run passes nothing.
pub fn of_status(status: Status) -> Option<Check> {
    let why = match status {
        Status::Complete => return None,
        Status::Running => "the run is in progress",
        Status::Interrupted | Status::CutOff | Status::Unknown => "the run did not come to its end",
    };
    Some(Check::new("complete", Verdict::Unfinished, why))
}

/// Checks that each row has valid figures.
pub(crate) fn of_table(report: &Report) -> Vec<Check> {
    let text = |row: &RowReport| {
        if let Some(reason) = row.state.reason() {
            return format!("{}: {reason}", row.state.word());
        }
        if let Some(doubt) = &row.throughput_finding {
            return doubt.to_string();
        }
        let rate = row.requests_per_second.map_or("-".to_owned(), |found| rate(found.value));
        let errors: u64 = row.failed.values().sum();
        format!("{rate} requests/s over {}, {errors} errors", several(row.blocks, "block"))
    };
    report.rows.iter().map(|row| Check::new(&row.label, row.verdict(), text(row))).collect()
}

/// Checks that each deciding metric passes. Without a comparison there is one check with the reason.
pub fn of_comparison(found: &Comparison) -> Vec<Check> {
    let check = |figure: &Figure| {
        let verdict = figure.verdict.unwrap_or(Verdict::Inconclusive);
        let text = figure.text().unwrap_or_else(|| format!("{} was not measured", figure.name));
        Check::new(&figure.name, verdict, text)
    };
    match found.verdict {
        Verdict::Pass | Verdict::Worse | Verdict::Fail | Verdict::Inconclusive => {
            found.figures.iter().filter(|figure| figure.decides).map(check).collect()
        }
        other => vec![Check::new("comparison", other, &found.reason)],
    }
}

/// Checks that each row was searched, and that it holds the required rate, if any.
pub fn of_capacity(report: &SloReport) -> Vec<Check> {
    let asked = report.at_least;
    let of = asked.map_or(String::new(), |asked| format!(", of {}/s that were asked for", rate(asked)));
    let text = |row: &SloRow| match (&row.capacity, row.reason()) {
        (_, Some(reason)) => reason,
        (Some(level), None) => format!("holds {}/s{of}", rate(level.value)),
        (None, None) => row.state.word().to_owned(),
    };
    report.rows.iter().map(|row| Check::new(&row.label, row.verdict(asked), text(row))).collect()
}

/// Checks that each row has figures under every load. A refuted claim is a result, and so is a service that
/// hangs as in the published run: neither fails a check.
pub fn of_published(report: &sequential::SequentialReport) -> Vec<Check> {
    let of_row = |(place, row): (usize, &tare_bench::plan::PlannedRow)| {
        if let Some(excluded) = &row.excluded {
            return Check::new(&row.label, excluded.why.into(), &excluded.reason);
        }
        let cells = report.points.iter().filter_map(|point| point.cell(place));
        let (verdict, text) = of_cells(report, &cells.collect::<Vec<_>>());
        Check::new(&row.label, verdict, text)
    };
    report.rows.iter().enumerate().map(of_row).collect()
}

fn of_cells(report: &sequential::SequentialReport, cells: &[&CellReport]) -> (Verdict, String) {
    if let Some(reason) = cells.iter().find_map(|cell| cell.failed.clone()) {
        return (Verdict::ServiceFailed, reason);
    }
    if let Some(cell) = cells.iter().find(|cell| report.is_invalid(cell)) {
        return (Verdict::Invalid, cell.invalid.as_ref().map(ToString::to_string).unwrap_or_default());
    }
    let count = |of: fn(&CellReport) -> bool| cells.iter().filter(|cell| of(cell)).count();
    let (measured, hung) = (count(|cell| cell.rounds > 0), count(|cell| cell.hung.is_some()));
    let of_all = match cells.len() {
        1 => "measured".to_owned(),
        all => format!("measured under {measured} of {all} loads"),
    };
    match (measured, hung) {
        (0, 0) => (Verdict::Unfinished, "not measured yet".to_owned()),
        (_, 0) => (Verdict::Pass, of_all),
        (_, hung) => (Verdict::Pass, format!("{of_all}; it hung under {hung}, which is a finding")),
    }
}
