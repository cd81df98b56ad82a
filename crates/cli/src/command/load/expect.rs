//! What every response is compared with: learned from the server before the load, given by the user, or required by a
//! contract. Under load nothing is learned any more.

use std::{io::ErrorKind, time::Duration};

use anyhow::{Context, anyhow, ensure};
use tare_load::{Endpoint, Exchange, Expected, ExpectedBody, http1::Response};
use tare_service::probe::{self, AskError};

use super::target;

/// From this status on an answer is right only if the user says so.
const ERROR_STATUS: u16 = 400;
/// How much of an unexpected body is shown.
const SHOWN_BYTES: usize = 60;

/// What the user says is right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rules {
    pub no_check: bool,
    pub status: Option<u16>,
    pub body: Option<Vec<u8>>,
}

/// What can be asked: a server, or a list of answers in a test.
pub(super) trait Ask {
    /// The answer to one request, on a connection of its own.
    fn ask(&mut self, exchange: &Exchange) -> anyhow::Result<Response>;
}

#[derive(Debug)]
pub(super) struct Server<'a> {
    pub endpoint: &'a Endpoint,
    /// How long the next bytes of an answer may take.
    pub patience: Duration,
}

impl Ask for Server<'_> {
    fn ask(&mut self, exchange: &Exchange) -> anyhow::Result<Response> {
        let connected = target::connect(self.endpoint, self.patience).map_err(AskError::from);
        let asked = connected.and_then(|mut stream| probe::ask(&mut stream, exchange));
        asked.map_err(|error| {
            let unanswered = format!("{} has no answer from {}", exchange.name, self.endpoint);
            match error {
                AskError::NotHttp(error) => anyhow!("{} does not speak HTTP/1.1: {error}", self.endpoint),
                AskError::Closed => anyhow!("{unanswered}: the connection was closed"),
                AskError::Io(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                        anyhow!("{unanswered} within {:?}: give it more by --timeout", self.patience)
                    }
                    _ => anyhow!("{unanswered}: {error}"),
                },
            }
        })
    }
}

/// Fills in what is right for each exchange; returns in words what responses are compared with.
pub(super) fn learn(
    server: &mut impl Ask,
    exchanges: &mut [Exchange],
    rules: &Rules,
) -> anyhow::Result<String> {
    if rules.no_check {
        return Ok("nothing: --no-check".to_owned());
    }
    let several = exchanges.len() > 1;
    let mut words = Vec::new();
    for exchange in exchanges {
        let (expected, said) = learn_one(server, exchange, rules)?;
        exchange.expected = expected;
        words.push(if several { format!("{}: {said}", exchange.name) } else { said });
    }
    Ok(words.join("; "))
}

fn learn_one(
    server: &mut impl Ask,
    exchange: &Exchange,
    rules: &Rules,
) -> anyhow::Result<(Expected, String)> {
    let answers = [server.ask(exchange)?, server.ask(exchange)?];
    let name = &exchange.name;
    for answer in &answers {
        let what = described(answer);
        if let Some(status) = rules.status {
            ensure!(
                answer.status == status,
                "{name} is answered with {what}, not with --expect-status {status}"
            );
        }
        if let Some(body) = &rules.body {
            ensure!(answer.body == *body, "{name} is answered with {what}, not with --expect-body");
        }
    }
    let [first, second] = answers;
    let status = first.status;
    ensure!(
        status == second.status,
        "{name} is answered with status {status} once and {} once: name the right one by --expect-status",
        second.status
    );
    ensure!(
        status < ERROR_STATUS || rules.status.is_some(),
        "{name} is answered with {}: name another URL, or use --expect-status {status} if that is right",
        described(&first),
    );
    let (body, check) = match &rules.body {
        Some(body) => {
            let length = body.len();
            let check =
                format!("every response must have status {status} and the {length} bytes of --expect-body");
            (ExpectedBody::Exact(body.clone()), check)
        }
        None if first.body == second.body => {
            let length = first.body.len();
            let check =
                format!("every response is compared with the first one: status {status}, {length} bytes");
            (ExpectedBody::Exact(first.body), check)
        }
        None => (ExpectedBody::Any, format!("status {status} only: two answers differed")),
    };
    Ok((Expected { status, body }, check))
}

/// Asks each request of a contract once: where the service does not honour it, a load would only count errors.
pub(super) fn confirm(
    server: &mut impl Ask,
    contract: &str,
    exchanges: &[Exchange],
) -> anyhow::Result<String> {
    let mut asked: Vec<&str> = Vec::new();
    for exchange in exchanges {
        if asked.contains(&exchange.name.as_str()) {
            continue;
        }
        asked.push(&exchange.name);
        let answer = server.ask(exchange).with_context(|| format!("the contract {contract}"))?;
        ensure!(
            probe::is_right(&exchange.expected, &answer),
            "the contract {contract} is not honoured: \"{}\" is answered with {}, expected is {}",
            exchange.name,
            described(&answer),
            exchange.expected.describe()
        );
    }
    Ok(format!("every response is compared with what the contract {contract} asks for"))
}

/// What would be compared, if nothing is asked before the load.
pub(super) fn planned(rules: &Rules, contract: Option<&str>) -> String {
    if rules.no_check {
        return "nothing: --no-check".to_owned();
    }
    if let Some(contract) = contract {
        return format!("every response with what the contract {contract} asks for");
    }
    let status = match rules.status {
        Some(status) => format!("status {status}"),
        None => format!("the status that comes twice before the load, if below {ERROR_STATUS}"),
    };
    let body = match &rules.body {
        Some(body) => format!("the {} bytes of --expect-body", body.len()),
        None => "the body, if it is the same twice".to_owned(),
    };
    format!("{status}, and {body}")
}

fn described(answer: &Response) -> String {
    let shown = &answer.body[..answer.body.len().min(SHOWN_BYTES)];
    let more = if shown.len() < answer.body.len() { "..." } else { "" };
    match answer.body.len() {
        0 => format!("status {} and no body", answer.status),
        count => format!("status {} and {count} bytes \"{}{more}\"", answer.status, shown.escape_ascii()),
    }
}
