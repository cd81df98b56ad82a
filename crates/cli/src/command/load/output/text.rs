//! The result for people: short, aligned, and no figure without what it is worth.

use tare_load::{Failures, Histogram, Measures, Sample, Schedule, Tally, tally::SAMPLE_BYTES_MAX};
use tare_report::write::text;

use super::{
    LoadResult, QUANTILES,
    figures::{bytes, percent, rate, time},
    printable, verdict,
};
use crate::command::load::plan::describe;

/// Width of what a line begins with.
const LABEL: usize = 12;

/// The result as lines of text; `spectrum` adds percentiles.
pub(super) fn text(result: &LoadResult<'_>, spectrum: bool) -> String {
    let mut out = head(result) + "\n";
    out += &rates(result);
    out += &times(result);
    out.push('\n');
    if spectrum && measured(&result.report.total) {
        out += &(spectrum_of(&result.report.total) + "\n");
    }
    out += &requests(&result.report.total.tally);
    if let Some(sample) = &result.report.first_failure {
        out += &failure(sample);
    }
    out.push('\n');
    for note in &result.notes {
        out += &format!("note: {}\n", printable(note));
    }
    out += &format!("{}\n", verdict(result));
    for doubt in &result.doubts {
        out += &format!("  {doubt}\n");
    }
    out
}

fn line(label: &str, text: &str) -> String {
    format!("{label:LABEL$}  {text}\n")
}

fn head(result: &LoadResult<'_>) -> String {
    let report = result.report;
    let load = describe(result.settings.connections, result.load);
    let mut out = format!("{} at {}\n", printable(&result.what), printable(result.url));
    out += &format!("{load}; driver {}\n", report.driver.kind.name());
    out += &format!("checked: {}\n", printable(&result.check));
    if report.interrupted {
        let (after, of) = (time(report.window_ns as f64), result.load.stop.window().as_nanos());
        out += &format!("interrupted after {after} of {}\n", time(of as f64));
    }
    out
}

fn rates(result: &LoadResult<'_>) -> String {
    let report = result.report;
    let tally = &report.total.tally;
    let per_s = |count: u64| match report.elapsed_ns {
        0 => bytes(0.0),
        elapsed_ns => bytes(count as f64 * 1e9 / elapsed_ns as f64),
    };
    let window = time(report.window_ns as f64);
    let answers = format!("{}/s, {} in {window}", rate(report.answers_per_s()), tally.answered_in_window);
    // The bytes of the drain are among them.
    let [received, sent] = [tally.bytes_received, tally.bytes_sent].map(per_s);
    let moved = format!("{received}/s received, {sent}/s sent, in {}", time(report.elapsed_ns as f64));
    line("answers", &answers) + &line("bytes", &moved) + &line("generator", &generator(result))
}

fn generator(result: &LoadResult<'_>) -> String {
    let report = result.report;
    let share = percent(report.generator_busy_share());
    let whose = if report.threads == 1 { "its time" } else { "its threads' time" };
    let busy = format!("busy for {share} of {whose}");
    match report.total.tally.answered {
        0 => busy,
        _ => format!("{busy}, {} for each answer", time(report.generator_cpu_ns_per_answer())),
    }
}

/// Whether any latency, or a bound of one, is known.
fn measured(total: &Measures) -> bool {
    total.latency.count() + total.unanswered.count() > 0
}

/// A table: what was timed, and how it is distributed.
fn times(result: &LoadResult<'_>) -> String {
    let total = &result.report.total;
    let row = |label: &str, histogram: &Histogram, quantile: &dyn Fn(f64) -> String| {
        let mut row = vec![label.to_owned()];
        row.extend([0.5, 0.9, 0.99, 0.999, 1.0].map(quantile));
        row.extend([histogram.mean_ns(), histogram.stdev_ns()].map(|ns| match histogram.count() {
            0 => "-".to_owned(),
            _ => time(ns),
        }));
        row
    };
    let mut rows =
        vec![["", "p50", "p90", "p99", "p99.9", "max", "mean", "stdev"].map(str::to_owned).to_vec()];
    if measured(total) {
        let is_open = matches!(result.load.schedule, Schedule::Open(_));
        let label = if is_open { "latency, from the instant due" } else { "latency" };
        rows.push(row(label, &total.latency, &|q| quantile(total, q)));
    }
    let others = [
        ("service time, from the send", &total.service_time),
        ("schedule lag", &total.schedule_lag),
        ("time to connect", &total.connect_time),
        ("time of a connection", &total.connection_time),
    ];
    let others = others.into_iter().filter(|(_, histogram)| histogram.count() > 0);
    rows.extend(
        others.map(|(label, histogram)| row(label, histogram, &|q| time(histogram.quantile_ns(q) as f64))),
    );
    match rows.len() {
        1 => line("latency", "none: nothing was answered"),
        _ => format!("\n{}", aligned(&rows)),
    }
}

/// `12.3 ms`, or `>= 12.3 ms` if requests without an answer may have taken longer.
pub(super) fn quantile(total: &Measures, q: f64) -> String {
    let quantile = total.quantile(q);
    let bound = if quantile.at_least { ">= " } else { "" };
    format!("{bound}{}", time(quantile.ns as f64))
}

fn spectrum_of(total: &Measures) -> String {
    let rows = QUANTILES.map(|(_, name, q)| vec![name.to_owned(), quantile(total, q)]);
    let head = vec![String::new(), "latency".to_owned()];
    aligned(&[&[head], rows.as_slice()].concat())
}

fn aligned(rows: &[Vec<String>]) -> String {
    text::aligned(rows, 1).iter().map(|line| format!("{line}\n")).collect()
}

/// What became of every request and connection.
fn requests(tally: &Tally) -> String {
    let mut requests = format!(
        "{} sent: {} answered, {}, {} in flight at the end",
        tally.sent,
        tally.answered,
        failed(&tally.failed),
        tally.in_flight
    );
    if tally.unsent > 0 {
        requests += &format!("; {} due and never sent", tally.unsent);
    }
    let mut out = line("requests", &requests);
    if tally.connects > 0 || tally.connection_failed.total() > 0 {
        let opened = format!("{} opened in the run, {}", tally.connects, failed(&tally.connection_failed));
        out += &line("connections", &opened);
    }
    out
}

/// `3 failed (status 2, reset 1)`.
fn failed(failures: &Failures) -> String {
    let classes: Vec<String> = failures.iter().map(|(failure, count)| format!("{failure} {count}")).collect();
    match classes.as_slice() {
        [] => "0 failed".to_owned(),
        classes => format!("{} failed ({})", failures.total(), classes.join(", ")),
    }
}

fn failure(sample: &Sample) -> String {
    let whose = match sample.exchange.as_str() {
        "" => String::new(),
        name => format!(" of {}", printable(name)),
    };
    let after = time(sample.at_ns as f64);
    let mut out = format!("\nfirst failure after {after}: {}{whose}\n", sample.failure);
    if !sample.expected.is_empty() {
        out += &format!("  expected  {}\n", printable(&sample.expected));
    }
    let got = &sample.got[..sample.got.len().min(SAMPLE_BYTES_MAX)];
    out += &match got {
        [] => "  got       nothing\n".to_owned(),
        got => format!("  got       `{}`\n", got.escape_ascii()),
    };
    out
}
