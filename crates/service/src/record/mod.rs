//! Contracts that are recorded: from a server, an OpenAPI document or a HAR file. What cannot be carried over is reported.
//!
//! [`har`] and [`openapi`] read what others wrote, and open no connection. A server that runs is asked here.

pub mod har;
mod left_out;
pub mod openapi;
pub mod published;
mod schema;
mod url;

use std::{thread::sleep, time::Duration};

use tare_load::http1::Response;

pub use left_out::LeftOut;

use crate::{
    contract::{Contract, ContractError},
    learn::{Draft, LearnError, Learned, LearnedAnswer, Question, Server, provisional},
};

/// How often a server is asked: as often as a service that is learned from two starts.
const TIMES: usize = 4;
/// Between the first two times, so that an instant in whole seconds is another one.
const PAUSE: Duration = Duration::from_millis(1100);
/// Requests by these methods change nothing (RFC 9110, 9.2.1).
const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];
/// Where a placeholder begins: no text of others may hold it.
const BRACES: &str = "{{";

/// What a contract is recorded from.
#[derive(Debug, Default)]
pub struct Material {
    /// What it is, in words.
    pub title: String,
    /// What is sent, and what the source says about the answers.
    wanted: Vec<(Question, LearnedAnswer)>,
    left_out: Vec<LeftOut>,
}

/// What is made of a source.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The name of the contract.
    pub name: &'a str,
    /// Also requests that change data, such as POST.
    pub writes: bool,
    /// Asked for the right answers, if there is one; else they are as the source says.
    pub server: Option<Server<'a>>,
}

#[derive(Debug)]
pub struct Recorded {
    pub learned: Learned,
    /// What could not be carried over.
    pub left_out: Vec<LeftOut>,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("is no OpenAPI document and no HAR file: {0}")]
    Unknown(String),
    #[error("is OpenAPI {0}: convert it to version 3, for example by https://converter.swagger.io")]
    Version(String),
    #[error("nothing of it can be recorded{}", listed(.0))]
    Nothing(Vec<LeftOut>),
    #[error(transparent)]
    Contract(#[from] ContractError),
}

fn listed(left_out: &[LeftOut]) -> String {
    let lines: Vec<String> = left_out.iter().map(ToString::to_string).collect();
    if lines.is_empty() { ": it has no requests".to_owned() } else { format!(": {}", lines.join("; ")) }
}

impl Material {
    /// Requests whose answers only a server knows.
    pub fn of_questions(title: String, asked: Vec<Question>) -> Material {
        let wanted = asked.into_iter().map(|asked| (asked, LearnedAnswer::of_status(200)));
        Material { title, wanted: wanted.collect(), left_out: Vec::new() }
    }

    /// The requests that change nothing.
    pub fn reads(self) -> Vec<Question> {
        let asked = self.wanted.into_iter().map(|(asked, _)| asked);
        asked.filter(|asked| SAFE.contains(&asked.method.as_str())).collect()
    }

    /// Reads an OpenAPI document or a HAR file.
    ///
    /// # Errors
    /// The text is neither of them.
    pub fn read(text: &str) -> Result<Material, RecordError> {
        let is_har = serde_json::from_str::<har::Outline>(text).is_ok();
        if is_har { har::read(text) } else { openapi::read(text) }
    }
}

/// Makes a contract of `source`.
///
/// # Errors
/// Nothing of it can be said in a contract, or the server answers none of it.
pub fn record(source: Material, wish: &Wish) -> Result<Recorded, RecordError> {
    let Material { title, wanted, mut left_out } = source;
    let mut wanted = keep(wanted, &mut left_out, |(asked, answer)| match () {
        () if !wish.writes && !SAFE.contains(&asked.method.as_str()) => {
            Err(LeftOut::Writes { asked: asked.to_string() })
        }
        () => sayable(asked, answer),
    });
    if let Some(server) = wish.server {
        wanted = ask(&server, wanted, &mut left_out)?;
        wanted = keep(wanted, &mut left_out, |(asked, answer)| sayable(asked, answer));
    }
    if wanted.is_empty() {
        return Err(RecordError::Nothing(left_out));
    }
    let learned = Draft { name: wish.name.to_owned(), title, requests: wanted }.learned()?;
    Ok(Recorded { learned, left_out })
}

/// What is made of each, without what is left out.
fn keep<T, U>(
    all: Vec<T>,
    left_out: &mut Vec<LeftOut>,
    mut make: impl FnMut(T) -> Result<U, LeftOut>,
) -> Vec<U> {
    let made = all.into_iter().filter_map(|one| make(one).map_err(|why| left_out.push(why)).ok());
    made.collect()
}

/// What the contract reader takes can be said, and nothing else.
fn sayable(asked: Question, answer: LearnedAnswer) -> Result<(Question, LearnedAnswer), LeftOut> {
    let texts =
        [&asked.path].into_iter().chain(&asked.body).chain(asked.headers.iter().map(|(_, value)| value));
    if texts.into_iter().any(|text| text.contains(BRACES)) {
        return Err(LeftOut::Braces { asked: asked.to_string() });
    }
    let alone = Draft {
        name: "alone".to_owned(),
        title: String::new(),
        requests: vec![(asked.clone(), answer.clone())],
    };
    let why = match alone.learned() {
        Ok(_) => return Ok((asked, answer)),
        Err(ContractError::Check { problem, .. }) => problem.to_string(),
        Err(error) => error.to_string(),
    };
    Err(LeftOut::Unsayable { asked: asked.to_string(), why })
}

/// Asks for everything several times. A request without an answer is not asked again.
fn ask(
    server: &Server,
    wanted: Vec<(Question, LearnedAnswer)>,
    left_out: &mut Vec<LeftOut>,
) -> Result<Vec<(Question, LearnedAnswer)>, RecordError> {
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let contract: Contract = provisional(wanted.iter().map(|(asked, _)| asked.clone()).collect())?;
    let mut answers: Vec<Result<Vec<Response>, LeftOut>> = wanted.iter().map(|_| Ok(Vec::new())).collect();
    for time in 0..TIMES {
        for (((asked, _), request), answers) in wanted.iter().zip(&contract.requests).zip(&mut answers) {
            let Ok(known) = answers else { continue };
            match server.ask(&contract, request) {
                Ok(answer) => known.push(answer),
                Err(source) => {
                    let unanswered =
                        LearnError::Unanswered { asked: asked.clone(), source: Box::new(source) };
                    *answers = Err(unanswered.into());
                }
            }
        }
        if time == 0 {
            sleep(PAUSE);
        }
    }
    Ok(keep(wanted.into_iter().zip(answers).collect(), left_out, |((asked, _), answers)| {
        let answer = LearnedAnswer::common(&asked, &answers?)?;
        Ok((asked, answer))
    }))
}
