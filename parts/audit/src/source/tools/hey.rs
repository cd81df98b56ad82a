//! hey, and oha, which imitates its output.

use serde_json::{Map, Value};

use super::{Tool, has, none};
use crate::{
    published::{AuditRow, CountedRequests, Counts, PublishedLatency, Source, Timing},
    source::text::{after, at, number, printed, quantiles},
};

/// oha's name for requests that it gives up at the end of its time.
const DEADLINE: &str = "aborted due to deadline";
/// hey stores at most this many results, but divides the sum of all latencies by their number.
const HEY_KEEPS: f64 = 1e6;

pub(super) const HEY: Tool = Tool {
    source: Source::Hey,
    timing: Timing::Measured,
    counted: CountedRequests::Ended,
    printed: |lines| {
        // ghz counts gRPC calls, and has no HTTP statuses.
        lines.contains(&"Summary:") && has(lines, "Requests/sec:") && !has(lines, "Count:")
    },
    begins: |line| line == "Summary:",
    run: hey,
    json: none,
};

pub(super) const OHA: Tool = Tool {
    source: Source::Oha,
    timing: Timing::Measured,
    counted: CountedRequests::Ended,
    printed: |lines| lines.contains(&"Summary:") && has(lines, "Success rate:"),
    begins: |line| line == "Summary:",
    run: summary,
    json: oha,
};

fn hey(lines: &[&str]) -> AuditRow {
    let row = summary(lines);
    let all = row.per_second.zip(row.elapsed_s).map_or(0.0, |(rate, elapsed_s)| rate * elapsed_s);
    match row.counts {
        // With more requests its figures are false: the mean is too large, and the statuses are those of the
        // first requests.
        Some(counts) if counts.answered() >= HEY_KEEPS && all > HEY_KEEPS * 1.001 => {
            let latency = PublishedLatency { ns_mean: None, ..row.latency };
            AuditRow { counts: None, latency, ..row }
        }
        _ => row,
    }
}

/// The output lacks the number of connections.
fn summary(lines: &[&str]) -> AuditRow {
    let time = |label: &str| after(lines, label).and_then(printed);
    let statuses = lines
        .iter()
        .filter_map(|line| entry(line))
        .filter_map(|(status, what)| Some((status, what.strip_suffix("responses").and_then(number)?)));
    let errors = section(lines, "Error distribution:").iter().filter_map(|line| entry(line));
    let errors = errors.filter_map(|(count, what)| Some((what, number(count)?)));
    let is_stated = has(lines, "Status code distribution:");
    AuditRow {
        per_second: after(lines, "Requests/sec:").and_then(number),
        counts: is_stated.then(|| counts(statuses, errors)),
        elapsed_s: time("Total:").map(|total| total.ns / 1e9),
        latency: PublishedLatency {
            ns_min: time("Fastest:").map(|time| time.ns),
            ns_mean: time("Average:").map(|time| time.ns),
            ns_max: time("Slowest:").map(|time| time.ns),
            quantiles_ns: all_requests(lines),
            step_ns: time("Average:").map_or(0.0, |time| time.step_ns),
        },
        ..AuditRow::default()
    }
}

/// Parses `[200] 480000 responses` and `[12] connection refused`.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (name, what) = line.strip_prefix('[')?.split_once(']')?;
    Some((name, what.trim()))
}

/// The lines below a heading.
fn section<'a, 'b>(lines: &'a [&'b str], heading: &str) -> &'a [&'b str] {
    let begin = lines.iter().position(|line| *line == heading).map_or(lines.len(), |place| place + 1);
    &lines[begin..]
}

/// With `--stats-success-breakdown` there are two more distributions, each of a part of the requests.
fn all_requests(lines: &[&str]) -> Vec<(f64, f64)> {
    let of_a_part = |line: &&str| line.contains("xx only)");
    let end = lines.iter().position(of_a_part).unwrap_or(lines.len());
    quantiles(&lines[..end])
}

/// Counts from answers by status, and errors by text.
fn counts<'a>(
    statuses: impl Iterator<Item = (&'a str, f64)>,
    errors: impl Iterator<Item = (&'a str, f64)>,
) -> Counts {
    let mut counts = Counts::default();
    for (status, count) in statuses {
        let is_failure = status.starts_with(['4', '5']);
        *(if is_failure { &mut counts.refused } else { &mut counts.succeeded }) += count;
    }
    for (error, count) in errors {
        let is_broken_off = error == DEADLINE;
        *(if is_broken_off { &mut counts.broken_off } else { &mut counts.unanswered }) += count;
    }
    counts
}

fn numbers(of: &Map<String, Value>) -> impl Iterator<Item = (&str, f64)> {
    of.iter().filter_map(|(key, count)| Some((key.as_str(), count.as_f64()?)))
}

/// The JSON lacks the number of connections, which is 50 by default.
fn oha(value: &Value) -> Option<AuditRow> {
    let summary = value.get("summary")?;
    let seconds = |key: &str| at(summary, key).map(|s| s * 1e9);
    let quantiles = value.get("latencyPercentiles")?.as_object()?;
    let statuses = value.get("statusCodeDistribution").and_then(Value::as_object);
    let errors = value.get("errorDistribution").and_then(Value::as_object);
    let quantile = |(name, s): (&str, f64)| Some((number(name.strip_prefix('p')?)? / 100.0, s * 1e9));
    Some(AuditRow {
        per_second: at(summary, "requestsPerSec"),
        counts: statuses.map(|statuses| counts(numbers(statuses), errors.into_iter().flat_map(numbers))),
        elapsed_s: at(summary, "total"),
        latency: PublishedLatency {
            ns_min: seconds("fastest"),
            ns_mean: seconds("average"),
            ns_max: seconds("slowest"),
            quantiles_ns: numbers(quantiles).filter_map(quantile).collect(),
            step_ns: 0.0,
        },
        ..AuditRow::default()
    })
}
