//! Each way a server can misbehave ends in its own class: no hang, no panic, and totals that add up.

mod common;

use std::net::TcpListener;
use std::time::Duration;

use common::*;
use tare_load::{ExpectedBody, Failure};

fn head(headers: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 12\r\n\r\nHello world!")
}

#[test]
fn refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    drop(listener);
    let mut generator = generator(target, 3, 1, hello());
    let error = generator.open(Duration::from_secs(1)).unwrap_err();
    assert_eq!((error.failure, error.open, error.total), (Failure::Refused, 0, 3));
    let report = run(&mut generator, &load(100, 50));
    assert_eq!(report.tally.sent, 0);
    let refused = report.tally.connection_failed.get(Failure::Refused);
    assert!((3..=33).contains(&refused), "asked again, but not in a busy loop: {refused}");
    assert_eq!(report.first_failure.unwrap().failure, Failure::Refused);
}

#[test]
fn reset() {
    only(&meet(Peer::reset), Failure::Reset);
}

#[test]
fn closed_before_the_response() {
    only(&meet(|mut peer| peer.once("")), Failure::ClosedBeforeResponse);
}

#[test]
fn closed_in_the_middle() {
    for part in [
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        let report = meet(move |mut peer| peer.once(part));
        only(&report, Failure::ClosedMidResponse);
        assert_eq!(report.first_failure.unwrap().got, part.as_bytes());
    }
}

#[test]
fn garbage() {
    let report = meet(|mut peer| peer.always("SSH-2.0-OpenSSH\r\n"));
    only(&report, Failure::Malformed);
    assert_eq!(report.first_failure.unwrap().got, b"SSH-2.0-OpenSSH\r\n");
}

#[test]
fn seventeen_headers_are_fine_and_two_hundred_malformed() {
    let fine = meet(|mut peer| peer.always(head(&"X: y\r\n".repeat(17))));
    assert_eq!(fine.tally.failed.total(), 0);
    assert!(fine.tally.answered > 0);
    only(&meet(|mut peer| peer.always(head(&"X: y\r\n".repeat(200)))), Failure::Malformed);
}

#[test]
fn a_header_of_ten_megabytes() {
    let report = meet(|mut peer| peer.always(head(&format!("X: {}\r\n", "y".repeat(10_000_000)))));
    only(&report, Failure::Malformed);
}

#[test]
fn an_endless_chunked_body() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let endless = |mut peer: Peer| {
        if peer.request() && peer.send(HEAD) {
            while peer.send("10\r\n0123456789abcdef\r\n".repeat(1000)) {}
        }
    };
    only(&meet(endless), Failure::Mismatch);
    // When any body will do it is in flight at the end, and the end comes in time.
    let report = meet_with(exchange(ExpectedBody::Any), endless);
    assert_eq!((report.tally.sent, report.tally.in_flight), (4, 4), "{:?}", report.tally);
}

#[test]
fn bodies_shorter_and_longer_than_announced() {
    let short = meet(|mut peer| peer.once("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello world!"));
    only(&short, Failure::ClosedMidResponse);
    let long = meet(|mut peer| peer.always("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello world!!"));
    only(&long, Failure::Malformed);
}

#[test]
fn two_responses_for_one_request() {
    only(&meet(|mut peer| peer.always(HELLO.repeat(2))), Failure::Malformed);
}

#[test]
fn wrong_status_and_wrong_body() {
    let status = meet(|mut peer| peer.always("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"));
    only(&status, Failure::Status);
    assert_eq!(status.tally.answered, 0);
    assert!(status.tally.sent > 4, "the connections are kept: {:?}", status.tally);
    assert_eq!(status.tally.connects, 0);
    let body = meet(|mut peer| peer.always(HELLO.replace('w', "W")));
    only(&body, Failure::Mismatch);
    let sample = body.first_failure.unwrap();
    assert_eq!(sample.got, b"Hello World!");
    assert!(sample.expected.contains("Hello world!"));
}

#[test]
fn a_stall_is_a_timeout_or_in_flight() {
    let mut generator = generator(serve(|mut peer| peer.stall()), 4, 2, hello());
    generator.open(Duration::from_secs(1)).unwrap();
    let report = run(&mut generator, &load(100, 50));
    assert_eq!((report.tally.sent, report.tally.in_flight), (4, 4));
    let mut impatient = load(200, 50);
    impatient.response_timeout = Duration::from_millis(40);
    let report = run(&mut generator, &impatient);
    only(&report, Failure::ResponseTimeout);
    assert!(report.tally.failed.total() >= 12, "{:?}", report.tally);
    assert!(report.tally.connects >= 12);
}

#[test]
fn half_of_the_connections_are_killed() {
    let report = meet(|mut peer| {
        let requests = if peer.index % 2 == 0 { 3 } else { usize::MAX };
        for _ in 0..requests {
            if !(peer.request() && peer.send(HELLO)) {
                return;
            }
        }
        peer.reset();
    });
    assert!(report.tally.failed.get(Failure::Reset) > 0, "{:?}", report.tally);
    assert!(report.tally.answered > 10);
}

#[test]
fn bytes_that_nobody_asked_for() {
    let mut generator = generator(
        serve(|mut peer| {
            peer.always(HELLO.to_owned() + "HTTP/1.1 408 Request Timeout\r\n");
        }),
        1,
        1,
        hello(),
    );
    generator.open(Duration::from_secs(1)).unwrap();
    only(&run(&mut generator, &load(50, 50)), Failure::Malformed);

    // And while nothing is out: no request's failure, and the next run works.
    let target = serve(|mut peer| {
        peer.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
        peer.always(HELLO);
    });
    let mut generator = common::generator(target, 2, 1, hello());
    let _maybe_seen_while_opening = generator.open(Duration::from_secs(1));
    std::thread::sleep(Duration::from_millis(50));
    let report = run(&mut generator, &load(50, 50));
    assert!(report.tally.connection_failed.get(Failure::Malformed) > 0 || report.tally.failed.total() > 0);
}
