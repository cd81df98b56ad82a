//! Runs against well-behaved servers, and the ends of runs.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::kit::fixed::Fixed;
use crate::kit::load::*;
use crate::kit::peer::{Peer, serve};
use tare_load::{
    ArrivalProcess, Connections, DriverChoice, Exchange, ExchangePool, ExpectedBody, Generator,
    GeneratorError, GeneratorSettings, Load, Measures, RequestQuota, Schedule, Stop, Think, Waiting,
};

#[test]
fn all_is_answered_and_connections_live_on() {
    for driver in drivers() {
        let target = serve(|mut peer| peer.always(HELLO));
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 5, 2) };
        let mut generator = generator_of(settings, hello());
        generator.open(5, TIMEOUT).unwrap();
        for _ in 0..3 {
            let report = run(&mut generator, &counted(RequestQuota::RequestsEach(20)));
            assert_eq!((report.driver.kind, report.threads), (driver, 2));
            let tally = report.total.tally;
            assert_eq!(tally.answered, 5 * 20, "{tally:?}");
            assert_eq!((tally.failed.total(), tally.in_flight, tally.connects), (0, 0, 0));
            assert_eq!(tally.bytes_received, tally.answered * HELLO.len() as u64);
            assert_eq!(tally.bytes_sent, tally.sent * hello().request.len() as u64);
        }
        generator.close();
        assert_eq!(run(&mut generator, &counted(RequestQuota::RequestsEach(20))).total.tally.connects, 5);
    }
}

#[test]
fn a_generator_that_polls_works_for_a_part_of_its_time() {
    for driver in drivers() {
        // An answer takes far longer than the generator's own work for it.
        let target = serve(|mut peer| {
            while peer.request() {
                std::thread::sleep(ms(5));
                peer.send(HELLO);
            }
        });
        let mut generator = generator_of(
            GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 1, 1) },
            hello(),
        );
        let sleeping = run(&mut generator, &load(400, 200));
        assert_eq!(sleeping.generator_polled_ns, 0);
        let polling = run(&mut generator, &Load { waiting: Waiting::Poll, ..load(400, 200) });
        assert!(polling.total.tally.answered > 0);
        assert!(polling.generator_cpu_ns > 2 * sleeping.generator_cpu_ns, "{driver:?}: {polling:?}");
        assert!(polling.generator_polled_ns > polling.generator_busy_ns(), "{driver:?}: {polling:?}");
    }
}

#[test]
fn connection_close_is_obeyed() {
    let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 12\r\n\r\nHello world!";
    let until_close = "HTTP/1.1 200 OK\r\n\r\nHello world!";
    for response in [closing, until_close, "HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\nHello world!"] {
        let tally = meet(move |mut peer| peer.once(response)).total.tally;
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
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
        }
    });
    assert!(report.total.tally.answered > 4);
    assert_eq!(report.total.tally.failed.total(), 0, "{:?}", report.first_failure);
    assert!(report.total.latency.min_ns() > 1_000_000, "to the last byte: {:?}", report.total.latency);
}

#[test]
fn large_requests_and_responses() {
    let body = "x".repeat(1 << 20);
    let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // The server looks for the empty line, so that comes last.
    let request = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", body.repeat(6)).into_bytes();
    let sent = request.len() as u64;
    let target = serve(move |mut peer| {
        let mut buffer = vec![0; 1 << 16];
        let mut taken = 0;
        while let Ok(bytes @ 1..) = peer.stream.read(&mut buffer) {
            taken += bytes as u64;
            if taken == sent {
                taken = 0;
                peer.send(&response);
            }
        }
    });
    for driver in drivers() {
        let large =
            Exchange { request: request.clone(), ..exchange(ExpectedBody::Exact(body.clone().into())) };
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 2, 1) };
        let report = run(&mut generator_of(settings, large), &load(300, 10_000));
        let tally = &report.total.tally;
        assert!(tally.answered > 0, "{tally:?}");
        assert_eq!(tally.answered, tally.sent, "{:?}", report.first_failure);
        assert_eq!(tally.bytes_sent, tally.sent * sent);
    }
}

#[test]
fn stop_by_count_is_exact_and_bounded() {
    for pipeline in [1, 4] {
        let mut generator = generator(serve(|mut peer| peer.always(HELLO)), 7, 2);
        let load = Load { pipeline, ..counted(RequestQuota::Requests(1_001)) };
        let report = run(&mut generator, &load);
        let tally = &report.total.tally;
        assert_eq!((tally.sent, tally.answered, tally.answered_in_window), (1_001, 1_001, 1_001));
        assert!(report.window_ns <= report.elapsed_ns);
    }
    let mut stalled = generator(serve(Peer::stall), 2, 1);
    let bounded = Load { stop: Stop::count(RequestQuota::Requests(9), ms(50), ms(50)), ..load(0, 0) };
    assert_eq!(run(&mut stalled, &bounded).total.tally.in_flight, 2);
}

#[test]
fn think_time_spaces_the_requests() {
    let mut generator = generator(serve(|mut peer| peer.always(HELLO)), 4, 1);
    generator.open(4, TIMEOUT).unwrap();
    for think in [Think::Fixed(10_000_000), Think::Uniform { min_ns: 5_000_000, max_ns: 15_000_000 }] {
        let thinking = Load { schedule: Schedule::Closed { think }, ..load(2_000, 100) };
        let total = run(&mut generator, &thinking).total;
        assert!((550..=850).contains(&total.tally.sent), "4 x 2000 / 10 is 800, not {}", total.tally.sent);
        assert_eq!(total.schedule_lag.count(), total.tally.sent);
    }
}

#[test]
fn an_interrupt_ends_the_run() {
    for driver in drivers() {
        for endless in [
            load(60_000, 1_000),
            Load { stop: load(60_000, 1_000).stop, ..open(100.0, ArrivalProcess::Poisson, ms(1)) },
        ] {
            let target = serve(|mut peer| peer.always(HELLO));
            let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 2, 2) };
            let mut generator = generator_of(settings, hello());
            let interrupt = Arc::new(AtomicBool::new(false));
            let (report, took) = std::thread::scope(|scope| {
                let told = scope.spawn(|| {
                    std::thread::sleep(ms(100));
                    interrupt.store(true, Ordering::Relaxed);
                    Instant::now()
                });
                let report = run_until(&mut generator, &endless, &interrupt);
                (report, told.join().unwrap().elapsed())
            });
            // 20 ms, and the slack of a busy machine.
            assert!(took < ms(20) + SLACK, "{took:?} after the interrupt");
            assert!(report.interrupted);
            assert!((50_000_000..700_000_000).contains(&report.window_ns), "{}", report.window_ns);
        }
    }
}

#[test]
fn idle_connections_closed_between_runs_are_no_failures() {
    let target = serve(|mut peer| {
        peer.stream.set_read_timeout(Some(ms(30))).unwrap();
        peer.always(HELLO);
    });
    let mut generator = generator(target, 3, 1);
    generator.open(3, TIMEOUT).unwrap();
    for _ in 0..2 {
        std::thread::sleep(ms(100));
        let tally = run(&mut generator, &counted(RequestQuota::RequestsEach(1))).total.tally;
        assert_eq!((tally.failed.total(), tally.connects), (0, 3), "{tally:?}");
    }
}

#[test]
fn every_connection_meets_every_exchange() {
    let named = |name: &str| Exchange {
        request: format!("GET /{name} HTTP/1.1\r\n\r\n").into_bytes(),
        name: name.to_owned(),
        ..exchange(ExpectedBody::json(serde_json::json!({ "name": name })))
    };
    let target = serve(|mut peer| {
        let mut head = vec![];
        let mut byte = [0];
        while let Ok(1) = peer.stream.read(&mut byte) {
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
    let mut generator =
        Generator::new(GeneratorSettings { cpus: vec![0], ..settings(target, 2, 1) }, pool).unwrap();
    for pipeline in [1, 2, 8] {
        let report = run(&mut generator, &Load { pipeline, ..counted(RequestQuota::Requests(60)) });
        assert_eq!(report.total.tally.answered, 60);
        assert_eq!(report.total.tally.failed.total(), 0, "{:?}", report.first_failure);
    }
    generator.set_pool(Arc::new(ExchangePool::new(vec![])));
    assert_eq!(run(&mut generator, &load(50, 200)).total.tally.sent, 0);
}

#[test]
fn intervals_sum_up_to_the_total() {
    let loads = [
        load(230, 200),
        open(3_000.0, ArrivalProcess::Poisson, ms(230)),
        counted(RequestQuota::Requests(3_000)),
    ];
    for driver in drivers() {
        for load in loads.clone() {
            let settings = GeneratorSettings {
                driver: DriverChoice::Only(driver),
                ..settings(Fixed::hello().serve(), 6, 2)
            };
            let mut generator = generator_of(settings, hello());
            let (mut sum, mut end_ns) = (Measures::default(), 0);
            let mut watch = |interval: &tare_load::RunInterval| {
                assert_eq!(interval.from_ns, end_ns, "no gap");
                end_ns = interval.to_ns;
                sum += &interval.measures;
            };
            let load = Load { interval: Some(ms(50)), ..load };
            let report = generator.run_watched(&load, &Arc::default(), &mut watch).unwrap();
            prove(&report);
            assert_eq!(sum, report.total);
            assert_eq!(end_ns, report.elapsed_ns);
        }
    }
}

#[test]
fn a_load_that_cannot_be_is_refused() {
    let mut generator = generator(serve(|mut peer| peer.always(HELLO)), 1, 1);
    let impossible = [
        Load { pipeline: 0, ..load(10, 10) },
        Load { pipeline: 2, ..open(10.0, ArrivalProcess::Constant, ms(10)) },
        Load { requests_per_connection: Some(0), ..load(10, 10) },
        counted(RequestQuota::Connections(1)),
    ];
    for load in impossible {
        let error = generator.run(&load, &Arc::default()).unwrap_err();
        assert_eq!(Err(error), load.validate());
    }
}

#[test]
fn what_cannot_work_is_said_at_once() {
    let target: std::net::SocketAddr = "127.0.0.1:1".parse().unwrap();
    let make = |total, threads, cpus, pool| {
        let connections = Connections { total, threads };
        Generator::new(GeneratorSettings { connections, cpus, ..settings(target, 1, 1) }, pool).unwrap_err()
    };
    assert!(matches!(make(0, 1, vec![], pool(hello())), GeneratorError::NoConnections { .. }));
    assert!(matches!(make(1, 0, vec![], pool(hello())), GeneratorError::NoConnections { .. }));
    assert!(matches!(make(1, 1, vec![9_999], pool(hello())), GeneratorError::Pin { cpu: 9_999, .. }));
    assert!(matches!(make(1, 1, vec![], Arc::new(ExchangePool::new(vec![]))), GeneratorError::EmptyPool));
}
