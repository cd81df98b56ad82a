//! Loads of HTTP/1.1 over TLS: the same results as without TLS, and the outcomes of failed handshakes.

use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use crate::kit::load::*;
use crate::kit::peer::{Peer, serve};
use crate::kit::tls::{TlsStream, files, options, serve_tls, server_config, speaking};
use tare_load::{
    ArrivalProcess, DriverChoice, DriverKind, Exchange, ExpectedBody, Failure, Generator, GeneratorSettings,
    Load, Protocol, RequestQuota, TlsClient, TlsError, TlsOptions, TlsTrust,
};

const HTTP_1: &[&[u8]] = &[b"http/1.1"];

fn generator_by(driver: DriverKind, target: SocketAddr, total: usize, exchange: Exchange) -> Generator {
    let settings = speaking(Protocol::Http1Tls, target, total, 2, 1);
    generator_of(GeneratorSettings { driver: DriverChoice::Only(driver), ..settings }, exchange)
}

#[test]
fn every_kind_of_load_is_answered() {
    let loads = [
        load(100, 10_000),
        open(2_000.0, ArrivalProcess::Poisson, ms(100)),
        counted(RequestQuota::Requests(1_001)),
        Load { pipeline: 4, ..load(100, 10_000) },
    ];
    for driver in drivers() {
        let target = serve_tls(server_config(HTTP_1), |mut peer| peer.always(HELLO));
        let mut generator = generator_by(driver, target, 5, hello());
        generator.open(5, seconds(5)).unwrap();
        for load in &loads {
            let report = run(&mut generator, load);
            let tally = &report.total.tally;
            assert!(
                tally.answered >= 20 && tally.failed.total() == 0,
                "{tally:?} {:?}",
                report.first_failure
            );
            assert_eq!((tally.in_flight, tally.connects), (0, 0), "{tally:?}");
            assert_eq!(tally.bytes_received, tally.answered * HELLO.len() as u64, "without what TLS adds");
            assert_eq!(tally.bytes_sent, tally.sent * hello().request.len() as u64);
            let handshakes = report.handshakes.expect("TLS is spoken");
            assert_eq!(handshakes.full + handshakes.resumed, 5);
            let (negotiated, count) = &handshakes.negotiated[0];
            assert_eq!(
                (negotiated.alpn.as_deref(), *count, handshakes.negotiated.len()),
                (Some("http/1.1"), 5, 1)
            );
        }
    }
}

#[test]
fn connections_of_one_request_resume_their_sessions_or_do_not() {
    for driver in drivers() {
        for resume in [true, false] {
            let target = serve_tls(server_config(HTTP_1), |mut peer| {
                peer.once(HELLO);
                peer.stream.conn.send_close_notify();
                let _gone = peer.stream.conn.complete_io(&mut peer.stream.sock);
            });
            let tls = TlsClient::new(TlsOptions { resume, ..options(Protocol::Http1Tls) }).unwrap();
            let settings = GeneratorSettings {
                tls: Some(Arc::new(tls)),
                driver: DriverChoice::Only(driver),
                ..speaking(Protocol::Http1Tls, target, 2, 1, 1)
            };
            let mut generator = generator_of(settings, hello());
            let load = Load { requests_per_connection: Some(1), ..counted(RequestQuota::Connections(60)) };
            let report = run(&mut generator, &load);
            let tally = &report.total.tally;
            assert_eq!(
                (tally.answered, tally.failed.total(), tally.connects),
                (60, 0, 60),
                "{:?}",
                report.first_failure
            );
            let handshakes = report.handshakes.unwrap();
            let resumed = if resume { 50..=59 } else { 0..=0 };
            assert!(resumed.contains(&handshakes.resumed), "{handshakes:?}");
            assert_eq!(handshakes.full + handshakes.resumed, 60);
        }
    }
}

#[test]
fn large_requests_and_responses() {
    let body = "x".repeat(1 << 20);
    let request = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
    let length = request.len();
    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let target = serve_tls(server_config(HTTP_1), move |mut peer| {
        let mut buffer = vec![0; length];
        while peer.stream.read_exact(&mut buffer).is_ok() && peer.send(&response) {}
    });
    for driver in drivers() {
        let large =
            Exchange { request: request.clone(), ..exchange(ExpectedBody::Exact(body.clone().into())) };
        let report = run(&mut generator_by(driver, target, 2, large), &counted(RequestQuota::Requests(20)));
        let tally = &report.total.tally;
        assert_eq!((tally.answered, tally.failed.total()), (20, 0), "{:?}", report.first_failure);
        assert_eq!(tally.bytes_sent, 20 * length as u64);
    }
}

/// What a server does to the answers of a connection, and the effect on requests.
#[test]
fn each_failure_in_its_own_class() {
    type Case = (&'static str, fn(Peer<TlsStream>), &'static [Failure]);
    let cases: [Case; 5] = [
        ("a wrong body", |mut peer| peer.always(HELLO.replace('w', "W")), &[Failure::Mismatch]),
        ("garbage", |mut peer| peer.always("SSH-2.0-OpenSSH\r\n"), &[Failure::Malformed]),
        ("closed", |mut peer| peer.once(""), &[Failure::ClosedBeforeResponse, Failure::Reset]),
        (
            "cut short",
            |mut peer| peer.once(&HELLO.as_bytes()[..45]),
            &[Failure::ClosedMidResponse, Failure::Reset],
        ),
        (
            "plain text",
            |mut peer| {
                if peer.request() {
                    let _gone = std::io::Write::write_all(&mut peer.stream.sock, HELLO.as_bytes());
                }
            },
            &[Failure::Tls],
        ),
    ];
    for driver in drivers() {
        for (name, behave, allowed) in cases {
            let target = serve_tls(server_config(HTTP_1), behave);
            let report = run_heard(&mut generator_by(driver, target, 3, hello()), &load(100, 300));
            let tally = &report.total.tally;
            assert!(tally.failed.total() > 0, "{name}: {tally:?}");
            assert!(tally.failed.iter().all(|(failure, _)| allowed.contains(&failure)), "{name}: {tally:?}");
        }
    }
}

#[test]
fn a_handshake_that_fails_has_its_reason() {
    let protocol = Protocol::Http1Tls;
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap().cert.der().clone();
    let right = options(protocol);
    let stranger = TlsOptions { trust: TlsTrust::Authorities(vec![other]), ..right.clone() };
    let misnamed = TlsOptions { server_name: "example.org".to_owned(), ..right.clone() };
    let wants_h2 = TlsOptions { alpn: Some(b"h2"), ..right.clone() };
    let secure = || serve_tls(server_config(HTTP_1), |mut peer| peer.always(HELLO));
    let plain = || {
        serve(|mut peer| {
            if peer.send("HTTP/1.1 400 Bad Request\r\n\r\n") {
                peer.stall();
            }
        })
    };
    let closes = || serve(|mut peer| drop(peer.stream.read(&mut [0; 5000])));
    let table: [(&str, SocketAddr, TlsOptions); 5] = [
        ("is signed by itself, and is not trusted", secure(), stranger),
        ("is for localhost, and not for example.org", secure(), misnamed),
        ("no_application_protocol (120)", secure(), wants_h2),
        ("plain HTTP on this port, and no TLS: it sent `HTTP/1.1 400 Bad Request`", plain(), right.clone()),
        ("closed during the TLS handshake", closes(), right.clone()),
    ];
    for driver in drivers() {
        for (reason, target, options) in &table {
            let settings = GeneratorSettings {
                tls: Some(Arc::new(TlsClient::new(options.clone()).unwrap())),
                driver: DriverChoice::Only(driver),
                ..speaking(protocol, *target, 2, 1, 1)
            };
            let mut generator = generator_of(settings, hello());
            let error = generator.open(2, seconds(5)).unwrap_err();
            assert_eq!((error.failure, error.open), (Failure::Tls, 0), "{error}");
            assert!(error.to_string().contains(reason), "{reason}: {error}");
            let report = run_heard(&mut generator, &load(60, 100));
            let tally = &report.total.tally;
            assert_eq!(tally.sent, 0, "{tally:?}");
            assert!(tally.connection_failed.get(Failure::Tls) > 0, "{reason}: {tally:?}");
        }
    }
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    for driver in drivers() {
        let mut generator = generator_by(driver, serve(Peer::stall), 2, hello());
        let begun = Instant::now();
        let error = generator.open(2, ms(200)).unwrap_err();
        assert_eq!(error.failure, Failure::ConnectTimeout, "{error}");
        let patient = Load { connect_timeout: ms(50), ..load(500, 100) };
        let tally = run(&mut generator, &patient).total.tally;
        assert!(tally.connection_failed.get(Failure::ConnectTimeout) >= 2 && tally.sent == 0, "{tally:?}");
        assert!(begun.elapsed() < seconds(3));
    }
}

/// A running OpenSSL server, which is ended when this is dropped.
struct Openssl(Child);

impl Drop for Openssl {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

fn openssl(words: &[&str]) -> Option<(Openssl, SocketAddr)> {
    let folder = std::env::temp_dir().join(format!("tare-load-openssl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (certificate, key) = files(&folder);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("openssl");
    command.arg("s_server").args(["-accept", &format!("127.0.0.1:{port}"), "-www", "-quiet"]).args(words);
    command.arg("-cert").arg(certificate).arg("-key").arg(key);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let (server, target) = (Openssl(child), SocketAddr::from(([127, 0, 0, 1], port)));
    let begun = Instant::now();
    while std::net::TcpStream::connect(target).is_err() {
        assert!(begun.elapsed() < seconds(10), "openssl does not listen");
        std::thread::sleep(ms(20));
    }
    Some((server, target))
}

#[test]
fn openssl_is_understood_and_tls_1_2_alone_is_refused() {
    let Some((_ends, target)) = openssl(&["-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"]) else {
        return skip("openssl s_server", "it is not in PATH");
    };
    for driver in drivers() {
        let settings = GeneratorSettings {
            driver: DriverChoice::Only(driver),
            ..speaking(Protocol::Http1Tls, target, 1, 1, 1)
        };
        let mut generator = generator_of(settings, exchange(ExpectedBody::Any));
        let report = run(&mut generator, &counted(RequestQuota::Requests(20)));
        assert_eq!(report.total.tally.answered, 20, "{:?}", report.first_failure);
        let handshakes = report.handshakes.unwrap();
        assert_eq!(handshakes.negotiated[0].0.suite, "TLS_CHACHA20_POLY1305_SHA256");
        assert!(handshakes.resumed > 0, "{handshakes:?}");
    }
    let (_ends, target) = openssl(&["-tls1_2"]).unwrap();
    for driver in drivers() {
        let mut generator = generator_by(driver, target, 1, hello());
        let error = generator.open(1, seconds(5)).unwrap_err();
        let Some(TlsError::Handshake(reason)) = &error.tls_error else { panic!("{error}") };
        assert_eq!(error.failure, Failure::Tls, "{reason}");
    }
}
