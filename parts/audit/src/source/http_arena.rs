//! The data of HttpArena's site: `site/data/PROFILE-CONNECTIONS.json`, a list of rows, and `site/data/results/FRAMEWORK.json`, the
//! rows of one framework by profile.

use serde_json::Value;

use super::text::{at, number, printed, text_at, time_at_ns};
use crate::published::{
    AuditRow, CountedRequests, Counts, Mislabelled, Published, PublishedLatency, PublishedLoad, Source,
    Statistic, Timing,
};

/// The logical CPUs of a server; `scripts/lib/profiles.sh` has the CPU sets by profile.
const CPUS: f64 = 64.0;
const OF_PROFILES: [(&str, f64); 2] = [("api-4-", 4.0), ("api-16-", 16.0)];
/// Profiles with many concurrent requests per connection, whose number no file states.
const MULTIPLEXED: [&str; 6] = ["h2", "h3", "grpc", "stream", "gateway", "production-stack"];
/// Profiles with a limited rate, in which most connections wait.
const PACED: [&str; 2] = ["latency-", "8gbit"];
/// Profiles measured by wrk.
const OF_WRK: [&str; 3] = ["static", "static-tls", "json-tls"];
/// Profiles whose p99 is the maximum unless it is the mean, according to the script that parses their output.
const MAXIMUM_AS_P99: [(&str, Mislabelled); 4] = [
    ("static-tls", maximum_by("scripts/lib/tools/wrk.sh:70 at commit 01193b6")),
    ("json-tls", maximum_by("scripts/lib/tools/wrk.sh:70 at commit 01193b6")),
    ("stream-grpc", maximum_by("scripts/lib/tools/ghz.sh:103 at commit 28606ba")),
    ("stream-grpc-tls", maximum_by("scripts/lib/tools/ghz.sh:103 at commit 28606ba")),
];
/// Statuses that are no success.
const FAILURES: [&str; 3] = ["status_3xx", "status_4xx", "status_5xx"];

const fn maximum_by(shown_by: &'static str) -> Mislabelled {
    Mislabelled { called: 0.99, is: Statistic::Maximum, shown_by }
}

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
    let rows: Vec<AuditRow> = rows.into_iter().filter_map(|(profile, value)| row(profile, value)).collect();
    Some(Published { source: Source::HttpArena, unread: count - rows.len(), rows })
}

fn row(profile: &str, value: &Value) -> Option<AuditRow> {
    let name = text_at(value, "framework")?.to_owned();
    let per_second = at(value, "rps").filter(|rate| *rate > 0.0)?;
    let refused = FAILURES.iter().filter_map(|key| at(value, key)).sum();
    let counts = |succeeded| Counts { succeeded, refused, ..Counts::default() };
    // `json-tls-4096` is a profile and its connections.
    let kind = profile.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
    let is_multiplexed = MULTIPLEXED.iter().any(|part| profile.contains(part));
    let slots =
        at(value, "connections").map(|connections| connections * at(value, "pipeline").unwrap_or(1.0));
    let of_profile = OF_PROFILES.iter().find(|(start, _)| profile.starts_with(start));
    let mean = text_at(value, "avg_latency").and_then(printed);
    let called_p99 = time_at_ns(value, "p99_latency");
    let is_mean = called_p99.is_some() && called_p99 == mean.map(|mean| mean.ns);
    let mislabelled = MAXIMUM_AS_P99.iter().find(|(of, _)| *of == kind && !is_mean).map(|(_, label)| *label);
    Some(AuditRow {
        name,
        test: profile.to_owned(),
        load: PublishedLoad {
            slots: slots.filter(|_| !is_multiplexed),
            paced: PACED.iter().any(|start| profile.starts_with(start)),
            reconnects: at(value, "reconnects").is_some_and(|count| count > 0.0),
            ..PublishedLoad::default()
        },
        per_second: Some(per_second),
        counted: CountedRequests::Succeeded,
        counts: at(value, "status_2xx").map(counts),
        elapsed_s: time_at_ns(value, "duration").map(|ns| ns / 1e9),
        latency: PublishedLatency {
            ns_mean: mean.map(|mean| mean.ns),
            ns_max: called_p99.filter(|_| mislabelled.is_some()),
            quantiles_ns: called_p99
                .filter(|_| mislabelled.is_none())
                .map(|ns| (0.99, ns))
                .into_iter()
                .collect(),
            step_ns: mean.map_or(0.0, |mean| mean.step_ns),
            ns_min: None,
        },
        timing: if OF_WRK.contains(&kind) { Timing::Corrected } else { Timing::Measured },
        mislabelled,
        cpus_used: text_at(value, "cpu").and_then(number).map(|percent| percent / 100.0),
        cpus: Some(of_profile.map_or(CPUS, |(_, cpus)| *cpus)),
        ..AuditRow::default()
    })
}
