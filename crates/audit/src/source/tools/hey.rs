//! hey, and oha, whose output was made after it.

use serde_json::{Map, Value};

use super::{Tool, has, none};
use crate::{
    published::{Counted, Counts, Latency, Row, Source, Timing},
    source::text::{after, at, number, printed, quantiles},
};

/// How oha calls the requests that it gives up when its time is over.
const DEADLINE: &str = "aborted due to deadline";
/// hey keeps no more results than these, and divides the sum of all latencies by their number.
const HEY_KEEPS: f64 = 1e6;

pub(super) const HEY: Tool = Tool {
    source: Source::Hey,
    timing: Timing::Measured,
    counted: Counted::Ended,
    printed: |lines| {
        // ghz counts calls of gRPC, and has no status of HTTP.
        lines.contains(&"Summary:") && has(lines, "Requests/sec:") && !has(lines, "Count:")
    },
    begins: |line| line == "Summary:",
    run: hey,
    json: none,
};

pub(super) const OHA: Tool = Tool {
    source: Source::Oha,
    timing: Timing::Measured,
    counted: Counted::Ended,
    printed: |lines| lines.contains(&"Summary:") && has(lines, "Success rate:"),
    begins: |line| line == "Summary:",
    run: summary,
    json: oha,
};

fn hey(lines: &[&str]) -> Row {
    let row = summary(lines);
    let all = row.per_second.zip(row.elapsed_s).map_or(0.0, |(rate, elapsed_s)| rate * elapsed_s);
    match row.counts {
        // What it prints of more is false: the mean is too great, and the statuses are those of the first ones.
        Some(counts) if counts.answered() >= HEY_KEEPS && all > HEY_KEEPS * 1.001 => {
            let latency = Latency { ns_mean: None, ..row.latency };
            Row { counts: None, latency, ..row }
        }
        _ => row,
    }
}

/// The number of connections is not in it.
fn summary(lines: &[&str]) -> Row {
    let time = |label: &str| after(lines, label).and_then(printed);
    let statuses = lines
        .iter()
        .filter_map(|line| entry(line))
        .filter_map(|(status, what)| Some((status, what.strip_suffix("responses").and_then(number)?)));
    let errors = section(lines, "Error distribution:").iter().filter_map(|line| entry(line));
    let errors = errors.filter_map(|(count, what)| Some((what, number(count)?)));
    let is_stated = has(lines, "Status code distribution:");
    Row {
        per_second: after(lines, "Requests/sec:").and_then(number),
        counts: is_stated.then(|| counts(statuses, errors)),
        elapsed_s: time("Total:").map(|total| total.ns / 1e9),
        latency: Latency {
            ns_min: time("Fastest:").map(|time| time.ns),
            ns_mean: time("Average:").map(|time| time.ns),
            ns_max: time("Slowest:").map(|time| time.ns),
            quantiles_ns: all_requests(lines),
            step_ns: time("Average:").map_or(0.0, |time| time.step_ns),
        },
        ..Row::default()
    }
}

/// `[200] 480000 responses` and `[12] connection refused`.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (name, what) = line.strip_prefix('[')?.split_once(']')?;
    Some((name, what.trim()))
}

/// The lines below a heading.
fn section<'a, 'b>(lines: &'a [&'b str], heading: &str) -> &'a [&'b str] {
    let begin = lines.iter().position(|line| *line == heading).map_or(lines.len(), |place| place + 1);
    &lines[begin..]
}

/// With `--stats-success-breakdown` there are two distributions more, of a part of the requests each.
fn all_requests(lines: &[&str]) -> Vec<(f64, f64)> {
    let of_a_part = |line: &&str| line.contains("xx only)");
    let end = lines.iter().position(of_a_part).unwrap_or(lines.len());
    quantiles(&lines[..end])
}

/// From answers by status, and errors by their text.
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

/// The number of connections is not in it. Its default is 50.
fn oha(value: &Value) -> Option<Row> {
    let summary = value.get("summary")?;
    let seconds = |key: &str| at(summary, key).map(|s| s * 1e9);
    let quantiles = value.get("latencyPercentiles")?.as_object()?;
    let statuses = value.get("statusCodeDistribution").and_then(Value::as_object);
    let errors = value.get("errorDistribution").and_then(Value::as_object);
    let quantile = |(name, s): (&str, f64)| Some((number(name.strip_prefix('p')?)? / 100.0, s * 1e9));
    Some(Row {
        per_second: at(summary, "requestsPerSec"),
        counts: statuses.map(|statuses| counts(numbers(statuses), errors.into_iter().flat_map(numbers))),
        elapsed_s: at(summary, "total"),
        latency: Latency {
            ns_min: seconds("fastest"),
            ns_mean: seconds("average"),
            ns_max: seconds("slowest"),
            quantiles_ns: numbers(quantiles).filter_map(quantile).collect(),
            step_ns: 0.0,
        },
        ..Row::default()
    })
}
