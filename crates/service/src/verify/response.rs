//! The checks that look at single answers: `response`, `head` and `alive`.

use std::time::Instant;

use tare_load::exchange::ExpectedBody;

use super::CheckId;
use super::bench::{Asked, Bench};
use super::judge::header;
use super::talk::After;
use super::transcript::{CheckResult, Failure, Outcome, Tried};

pub(super) fn response(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let requests = bench.sound.clone();
    let results = bench.each(CheckId::Response, requests, |bench, request, rng| {
        let asked = Asked::any(request, rng);
        let tried = one_response(bench, &asked);
        bench.answered.push((&request.name, asked.expected));
        tried
    });
    let right =
        |name: &str| results.iter().any(|result| result.request == name && result.outcome == Outcome::Pass);
    bench.sound.retain(|request| right(&request.name));
    results
}

fn one_response(bench: &mut Bench<'_>, asked: &Asked<'_>) -> Tried {
    let (mut talk, response) = bench.ask_alone(asked)?;
    if asked.request.load && bench.first_date.is_none() {
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
    let mut requests = bench.sound_load();
    requests.retain(|request| request.ask.method == "GET");
    if requests.is_empty() {
        return vec![CheckResult::skipped(CheckId::Head, "", "no request of the load is a GET")];
    }
    bench.each(CheckId::Head, requests, |bench, request, rng| {
        let mut asked = Asked::any(request, rng);
        asked.filled.method = String::from("HEAD");
        one_head(bench, &asked)
    })
}

fn one_head(bench: &mut Bench<'_>, asked: &Asked<'_>) -> Tried {
    let mut talk = bench.open()?;
    // With `close`, whatever comes after the head of the answer is a body, and the end of the connection ends the wait.
    talk.send(&asked.filled.bytes_with("HTTP/1.1", &bench.host, &[("Connection", "close")]));
    let response = talk.answer(true).map_err(|trouble| Failure::new(trouble.to_string(), &talk))?;
    if response.status != asked.expected.status {
        let reason = format!("HEAD got status {}, GET got {}", response.status, asked.expected.status);
        return Err(Failure::new(reason, &talk));
    }
    // Otherwise HEAD's own Content-Length is free: only GET of this very answer would tell the right one.
    if let (Some(length), ExpectedBody::Exact(body)) =
        (header(&response, "content-length"), &asked.expected.body)
        && length != body.len().to_string()
    {
        let reason = format!("HEAD says Content-Length {length}, the body of GET has {} bytes", body.len());
        return Err(Failure::new(reason, &talk));
    }
    match talk.after() {
        After::Bytes(length) => {
            Err(Failure::new(format!("{length} bytes of body came after the answer to HEAD"), &talk))
        }
        // How connections end is the business of `connection-close`.
        After::Closed | After::Reset | After::StillOpen => Ok(None),
    }
}

pub(super) fn alive(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let first = bench.sound_load().into_iter().take(1).collect();
    bench.each(CheckId::Alive, first, |bench, request, rng| {
        let asked = Asked::any(request, rng);
        bench.ask_alone(&asked).map(|_| None).map_err(|failure| failure.within("after all other checks"))
    })
}
