//! bombardier: its text, and the JSON of `-o json`.

use serde_json::Value;

use super::{Tool, has};
use crate::{
    published::{AuditRow, CountedRequests, Counts, PublishedLatency, PublishedLoad, Source, Timing},
    source::text::{at, number, printed, quantiles, rate, text_at, words},
};

const MICROSECOND_NS: f64 = 1e3;
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

pub(super) const TOOL: Tool = Tool {
    source: Source::Bombardier,
    // The mean of the rates of its intervals, which are 20 ms or longer.
    timing: Timing::RateSampled,
    counted: CountedRequests::Ended,
    printed: |lines| has(lines, "Bombarding ") || has(lines, "Reqs/sec") && has(lines, "1xx - "),
    begins: |line| line.starts_with("Bombarding "),
    run,
    json,
};

fn run(lines: &[&str]) -> AuditRow {
    let latency = words(lines, "Latency ");
    let of = |place: usize| latency.get(place).and_then(|text| printed(text));
    let codes = lines.iter().find(|line| line.starts_with("1xx - "));
    let code = |class: &str| {
        let found = codes.and_then(|line| line.split(',').find_map(|part| part.trim().strip_prefix(class)));
        found.and_then(|count| number(count.trim().trim_start_matches("- ")))
    };
    let first = lines.iter().find(|line| line.starts_with("Bombarding ")).copied().unwrap_or_default();
    let others = words(lines, "others - ").first().and_then(|count| number(count));
    let slots = first.split(" using ").nth(1).and_then(|rest| number(rest.split_whitespace().next()?));
    AuditRow {
        test: first.split_whitespace().nth(1).unwrap_or_default().to_owned(),
        load: PublishedLoad { slots, ..PublishedLoad::default() },
        per_second: words(lines, "Reqs/sec").first().and_then(|text| rate(text)),
        counts: codes.map(|_| counts(CLASSES.map(code), others)),
        latency: PublishedLatency {
            ns_mean: of(0).map(|mean| mean.ns),
            ns_max: of(2).map(|max| max.ns),
            quantiles_ns: quantiles(lines),
            ns_min: None,
            step_ns: of(0).map_or(0.0, |mean| mean.step_ns),
        },
        ..AuditRow::default()
    }
}

/// `others` are requests without an answer.
fn counts(classes: [Option<f64>; 5], others: Option<f64>) -> Counts {
    let [informed, succeeded, redirected, refused, failed] = classes.map(|count| count.unwrap_or(0.0));
    Counts {
        succeeded: informed + succeeded + redirected,
        refused: refused + failed,
        unanswered: others.unwrap_or(0.0),
        ..Counts::default()
    }
}

fn json(value: &Value) -> Option<AuditRow> {
    let (spec, result) = (value.get("spec")?, value.get("result")?);
    at(result, "req2xx")?;
    let (latency, rps) = (result.get("latency"), result.get("rps"));
    let us = |key: &str| latency.and_then(|latency| at(latency, key)).map(|us| us * MICROSECOND_NS);
    let percentiles = latency.and_then(|latency| latency.get("percentiles")?.as_object());
    let quantile =
        |(name, us): (&String, &Value)| Some((number(name)? / 100.0, us.as_f64()? * MICROSECOND_NS));
    Some(AuditRow {
        test: text_at(spec, "url").unwrap_or_default().to_owned(),
        load: PublishedLoad {
            slots: at(spec, "numberOfConnections"),
            paced: spec.get("rate").is_some(),
            ..PublishedLoad::default()
        },
        per_second: rps.and_then(|rps| at(rps, "mean")),
        counts: Some(counts(CLASSES.map(|class| at(result, &format!("req{class}"))), at(result, "others"))),
        latency: PublishedLatency {
            ns_mean: us("mean"),
            ns_max: us("max"),
            quantiles_ns: percentiles.into_iter().flatten().filter_map(quantile).collect(),
            ..PublishedLatency::default()
        },
        ..AuditRow::default()
    })
}
