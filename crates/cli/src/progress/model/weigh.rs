//! The table of a run.

use tare_analysis::estimate::Estimate;
use tare_analysis::findings::{Finding, RunIssue};
use tare_analysis::interleaved::{
    self, Report, RowReport, State,
    figures::{percent, rate, time, times},
};
use tare_bench::folder::StoredRun;

use crate::progress::view::{Column, Range, Row, Scale, Table, Tone};

/// As the records so far make it, and what is doubtful about it.
pub fn table(kept: &StoredRun) -> (Table, Vec<String>) {
    let report = interleaved::compute(kept);
    let shown = Shown::of(&report);
    let rows: Vec<Row> = report.rows.iter().map(|row| shown.row(row)).collect();
    let scale = Scale::length(&rows, 1.0, shown.figure);
    let columns =
        [("tier", 5), ("req/s", 1), (shown.title, 0), ("95% interval", 2), ("CPU/req", 4), ("n", 3)];
    let columns = columns.map(|(title, spare)| Column { title, spare }).into();
    (Table { name: "service", columns, scale, rows }, remarks(&report))
}

fn throughput(row: &RowReport) -> Option<&Estimate> {
    row.ratio.as_ref()
}

fn cpu(row: &RowReport) -> Option<&Estimate> {
    row.cpu_ratio.as_ref()
}

/// Which ratio to the reference: if no throughput is the service's own, that of CPU time.
struct Shown<'a> {
    reference: &'a str,
    title: &'static str,
    of: fn(&RowReport) -> Option<&Estimate>,
    figure: fn(f64) -> String,
    ends: fn(f64, f64) -> String,
}

impl Shown<'_> {
    fn of(report: &Report) -> Shown<'_> {
        let has = |of: fn(&RowReport) -> Option<&Estimate>| report.rows.iter().any(|row| of(row).is_some());
        let reference = report.reference.as_str();
        match has(cpu) && !has(throughput) {
            false => Shown {
                reference,
                title: "of reference",
                of: throughput,
                figure: percent,
                ends: |low, high| format!("{:.1} .. {}", low * 100.0, percent(high)),
            },
            true => Shown {
                reference,
                title: "CPU of reference",
                of: cpu,
                figure: times,
                ends: |low, high| format!("{low:.2} .. {}", times(high)),
            },
        }
    }

    fn row(&self, row: &RowReport) -> Row {
        if let Some((state, tone)) = without_figures(&row.state) {
            return Row { name: row.label.clone(), state, tone, is_out: true, ..Row::default() };
        }
        let dash = || "-".to_owned();
        let figure = |value: Option<f64>, show: fn(f64) -> String| value.map_or_else(dash, show);
        let ratio = (self.of)(row);
        let own = (row.label == self.reference && row.cpu_ns_per_request.is_some()).then_some(1.0);
        let value = ratio.map(|ratio| ratio.value).or(own);
        let interval = ratio.and_then(|ratio| ratio.low.zip(ratio.high));
        let doubt = row.throughput_finding.as_ref().map(Finding::code);
        Row {
            name: row.label.clone(),
            cells: vec![
                row.tier.map_or_else(dash, |tier| tier.to_string()),
                figure(row.requests_per_second, rate),
                figure(value, self.figure),
                interval.map_or_else(dash, |(low, high)| (self.ends)(low, high)),
                figure(row.cpu_ns_per_request, time),
                row.blocks.to_string(),
            ],
            // The reference is what it is, without an interval.
            range: value.map(|value| Range {
                value: Some(value),
                interval: interval.or(own.map(|own| (own, own))),
                marks: vec![1.0],
            }),
            state: doubt.unwrap_or_default().to_owned(),
            tone: if doubt.is_some() { Tone::Open } else { Tone::Plain },
            ..Row::default()
        }
    }
}

/// What stands in place of figures where there are none and will be none.
pub fn without_figures(state: &State) -> Option<(String, Tone)> {
    match state {
        State::Measured | State::Unmeasured => None,
        State::Failed(reason) => Some((format!("failed: {reason}"), Tone::Bad)),
        State::Invalid(reason) => Some((format!("invalid: {reason}"), Tone::Bad)),
        State::Excluded(excluded) => Some((format!("left out: {}", excluded.reason), Tone::Open)),
    }
}

/// Of rows, and that the machine is noisy; other notes are for the end.
fn remarks(report: &Report) -> Vec<String> {
    let of_row = |row: &RowReport| -> Vec<String> {
        let remarks = row.throughput_finding.iter().chain(&row.findings);
        remarks.map(Finding::scoped).collect()
    };
    let is_noisy = |found: &&Finding| matches!(found.run_issue(), Some(RunIssue::NoisyHost { .. }));
    let noisy = report.findings.iter().filter(is_noisy).map(ToString::to_string);
    noisy.chain(report.rows.iter().flat_map(of_row)).collect()
}
