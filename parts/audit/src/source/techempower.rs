//! `results.json` of TechEmpower's Framework Benchmarks: for each type of test and framework a list of wrk
//! results, one per number of connections. The CPU use of a server is in other files.

use serde_json::Value;
use tare_base::units::several;

use super::text::{at, printed, text_at, time_at_ns};
use crate::published::{AuditRow, Counts, Published, PublishedLatency, PublishedLoad, Source, Timing};

/// Pipelined requests on each connection in the test `plaintext`.
const PIPELINE: f64 = 16.0;
/// Statuses 4xx and 5xx, in one figure.
const FAILURES: &str = "5xx";
/// Errors without an answer, which are not counted as requests.
const UNANSWERED: [&str; 3] = ["connect", "read", "write"];

pub(super) fn read(_: &str, value: &Value) -> Option<Published> {
    let raw = value.get("rawData")?.as_object()?;
    let duration_s = at(value, "duration");
    let levels = |key: &str| -> Vec<f64> {
        value.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let (levels, pipelined) = (levels("concurrencyLevels"), levels("pipelineConcurrencyLevels"));
    let mut read = Published { source: Source::TechEmpower, rows: Vec::new(), unread: 0 };
    for (kind, frameworks) in raw {
        let Some(frameworks) = frameworks.as_object() else { continue };
        let of_kind = if kind == "plaintext" && !pipelined.is_empty() { &pipelined } else { &levels };
        for (framework, loads) in frameworks {
            for (place, load) in loads.as_array().into_iter().flatten().enumerate() {
                // Tests with several queries use the most connections; the list has the numbers of queries.
                let connections = match kind.as_str() {
                    "query" | "update" | "cached-query" => levels.last(),
                    _ => of_kind.get(place),
                };
                match row(kind, framework, connections.copied(), duration_s, load) {
                    Some(row) => read.rows.push(place_of(row, kind, place)),
                    None => read.unread += 1,
                }
            }
        }
    }
    Some(read)
}

/// In tests with several queries only the position identifies a load.
fn place_of(row: AuditRow, kind: &str, place: usize) -> AuditRow {
    match kind {
        "query" | "update" | "cached-query" => {
            AuditRow { test: format!("{}, load {}", row.test, place + 1), ..row }
        }
        _ => row,
    }
}

fn row(
    kind: &str,
    framework: &str,
    connections: Option<f64>,
    duration_s: Option<f64>,
    load: &Value,
) -> Option<AuditRow> {
    let requests = at(load, "totalRequests")?;
    let elapsed_s = at(load, "endTime").zip(at(load, "startTime")).map(|(end, start)| end - start);
    let elapsed_s = duration_s.or(elapsed_s).filter(|elapsed_s| *elapsed_s > 0.0);
    let refused = at(load, FAILURES).unwrap_or(0.0);
    let mean = text_at(load, "latencyAvg").and_then(printed);
    let pipeline = if kind == "plaintext" { PIPELINE } else { 1.0 };
    Some(AuditRow {
        name: framework.to_owned(),
        test: connections
            .map_or(kind.to_owned(), |connections| format!("{kind}, {}", several(connections, "connection"))),
        load: PublishedLoad {
            slots: connections.map(|connections| connections * pipeline),
            ..PublishedLoad::default()
        },
        // The ranking uses this quotient, because the file contains no rate.
        per_second: elapsed_s.map(|elapsed_s| requests / elapsed_s),
        counts: Some(Counts {
            succeeded: (requests - refused).max(0.0),
            refused,
            unanswered: UNANSWERED.iter().filter_map(|key| at(load, key)).sum(),
            ..Counts::default()
        }),
        elapsed_s,
        latency: PublishedLatency {
            ns_mean: mean.map(|mean| mean.ns),
            ns_max: time_at_ns(load, "latencyMax"),
            step_ns: mean.map_or(0.0, |mean| mean.step_ns),
            ..PublishedLatency::default()
        },
        timing: Timing::Corrected,
        ..AuditRow::default()
    })
}
