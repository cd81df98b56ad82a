//! The JSON of tools: oha (`--output-format json`), k6 (`--summary-export` and `handleSummary`) and vegeta (`report -type=json`).

use serde_json::{Map, Value};

use super::text::at;
use crate::published::{Latency, Load, Published, Row, Source};

const MILLISECOND_NS: f64 = 1e6;
const SECOND_NS: f64 = 1e9;

pub(super) fn read(name: &str, value: &Value) -> Option<Published> {
    let (source, row) = [oha, k6, vegeta].into_iter().find_map(|read| read(value))?;
    Some(Published { source, rows: vec![Row { name: name.to_owned(), ..row }], unread: 0 })
}

/// The number of connections is not in it. Its default is 50.
fn oha(value: &Value) -> Option<(Source, Row)> {
    let summary = value.get("summary")?;
    let seconds = |key: &str| at(summary, key).map(|s| s * SECOND_NS);
    let quantiles = value.get("latencyPercentiles")?.as_object()?;
    let statuses = value.get("statusCodeDistribution").and_then(Value::as_object);
    let answered: Option<f64> = statuses.map(|statuses| statuses.values().filter_map(Value::as_f64).sum());
    let row = Row {
        per_second: at(summary, "requestsPerSec"),
        requests: answered,
        failed: statuses.map(failed),
        elapsed_s: at(summary, "total"),
        latency: Latency {
            ns_min: seconds("fastest"),
            ns_mean: seconds("average"),
            ns_max: seconds("slowest"),
            quantiles_ns: quantiles
                .iter()
                .filter_map(|(key, value)| {
                    Some((key.strip_prefix('p')?.parse::<f64>().ok()? / 100.0, value.as_f64()? * SECOND_NS))
                })
                .collect(),
        },
        ..Row::default()
    };
    Some((Source::Oha, row))
}

/// Answers by status: those of 4xx and 5xx.
fn failed(statuses: &Map<String, Value>) -> f64 {
    let is_failure = |(status, _): &(&String, &Value)| status.starts_with(['4', '5']);
    statuses.iter().filter(is_failure).filter_map(|(_, count)| count.as_f64()).sum()
}

/// A virtual user does other work between its requests.
fn k6(value: &Value) -> Option<(Source, Row)> {
    let metrics = value.get("metrics")?;
    // `handleSummary` has the figures of a metric one level below.
    let metric = |name: &str| metrics.get(name).map(|metric| metric.get("values").unwrap_or(metric));
    let (requests, duration) = (metric("http_reqs")?, metric("http_req_duration")?);
    let time = |key: &str| at(duration, key).map(|ms| ms * MILLISECOND_NS);
    let users = metric("vus_max").and_then(|users| at(users, "max").or_else(|| at(users, "value")));
    let count = at(requests, "count");
    let failed =
        metric("http_req_failed").and_then(|failed| at(failed, "value").or_else(|| at(failed, "rate")));
    let per_second = at(requests, "rate");
    let quantiles = [("med", 0.5), ("p(90)", 0.9), ("p(95)", 0.95), ("p(99)", 0.99), ("p(99.9)", 0.999)];
    let row = Row {
        load: Load { slots: users, thinks: true, ..Load::default() },
        per_second,
        requests: count,
        failed: count.zip(failed).map(|(count, share)| count * share),
        elapsed_s: count.zip(per_second.filter(|rate| *rate > 0.0)).map(|(count, rate)| count / rate),
        latency: Latency {
            ns_min: time("min"),
            ns_mean: time("avg"),
            ns_max: time("max"),
            quantiles_ns: quantiles
                .into_iter()
                .filter_map(|(key, share)| Some((share, time(key)?)))
                .collect(),
        },
        ..Row::default()
    };
    Some((Source::K6, row))
}

/// An open load: its latencies begin when a request is sent, and requests in flight have no limit.
fn vegeta(value: &Value) -> Option<(Source, Row)> {
    let latencies = value.get("latencies")?;
    let quantiles = [("50th", 0.5), ("90th", 0.9), ("95th", 0.95), ("99th", 0.99)];
    let elapsed_ns = at(value, "duration")? + at(value, "wait").unwrap_or(0.0);
    let requests = at(value, "requests")?;
    let row = Row {
        per_second: at(value, "throughput").or_else(|| at(value, "rate")),
        requests: Some(requests),
        failed: at(value, "success").map(|success| requests * (1.0 - success)),
        elapsed_s: Some(elapsed_ns / SECOND_NS),
        latency: Latency {
            ns_min: at(latencies, "min"),
            ns_mean: at(latencies, "mean"),
            ns_max: at(latencies, "max"),
            quantiles_ns: quantiles
                .into_iter()
                .filter_map(|(key, share)| Some((share, at(latencies, key)?)))
                .collect(),
        },
        ..Row::default()
    };
    Some((Source::Vegeta, row))
}
