//! The data of HttpArena's site: `site/data/PROFILE-CONNECTIONS.json`, a list of rows, and `site/data/results/FRAMEWORK.json`, the
//! rows of one framework by profile.

use serde_json::Value;

use super::text::{at, number, text_at, time_at_ns};
use crate::published::{Latency, Load, Published, Row, Source};

/// Logical CPUs of a server, by its profile; `scripts/lib/profiles.sh` has the sets.
const CPUS: f64 = 64.0;
const OF_PROFILES: [(&str, f64); 2] = [("api-4-", 4.0), ("api-16-", 16.0)];
/// Profiles in which one connection carries many requests at once, of a number that no file states.
const MULTIPLEXED: [&str; 5] = ["h2", "h3", "grpc", "stream", "gateway"];
/// Answers that are no success.
const FAILURES: [&str; 3] = ["status_3xx", "status_4xx", "status_5xx"];

pub(super) fn read(name: &str, value: &Value) -> Option<Published> {
    let profile = name.rsplit('/').next()?.trim_end_matches(".json");
    let rows: Vec<(&str, &Value)> = match value {
        Value::Array(rows) => rows.iter().map(|row| (profile, row)).collect(),
        Value::Object(_) => {
            let results = value.get("results")?.as_object()?;
            results.iter().map(|(profile, row)| (profile.as_str(), row)).collect()
        }
        _ => return None,
    };
    if !rows.iter().any(|(_, row)| row.get("rps").is_some() && row.get("framework").is_some()) {
        return None;
    }
    let count = rows.len();
    let rows: Vec<Row> = rows.into_iter().filter_map(|(profile, value)| row(profile, value)).collect();
    Some(Published { source: Source::HttpArena, unread: count - rows.len(), rows })
}

fn row(profile: &str, value: &Value) -> Option<Row> {
    let name = text_at(value, "framework")?.to_owned();
    let per_second = at(value, "rps").filter(|rate| *rate > 0.0)?;
    let succeeded = at(value, "status_2xx");
    let failed = Some(FAILURES.iter().filter_map(|key| at(value, key)).sum());
    let is_multiplexed = MULTIPLEXED.iter().any(|part| profile.contains(part));
    let slots =
        at(value, "connections").map(|connections| connections * at(value, "pipeline").unwrap_or(1.0));
    let of_profile = OF_PROFILES.iter().find(|(start, _)| profile.starts_with(start));
    Some(Row {
        name,
        test: profile.to_owned(),
        load: Load {
            slots: slots.filter(|_| !is_multiplexed),
            reconnects: at(value, "reconnects").is_some_and(|count| count > 0.0),
            ..Load::default()
        },
        per_second: Some(per_second),
        requests: succeeded.zip(failed).map(|(succeeded, failed)| succeeded + failed),
        failed,
        elapsed_s: time_at_ns(value, "duration").map(|ns| ns / 1e9),
        latency: Latency {
            ns_mean: time_at_ns(value, "avg_latency"),
            quantiles_ns: time_at_ns(value, "p99_latency").map(|ns| (0.99, ns)).into_iter().collect(),
            ..Latency::default()
        },
        cpus_used: text_at(value, "cpu").and_then(number).map(|percent| percent / 100.0),
        cpus: Some(of_profile.map_or(CPUS, |(_, cpus)| *cpus)),
        ..Row::default()
    })
}
