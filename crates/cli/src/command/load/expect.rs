//! What every response is compared with: learned from the server before the load, given by the user, or required by a
//! contract. Under load nothing is learned any more.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, anyhow, bail, ensure};
use tare_load::{Captured, Endpoint, Exchange, Expected, ExpectedBody, Protocol, Statuses, http1::Response};
use tare_service::{
    client::{AskError, Channel, Deadline, ask_in},
    probe,
};

use super::plan::counted;

/// From this status on an answer is right only if the user says so.
const ERROR_STATUS: u16 = 400;
/// How much of an unexpected body is shown.
const SHOWN_BYTES: usize = 60;
/// More checks are not printed one by one.
const NAMED_MAX: usize = 4;
/// Number of requests that are asked before the load if placeholders vary them.
const VARIED_ASKED: usize = 3;
/// Statuses that send a client elsewhere. 304 is not one of them.
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

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
    pub channel: &'a Channel,
    /// How long a whole answer may take.
    pub patience: Duration,
}

impl Ask for Server<'_> {
    fn ask(&mut self, exchange: &Exchange) -> anyhow::Result<Response> {
        let deadline = Deadline::after(self.patience);
        ask_in(self.endpoint, self.channel, exchange, deadline).map_err(|error| {
            let unanswered = format!("{} has no answer from {}", exchange.name, self.endpoint);
            match error {
                AskError::NotHttp(error) => anyhow!("{} does not speak HTTP/1.1: {error}", self.endpoint),
                AskError::Tls(error) if matches!(*error, rustls::Error::InvalidCertificate(_)) => anyhow!(
                    "no TLS connection to {}: {error}; give its authority by --cacert, or accept any certificate by -k",
                    self.endpoint
                ),
                AskError::Tls(error) if is_about_alpn(&error) => no_http2(self.endpoint),
                AskError::Tls(error) => anyhow!(
                    "no TLS connection to {}: {error}; if the port does not speak TLS, begin the URL with http://",
                    self.endpoint
                ),
                AskError::Alpn { .. } if self.channel.protocol == Protocol::H2 => no_http2(self.endpoint),
                AskError::Http2(error) => {
                    anyhow!("{unanswered}, which does perhaps not speak HTTP/2 there: {error}")
                }
                AskError::Closed => anyhow!("{unanswered}: the connection was closed"),
                AskError::TooLate { within, bytes: 0 } => {
                    anyhow!("{unanswered} within {within:?}: give it more by --timeout")
                }
                AskError::TooLate { within, bytes } => {
                    anyhow!(
                        "{unanswered} within {within:?}, in which {} came: if it only needs more time, give it more by \
                         --timeout",
                        counted(bytes as u64, "byte")
                    )
                }
                AskError::TooLong | AskError::Announced(_) => {
                    anyhow!("{unanswered}: {error}; load it without a look at answers by --no-check")
                }
                AskError::Io(_) | AskError::Interrupted | AskError::NotSecured | AskError::Alpn { .. } => {
                    anyhow!("{unanswered}: {error}")
                }
            }
        })
    }
}

/// A server that knows ALPN, and none of the protocols that are offered, ends the handshake (RFC 7301, 3.2).
fn is_about_alpn(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::AlertReceived(rustls::AlertDescription::NoApplicationProtocol))
}

fn no_http2(endpoint: &Endpoint) -> anyhow::Error {
    anyhow!(
        "the server at {endpoint} does not offer HTTP/2 over TLS: leave out --h2 for HTTP/1.1, or try --h2c on a port without TLS"
    )
}

/// What is known before a load.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Learned {
    /// In words, what responses are compared with.
    pub check: String,
    /// Each is one sentence.
    pub warnings: Vec<String>,
}

/// Fills in what is right for each exchange.
pub(super) fn learn(
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
    let (mut words, mut warnings) = (Vec::new(), Vec::new());
    for (name, places) in &places {
        let One { expected, check, warning } = learn_alike(server, exchanges, places, rules)?;
        places.iter().for_each(|place| exchanges[*place].expected = expected.clone());
        words.push(if places.len() == exchanges.len() { check } else { format!("{name}: {check}") });
        warnings.extend(warning);
    }
    let more = words.len().saturating_sub(NAMED_MAX);
    words.truncate(NAMED_MAX);
    let more =
        if more > 0 { format!("; and {more} more, each by its own first response") } else { String::new() };
    let check = words.join("; ") + &more;
    Ok(Learned { check, warnings })
}

/// Of requests with the same name: the same request, or one that placeholders vary.
fn learn_alike(
    server: &mut impl Ask,
    exchanges: &[Exchange],
    places: &[usize],
    rules: &Rules,
) -> anyhow::Result<One> {
    let first = &exchanges[places[0]];
    let varies = places.iter().any(|place| exchanges[*place].request != first.request);
    if !varies {
        return learn_one(server, first, rules);
    }
    let mut learned = Vec::new();
    for place in places.iter().take(VARIED_ASKED) {
        learned.push(learn_one(server, &exchanges[*place], rules)?);
    }
    let mut one = learned.swap_remove(0);
    let status = one.expected.status;
    if let Some(other) = learned.iter().find(|other| other.expected.status != status) {
        bail!(
            "{} is answered with status {status} for some values and {} for others: choose the range of the values, or use \
             --no-check",
            first.name,
            other.expected.status
        );
    }
    if rules.body.is_none() {
        one.expected.body = ExpectedBody::Any;
        one.check = format!("status {status} only: the requests vary");
    }
    Ok(one)
}

/// What is known of one exchange.
struct One {
    expected: Expected,
    check: String,
    warning: Option<String>,
}

fn learn_one(server: &mut impl Ask, exchange: &Exchange, rules: &Rules) -> anyhow::Result<One> {
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
    let warning = redirect(name, &first, rules);
    let (body, check) = match &rules.body {
        Some(body) => {
            let length = body.len();
            let check =
                format!("every response must have status {status} and the {length} bytes of --expect-body");
            (ExpectedBody::Exact(body.clone()), check)
        }
        None if first.body == second.body => {
            let length = counted(first.body.len() as u64, "byte");
            let check = format!("every response is compared with the first one: status {status}, {length}");
            (ExpectedBody::Exact(first.body), check)
        }
        None => (ExpectedBody::Any, format!("status {status} only: two answers differed")),
    };
    Ok(One { expected: Expected { status, body }, check, warning })
}

/// A redirect is quick, and is not what a user sees.
fn redirect(name: &str, answer: &Response, rules: &Rules) -> Option<String> {
    let is_meant = rules.status.is_some() || !REDIRECTS.contains(&answer.status);
    let is_location = |(name, _): &&(String, Vec<u8>)| name.eq_ignore_ascii_case("location");
    let location = answer.headers.iter().find(is_location);
    let to = location.map(|(_, to)| format!(" to {}", to.escape_ascii())).unwrap_or_default();
    (!is_meant).then(|| {
        format!(
            "{name} is answered with {}, {}: this loads a redirect{to}; name the URL it leads to, or use --expect-status \
             {} if that is right",
            answer.status,
            counted(answer.body.len() as u64, "byte"),
            answer.status
        )
    })
}

/// The same of a load that asked nothing before: by what came.
pub(super) fn unasked_redirect(statuses: &Statuses, is_checked: bool) -> Option<String> {
    let counts = statuses.counts();
    let (status, _) = counts.iter().max_by_key(|(_, count)| *count)?;
    let is_redirect = !is_checked && REDIRECTS.contains(status);
    is_redirect.then(|| format!("most responses have status {status}: this loads a redirect"))
}

/// Asks each request of a contract once: where the service does not honour it, a load would only count errors.
pub(super) fn confirm(
    server: &mut impl Ask,
    contract: &str,
    exchanges: &[Exchange],
) -> anyhow::Result<Learned> {
    let mut asked: Vec<&str> = Vec::new();
    // The steps of a sequence need each other, so they are asked together.
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

/// With the values of the steps before it, to which it adds its own.
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

/// What would be compared, if nothing is asked before the load.
pub(super) fn planned(rules: &Rules, contract: Option<&str>, varies: bool) -> String {
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
        None => "the body, if it is the same twice".to_owned(),
    };
    format!("{status}, and {body}")
}

fn described(answer: &Response) -> String {
    let shown = &answer.body[..answer.body.len().min(SHOWN_BYTES)];
    let more = if shown.len() < answer.body.len() { "..." } else { "" };
    match answer.body.len() {
        0 => format!("status {} and no body", answer.status),
        count => {
            let bytes = counted(count as u64, "byte");
            format!("status {} and {bytes} \"{}{more}\"", answer.status, shown.escape_ascii())
        }
    }
}
