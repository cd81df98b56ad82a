//! `tare load --events` against the built-in server of streams: honest, and with each fault that it can have.

use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Ended, Running, USUAL, Workspace, free_port, send, within};

/// A running server of streams.
struct Streams {
    workspace: Workspace,
    process: Running,
    url: String,
}

impl Streams {
    fn new(words: &str) -> Streams {
        let workspace = Workspace::new(&[]);
        let port = free_port().to_string();
        let words = ["raw-socket", "--port", &port].into_iter().chain(words.split_whitespace());
        let mut process = workspace.start(&words.collect::<Vec<_>>());
        let address = format!("127.0.0.1:{port}");
        assert!(within(USUAL, || TcpStream::connect(&address).is_ok() || process.has_ended()));
        Streams { workspace, process, url: format!("http://{address}/stream") }
    }

    fn load(&self, words: &str) -> Ended {
        let usual = ["load", &self.url, "--events", "--max-interference", "100%"];
        self.workspace.tare(&usual.into_iter().chain(words.split_whitespace()).collect::<Vec<_>>())
    }

    fn end(self) {
        send(self.process.pid(), Signal::TERM);
        self.process.end().expect(0);
    }
}

fn count(document: &Value, place: &str) -> u64 {
    document.pointer(place).and_then(Value::as_u64).unwrap_or_else(|| panic!("{place}: {document:#}"))
}

#[test]
fn streams_are_followed_and_every_event_is_checked() {
    let streams = Streams::new("--events 10ms");
    let text = &streams.load("-c 20 -d 1s").expect(0).stdout;
    for part in [
        "checked: every event must have the name `message`, ids that count by one, the same data but for 2 values",
        "verdict: valid",
        " events/s, ",
        "by 20 streams",
        "time to the first event",
        "gap between events",
        "20 open streams closed at the end",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let document = streams.load("-c 20 -d 1s --json --event-time sent_ns").expect(0).json();
    assert_eq!((count(&document, "/totals/sent"), count(&document, "/totals/streaming")), (20, 20));
    let events = count(&document, "/events/count");
    assert!(events >= 400, "{events}");
    assert_eq!(count(&document, "/events/gap/count"), events - 20);
    assert_eq!(count(&document, "/events/delay/count"), events);
    assert_eq!(document["latency"], Value::Null, "no stream ended");
    let lines = &streams.load("-c 2 -d 1s --format ndjson").expect(0).stdout;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert!(count(&first, "/events") > 50, "{first}");
    streams.end();
}

#[test]
fn each_planted_fault_is_named() {
    for (fault, name, reason) in [
        ("wrong/700", "mismatch", "the data of event 700 is wrong"),
        ("lost/700", "mismatch", "an event is missing before event 700"),
        ("repeated/700", "mismatch", "event 700 repeats the event before it"),
        ("silent/700", "response-timeout", "status 200 and "),
        ("cut/700", "closed-mid-response", "status 200 and "),
    ] {
        let streams = Streams::new(&format!("--events 2ms --event-fault {fault}"));
        let document = streams.load("-c 4 -d 2s --timeout 500ms --json").expect(4).json();
        assert_eq!(document["verdict"], "failing", "{fault}");
        assert_eq!(document["first_failure"]["failure"], name, "{fault}: {}", document["first_failure"]);
        let said = document["first_failure"]["reason"].as_str().unwrap();
        assert!(said.starts_with(reason), "{fault}: {said}");
        streams.end();
    }
}

#[test]
fn what_is_no_stream_is_refused_before_the_load() {
    let streams = Streams::new("");
    let refused = &streams.load("-d 1s").expect(1).stderr;
    let why = "mismatch: the stream ended within event 1; received \"Hello world!\"";
    assert!(refused.contains("GET /stream is not a stream of events") && refused.contains(why), "{refused}");
    streams.end();
    let streams = Streams::new("--events 10s");
    let one = &streams.load("-d 1s -c 2 --timeout 30s").expect(0).stdout;
    assert!(one.contains("2 open streams closed at the end"), "{one}");
    let wrong = &streams.load("-d 1s --event-time when").expect(1).stderr;
    assert!(wrong.contains("event 1 has no time of the server"), "{wrong}");
    for (words, part) in [
        ("--contract hello", "--contract"),
        ("--pipeline 2", "--pipeline"),
        ("--event-every 0s", "a duration of 0 is too short"),
        ("--event-every 1s --event-time t", "--event-time"),
    ] {
        let error = &streams.load(words).expect(1).stderr;
        assert!(error.contains(part), "{words}: {error}");
    }
    streams.end();
}

#[test]
fn a_stream_that_pauses_between_its_events_does_not_stall() {
    let streams = Streams::new("--events 100ms");
    let ended = streams.load("-c 1 -d 3s").expect(0);
    assert!(!ended.stdout.contains("note:"), "{}", ended.stdout);
    streams.end();
}

/// One event in fifty is 5 ms late, so the 99th percentile is that of the late ones. A busy machine delays others,
/// so one quiet load of three is enough.
#[test]
fn a_delay_of_5_ms_is_read_within_a_tenth() {
    let streams = Streams::new("--events 20ms --event-fault late=5ms/50");
    let read = || {
        let document = streams.load("-c 8 -d 6s --json --event-every 20ms").expect(0).json();
        ["p50", "p99"].map(|name| count(&document, &format!("/events/delay/ns_{name}")) as f64 / 1e6)
    };
    let mut all = Vec::new();
    let is_near = |[p50, p99]: [f64; 2]| p50 < 0.5 && (4.5..=5.5).contains(&p99);
    let found = (0..3).any(|_| {
        all.push(read());
        all.last().is_some_and(|read| is_near(*read))
    });
    assert!(found, "p50 and p99 of the delay, in ms: {all:?}");
    streams.end();
}
