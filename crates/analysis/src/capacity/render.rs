//! The table of a search, for a terminal and as Markdown.

use super::{Bound, SloReport, SloRow};
use crate::findings::Finding;
use crate::report::{
    Level, State,
    figures::{percent, rate, time},
};

const HEADS: [&str; 9] = [
    "service",
    "capacity",
    "95% interval",
    "of closed loop",
    "95% interval",
    "p99 there",
    "starts",
    "windows",
    "void",
];

/// The table as lines of cells, the head first: for whoever lays it out.
pub fn cells(report: &SloReport) -> Vec<Vec<String>> {
    let measured = report.rows.iter().filter(|row| row.state == State::Measured);
    let head = HEADS.map(str::to_owned).to_vec();
    std::iter::once(head).chain(measured.map(line)).collect()
}

fn line(row: &SloRow) -> Vec<String> {
    let dash = || "-".to_owned();
    let interval = |level: &Option<Level>, show: fn(f64) -> String| {
        let ends = level.as_ref().and_then(|level| level.low.zip(level.high));
        ends.map_or_else(dash, |(low, high)| format!("{} .. {}", show(low), show(high)))
    };
    let bound = if row.bound == Some(Bound::AtLeast) { ">= " } else { "" };
    let value = |level: &Option<Level>, show: fn(f64) -> String| {
        level.as_ref().map_or_else(dash, |level| format!("{bound}{}", show(level.value)))
    };
    let capacity = match row.bound {
        Some(Bound::Below) => "none".to_owned(),
        _ => value(&row.capacity, |value| rate(value) + "/s"),
    };
    vec![
        row.label.clone(),
        capacity,
        interval(&row.capacity, rate),
        value(&row.share, percent),
        interval(&row.share, percent),
        row.latency_ns_p99.map_or_else(dash, time),
        row.starts.to_string(),
        row.windows.to_string(),
        row.void.to_string(),
    ]
}

/// The report as lines of text, its table laid out by `layout`.
pub fn text(report: &SloReport, layout: impl FnOnce(&[Vec<String>]) -> String) -> String {
    let mut out = format!("highest rate that holds {}\n{}\n", report.slo, report.load);
    out += &format!("{}, seed {}\n", extent(report), report.seed);
    let cells = cells(report);
    if cells.len() > 1 {
        out += &format!("\n{}", layout(&cells));
    }
    let remarks = remarks(report);
    if !remarks.is_empty() {
        out += &format!("\n{}\n", remarks.join("\n"));
    }
    out
}

fn extent(report: &SloReport) -> String {
    let took = report.elapsed_ns.map(|ns| format!(" after {}", time(ns as f64))).unwrap_or_default();
    format!("{}{took}", report.ending.map_or("cut off", |ending| ending.text()))
}

/// Rows without figures, doubts, notes: a line each.
fn remarks(report: &SloReport) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &report.rows {
        let reason = row.reason().map(|reason| match row.state {
            State::Measured => reason,
            _ => format!("{}: {reason}", row.state.word()),
        });
        lines.extend(reason.map(|reason| format!("{}: {reason}", row.label)));
        lines.extend(row.findings.iter().map(Finding::scoped));
    }
    lines.extend(report.findings.iter().map(|note| format!("note: {note}")));
    lines
}

/// The report as Markdown.
pub fn markdown(report: &SloReport) -> String {
    let escape = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let mut out = format!("## Capacity under {}\n\n", escape(&report.slo));
    for (index, line) in cells(report).iter().enumerate() {
        let line: Vec<String> = line.iter().map(|cell| escape(cell)).collect();
        out += &format!("| {} |\n", line.join(" | "));
        if index == 0 {
            out += &format!("|---|{}\n", "--:|".repeat(HEADS.len() - 1));
        }
    }
    let environment = &report.environment;
    out += &format!("\n{}; {}, seed {}.\n", escape(&report.load), extent(report), report.seed);
    out += &format!(
        "{}, {} CPUs ({}), {}.\n",
        environment.system, environment.cpus, environment.cpu, environment.kernel
    );
    let remarks: Vec<String> =
        remarks(report).iter().map(|remark| format!("- {}\n", escape(remark))).collect();
    if remarks.is_empty() { out } else { format!("{out}\n{}", remarks.concat()) }
}
