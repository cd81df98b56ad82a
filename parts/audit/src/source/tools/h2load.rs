//! h2load of nghttp2: its text, in the old format up to 1.67 and in the new one, and the JSON of
//! `--output-file`.

use serde_json::Value;

use super::{Tool, has};
use crate::{
    published::{AuditRow, CountedRequests, Counts, PublishedLatency, Source, Timing},
    source::text::{after, at, before, printed, text_at, time_ns},
};

pub(super) const TOOL: Tool = Tool {
    source: Source::H2load,
    timing: Timing::Measured,
    // Its rate counts all answered requests, with any status.
    counted: CountedRequests::Answered,
    printed: |lines| {
        has(lines, "starting benchmark...") || has(lines, "finished in ") && has(lines, "status codes: ")
    },
    begins: |line| line == "starting benchmark...",
    run,
    json,
};

/// The output lacks the number of streams per connection.
fn run(lines: &[&str]) -> AuditRow {
    let finished = after(lines, "finished in ").unwrap_or_default();
    let requests = after(lines, "requests: ");
    let columns = columns(lines);
    let of =
        |name: &str| columns.iter().find(|(found, _)| *found == name).and_then(|(_, text)| printed(text));
    let ns = |name: &str| of(name).map(|time| time.ns);
    // With `-D` it divides by the requested duration, and finishes slightly later.
    let main = lines.iter().find_map(|line| line.split_once(" of main duration")?.0.rsplit(" and ").next());
    let quantiles = [("median", 0.5), ("p95", 0.95), ("p99", 0.99)];
    let threads = lines.iter().filter(|line| line.starts_with("spawning thread "));
    let clients: f64 = threads.filter_map(|line| before(line, "total")).sum();
    AuditRow {
        test: format!("h2load, {clients} clients"),
        per_second: before(finished, "req/s"),
        counts: requests.map(|line| counts(|name| before(line, name))),
        elapsed_s: main.or(finished.split(',').next()).and_then(time_ns).map(|ns| ns / 1e9),
        latency: PublishedLatency {
            ns_min: ns("min"),
            ns_max: ns("max"),
            ns_mean: ns("mean"),
            quantiles_ns: quantiles
                .into_iter()
                .filter_map(|(name, share)| Some((share, ns(name)?)))
                .collect(),
            step_ns: of("mean").map_or(0.0, |mean| mean.step_ns),
        },
        ..AuditRow::default()
    }
}

/// The times of requests, with the names in the line above the table.
fn columns<'a>(lines: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let names = lines.iter().find(|line| line.starts_with("min ") && line.contains(" mean "));
    let label = |line: &&&str| line.starts_with("time for request:") || line.starts_with("request ");
    let figures = lines.iter().filter(label).find_map(|line| Some(line.split_once(':')?.1));
    let (Some(names), Some(figures)) = (names, figures) else { return Vec::new() };
    names.split_whitespace().zip(figures.split_whitespace()).collect()
}

/// `failed` contains answers with an error status and `errored`; these had no answer or were never sent.
fn counts(of: impl Fn(&str) -> Option<f64>) -> Counts {
    let of = |name: &str| of(name).unwrap_or(0.0);
    let unanswered = of("errored").max(of("timeout"));
    Counts {
        succeeded: of("succeeded"),
        refused: (of("failed") - of("errored")).max(0.0),
        unanswered,
        ..Counts::default()
    }
}

fn json(value: &Value) -> Option<AuditRow> {
    text_at(value.get("metadata")?, "generator")?.strip_prefix("h2load")?;
    let measured = value.get("measurements")?;
    let requests = measured.get("requests")?;
    let request = measured.get("performance").and_then(|performance| performance.get("request"));
    let seconds = |name: &str| request.and_then(|request| at(request, name)).map(|s| s * 1e9);
    let quantiles = [("median", 0.5), ("p95", 0.95), ("p99", 0.99)];
    Some(AuditRow {
        test: "h2load".to_owned(),
        per_second: at(measured, "request_per_second"),
        counts: Some(counts(|name| at(requests, name))),
        elapsed_s: at(measured, "duration"),
        latency: PublishedLatency {
            ns_min: seconds("min"),
            ns_max: seconds("max"),
            ns_mean: seconds("mean"),
            quantiles_ns: quantiles
                .into_iter()
                .filter_map(|(name, share)| Some((share, seconds(name)?)))
                .collect(),
            step_ns: 0.0,
        },
        ..AuditRow::default()
    })
}
