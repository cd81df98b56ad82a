//! What a run does with servers that behave, and at its ends.

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use common::*;
use tare_load::{
    Connections, Exchange, ExchangePool, ExpectedBody, Generator, GeneratorError, Schedule, Stop, Think,
};

#[test]
fn all_is_answered_and_connections_live_on() {
    let mut generator = generator(serve(|mut peer| peer.always(HELLO)), 5, 2, hello());
    generator.open(Duration::from_secs(1)).unwrap();
    for _ in 0..3 {
        let tally = run(&mut generator, &load(50, 200)).tally;
        assert!(tally.answered > 5, "{tally:?}");
        assert_eq!((tally.failed.total(), tally.in_flight, tally.connects), (0, 0, 0));
        assert_eq!(tally.bytes_received, tally.answered * HELLO.len() as u64);
        assert_eq!(tally.bytes_sent, tally.sent * hello().request.len() as u64);
    }
    generator.close();
    assert_eq!(run(&mut generator, &load(50, 200)).tally.connects, 5);
}

#[test]
fn connection_close_is_obeyed() {
    let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 12\r\n\r\nHello world!";
    let until_close = "HTTP/1.1 200 OK\r\n\r\nHello world!";
    for response in [closing, until_close, "HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\nHello world!"] {
        let tally = meet(move |mut peer| peer.once(response)).tally;
        assert!(tally.answered > 4, "{tally:?}");
        assert_eq!(tally.failed.total(), 0, "{tally:?}");
        assert!(tally.connects + 4 >= tally.answered, "{tally:?}");
    }
}

#[test]
fn answers_in_pieces() {
    let report = meet(|mut peer| {
        while peer.request() {
            for piece in HELLO.as_bytes().chunks(7) {
                peer.send(piece);
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    });
    assert!(report.tally.answered > 4);
    assert_eq!(report.tally.failed.total(), 0, "{:?}", report.first_failure);
    assert!(report.latency.min_ns() > 1_000_000, "to the last byte: {:?}", report.latency);
}

#[test]
fn large_requests_and_responses() {
    let body = "x".repeat(1 << 20);
    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let mut large = exchange(ExpectedBody::Exact(body.clone().into_bytes()));
    // The server looks for the empty line: it comes last.
    large.request = format!("GET / HTTP/1.1\r\nX: {body}{body}{body}{body}{body}{body}\r\n\r\n").into_bytes();
    let sent = large.request.len() as u64;
    let target = serve(move |mut peer| {
        let mut buffer = vec![0; 1 << 16];
        let mut taken = 0;
        while let Ok(bytes @ 1..) = std::io::Read::read(&mut peer.stream, &mut buffer) {
            taken += bytes as u64;
            if taken == sent {
                taken = 0;
                peer.send(&response);
            }
        }
    });
    let mut generator = generator(target, 2, 1, large);
    let report = run(&mut generator, &load(300, 2_000));
    assert!(report.tally.answered > 0, "{:?}", report.tally);
    assert_eq!(report.tally.answered, report.tally.sent, "{:?}", report.first_failure);
    assert_eq!(report.tally.bytes_sent, report.tally.sent * sent);
}

#[test]
fn stop_by_count_is_exact_and_bounded() {
    let mut generator = generator(serve(|mut peer| peer.always(HELLO)), 7, 2, hello());
    let mut counted = load(0, 500);
    counted.stop =
        Stop::Count { requests: 1_001, within: Duration::from_secs(10), drain: Duration::from_secs(1) };
    let report = run(&mut generator, &counted);
    assert_eq!(
        (report.tally.sent, report.tally.answered, report.tally.answered_in_window),
        (1_001, 1_001, 1_001)
    );
    assert_eq!(report.window_ns, report.elapsed_ns.min(report.window_ns));

    let mut stalled = common::generator(serve(|mut peer| peer.stall()), 2, 1, hello());
    counted.stop =
        Stop::Count { requests: 9, within: Duration::from_millis(50), drain: Duration::from_millis(50) };
    assert_eq!(run(&mut stalled, &counted).tally.in_flight, 2);
}

#[test]
fn think_time_spaces_the_requests() {
    let mut generator = generator(serve(|mut peer| peer.always(HELLO)), 4, 1, hello());
    generator.open(Duration::from_secs(1)).unwrap();
    for think in [Think::Fixed(10_000_000), Think::Uniform { min_ns: 5_000_000, max_ns: 15_000_000 }] {
        let mut thinking = load(400, 100);
        thinking.schedule = Schedule::Closed { think };
        let sent = run(&mut generator, &thinking).tally.sent;
        assert!((110..=170).contains(&sent), "4 x 400 / 10 is 160, not {sent}");
    }
}

#[test]
fn an_interrupt_ends_the_run() {
    let mut generator = generator(serve(|mut peer| peer.always(HELLO)), 2, 2, hello());
    let interrupt = AtomicBool::new(false);
    let start = Instant::now();
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        generator.run(&load(60_000, 1_000), &interrupt)
    });
    assert!(start.elapsed() < Duration::from_secs(2));
    report.tally.reconcile().unwrap();
    assert!((20_000_000..500_000_000).contains(&report.window_ns), "{}", report.window_ns);
}

#[test]
fn idle_connections_closed_between_runs_are_no_failures() {
    let target = serve(|mut peer| {
        peer.stream.set_read_timeout(Some(Duration::from_millis(30))).unwrap();
        peer.always(HELLO);
    });
    let mut generator = generator(target, 3, 1, hello());
    generator.open(Duration::from_secs(1)).unwrap();
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(100));
        let tally = run(&mut generator, &load(20, 200)).tally;
        assert_eq!((tally.failed.total(), tally.connects), (0, 3), "{tally:?}");
    }
}

#[test]
fn every_connection_meets_every_exchange() {
    let named = |name: &str| Exchange {
        request: format!("GET /{name} HTTP/1.1\r\n\r\n").into_bytes(),
        name: name.to_owned(),
        ..exchange(ExpectedBody::Json(serde_json::json!({ "name": name })))
    };
    let target = serve(|mut peer| {
        let mut head = vec![];
        let mut byte = [0];
        while let Ok(1) = std::io::Read::read(&mut peer.stream, &mut byte) {
            head.push(byte[0]);
            if head.ends_with(b"\r\n\r\n") {
                let name = char::from(head[5]);
                let body = format!("{{ \"name\": \"{name}\" }}");
                peer.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
                head.clear();
            }
        }
    });
    let pool = Arc::new(ExchangePool::new(vec![named("a"), named("b"), named("c")]));
    let connections = Connections { total: 2, threads: 1 };
    let mut generator = Generator::new(target, connections, vec![0], pool, 1).unwrap();
    let report = run(&mut generator, &load(50, 200));
    assert!(report.tally.answered >= 6);
    assert_eq!(report.tally.failed.total(), 0, "{:?}", report.first_failure);
    generator.set_pool(Arc::new(ExchangePool::new(vec![])));
    assert_eq!(run(&mut generator, &load(50, 200)).tally.sent, 0);
}

#[test]
fn what_cannot_work_is_said_at_once() {
    let target = "127.0.0.1:1".parse().unwrap();
    let pool = Arc::new(ExchangePool::new(vec![hello()]));
    let make = |total, threads, cpus, pool: &Arc<_>| {
        Generator::new(target, Connections { total, threads }, cpus, Arc::clone(pool), 0).unwrap_err()
    };
    assert!(matches!(make(0, 1, vec![], &pool), GeneratorError::NoConnections { .. }));
    assert!(matches!(make(1, 0, vec![], &pool), GeneratorError::NoConnections { .. }));
    assert!(matches!(make(1, 1, vec![9_999], &pool), GeneratorError::Pin { cpu: 9_999, .. }));
    assert!(matches!(make(1, 1, vec![], &Arc::new(ExchangePool::new(vec![]))), GeneratorError::EmptyPool));
}
