//! vegeta: `report`, and `report -type=json`. An open load: its latencies begin when a request is sent, and
//! the number of requests in flight is not limited.

use serde_json::Value;

use super::Tool;
use crate::{
    published::{AuditRow, CountedRequests, Counts, PublishedLatency, PublishedLoad, Source, Timing},
    source::text::{at, number, printed},
};

pub(super) const TOOL: Tool = Tool {
    source: Source::Vegeta,
    timing: Timing::Measured,
    counted: CountedRequests::Succeeded,
    printed: |lines| lines.iter().any(|line| begins(line)),
    begins,
    run,
    json,
};

const PACED: PublishedLoad =
    PublishedLoad { slots: None, under_way: None, reconnects: false, thinks: false, paced: true };

fn begins(line: &str) -> bool {
    line.starts_with("Requests") && line.contains("[total, rate")
}

fn run(lines: &[&str]) -> AuditRow {
    let listed = |label: &str| -> Vec<&str> {
        let line = lines.iter().find(|line| line.starts_with(label));
        let values = line.and_then(|line| line.split(']').nth(1));
        values.map(|values| values.split(',').map(str::trim).collect()).unwrap_or_default()
    };
    let (totals, times, latencies) = (listed("Requests"), listed("Duration"), listed("Latencies"));
    let names = lines.iter().find_map(|line| line.strip_prefix("Latencies")?.split(['[', ']']).nth(1));
    let names = names.into_iter().flat_map(|names| names.split(',').map(str::trim));
    let named: Vec<_> =
        names.zip(latencies).filter_map(|(name, text)| Some((name, printed(text)?))).collect();
    let of = |name: &str| named.iter().find(|(found, _)| *found == name).map(|(_, time)| *time);
    let codes = listed("Status Codes").first().copied().unwrap_or_default();
    let codes = codes.split_whitespace().filter_map(|code| code.split_once(':'));
    let success = listed("Success").first().and_then(|text| number(text)).map(|percent| percent / 100.0);
    let requests = totals.first().and_then(|text| number(text));
    AuditRow {
        test: "vegeta".to_owned(),
        load: PACED,
        per_second: totals.get(2).or(totals.get(1)).and_then(|text| number(text)),
        counts: counts(codes.filter_map(|(code, count)| Some((code, number(count)?))), requests.zip(success)),
        elapsed_s: times.first().and_then(|text| printed(text)).map(|time| time.ns / 1e9),
        latency: PublishedLatency {
            ns_min: of("min").map(|time| time.ns),
            ns_mean: of("mean").map(|time| time.ns),
            ns_max: of("max").map(|time| time.ns),
            quantiles_ns: named
                .iter()
                .filter_map(|(name, time)| Some((number(name)? / 100.0, time.ns)))
                .collect(),
            step_ns: of("mean").map_or(0.0, |mean| mean.step_ns),
        },
        ..AuditRow::default()
    }
}

/// Counts by status, where 0 means no answer; else from the number of requests and the share of successes.
fn counts<'a>(codes: impl Iterator<Item = (&'a str, f64)>, share: Option<(f64, f64)>) -> Option<Counts> {
    let mut counts = Counts::default();
    for (code, count) in codes {
        match code.as_bytes().first() {
            Some(b'2' | b'3') => counts.succeeded += count,
            Some(b'0') => counts.unanswered += count,
            _ => counts.refused += count,
        }
    }
    let by_share = share.map(|(requests, success)| Counts {
        succeeded: requests * success,
        refused: requests * (1.0 - success).max(0.0),
        ..Counts::default()
    });
    if counts.judged() > 0.0 { Some(counts) } else { by_share }
}

fn json(value: &Value) -> Option<AuditRow> {
    let latencies = value.get("latencies")?;
    let quantiles = [("50th", 0.5), ("90th", 0.9), ("95th", 0.95), ("99th", 0.99)];
    let elapsed_ns = at(value, "duration")? + at(value, "wait").unwrap_or(0.0);
    let share = at(value, "requests").zip(at(value, "success"));
    let codes = value.get("status_codes").and_then(Value::as_object).into_iter().flatten();
    Some(AuditRow {
        load: PACED,
        per_second: at(value, "throughput").or_else(|| at(value, "rate")),
        counts: counts(codes.filter_map(|(code, count)| Some((code.as_str(), count.as_f64()?))), share),
        elapsed_s: Some(elapsed_ns / 1e9),
        latency: PublishedLatency {
            ns_min: at(latencies, "min"),
            ns_mean: at(latencies, "mean"),
            ns_max: at(latencies, "max"),
            quantiles_ns: quantiles
                .into_iter()
                .filter_map(|(key, share)| Some((share, at(latencies, key)?)))
                .collect(),
            step_ns: 0.0,
        },
        ..AuditRow::default()
    })
}
