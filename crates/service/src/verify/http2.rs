//! Checks for HTTP/2 services only: the content of frames, and concurrent streams.

use rand_chacha::ChaCha8Rng;
use tare_base::Endpoint;
use tare_load::http1::Response;

use super::CheckId;
use super::bench::{Asked, Bench};
use super::frames::{Fields, FrameTalk};
use super::talk::{Talk, Trouble};
use super::transcript::{CheckResult, Failure, Tried};
use crate::client::{ClientConnection, Deadline, OF_ONE_CONNECTION};
use tare_base::http2::SETTINGS;
use tare_contract::Request;

const FIRST: u32 = 1;
const SECOND: u32 = 3;

pub(super) fn settings(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let tried = exchange_of_settings(bench);
    vec![CheckResult::of(CheckId::H2Settings, "the first frames", tried)]
}

fn exchange_of_settings(bench: &mut Bench<'_>) -> Tried {
    let mut talk = FrameTalk::open(bench)?;
    let first = talk.next(Deadline::after(bench.patience.for_answer()));
    let first = first.map_err(|error| talk.failure(format!("{error} instead of SETTINGS")))?;
    if first.kind != SETTINGS || first.flags != 0 {
        let reason = "the first frame is not SETTINGS, as RFC 9113, 3.4 demands";
        return Err(talk.failure(reason));
    }
    let taken = talk.take(&first).and_then(|()| talk.read_until(|talk| talk.is_acknowledged));
    taken.map_err(|error| talk.failure(format!("{error} instead of acknowledging SETTINGS")))?;
    Ok(None)
}

pub(super) fn headers(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let load = bench.load_at_least();
    bench.each(CheckId::H2Headers, load, |bench, request, rng| {
        let asked = bench.any(request, rng);
        let mut talk = FrameTalk::open(bench)?;
        let host = bench.host.clone();
        send(&mut talk, FIRST, &asked, &host, true);
        talk.answer(FIRST)?;
        let heads = &talk.streams[&FIRST].heads;
        match heads.iter().enumerate().find_map(|(place, head)| wrong_with(head, place > 0)) {
            Some(reason) => Err(talk.failure(reason)),
            None => Ok(None),
        }
    })
}

/// Checks a head by RFC 9113, 8.2 and 8.3.
fn wrong_with(head: &Fields, is_of_trailers: bool) -> Option<String> {
    let names: Vec<String> =
        head.iter().map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
    if let Some(name) = names.iter().find(|name| name.bytes().any(|byte| byte.is_ascii_uppercase())) {
        return Some(format!("the header name \"{name}\" is not in lower case"));
    }
    if let Some(name) = names.iter().find(|name| OF_ONE_CONNECTION.contains(&name.as_str())) {
        return Some(format!("the header \"{name}\" is about one connection, which HTTP/2 forbids"));
    }
    let pseudo: Vec<&String> = names.iter().filter(|name| name.starts_with(':')).collect();
    match (pseudo.as_slice(), is_of_trailers) {
        ([], true) => None,
        ([status], false) if *status == ":status" && names[0] == ":status" => None,
        (_, true) => Some("trailers with a pseudo-header".to_owned()),
        (_, false) => Some("the head does not begin with \":status\" as its only pseudo-header".to_owned()),
    }
}

pub(super) fn authority(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let name = match &bench.target {
        Endpoint::Tcp(address) => format!("localhost:{}", address.port()),
        Endpoint::Unix(_) => "localhost".to_owned(),
    };
    of_first(bench, CheckId::H2Authority, |bench, request, rng| {
        let asked = bench.any(request, rng);
        let mut talk = FrameTalk::open(bench)?;
        send(&mut talk, FIRST, &asked, &name, true);
        let answer = right_answer(&mut talk, FIRST, &asked);
        answer.map(|_| None).map_err(|failure| failure.within(&format!("with \":authority: {name}\"")))
    })
}

pub(super) fn streams(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    of_first(bench, CheckId::H2Streams, |bench, request, rng| {
        let (waiting, asked) = (bench.any(with_body(bench, request), rng), bench.any(request, rng));
        let (mut talk, host) = (FrameTalk::open(bench)?, bench.host.clone());
        send(&mut talk, FIRST, &waiting, &host, false);
        send(&mut talk, SECOND, &asked, &host, true);
        right_answer(&mut talk, SECOND, &asked)
            .map_err(|failure| failure.within("a second request, while the first waits for its body"))?;
        talk.send_body(FIRST, waiting.filled.body.as_deref().unwrap_or_default().as_bytes(), true);
        let answer = right_answer(&mut talk, FIRST, &waiting);
        answer.map(|_| None).map_err(|failure| failure.within("the first request, once its body came"))
    })
}

pub(super) fn trailers(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    of_first(bench, CheckId::H2Trailers, |bench, request, rng| {
        let asked = bench.any(with_body(bench, request), rng);
        let (mut talk, host) = (FrameTalk::open(bench)?, bench.host.clone());
        send(&mut talk, FIRST, &asked, &host, false);
        if let Some(body) = &asked.filled.body {
            talk.send_body(FIRST, body.as_bytes(), false);
        }
        talk.send_head(FIRST, &[("x-tare", "1")], true);
        let answer = right_answer(&mut talk, FIRST, &asked);
        answer.map(|_| None).map_err(|failure| failure.within("a request with a trailer"))
    })
}

/// An HTTP/2 port may close an HTTP/1.1 connection, reply with HTTP/2 frames, or reject by status.
pub(super) fn h2c_only(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    of_first(bench, CheckId::H2cOnly, |bench, request, rng| {
        let asked = bench.any(request, rng);
        let deadline = Deadline::after(bench.patience.timeouts.connect);
        let opened = ClientConnection::open(&bench.target, deadline);
        let mut talk = Talk::of(opened.map_err(|error| bench.cannot_connect(&error))?, &bench.patience);
        talk.send(&asked.filled.bytes(&bench.host));
        match talk.answer(asked.is_head()) {
            Ok(answer) if answer.status < 400 => {
                let reason =
                    format!("HTTP/1.1 was answered with {} on a port that is asked in h2c", answer.status);
                Err(Failure::of_answer(reason, &talk, answer))
            }
            Ok(answer) => Ok(Some(format!("refused with {}", answer.status))),
            Err(Trouble::Ended { .. } | Trouble::Malformed(_)) => Ok(None),
            Err(trouble @ (Trouble::TimedOut { .. } | Trouble::TooLong | Trouble::Announced(_))) => {
                Err(Failure::new(format!("HTTP/1.1 was not refused: {trouble}"), &talk))
            }
        }
    })
}

/// Runs `check` with the first request of the load.
fn of_first<'c>(
    bench: &mut Bench<'c>,
    check: CheckId,
    make: impl FnMut(&mut Bench<'c>, &'c Request, &mut ChaCha8Rng) -> Tried,
) -> Vec<CheckResult> {
    let first = bench.first().into_iter().collect();
    bench.each(check, first, make)
}

/// The first request of the load with a body, or else `request`. A service should answer only after the body.
fn with_body<'c>(bench: &Bench<'c>, request: &'c Request) -> &'c Request {
    let load = bench.load();
    load.into_iter().find(|other| other.ask.body.is_some() && bench.is_right(other)).unwrap_or(request)
}

/// Sends the request with body and end of stream, or its head only.
fn send(talk: &mut FrameTalk, stream: u32, asked: &Asked<'_>, authority: &str, whole: bool) {
    let filled = &asked.filled;
    let scheme = talk.scheme();
    let mut fields = vec![
        (":method", filled.method.as_str()),
        (":scheme", scheme),
        (":authority", authority),
        (":path", filled.target.as_str()),
    ];
    let own: Vec<(String, &str)> =
        filled.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.as_str())).collect();
    let is_sent = |name: &&(String, &str)| !OF_ONE_CONNECTION.contains(&name.0.as_str());
    fields.extend(own.iter().filter(is_sent).map(|(name, value)| (name.as_str(), *value)));
    let length = filled.body.as_ref().map(|body| body.len().to_string());
    if let Some(length) = &length {
        fields.push(("content-length", length));
    }
    let ends = whole && filled.body.is_none();
    talk.send_head(stream, &fields, ends);
    if whole && let Some(body) = &filled.body {
        talk.send_body(stream, body.as_bytes(), true);
    }
}

fn right_answer(talk: &mut FrameTalk, stream: u32, asked: &Asked<'_>) -> Result<Response, Failure> {
    let response = talk.answer(stream)?;
    match asked.evaluate(&response) {
        Ok(()) => Ok(response),
        Err(reason) => Err(talk.failure(reason)),
    }
}
