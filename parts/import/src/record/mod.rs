//! Contracts recorded from a server, an OpenAPI document or a HAR file; unusable parts are reported.
//!
//! [`har`] and [`openapi`] read files and open no connection. A running server is queried here.

mod form;
pub mod har;
mod left_out;
mod node;
pub mod openapi;
mod operation;
pub mod published;
mod reference;
mod schema;
mod style;
mod url;
mod yaml;

use std::{thread::sleep, time::Duration};

use jiff::Timestamp;
use tare_load::{Protocol, http1::Response};

pub use left_out::LeftOutPart;
pub use yaml::YamlError;

use tare_contract::{Contract, ContractError};
use tare_service::{
    client::{AskError, spoken_instead},
    learn::{
        Draft, LearnError, LearnRequest, LearnTarget, Learned, LearnedAnswer, Redirect, Respondent, TIMES,
        ask_over_time, provisional, redirects,
    },
};

/// Requests with these methods change nothing (RFC 9110, 9.2.1).
const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// The source of a recorded contract.
#[derive(Debug, Default)]
pub struct Material {
    /// A description of the source.
    pub title: String,
    /// The requests, and what the source says about their answers.
    wanted: Vec<(LearnRequest, LearnedAnswer)>,
    left_out: Vec<LeftOutPart>,
}

/// The options of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The name of the contract.
    pub name: &'a str,
    /// Whether to include requests that may change data, such as POST.
    pub writes: bool,
    /// The server that gives the right answers; absent: the source's description counts.
    pub server: Option<LearnTarget<'a>>,
}

#[derive(Debug)]
pub struct Recorded {
    pub learned: Learned,
    /// Parts of the source that the contract lacks.
    pub left_out: Vec<LeftOutPart>,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("is no OpenAPI document and no HAR file: {0}")]
    Unknown(String),
    #[error("is neither YAML nor JSON: {0}")]
    Unreadable(YamlError),
    #[error("is OpenAPI {0}: convert it to version 3, for example by https://converter.swagger.io")]
    Version(String),
    #[error("nothing of it can be recorded{}", listed(.0))]
    Nothing(Vec<LeftOutPart>),
    #[error(transparent)]
    Contract(#[from] ContractError),
}

fn listed(left_out: &[LeftOutPart]) -> String {
    let lines: Vec<String> = left_out.iter().map(ToString::to_string).collect();
    if lines.is_empty() { ": it has no requests".to_owned() } else { format!(": {}", lines.join("; ")) }
}

impl Material {
    /// Requests whose answers only a server knows.
    pub fn of_questions(title: String, asked: Vec<LearnRequest>) -> Material {
        let wanted = asked.into_iter().map(|asked| (asked, LearnedAnswer::of_status(200)));
        Material { title, wanted: wanted.collect(), left_out: Vec::new() }
    }

    /// The requests that change nothing.
    pub fn reads(self) -> Vec<LearnRequest> {
        let asked = self.wanted.into_iter().map(|(asked, _)| asked);
        asked.filter(|asked| SAFE.contains(&asked.method.as_str())).collect()
    }

    /// Reads an OpenAPI document or a HAR file.
    ///
    /// # Errors
    /// The text is neither.
    pub fn read(text: &str) -> Result<Material, RecordError> {
        let is_har = serde_json::from_str::<har::Outline>(text).is_ok();
        if is_har { har::read(text) } else { openapi::read(text) }
    }
}

/// Makes a contract from `source`.
///
/// # Errors
/// A contract can express no part of it, or the server answers no request.
pub fn record(source: Material, wish: &Wish) -> Result<Recorded, RecordError> {
    let Material { title, wanted, mut left_out } = source;
    let mut wanted = keep(wanted, &mut left_out, |(asked, answer)| match () {
        () if !wish.writes && !SAFE.contains(&asked.method.as_str()) => {
            Err(LeftOutPart::Writes { asked: asked.to_string() })
        }
        () => sayable(asked, answer),
    });
    let mut redirects = Vec::new();
    if let Some(server) = wish.server {
        (wanted, redirects) = ask(&server, wanted, &mut left_out)?;
        wanted = keep(wanted, &mut left_out, |(asked, answer)| sayable(asked, answer));
    }
    if wanted.is_empty() {
        return Err(RecordError::Nothing(left_out));
    }
    // Plain HTTP/1.1 does not show which other protocols the server speaks.
    let in_each_protocol = wish.server.is_some_and(|server| server.channel.protocol != Protocol::Http1);
    let learned =
        Draft { name: wish.name.to_owned(), title, requests: wanted, in_each_protocol }.learned()?;
    let learned = Learned { redirects, ..learned };
    Ok(Recorded { learned, left_out })
}

/// Converts each element, and leaves out those that fail.
fn keep<T, U>(
    all: Vec<T>,
    left_out: &mut Vec<LeftOutPart>,
    mut make: impl FnMut(T) -> Result<U, LeftOutPart>,
) -> Vec<U> {
    let made = all.into_iter().filter_map(|one| make(one).map_err(|why| left_out.push(why)).ok());
    made.collect()
}

/// Checks that the contract parser accepts the request and its answer.
fn sayable(asked: LearnRequest, answer: LearnedAnswer) -> Result<(LearnRequest, LearnedAnswer), LeftOutPart> {
    let alone = Draft {
        name: "alone".to_owned(),
        title: String::new(),
        requests: vec![(asked.clone(), answer.clone())],
        in_each_protocol: false,
    };
    let why = match alone.learned() {
        Ok(_) => return Ok((asked, answer)),
        Err(ContractError::Check { problem, .. }) => problem.to_string(),
        Err(error) => error.to_string(),
    };
    Err(LeftOutPart::Unsayable { asked: asked.to_string(), why })
}

/// A server during the recording. After a request without an answer, it is not sent again.
struct AskedServer<'a> {
    server: &'a LearnTarget<'a>,
    contract: &'a Contract,
    asked: Vec<LearnRequest>,
    unanswered: Vec<Option<LeftOutPart>>,
}

impl Respondent for AskedServer<'_> {
    type Error = std::convert::Infallible;

    fn ask(&mut self, question: usize) -> Result<Option<Response>, Self::Error> {
        let (unanswered, request) = (&mut self.unanswered[question], &self.contract.requests[question]);
        if unanswered.is_some() {
            return Ok(None);
        }
        Ok(match self.server.ask(self.contract, request) {
            Ok(answer) => Some(answer),
            Err(error) => {
                let asked = self.asked[question].clone();
                let other = spoken_instead(self.server.endpoint, self.server.channel, &error);
                let source = Box::new(other.map_or(error, AskError::OtherProtocol));
                *unanswered = Some(LearnError::Unanswered { asked, source }.into());
                None
            }
        })
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn rest(&mut self, lasts: Duration) {
        sleep(lasts);
    }
}

/// Requests with their answers, and requests that were redirected.
type Asked = (Vec<(LearnRequest, LearnedAnswer)>, Vec<(LearnRequest, Redirect)>);

/// Replaces the answers in `wanted` by the server's; also returns the redirected requests.
fn ask(
    server: &LearnTarget,
    wanted: Vec<(LearnRequest, LearnedAnswer)>,
    left_out: &mut Vec<LeftOutPart>,
) -> Result<Asked, RecordError> {
    let asked: Vec<LearnRequest> = wanted.into_iter().map(|(asked, _)| asked).collect();
    if asked.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let contract = &provisional(asked.clone())?;
    let unanswered = asked.iter().map(|_| None).collect();
    let mut running = AskedServer { server, contract, asked, unanswered };
    let count = running.asked.len();
    let Ok(answers) = ask_over_time(&mut running, count, TIMES);
    let now = Timestamp::now();
    let AskedServer { asked, unanswered, .. } = running;
    let redirects = redirects(&asked, &answers);
    let answered: Vec<_> = asked.into_iter().zip(answers).zip(unanswered).collect();
    let learned = keep(answered, left_out, |((asked, answers), unanswered)| {
        unanswered.map_or(Ok(()), Err)?;
        let answer = LearnedAnswer::common(&asked, &answers, Some(now))?;
        Ok((asked, answer))
    });
    Ok((learned, redirects))
}

#[cfg(test)]
mod tests;
