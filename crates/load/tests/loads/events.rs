//! Streams of server-sent events over each protocol: every event is checked and timed, a stream without an end
//! is ended by the window, and each fault has its name.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::kit::http2::serve_http2;
use crate::kit::load::*;
use crate::kit::peer::{Peer, serve};
use crate::kit::tls::{serve_tls, server_config, speaking};
use crate::kit::wire::{DATA, END_HEADERS, END_STREAM, HEADERS, frame};
use tare_load::{
    DriverChoice, DriverKind, EventIds, EventPace, EventRule, Exchange, ExpectedBody, ExpectedEvent,
    ExpectedEvents, Failure, Generator, GeneratorSettings, Load, Protocol, RequestQuota, RunReport, Stop,
};

/// Writes one stream: it is given a function that sends a piece and returns false once the client is gone.
/// When it returns true, the stream ends in good order, else the connection is cut.
type Behaviour = Arc<dyn Fn(&mut dyn FnMut(&[u8]) -> bool) -> bool + Send + Sync>;

fn behaviour(write: impl Fn(&mut dyn FnMut(&[u8]) -> bool) -> bool + Send + Sync + 'static) -> Behaviour {
    Arc::new(write)
}

fn event(number: u64) -> String {
    format!("event: tick\nid: {number}\ndata: {{\"n\":{number}}}\n\n")
}

/// Sends events from 1 to `count`; each may be changed by `change`.
fn ticks(count: u64, change: impl Fn(u64) -> String + Send + Sync + 'static) -> Behaviour {
    behaviour(move |send| (1..=count).all(|number| send(change(number).as_bytes())))
}

/// Serves one stream for each request.
fn streaming(protocol: Protocol, write: Behaviour) -> SocketAddr {
    match protocol {
        Protocol::Http1 => serve(move |peer| chunked(peer, &write)),
        Protocol::Http1Tls => serve_tls(server_config(&[b"http/1.1"]), move |peer| chunked(peer, &write)),
        Protocol::H2 | Protocol::H2c => serve_http2(protocol, &[], move |mut peer| {
            while let Some(asked) = peer.request() {
                // :status 200 is an entry of the static table.
                peer.send(frame(HEADERS, END_HEADERS, asked.stream, &[0x88]));
                let is_whole = write(&mut |piece| peer.send(frame(DATA, 0, asked.stream, piece)));
                if !is_whole || !peer.send(frame(DATA, END_STREAM, asked.stream, &[])) {
                    return;
                }
            }
        }),
    }
}

fn chunked<S: std::io::Read + std::io::Write>(mut peer: Peer<S>, write: &Behaviour) {
    while peer.request() {
        peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        let is_whole = write(&mut |piece| {
            peer.send([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat())
        });
        if !is_whole || !peer.send("0\r\n\r\n") {
            return;
        }
    }
}

fn expecting(events: ExpectedEvents) -> Exchange {
    exchange(ExpectedBody::Events(Arc::new(events)))
}

/// Ticks whose data is not compared.
fn any_ticks(ids: EventIds) -> ExpectedEvents {
    let tick = ExpectedEvent { name: Some(b"tick".to_vec()), data: ExpectedBody::Any };
    ExpectedEvents { rule: EventRule::Every(tick), ids, pace: None }
}

/// Exactly the events from 1 to `count`.
fn whole(count: u64) -> ExpectedEvents {
    let exact = |number| ExpectedEvent {
        name: Some(b"tick".to_vec()),
        data: ExpectedBody::Exact(format!("{{\"n\":{number}}}").into_bytes()),
    };
    ExpectedEvents {
        rule: EventRule::Whole((1..=count).map(exact).collect()),
        ids: EventIds::Consecutive,
        pace: None,
    }
}

fn followed(
    protocol: Protocol,
    driver: DriverKind,
    target: SocketAddr,
    streams: usize,
    events: ExpectedEvents,
) -> Generator {
    let settings = speaking(protocol, target, 4, 2, streams);
    let mut generator =
        generator_of(GeneratorSettings { driver: DriverChoice::Only(driver), ..settings }, expecting(events));
    generator.open(4, TIMEOUT).unwrap();
    generator
}

#[test]
fn every_event_of_a_stream_is_counted_and_timed_in_each_protocol() {
    for protocol in Protocol::ALL {
        for driver in drivers() {
            let target = streaming(protocol, ticks(5, event));
            let streams = if protocol.is_http2() { 3 } else { 1 };
            let mut generator = followed(protocol, driver, target, streams, whole(5));
            let report = run(&mut generator, &counted(RequestQuota::Requests(40)));
            let tally = &report.total.tally;
            let events = report.total.events.as_ref().unwrap();
            assert_eq!(
                (tally.answered, tally.failed.total(), tally.streaming),
                (40, 0, 0),
                "{protocol} {:?}",
                report.first_failure
            );
            assert_eq!((events.events, events.streams), (200, 40), "{protocol}");
            assert_eq!(
                (events.first.count(), events.gap.count(), events.delay.count()),
                (40, 160, 0),
                "{protocol}"
            );
        }
    }
}

#[test]
fn a_stream_without_an_end_is_ended_by_the_window() {
    for protocol in Protocol::ALL {
        let target = streaming(
            protocol,
            behaviour(|send| {
                for number in 1.. {
                    if !send(event(number).as_bytes()) {
                        return false;
                    }
                    std::thread::sleep(ms(2));
                }
                true
            }),
        );
        for driver in drivers() {
            let mut generator = followed(protocol, driver, target, 1, any_ticks(EventIds::Consecutive));
            // A run that waited for the drain would take 10 s longer.
            let load = Load::new(tare_load::Schedule::SATURATE, Stop::after(ms(300), seconds(10)), TIMEOUT);
            let started = std::time::Instant::now();
            let report = run(&mut generator, &load);
            assert!(started.elapsed() < seconds(5), "{protocol}");
            let tally = &report.total.tally;
            assert_eq!(
                (tally.streaming, tally.failed.total(), tally.in_flight),
                (4, 0, 0),
                "{protocol} {:?}",
                report.first_failure
            );
            let events = report.total.events.as_ref().unwrap();
            assert!(events.events >= 8 && events.streams == 4, "{protocol}: {events:?}");
            assert_eq!(events.gap.count(), events.events - 4, "{protocol}");
            // The generator can be used again.
            assert_eq!(run(&mut generator, &load).total.tally.streaming, 4, "{protocol}");
        }
    }
}

/// Follows streams of a server until the first failure is known.
fn meet_stream(protocol: Protocol, write: Behaviour, events: ExpectedEvents, timeout: Duration) -> RunReport {
    let target = streaming(protocol, write);
    let mut generator = followed(protocol, drivers()[0], target, 1, events);
    let load = Load::new(
        tare_load::Schedule::SATURATE,
        Stop::count(RequestQuota::Requests(4), seconds(10), seconds(1)),
        timeout,
    );
    run(&mut generator, &load)
}

#[test]
fn each_fault_of_a_stream_is_found_and_named() {
    let change = |at: u64, other: &'static str| {
        ticks(1_600, move |number| if number == at { other.to_owned() } else { event(number) })
    };
    let exact = || whole(1_600);
    let counting = || any_ticks(EventIds::Consecutive);
    let skipping = |from: u64, by: i64| {
        ticks(1_600, move |number| {
            event(if number < from { number } else { number.saturating_add_signed(by) })
        })
    };
    let cases: Vec<(&str, Behaviour, ExpectedEvents)> = vec![
        (
            "the data of event 1500 is wrong",
            change(1_500, "event: tick\nid: 1500\ndata: {\"n\":0}\n\n"),
            exact(),
        ),
        (
            "event 1500 has the wrong name",
            change(1_500, "event: tock\nid: 1500\ndata: {\"n\":1500}\n\n"),
            exact(),
        ),
        (
            "event 1500 has no id that is a number",
            change(1_500, "event: tick\ndata: {\"n\":1500}\n\n"),
            counting(),
        ),
        ("an event is missing before event 1500", skipping(1_500, 1), counting()),
        ("3 events are missing before event 1500", skipping(1_500, 3), counting()),
        ("event 1500 repeats the event before it", skipping(1_500, -1), counting()),
        ("the id of event 1500 is lower than the one before it", skipping(1_500, -5), counting()),
        (
            "an event is missing before event 1500",
            skipping(1_500, 1),
            ExpectedEvents { ids: EventIds::Any, ..exact() },
        ),
        (
            "event 1500 repeats the event before it",
            skipping(1_500, -1),
            ExpectedEvents { ids: EventIds::Any, ..exact() },
        ),
        ("the stream should end before event 1601", ticks(1_601, event), exact()),
        ("the stream ended before event 1600", ticks(1_599, event), exact()),
        (
            "the stream ended within event 1601",
            change(1_600, "event: tick\nid: 1600\ndata: {\"n\":1600}\n\ndata: x\n"),
            exact(),
        ),
    ];
    for protocol in [Protocol::Http1, Protocol::H2] {
        for (reason, write, events) in &cases {
            let report = meet_stream(protocol, Arc::clone(write), events.clone(), TIMEOUT);
            only(&report, Failure::Mismatch);
            let sample = report.first_failure.unwrap();
            assert_eq!(sample.reason.as_deref(), Some(*reason), "{protocol}");
        }
    }
}

#[test]
fn a_stream_that_falls_silent_or_breaks_off_is_no_right_one() {
    let stalled = behaviour(|send| {
        (1..=3).for_each(|number| assert!(send(event(number).as_bytes())));
        // Comments keep a connection, and bring no event.
        (0..200).all(|_| {
            std::thread::sleep(ms(10));
            send(b": still here\n\n")
        })
    });
    let broken = behaviour(|send| {
        (1..=3).for_each(|number| assert!(send(event(number).as_bytes())));
        false
    });
    for protocol in [Protocol::Http1, Protocol::H2c] {
        let report = meet_stream(protocol, Arc::clone(&stalled), any_ticks(EventIds::Any), ms(200));
        only(&report, Failure::ResponseTimeout);
        let report = meet_stream(protocol, Arc::clone(&broken), any_ticks(EventIds::Any), TIMEOUT);
        let failed: Vec<Failure> = report.total.tally.failed.iter().map(|(failure, _)| failure).collect();
        assert_eq!(failed, [Failure::ClosedMidResponse], "{protocol}");
    }
    let refused =
        serve(|mut peer| peer.always("HTTP/1.1 503 No\r\nContent-Length: 11\r\n\r\ndata: no\n\n\n"));
    let mut generator = generator_of(settings(refused, 4, 2), expecting(any_ticks(EventIds::Any)));
    generator.open(4, TIMEOUT).unwrap();
    let report = run(&mut generator, &counted(RequestQuota::Requests(4)));
    only(&report, Failure::Status);
}

#[test]
fn a_delay_counts_from_the_instant_an_event_was_due() {
    let late = behaviour(|send| {
        let started = std::time::Instant::now();
        (0..40_u32).all(|number| {
            let due = ms(10) * number + if number == 20 { ms(150) } else { Duration::ZERO };
            std::thread::sleep(due.saturating_sub(started.elapsed()));
            send(event(u64::from(number) + 1).as_bytes())
        })
    });
    let events = ExpectedEvents { pace: Some(EventPace::Every(ms(10))), ..any_ticks(EventIds::Consecutive) };
    let report = meet_stream(Protocol::Http1, late, events, TIMEOUT);
    let events = report.total.events.unwrap();
    assert_eq!((report.total.tally.answered, events.delay.count()), (4, 4 * 39));
    // The events after the late one were due meanwhile: their delays are not omitted.
    let late = 1.0 - 10.0 / 39.0;
    assert!(events.delay.max_ns() >= 145_000_000, "{}", events.delay.max_ns());
    assert!(events.delay.quantile_ns(late) >= 30_000_000, "{}", events.delay.quantile_ns(late));
}
