//! The JSON document, described by `schema/load.schema.json`, and the lines of `--series`; integers are in
//! base units. Each key is written explicitly, so that the engine's types can change without it.

use std::time::Duration;

use serde_json::{Value, json};
use tare_base::Histogram;
use tare_load::{
    ArrivalProcess, Contradiction, DriverChoice, EngineFinding, EventMeasures, FailureSample,
    GeneratorSettings, Handshakes, Load, Measures, Quantile, RequestQuota, RunInterval, RunReport, Schedule,
    Tally, Think, Waiting,
};
use tare_stats::samples::carry;

use super::{
    super::{finding::LoadFinding, machine::MachineUse},
    LoadResult, QUANTILES, printable, verdict_words,
};

const FORMAT: &str = "tare-load/2.4";

pub(super) fn document(result: &LoadResult<'_>) -> Value {
    let report = result.report;
    let (total, tally) = (&report.total, &report.total.tally);
    let mut document = json!({
        "format": FORMAT,
        "tare_version": env!("CARGO_PKG_VERSION"),
        "started_at": result.started_at,
        "command": printable(&result.command),
        "url": printable(result.url),
        "what": printable(&result.what),
        "check": printable(&result.check),
        "verdict": verdict_words(result),
        "doubts": result.findings.iter().map(finding).collect::<Vec<_>>(),
        "limits": limits(result),
        "machine": result.machine.as_ref().map(machine),
        "warnings": result.warnings.iter().map(|warning| printable(warning)).collect::<Vec<_>>(),
        "notes": result.notes.iter().map(|note| printable(note)).collect::<Vec<_>>(),
        "interrupted": report.interrupted,
        "settings": settings(result.settings),
        "load": load(result.load),
        "driver": { "kind": report.driver.kind.name(), "reason": report.driver.reason },
        "generator": generator(report),
        "window_ns": report.window_ns,
        "elapsed_ns": report.elapsed_ns,
        "answers_per_s": report.answers_per_s(),
        "gone_since_ns": report.gone_since_ns,
        "answers_per_s_while_up": report.answers_per_s_while_up(),
        "shortfall_share": result.shortfall,
        "in_flight_mean": report.in_flight_mean(),
        "totals": totals(tally),
        "failed": tally.failed,
        "connection_failed": tally.connection_failed,
        "statuses": total.statuses,
        "latency": latency(total, true),
        "unanswered": times_with_histogram(&total.unanswered),
        "service_time": times_with_histogram(&total.service_time),
        "schedule_lag": times_with_histogram(&total.schedule_lag),
        "connect_time": times_with_histogram(&total.connect_time),
        "connection_time": times_with_histogram(&total.connection_time),
        "stream_wait": times_with_histogram(&total.stream_wait),
        "handshakes": report.handshakes.as_ref().map(handshakes),
        "first_failure": report.first_failure.as_ref().map(sample),
        "agents": result.several.as_ref().map(|several| &several.rows),
        "alignment": result.several.as_ref().map(|several| &several.alignment),
        "service_cpu": result.several.as_ref().map(|several| &several.service_cpu),
    });
    // The macro has no room for one more key.
    document["events"] = total.events.as_ref().map(|events| events_of(events, report)).into();
    document
}

fn generator(report: &RunReport) -> Value {
    json!({
        "threads": report.threads,
        "cpu_ns": report.generator_cpu_ns,
        "polled_ns": report.generator_polled_ns,
        "busy_share": report.generator_busy_share(),
        "cpu_ns_per_answer": report.generator_cpu_ns_per_answer().round() as u64,
    })
}

fn limits(result: &LoadResult<'_>) -> Value {
    let limits = &result.limits;
    json!({
        "busy_share_max": limits.busy_share_max,
        "schedule_lag_ns_p99_max": limits.schedule_lag_ns_p99_max,
        "error_share_max": limits.error_share_max,
        "little_share_max": limits.little_share_max,
        "interference_share_max": result.interference_share_max,
    })
}

/// The outcomes of all requests and connections.
fn totals(tally: &Tally) -> Value {
    json!({
        "sent": tally.sent,
        "answered": tally.answered,
        "answered_in_window": tally.answered_in_window,
        "failed": tally.failed.total(),
        "in_flight": tally.in_flight,
        "streaming": tally.streaming,
        "unsent": tally.unsent,
        "connects": tally.connects,
        "connection_failed": tally.connection_failed.total(),
        "bytes_sent": tally.bytes_sent,
        "bytes_received": tally.bytes_received,
    })
}

fn events_of(events: &EventMeasures, report: &RunReport) -> Value {
    json!({
        "count": events.events,
        "per_s": report.events_per_s(),
        "streams": events.streams,
        "first": times_with_histogram(&events.first),
        "gap": times_with_histogram(&events.gap),
        "delay": times_with_histogram(&events.delay),
        "silence_ns_max": events.silence_ns_max,
        "generator_cpu_ns_per_event": report.generator_cpu_ns_per_event().map(|ns| ns.round() as u64),
    })
}

fn machine(machine: &MachineUse) -> Value {
    json!({
        "others_share": machine.others_share,
        "stolen_share": machine.stolen_share,
        "pressure_share": machine.pressure_share,
    })
}

fn finding(finding: &LoadFinding) -> Value {
    match finding {
        LoadFinding::Engine(found) => doubt(found),
        LoadFinding::Machine(interference) => {
            json!({ "name": finding.name(), "share": interference.share(), "text": finding.to_string() })
        }
        LoadFinding::Several { name, agent, text } => json!({ "name": name, "agent": agent, "text": text }),
    }
}

pub(crate) fn doubt(doubt: &EngineFinding) -> Value {
    let (name, text) = (doubt.name(), doubt.to_string());
    match *doubt {
        EngineFinding::Gone { since_ns } => json!({ "name": name, "since_ns": since_ns, "text": text }),
        EngineFinding::GeneratorBound { busy_share } => {
            json!({ "name": name, "busy_share": busy_share, "text": text })
        }
        EngineFinding::Late { schedule_lag_ns_p99 } => {
            json!({ "name": name, "schedule_lag_ns_p99": schedule_lag_ns_p99, "text": text })
        }
        EngineFinding::Failing { share } => json!({ "name": name, "share": share, "text": text }),
        EngineFinding::Inconsistent(Contradiction::InFlight { in_flight_mean, little }) => {
            json!({ "name": name, "in_flight_mean": in_flight_mean, "little": little, "text": text })
        }
        EngineFinding::NoEvents
        | EngineFinding::Inconsistent(Contradiction::Times { .. } | Contradiction::Mean { .. }) => {
            json!({ "name": name, "text": text })
        }
    }
}

fn settings(settings: &GeneratorSettings) -> Value {
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
        "protocol": settings.protocol.name(),
        "streams": settings.protocol.is_http2().then_some(settings.streams),
    })
}

/// The handshakes of all connections of the generator, including those before the load.
fn handshakes(handshakes: &Handshakes) -> Value {
    let negotiated = handshakes.negotiated.iter().map(|(negotiated, connections)| {
        json!({
            "version": negotiated.version,
            "suite": negotiated.suite,
            "group": negotiated.group,
            "alpn": negotiated.alpn,
            "connections": connections,
        })
    });
    json!({
        "full": handshakes.full,
        "resumed": handshakes.resumed,
        "negotiated": negotiated.collect::<Vec<_>>(),
    })
}

fn load(load: &Load) -> Value {
    let (after, count) = match load.stop.quota() {
        None => ("time", None),
        Some(RequestQuota::Requests(count)) => ("requests", Some(count)),
        Some(RequestQuota::RequestsEach(count)) => ("requests-each", Some(count)),
        Some(RequestQuota::Connections(count)) => ("connections", Some(count)),
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
                ArrivalProcess::Constant => "constant",
                ArrivalProcess::Poisson => "poisson",
            };
            json!({ "kind": "open", "profile": arrivals.profile.to_string(), "process": process })
        }
    }
}

fn sample(sample: &FailureSample) -> Value {
    json!({
        "failure": sample.failure.name(),
        "exchange": printable(&sample.exchange),
        "expected": printable(&sample.expected),
        "reason": sample.reason.as_deref().map(printable),
        "got": sample.got.escape_ascii().to_string(),
        "at_ns": sample.at_ns,
    })
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A histogram with its encoding; `None` if nothing was timed.
fn times_with_histogram(histogram: &Histogram) -> Option<Value> {
    let quantile = |q| Quantile { ns: histogram.quantile_ns(q), at_least: false };
    let all = All { count: histogram.count(), mean_ns: histogram.mean_ns(), is_bound: false };
    (histogram.count() > 0).then(|| times(histogram, true, &all, quantile))
}

/// All latencies. Count and minimum cover answered requests; mean and quantiles include the others, as
/// bounds.
pub(crate) fn latency(measures: &Measures, with_histogram: bool) -> Option<Value> {
    let is_bound = measures.is_bounded_below();
    let all = All { count: measures.timed(), mean_ns: measures.mean_ns(), is_bound };
    (all.count > 0).then(|| times(&measures.latency, with_histogram, &all, |q| measures.quantile(q)))
}

/// The population of mean and quantiles. If the mean is a lower bound, the deviation is not known.
struct All {
    count: u64,
    mean_ns: f64,
    is_bound: bool,
}

fn times(
    histogram: &Histogram,
    with_histogram: bool,
    all: &All,
    quantile: impl Fn(f64) -> Quantile,
) -> Value {
    let some = |value: f64| (histogram.count() > 0).then_some(value.round() as u64);
    let mut times = json!({
        "count": histogram.count(),
        "ns_min": some(histogram.min_ns() as f64),
        "ns_mean": all.mean_ns.round() as u64,
        "ns_stdev": histogram.stdev_ns().filter(|_| !all.is_bound).map(|ns| ns.round() as u64),
    });
    let mut at_least: Vec<&str> = all.is_bound.then_some("mean").into_iter().collect();
    for (name, _, q) in QUANTILES {
        let quantile = carry(all.count, q).then(|| quantile(q));
        times[format!("ns_{name}")] = quantile.map(|quantile| quantile.ns).into();
        at_least.extend(quantile.filter(|quantile| quantile.at_least).map(|_| name));
    }
    // The names of the figures that are lower bounds.
    times["at_least"] = at_least.into();
    if with_histogram {
        times["hdr_v2_base64"] = histogram.to_base64().into();
    }
    times
}

/// Makes the lines of intervals, and keeps the state between them.
#[derive(Debug, Default)]
pub(super) struct Series {
    intervals: u64,
    sent: u64,
    ended: u64,
}

impl Series {
    /// The next interval. Times are counted from the start of the load, and `in_flight` is at its end.
    pub(super) fn line(&mut self, interval: &RunInterval) -> Value {
        let measures = &interval.measures;
        let (tally, lag) = (&measures.tally, &measures.schedule_lag);
        self.sent += tally.sent;
        self.ended += tally.answered + tally.failed.total() + tally.streaming;
        self.intervals += 1;
        json!({
            "interval": self.intervals - 1,
            "from_ns": interval.from_ns,
            "to_ns": interval.to_ns,
            "sent": tally.sent,
            "answered": tally.answered,
            "answers_per_s": interval.answers_per_s(),
            "failed": tally.failed,
            "in_flight": self.sent.saturating_sub(self.ended),
            "events": measures.events.as_ref().map(|events| events.events),
            "unsent": tally.unsent,
            "connects": tally.connects,
            "connection_failed": tally.connection_failed,
            "bytes_sent": tally.bytes_sent,
            "bytes_received": tally.bytes_received,
            "latency": latency(measures, false),
            "schedule_lag_ns_p99": carry(lag.count(), 0.99).then(|| lag.quantile_ns(0.99)),
        })
    }
}
