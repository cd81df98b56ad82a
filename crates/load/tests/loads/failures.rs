//! Each kind of server fault ends in its own failure class, whatever the driver and the load: no hang, no
//! panic, and totals that add up.

use std::net::TcpListener;

use crate::kit::load::*;
use crate::kit::peer::{Peer, serve};
use crate::kit::process::Server;
use rustix::process::Signal;
use tare_load::text_pattern::TextPattern;
use tare_load::{
    ArrivalProcess, BodyShape, DriverChoice, DriverKind, ExpectedBody, Failure, GeneratorSettings, Load,
    RunReport, Stop,
};

use Failure::*;

/// One server fault, and its effect on the requests.
struct Case {
    name: &'static str,
    behave: fn(Peer),
    body: ExpectedBody,
    /// The failures of requests that are alone on their connection. Empty: all are answered.
    alone: &'static [Failure],
    /// The failures with four requests at a time on a connection, if they differ from `alone`: requests
    /// behind a broken one fail with it, and a close with unread requests is a reset.
    pipelined: Option<&'static [Failure]>,
}

/// A case whose answers are compared with "Hello world!".
fn case(name: &'static str, behave: fn(Peer), alone: &'static [Failure]) -> Case {
    Case { name, behave, body: ExpectedBody::Exact(b"Hello world!".to_vec()), alone, pipelined: None }
}

impl Case {
    fn pipelined(mut self, failures: &'static [Failure]) -> Case {
        self.pipelined = Some(failures);
        self
    }

    fn any_body(self) -> Case {
        self.of(ExpectedBody::Any)
    }

    fn of(mut self, body: ExpectedBody) -> Case {
        self.body = body;
        self
    }
}

fn shape(bytes: std::ops::RangeInclusive<u64>, pattern: Option<&str>) -> ExpectedBody {
    let pattern = pattern.map(|pattern| TextPattern::new(pattern).unwrap());
    ExpectedBody::Shape(BodyShape { bytes, pattern })
}

fn head(headers: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 12\r\n\r\nHello world!")
}

fn long_header(mut peer: Peer) {
    static MEGABYTE: [u8; 1_000_000] = [b'y'; 1_000_000];
    while peer.request() && peer.send("HTTP/1.1 200 OK\r\nX: ") {
        let _gone = (0..10).all(|_| peer.send(MEGABYTE));
        peer.send("\r\nContent-Length: 12\r\n\r\nHello world!");
    }
}

fn endless(mut peer: Peer) {
    if peer.request() && peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") {
        while peer.send("10\r\n0123456789abcdef\r\n".repeat(1000)) {}
    }
}

/// Resets every other connection after three answers, with a request in flight.
fn fragile(mut peer: Peer) {
    let requests = if peer.index % 2 == 0 { 3 } else { usize::MAX };
    for _ in 0..requests {
        if !(peer.request() && peer.send(HELLO)) {
            return;
        }
    }
    peer.reset();
}

fn cases() -> Vec<Case> {
    vec![
        case("behaving", |mut peer| peer.always(HELLO), &[]),
        case("17 headers", |mut peer| peer.always(head(&"X: y\r\n".repeat(17))), &[]),
        case("1,000 headers", |mut peer| peer.always(head(&"X: y\r\n".repeat(1_000))), &[]),
        case("a folded header", |mut peer| peer.always(head("X: y\r\n  z\r\n")), &[]),
        case("HTTP/1.2", |mut peer| peer.always(HELLO.replace("HTTP/1.1", "HTTP/1.2")), &[]),
        case("3,000 headers", |mut peer| peer.always(head(&"X: y\r\n".repeat(3_000))), &[Malformed])
            .pipelined(&[Malformed, ClosedBeforeResponse]),
        case("a 10 MB header", long_header, &[Malformed]).pipelined(&[Malformed, ClosedBeforeResponse]),
        case("garbage", |mut peer| peer.always("SSH-2.0-OpenSSH\r\n"), &[Malformed])
            .pipelined(&[Malformed, ClosedBeforeResponse]),
        case("reset", Peer::reset, &[Reset]),
        case("reset of half", fragile, &[Reset]),
        case("close", |mut peer| peer.once(""), &[ClosedBeforeResponse])
            .pipelined(&[ClosedBeforeResponse, Reset]),
        case("close in the status line", |mut peer| peer.once("HTTP/1.1 200"), &[ClosedMidResponse])
            .pipelined(&[ClosedMidResponse, Reset]),
        case("close after 100", |mut peer| peer.once("HTTP/1.1 100 Continue\r\n\r\n"), &[ClosedMidResponse])
            .pipelined(&[ClosedMidResponse, Reset]),
        case("a short body", |mut peer| peer.once(&head("").as_bytes()[..50]), &[ClosedMidResponse])
            .pipelined(&[ClosedMidResponse, Reset]),
        case("a long body", |mut peer| peer.always(head("") + "!"), &[Malformed])
            .pipelined(&[Malformed, ClosedBeforeResponse]),
        // With several requests in flight, an extra answer counts for the next request, if there is one.
        case("two responses", |mut peer| peer.always(HELLO.repeat(2)), &[Malformed]),
        case("an endless body", endless, &[Mismatch]).pipelined(&[Mismatch, ClosedBeforeResponse]),
        case("an endless body that is not compared", endless, &[]).any_body(),
        case(
            "another status",
            |mut peer| peer.always("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
            &[Status],
        ),
        case("another body", |mut peer| peer.always(HELLO.replace('w', "W")), &[Mismatch]),
        case("a body that matches", |mut peer| peer.always(HELLO), &[]).of(shape(12..=12, Some("Hello .*"))),
        case("a body that does not match", |mut peer| peer.always(HELLO), &[Mismatch])
            .of(shape(0..=u64::MAX, Some("Hello"))),
        case("a body of another length", |mut peer| peer.always(HELLO), &[Mismatch]).of(shape(13..=99, None)),
        case("silence", Peer::stall, &[]),
    ]
}

/// The loads of every case; `true` means several requests in flight.
fn loads() -> [(&'static str, Load, bool); 3] {
    let closed = load(80, 80);
    let open = Load { stop: closed.stop, ..open(2_000.0, ArrivalProcess::Poisson, ms(80)) };
    [
        ("closed", closed.clone(), false),
        ("open", open, false),
        ("4 in flight", Load { pipeline: 4, ..closed }, true),
    ]
}

fn meet_case(case: &Case, driver: DriverKind, load: &Load) -> RunReport {
    let settings =
        GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(serve(case.behave), 4, 2) };
    let mut generator = generator_of(settings, exchange(case.body.clone()));
    generator.open(4, TIMEOUT).unwrap();
    if case.alone.is_empty() { run(&mut generator, load) } else { run_heard(&mut generator, load) }
}

#[test]
fn each_in_its_own_class_whatever_the_driver_and_the_load() {
    for driver in drivers() {
        for (kind, load, several) in loads() {
            for case in cases() {
                let report = meet_case(&case, driver, &load);
                let tally = &report.total.tally;
                let allowed = if several { case.pipelined.unwrap_or(case.alone) } else { case.alone };
                let found: Vec<Failure> = tally.failed.iter().map(|(failure, _)| failure).collect();
                let what = format!("{}, {kind}, {}: {tally:?}", case.name, driver.name());
                assert!(found.iter().all(|failure| allowed.contains(failure)), "{what}");
                assert_eq!(found.is_empty(), allowed.is_empty(), "{what}");
                assert!(tally.sent > 0, "{what}");
                let statuses = report.total.statuses.counts();
                let came: u64 = statuses.iter().map(|(_, count)| count).sum();
                // Each correct answer has a status, and no request has two.
                assert!((tally.answered..=tally.answered + tally.failed.total()).contains(&came), "{what}");
                let only = if case.name == "another status" { 503 } else { 200 };
                assert!(statuses.iter().all(|(status, _)| *status == only), "{what}: {statuses:?}");
                let sample = report.first_failure.as_ref().map(|sample| sample.failure);
                assert_eq!(sample.is_some(), !found.is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn what_came_instead_is_kept() {
    let kept = |behave: fn(Peer)| meet(behave).first_failure.unwrap();
    assert_eq!(kept(|mut peer| peer.always("SSH-2.0-OpenSSH\r\n")).got, b"SSH-2.0-OpenSSH\r\n");
    assert_eq!(kept(|mut peer| peer.once("HTTP/1.1 200")).got, b"HTTP/1.1 200");
    let reason = |behave: fn(Peer)| {
        let sample = meet(behave).first_failure.unwrap();
        (sample.reason.unwrap(), sample.got.escape_ascii().to_string())
    };
    let (rule, got) = reason(|mut peer| peer.always(head("") + "!"));
    assert!(rule.contains("bytes follow the answer") && rule.contains("RFC 9112, 6.3"), "{rule}");
    assert_eq!(got, "!");
    let (rule, got) = reason(|mut peer| peer.always(head("no colon\r\n")));
    assert!(rule.contains("(RFC 9112, 5)"), "{rule}");
    assert_eq!(got, "no colon\\r\\n");
    let (came, _) = reason(|mut peer| peer.once(&head("").as_bytes()[..head("").len() - 5]));
    assert_eq!(came, "status 200 and 7 of 12 bytes of the body came");
    let mismatch = kept(|mut peer| peer.always(HELLO.replace('w', "W")));
    assert_eq!(mismatch.got, b"Hello World!");
    assert!(mismatch.expected.contains("Hello world!"));
}

#[test]
fn a_wrong_answer_keeps_the_connection() {
    let report = meet(|mut peer| peer.always("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"));
    only(&report, Status);
    assert!(report.total.tally.sent > 4 && report.total.tally.connects == 0, "{:?}", report.total.tally);
}

#[test]
fn refused() {
    for driver in drivers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap();
        drop(listener);
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 3, 1) };
        let mut generator = generator_of(settings, hello());
        let error = generator.open(3, seconds(1)).unwrap_err();
        assert_eq!((error.failure, error.open, error.total), (Refused, 0, 3));
        let report = run(&mut generator, &load(100, 50));
        assert_eq!(report.total.tally.sent, 0);
        let refused = report.total.tally.connection_failed.get(Refused);
        assert!((3..=33).contains(&refused), "asked again, but not in a busy loop: {refused}");
        assert_eq!(report.first_failure.unwrap().failure, Refused);
    }
}

#[test]
fn a_server_that_is_killed() {
    for driver in drivers() {
        for (kind, mut load, _) in loads() {
            load.stop.after = tare_load::After::Time(ms(1_000));
            let server = Server::example(12);
            let settings =
                GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(server.target, 20, 2) };
            let mut generator = generator_of(settings, hello());
            generator.open(20, TIMEOUT).unwrap();
            let report = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(ms(300));
                    server.signal(Signal::KILL);
                });
                run(&mut generator, &load)
            });
            let tally = &report.total.tally;
            assert!(tally.answered > 0, "{kind}: {tally:?}");
            assert!(tally.connection_failed.get(Refused) > 0, "{kind}: {tally:?}");
            let broken = [Reset, ClosedBeforeResponse, ClosedMidResponse];
            assert!(tally.failed.iter().all(|(failure, _)| broken.contains(&failure)), "{kind}: {tally:?}");
        }
    }
}

#[test]
fn half_of_the_connections_die_and_the_others_go_on() {
    let report = meet(fragile);
    assert!(
        report.total.tally.failed.get(Reset) > 0 && report.total.tally.answered > 10,
        "{:?}",
        report.total.tally
    );
}

#[test]
fn a_stall_is_a_timeout_or_in_flight() {
    for driver in drivers() {
        let settings =
            GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(serve(Peer::stall), 4, 2) };
        let mut generator = generator_of(settings, hello());
        generator.open(4, TIMEOUT).unwrap();
        let report = run(&mut generator, &load(100, 50));
        assert_eq!((report.total.tally.sent, report.total.tally.in_flight), (4, 4));
        let impatient = Load { response_timeout: ms(40), ..load(600, 50) };
        let report = run(&mut generator, &impatient);
        only(&report, ResponseTimeout);
        let tally = &report.total.tally;
        assert!(tally.failed.total() >= 12 && tally.connects >= 12, "{tally:?}");
    }
}

/// Connections that time out, beside others that are answered at once. `run` checks that their counts do not
/// contradict each other.
#[test]
fn time_outs_beside_answers() {
    for driver in drivers() {
        for (kind, load, _) in loads() {
            let impatient =
                Load { response_timeout: ms(60), stop: Stop::after(ms(400), ms(100)), ..load.clone() };
            let target = serve(|mut peer| match peer.index % 3 {
                0 => peer.stall(),
                _ => peer.always(HELLO),
            });
            let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 9, 2) };
            let mut generator = generator_of(settings, hello());
            generator.open(9, TIMEOUT).unwrap();
            let tally = run_heard(&mut generator, &impatient).total.tally;
            assert!(tally.failed.get(ResponseTimeout) > 0 && tally.answered > 0, "{kind}: {tally:?}");
        }
    }
}

#[test]
fn unsolicited_bytes() {
    let late = |mut peer: Peer| peer.always(HELLO.to_owned() + "HTTP/1.1 408 Request Timeout\r\n");
    only(&meet(late), Malformed);

    // The same with nothing in flight: no request fails because of it, and the next run works.
    let target = serve(|mut peer| {
        peer.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
        peer.always(HELLO);
    });
    let mut generator = generator(target, 2, 1);
    let _maybe_seen_while_opening = generator.open(2, seconds(1));
    std::thread::sleep(ms(50));
    let tally = run_heard(&mut generator, &load(50, 50)).total.tally;
    assert!(tally.connection_failed.get(Malformed) > 0 || tally.failed.total() > 0, "{tally:?}");
}
