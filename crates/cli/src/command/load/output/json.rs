//! The document that programs read, described by `schema/load.schema.json`. Its types are its own, so that the engine can
//! change without it; integers are in base units.

use std::collections::BTreeMap;

use serde::Serialize;
use tare_load::{
    Doubt, DriverChoice, Limits, Load, Process, Quota, Sample, Schedule, Settings, Tally, Think,
};

use super::{LoadResult, printable, series::by_class, times::Times};

/// The version of the document.
pub const FORMAT: &str = "tare-load/1.0";

/// A finished load.
#[derive(Debug, Serialize)]
pub struct Document {
    format: &'static str,
    tare_version: &'static str,
    started_at: String,
    command: String,
    url: String,
    what: String,
    check: String,
    verdict: &'static str,
    doubts: Vec<DoubtDto>,
    limits: LimitsDto,
    notes: Vec<String>,
    interrupted: bool,
    settings: SettingsDto,
    load: LoadDto,
    driver: DriverDto,
    generator: GeneratorDto,
    window_ns: u64,
    elapsed_ns: u64,
    answers_per_s: f64,
    shortfall_share: f64,
    in_flight_mean: f64,
    totals: TotalsDto,
    failed: BTreeMap<&'static str, u64>,
    connection_failed: BTreeMap<&'static str, u64>,
    latency: Option<Times>,
    unanswered: Option<Times>,
    service_time: Option<Times>,
    schedule_lag: Option<Times>,
    connect_time: Option<Times>,
    connection_time: Option<Times>,
    first_failure: Option<SampleDto>,
}

#[derive(Debug, Serialize)]
struct DoubtDto {
    #[serde(flatten)]
    what: DoubtKindDto,
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
enum DoubtKindDto {
    GeneratorBound { cpu_share: f64 },
    Late { schedule_lag_ns_p99: u64 },
    Failing { share: f64 },
    Inconsistent { in_flight_mean: f64, little: f64 },
}

#[derive(Debug, Serialize)]
struct LimitsDto {
    cpu_share_max: f64,
    schedule_lag_ns_p99_max: u64,
    error_share_max: f64,
    little_share_max: f64,
}

#[derive(Debug, Serialize)]
struct SettingsDto {
    target: String,
    sources: Vec<String>,
    connections: usize,
    threads: usize,
    cpus: Vec<usize>,
    driver: &'static str,
    seed: u64,
}

#[derive(Debug, Serialize)]
struct LoadDto {
    schedule: ScheduleDto,
    stop: StopDto,
    drain_ns: u64,
    response_timeout_ns: u64,
    pipeline: usize,
    requests_per_connection: Option<u64>,
    check: bool,
    spin_ns: u64,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum ScheduleDto {
    Closed { think_ns_min: u64, think_ns_max: u64 },
    Open { profile: String, process: &'static str },
}

#[derive(Debug, Serialize)]
struct StopDto {
    after: &'static str,
    count: Option<u64>,
    window_ns_max: u64,
}

#[derive(Debug, Serialize)]
struct DriverDto {
    kind: &'static str,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct GeneratorDto {
    threads: usize,
    cpu_ns: u64,
    cpu_share: f64,
    cpu_ns_per_answer: u64,
}

#[derive(Debug, Serialize)]
struct TotalsDto {
    sent: u64,
    answered: u64,
    answered_in_window: u64,
    failed: u64,
    in_flight: u64,
    unsent: u64,
    connects: u64,
    connection_failed: u64,
    bytes_sent: u64,
    bytes_received: u64,
}

#[derive(Debug, Serialize)]
struct SampleDto {
    failure: &'static str,
    exchange: String,
    expected: String,
    got: String,
    at_ns: u64,
}

impl Document {
    /// The document of a result.
    pub fn of(result: &LoadResult<'_>) -> Document {
        let report = result.report;
        let total = &report.total;
        let whole = |histogram| Times::of(histogram).map(|times| times.with(histogram));
        Document {
            format: FORMAT,
            tare_version: env!("CARGO_PKG_VERSION"),
            started_at: result.started_at.to_string(),
            command: printable(&result.command),
            url: printable(result.url),
            what: printable(&result.what),
            check: printable(&result.check),
            verdict: if result.doubts.is_empty() { "valid" } else { "doubtful" },
            doubts: result.doubts.iter().map(doubt).collect(),
            limits: limits(&result.limits),
            notes: result.notes.iter().map(|note| printable(note)).collect(),
            interrupted: report.interrupted,
            settings: settings(result.settings),
            load: load(result.load),
            driver: DriverDto { kind: report.driver.kind.name(), reason: report.driver.reason.clone() },
            generator: GeneratorDto {
                threads: report.threads,
                cpu_ns: report.generator_cpu_ns,
                cpu_share: report.generator_cpu_share(),
                cpu_ns_per_answer: report.generator_cpu_ns_per_answer().round() as u64,
            },
            window_ns: report.window_ns,
            elapsed_ns: report.elapsed_ns,
            answers_per_s: report.answers_per_s(),
            shortfall_share: tare_load::generator::verdict::shortfall(report, result.load),
            in_flight_mean: report.in_flight_mean(),
            totals: totals(&total.tally),
            failed: by_class(&total.tally.failed),
            connection_failed: by_class(&total.tally.connection_failed),
            latency: Times::of_latency(total).map(|times| times.with(&total.latency)),
            unanswered: whole(&total.unanswered),
            service_time: whole(&total.service_time),
            schedule_lag: whole(&total.schedule_lag),
            connect_time: whole(&total.connect_time),
            connection_time: whole(&total.connection_time),
            first_failure: report.first_failure.as_ref().map(sample),
        }
    }
}

fn doubt(doubt: &Doubt) -> DoubtDto {
    let what = match *doubt {
        Doubt::GeneratorBound { cpu_share } => DoubtKindDto::GeneratorBound { cpu_share },
        Doubt::Late { schedule_lag_ns_p99 } => DoubtKindDto::Late { schedule_lag_ns_p99 },
        Doubt::Failing { share } => DoubtKindDto::Failing { share },
        Doubt::Inconsistent { in_flight_mean, little } => {
            DoubtKindDto::Inconsistent { in_flight_mean, little }
        }
    };
    DoubtDto { what, text: doubt.to_string() }
}

fn limits(limits: &Limits) -> LimitsDto {
    LimitsDto {
        cpu_share_max: limits.cpu_share_max,
        schedule_lag_ns_p99_max: limits.schedule_lag_ns_p99_max,
        error_share_max: limits.error_share_max,
        little_share_max: limits.little_share_max,
    }
}

fn settings(settings: &Settings) -> SettingsDto {
    SettingsDto {
        target: settings.route.target.to_string(),
        sources: settings.route.sources.iter().map(ToString::to_string).collect(),
        connections: settings.connections.total,
        threads: settings.connections.threads,
        cpus: settings.cpus.clone(),
        driver: match settings.driver {
            DriverChoice::Auto => "auto",
            DriverChoice::Only(kind) => kind.name(),
        },
        seed: settings.seed,
    }
}

fn load(load: &Load) -> LoadDto {
    let closed = |think_ns_min, think_ns_max| ScheduleDto::Closed { think_ns_min, think_ns_max };
    let (after, count) = match load.stop.quota() {
        None => ("time", None),
        Some(Quota::Requests(count)) => ("requests", Some(count)),
        Some(Quota::RequestsEach(count)) => ("requests-each", Some(count)),
        Some(Quota::Connections(count)) => ("connections", Some(count)),
    };
    LoadDto {
        schedule: match &load.schedule {
            Schedule::Closed { think: Think::None } => closed(0, 0),
            Schedule::Closed { think: Think::Fixed(ns) } => closed(*ns, *ns),
            Schedule::Closed { think: Think::Uniform { min_ns, max_ns } } => closed(*min_ns, *max_ns),
            Schedule::Open(arrivals) => ScheduleDto::Open {
                profile: arrivals.profile.to_string(),
                process: match arrivals.process {
                    Process::Constant => "constant",
                    Process::Poisson => "poisson",
                },
            },
        },
        stop: StopDto { after, count, window_ns_max: ns(load.stop.window()) },
        drain_ns: ns(load.stop.drain),
        response_timeout_ns: ns(load.response_timeout),
        pipeline: load.pipeline,
        requests_per_connection: load.requests_per_connection,
        check: load.check,
        spin_ns: ns(load.spin),
    }
}

fn totals(tally: &Tally) -> TotalsDto {
    TotalsDto {
        sent: tally.sent,
        answered: tally.answered,
        answered_in_window: tally.answered_in_window,
        failed: tally.failed.total(),
        in_flight: tally.in_flight,
        unsent: tally.unsent,
        connects: tally.connects,
        connection_failed: tally.connection_failed.total(),
        bytes_sent: tally.bytes_sent,
        bytes_received: tally.bytes_received,
    }
}

fn sample(sample: &Sample) -> SampleDto {
    SampleDto {
        failure: sample.failure.name(),
        exchange: printable(&sample.exchange),
        expected: printable(&sample.expected),
        got: sample.got.escape_ascii().to_string(),
        at_ns: sample.at_ns,
    }
}

fn ns(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
