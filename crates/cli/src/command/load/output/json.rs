//! The document that programs read, described by `schema/load.schema.json`; integers are in base units. It is written out
//! key by key, so that the engine can change without it.

use std::time::Duration;

use serde_json::{Value, json};
use tare_load::{
    Doubt, DriverChoice, Load, Process, Quota, Sample, Schedule, Settings, Think, Waiting,
    generator::verdict::shortfall,
};

use super::{
    LoadResult, printable,
    times::{latency, times_with_histogram},
};

/// The version of the document.
const FORMAT: &str = "tare-load/1.0";

pub(super) fn document(result: &LoadResult<'_>) -> Value {
    let (report, limits) = (result.report, &result.limits);
    let (total, tally) = (&report.total, &report.total.tally);
    json!({
        "format": FORMAT,
        "tare_version": env!("CARGO_PKG_VERSION"),
        "started_at": result.started_at,
        "command": printable(&result.command),
        "url": printable(result.url),
        "what": printable(&result.what),
        "check": printable(&result.check),
        "verdict": if result.doubts.is_empty() { "valid" } else { "doubtful" },
        "doubts": result.doubts.iter().map(doubt).collect::<Vec<_>>(),
        "limits": {
            "busy_share_max": limits.busy_share_max,
            "schedule_lag_ns_p99_max": limits.schedule_lag_ns_p99_max,
            "error_share_max": limits.error_share_max,
            "little_share_max": limits.little_share_max,
        },
        "notes": result.notes.iter().map(|note| printable(note)).collect::<Vec<_>>(),
        "interrupted": report.interrupted,
        "settings": settings(result.settings),
        "load": load(result.load),
        "driver": { "kind": report.driver.kind.name(), "reason": report.driver.reason },
        "generator": {
            "threads": report.threads,
            "cpu_ns": report.generator_cpu_ns,
            "polled_ns": report.generator_polled_ns,
            "busy_share": report.generator_busy_share(),
            "cpu_ns_per_answer": report.generator_cpu_ns_per_answer().round() as u64,
        },
        "window_ns": report.window_ns,
        "elapsed_ns": report.elapsed_ns,
        "answers_per_s": report.answers_per_s(),
        "shortfall_share": shortfall(report, result.load),
        "in_flight_mean": report.in_flight_mean(),
        "totals": {
            "sent": tally.sent,
            "answered": tally.answered,
            "answered_in_window": tally.answered_in_window,
            "failed": tally.failed.total(),
            "in_flight": tally.in_flight,
            "unsent": tally.unsent,
            "connects": tally.connects,
            "connection_failed": tally.connection_failed.total(),
            "bytes_sent": tally.bytes_sent,
            "bytes_received": tally.bytes_received,
        },
        "failed": tally.failed,
        "connection_failed": tally.connection_failed,
        "latency": latency(total, true),
        "unanswered": times_with_histogram(&total.unanswered),
        "service_time": times_with_histogram(&total.service_time),
        "schedule_lag": times_with_histogram(&total.schedule_lag),
        "connect_time": times_with_histogram(&total.connect_time),
        "connection_time": times_with_histogram(&total.connection_time),
        "first_failure": report.first_failure.as_ref().map(sample),
    })
}

fn doubt(doubt: &Doubt) -> Value {
    let (name, text) = (doubt.name(), doubt.to_string());
    match *doubt {
        Doubt::GeneratorBound { busy_share } => {
            json!({ "name": name, "busy_share": busy_share, "text": text })
        }
        Doubt::Late { schedule_lag_ns_p99 } => {
            json!({ "name": name, "schedule_lag_ns_p99": schedule_lag_ns_p99, "text": text })
        }
        Doubt::Failing { share } => json!({ "name": name, "share": share, "text": text }),
        Doubt::Inconsistent { in_flight_mean, little } => {
            json!({ "name": name, "in_flight_mean": in_flight_mean, "little": little, "text": text })
        }
    }
}

fn settings(settings: &Settings) -> Value {
    let driver = match settings.driver {
        DriverChoice::Auto => "auto",
        DriverChoice::Only(kind) => kind.name(),
    };
    let sources = settings.route.sources.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "target": settings.route.target.to_string(),
        "sources": sources,
        "connections": settings.connections.total,
        "threads": settings.connections.threads,
        "cpus": settings.cpus,
        "driver": driver,
        "seed": settings.seed,
    })
}

fn load(load: &Load) -> Value {
    let (after, count) = match load.stop.quota() {
        None => ("time", None),
        Some(Quota::Requests(count)) => ("requests", Some(count)),
        Some(Quota::RequestsEach(count)) => ("requests-each", Some(count)),
        Some(Quota::Connections(count)) => ("connections", Some(count)),
    };
    let (waiting, spin) = match load.waiting {
        Waiting::Sleep => ("sleep", None),
        Waiting::PollBefore(spin) => ("poll-before", Some(ns(spin))),
        Waiting::Poll => ("poll", None),
    };
    json!({
        "schedule": schedule(&load.schedule),
        "stop": { "after": after, "count": count, "window_ns_max": ns(load.stop.window()) },
        "drain_ns": ns(load.stop.drain),
        "response_timeout_ns": ns(load.response_timeout),
        "pipeline": load.pipeline,
        "requests_per_connection": load.requests_per_connection,
        "check": load.check,
        "waiting": { "kind": waiting, "spin_ns": spin },
    })
}

fn schedule(schedule: &Schedule) -> Value {
    let closed = |min: u64, max: u64| json!({ "kind": "closed", "think_ns_min": min, "think_ns_max": max });
    match schedule {
        Schedule::Closed { think: Think::None } => closed(0, 0),
        Schedule::Closed { think: Think::Fixed(ns) } => closed(*ns, *ns),
        Schedule::Closed { think: Think::Uniform { min_ns, max_ns } } => closed(*min_ns, *max_ns),
        Schedule::Open(arrivals) => {
            let process = match arrivals.process {
                Process::Constant => "constant",
                Process::Poisson => "poisson",
            };
            json!({ "kind": "open", "profile": arrivals.profile.to_string(), "process": process })
        }
    }
}

fn sample(sample: &Sample) -> Value {
    json!({
        "failure": sample.failure.name(),
        "exchange": printable(&sample.exchange),
        "expected": printable(&sample.expected),
        "got": sample.got.escape_ascii().to_string(),
        "at_ns": sample.at_ns,
    })
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
