//! Checks of single answers: `response`, `head` and `alive`.

use std::time::Instant;

use tare_load::exchange::ExpectedBody;

use super::CheckId;
use super::bench::{Asked, Bench, Standard};
use super::evaluate::header;
use super::talk::After;
use super::transcript::{CheckResult, Failure, Tried};
use super::walk;

pub(super) fn response(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut answered = Vec::new();
    let requests = bench.requests();
    let results = bench.each(CheckId::Response, requests, |bench, request, rng| {
        let asked = bench.any(request, rng);
        let tried = one_response(bench, &asked);
        let standard = match &tried {
            Ok(_) => Some(Standard::Contract),
            Err(failure) => failure.answer.as_ref().map(|answer| Standard::Status(answer.status)),
        };
        answered.extend(standard.map(|standard| (request, standard)));
        bench.expected.push((&request.name, asked.expected));
        tried
    });
    bench.answered = answered;
    results.into_iter().chain(walk::sequences(bench)).collect()
}

fn one_response(bench: &mut Bench<'_>, asked: &Asked<'_>) -> Tried {
    let (mut talk, response) = bench.ask_alone(asked)?;
    if bench.contract.is_loaded(asked.request) && bench.first_date.is_none() {
        bench.first_date = Some((Instant::now(), header(&response, "date")));
    }
    if !talk.unclaimed().is_empty() {
        let more = talk.unclaimed().len();
        return Err(Failure::new(format!("{more} bytes came after the end of the answer"), &talk));
    }
    if !bench.options.closes_connections {
        return Ok(None);
    }
    if response.keep_alive {
        let reason = "the manifest says that each connection is closed, but the answer does not say \
                      \"Connection: close\"; remove \"keeps-connections = false\" if it is kept";
        return Err(Failure::new(reason, &talk));
    }
    match talk.after() {
        After::Closed => Ok(None),
        After::Reset => {
            Err(Failure::new("reset the connection after its answer instead of closing it", &talk))
        }
        After::StillOpen => {
            Err(Failure::new("says \"Connection: close\" but leaves the connection open", &talk))
        }
        After::Bytes(more) => {
            Err(Failure::new(format!("{more} bytes came after the end of the answer"), &talk))
        }
    }
}

pub(super) fn head(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut requests = bench.load();
    requests.retain(|request| request.ask.method == "GET");
    if requests.is_empty() {
        return vec![CheckResult::skipped(CheckId::Head, "", "no request of the load is a GET")];
    }
    bench.each(CheckId::Head, requests, |bench, request, rng| {
        let mut asked = bench.any(request, rng);
        asked.filled.method = String::from("HEAD");
        one_head(bench, &asked)
    })
}

fn one_head(bench: &mut Bench<'_>, asked: &Asked<'_>) -> Tried {
    let mut talk = bench.open()?;
    // With `close`, all bytes after the head are a body, and the end of the connection ends the wait.
    talk.send(&asked.filled.bytes_with("HTTP/1.1", &bench.host, &[("Connection", "close")]));
    let response = talk.answer(true).map_err(|trouble| Failure::new(trouble.to_string(), &talk))?;
    if let Some(status) = asked.status().filter(|status| *status != response.status) {
        let reason = format!("HEAD got status {}, GET got {status}", response.status);
        return Err(Failure::new(reason, &talk));
    }
    // Otherwise the Content-Length of HEAD is unknown: only GET of the same answer would show it.
    if let (Some(length), ExpectedBody::Exact(body)) =
        (header(&response, "content-length"), &asked.expected.body)
        && bench.is_right(asked.request)
        && length != body.len().to_string()
    {
        let reason = format!("HEAD says Content-Length {length}, the body of GET has {} bytes", body.len());
        return Err(Failure::new(reason, &talk));
    }
    match talk.after() {
        After::Bytes(length) => {
            Err(Failure::new(format!("{length} bytes of body came after the answer to HEAD"), &talk))
        }
        // The check `connection-close` evaluates how connections end.
        After::Closed | After::Reset | After::StillOpen => Ok(None),
    }
}

pub(super) fn alive(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let first = bench.first().into_iter().collect();
    bench.each(CheckId::Alive, first, |bench, request, rng| {
        let asked = bench.any(request, rng);
        bench.ask_alone(&asked).map(|_| None).map_err(|failure| failure.within("after all other checks"))
    })
}
