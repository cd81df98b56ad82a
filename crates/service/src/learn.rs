//! A contract that is learned from a service: each request is asked several times, of two fresh processes, and what all
//! answers have in common is what every later answer must have.

mod answer;
mod text;
mod varying;

pub(crate) use answer::LearnedAnswer;
pub(crate) use text::Draft;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_host::process::{Sandbox, Supervisor};
use tare_load::http1::Response;

use crate::{
    catalogue::Service,
    client::{AskError, ClientConnection, Deadline},
    contract::{Contract, ContractError, Request},
    launch::{self, LaunchError, Ready, Settings},
    probe::Readiness,
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
/// How long one answer of a service may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
pub(crate) const CONTENT_TYPE: &str = "Content-Type";

/// One request, as a user writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub method: String,
    pub path: String,
    pub body: Option<String>,
    /// The headers beside `Host` and `Content-Length`.
    pub headers: Vec<(String, String)>,
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
    /// The longest time from a start to the first answer; absent if nothing was started for it.
    pub start_up: Option<Duration>,
}

#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("{asked}: {source}")]
    Unanswered { asked: Question, source: Box<AskError> },
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
                    "every answer must have status {status}; its body is not compared, because it changes, is no plain \
                     text or is not described"
                )
            }
        }
    }
}

impl Question {
    /// With the content type of `body`: JSON if it is some, or a form.
    pub fn new(method: &str, path: &str, body: Option<String>) -> Question {
        let content_type = |body: &String| match serde_json::from_str::<serde::de::IgnoredAny>(body) {
            Ok(_) => "application/json",
            Err(_) => "application/x-www-form-urlencoded",
        };
        let headers = body.iter().map(|body| (CONTENT_TYPE.to_owned(), content_type(body).to_owned()));
        Question { method: method.to_owned(), path: path.to_owned(), headers: headers.collect(), body }
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
    let provisional = provisional(asked.to_vec())?;
    let mut answers = vec![Vec::new(); asked.len()];
    let mut start_up = None;
    let starts = if service.running.is_some() { STARTS_OF_RUNNING } else { STARTS };
    for start in 0..starts {
        let ready = start_one(service, &provisional, ground, &format!("learn-{}", start + 1))?;
        start_up = start_up.max(ready.start_up);
        let server = Server { address: ready.address, host: &ready.host, patience: PATIENCE };
        let told = ask_all(&server, &provisional, asked, &mut answers);
        ready.process.stop(GRACE);
        told?;
    }
    Ok(Learned { start_up, ..contract_of(asked, &answers)? })
}

pub(crate) fn start_one(
    service: &Service,
    contract: &Contract,
    ground: &Ground,
    stem: &str,
) -> Result<Ready, LaunchError> {
    let settings = Settings {
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

/// A contract that only says what is sent: its answers are not looked at.
///
/// # Errors
/// A request is nothing that a contract can say.
pub(crate) fn provisional(asked: Vec<Question>) -> Result<Contract, ContractError> {
    let requests = asked.into_iter().map(|asked| (asked, LearnedAnswer::of_status(200)));
    let draft = Draft { name: NAME.to_owned(), title: String::new(), requests: requests.collect() };
    Ok(draft.learned()?.contract)
}

/// Where requests are sent.
#[derive(Debug, Clone, Copy)]
pub struct Server<'a> {
    pub address: SocketAddr,
    /// The value of `Host`.
    pub host: &'a str,
    /// How long one answer may take.
    pub patience: Duration,
}

impl Server<'_> {
    /// The answer to one request, on a connection of its own.
    pub(crate) fn ask(&self, contract: &Contract, request: &Request) -> Result<Response, AskError> {
        self.ask_until(Deadline::after(self.patience), contract, request)
    }

    pub(crate) fn ask_until(
        &self,
        deadline: Deadline,
        contract: &Contract,
        request: &Request,
    ) -> Result<Response, AskError> {
        let exchange = contract.exchange(request, self.host, &mut ChaCha8Rng::seed_from_u64(0));
        ClientConnection::open(&self.address.into(), deadline)?.ask(&exchange, deadline)
    }
}

fn ask_all(
    server: &Server,
    contract: &Contract,
    asked: &[Question],
    answers: &mut [Vec<Response>],
) -> Result<(), LearnError> {
    for _ in 0..TIMES {
        for ((asked, request), answers) in asked.iter().zip(&contract.requests).zip(answers.iter_mut()) {
            let unanswered =
                |source| LearnError::Unanswered { asked: asked.clone(), source: Box::new(source) };
            answers.push(server.ask(contract, request).map_err(unanswered)?);
        }
    }
    Ok(())
}

/// What all answers to each request have in common.
fn contract_of(asked: &[Question], answers: &[Vec<Response>]) -> Result<Learned, LearnError> {
    let common = asked
        .iter()
        .zip(answers)
        .map(|(asked, answers)| LearnedAnswer::common(asked, answers).map(|answer| (asked.clone(), answer)));
    let requests = common.collect::<Result<Vec<_>, _>>()?;
    let names: Vec<String> = asked.iter().map(ToString::to_string).collect();
    let title = format!("learned from the answers to {}", names.join(", "));
    Ok(Draft { name: NAME.to_owned(), title, requests }.learned()?)
}

#[cfg(test)]
mod tests {
    use tare_load::http1::parse_response;

    use super::*;
    use crate::{
        contract::{CheckId, Level},
        probe,
    };

    fn get(path: &str) -> Question {
        Question::new("GET", path, None)
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
        let post = Question::new("POST", "/b", Some("{\"x\":1}".to_owned()));
        let answers = [vec![answer(200, "a \"quoted\"\nline")], vec![answer(201, "")]];
        let learned = contract_of(&[get("/a?b=%20"), post], &answers).unwrap();
        insta::assert_snapshot!(learned.text);
        assert_eq!(Contract::parse(&learned.text, Path::new("learned.toml")).unwrap(), learned.contract);
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
