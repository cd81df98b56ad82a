//! Learns a contract from a service: each request is sent several times, over more than a second and to two
//! fresh processes. What all answers share, except values that change by nature, is then required.

mod answer;
mod moving;
mod over_time;
mod prose;
mod text;
mod varying;

pub use answer::LearnedAnswer;
pub use answer::in_common;
pub use moving::{Nature, Varying};
pub use over_time::{Respondent, ask_over_time};
pub use text::Draft;

use std::{net::Ipv4Addr, path::Path, thread::sleep, time::Duration};

use jiff::Timestamp;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_base::Endpoint;
use tare_host::process::{Sandbox, Supervisor};
use tare_load::http1::Response;

use crate::{
    catalogue::Service,
    client::{AskError, Channel, Deadline, ask_in},
    launch::{self, LaunchError, LaunchSettings, Ready},
    probe::Readiness,
    prove::GRACE,
    settings::ServiceSettings,
};
use tare_contract::{BRACES, BRACES_PLACEHOLDER, Contract, ContractError, PlaceholderError, Request, Varied};

/// The name of a learned contract.
pub const NAME: &str = "learned";
/// Requests to each of two fresh processes: differences between starts or answers are not required.
pub const TIMES: usize = 2;
/// Time limit of one answer.
pub const PATIENCE: Duration = Duration::from_secs(10);
pub const CONTENT_TYPE: &str = "Content-Type";

/// One request as a user writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnRequest {
    pub method: String,
    pub path: String,
    pub body: Option<String>,
    /// Headers besides `Host` and `Content-Length`.
    pub headers: Vec<(String, String)>,
}

/// The requirements on the answers to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Required {
    /// The status and every byte of the body.
    Body { status: u16, bytes: usize },
    /// The status, and the body's JSON value, whose spelling varied.
    Json { status: u16 },
    /// The status, and JSON in which varying values became wildcards of their types.
    Pattern { status: u16, varying: Vec<Varying> },
    /// The status, and text in which varying parts became patterns.
    Text { status: u16, varying: Vec<Varying> },
    /// The status only: the body varied too much, or a contract cannot express it.
    Status { status: u16 },
}

#[derive(Debug)]
pub struct Learned {
    pub contract: Contract,
    /// The contract as a file's text.
    pub text: String,
    /// Each request with its requirement, in the order of the requests.
    pub required: Vec<(LearnRequest, Required)>,
    /// Requests answered by a redirect.
    pub redirects: Vec<(LearnRequest, Redirect)>,
    /// Longest time from a start to the first answer; absent if nothing was started.
    pub start_up: Option<Duration>,
}

/// A redirect. It is fast, and not the page that a user sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    pub status: u16,
    /// The target as written.
    pub location: Option<String>,
}

impl Redirect {
    /// Redirecting statuses, without 304.
    pub const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

    /// The redirect in `answer`, if it is one.
    pub fn of(answer: &Response) -> Option<Redirect> {
        let is_location = |(name, _): &&(String, Vec<u8>)| name.eq_ignore_ascii_case("location");
        Redirect::STATUSES.contains(&answer.status).then(|| {
            let location = answer.headers.iter().find(is_location);
            let location = location.map(|(_, to)| to.escape_ascii().to_string());
            Redirect { status: answer.status, location }
        })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("{asked}: {source}")]
    Unanswered { asked: LearnRequest, source: Box<AskError> },
    #[error("{asked} is answered with status {status} and \"{body}\": ask for another path")]
    Refused { asked: Box<LearnRequest>, status: u16, body: String },
    #[error("{asked} is answered with status {0} once and {1} once", .statuses[0], .statuses[1])]
    Unsteady { asked: LearnRequest, statuses: [u16; 2] },
    /// Without line number, as the user wrote no file.
    #[error("{0}")]
    Unsayable(String),
}

impl From<ContractError> for LearnError {
    fn from(error: ContractError) -> LearnError {
        LearnError::Unsayable(match error {
            ContractError::Check { problem, .. } => problem.to_string(),
            error => error.to_string(),
        })
    }
}

impl Learned {
    /// The contract as a file with this name.
    pub fn named(&self, name: &str) -> String {
        let line = |name: &str| format!("name = {}\n", toml::Value::from(name));
        self.text.replacen(&line(NAME), &line(name), 1)
    }
}

/// The request as a person writes it.
impl std::fmt::Display for LearnRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path.replace(BRACES_PLACEHOLDER, BRACES))
    }
}

impl std::fmt::Display for Required {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Required::Body { status, bytes } => {
                write!(f, "every answer must have status {status} and the same {bytes} bytes")
            }
            Required::Json { status } => {
                write!(
                    f,
                    "every answer must have status {status} and the same JSON value; its spelling may change"
                )
            }
            Required::Pattern { status, varying } if varying.is_empty() => {
                write!(
                    f,
                    "every answer must have status {status} and the same JSON; objects may have more members"
                )
            }
            Required::Pattern { status, varying } => {
                let values = values(varying.len());
                write!(
                    f,
                    "every answer must have status {status} and the same JSON but for {values} only the type is compared: {}",
                    listed(varying)
                )
            }
            Required::Text { status, varying } => {
                let values = values(varying.len());
                write!(
                    f,
                    "every answer must have status {status} and the same text but for {values} only the form is compared: {}",
                    listed(varying)
                )
            }
            Required::Status { status } => {
                write!(
                    f,
                    "every answer must have status {status}; its body is not compared, because it changes, is no plain \
                     text or is not described"
                )
            }
        }
    }
}

/// As in "2 values, of which".
fn values(count: usize) -> String {
    let noun = if count == 1 { "value" } else { "values" };
    format!("{count} {noun}, of which")
}

fn listed(varying: &[Varying]) -> String {
    /// A longer list would not help.
    const SHOWN_MAX: usize = 5;
    let mut shown: Vec<String> = varying.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
    match varying.len() - shown.len() {
        0 => {}
        more => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}

impl LearnRequest {
    /// Adds the content type of `body`.
    pub fn new(method: &str, path: &str, body: Option<String>) -> LearnRequest {
        let headers =
            body.iter().map(|body| (CONTENT_TYPE.to_owned(), content_type(body.as_bytes()).to_owned()));
        LearnRequest { method: method.to_owned(), path: path.to_owned(), headers: headers.collect(), body }
    }

    /// Escapes braces, so that they are sent literally.
    #[must_use]
    pub fn literal(mut self) -> LearnRequest {
        let headers = self.headers.iter_mut().map(|(_, value)| value);
        for text in std::iter::once(&mut self.path).chain(&mut self.body).chain(headers) {
            *text = text.replace(BRACES, BRACES_PLACEHOLDER);
        }
        self
    }

    /// Validates its placeholders.
    ///
    /// # Errors
    /// A placeholder is unknown, not closed, or has an invalid name or range, or one name has two kinds.
    pub fn check_placeholders(&self) -> Result<(), PlaceholderError> {
        self.varied().map(drop)
    }

    /// Whether placeholders make its requests differ.
    fn varies(&self) -> bool {
        self.varied().is_ok_and(|varied| varied.varies())
    }

    fn varied(&self) -> Result<Varied, PlaceholderError> {
        let texts = self.headers.iter().map(|(_, value)| value).chain(&self.body);
        Varied::parse(&self.path, &texts.map(String::as_str).collect::<Vec<_>>())
    }

    /// All its texts.
    fn texts(&self) -> String {
        let headers = self.headers.iter().map(|(_, value)| value);
        let all: Vec<&str> =
            std::iter::once(&self.path).chain(headers).chain(&self.body).map(String::as_str).collect();
        all.join("\n")
    }
}

/// The default content type of a body: JSON for an object or array, otherwise a form as with curl.
pub fn content_type(body: &[u8]) -> &'static str {
    let is_json = body.trim_ascii_start().starts_with(b"{") || body.trim_ascii_start().starts_with(b"[");
    match is_json && serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() {
        true => "application/json",
        false => "application/x-www-form-urlencoded",
    }
}

/// The context in which a service is started for learning.
#[derive(Debug, Clone, Copy)]
pub struct LearnContext<'a> {
    pub supervisor: &'a Supervisor,
    pub service_settings: &'a ServiceSettings,
    /// The folder of the service's output.
    pub folder: &'a Path,
}

/// Starts `service` twice, unless it already runs, and sends all requests in `asked`.
///
/// # Errors
/// It cannot be started, does not answer, answers with an error, or its status varies.
pub fn learn(
    service: &Service,
    asked: &[LearnRequest],
    ground: &LearnContext,
) -> Result<Learned, LearnError> {
    let contract = provisional(asked.to_vec())?;
    let mut pupil =
        Started { service, contract: &contract, asked, ground, ready: None, starts: 0, start_up: None };
    pupil.start()?;
    let answers = ask_over_time(&mut pupil, asked.len(), TIMES)?;
    let (now, start_up) = (Timestamp::now(), pupil.start_up);
    drop(pupil);
    Ok(Learned { start_up, ..contract_of(asked, &answers, now, service.running.is_some())? })
}

/// A service during learning.
struct Started<'a> {
    service: &'a Service,
    contract: &'a Contract,
    asked: &'a [LearnRequest],
    ground: &'a LearnContext<'a>,
    ready: Option<Ready>,
    starts: usize,
    start_up: Option<Duration>,
}

impl Started<'_> {
    fn start(&mut self) -> Result<(), LaunchError> {
        self.starts += 1;
        let stem = format!("learn-{}", self.starts);
        let ready = start_one(self.service, self.contract, self.ground, &stem)?;
        self.start_up = self.start_up.max(ready.start_up);
        self.ready = Some(ready);
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(ready) = self.ready.take() {
            ready.process.stop(GRACE);
        }
    }
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Respondent for Started<'_> {
    type Error = LearnError;

    fn ask(&mut self, question: usize) -> Result<Option<Response>, LearnError> {
        let (Some(ready), Some(request)) = (&self.ready, self.contract.requests.get(question)) else {
            return Ok(None);
        };
        let channel = &self.service.channel();
        let server = LearnTarget { endpoint: &ready.address, host: &ready.host, channel, patience: PATIENCE };
        let answer = server.ask(self.contract, request);
        answer.map(Some).map_err(|source| LearnError::Unanswered {
            asked: self.asked[question].clone(),
            source: Box::new(source),
        })
    }

    /// A server that already runs is not restarted.
    fn restart(&mut self) -> Result<(), LearnError> {
        if self.service.running.is_none() {
            self.stop();
            self.start()?;
        }
        Ok(())
    }

    fn rest(&mut self, lasts: Duration) {
        sleep(lasts);
    }
}

/// Starts a service alone, with the settings of `ground`.
///
/// # Errors
/// The service cannot be started, or gives no answer.
pub fn start_one(
    service: &Service,
    contract: &Contract,
    ground: &LearnContext,
    stem: &str,
) -> Result<Ready, LaunchError> {
    let settings = LaunchSettings {
        contract,
        service_settings: ground.service_settings,
        cpus: &[],
        seed: 0,
        readiness: Readiness::Speaks,
        port: None,
        serve_on: Ipv4Addr::LOCALHOST,
        sandbox: &Sandbox::default(),
    };
    launch::launch(service, &settings, ground.supervisor, ground.folder, stem)
}

/// A contract for sending requests; its answers are ignored.
///
/// # Errors
/// A contract cannot express a request.
pub fn provisional(asked: Vec<LearnRequest>) -> Result<Contract, ContractError> {
    let requests = asked.into_iter().map(|asked| (asked, LearnedAnswer::of_status(200)));
    let draft = Draft {
        name: NAME.to_owned(),
        title: String::new(),
        requests: requests.collect(),
        in_each_protocol: true,
    };
    Ok(draft.learned()?.contract)
}

/// The target of requests.
#[derive(Debug, Clone, Copy)]
pub struct LearnTarget<'a> {
    pub endpoint: &'a Endpoint,
    /// The `Host` header.
    pub host: &'a str,
    /// Protocol and certificates.
    pub channel: &'a Channel,
    /// Time limit of one answer.
    pub patience: Duration,
}

impl LearnTarget<'_> {
    /// The answer to a request on a new connection.
    ///
    /// # Errors
    /// There is no answer within [`LearnTarget::patience`], or what comes is none.
    pub fn ask(&self, contract: &Contract, request: &Request) -> Result<Response, AskError> {
        self.ask_until(Deadline::after(self.patience), contract, request)
    }

    /// The same with a time limit that several requests share.
    ///
    /// # Errors
    /// There is no answer until then, or what comes is none.
    pub fn ask_until(
        &self,
        deadline: Deadline,
        contract: &Contract,
        request: &Request,
    ) -> Result<Response, AskError> {
        let exchange = contract.exchange(request, self.host, &mut ChaCha8Rng::seed_from_u64(0));
        ask_in(self.endpoint, self.channel, &exchange, deadline)
    }
}

/// The common parts of the answers to each request; `now` is the time of the answers.
fn contract_of(
    asked: &[LearnRequest],
    answers: &[Vec<Response>],
    now: Timestamp,
    in_each_protocol: bool,
) -> Result<Learned, LearnError> {
    let common = asked.iter().zip(answers).map(|(asked, answers)| {
        LearnedAnswer::common(asked, answers, Some(now)).map(|answer| (asked.clone(), answer))
    });
    let requests = common.collect::<Result<Vec<_>, _>>()?;
    let redirects = redirects(asked, answers);
    let names: Vec<String> = asked.iter().map(ToString::to_string).collect();
    let title = format!("learned from the answers to {}", names.join(", "));
    let draft = Draft { name: NAME.to_owned(), title, requests, in_each_protocol };
    Ok(Learned { redirects, ..draft.learned()? })
}

/// The requests answered by a redirect.
pub fn redirects(asked: &[LearnRequest], answers: &[Vec<Response>]) -> Vec<(LearnRequest, Redirect)> {
    let redirect = |(asked, answers): (&LearnRequest, &Vec<Response>)| {
        Some((asked.clone(), answers.first().and_then(Redirect::of)?))
    };
    asked.iter().zip(answers).filter_map(redirect).collect()
}

#[cfg(test)]
mod tests {
    use tare_load::http1::parse_response;

    use super::*;
    use crate::probe;
    use tare_contract::{CheckId, CheckLevel};

    fn now() -> Timestamp {
        "2026-11-28T05:10:35Z".parse().unwrap()
    }

    fn get(path: &str) -> LearnRequest {
        LearnRequest::new("GET", path, None)
    }

    fn answer(status: u16, body: &str) -> Response {
        let bytes = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        parse_response(bytes.as_bytes(), false, true).unwrap().unwrap().0
    }

    fn learned(bodies: &[&str]) -> Result<Learned, LearnError> {
        contract_of(&[get("/a")], &[bodies.iter().map(|body| answer(200, body)).collect()], now(), false)
    }

    #[test]
    fn what_all_answers_have_in_common_is_required() {
        let required = |bodies: &[&str]| learned(bodies).unwrap().required[0].1.clone();
        assert_eq!(required(&["one", "one"]), Required::Body { status: 200, bytes: 3 });
        assert_eq!(required(&["{\"a\":1,\"b\":2}", "{\"b\":2, \"a\":1}"]), Required::Json { status: 200 });
        let varying = |place: &str, nature| vec![Varying { place: place.to_owned(), nature }];
        let counter = Required::Pattern { status: 200, varying: varying("$.a", Nature::Counter) };
        assert_eq!(required(&["{\"a\":1}", "{\"a\":2}"]), counter);
        let time = Required::Text { status: 200, varying: varying("byte 4", Nature::Time) };
        assert_eq!(required(&["now 1795842635", "now 1795842636"]), time);
        assert_eq!(
            time.to_string(),
            "every answer must have status 200 and the same text but for 1 value, of which only the form is compared: \
             byte 4 (a time)"
        );
        assert_eq!(required(&["{\"a\":\"{{\"}", "{\"a\":2}"]), Required::Status { status: 200 });
        assert_eq!(required(&["one", "two"]), Required::Status { status: 200 });
        assert_eq!(required(&["{{one}}", "{{one}}"]), Required::Status { status: 200 }, "no placeholder");
    }

    #[test]
    fn the_contract_is_a_file_that_is_read_again() {
        let post = LearnRequest::new("POST", "/b", Some("{\"x\":1}".to_owned()));
        let answers = [vec![answer(200, "a \"quoted\"\nline")], vec![answer(201, "")]];
        let learned = contract_of(&[get("/a?b=%20"), post], &answers, now(), false).unwrap();
        insta::assert_snapshot!(learned.text);
        assert_eq!(Contract::parse(&learned.text, Path::new("learned.toml")).unwrap(), learned.contract);
        let request = &learned.contract.requests[1];
        assert_eq!(request.ask.headers[0].0, "Content-Type");
        assert_eq!(learned.contract.level(CheckId::NotFound), CheckLevel::Skip);
    }

    #[test]
    fn what_changes_is_learned_by_its_type() {
        let learned = learned(&["{\"id\":1,\"name\":\"x\",\"at\":0}", "{\"id\":2,\"name\":\"x\"}"]).unwrap();
        let json = "json = '{\"id\":\"{{any:number}}\",\"name\":\"x\"}'\nextra = \"allow\"\n";
        assert!(learned.text.ends_with(json), "{}", learned.text);
        let request = &learned.contract.requests[0];
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let expected = learned.contract.exchange(request, "a:1", &mut random).expected;
        assert!(probe::is_right(&expected, &answer(200, "{\"name\":\"x\",\"id\":3}")));
        assert!(!probe::is_right(&expected, &answer(200, "{\"name\":\"x\",\"id\":\"3\"}")));
    }

    #[test]
    fn an_error_is_not_learned() {
        let error =
            contract_of(&[get("/a")], &[vec![answer(404, "nothing here")]], now(), false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "GET /a is answered with status 404 and \"nothing here\": ask for another path"
        );
        let error =
            contract_of(&[get("/a")], &[vec![answer(200, ""), answer(302, "")]], now(), false).unwrap_err();
        assert_eq!(error.to_string(), "GET /a is answered with status 200 once and 302 once");
    }
}
