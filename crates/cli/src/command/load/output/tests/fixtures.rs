//! Made-up runs: each shows a different part of the output.

use std::{net::SocketAddr, time::Duration};

use tare_base::{Histogram, Route};
use tare_load::{
    ArrivalProcess, Arrivals, ChosenDriver, Connections, DriverKind, EventMeasures, Failure, FailureSample,
    GeneratorSettings, Limits, Load, Measures, RequestQuota, RunInterval, RunReport, Schedule, Statuses,
    Stop, Think, evaluate,
};

use tare_host::process::{self, Used};

use crate::command::load::{LoadResult, finding::LoadFinding, machine::MachineUse, output::FromAgents};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// A finished run.
pub(crate) struct Case {
    pub name: &'static str,
    pub load: Load,
    pub report: RunReport,
    pub started_at: jiff::Timestamp,
    settings: GeneratorSettings,
    notes: Vec<String>,
    warnings: Vec<String>,
    machine: Option<MachineUse>,
    check: &'static str,
    rates_per_s: Vec<f64>,
    /// What several generators add.
    pub several: Option<FromAgents>,
    pub findings: Vec<LoadFinding>,
}

pub(crate) fn cases() -> [Case; 9] {
    [
        Case::closed(),
        Case::open(),
        Case::sessions(),
        Case::events(),
        Case::failing(),
        Case::nothing(),
        Case::interrupted(),
        Case::gone(),
        Case::disturbed(),
    ]
}

impl Case {
    /// A closed loop without findings.
    pub(crate) fn closed() -> Case {
        let mut case = Case::of("closed", Load::new(Schedule::SATURATE, seconds(10), Duration::from_secs(2)));
        let tally = &mut case.report.total.tally;
        (tally.sent, tally.answered, tally.answered_in_window) = (1_829_404, 1_829_404, 1_829_340);
        (tally.bytes_sent, tally.bytes_received) = (1_829_404 * 44, 1_829_404 * 127);
        let latencies =
            [(250_000, 900_000), (284_000, 900_000), (353_000, 29_000), (1_200_000, 400), (12 * MS, 4)];
        case.report.total.latency = histogram(&latencies);
        case.report.total.in_flight_ns = u128::from(49 * 10 * S);
        case.report.total.in_flight_ns_answered = u128::from(49 * 10 * S);
        case.report.total.statuses = statuses(&[(200, 1_829_404)]);
        case.report.generator_cpu_ns = 6_200 * MS;
        case.rates_per_s = (0..10).map(|second| 182_000.0 + 300.0 * f64::from(second)).collect();
        case
    }

    /// An open loop that neither the server nor the generator can keep up with.
    pub(crate) fn open() -> Case {
        let profile = "1k..2k/5s".parse().unwrap();
        let schedule = Schedule::Open(Arrivals { profile, process: ArrivalProcess::Poisson });
        let mut case = Case::of("open", Load::new(schedule, seconds(1), Duration::from_secs(2)));
        let total = &mut case.report.total;
        total.latency = histogram(&[(5 * MS, 900), (700 * MS, 100)]);
        total.service_time = histogram(&[(2 * MS, 1_000)]);
        total.unanswered = histogram(&[(2 * S, 20)]);
        total.schedule_lag = histogram(&[(4_000, 900), (3 * MS, 120)]);
        total.in_flight_ns = u128::from(32 * S);
        (total.in_flight_ns_answered, total.in_flight_ns_unanswered) =
            (u128::from(2 * S), u128::from(30 * S));
        let tally = &mut total.tally;
        (tally.sent, tally.answered, tally.answered_in_window) = (1_015, 1_000, 980);
        (tally.in_flight, tally.unsent) = (12, 5);
        (0..3).for_each(|_| tally.failed.add(Failure::ResponseTimeout));
        (case.report.window_ns, case.report.elapsed_ns) = (S, 3 * S);
        (tally.bytes_sent, tally.bytes_received) = (44_660, 127_000);
        case.report.generator_cpu_ns = 30 * MS;
        case.report.driver =
            ChosenDriver { kind: DriverKind::Epoll, reason: Some("io_uring is switched off".to_owned()) };
        case.rates_per_s = vec![980.0];
        case.notes.push("10.9% of what was due in the window was not answered in it".to_owned());
        case
    }

    /// Short connections, with a pause.
    pub(crate) fn sessions() -> Case {
        let stop =
            Stop::count(RequestQuota::Connections(1_000), Duration::from_secs(3_600), Duration::from_secs(2));
        let think = Schedule::Closed { think: Think::Uniform { min_ns: 50 * MS, max_ns: 150 * MS } };
        let load =
            Load { requests_per_connection: Some(5), ..Load::new(think, stop, Duration::from_secs(2)) };
        let mut case = Case::of("sessions", load);
        let total = &mut case.report.total;
        total.latency = histogram(&[(400_000, 4_975), (900_000, 20)]);
        total.schedule_lag = histogram(&[(2_000, 3_996)]);
        total.connect_time = histogram(&[(45_000, 999)]);
        total.connection_time = histogram(&[(410 * MS, 999)]);
        (total.in_flight_ns, total.in_flight_ns_answered) = (u128::from(2 * S), u128::from(2 * S));
        let tally = &mut total.tally;
        (tally.sent, tally.answered, tally.answered_in_window) = (4_995, 4_995, 4_995);
        tally.connects = 999;
        tally.connection_failed.add(Failure::Refused);
        (case.report.window_ns, case.report.elapsed_ns) = (6_600 * MS, 6_600 * MS);
        case.report.generator_cpu_ns = 90 * MS;
        case.report.threads = 2;
        case.rates_per_s = vec![760.0, 757.0, 750.0];
        case
    }

    /// Streams of events, most of them open at the end.
    pub(crate) fn events() -> Case {
        let mut case = Case::of("events", Load::new(Schedule::SATURATE, seconds(10), Duration::from_secs(2)));
        let total = &mut case.report.total;
        let tally = &mut total.tally;
        (tally.sent, tally.streaming) = (1_000, 999);
        tally.failed.add(Failure::Mismatch);
        total.events = Some(Box::new(EventMeasures {
            events: 99_000,
            streams: 1_000,
            first: histogram(&[(300_000, 1_000)]),
            gap: histogram(&[(100 * MS, 97_900), (130 * MS, 100)]),
            delay: histogram(&[(80_000, 98_000), (30 * MS, 1_000)]),
            silence_ns_max: 99 * MS,
        }));
        (total.in_flight_ns, total.in_flight_ns_unanswered) = (u128::from(9_995 * S), u128::from(9_995 * S));
        case.report.first_failure = Some(FailureSample {
            failure: Failure::Mismatch,
            exchange: "GET /stream".to_owned(),
            expected: "status 200 with a stream of events with the name `tick`".to_owned(),
            reason: Some("an event is missing before event 42".to_owned()),
            got: b"{\"n\":43}".to_vec(),
            at_ns: 4_321 * MS,
        });
        case.report.generator_cpu_ns = 600 * MS;
        case.rates_per_s = vec![9_900.0; 10];
        case.check = "every event must have the name `tick`, ids that count by one";
        case
    }

    /// A server whose answers contain hostile text.
    pub(crate) fn failing() -> Case {
        let mut case = Case { name: "failing", ..Case::closed() };
        let tally = &mut case.report.total.tally;
        tally.sent += 1_700;
        let kinds = [
            (Failure::Status, 900),
            (Failure::Mismatch, 600),
            (Failure::Reset, 150),
            (Failure::Malformed, 50),
        ];
        for (failure, count) in kinds {
            (0..count).for_each(|_| tally.failed.add(failure));
        }
        case.report.total.statuses = statuses(&[(503, 900), (200, 1_830_004)]);
        let tally = &mut case.report.total.tally;
        tally.connection_failed.add(Failure::NoPorts);
        tally.connects = 201;
        case.report.first_failure = Some(FailureSample {
            failure: Failure::Mismatch,
            exchange: "GET /\u{1b}]0;title\u{7}".to_owned(),
            expected: "status 200 with JSON equal to `\"\u{9b}31m\u{202e}\"`".to_owned(),
            reason: None,
            got: b"\x1b[2J\x1b[31mfine\r\n\x00\xff\xfe`\xc3\xa9".to_vec(),
            at_ns: 1_234 * MS,
        });
        case
    }

    /// The server ended after a fifth of the time.
    pub(crate) fn gone() -> Case {
        let mut case = Case { name: "gone", ..Case::closed() };
        let report = &mut case.report;
        report.gone_since_ns = Some(1_020 * MS);
        (report.window_ns, report.elapsed_ns) = (5 * S, 5 * S);
        report.generator_cpu_ns = 900 * MS;
        let tally = &mut report.total.tally;
        (tally.sent, tally.answered, tally.answered_in_window) = (40_098, 40_034, 40_034);
        (0..64).for_each(|_| tally.failed.add(Failure::Reset));
        (0..2_472).for_each(|_| tally.connection_failed.add(Failure::Refused));
        report.total.latency = histogram(&[(280_000, 40_000), (900_000, 34)]);
        let in_flight_ns = u128::from(11_231 * MS);
        (report.total.in_flight_ns, report.total.in_flight_ns_answered) = (in_flight_ns, in_flight_ns);
        report.total.statuses = statuses(&[(200, 40_034)]);
        case.load.stop = seconds(5);
        case
    }

    /// Other programs used the machine, and the server redirects.
    pub(crate) fn disturbed() -> Case {
        let mut case = Case { name: "disturbed", ..Case::closed() };
        case.report.total.statuses = statuses(&[(302, 1_829_404)]);
        case.warnings.push("GET / is answered with 302, 0 bytes: this loads a redirect to /login".to_owned());
        let process = process::Process { pid: 7, command: "rustc".to_owned() };
        case.machine = Some(MachineUse {
            others_share: 0.45,
            stolen_share: 0.01,
            idle_cpus: 0.1,
            pressure_share: Some(0.6),
            error_share: 0.001,
            busiest: vec![Used { process, cpu_ns: 8_200 * MS }],
        });
        case
    }

    /// A load without any answer.
    pub(crate) fn nothing() -> Case {
        let stop = Stop::count(RequestQuota::Requests(100), Duration::from_secs(1), Duration::from_secs(2));
        let mut case = Case::of("nothing", Load::new(Schedule::SATURATE, stop, Duration::from_secs(2)));
        case.report.total.tally.connection_failed.add(Failure::Refused);
        case.check = "nothing: --no-check";
        case.load.check = false;
        case.report.window_ns = S;
        case.report.elapsed_ns = S;
        case.report.first_failure = Some(FailureSample {
            failure: Failure::Refused,
            exchange: String::new(),
            expected: String::new(),
            reason: None,
            got: Vec::new(),
            at_ns: 12_000,
        });
        case
    }

    /// A load interrupted by the user.
    pub(crate) fn interrupted() -> Case {
        let mut case = Case { name: "interrupted", ..Case::closed() };
        let report = &mut case.report;
        report.interrupted = true;
        (report.window_ns, report.elapsed_ns) = (3_210 * MS, 3_211 * MS);
        report.generator_cpu_ns = 3_150 * MS;
        // A fault of the engine itself.
        report.total.in_flight_ns *= 2;
        case.load.pipeline = 4;
        case
    }

    fn of(name: &'static str, load: Load) -> Case {
        let report = RunReport {
            window_ns: 10 * S,
            driver: ChosenDriver { kind: DriverKind::IoUring, reason: None },
            ..RunReport::usual(10 * S + 300_000, Measures::default())
        };
        let settings = GeneratorSettings {
            cpus: vec![1],
            ..GeneratorSettings::new(
                Route::from("127.0.0.1:8080".parse::<SocketAddr>().unwrap()),
                Connections { total: 64, threads: 1 },
                7,
            )
        };
        let started_at = "2025-11-21T12:00:00Z".parse().unwrap();
        let check =
            "every response is compared with the first one: status 200 and 13 bytes \"Hello, World!\"";
        Case {
            name,
            load,
            report,
            started_at,
            settings,
            notes: Vec::new(),
            warnings: Vec::new(),
            machine: None,
            check,
            rates_per_s: Vec::new(),
            several: None,
            findings: Vec::new(),
        }
    }

    /// The result in the command's form.
    pub(crate) fn result(&self) -> LoadResult<'_> {
        let limits = Limits::default();
        let doubts = evaluate(&self.report, &limits).into_iter().map(LoadFinding::Engine);
        let interference = self.machine.clone().and_then(|machine| machine.interference(0.1));
        LoadResult {
            url: "http://127.0.0.1:8080/",
            what: "GET /".to_owned(),
            asked: "GET http://127.0.0.1:8080/".to_owned(),
            check: self.check.to_owned(),
            settings: &self.settings,
            load: &self.load,
            notes: self.notes.clone(),
            warnings: self.warnings.clone(),
            report: &self.report,
            findings: doubts
                .chain(interference.map(LoadFinding::Machine))
                .chain(self.findings.iter().cloned())
                .collect(),
            limits,
            interference_share_max: 0.1,
            machine: self.machine.clone(),
            started_at: self.started_at,
            rates_per_s: self.rates_per_s.clone(),
            command: "tare load http://127.0.0.1:8080/ --seed 7".to_owned(),
            shortfall: tare_load::generator::verdict::shortfall(&self.report, &self.load),
            several: self.several.clone(),
        }
    }
}

/// Two seconds, and the end of the drain.
pub(crate) fn intervals() -> [RunInterval; 3] {
    let mut parts = [1_000_u64, 500, 0].map(|answered| {
        let mut measures = Measures { latency: histogram(&[(5 * MS, answered)]), ..Measures::default() };
        (measures.tally.sent, measures.tally.answered) = (answered, answered);
        measures.schedule_lag = histogram(&[(4_000, answered)]);
        measures.service_time = histogram(&[(2 * MS, answered)]);
        measures
    });
    // Ten are sent in the first second. Four time out in the second one, and the others remain in flight.
    parts[0].tally.sent += 10;
    (0..4).for_each(|_| parts[1].tally.failed.add(Failure::ResponseTimeout));
    parts[1].unanswered = histogram(&[(2 * S, 4)]);
    parts[2].tally.in_flight = 6;
    parts[2].events = Some(Box::new(EventMeasures { events: 3, ..EventMeasures::default() }));
    let mut spans = [(0, S), (S, 2 * S), (2 * S, 2 * S + 3 * MS)].into_iter();
    parts.map(|measures| {
        let (from_ns, to_ns) = spans.next().unwrap();
        RunInterval { from_ns, to_ns, measures }
    })
}

fn seconds(window: u64) -> Stop {
    Stop::after(Duration::from_secs(window), Duration::from_secs(2))
}

fn statuses(counts: &[(u16, u64)]) -> Statuses {
    let mut statuses = Statuses::default();
    for &(status, count) in counts {
        (0..count).for_each(|_| statuses.add(status));
    }
    statuses
}

pub(crate) fn histogram(counts: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::default();
    for &(ns, count) in counts {
        (0..count).for_each(|_| histogram.record(ns));
    }
    histogram
}
