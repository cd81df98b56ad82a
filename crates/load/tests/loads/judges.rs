//! Bodies with judges of their own: each judge sees each answer with its times, over HTTP/1.1 and HTTP/2.
//! Bodies that must not be remembered are not.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::kit::http2::serve_http2;
use crate::kit::load::*;
use crate::kit::peer::serve;
use crate::kit::tls::speaking;
use crate::kit::wire::answer_with;
use tare_base::{Clock, Monotonic};
use tare_load::{
    BodyJudge, DriverChoice, DriverKind, ExchangePool, ExpectedBody, Failure, Flight, Generator,
    GeneratorSettings, Judged, Protocol, RequestQuota,
};

const CONNECTIONS: usize = 6;
const REQUESTS: u64 = 600;
/// The body that a judge refuses.
const WRONG: &str = "wrong";

/// Records what the judge is shown.
#[derive(Debug, Default)]
struct Notes {
    is_remembered: bool,
    seen: Mutex<Vec<(String, Flight)>>,
}

impl Notes {
    fn taken(&self) -> Vec<(String, Flight)> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

/// The judge of an exchange, which shares its notes.
#[derive(Debug)]
struct Noting(Arc<Notes>);

impl BodyJudge for Noting {
    fn is_right(&self, body: &[u8], flight: Flight) -> bool {
        let body = String::from_utf8(body.to_vec()).unwrap();
        let is_right = body != WRONG;
        self.0.seen.lock().unwrap().push((body, flight));
        is_right
    }

    fn may_be_remembered(&self) -> bool {
        self.0.is_remembered
    }

    fn differences(&self, _: &[u8]) -> Vec<String> {
        Vec::new()
    }

    fn describe(&self) -> String {
        "a body that is noted".to_owned()
    }

    fn body_bytes_max(&self) -> u64 {
        1 << 20
    }
}

/// For each number that the server answered: when the request had arrived, and when its answer was sent.
type Instants = Arc<Mutex<HashMap<String, (u64, u64)>>>;

/// Serves increasing numbers.
fn counting(protocol: Protocol, instants: Instants) -> SocketAddr {
    let next = Arc::new(AtomicU64::new(0));
    let body = move || {
        let came_ns = Monotonic.now_ns();
        let number = next.fetch_add(1, Ordering::SeqCst).to_string();
        // Let the worker wait for other answers meanwhile.
        std::thread::yield_now();
        instants.lock().unwrap().insert(number.clone(), (came_ns, Monotonic.now_ns()));
        number
    };
    answering(protocol, body)
}

fn answering(protocol: Protocol, body: impl Fn() -> String + Send + Sync + 'static) -> SocketAddr {
    match protocol.is_http2() {
        true => serve_http2(protocol, &[], move |mut peer| {
            while let Some(asked) = peer.request() {
                peer.send(answer_with(asked.stream, body().as_bytes()));
            }
        }),
        false => serve(move |mut peer| {
            while peer.request() {
                let body = body();
                peer.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
            }
        }),
    }
}

fn generator_by(driver: DriverKind, protocol: Protocol, target: SocketAddr, notes: &Arc<Notes>) -> Generator {
    let streams = if protocol.is_http2() { 3 } else { 1 };
    let settings = match protocol.is_http2() {
        true => speaking(protocol, target, CONNECTIONS, 2, streams),
        false => settings(target, CONNECTIONS, 2),
    };
    let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings };
    let judge = Judged(Arc::new(Noting(Arc::clone(notes))));
    let exchanges = vec![exchange(ExpectedBody::Judged(judge))];
    Generator::new(settings, Arc::new(ExchangePool::new(exchanges))).unwrap()
}

fn ways() -> Vec<(DriverKind, Protocol)> {
    let protocols = [Protocol::Http1, Protocol::H2c];
    drivers().into_iter().flat_map(|driver| protocols.map(|protocol| (driver, protocol))).collect()
}

#[test]
fn a_judge_sees_each_answer_with_the_instants_between_which_it_was_under_way() {
    for (driver, protocol) in ways() {
        let what = format!("{protocol}, {}", driver.name());
        let (notes, instants) = (Arc::new(Notes::default()), Instants::default());
        let target = counting(protocol, Arc::clone(&instants));
        let mut generator = generator_by(driver, protocol, target, &notes);
        let began_ns = Monotonic.now_ns();
        let report = run(&mut generator, &counted(RequestQuota::Requests(REQUESTS)));
        let ended_ns = Monotonic.now_ns();
        let seen = notes.taken();
        assert_eq!((report.total.tally.answered, seen.len() as u64), (REQUESTS, REQUESTS), "{what}");
        let mut numbers: Vec<u64> = seen.iter().map(|(body, _)| body.parse().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..REQUESTS).collect::<Vec<_>>(), "{what}: each once");
        let instants = instants.lock().unwrap();
        for (body, Flight { sent_ns, answered_ns }) in &seen {
            let (came_ns, went_ns) = instants[body];
            assert!(began_ns <= *sent_ns && *sent_ns <= came_ns, "{what}: {body} came before it was sent");
            assert!(
                went_ns <= *answered_ns && *answered_ns <= ended_ns,
                "{what}: {body} was answered before its answer went"
            );
        }
    }
}

#[test]
fn a_judge_that_must_see_all_is_shown_equal_answers_too() {
    for (driver, protocol) in ways() {
        for is_remembered in [false, true] {
            let notes = Arc::new(Notes { is_remembered, ..Notes::default() });
            let target = answering(protocol, || "the same".to_owned());
            let mut generator = generator_by(driver, protocol, target, &notes);
            let report = run(&mut generator, &counted(RequestQuota::Requests(REQUESTS)));
            assert_eq!(report.total.tally.answered, REQUESTS);
            let seen = notes.taken().len() as u64;
            let what = format!("{protocol}, {}: {seen} of {REQUESTS} were shown", driver.name());
            match is_remembered {
                false => assert_eq!(seen, REQUESTS, "{what}"),
                // Once for each of the two workers.
                true => assert!((1..=2).contains(&seen), "{what}"),
            }
        }
    }
}

#[test]
fn what_a_judge_refuses_is_a_mismatch_and_is_shown_again() {
    for (driver, protocol) in ways() {
        for is_remembered in [false, true] {
            let notes = Arc::new(Notes { is_remembered, ..Notes::default() });
            let next = AtomicU64::new(0);
            let body = move || match next.fetch_add(1, Ordering::SeqCst) % 10 {
                9 => WRONG.to_owned(),
                _ => "the same".to_owned(),
            };
            let target = answering(protocol, body);
            let mut generator = generator_by(driver, protocol, target, &notes);
            let report = run(&mut generator, &counted(RequestQuota::Requests(REQUESTS)));
            let what = format!("{protocol}, {}", driver.name());
            let tally = &report.total.tally;
            assert_eq!(tally.failed.get(Failure::Mismatch), REQUESTS / 10, "{what}: {tally:?}");
            assert_eq!(tally.answered, REQUESTS - REQUESTS / 10, "{what}");
            let wrong = notes.taken().iter().filter(|(body, _)| body == WRONG).count() as u64;
            assert_eq!(wrong, REQUESTS / 10, "{what}");
            let sample = report.first_failure.unwrap();
            assert!(sample.expected.contains("a body that is noted"), "{what}: {sample:?}");
        }
    }
}
