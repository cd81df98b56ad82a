//! The searches for capacity: what the starts that are over have found, and between which rates those of this block are.

use std::collections::BTreeSet;
use tare_analysis::{capacity, findings::Finding};

use tare_analysis::{
    capacity::SloRow,
    figures::{percent, rate},
};
use tare_bench::{
    folder::StoredRun,
    plan::Plan,
    schedule::searches::{SearchStart, Searches},
    slo::{Found, Search, SloPlan, search::CEILING},
};

use super::weigh::without_figures;
use crate::progress::view::{Column, Range, Row, Scale, Table};

/// As the starts that are over make it, and what is doubtful about it.
pub fn table(plan: &SloPlan, kept: &StoredRun) -> (Table, Vec<String>) {
    let report = capacity::compute(plan, kept);
    let rows: Vec<Row> = report.rows.iter().map(row).collect();
    let remarks =
        report.rows.iter().flat_map(|row| row.findings.iter().map(Finding::scoped).collect::<Vec<_>>());
    let remarks = remarks.collect();
    let columns = [("capacity", 0), ("95% interval", 2), ("of closed", 1), ("starts", 3), ("tried", 4)];
    let columns = columns.map(|(title, spare)| Column { title, spare }).into();
    (Table { name: "service", columns, scale: None, rows }, remarks)
}

fn row(row: &SloRow) -> Row {
    if let Some((state, tone)) = without_figures(&row.state) {
        return Row { name: row.label.clone(), state, tone, is_out: true, ..Row::default() };
    }
    let dash = || "-".to_owned();
    let interval = row.capacity.as_ref().and_then(|level| level.low.zip(level.high));
    Row {
        name: row.label.clone(),
        cells: vec![
            row.capacity.as_ref().map_or_else(dash, |level| rate(level.value)),
            interval.map_or_else(dash, |(low, high)| format!("{} .. {}", rate(low), rate(high))),
            row.share.as_ref().map_or_else(dash, |share| percent(share.value)),
            row.starts.to_string(),
            dash(),
        ],
        range: row.capacity.as_ref().map(|level| Range {
            value: Some(level.value),
            interval,
            marks: Vec::new(),
        }),
        ..Row::default()
    }
}

/// The searches of the rows that have been `measured` in this block: the rate that was tried last, between the highest that
/// held and the lowest that did not.
pub fn enter_searches(table: &mut Table, plan: &Plan, searches: &Searches, measured: &BTreeSet<&str>) {
    let mut top: f64 = 0.0;
    let place = table.columns.iter().position(|column| column.title == "tried");
    for row in &mut table.rows {
        let planned = plan.rows.iter().position(|planned| planned.label == row.name);
        let Some(start) = planned.and_then(|planned| searches.of(planned).last()) else { continue };
        top = top.max(CEILING * start.capacity_per_second());
        let Some(search) =
            start.search.as_ref().filter(|_| measured.contains(row.name.as_str()) && !row.is_out)
        else {
            continue;
        };
        let known = row.range.take();
        row.range = Some(between(start, search)).filter(|_| !search.is_over()).or(known);
        if let Some(cell) = place.and_then(|place| row.cells.get_mut(place)) {
            *cell = start.windows.last().map_or("-".to_owned(), |window| rate(window.per_second));
        }
        row.state = match search.is_over() {
            true => "found".to_owned(),
            false => format!("window {}", search.counted() + search.discarded()),
        };
    }
    let ends = ["0".to_owned(), format!("{}/s", rate(top))];
    table.scale = (top > 0.0).then_some(Scale { from: 0.0, to: top, ends, is_length: true });
}

fn between(start: &SearchStart, search: &Search) -> Range {
    let top = CEILING * start.capacity_per_second();
    let interval = match search.found() {
        Found::Between { held, broke } => Some((held, broke)),
        Found::AtLeast(held) => Some((held, top)),
        Found::Below(broke) => Some((0.0, broke)),
        Found::Nothing => None,
    };
    Range { value: start.windows.last().map(|window| window.per_second), interval, marks: Vec::new() }
}
