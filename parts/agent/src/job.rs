//! One agent's part of a load, as serialisable values: the requests, the server, the method and the times. It
//! does not say how the agent runs it.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use tare_load::{
    Aligned, ArrivalProcess, Arrivals, Connections, DriverChoice, Exchange, Expected, ExpectedBody, Load,
    Protocol, Schedule, Split, Stop, Think, Waiting, exchange::BodyShape, pattern::JsonPattern,
    text_pattern::TextPattern,
};

/// Everything that an agent needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub server: ServerName,
    /// Whether the controller's user permitted loading the server although it is another machine.
    pub may_load: bool,
    pub requests: Requests,
    pub rules: AnswerRules,
    /// The index of this generator, and the number of generators.
    pub index: usize,
    pub of: usize,
    /// The connections of this agent alone.
    pub connections: usize,
    pub threads: usize,
    /// Whether connections are opened before the load.
    pub opens_before: bool,
    /// Whether one request is sent over each of them before the load, and reported separately. A connection
    /// that fails here is no failure of the agent: the load tries it again, and counts it.
    pub primes: bool,
    /// The same seed for all agents, because they share the load.
    pub seed: u64,
    pub protocol: String,
    pub streams: usize,
    pub tls: Option<TlsSpec>,
    pub driver: String,
    pub load: JobLoad,
    /// The duration of a warm-up without a report, if there is one.
    pub warm_up_ns: Option<u64>,
}

/// The server as named by the user. Each agent resolves the name itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerName {
    pub host: String,
    pub port: u16,
    /// Host and port as in the URL.
    pub authority: String,
}

impl ServerName {
    /// The address in the form of `--target`.
    #[must_use]
    pub fn address(&self) -> String {
        let is_ipv6 = self.host.contains(':');
        if is_ipv6 {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Whether an agent with this `--target` may load it: HOST:PORT permits one port, HOST all of its ports.
    #[must_use]
    pub fn is_permitted_by(&self, target: &str) -> bool {
        let host = target.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(target);
        target.eq_ignore_ascii_case(&self.address()) || host.eq_ignore_ascii_case(&self.host)
    }
}

/// The user's rules for correct answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerRules {
    pub status: Option<u16>,
    /// The body in base64.
    body: Option<String>,
}

impl AnswerRules {
    #[must_use]
    pub fn new(status: Option<u16>, body: Option<&[u8]>) -> AnswerRules {
        AnswerRules { status, body: body.map(|body| STANDARD.encode(body)) }
    }

    /// # Errors
    /// It is not base64.
    pub fn body(&self) -> Result<Option<Vec<u8>>, BadJob> {
        self.body.as_ref().map(|body| STANDARD.decode(body).map_err(bad)).transpose()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Requests {
    /// These requests, byte for byte.
    Listed(Vec<ListedRequest>),
    Contract(ContractPart),
}

/// A contract, from which the agent makes the requests: a list cannot express how an answer is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractPart {
    pub name: String,
    /// The text of the contract; `None` if it is built in.
    pub text: Option<String>,
    /// The requests to send, with weights that differ from the contract's; if empty, those of the contract.
    pub only: Vec<(String, Option<u32>)>,
    /// How values are drawn; `None` means all of them by the seed of the job.
    pub draws: Option<Draws>,
}

/// The drawn values of a load, if the server already knows the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draws {
    /// The seed of the rows. The seed of the job selects among them.
    pub rows_seed: u64,
    /// The most exchanges that are made in advance: without rows, and with drawn rows.
    pub exchanges: usize,
    pub exchanges_of_rows: usize,
}

/// One request, and its correct answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedRequest {
    /// The request in base64.
    request: String,
    is_head: bool,
    name: String,
    pub right: Right,
}

/// The correct answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Right {
    pub status: u16,
    body: RightBody,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum RightBody {
    Any,
    /// Exactly this body, in base64.
    Exact(String),
    /// An equal JSON value.
    Json(String),
    /// JSON with wildcards; with `extra`, objects may have other members too.
    Pattern {
        json: String,
        extra: bool,
    },
    /// A regular expression that the whole text must match.
    Matches(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSpec {
    pub trust: TrustSpec,
    pub server_name: String,
    pub resume: bool,
    /// Whether only one suite and one group are offered, so that all servers use the same.
    pub offers_one: bool,
    /// Whether only TLS 1.2 is offered.
    pub is_1_2: bool,
}

/// The accepted certificates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustSpec {
    /// The authorities of the agent's machine.
    System,
    /// These authorities, each a certificate in DER as base64.
    Authorities(Vec<String>),
    Anything,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobLoad {
    pub schedule: ScheduleSpec,
    pub window_ns: u64,
    pub drain_ns: u64,
    pub response_timeout_ns: u64,
    pub connect_timeout_ns: u64,
    pub pipeline: usize,
    pub requests_per_connection: Option<u64>,
    pub check: bool,
    /// How workers wait; `None` means a suitable way for the agent's machine.
    pub waiting: Option<WaitingSpec>,
    pub interval_ns: u64,
    pub marks_ns: Vec<u64>,
}

/// When requests are due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScheduleSpec {
    Closed {
        think_ns_min: u64,
        think_ns_max: u64,
    },
    /// The profile in the form of the command line.
    Open {
        profile: String,
        poisson: bool,
    },
}

/// How a worker waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitingSpec {
    Sleep,
    PollBefore(u64),
    Poll,
}

/// An invalid job, which no controller of this version sends.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the job cannot be read: {0}")]
pub struct BadJob(String);

fn bad(what: impl std::fmt::Display) -> BadJob {
    BadJob(what.to_string())
}

impl ListedRequest {
    /// `None` for a request whose answer has a form that cannot be sent.
    #[must_use]
    pub fn of(exchange: &Exchange) -> Option<ListedRequest> {
        let right = Right::of(&exchange.expected)?;
        exchange.step.is_none().then(|| ListedRequest {
            request: STANDARD.encode(&exchange.request),
            is_head: exchange.is_head,
            name: exchange.name.clone(),
            right,
        })
    }

    /// The exchange for the generator.
    ///
    /// # Errors
    /// It is not base64.
    pub fn exchange(&self) -> Result<Exchange, BadJob> {
        Ok(Exchange {
            request: STANDARD.decode(&self.request).map_err(bad)?,
            is_head: self.is_head,
            expected: self.right.expected()?,
            name: self.name.clone(),
            step: None,
        })
    }
}

impl Right {
    /// `None` for a form that cannot be sent.
    #[must_use]
    pub fn of(expected: &Expected) -> Option<Right> {
        let body = match &expected.body {
            ExpectedBody::Exact(body) => RightBody::Exact(STANDARD.encode(body)),
            ExpectedBody::Json(json) => RightBody::Json(json.value().to_string()),
            ExpectedBody::Pattern(pattern) => {
                RightBody::Pattern { json: pattern.to_string(), extra: pattern.allows_extra() }
            }
            ExpectedBody::Shape(BodyShape { bytes, pattern: Some(pattern) }) if *bytes == (0..=u64::MAX) => {
                RightBody::Matches(pattern.to_string())
            }
            ExpectedBody::Any => RightBody::Any,
            ExpectedBody::Shape(_) | ExpectedBody::Judged(_) | ExpectedBody::Events(_) => return None,
        };
        Some(Right { status: expected.status, body })
    }

    /// The expected response for the generator.
    ///
    /// # Errors
    /// It is invalid base64, JSON, or regular expression.
    pub fn expected(&self) -> Result<Expected, BadJob> {
        let body = match &self.body {
            RightBody::Any => ExpectedBody::Any,
            RightBody::Exact(body) => ExpectedBody::Exact(STANDARD.decode(body).map_err(bad)?),
            RightBody::Json(json) => ExpectedBody::json(serde_json::from_str(json).map_err(bad)?),
            RightBody::Pattern { json, extra } => {
                ExpectedBody::Pattern(JsonPattern::new(serde_json::from_str(json).map_err(bad)?, *extra))
            }
            RightBody::Matches(pattern) => {
                let pattern = Some(TextPattern::new(pattern).map_err(bad)?);
                ExpectedBody::Shape(BodyShape { bytes: 0..=u64::MAX, pattern })
            }
        };
        Ok(Expected { status: self.status, body })
    }
}

impl WaitingSpec {
    #[must_use]
    pub fn of(waiting: Waiting) -> WaitingSpec {
        match waiting {
            Waiting::Sleep => WaitingSpec::Sleep,
            Waiting::PollBefore(spin) => WaitingSpec::PollBefore(ns(spin)),
            Waiting::Poll => WaitingSpec::Poll,
        }
    }

    #[must_use]
    pub fn waiting(self) -> Waiting {
        match self {
            WaitingSpec::Sleep => Waiting::Sleep,
            WaitingSpec::PollBefore(ns) => Waiting::PollBefore(Duration::from_nanos(ns)),
            WaitingSpec::Poll => Waiting::Poll,
        }
    }
}

impl ScheduleSpec {
    #[must_use]
    pub fn of(schedule: &Schedule) -> ScheduleSpec {
        let closed = |think_ns_min, think_ns_max| ScheduleSpec::Closed { think_ns_min, think_ns_max };
        match schedule {
            Schedule::Closed { think: Think::None } => closed(0, 0),
            Schedule::Closed { think: Think::Fixed(ns) } => closed(*ns, *ns),
            Schedule::Closed { think: Think::Uniform { min_ns, max_ns } } => closed(*min_ns, *max_ns),
            Schedule::Open(Arrivals { profile, process }) => ScheduleSpec::Open {
                profile: profile.to_string(),
                poisson: *process == ArrivalProcess::Poisson,
            },
        }
    }

    fn schedule(&self) -> Result<Schedule, BadJob> {
        Ok(match self {
            ScheduleSpec::Closed { think_ns_min: 0, think_ns_max: 0 } => Schedule::SATURATE,
            ScheduleSpec::Closed { think_ns_min, think_ns_max } if think_ns_min == think_ns_max => {
                Schedule::Closed { think: Think::Fixed(*think_ns_min) }
            }
            ScheduleSpec::Closed { think_ns_min, think_ns_max } => {
                Schedule::Closed { think: Think::Uniform { min_ns: *think_ns_min, max_ns: *think_ns_max } }
            }
            ScheduleSpec::Open { profile, poisson } => {
                let process = if *poisson { ArrivalProcess::Poisson } else { ArrivalProcess::Constant };
                Schedule::Open(Arrivals { profile: profile.parse().map_err(bad)?, process })
            }
        })
    }
}

impl JobLoad {
    /// The serialisable part of a load; the controller sets the start and the marks. A load that ends by a
    /// number has no window in common for all agents, and was rejected before.
    #[must_use]
    pub fn of(load: &Load, waiting: Option<Waiting>, marks_ns: Vec<u64>) -> JobLoad {
        JobLoad {
            schedule: ScheduleSpec::of(&load.schedule),
            window_ns: ns(load.stop.window()),
            drain_ns: ns(load.stop.drain),
            response_timeout_ns: ns(load.response_timeout),
            connect_timeout_ns: ns(load.connect_timeout),
            pipeline: load.pipeline,
            requests_per_connection: load.requests_per_connection,
            check: load.check,
            waiting: waiting.map(WaitingSpec::of),
            interval_ns: load.interval.map_or(u64::MAX, ns),
            marks_ns,
        }
    }

    fn load(&self, waiting: Waiting, window_ns: u64, aligned: Aligned) -> Result<Load, BadJob> {
        let [window, drain, response_timeout, connect_timeout] =
            [window_ns, self.drain_ns, self.response_timeout_ns, self.connect_timeout_ns]
                .map(Duration::from_nanos);
        let load = Load {
            schedule: self.schedule.schedule()?,
            stop: Stop::after(window, drain),
            response_timeout,
            connect_timeout,
            pipeline: self.pipeline,
            requests_per_connection: self.requests_per_connection,
            check: self.check,
            waiting,
            interval: Some(Duration::from_nanos(self.interval_ns.max(1))),
            aligned: Some(aligned),
        };
        load.validate().map_err(bad)?;
        Ok(load)
    }
}

impl Job {
    /// The part of the load.
    ///
    /// # Errors
    /// The values are not valid.
    pub fn split(&self) -> Result<Split, BadJob> {
        let Job { index, of, .. } = *self;
        let is_one = index < of && of <= crate::AGENTS_MAX;
        is_one.then_some(Split { index, of }).ok_or_else(|| bad(format!("part {index} of {of}")))
    }

    #[must_use]
    pub fn connections(&self) -> Connections {
        Connections { total: self.connections, threads: self.threads }
    }

    /// # Errors
    /// There is no such protocol.
    pub fn protocol(&self) -> Result<Protocol, BadJob> {
        let mut all = Protocol::ALL.into_iter();
        all.find(|protocol| protocol.name() == self.protocol)
            .ok_or_else(|| bad(format!("no protocol \"{}\"", self.protocol)))
    }

    /// # Errors
    /// There is no such driver.
    pub fn driver(&self) -> Result<DriverChoice, BadJob> {
        self.driver.parse().map_err(bad)
    }

    /// The reported load, from this instant of the agent's clock on.
    ///
    /// # Errors
    /// Its values contradict each other.
    pub fn load(&self, waiting: Waiting, start_ns: u64) -> Result<Load, BadJob> {
        let aligned = Aligned { start_ns, marks_ns: self.load.marks_ns.clone() };
        self.load.load(waiting, self.load.window_ns, aligned)
    }

    /// The warm-up load.
    ///
    /// # Errors
    /// Its values contradict each other.
    pub fn warm_up(&self, waiting: Waiting, start_ns: u64) -> Result<Load, BadJob> {
        let window_ns = self.warm_up_ns.unwrap_or(0);
        self.load.load(waiting, window_ns, Aligned { start_ns, marks_ns: Vec::new() })
    }

    /// How the agent waits: as the job says, or as suits a machine with this number of CPUs.
    #[must_use]
    pub fn waiting(&self, cpus: usize, spin: Duration) -> Waiting {
        let is_open = matches!(self.load.schedule, ScheduleSpec::Open { .. });
        let usual = if is_open && self.threads < cpus { Waiting::PollBefore(spin) } else { Waiting::Sleep };
        self.load.waiting.map_or(usual, WaitingSpec::waiting)
    }
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn job() -> Job {
        let load = Load::new(
            Schedule::SATURATE,
            Stop::after(Duration::from_secs(10), Duration::from_secs(2)),
            Duration::from_secs(2),
        );
        Job {
            server: ServerName { host: "::1".to_owned(), port: 80, authority: "[::1]".to_owned() },
            may_load: false,
            rules: AnswerRules::new(None, Some(b"a")),
            requests: Requests::Listed(Vec::new()),
            index: 1,
            of: 3,
            connections: 21,
            threads: 2,
            opens_before: true,
            primes: false,
            seed: 7,
            protocol: "h2".to_owned(),
            streams: 4,
            tls: Some(TlsSpec {
                trust: TrustSpec::System,
                server_name: "a".to_owned(),
                resume: false,
                offers_one: false,
                is_1_2: false,
            }),
            driver: "auto".to_owned(),
            load: JobLoad::of(&load, None, vec![1, 2]),
            warm_up_ns: Some(5),
        }
    }

    #[test]
    fn a_job_reads_back_and_says_what_its_words_mean() {
        let job = job();
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
        assert_eq!((job.server.address().as_str(), job.protocol()), ("[::1]:80", Ok(Protocol::H2)));
        assert_eq!(job.rules.body(), Ok(Some(b"a".to_vec())));
        assert_eq!(job.split(), Ok(Split { index: 1, of: 3 }));
        let load = job.load(Waiting::Poll, 99).unwrap();
        assert_eq!(load.aligned, Some(Aligned { start_ns: 99, marks_ns: vec![1, 2] }));
        assert_eq!(load.stop.window(), Duration::from_secs(10));
        assert_eq!(job.warm_up(Waiting::Poll, 9).unwrap().stop.window(), Duration::from_nanos(5));
        assert!(Job { index: 3, ..job.clone() }.split().is_err());
        assert!(Job { protocol: "h9".to_owned(), ..job.clone() }.protocol().is_err());
        assert!(serde_json::from_str::<Job>(&text.replacen('{', r#"{"newer":1,"#, 1)).is_err());
    }

    #[test]
    fn every_schedule_reads_back() {
        let think = |think| Schedule::Closed { think };
        let open = |process| Schedule::Open(Arrivals { profile: "1k:2s,5k".parse().unwrap(), process });
        for schedule in [
            Schedule::SATURATE,
            think(Think::Fixed(5)),
            think(Think::Uniform { min_ns: 1, max_ns: 9 }),
            open(ArrivalProcess::Poisson),
            open(ArrivalProcess::Constant),
        ] {
            assert_eq!(ScheduleSpec::of(&schedule).schedule(), Ok(schedule));
        }
        let wrong = ScheduleSpec::Open { profile: "fast".to_owned(), poisson: true };
        assert!(wrong.schedule().is_err());
    }

    #[test]
    fn a_generator_polls_before_a_request_only_if_a_cpu_is_left() {
        let spin = Duration::from_micros(60);
        let open = |threads| {
            let mut job = Job { threads, ..job() };
            job.load.schedule = ScheduleSpec::Open { profile: "1k".to_owned(), poisson: true };
            job
        };
        assert_eq!(open(1).waiting(2, spin), Waiting::PollBefore(spin));
        assert_eq!(open(2).waiting(2, spin), Waiting::Sleep);
        assert_eq!(job().waiting(64, spin), Waiting::Sleep, "a closed loop");
        let mut polls = job();
        polls.load.waiting = Some(WaitingSpec::Poll);
        assert_eq!(polls.waiting(1, spin), Waiting::Poll);
    }

    #[test]
    fn a_request_reads_back_unless_its_answer_needs_a_judge() {
        let body = |body| Exchange {
            request: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            is_head: false,
            expected: Expected { status: 200, body },
            name: "GET /".to_owned(),
            step: None,
        };
        let pattern = Some(TextPattern::new("now [0-9]+").unwrap());
        let shape = |bytes| ExpectedBody::Shape(BodyShape { bytes, pattern: pattern.clone() });
        for right in [
            ExpectedBody::Any,
            ExpectedBody::Exact(b"\xff\x00".to_vec()),
            ExpectedBody::json(serde_json::json!({ "a": 1 })),
            ExpectedBody::Pattern(JsonPattern::new(serde_json::json!({ "a": "{{any:int}}" }), true)),
            shape(0..=u64::MAX),
        ] {
            let exchange = body(right);
            assert_eq!(ListedRequest::of(&exchange).unwrap().exchange().unwrap(), exchange);
        }
        assert_eq!(ListedRequest::of(&body(shape(1..=9))), None);
    }

    #[test]
    fn a_target_is_one_port_or_each_port_of_a_host() {
        let server = |host: &str| ServerName { host: host.to_owned(), port: 8080, authority: String::new() };
        let permitted = [
            ("10.0.0.9", "10.0.0.9:8080"),
            ("10.0.0.9", "10.0.0.9"),
            ("Service", "service:8080"),
            ("service", "SERVICE"),
            ("fe80::1", "[fe80::1]:8080"),
            ("fe80::1", "[fe80::1]"),
            ("fe80::1", "fe80::1"),
        ];
        for (host, target) in permitted {
            assert!(server(host).is_permitted_by(target), "{host} by {target}");
        }
        let refused = [
            ("10.0.0.9", "10.0.0.9:80"),
            ("10.0.0.9", "10.0.0.90"),
            ("10.0.0.9", "10.0.0"),
            ("10.0.0.9", ""),
            ("fe80::1", "fe80::1:8080"),
            ("service", "[service"),
        ];
        for (host, target) in refused {
            assert!(!server(host).is_permitted_by(target), "{host} by {target}");
        }
    }
}
