//! k6: its text summary, in the format before 1.0 and in the current one, and three forms of JSON. None
//! contains the number of concurrent requests of a virtual user (`http.batch`), so nothing bounds the
//! requests in flight.

use serde_json::{Map, Value};

use super::Tool;
use crate::{
    published::{AuditRow, Checks, CountedRequests, Counts, PublishedLatency, PublishedLoad, Source, Timing},
    source::text::{at, number, printed, text_at},
};

const MILLISECOND_NS: f64 = 1e6;

pub(super) const TOOL: Tool = Tool {
    source: Source::K6,
    timing: Timing::Measured,
    counted: CountedRequests::Ended,
    printed: |lines| metric(lines, "http_reqs").is_some(),
    begins: |line| line.starts_with("execution: "),
    run,
    json,
};

/// The text after the dots of a metric. A threshold adds a mark before its name.
fn metric<'a>(lines: &[&'a str], name: &str) -> Option<&'a str> {
    lines.iter().find_map(|line| {
        let line = line.trim_start_matches(['✓', '✗', ' ']);
        let rest = line.strip_prefix(name)?.trim_start_matches('.');
        rest.strip_prefix(':').map(str::trim)
    })
}

/// A count out of a total: `20.00% ✓ 10 ✗ 40` has ten, and so has `20.00% 10 out of 50`.
fn share(text: &str) -> Option<(f64, f64)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number_at = |place: usize| words.get(place).and_then(|word| number(word));
    match words.get(1) {
        Some(&"✓") => Some((number_at(2)?, number_at(2)? + number_at(4)?)),
        Some(_) => Some((number_at(1)?, number_at(4)?)),
        None => None,
    }
}

fn run(lines: &[&str]) -> AuditRow {
    let reqs: Vec<&str> =
        metric(lines, "http_reqs").map(|rest| rest.split_whitespace().collect()).unwrap_or_default();
    let count = reqs.first().and_then(|count| number(count));
    let rate = reqs.get(1).and_then(|rate| number(rate.trim_matches(['(', ')']).strip_suffix("/s")?));
    let trend = metric(lines, "http_req_duration").unwrap_or_default();
    let named = || trend.split_whitespace().filter_map(|word| word.split_once('='));
    let of = |name: &str| named().find(|(found, _)| *found == name).and_then(|(_, text)| printed(text));
    let quantiles = named().filter_map(|(name, text)| Some((probability(name)?, printed(text)?.ns)));
    let failed = metric(lines, "http_req_failed").and_then(share).map(|(failed, _)| failed);
    // Before 1.0 a line has the passed checks, since then the failed ones.
    let passed =
        metric(lines, "checks").and_then(share).map(|(passed, of)| Checks { failed: of - passed, of });
    let checks_failed =
        metric(lines, "checks_failed").and_then(share).map(|(failed, of)| Checks { failed, of });
    AuditRow {
        load: PublishedLoad { thinks: true, ..PublishedLoad::default() },
        per_second: rate,
        counts: counts(count, failed),
        checks: checks_failed.or(passed),
        latency: PublishedLatency {
            ns_min: of("min").map(|time| time.ns),
            ns_mean: of("avg").map(|time| time.ns),
            ns_max: of("max").map(|time| time.ns),
            quantiles_ns: quantiles.collect(),
            step_ns: of("avg").map_or(0.0, |mean| mean.step_ns),
        },
        ..AuditRow::default()
    }
}

/// The probability of `med` and `p(99.9)`.
fn probability(name: &str) -> Option<f64> {
    if name == "med" {
        return Some(0.5);
    }
    number(name.strip_prefix("p(")?.strip_suffix(')')?).map(|percent| percent / 100.0)
}

/// The output does not say whether a failed request had an answer.
fn counts(count: Option<f64>, failed: Option<f64>) -> Option<Counts> {
    let (count, failed) = (count?, failed?);
    Some(Counts { succeeded: count - failed, refused: failed, ..Counts::default() })
}

/// The metrics by name. `handleSummary` nests the figures of a metric one level deeper, and the summary for
/// machines is a list.
fn metrics(value: &Value) -> Option<Map<String, Value>> {
    let figures = |metric: &Value| metric.get("values").unwrap_or(metric).clone();
    let listed = |of: &Value| -> Option<Vec<(String, Value)>> {
        let metrics = of.get("metrics")?.as_array()?.iter();
        Some(
            metrics
                .filter_map(|metric| Some((text_at(metric, "name")?.to_owned(), figures(metric))))
                .collect(),
        )
    };
    if let Some(results) = value.get("results") {
        let checks = results.get("checks").and_then(listed).unwrap_or_default();
        return Some(listed(results)?.into_iter().chain(checks).collect());
    }
    let metrics = value.get("metrics")?.as_object()?;
    Some(metrics.iter().map(|(name, metric)| (name.clone(), figures(metric))).collect())
}

fn json(value: &Value) -> Option<AuditRow> {
    let metrics = metrics(value)?;
    let (requests, duration) = (metrics.get("http_reqs")?, metrics.get("http_req_duration")?);
    let time = |key: &str| at(duration, key).map(|ms| ms * MILLISECOND_NS);
    let quantile = |(name, ms): (&String, &Value)| Some((probability(name)?, ms.as_f64()? * MILLISECOND_NS));
    let count = at(requests, "count");
    let rate = at(requests, "rate");
    let failed =
        metrics.get("http_req_failed").and_then(|failed| at(failed, "value").or_else(|| at(failed, "rate")));
    // The rate of passed checks is in `checks`, and the number of failed ones in `checks_failed`.
    let of_checks = metrics.get("checks").and_then(|checks| {
        let failed = at(checks, "fails")?;
        Some(Checks { failed, of: failed + at(checks, "passes")? })
    });
    let listed = metrics
        .get("checks_failed")
        .and_then(|checks| Some(Checks { failed: at(checks, "matches")?, of: at(checks, "total")? }));
    Some(AuditRow {
        load: PublishedLoad { thinks: true, ..PublishedLoad::default() },
        per_second: rate,
        counts: counts(count, count.zip(failed).map(|(count, share)| count * share)),
        checks: of_checks.or(listed),
        elapsed_s: count.zip(rate.filter(|rate| *rate > 0.0)).map(|(count, rate)| count / rate),
        latency: PublishedLatency {
            ns_min: time("min"),
            ns_mean: time("avg"),
            ns_max: time("max"),
            quantiles_ns: duration.as_object()?.iter().filter_map(quantile).collect(),
            step_ns: 0.0,
        },
        ..AuditRow::default()
    })
}
