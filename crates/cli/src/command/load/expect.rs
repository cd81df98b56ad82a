//! The expected responses: learned from the server before the load, given by the user, or required by a
//! contract. Under load nothing more is learned.

use std::{collections::BTreeMap, time::Duration};
use tare_base::units::several;

use anyhow::{Context, anyhow, bail, ensure};
use tare_base::Endpoint;
use tare_load::{Captured, Exchange, Expected, ExpectedBody, Statuses, http1::Response};
use tare_service::{
    client::{AskError, Channel, ClientConnection, Deadline, ask_in},
    learn::{self, Redirect, Required, Respondent, ask_over_time},
    probe,
};

use crate::command::target::unanswered::Asker;

/// An answer with this status or above is correct only if the user says so.
const ERROR_STATUS: u16 = 400;
/// The number of bytes of an unexpected body that are shown.
const SHOWN_BYTES: usize = 60;
/// The most checks that are printed one by one.
const NAMED_MAX: usize = 4;
/// The number of requests sent before the load if placeholders vary them.
const VARIED_ASKED: usize = 3;
/// How long to wait for bytes after an answer: a server may write them separately.
const SETTLES_WITHIN: Duration = Duration::from_millis(2);
/// The number of answers after which this wait is done.
const SETTLED_MAX: usize = 100;
/// How often each request is sent before the load, and again after more than a second.
const TIMES: usize = 1;

/// The user's rules for a correct answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub no_check: bool,
    pub status: Option<u16>,
    pub body: Option<Vec<u8>>,
}

/// A source of answers: a server, or a list in a test.
pub(crate) trait Ask {
    /// The answer to one request, on a connection of its own.
    fn ask(&mut self, exchange: &Exchange) -> anyhow::Result<Response>;

    fn rest(&mut self, lasts: Duration);
}

#[derive(Debug)]
pub(crate) struct Server<'a> {
    endpoint: &'a Endpoint,
    channel: &'a Channel,
    /// The time limit for a whole answer.
    patience: Duration,
    /// The number of requests so far.
    asked: usize,
}

impl<'a> Server<'a> {
    pub(crate) fn new(endpoint: &'a Endpoint, channel: &'a Channel, patience: Duration) -> Server<'a> {
        Server { endpoint, channel, patience, asked: 0 }
    }

    fn answer(&mut self, exchange: &Exchange) -> Result<Response, AskError> {
        let deadline = Deadline::after(self.patience);
        self.asked += 1;
        if self.channel.protocol.is_http2() || self.asked > SETTLED_MAX {
            return ask_in(self.endpoint, self.channel, exchange, deadline);
        }
        let mut connection = ClientConnection::open_in(self.endpoint, self.channel, deadline)?;
        let response = connection.ask(exchange, deadline)?;
        std::thread::sleep(SETTLES_WITHIN);
        connection.ensure_quiet(&response, exchange.is_head, Vec::new())?;
        Ok(response)
    }
}

impl Ask for Server<'_> {
    fn ask(&mut self, exchange: &Exchange) -> anyhow::Result<Response> {
        let (endpoint, channel) = (self.endpoint, self.channel);
        self.answer(exchange)
            .map_err(|error| anyhow!(Asker::Load.reason(&exchange.name, endpoint, channel, &error)))
    }

    fn rest(&mut self, lasts: Duration) {
        std::thread::sleep(lasts);
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Learned {
    /// The check of responses, in words.
    pub check: String,
    /// Warnings, each one sentence.
    pub warnings: Vec<String>,
}

/// Fills in the correct response of each exchange.
pub(crate) fn learn(
    server: &mut impl Ask,
    exchanges: &mut [Exchange],
    rules: &Rules,
) -> anyhow::Result<Learned> {
    if rules.no_check {
        return Ok(Learned { check: "nothing: --no-check".to_owned(), warnings: Vec::new() });
    }
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, exchange) in exchanges.iter().enumerate() {
        places.entry(exchange.name.clone()).or_default().push(place);
    }
    let alike: Vec<Alike> =
        places.into_iter().map(|(name, places)| Alike::of(name, places, exchanges)).collect();
    let asked = alike.iter().flat_map(|alike| alike.asked().iter().map(|place| &exchanges[*place])).collect();
    // Only a learned body can change with time.
    let is_patient = rules.body.is_none() && alike.iter().any(|alike| !alike.varies);
    let mut questions = Questions { server, asked, rules, is_patient };
    let count = questions.asked.len();
    let mut answers = ask_over_time(&mut questions, count, TIMES)?.into_iter();
    let (mut words, mut warnings) = (Vec::new(), Vec::new());
    for alike in &alike {
        let answers: Vec<Vec<Response>> = answers.by_ref().take(alike.asked().len()).collect();
        let One { expected, check, warning } = alike.learn(exchanges, &answers, rules)?;
        alike.places.iter().for_each(|place| exchanges[*place].expected = expected.clone());
        let is_all = alike.places.len() == exchanges.len();
        words.push(if is_all { check } else { format!("{}: {check}", alike.name) });
        warnings.extend(warning);
    }
    let more = words.len().saturating_sub(NAMED_MAX);
    words.truncate(NAMED_MAX);
    let more =
        if more > 0 { format!("; and {more} more, each by its own first response") } else { String::new() };
    let check = words.join("; ") + &more;
    Ok(Learned { check, warnings })
}

/// Requests of one name: identical ones, or one that placeholders vary.
struct Alike {
    name: String,
    places: Vec<usize>,
    varies: bool,
}

impl Alike {
    fn of(name: String, places: Vec<usize>, exchanges: &[Exchange]) -> Alike {
        let first = places.first().map(|place| &exchanges[*place].request);
        let varies = places.iter().any(|place| Some(&exchanges[*place].request) != first);
        Alike { name, places, varies }
    }

    /// The indices of the requests to send.
    fn asked(&self) -> &[usize] {
        let count = if self.varies { VARIED_ASKED } else { 1 };
        &self.places[..count.min(self.places.len())]
    }

    fn learn(&self, exchanges: &[Exchange], answers: &[Vec<Response>], rules: &Rules) -> anyhow::Result<One> {
        let asked = self.asked().iter().zip(answers);
        let learned = asked.map(|(place, answers)| learn_one(&exchanges[*place], answers, rules));
        let mut learned = learned.collect::<anyhow::Result<Vec<One>>>()?;
        let mut one = learned.swap_remove(0);
        let status = one.expected.status;
        if let Some(other) = learned.iter().find(|other| other.expected.status != status) {
            bail!(
                "{} is answered with status {status} for some values and {} for others: choose the range of the values, or use \
                 --no-check",
                self.name,
                other.expected.status
            );
        }
        if self.varies && rules.body.is_none() {
            one.expected.body = ExpectedBody::Any;
            one.check = format!("status {status} only: the requests vary");
        }
        Ok(one)
    }
}

/// The requests that are sent to the server before the load.
struct Questions<'a, A> {
    server: &'a mut A,
    asked: Vec<&'a Exchange>,
    rules: &'a Rules,
    /// Whether to wait for the second round of answers.
    is_patient: bool,
}

impl<A: Ask> Respondent for Questions<'_, A> {
    type Error = anyhow::Error;

    fn ask(&mut self, question: usize) -> anyhow::Result<Option<Response>> {
        let exchange = self.asked[question];
        let answer = self.server.ask(exchange)?;
        self.rules.ensure_kept(&exchange.name, &answer)?;
        Ok(Some(answer))
    }

    /// Does nothing: the server is already running.
    fn restart(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn rest(&mut self, lasts: Duration) {
        if self.is_patient {
            self.server.rest(lasts);
        }
    }
}

impl Rules {
    /// Checks an answer against the user's rules.
    fn ensure_kept(&self, name: &str, answer: &Response) -> anyhow::Result<()> {
        let what = described(answer);
        if let Some(status) = self.status {
            ensure!(
                answer.status == status,
                "{name} is answered with {what}, not with --expect-status {status}"
            );
        }
        if let Some(body) = &self.body {
            ensure!(answer.body == *body, "{name} is answered with {what}, not with --expect-body");
        }
        Ok(())
    }
}

/// The result for one exchange.
struct One {
    expected: Expected,
    check: String,
    warning: Option<String>,
}

fn learn_one(exchange: &Exchange, answers: &[Response], rules: &Rules) -> anyhow::Result<One> {
    let name = &exchange.name;
    let first = answers.first().with_context(|| format!("{name} was not asked"))?;
    let status = first.status;
    if let Some(other) = answers.iter().find(|answer| answer.status != status) {
        bail!(
            "{name} is answered with status {status} once and {} once: name the right one by --expect-status",
            other.status
        );
    }
    ensure!(
        status < ERROR_STATUS || rules.status.is_some(),
        "{name} is answered with {}: name another URL, or use --expect-status {status} if that is right",
        described(first),
    );
    let warning = redirect(name, first, rules);
    if let Some(body) = &rules.body {
        let length = body.len();
        let check =
            format!("every response must have status {status} and the {length} bytes of --expect-body");
        return Ok(One {
            expected: Expected { status, body: ExpectedBody::Exact(body.clone()) },
            check,
            warning,
        });
    }
    let sent = String::from_utf8_lossy(&exchange.request);
    let (body, required) = learn::in_common(&sent, answers, jiff::Timestamp::now());
    let check = match &required {
        Required::Body { bytes, .. } => {
            let length = several(*bytes, "byte");
            format!("every response is compared with the first one: status {status}, {length}")
        }
        Required::Status { .. } => format!("status {status} only: two answers differed"),
        Required::Json { .. } | Required::Pattern { .. } | Required::Text { .. } => required.to_string(),
    };
    Ok(One { expected: Expected { status, body }, check, warning })
}

/// A warning for a redirect: it is quick, and not the page that a user sees.
fn redirect(name: &str, answer: &Response, rules: &Rules) -> Option<String> {
    let Redirect { status, location } = Redirect::of(answer).filter(|_| rules.status.is_none())?;
    let to = location.map(|to| format!(" to {to}")).unwrap_or_default();
    let length = several(answer.body.len(), "byte");
    Some(format!(
        "{name} is answered with {status}, {length}: this loads a redirect{to}; name the URL it leads to, or use --expect-status \
         {status} if that is right"
    ))
}

/// The same for a load without requests beforehand, by the received statuses.
pub(crate) fn unasked_redirect(statuses: &Statuses, is_checked: bool) -> Option<String> {
    let counts = statuses.counts();
    let (status, _) = counts.iter().max_by_key(|(_, count)| *count)?;
    let is_redirect = !is_checked && Redirect::STATUSES.contains(status);
    is_redirect.then(|| format!("most responses have status {status}: this loads a redirect"))
}

/// Sends each request of a contract once: for a service that violates it, a load would only count errors.
pub(crate) fn confirm(
    server: &mut impl Ask,
    contract: &str,
    exchanges: &[Exchange],
) -> anyhow::Result<Learned> {
    let mut asked: Vec<&str> = Vec::new();
    // The steps of a sequence depend on each other, so they are sent together.
    for together in exchanges.chunk_by(|_, next| next.step.as_ref().is_some_and(|step| !step.is_first)) {
        if together.iter().all(|exchange| asked.contains(&exchange.name.as_str())) {
            continue;
        }
        let mut captured = Captured::new();
        for exchange in together {
            asked.push(&exchange.name);
            confirm_one(server, contract, exchange, &mut captured)?;
        }
    }
    let check = format!("every response is compared with what the contract {contract} asks for");
    Ok(Learned { check, warnings: Vec::new() })
}

/// Sends one step with the captured values of earlier steps, and captures its own.
fn confirm_one(
    server: &mut impl Ask,
    contract: &str,
    exchange: &Exchange,
    captured: &mut Captured,
) -> anyhow::Result<()> {
    let rule = exchange.step.as_ref().map(|step| &step.rule);
    let filled = rule.and_then(|rule| rule.fill(captured));
    let exchange = filled.as_ref().unwrap_or(exchange);
    let (name, expected) = (&exchange.name, exchange.expected.describe());
    let answer = server.ask(exchange).with_context(|| format!("the contract {contract}"))?;
    ensure!(
        probe::is_right(&exchange.expected, &answer),
        "the contract {contract} is not honoured: \"{name}\" is answered with {}, expected is {expected}",
        described(&answer),
    );
    if let Err(missing) = rule.map_or(Ok(()), |rule| rule.capture(&answer, captured)) {
        let answer = described(&answer);
        bail!(
            "the contract {contract} is not honoured: \"{name}\" is answered with {answer}, expected is {missing}"
        );
    }
    Ok(())
}

/// The check in words, if nothing is sent before the load.
pub(crate) fn planned(rules: &Rules, contract: Option<&str>, varies: bool) -> String {
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
        None if varies => "no body, because the requests vary".to_owned(),
        None => "the body, as far as it is the same after a second".to_owned(),
    };
    format!("{status}, and {body}")
}

fn described(answer: &Response) -> String {
    let shown = &answer.body[..answer.body.len().min(SHOWN_BYTES)];
    let more = if shown.len() < answer.body.len() { "..." } else { "" };
    match answer.body.len() {
        0 => format!("status {} and no body", answer.status),
        count => {
            let bytes = several(count, "byte");
            format!("status {} and {bytes} \"{}{more}\"", answer.status, shown.escape_ascii())
        }
    }
}
