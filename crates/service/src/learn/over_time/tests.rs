//! Answers of simulated services, learned in virtual time.

use std::convert::Infallible;

use jiff::Timestamp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_load::http1::parse_response;

use super::*;
use crate::{
    learn::{LearnRequest, LearnedAnswer, NAME, Required, contract_of},
    probe,
};

/// A value in the answer of a service.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    /// Time since 1970, in units of this many nanoseconds.
    Epoch(i128),
    /// The time in this strftime format.
    Written(&'static str),
    /// Number of answers of this process.
    Answers,
    /// Number of answers of all processes, as in a database.
    Stored,
    /// Time since the start, in units of this many milliseconds.
    Uptime(u64),
    /// A value that is constant for a minute, as in a cache.
    Cached,
    Fixed(&'static str),
}

/// How the body contains the value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Body {
    Alone,
    Text,
    Page,
    Json,
    Nested,
}

const BODIES: [Body; 5] = [Body::Alone, Body::Text, Body::Page, Body::Json, Body::Nested];

impl Body {
    fn of(self, value: &str) -> String {
        let json = if value.parse::<f64>().is_ok() { value.to_owned() } else { format!("\"{value}\"") };
        match self {
            Body::Alone => value.to_owned(),
            Body::Text => format!("now {value}"),
            Body::Page => format!("<html>\n<h1>It is</h1>\n<p>{value}</p>\n<i>of 3 things</i>\n</html>\n"),
            Body::Json => format!("{{\"id\":1,\"at\":{json},\"name\":\"a\"}}"),
            Body::Nested => format!("{{\"items\":[{{\"id\":1,\"what\":{{\"it\":{json}}}}}]}}"),
        }
    }
}

struct Simulated {
    value: Value,
    body: Body,
    now: Timestamp,
    started: Timestamp,
    of_process: u64,
    of_all: u64,
    random: ChaCha8Rng,
}

impl Simulated {
    fn new(value: Value, body: Body, seed: u64) -> Simulated {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // A random time within some years.
        let now =
            Timestamp::from_nanosecond(random.random_range(1_700_000_000..1_900_000_000) * 1_000_000_000)
                .unwrap();
        let now = now + Duration::from_nanos(random.random_range(0..1_000_000_000));
        let of_all = random.random_range(0..2_000);
        Simulated { value, body, now, started: now, of_process: 0, of_all, random }
    }

    fn pass(&mut self, ms: std::ops::Range<u64>) {
        let lasts = Duration::from_micros(self.random.random_range(ms.start * 1_000..ms.end * 1_000));
        self.now += lasts;
    }

    fn written(&self) -> String {
        match self.value {
            Value::Epoch(unit) => (self.now.as_nanosecond() / unit).to_string(),
            Value::Written(format) => self.now.strftime(format).to_string(),
            Value::Answers => self.of_process.to_string(),
            Value::Stored => self.of_all.to_string(),
            Value::Uptime(unit) => {
                (self.now.duration_since(self.started).as_millis() / i128::from(unit)).to_string()
            }
            Value::Cached => format!(
                "{:032x}",
                (self.now.as_nanosecond() as u128 / 60_000_000_000)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            ),
            Value::Fixed(text) => text.to_owned(),
        }
    }

    fn answer(&mut self) -> Response {
        self.pass(0..3);
        self.of_process += 1;
        self.of_all += 1;
        let body = self.body.of(&self.written());
        let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        parse_response(bytes.as_bytes(), false, true).unwrap().unwrap().0
    }

    fn learned(&mut self, times: usize) -> Vec<Vec<Response>> {
        let Ok(answers) = ask_over_time(self, 1, times);
        answers
    }
}

impl Respondent for Simulated {
    type Error = Infallible;

    fn ask(&mut self, _: usize) -> Result<Option<Response>, Infallible> {
        Ok(Some(self.answer()))
    }

    fn restart(&mut self) -> Result<(), Infallible> {
        self.pass(5..2_000);
        (self.started, self.of_process) = (self.now, 0);
        Ok(())
    }

    fn rest(&mut self, lasts: Duration) {
        self.now += lasts;
    }
}

const SECOND: i128 = 1_000_000_000;

/// Learns a contract and checks later answers: after a wait, after restarts, after a day.
fn failures(value: Value, body: Body, seed: u64) -> Option<String> {
    let mut service = Simulated::new(value, body, seed);
    let answers = service.learned(2);
    let asked = [LearnRequest::new("GET", "/", None)];
    let learned = match contract_of(&asked, &answers, service.now, false) {
        Ok(learned) => learned,
        Err(error) => return Some(format!("{value:?} in {body:?} of seed {seed}: {error}")),
    };
    assert_eq!(learned.contract.name, NAME);
    let exchange = learned.contract.exchange(&learned.contract.requests[0], "a:1", &mut service.random);
    for wait_s in [0, 1, 61, 3_600, 90_000] {
        service.now += Duration::from_secs(wait_s);
        if wait_s % 2 == 0 {
            let Ok(()) = service.restart();
        }
        let later = service.answer();
        if !probe::is_right(&exchange.expected, &later) {
            let (first, later) = (&answers[0][0].body, &later.body);
            let [first, later] = [first, later].map(|body| String::from_utf8_lossy(body).into_owned());
            let required = &learned.required[0].1;
            return Some(format!(
                "{value:?} in {body:?} of seed {seed}, after {wait_s} s: {first:?}, {later:?}: {required}"
            ));
        }
    }
    None
}

#[test]
fn what_changes_with_time_is_never_learned_as_fixed() {
    let values = [
        Value::Epoch(SECOND),
        Value::Epoch(60 * SECOND),
        Value::Epoch(3_600 * SECOND),
        Value::Epoch(86_400 * SECOND),
        Value::Epoch(1_000_000),
        Value::Epoch(1_000),
        Value::Epoch(1),
        Value::Answers,
        Value::Stored,
        Value::Uptime(1_000),
        Value::Cached,
        Value::Written("%Y-%m-%dT%H:%M:%SZ"),
        Value::Written("%Y-%m-%dT%H:%M:%S%.3f+02:00"),
        Value::Written("%Y-%m-%d %H:%M"),
        Value::Written("%Y-%m-%d"),
        Value::Written("%d.%m.%Y"),
        Value::Written("%m/%d/%Y, %I:%M:%S %p"),
        Value::Written("%a, %d %b %Y %H:%M:%S GMT"),
        Value::Written("%a %b %d %Y"),
        Value::Written("%B %d, %Y"),
        Value::Written("%A"),
        Value::Written("%H:%M"),
        Value::Written("%I:%M %p"),
        Value::Written("%Y%m%d"),
        Value::Written("%Y%m%dT%H%M%SZ"),
        Value::Written("%Y%m%d%H%M%S"),
    ];
    let mut found = Vec::new();
    for (place, value) in (0..).zip(values) {
        for (number, body) in (0..).zip(BODIES) {
            found
                .extend((0..10).filter_map(|seed| failures(value, body, seed * 1_000 + place * 10 + number)));
        }
    }
    assert!(found.is_empty(), "{} of them: {:#?}", found.len(), &found[..found.len().min(20)]);
}

#[test]
fn a_thousand_services_with_the_time_in_seconds_in_minutes_and_a_counter() {
    let of = |seed: u64| {
        let value = [
            Value::Epoch(SECOND),
            Value::Epoch(60 * SECOND),
            Value::Written("%H:%M"),
            Value::Answers,
            Value::Stored,
        ];
        failures(value[seed as usize % value.len()], BODIES[(seed / 5) as usize % BODIES.len()], seed)
    };
    let found: Vec<String> = (0..1_000).filter_map(of).collect();
    assert!(found.is_empty(), "{} of them: {:#?}", found.len(), &found[..found.len().min(20)]);
}

#[test]
fn what_is_fixed_is_learned_byte_by_byte() {
    for text in ["hello", "3.5", "42", "1984-02-28", "v1.2.3 of 7"] {
        for body in BODIES {
            let mut service = Simulated::new(Value::Fixed(text), body, 1);
            let answers = service.learned(2);
            let learned =
                contract_of(&[LearnRequest::new("GET", "/", None)], &answers, service.now, false).unwrap();
            let bytes = body.of(text).len();
            assert_eq!(learned.required[0].1, Required::Body { status: 200, bytes }, "{text} {body:?}");
        }
    }
}

#[test]
fn questions_are_further_apart_than_a_second() {
    for seed in 0..200 {
        for times in [1, 2] {
            let mut service = Simulated::new(Value::Epoch(SECOND), Body::Alone, seed);
            let began = service.now;
            let answers = service.learned(times).remove(0);
            assert_eq!(answers.len(), 2 * times);
            let seconds = |answer: &Response| String::from_utf8_lossy(&answer.body).parse::<u64>().unwrap();
            assert_ne!(seconds(&answers[0]), seconds(&answers[2 * times - 1]));
            let lasted = service.now.duration_since(began).unsigned_abs();
            let most = if times == 1 { 3_200 } else { 3_400 };
            assert!((APART..Duration::from_millis(most)).contains(&lasted), "{lasted:?}");
        }
    }
}

#[test]
fn an_answer_without_a_body_is_known_by_its_status() {
    let answer = parse_response(b"HTTP/1.1 204 No Content\r\n\r\n", false, true).unwrap().unwrap().0;
    let asked = LearnRequest::new("GET", "/", None);
    let common = LearnedAnswer::common(&asked, &[answer.clone(), answer], None).unwrap();
    assert_eq!(common.required(), Required::Body { status: 204, bytes: 0 });
}
