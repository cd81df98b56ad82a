//! The checks about how a connection is kept and closed: `pipelined`, `keep-alive`, `connection-close` and `http-1-0`.

use std::thread::sleep;
use std::time::{Duration, Instant};

use tare_load::http1::Response;

use super::CheckId;
use super::bench::{Asked, Bench};
use super::evaluate::header;
use super::talk::{After, Progress, Talk, Trouble};
use super::transcript::{CheckResult, Failure, Tried};

/// Requests on one connection: more than the default limits of servers (several have 100 or 1,000).
const KEPT_FOR: usize = 1100;
/// Minimum for a slow service, once the time is up.
const KEPT_AT_LEAST: usize = 200;
const KEPT_WITHIN: Duration = Duration::from_secs(5);
/// After each of the first few answers verify waits a moment, to detect at once a service that does not keep
/// connections.
const LOOKED_AT_CLOSELY: usize = 3;

pub(super) fn pipelined(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let mut rng = bench.rng(CheckId::Pipelined);
    let requests = bench.load();
    let next = requests.iter().cycle().skip(1);
    let pairs: Vec<_> = requests.iter().zip(next).collect();
    let mut results = Vec::new();
    for (first, second) in pairs {
        let name = format!("{} then {}", first.name, second.name);
        let pair = [bench.any(first, &mut rng), bench.any(second, &mut rng)];
        results.push(CheckResult::of(CheckId::Pipelined, name, two(bench, &pair)));
    }
    results
}

fn two(bench: &mut Bench<'_>, [first, second]: &[Asked<'_>; 2]) -> Tried {
    let mut talk = bench.open()?;
    let mut bytes = first.filled.bytes(&bench.host);
    bytes.extend(second.filled.bytes(&bench.host));
    talk.send(&bytes);
    let response = talk.answer(first.is_head()).map_err(|trouble| {
        Failure::new(format!("answered none of 2 pipelined requests: {trouble}"), &talk)
    })?;
    if let Err(reason) = first.evaluate(&response) {
        let reason = match second.evaluate(&response) {
            Ok(()) => String::from("the answer to the second of 2 pipelined requests came first"),
            Err(_) => format!("the first of 2 pipelined requests: {reason}"),
        };
        return Err(Failure::new(reason, &talk));
    }
    if !response.keep_alive {
        return Err(Failure::new(unkept(1, 2), &talk));
    }
    let response = talk
        .answer(second.is_head())
        .map_err(|trouble| Failure::new(format!("answered 1 of 2 pipelined requests: {trouble}"), &talk))?;
    let judged = second.evaluate(&response);
    judged.map_err(|reason| Failure::new(format!("the second of 2 pipelined requests: {reason}"), &talk))?;
    match talk.unclaimed().len() {
        0 => Ok(None),
        more => Err(Failure::new(format!("{more} bytes came after both answers"), &talk)),
    }
}

pub(super) fn keep_alive(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let tried = kept(bench);
    vec![CheckResult::of(CheckId::KeepAlive, "all of the load in turn", tried)]
}

fn kept(bench: &mut Bench<'_>) -> Tried {
    let mut rng = bench.rng(CheckId::KeepAlive);
    let mut talk = bench.open()?;
    let requests = bench.load();
    let began = Instant::now();
    for (count, request) in requests.into_iter().cycle().take(KEPT_FOR).enumerate() {
        if count > 0 {
            still_open(bench, &mut talk, count)?;
        }
        if count >= KEPT_AT_LEAST && began.elapsed() > KEPT_WITHIN {
            return Ok(Some(format!("no more than {count} requests within {KEPT_WITHIN:?}")));
        }
        let asked = bench.any(request, &mut rng);
        talk.begin();
        talk.send(&asked.filled.bytes(&bench.host));
        let response =
            talk.answer(asked.is_head()).map_err(|trouble| Failure::new(broken(&trouble, count), &talk))?;
        let wrong = |reason| Failure::new(format!("request {} of {KEPT_FOR}: {reason}", count + 1), &talk);
        asked.evaluate(&response).map_err(wrong)?;
        if !response.keep_alive {
            return Err(Failure::new(unkept(count + 1, KEPT_FOR), &talk));
        }
    }
    Ok(None)
}

/// Checks whether the connection has ended before the next request is sent. Later a close looks like a reset,
/// because bytes sent to a closed socket cause one.
fn still_open(bench: &Bench<'_>, talk: &mut Talk, answered: usize) -> Result<(), Failure> {
    if answered <= LOOKED_AT_CLOSELY {
        sleep(bench.options.timeouts.pause);
    }
    if !talk.spoke_early() {
        return Ok(());
    }
    let how = match talk.unclaimed().len() {
        0 => talk.after(),
        more => After::Bytes(more),
    };
    let reason = match how {
        After::Closed => format!("closed the connection {}", broken_promise(answered)),
        After::Reset => format!("reset the connection {}", broken_promise(answered)),
        After::Bytes(more) => format!("{more} bytes came after the end of answer {answered} of {KEPT_FOR}"),
        After::StillOpen => return Ok(()),
    };
    Err(Failure::new(reason, talk))
}

/// An HTTP/1.1 answer without a Connection header promises to keep the connection.
fn broken_promise(answered: usize) -> String {
    format!("after {answered} of {KEPT_FOR} requests without saying \"Connection: close\"")
}

fn broken(trouble: &Trouble, answered: usize) -> String {
    match trouble {
        Trouble::Ended { progress: Progress::Nothing, .. } if answered > 0 => {
            format!("ended the connection {}", broken_promise(answered))
        }
        trouble => format!("request {} of {KEPT_FOR} on one connection: {trouble}", answered + 1),
    }
}

fn unkept(answered: usize, of: usize) -> String {
    format!(
        "said that it closes the connection in answer {answered} of {of}; where the framework cannot do otherwise, the \
         manifest says \"keeps-connections = false\""
    )
}

pub(super) fn connection_close(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let requests = bench.load();
    bench.each(CheckId::ConnectionClose, requests, |bench, request, rng| {
        let asked = bench.any(request, rng);
        let mut talk = bench.open()?;
        talk.send(&asked.filled.bytes_with("HTTP/1.1", &bench.host, &[("Connection", "close")]));
        let response = asked.right_answer(&mut talk)?;
        closed(&mut talk, "the request said \"Connection: close\"")?;
        Ok(unannounced(&response))
    })
}

/// RFC 9112, 9.6: a server that closes because it was asked to *should* announce it.
fn unannounced(response: &Response) -> Option<String> {
    response.keep_alive.then(|| String::from("closes, but its answer does not say \"Connection: close\""))
}

pub(super) fn http_1_0(bench: &mut Bench<'_>) -> Vec<CheckResult> {
    let requests = bench.load();
    bench.each(CheckId::Http10, requests, |bench, request, rng| {
        let mut asked = bench.any(request, rng);
        asked.filled.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("connection"));
        let mut talk = bench.open()?;
        talk.send(&asked.filled.bytes_with("HTTP/1.0", &bench.host, &[]));
        let response = asked.right_answer(&mut talk)?;
        if let Some(coding) = header(&response, "transfer-encoding") {
            let reason =
                format!("HTTP/1.0 was answered with \"Transfer-Encoding: {coding}\", which it does not know");
            return Err(Failure::new(reason, &talk));
        }
        closed(&mut talk, "the request was HTTP/1.0 and did not ask to keep the connection")?;
        Ok(None)
    })
}

/// The service must now close the connection; `why` is the reason.
fn closed(talk: &mut Talk, why: &str) -> Result<(), Failure> {
    let reason = match talk.after() {
        After::Closed => return Ok(()),
        After::Reset => format!("reset the connection instead of closing it ({why})"),
        After::StillOpen => format!("left the connection open ({why})"),
        After::Bytes(more) => format!("{more} bytes came after the end of the answer"),
    };
    Err(Failure::new(reason, talk))
}
