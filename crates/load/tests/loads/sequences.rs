//! Sequences over real sockets: the next request of the same connection uses a value of an earlier answer,
//! and a failed step ends its sequence.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::kit::load::{TIMEOUT, counted, drivers, exchange, load, run, settings};
use crate::kit::peer::{Peer, serve};
use tare_load::http1::Response;
use tare_load::{
    Captured, DriverChoice, Exchange, ExchangePool, Expected, ExpectedBody, Failure, Generator,
    GeneratorSettings, LoadError, MissingValue, RequestQuota, RunReport, SequenceStep, StepRule,
};

/// Captures the body as the token; a body that begins with `!` has none.
#[derive(Debug)]
struct Login;

/// Sends the token, in a request with a body of this many bytes.
#[derive(Debug)]
struct Use {
    bytes: usize,
}

impl StepRule for Login {
    fn fill(&self, _: &Captured) -> Option<Exchange> {
        None
    }

    fn captures(&self) -> bool {
        true
    }

    fn capture(&self, response: &Response, captured: &mut Captured) -> Result<(), MissingValue> {
        let token = String::from_utf8(response.body.clone()).unwrap();
        if token.starts_with('!') {
            return Err(MissingValue::Of {
                name: "token".to_owned(),
                reason: "it begins with \"!\"".to_owned(),
            });
        }
        captured.insert("token".to_owned(), token);
        Ok(())
    }
}

impl StepRule for Use {
    fn fill(&self, captured: &Captured) -> Option<Exchange> {
        let token = &captured["token"];
        let body = "x".repeat(self.bytes);
        let request = format!("POST /use/{token} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", self.bytes);
        let expected = Expected { status: 200, body: ExpectedBody::Exact(format!("hello {token}").into()) };
        Some(Exchange {
            request: request.into(),
            expected,
            name: "use".to_owned(),
            ..exchange(ExpectedBody::Any)
        })
    }

    fn captures(&self) -> bool {
        false
    }

    fn capture(&self, _: &Response, _: &mut Captured) -> Result<(), MissingValue> {
        unreachable!("it captures nothing")
    }
}

fn step(name: &str, is_first: bool, rule: impl StepRule + 'static) -> Exchange {
    let step = Some(SequenceStep { is_first, rule: Arc::new(rule) });
    let request = format!("GET /{name} HTTP/1.1\r\n\r\n").into_bytes();
    Exchange { request, name: name.to_owned(), step, ..exchange(ExpectedBody::Any) }
}

/// A login, two uses of its token, and one independent request.
fn pool(bytes: usize) -> Arc<ExchangePool> {
    let alone = Exchange {
        request: b"GET /alone HTTP/1.1\r\n\r\n".to_vec(),
        name: "alone".to_owned(),
        ..exchange(ExpectedBody::Any)
    };
    Arc::new(ExchangePool::new(vec![
        step("login", true, Login),
        step("use", false, Use { bytes }),
        step("use", false, Use { bytes }),
        alone,
    ]))
}

fn generators(serve: impl Fn() -> std::net::SocketAddr, bytes: usize) -> impl Iterator<Item = Generator> {
    drivers().into_iter().map(move |driver| {
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(serve(), 3, 1) };
        Generator::new(settings, pool(bytes)).unwrap()
    })
}

/// The target of the next request, after reading its body of `bytes` bytes, if any.
fn target(peer: &mut Peer, bytes: usize) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        (peer.stream.read(&mut byte).ok()? == 1).then_some(())?;
        head.push(byte[0]);
    }
    let text = String::from_utf8(head).unwrap();
    if text.starts_with("POST") {
        peer.stream.read_exact(&mut vec![0; bytes]).ok()?;
    }
    text.split(' ').nth(1).map(str::to_owned)
}

fn answer(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Every login of a connection gets a new token, and only the last one is valid. `token` may corrupt it.
fn sessions(mut peer: Peer, bytes: usize, token: impl Fn(usize, String) -> String) {
    let (mut known, mut logins) = (String::new(), 0);
    while let Some(target) = target(&mut peer, bytes) {
        let body = match target.as_str() {
            "/login" => {
                logins += 1;
                known = token(logins, format!("{}-{logins}", peer.index));
                known.clone()
            }
            "/alone" => "alone".to_owned(),
            used if used == format!("/use/{known}") => format!("hello {known}"),
            _ => "who are you".to_owned(),
        };
        if !peer.send(answer(&body)) {
            return;
        }
    }
}

#[test]
fn each_connection_sends_what_it_was_given() {
    // The larger body is more than a socket accepts at once.
    for bytes in [10, 3_000_000] {
        let serve = move || serve(move |peer| sessions(peer, bytes, |_, token| token));
        for mut generator in generators(serve, bytes) {
            let report =
                run(&mut generator, &counted(RequestQuota::Requests(if bytes == 10 { 4_000 } else { 40 })));
            let tally = &report.total.tally;
            assert_eq!(tally.failed.total(), 0, "{bytes} bytes: {:?}", report.first_failure);
            assert_eq!(tally.connection_failed.total(), 0);
        }
    }
}

fn sample(report: &RunReport) -> (Failure, &str, &str) {
    let sample = report.first_failure.as_ref().expect("something failed");
    (sample.failure, &sample.exchange, &sample.expected)
}

#[test]
fn a_value_that_is_missing_ends_its_sequence_and_no_other() {
    let serve = || {
        serve(|peer| {
            sessions(peer, 1, |login, token| if login % 10 == 0 { format!("!{token}") } else { token })
        })
    };
    for mut generator in generators(serve, 1) {
        // 30 connections, with as many requests each.
        let report = run(&mut generator, &counted(RequestQuota::RequestsEach(380)));
        let tally = &report.total.tally;
        // Nine logins are followed by 3 requests; the failing tenth by the independent one: 38 for each
        // failure.
        assert_eq!(tally.failed.get(Failure::MissingValue), 3 * 10, "{tally:?}");
        assert_eq!((tally.failed.total(), tally.answered), (30, 3 * 370));
        assert_eq!(
            sample(&report),
            (Failure::MissingValue, "login", "a value for {{captured.token}}: it begins with \"!\"")
        );
    }
}

#[test]
fn the_token_of_another_session_is_found() {
    // All connections get the most recent token of any connection.
    static LATEST: std::sync::Mutex<String> = std::sync::Mutex::new(String::new());
    let serve = || {
        serve(|mut peer| {
            let mut logins = 0;
            while let Some(target) = target(&mut peer, 1) {
                let mut latest = LATEST.lock().unwrap();
                let body = match target.as_str() {
                    "/login" => {
                        logins += 1;
                        *latest = format!("{}-{logins}", peer.index);
                        latest.clone()
                    }
                    "/alone" => "alone".to_owned(),
                    _ => format!("hello {latest}"),
                };
                drop(latest);
                if !peer.send(answer(&body)) {
                    return;
                }
            }
        })
    };
    for mut generator in generators(serve, 1) {
        let report = run(&mut generator, &counted(RequestQuota::Requests(4_000)));
        assert!(report.total.tally.failed.get(Failure::Mismatch) > 0, "{:?}", report.total.tally);
        let (_, name, expected) = sample(&report);
        assert!(name == "use" && expected.starts_with("status 200 with"), "{expected}");
    }
}

#[test]
fn a_connection_that_closes_between_two_steps_is_a_failure_of_its_own() {
    // The server closes after each answer, with or without a header.
    for head in ["", "Connection: close\r\n"] {
        let serve = move || {
            serve(move |mut peer| {
                if target(&mut peer, 1).is_some() {
                    peer.send(format!("HTTP/1.1 200 OK\r\n{head}Content-Length: 1\r\n\r\nt"));
                }
            })
        };
        for mut generator in generators(serve, 1) {
            let report = run(&mut generator, &counted(RequestQuota::Requests(20)));
            let cut = report.total.tally.connection_failed.get(Failure::CutSequence);
            assert!(cut > 0 || report.total.tally.failed.total() > 0, "{:?}", report.total.tally);
            assert!(!head.is_empty() || report.first_failure.is_some());
            if !head.is_empty() {
                assert!(cut > 0, "{:?}", report.total.tally);
                let expected = "an open connection for the next step of a sequence";
                assert_eq!(sample(&report), (Failure::CutSequence, "use", expected));
            }
        }
    }
}

#[test]
fn a_sequence_begins_anew_on_a_new_connection() {
    static CLOSED: AtomicBool = AtomicBool::new(false);
    let serve = || {
        CLOSED.store(false, Ordering::SeqCst);
        serve(|mut peer| {
            // The first connection ends at its second request, and no later one knows its token.
            let first = !CLOSED.swap(true, Ordering::SeqCst);
            if first {
                let _login = target(&mut peer, 1);
                peer.send(answer("lost"));
                let _use = target(&mut peer, 1);
                return;
            }
            sessions(peer, 1, |_, token| token);
        })
    };
    for mut generator in generators(serve, 1) {
        generator.open(1, TIMEOUT).unwrap();
        let report = run(&mut generator, &counted(RequestQuota::Requests(300)));
        let tally = &report.total.tally;
        assert!(tally.failed.total() <= 1 && tally.failed.get(Failure::Mismatch) == 0, "{tally:?}");
        assert!(tally.answered >= 299, "{tally:?}");
    }
}

#[test]
fn what_would_tear_a_sequence_apart_is_refused() {
    let target = serve(|peer| sessions(peer, 1, |_, token| token));
    let mut generator = Generator::new(settings(target, 1, 1), pool(1)).unwrap();
    let mut refused = |load| generator.run(&load, &Arc::default()).unwrap_err();
    let deep = tare_load::Load { pipeline: 4, ..load(100, 100) };
    assert_eq!(refused(deep), LoadError::PipelinedSequence(4));
    let short = tare_load::Load { requests_per_connection: Some(2), ..load(100, 100) };
    assert_eq!(refused(short), LoadError::ClosedSequence(2));
}
