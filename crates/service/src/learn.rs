//! A contract that is learned from a service: each request is asked several times, of two fresh processes, and what all
//! answers have in common is what every later answer must have.

mod varying;

use std::{collections::BTreeMap, path::Path, time::Duration};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tare_host::process::Supervisor;
use tare_load::http1::Response;

use crate::{
    catalogue::Service,
    contract::{CheckId, Contract, ContractError, FORMAT, Level},
    launch::{self, LaunchError, Ready, Settings},
    probe::{self, AskError, Readiness},
    prove::GRACE,
    settings::ServiceSettings,
};

/// The name of a contract that was learned.
pub const NAME: &str = "learned";
/// Fresh processes that are asked, and how often each is: what differs between two starts, or from one answer to the next,
/// is not required.
const STARTS: usize = 2;
/// A server that runs already is not started afresh.
const STARTS_OF_RUNNING: usize = 1;
const TIMES: usize = 2;
/// From this status on an answer is an error.
const ERROR_STATUS: u16 = 400;
/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of an unexpected body is quoted.
const QUOTED_BYTES: usize = 60;

/// One request, as a user writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub method: String,
    pub path: String,
    pub body: Option<String>,
}

/// What is required of the answers to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Required {
    /// The status and every byte of the body.
    Body { status: u16, bytes: usize },
    /// The status, and the value of the body as JSON: its spelling changed.
    Json { status: u16 },
    /// The status, and JSON in which what changed has a wildcard of its type.
    Pattern { status: u16, wildcards: usize },
    /// The status alone: the body changed beyond recognition, or is nothing that a contract can say.
    Status { status: u16 },
}

#[derive(Debug)]
pub struct Learned {
    pub contract: Contract,
    /// The contract as a file.
    pub text: String,
    /// Of each request, in the order in which they were asked.
    pub required: Vec<(Question, Required)>,
}

#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("{asked}: {source}")]
    Unanswered { asked: Question, source: AskError },
    #[error("{asked} is answered with status {status} and \"{body}\": ask for another path")]
    Refused { asked: Question, status: u16, body: String },
    #[error("{asked} is answered with status {0} once and {1} once", .statuses[0], .statuses[1])]
    Unsteady { asked: Question, statuses: [u16; 2] },
    #[error(transparent)]
    Contract(#[from] ContractError),
}

impl Learned {
    /// The contract as a file with a name of its own.
    pub fn named(&self, name: &str) -> String {
        let line = |name: &str| format!("name = {}\n", toml::Value::from(name));
        self.text.replacen(&line(NAME), &line(name), 1)
    }
}

impl std::fmt::Display for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
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
            Required::Pattern { status, wildcards } => {
                let values = if *wildcards == 1 { "value, of which" } else { "values, of which" };
                write!(
                    f,
                    "every answer must have status {status} and the same JSON but for {wildcards} {values} only the type is compared"
                )
            }
            Required::Status { status } => {
                write!(
                    f,
                    "every answer must have status {status}; its body is not compared, because it changes or is no plain text"
                )
            }
        }
    }
}

/// What a service is started with to be asked.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    pub supervisor: &'a Supervisor,
    pub service_settings: &'a ServiceSettings,
    /// Where the output of the service goes.
    pub folder: &'a Path,
}

/// Starts `service` twice, unless it runs already, and asks it everything that is `asked`.
///
/// # Errors
/// It cannot be started, does not answer, answers with an error, or with one status and then another.
pub fn learn(service: &Service, asked: &[Question], ground: &Ground) -> Result<Learned, LearnError> {
    // Its answers are not looked at: it only says what is sent.
    let provisional = parse(&text(asked, &vec![LearnedAnswer::of_status(200); asked.len()]))?;
    let mut answers = vec![Vec::new(); asked.len()];
    let starts = if service.running.is_some() { STARTS_OF_RUNNING } else { STARTS };
    for start in 0..starts {
        let settings = Settings {
            contract: &provisional,
            service_settings: ground.service_settings,
            cpus: &[],
            seed: 0,
            readiness: Readiness::Speaks,
            port: None,
        };
        let stem = format!("learn-{}", start + 1);
        let ready = launch::launch(service, &settings, ground.supervisor, ground.folder, &stem)?;
        let told = ask_all(&ready, &provisional, asked, &mut answers);
        ready.process.stop(GRACE);
        told?;
    }
    contract_of(asked, &answers)
}

fn ask_all(
    ready: &Ready,
    contract: &Contract,
    asked: &[Question],
    answers: &mut [Vec<Response>],
) -> Result<(), LearnError> {
    for _ in 0..TIMES {
        for (place, (asked, request)) in asked.iter().zip(&contract.requests).enumerate() {
            let mut random = ChaCha8Rng::seed_from_u64(0);
            let exchange = contract.exchange(request, &ready.host, &mut random);
            let answer = probe::connect(ready.address, PATIENCE)
                .map_err(AskError::from)
                .and_then(|mut stream| probe::ask(&mut stream, &exchange));
            let unanswered = |source| LearnError::Unanswered { asked: asked.clone(), source };
            answers[place].push(answer.map_err(unanswered)?);
        }
    }
    Ok(())
}

/// What all answers to each request have in common.
fn contract_of(asked: &[Question], answers: &[Vec<Response>]) -> Result<Learned, LearnError> {
    let mut common = Vec::new();
    for (asked, answers) in asked.iter().zip(answers) {
        common.push(LearnedAnswer::common(asked, answers)?);
    }
    let text = text(asked, &common);
    let required = asked.iter().cloned().zip(common.iter().map(LearnedAnswer::required)).collect();
    Ok(Learned { contract: parse(&text)?, text, required })
}

fn parse(text: &str) -> Result<Contract, ContractError> {
    Contract::parse(text, Path::new(&format!("{NAME}.toml")))
}

/// The `[request.response]` of a contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct LearnedAnswer {
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'static str>,
    #[serde(skip)]
    wildcards: usize,
}

impl LearnedAnswer {
    fn of_status(status: u16) -> LearnedAnswer {
        LearnedAnswer { status, body: None, json: None, extra: None, wildcards: 0 }
    }

    fn common(asked: &Question, answers: &[Response]) -> Result<LearnedAnswer, LearnError> {
        let Some(first) = answers.first() else { return Ok(LearnedAnswer::of_status(200)) };
        let status = first.status;
        if let Some(other) = answers.iter().find(|answer| answer.status != status) {
            return Err(LearnError::Unsteady { asked: asked.clone(), statuses: [status, other.status] });
        }
        if status >= ERROR_STATUS {
            let quoted = &first.body[..first.body.len().min(QUOTED_BYTES)];
            let body = quoted.escape_ascii().to_string();
            return Err(LearnError::Refused { asked: asked.clone(), status, body });
        }
        let is_same = answers.iter().all(|answer| answer.body == first.body);
        // Braces of the service's own would be read as placeholders.
        let has_braces = |answer: &Response| answer.body.windows(2).any(|two| two == b"{{");
        Ok(match std::str::from_utf8(&first.body) {
            _ if answers.iter().any(has_braces) => LearnedAnswer::of_status(status),
            Ok(text) if is_same => {
                LearnedAnswer { body: Some(text.to_owned()), ..LearnedAnswer::of_status(status) }
            }
            _ => LearnedAnswer::pattern(status, answers),
        })
    }

    /// The JSON that the answers have in common; if there is none, their status.
    fn pattern(status: u16, answers: &[Response]) -> LearnedAnswer {
        let values = answers.iter().map(|answer| serde_json::from_slice(&answer.body).ok());
        let common = values.collect::<Option<Vec<_>>>().and_then(|values| varying::pattern_of(&values));
        let unknown = LearnedAnswer::of_status(status);
        common.map_or(unknown.clone(), |common| LearnedAnswer {
            json: Some(common.value.to_string()),
            extra: common.extra.then_some("allow"),
            wildcards: common.pattern().wildcards(),
            ..unknown
        })
    }

    fn required(&self) -> Required {
        let status = self.status;
        if self.wildcards > 0 || self.extra.is_some() {
            return Required::Pattern { status, wildcards: self.wildcards };
        }
        match (&self.body, &self.json) {
            (Some(body), _) => Required::Body { status, bytes: body.len() },
            (None, Some(_)) => Required::Json { status },
            (None, None) => Required::Status { status },
        }
    }
}

/// A contract as a person would write it.
fn text(asked: &[Question], answers: &[LearnedAnswer]) -> String {
    #[derive(Serialize)]
    struct ContractText<'a> {
        format: &'a str,
        name: &'a str,
        title: String,
        checks: BTreeMap<&'a str, Level>,
        request: Vec<RequestText<'a>>,
    }
    #[derive(Serialize)]
    struct RequestText<'a> {
        name: String,
        method: &'a str,
        path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<&'a str>,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<&'a str, &'a str>,
        response: &'a LearnedAnswer,
    }
    let requests = asked.iter().zip(answers).map(|(asked, response)| {
        let Question { method, path, body } = asked;
        let headers = asked.content_type().into_iter().map(|kind| ("Content-Type", kind)).collect();
        RequestText { name: asked.to_string(), method, path, body: body.as_deref(), headers, response }
    });
    let names: Vec<String> = asked.iter().map(ToString::to_string).collect();
    let file = ContractText {
        format: FORMAT,
        name: NAME,
        title: format!("learned from the answers to {}", names.join(", ")),
        checks: checks(),
        request: requests.collect(),
    };
    toml::to_string(&file).expect("texts, numbers and tables are TOML")
}

/// Only what a learned contract knows is checked: the answers, that connections are kept, and how the service ends.
fn checks() -> BTreeMap<&'static str, Level> {
    let level = |check: CheckId| match check {
        CheckId::Response => Level::Require,
        CheckId::KeepAlive | CheckId::End => Level::Warn,
        _ => Level::Skip,
    };
    CheckId::ALL.iter().map(|check| (check.name(), level(*check))).collect()
}

impl Question {
    fn content_type(&self) -> Option<&'static str> {
        let body = self.body.as_deref()?;
        match serde_json::from_str::<serde::de::IgnoredAny>(body) {
            Ok(_) => Some("application/json"),
            Err(_) => Some("application/x-www-form-urlencoded"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tare_load::http1::parse_response;

    use super::*;

    fn get(path: &str) -> Question {
        Question { method: "GET".to_owned(), path: path.to_owned(), body: None }
    }

    fn answer(status: u16, body: &str) -> Response {
        let bytes = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        parse_response(bytes.as_bytes(), false, true).unwrap().unwrap().0
    }

    fn learned(bodies: &[&str]) -> Result<Learned, LearnError> {
        contract_of(&[get("/a")], &[bodies.iter().map(|body| answer(200, body)).collect()])
    }

    #[test]
    fn what_all_answers_have_in_common_is_required() {
        let required = |bodies: &[&str]| learned(bodies).unwrap().required[0].1;
        assert_eq!(required(&["one", "one"]), Required::Body { status: 200, bytes: 3 });
        assert_eq!(required(&["{\"a\":1,\"b\":2}", "{\"b\":2, \"a\":1}"]), Required::Json { status: 200 });
        assert_eq!(required(&["{\"a\":1}", "{\"a\":2}"]), Required::Pattern { status: 200, wildcards: 1 });
        assert_eq!(required(&["{\"a\":\"{{\"}", "{\"a\":2}"]), Required::Status { status: 200 });
        assert_eq!(required(&["one", "two"]), Required::Status { status: 200 });
        assert_eq!(required(&["{{one}}", "{{one}}"]), Required::Status { status: 200 }, "no placeholder");
    }

    #[test]
    fn the_contract_is_a_file_that_is_read_again() {
        let post =
            Question { method: "POST".to_owned(), path: "/b".to_owned(), body: Some("{\"x\":1}".to_owned()) };
        let answers = [vec![answer(200, "a \"quoted\"\nline")], vec![answer(201, "")]];
        let learned = contract_of(&[get("/a?b=%20"), post], &answers).unwrap();
        insta::assert_snapshot!(learned.text);
        assert_eq!(parse(&learned.text).unwrap(), learned.contract);
        let request = &learned.contract.requests[1];
        assert_eq!(request.ask.headers[0].0, "Content-Type");
        assert_eq!(learned.contract.level(CheckId::NotFound), Level::Skip);
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
        let error = contract_of(&[get("/a")], &[vec![answer(404, "nothing here")]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "GET /a is answered with status 404 and \"nothing here\": ask for another path"
        );
        let error = contract_of(&[get("/a")], &[vec![answer(200, ""), answer(302, "")]]).unwrap_err();
        assert_eq!(error.to_string(), "GET /a is answered with status 200 once and 302 once");
    }
}
