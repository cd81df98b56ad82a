//! The raw socket in each protocol, over real sockets, with third-party clients: the crates h2 and rustls.

mod client;
mod stream;

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use client::{Client, Outcome, Tls};
use tare_reference::{RawServer, RawVersion, ServerIdentity};

const PATIENCE: Duration = Duration::from_secs(20);

fn response(body: &[u8]) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nX-Own: yes\r\nContent-Length: ";
    [format!("{head}{}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// Runs a test against a server with two threads.
struct Trial<'a> {
    version: RawVersion,
    tls: Option<&'a Tls>,
    body: &'a [u8],
    fault: &'a str,
}

const H2C: Trial<'_> = Trial { version: RawVersion::Http2, tls: None, body: b"Hello world!", fault: "" };

impl Trial<'_> {
    fn run(&self, test: impl FnOnce(u16)) {
        let port = tare_host::process::free_port();
        let stop = AtomicBool::new(false);
        let response = response(self.body);
        let identity = self.tls.map(|tls| ServerIdentity::read(&tls.certificates, &tls.key).unwrap());
        let fault = (!self.fault.is_empty()).then(|| self.fault.parse().unwrap());
        let (version, identity, fault) = (self.version, identity.as_ref(), fault.as_ref());
        let address = Ipv4Addr::LOCALHOST;
        let server = RawServer {
            address,
            port,
            threads: 2,
            response: &response,
            version,
            identity,
            fault,
            ballast: None,
        };
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| server.run(&stop));
            // Even if the test panics: the scope waits for the server.
            let _stops = Stops(&stop);
            while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
                assert!(!serving.is_finished(), "{:?}", serving.join());
                std::thread::sleep(Duration::from_millis(1));
            }
            test(port);
        });
    }
}

struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn get() -> http::Request<()> {
    http::Request::get("http://localhost/").body(()).unwrap()
}

#[test]
fn streams_of_one_connection_are_answered_side_by_side() {
    H2C.run(|port| {
        let mut client = Client::connect(port);
        let answers = client.all((0..300).map(|_| (get(), Vec::new())).collect());
        let head = |name| answers[0].header(name);
        assert_eq!((head("x-own"), head("content-length")), (Some("yes".to_owned()), Some("12".to_owned())));
        assert_eq!(head("connection"), None);
        assert!(answers.len() == 300 && answers.iter().all(|answer| answer.is(200, b"Hello world!")));
    });
}

#[test]
fn an_upload_of_any_length_is_answered_when_it_is_there() {
    H2C.run(|port| {
        let body = vec![7; 40 << 20];
        let answers = Client::connect(port).all(vec![(get(), body), (get(), vec![7; 100])]);
        assert!(answers.iter().all(|answer| answer.is(200, b"Hello world!")), "{answers:?}");
    });
}

#[test]
fn a_large_answer_comes_through_the_windows_of_the_client() {
    let body: Vec<u8> = (0..3_000_000_u32).map(|index| index as u8).collect();
    let trial = Trial { body: &body, ..H2C };
    trial.run(|port| {
        let answers = Client::connect(port).all((0..5).map(|_| (get(), Vec::new())).collect());
        assert!(answers.len() == 5 && answers.iter().all(|answer| answer.is(200, &body)));
    });
}

#[test]
fn an_answer_without_a_body_ends_with_its_head() {
    Trial { body: b"", ..H2C }.run(|port| {
        let answers = Client::connect(port).all(vec![(get(), Vec::new()), (get(), b"upload".to_vec())]);
        assert!(answers.iter().all(|answer| answer.is(200, b"")), "{answers:?}");
    });
}

#[test]
fn a_port_of_http2_refuses_http1() {
    H2C.run(|port| {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        // Closed, or reset since not all bytes were read.
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(answer, b"");
    });
}

#[test]
fn http2_over_tls_is_chosen_by_alpn() {
    let tls = Tls::new();
    Trial { tls: Some(&tls), ..H2C }.run(|port| {
        let stream = tls.connect(port, &["h2", "http/1.1"]).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
        assert_eq!(stream.conn.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
        let answers = Client::over(stream).all((0..300).map(|index| (get(), vec![1; index * 100])).collect());
        assert!(answers.len() == 300 && answers.iter().all(|answer| answer.is(200, b"Hello world!")));
        assert!(tls.connect(port, &["http/1.1"]).is_err(), "HTTP/1.1 is not spoken here");
    });
}

#[test]
fn large_bodies_go_both_ways_over_tls() {
    let tls = Tls::new();
    let body: Vec<u8> = (0..1_000_000_u32).map(|index| index as u8).collect();
    Trial { tls: Some(&tls), body: &body, ..H2C }.run(|port| {
        let stream = tls.connect(port, &["h2"]).unwrap();
        let answers = Client::over(stream).all((0..3).map(|_| (get(), vec![7; 2_000_000])).collect());
        assert!(answers.iter().all(|answer| answer.is(200, &body)));
    });
}

#[test]
fn http1_over_tls_is_answered_and_resumed() {
    let tls = Tls::new();
    Trial { version: RawVersion::Http1, tls: Some(&tls), ..H2C }.run(|port| {
        let expected = response(b"Hello world!");
        for (offered, kind) in [
            (&["http/1.1"][..], rustls::HandshakeKind::Full),
            (&["http/1.1", "h2"], rustls::HandshakeKind::Resumed),
            (&[], rustls::HandshakeKind::Resumed),
        ] {
            let mut stream = tls.connect(port, offered).unwrap();
            let mut answers = vec![0; 3 * expected.len()];
            stream.write_all(&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3)).unwrap();
            stream.read_exact(&mut answers).unwrap();
            assert_eq!(answers, expected.repeat(3));
            assert_eq!(stream.conn.handshake_kind(), Some(kind));
            assert_eq!(stream.conn.alpn_protocol(), (!offered.is_empty()).then_some(&b"http/1.1"[..]));
        }
        assert!(tls.connect(port, &["h2"]).is_err(), "HTTP/2 is not spoken here");
    });
}

#[test]
fn a_stream_that_is_not_answered_holds_up_no_other() {
    Trial { fault: "unanswered=50%", ..H2C }.run(|port| {
        let mut client = Client::connect(port);
        let outcomes = client.outcomes(6, Duration::from_millis(300));
        let answered =
            outcomes.iter().map(|outcome| matches!(outcome, Outcome::Answer(_))).collect::<Vec<_>>();
        assert_eq!(answered, [true, false, true, false, true, false]);
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Answer(_) | Outcome::Nothing)));
    });
}

#[test]
fn a_client_sees_each_fault_of_an_answer() {
    let protocol_error = Some(h2::Reason::PROTOCOL_ERROR);
    let sees = |fault, is_seen: &dyn Fn(&Outcome) -> bool| {
        Trial { fault, ..H2C }.run(|port| {
            let outcomes = Client::connect(port).outcomes(2, Duration::from_millis(300));
            let is_right = |outcome: &Outcome| matches!(outcome, Outcome::Answer(answer) if answer.is(200, b"Hello world!"));
            assert!(is_right(&outcomes[0]) && is_seen(&outcomes[1]), "{fault}: {outcomes:?}");
        });
    };
    sees(
        "wrong-body=50%",
        &|outcome| matches!(outcome, Outcome::Answer(answer) if answer.is(200, b"Hello world ")),
    );
    sees(
        "wrong-length=50%",
        &|outcome| matches!(outcome, Outcome::Error(error) if error.reason() == protocol_error),
    );
    // This client ignores frames on closed streams. Its own stream is never answered.
    sees("mixed-up=50%", &|outcome| matches!(outcome, Outcome::Nothing));
}

#[test]
fn a_slow_handshake_waits_its_time_and_holds_up_no_other() {
    let tls = Tls::new();
    const DELAY: Duration = Duration::from_millis(300);
    Trial { tls: Some(&tls), fault: "slow-handshake=300ms", ..H2C }.run(|port| {
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    tls.connect(port, &["h2"]).unwrap();
                    assert!(began.elapsed() >= DELAY);
                });
            }
        });
        assert!(began.elapsed() < DELAY * 10, "{:?}", began.elapsed());
    });
}
