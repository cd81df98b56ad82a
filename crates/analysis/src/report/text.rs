//! The table for a terminal: aligned, a bar for the ratio, and colours only where they are asked for.

use super::{
    Ratio, Report, RowReport, State, Tiers,
    figures::{bar, bytes, percent, rate, time, times},
    latency,
    table::{Cell, Paint, fit, layout, left, right},
};
use tare_service::catalogue::Style;

const BAR: usize = 12;
/// Columns that a narrow terminal does without, the least important first, by their place.
const DISPENSABLE: [usize; 8] = [13, 2, 9, 12, 4, 8, 10, 11];
/// The place of the tiers, which is to the left of all that may be missing.
const TIER: usize = 1;

/// The report as lines of text. `colours` are ANSI sequences; with a `width` the table leaves out what does not fit.
pub fn text(report: &Report, colours: bool, width: Option<usize>) -> String {
    let paint = Paint(colours);
    let mut out = format!("{}\n{}\n", paint.with("1", &report.title), report.load);
    out += &format!("{}\n\n", extent(report));
    let measured: Vec<&RowReport> = report.rows.iter().filter(|row| row.state == State::Measured).collect();
    if !measured.is_empty() {
        let mut lines = vec![header()];
        lines.extend(measured.iter().map(|row| cells(row, &report.reference)));
        let mut lines = fit(lines, width, &DISPENSABLE);
        if !report.tiers.as_ref().is_some_and(Tiers::are_known) {
            lines.iter_mut().for_each(|line| drop(line.remove(TIER)));
        }
        out += &layout(&lines, &paint);
    }
    if let Some(tiers) = &report.tiers {
        out += &format!("\n{}\n", tiers.lines().join("\n"));
    }
    out += &latency::text(report, &paint);
    out += &rows_without_figures(report, &paint);
    out += &remarks(report, &paint);
    out
}

fn extent(report: &Report) -> String {
    let time = report.elapsed_ns.map(|ns| format!(" in {}", time(ns as f64))).unwrap_or_default();
    let ending = report.ending.map_or("cut off", |ending| ending.text());
    format!("{} blocks{time}, seed {}: {ending}", report.blocks, report.seed)
}

fn header() -> Vec<Cell> {
    let heads = [
        "service",
        "tier",
        "version",
        "req/s",
        "",
        "of reference",
        "95% interval",
        "CPU/req",
        "of reference",
    ];
    let heads = heads.into_iter().chain(["95% interval", "p50", "p99", "RSS", "start", "errors"]);
    let mut cells: Vec<Cell> = heads.map(right).collect();
    for place in [0, 2, 4] {
        cells[place].right = false;
    }
    for cell in &mut cells {
        cell.code = Some("2");
    }
    cells
}

fn cells(row: &RowReport, reference: &str) -> Vec<Cell> {
    let figure = |value: Option<f64>, show: fn(f64) -> String| right(value.map_or("-".to_owned(), show));
    let ratio = row.times_throughput(reference);
    let interval = row.ratio.as_ref().and_then(Ratio::interval);
    let cpu_interval = row.cpu_ratio.as_ref().and_then(Ratio::interval);
    let failures: u64 = row.failed.values().sum();
    let mut name = left(&row.label);
    name.code = (row.style == Style::RawSocket).then_some("1");
    let mut bar = left(ratio.map_or(String::new(), |ratio| bar(ratio, BAR)));
    bar.code = Some("36");
    let mut errors = right(if failures == 0 { "0".to_owned() } else { failures.to_string() });
    errors.code = (failures > 0).then_some("31");
    vec![
        name,
        right(row.tier.map_or("-".to_owned(), |tier| tier.to_string())),
        left(row.version.clone().unwrap_or_default()),
        right(row.requests_per_second.map_or(row.throughput_word().to_owned(), rate)),
        bar,
        figure(ratio, percent),
        right(
            interval.map_or("-".to_owned(), |(low, high)| format!("{:.1} .. {}", low * 100.0, percent(high))),
        ),
        figure(row.cpu_ns_per_request, time),
        figure(row.times_cpu(reference), times),
        right(cpu_interval.map_or("-".to_owned(), |(low, high)| format!("{low:.2} .. {}", times(high)))),
        figure(row.latency_ns_p50, time),
        figure(row.latency_ns_p99, time),
        figure(row.rss_bytes_peak, bytes),
        figure(row.start_up_ns, time),
        errors,
    ]
}

fn rows_without_figures(report: &Report, paint: &Paint) -> String {
    let mut out = String::new();
    for row in &report.rows {
        let Some(reason) = row.state.reason() else { continue };
        let is_wrong = matches!(row.state, State::Failed(_) | State::Invalid(_));
        let (word, code) = (row.state.word(), if is_wrong { "31" } else { "33" });
        out += &format!("{}  {}: {reason}\n", row.label, paint.with(code, word));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn remarks(report: &Report, paint: &Paint) -> String {
    let mut out = String::new();
    for row in &report.rows {
        for remark in row.remarks() {
            out += &format!("{} {}: {remark}\n", paint.with("33", "warning:"), row.label);
        }
    }
    for note in &report.findings {
        out += &format!("{} {note}\n", paint.with("33", "note:"));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}
