//! Loads over HTTP/2, with TLS and without, against servers by others and one that misbehaves on purpose.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::kit::fixed::body;
use crate::kit::h2_server::serve_h2c;
use crate::kit::http2::*;
use crate::kit::load::*;
use crate::kit::peer::serve;
use crate::kit::tls::{files, speaking};
use crate::kit::wire::*;
use tare_load::http1::Response;
use tare_load::{
    ArrivalProcess, Captured, DriverChoice, DriverKind, EngineFinding, Exchange, ExchangePool, Expected,
    ExpectedBody, Failure, Generator, GeneratorSettings, Limits, Load, LoadError, Measures, MissingValue,
    Protocol, RequestQuota, Schedule, SequenceStep, StepRule, Think, evaluate,
};

const H2: [Protocol; 2] = [Protocol::H2c, Protocol::H2];

/// Every driver with both protocols.
fn ways() -> Vec<(DriverKind, Protocol)> {
    drivers().into_iter().flat_map(|driver| H2.map(|protocol| (driver, protocol))).collect()
}

fn generator_by(
    driver: DriverKind,
    protocol: Protocol,
    target: std::net::SocketAddr,
    connections: usize,
    streams: usize,
    exchanges: Vec<Exchange>,
) -> Generator {
    let settings = speaking(protocol, target, connections, 1, streams);
    let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings };
    let mut generator = Generator::new(settings, Arc::new(ExchangePool::new(exchanges))).unwrap();
    generator.open(connections, seconds(5)).unwrap();
    generator
}

fn asking(request: String, body: &[u8]) -> Exchange {
    Exchange { request: request.into_bytes(), ..exchange(ExpectedBody::Exact(body.to_vec())) }
}

fn get(path: &str, body: &[u8]) -> Exchange {
    asking(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"), body)
}

fn upload(bytes: usize) -> Exchange {
    let sent = "u".repeat(bytes);
    asking(
        format!("POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: {bytes}\r\n\r\n{sent}"),
        bytes.to_string().as_bytes(),
    )
}

#[test]
fn every_kind_of_load_is_answered() {
    let think = Load { schedule: Schedule::Closed { think: Think::Fixed(5_000_000) }, ..load(200, 1_000) };
    let loads = [
        ("closed", load(100, 10_000)),
        ("open", open(2_000.0, ArrivalProcess::Poisson, ms(100))),
        ("think", think),
        ("quota", counted(RequestQuota::Requests(1_001))),
        ("each", counted(RequestQuota::RequestsEach(50))),
    ];
    for (driver, protocol) in ways() {
        let target = serve_http2(protocol, &[], |mut peer| peer.always(b"Hello world!"));
        let mut generator = generator_by(driver, protocol, target, 2, 5, vec![hello()]);
        for (name, load) in &loads {
            let report = run(&mut generator, load);
            let tally = &report.total.tally;
            let what =
                format!("{protocol}, {}, {name}: {tally:?}, {:?}", driver.name(), report.first_failure);
            assert!(tally.answered >= 20 && tally.failed.total() + tally.in_flight == 0, "{what}");
            assert_eq!(tally.connects, 0, "{what}");
            match *name {
                "quota" => assert_eq!(tally.answered, 1_001, "{what}"),
                "each" => assert_eq!(tally.answered, 10 * 50, "{what}"),
                // Whoever thinks for 5 ms sends no more than 40 in 200 ms. How many fewer depends on who shares the CPUs; that no user
                // thinks for longer is tested without a clock.
                "think" => assert!(tally.sent <= 412, "10 x 200 / 5 is 400: {what}"),
                _ => {}
            }
        }
        generator.close();
        assert_eq!(run(&mut generator, &counted(RequestQuota::RequestsEach(2))).total.tally.connects, 2);
    }
}

#[test]
fn a_server_that_others_wrote_is_understood() {
    for driver in drivers() {
        let mut head = get("/size/1000", b"");
        head.request = b"HEAD /size/1000 HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
        head.is_head = true;
        let exchanges = vec![
            get("/", b"Hello world!"),
            head,
            get("/size/100000", &body(100_000)),
            upload(10),
            upload(70_000),
        ];
        let mut generator = generator_by(driver, Protocol::H2c, serve_h2c(), 3, 10, exchanges);
        let report = run(&mut generator, &counted(RequestQuota::Requests(3_000)));
        let tally = &report.total.tally;
        assert_eq!((tally.answered, tally.failed.total()), (3_000, 0), "{:?}", report.first_failure);
        let report = run(&mut generator, &open(500.0, ArrivalProcess::Poisson, ms(300)));
        assert_eq!(report.total.tally.failed.total(), 0, "{:?}", report.first_failure);
    }
}

#[test]
fn bodies_and_uploads_of_a_mebibyte() {
    for driver in drivers() {
        let exchanges = vec![get("/size/1048576", &body(1 << 20)), upload(1 << 20)];
        let mut generator = generator_by(driver, Protocol::H2c, serve_h2c(), 2, 4, exchanges);
        let report = run(&mut generator, &counted(RequestQuota::Requests(60)));
        let tally = &report.total.tally;
        assert_eq!((tally.answered, tally.failed.total()), (60, 0), "{:?}", report.first_failure);
        assert!(tally.bytes_sent > 20 << 20 && tally.bytes_received > 20 << 20, "{tally:?}");
    }
    // And over TLS.
    for driver in drivers() {
        let target = serve_http2(Protocol::H2, &[], |mut peer| {
            while let Some(asked) = peer.request() {
                let bytes =
                    if asked.path == "/count" { asked.body.len().to_string().into() } else { body(1 << 20) };
                peer.send(answer_with(asked.stream, &bytes));
            }
        });
        let exchanges = vec![get("/size/1048576", &body(1 << 20)), upload(1 << 20)];
        let mut generator = generator_by(driver, Protocol::H2, target, 2, 4, exchanges);
        let report = run(&mut generator, &counted(RequestQuota::Requests(30)));
        let tally = &report.total.tally;
        assert_eq!((tally.answered, tally.failed.total()), (30, 0), "{:?}", report.first_failure);
    }
}

#[derive(Debug)]
struct Login;

#[derive(Debug)]
struct Use;

impl StepRule for Login {
    fn fill(&self, _: &Captured) -> Option<Exchange> {
        None
    }

    fn captures(&self) -> bool {
        true
    }

    fn capture(&self, response: &Response, captured: &mut Captured) -> Result<(), MissingValue> {
        assert!(response.headers.iter().any(|(name, _)| name == "content-length"), "{:?}", response.headers);
        captured.insert("token".to_owned(), String::from_utf8(response.body.clone()).unwrap());
        Ok(())
    }
}

impl StepRule for Use {
    fn fill(&self, captured: &Captured) -> Option<Exchange> {
        let token = &captured["token"];
        Some(get(&format!("/use/{token}"), format!("hello {token}").as_bytes()))
    }

    fn captures(&self) -> bool {
        false
    }

    fn capture(&self, _: &Response, _: &mut Captured) -> Result<(), MissingValue> {
        unreachable!("it captures nothing")
    }
}

#[test]
fn each_stream_goes_through_its_own_sequence() {
    let step = |path: &str, is_first, rule: Arc<dyn StepRule>| Exchange {
        step: Some(SequenceStep { is_first, rule }),
        expected: Expected { status: 200, body: ExpectedBody::Any },
        ..get(path, b"")
    };
    for driver in drivers() {
        let exchanges = vec![
            step("/login", true, Arc::new(Login)),
            step("/use", false, Arc::new(Use)),
            get("/", b"Hello world!"),
        ];
        let mut generator = generator_by(driver, Protocol::H2c, serve_h2c(), 2, 8, exchanges);
        let report = run(&mut generator, &counted(RequestQuota::Requests(3_000)));
        assert_eq!(report.total.tally.answered, 3_000, "{:?}", report.first_failure);
    }
}

#[test]
fn fewer_streams_than_wanted_are_waited_for() {
    for (driver, protocol) in ways() {
        let target = serve_http2(protocol, &[(3, 2)], |mut peer| peer.always(b"Hello world!"));
        let mut generator = generator_by(driver, protocol, target, 2, 10, vec![hello()]);
        let report = run(&mut generator, &counted(RequestQuota::Requests(2_000)));
        let tally = &report.total.tally;
        assert_eq!(
            (tally.answered, tally.failed.total(), tally.connects),
            (2_000, 0, 0),
            "{:?}",
            report.first_failure
        );
        assert!(report.total.stream_wait.count() > 1_000, "{:?}", report.total.stream_wait);
    }
}

#[test]
fn a_connection_that_the_server_recycles_fails_no_request() {
    for (driver, protocol) in ways() {
        // After 50 streams the server refuses more, answers the open ones, and does not close by itself.
        let target = serve_http2(protocol, &[], |mut peer| {
            let mut taken = 0;
            while let Some(asked) = peer.request() {
                taken += 1;
                match taken {
                    ..50 => drop(peer.send(answer(asked.stream))),
                    50 => {
                        peer.send(goaway(i32::MAX as u32, 0));
                        peer.send([goaway(asked.stream, 0), answer(asked.stream)].concat());
                    }
                    _ => {}
                }
            }
        });
        let mut generator = generator_by(driver, protocol, target, 2, 7, vec![hello()]);
        for load in [counted(RequestQuota::Requests(2_000)), open(2_000.0, ArrivalProcess::Constant, ms(200))]
        {
            let report = run_replacing(&mut generator, &load);
            let tally = &report.total.tally;
            let what = format!("{protocol}, {}: {tally:?} {:?}", driver.name(), report.first_failure);
            assert_eq!(
                (tally.failed.total(), tally.in_flight, tally.connection_failed.total()),
                (0, 0, 0),
                "{what}"
            );
            let expected = tally.answered / 50;
            assert!((expected - 4..=expected + 4).contains(&tally.connects), "{what}");
        }
    }
}

/// The connection ends while the client still sends: bytes received before count, and unprocessed requests
/// are sent again.
#[test]
fn a_server_that_closes_behind_its_goaway_is_heard_to_the_end() {
    for (driver, protocol) in ways() {
        // The server processes five of ten requests in flight, and closes with the others unread: the kernel
        // resets the connection.
        let target = serve_http2(protocol, &[], |mut peer| {
            for _ in 0..4 {
                let Some(asked) = peer.request() else { return };
                peer.send(answer(asked.stream));
            }
            let Some(last) = peer.request() else { return };
            peer.send([frame(PING, 0, 0, &[0; 8]), goaway(last.stream, 0), answer(last.stream)].concat());
            std::thread::sleep(ms(2));
        });
        let mut generator = generator_by(driver, protocol, target, 1, 10, vec![hello()]);
        let report = run_replacing(&mut generator, &counted(RequestQuota::Requests(500)));
        let tally = &report.total.tally;
        let what = format!("{protocol}, {}: {tally:?} {:?}", driver.name(), report.first_failure);
        assert_eq!(
            (tally.answered, tally.failed.total(), tally.connection_failed.total()),
            (500, 0, 0),
            "{what}"
        );
    }
}

/// In an open loop the wait for a stream is separate from the service time, and both are time in flight.
#[test]
fn waits_for_streams_are_no_fault_of_the_engine() {
    for (driver, protocol) in ways() {
        let target = serve_http2(protocol, &[(3, 1)], |mut peer| {
            while let Some(asked) = peer.request() {
                std::thread::sleep(ms(1));
                peer.send(answer(asked.stream));
            }
        });
        let mut generator = generator_by(driver, protocol, target, 1, 10, vec![hello()]);
        let report = run(&mut generator, &open(2_500.0, ArrivalProcess::Constant, ms(500)));
        let Measures { tally, stream_wait, .. } = &report.total;
        assert!(stream_wait.count() > 100, "{tally:?}");
        let doubts = evaluate(&report, &Limits::default());
        let is_inconsistent = doubts.iter().any(|doubt| matches!(doubt, EngineFinding::Inconsistent { .. }));
        assert!(!is_inconsistent, "{protocol}, {}: {doubts:?} {tally:?}", driver.name());
    }
}

/// One failed attempt counts as one failure, whatever the number of its streams.
#[test]
fn a_connection_that_fails_is_counted_once() {
    for driver in drivers() {
        // The server answers once, and then closes every other connection at once.
        let target = serve(|peer| {
            if peer.index > 0 {
                return;
            }
            let Some(mut peer) = Http2::begin(peer, &settings_frame(&[])) else { return };
            if let Some(stream) = peer.request() {
                peer.send(answer(stream));
            }
        });
        let mut generator = generator_by(driver, Protocol::H2c, target, 1, 50, vec![hello()]);
        let report = run(&mut generator, &load(500, 100));
        let failed = report.total.tally.connection_failed.total();
        // The client retries every 10 ms.
        assert!((1..=60).contains(&failed), "{}: {failed}", driver.name());
    }
}

/// A silent connection is given up and replaced.
#[test]
fn a_server_that_falls_silent_is_asked_on_another_connection() {
    for (driver, protocol) in ways() {
        let target = serve_http2(protocol, &[], |mut peer| {
            if peer.index > 0 {
                return peer.always(b"Hello world!");
            }
            while peer.request().is_some() {}
        });
        let mut generator = generator_by(driver, protocol, target, 1, 4, vec![hello()]);
        let load = Load { response_timeout: ms(500), ..counted(RequestQuota::Requests(200)) };
        let report = run_replacing(&mut generator, &load);
        let tally = &report.total.tally;
        let what = format!("{protocol}, {}: {tally:?}", driver.name());
        only(&report, Failure::ResponseTimeout);
        assert!(tally.failed.total() <= 8 && tally.answered > 100 && tally.connects == 1, "{what}");
    }
}

#[test]
fn a_stream_that_is_reset_fails_alone() {
    for (driver, protocol) in ways() {
        let target = serve_http2(protocol, &[], |mut peer| {
            let mut count = 0;
            while let Some(asked) = peer.request() {
                count += 1;
                let bytes = if count % 10 == 0 { rst_stream(asked.stream, 2) } else { answer(asked.stream) };
                peer.send(bytes);
            }
        });
        let mut generator = generator_by(driver, protocol, target, 1, 8, vec![hello()]);
        let report = run(&mut generator, &counted(RequestQuota::Requests(1_000)));
        only(&report, Failure::StreamReset);
        let tally = &report.total.tally;
        assert_eq!((tally.failed.total(), tally.answered, tally.connects), (100, 900, 0));
        assert_eq!(report.first_failure.unwrap().reason.unwrap(), "RST_STREAM with INTERNAL_ERROR");
    }
}

#[test]
fn a_server_that_closes_fails_what_is_on_its_way() {
    for (driver, protocol) in ways() {
        // With 7 requests in flight, the server answers the first, and sends the head for the second.
        let target = serve_http2(protocol, &[], |mut peer| {
            let Some(first) = peer.request() else { return };
            peer.send(answer(first.stream));
            let Some(second) = peer.request() else { return };
            peer.send(&answer(second.stream)[..9 + 6]);
            std::thread::sleep(ms(5));
        });
        let mut generator = generator_by(driver, protocol, target, 1, 7, vec![hello()]);
        let report = run(&mut generator, &counted(RequestQuota::Requests(160)));
        let tally = &report.total.tally;
        let allowed = [Failure::ClosedBeforeResponse, Failure::ClosedMidResponse, Failure::Reset];
        assert!(tally.failed.iter().all(|(failure, _)| allowed.contains(&failure)), "{tally:?}");
        assert!(
            tally.answered > 0 && tally.connects > 0 && tally.failed.total() >= tally.connects,
            "{tally:?}"
        );
    }
}

#[test]
fn one_wrong_answer_in_a_thousand_is_found_on_its_stream() {
    let count = Arc::new(AtomicUsize::new(0));
    for (driver, protocol) in ways() {
        count.store(0, Ordering::SeqCst);
        let seen = Arc::clone(&count);
        let target = serve_http2(protocol, &[], move |mut peer| {
            while let Some(asked) = peer.request() {
                let is_wrong = seen.fetch_add(1, Ordering::SeqCst) % 1_000 == 777;
                peer.send(answer_with(
                    asked.stream,
                    if is_wrong { b"Hello World!" } else { b"Hello world!" },
                ));
            }
        });
        let mut generator = generator_by(driver, protocol, target, 2, 20, vec![hello()]);
        let report = run(&mut generator, &counted(RequestQuota::Requests(5_000)));
        only(&report, Failure::Mismatch);
        let tally = &report.total.tally;
        assert_eq!((tally.failed.total(), tally.answered, tally.connects), (5, 4_995, 0));
        assert_eq!(report.first_failure.unwrap().got, b"Hello World!");
    }
}

#[test]
fn answers_that_are_mixed_up_are_found() {
    for (driver, protocol) in ways() {
        // Each request has an answer of its own, and sometimes two are swapped.
        let target = serve_http2(protocol, &[], |mut peer| {
            let mut count = 0;
            while let Some(asked) = peer.request() {
                count += 1;
                if count % 100 != 0 {
                    peer.send(answer_with(asked.stream, asked.path.as_bytes()));
                } else if let Some(other) = peer.request() {
                    let crossed = [
                        answer_with(other.stream, asked.path.as_bytes()),
                        answer_with(asked.stream, other.path.as_bytes()),
                    ];
                    peer.send(crossed.concat());
                }
            }
        });
        let exchanges =
            (0..7).map(|index| get(&format!("/{index}"), format!("/{index}").as_bytes())).collect();
        let mut generator = generator_by(driver, protocol, target, 1, 10, exchanges);
        let report = run(&mut generator, &counted(RequestQuota::Requests(3_000)));
        let tally = &report.total.tally;
        assert!((10..=62).contains(&tally.failed.get(Failure::Mismatch)), "{tally:?}");
        assert_eq!(tally.failed.total(), tally.failed.get(Failure::Mismatch), "{tally:?}");
    }
}

#[test]
fn a_stalled_stream_times_out_alone() {
    for (driver, protocol) in ways() {
        for streams_max in [&[][..], &[(3, 2)]] {
            let target = serve_http2(protocol, streams_max, |mut peer| {
                let mut is_first = true;
                while let Some(asked) = peer.request() {
                    if !std::mem::take(&mut is_first) {
                        peer.send(answer(asked.stream));
                    }
                }
            });
            let mut generator = generator_by(driver, protocol, target, 1, 6, vec![hello()]);
            let report = run(
                &mut generator,
                &Load { response_timeout: ms(500), ..counted(RequestQuota::Requests(200)) },
            );
            let tally = &report.total.tally;
            only(&report, Failure::ResponseTimeout);
            assert_eq!((tally.failed.total(), tally.connects), (1, 0), "{tally:?}");
            assert!(tally.answered > 100, "{tally:?}");
        }
    }
}

/// All streams that the server allows are stalled: waiting requests are sent when those are given up.
#[test]
fn a_request_that_is_given_up_makes_room_for_those_that_wait() {
    for (driver, protocol) in ways() {
        let target = serve_http2(protocol, &[(3, 1)], |mut peer| {
            let mut is_first = true;
            while let Some(asked) = peer.request() {
                if !std::mem::take(&mut is_first) {
                    peer.send(answer(asked.stream));
                }
            }
        });
        let mut generator = generator_by(driver, protocol, target, 1, 4, vec![hello()]);
        let load = Load { response_timeout: ms(500), ..open(100.0, ArrivalProcess::Constant, ms(1_500)) };
        let report = run(&mut generator, &load);
        let tally = &report.total.tally;
        // The first one timed out; requests that waited behind it may have timed out with it.
        assert!((1..=4).contains(&tally.failed.get(Failure::ResponseTimeout)), "{tally:?}");
        assert_eq!(tally.failed.total(), tally.failed.get(Failure::ResponseTimeout), "{tally:?}");
        assert!(tally.answered >= 140, "{tally:?}");
    }
}

#[test]
fn what_only_http_1_has_is_refused() {
    let target = serve_http2(Protocol::H2c, &[], |mut peer| peer.always(b"Hello world!"));
    let mut generator = generator_of(speaking(Protocol::H2c, target, 1, 1, 1), hello());
    let mut refused = |load| generator.run(&load, &Arc::default()).unwrap_err();
    assert_eq!(refused(Load { pipeline: 2, ..load(10, 10) }), LoadError::Http2Pipeline);
    assert_eq!(
        refused(Load { requests_per_connection: Some(2), ..load(10, 10) }),
        LoadError::Http2Connections
    );
    let broken = Exchange { request: b"GET /".to_vec(), ..hello() };
    let mut generator = generator_of(speaking(Protocol::H2c, target, 1, 1, 1), broken);
    assert!(matches!(generator.run(&load(10, 10), &Arc::default()), Err(LoadError::Request(_))));
}

/// A running nghttpd, which is ended when this is dropped.
struct Nghttpd(Child);

impl Drop for Nghttpd {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

#[test]
fn nghttpd_is_understood() {
    let folder = std::env::temp_dir().join(format!("tare-load-nghttpd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("large"), body(300_000)).unwrap();
    std::fs::write(folder.join("hello"), b"Hello world!").unwrap();
    let (certificate, key) = files(&folder);
    for (driver, protocol) in ways() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("nghttpd");
        command.args(["--address=127.0.0.1", "-d"]).arg(&folder).stdout(Stdio::null()).stderr(Stdio::null());
        match protocol.is_tls() {
            false => command.arg("--no-tls").arg(port.to_string()),
            true => command.arg(port.to_string()).arg(&key).arg(&certificate),
        };
        let Ok(child) = command.spawn() else { return skip("nghttpd", "it is not in PATH") };
        let _ends = Nghttpd(child);
        let target = std::net::SocketAddr::from(([127, 0, 0, 1], port));
        let begun = Instant::now();
        while std::net::TcpStream::connect(target).is_err() {
            assert!(begun.elapsed() < seconds(10), "nghttpd does not listen");
            std::thread::sleep(ms(20));
        }
        let exchanges = vec![get("/hello", b"Hello world!"), get("/large", &body(300_000))];
        let mut generator = generator_by(driver, protocol, target, 2, 150, exchanges);
        let report = run(&mut generator, &counted(RequestQuota::Requests(2_000)));
        let tally = &report.total.tally;
        assert_eq!(
            (tally.answered, tally.failed.total()),
            (2_000, 0),
            "{protocol} {:?}",
            report.first_failure
        );
        assert!(report.total.stream_wait.count() > 0, "it allows 100 streams");
        if let Some(handshakes) = report.handshakes {
            assert_eq!(handshakes.negotiated[0].0.alpn.as_deref(), Some("h2"));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
