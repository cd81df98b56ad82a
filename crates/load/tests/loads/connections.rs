//! How requests are distributed over connections: quotas, sessions, batches, pipelines, addresses.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::kit::fixed::Fixed;
use crate::kit::load::*;
use crate::kit::peer::{Requests, serve, serve_unix};
use crate::kit::scenarios::{Client, sessions};
use tare_base::{Endpoint, Route};
use tare_load::{DriverChoice, Generator, GeneratorError, GeneratorSettings, Load, RequestQuota};

#[test]
fn connections_that_do_not_divide_by_threads_are_all_used() {
    for driver in drivers() {
        let requests = Requests::default();
        let counting = requests.clone();
        let target = serve(move |peer| counting.count(peer, HELLO));
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 10, 3) };
        let report = run(&mut generator_of(settings, hello()), &counted(RequestQuota::RequestsEach(5)));
        assert_eq!((report.threads, report.total.tally.connects), (3, 10));
        assert_eq!(requests.counts(), [5; 10]);
    }
}

#[test]
fn a_batch_is_exact_for_every_slot() {
    for driver in drivers() {
        for (pipeline, each) in [(1, 50), (4, 50), (8, 3)] {
            let requests = Requests::default();
            let counting = requests.clone();
            let target = serve(move |peer| counting.count(peer, HELLO));
            let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 4, 2) };
            let load = Load { pipeline, ..counted(RequestQuota::RequestsEach(each)) };
            let tally = run(&mut generator_of(settings, hello()), &load).total.tally;
            assert_eq!((tally.sent, tally.answered, tally.unsent), (4 * each, 4 * each, 0));
            assert_eq!(requests.counts(), [each; 4]);
        }
    }
}

#[test]
fn a_new_connection_for_each_message() {
    for driver in drivers() {
        let requests = Requests::default();
        let counting = requests.clone();
        let target = serve(move |peer| counting.count(peer, HELLO));
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 4, 2) };
        let load = Load { requests_per_connection: Some(1), ..counted(RequestQuota::RequestsEach(10)) };
        let total = run(&mut generator_of(settings, hello()), &load).total;
        assert_eq!((total.tally.answered, total.tally.connects), (40, 40));
        assert_eq!(requests.counts(), [1; 40]);
        assert_eq!((total.connect_time.count(), total.connection_time.count()), (40, 40));
        assert!(total.connect_time.max_ns() <= total.connection_time.max_ns());
    }
}

#[test]
fn sessions_reconcile_whatever_happens_to_them() {
    for driver in drivers() {
        let client = Client::with(driver);
        let report = sessions(&client, Fixed::hello().serve(), 200, 20, 20);
        let tally = &report.total.tally;
        assert_eq!((tally.answered, tally.unsent, tally.connects), (4_000, 0, 200), "{tally:?}");
        assert_eq!(report.total.connection_time.count(), 200);

        // A quarter of the sessions is cut off after three answers.
        let fragile = serve(|mut peer| {
            let answers = if peer.index % 4 == 0 { 3 } else { usize::MAX };
            for _ in 0..answers {
                if !(peer.request() && peer.send(HELLO)) {
                    return;
                }
            }
            peer.reset();
        });
        let tally = sessions(&client, fragile, 200, 20, 20).total.tally;
        assert_eq!(tally.sent + tally.unsent, 4_000, "{tally:?}");
        assert_eq!(tally.sent, tally.answered + tally.failed.total());
        assert_eq!((tally.answered, tally.connects), (150 * 20 + 50 * 3, 200), "{tally:?}");
    }
}

#[test]
fn each_request_of_a_pipeline_has_a_time_of_its_own() {
    const STEP: Duration = Duration::from_millis(5);
    // Answers the n-th request of a connection n steps after the first arrived.
    let target = serve(|mut peer| {
        let mut start = None;
        for answer in 1.. {
            if !peer.request() {
                return;
            }
            let due = *start.get_or_insert_with(Instant::now) + STEP * answer;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            peer.send(HELLO);
        }
    });
    for driver in drivers() {
        attempts("a pipeline", || {
            let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 1, 1) };
            let load = Load { pipeline: 8, ..counted(RequestQuota::Requests(8)) };
            let latency = run(&mut generator_of(settings, hello()), &load).total.latency;
            assert_eq!(latency.count(), 8);
            // The median of each eighth: one request.
            let each_ms: Vec<f64> =
                (0..8).map(|n| latency.quantile_ns((f64::from(n) + 0.5) / 8.0) as f64 / 1e6).collect();
            println!("{}: {each_ms:.1?} ms", driver.name());
            for (n, ms) in each_ms.iter().enumerate() {
                assert!(*ms > 5.0 * (n + 1) as f64 - 0.1, "before it was answered: {each_ms:?}");
            }
            // On an overloaded machine they are later than 5, 10, 15 ms and so on, but not equally so.
            let differ = each_ms[0] < each_ms[7] / 2.0 && each_ms[3] < each_ms[7];
            if differ { Ok(()) } else { Err(format!("{each_ms:?} are one value for all").into()) }
        });
    }
}

#[test]
fn a_unix_socket() {
    for driver in drivers() {
        let requests = Requests::default();
        let counting = requests.clone();
        let path = serve_unix(move |peer| counting.count(peer, HELLO));
        let settings = GeneratorSettings {
            driver: DriverChoice::Only(driver),
            ..settings(Endpoint::Unix(path.clone()), 3, 1)
        };
        let mut generator = generator_of(settings, hello());
        generator.open(3, TIMEOUT).unwrap();
        let report = run(&mut generator, &Load { pipeline: 2, ..counted(RequestQuota::RequestsEach(20)) });
        assert_eq!(report.total.tally.answered, 60, "{:?}", report.first_failure);
        assert_eq!(requests.counts(), [20; 3]);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn source_addresses_take_turns() {
    for driver in drivers() {
        let seen = Arc::new(Mutex::new(BTreeMap::<IpAddr, usize>::new()));
        let noting = Arc::clone(&seen);
        let target = serve(move |mut peer| {
            *noting.lock().unwrap().entry(peer.stream.peer_addr().unwrap().ip()).or_default() += 1;
            peer.always(HELLO);
        });
        let sources: Vec<IpAddr> = (2..=5).map(|last| Ipv4Addr::new(127, 0, 0, last).into()).collect();
        let route = Route { sources: sources.clone(), ..target.into() };
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(route, 8, 1) };
        let mut generator = generator_of(settings, hello());
        assert_eq!(run(&mut generator, &counted(RequestQuota::RequestsEach(1))).total.tally.answered, 8);
        let expected: BTreeMap<_, _> = sources.into_iter().map(|source| (source, 2)).collect();
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}

#[test]
fn a_target_in_another_namespace_is_reached_there() {
    use std::os::fd::OwnedFd;
    // A thread that makes a network namespace, in which loopback is still down, and sends its descriptor.
    let (told, namespace) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // SAFETY: only the network namespace of this thread changes, and the thread ends here.
        let made = unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) };
        let opened = made.map_err(io::Error::from).and_then(|()| File::open("/proc/thread-self/ns/net"));
        told.send(opened.map(OwnedFd::from)).unwrap();
    });
    let namespace = match namespace.recv().unwrap() {
        Ok(namespace) => Arc::new(namespace),
        Err(refused) => return skip("a_target_in_another_namespace_is_reached_there", &refused.to_string()),
    };
    let target = serve(|mut peer| peer.always(HELLO));
    for driver in drivers() {
        let generator = |namespace| {
            let route = Route { namespace, ..target.into() };
            let driver = DriverChoice::Only(driver);
            generator_of(GeneratorSettings { driver, ..settings(route, 2, 2) }, hello())
        };
        generator(None).open(2, TIMEOUT).unwrap();
        // In that namespace 127.0.0.1 is unreachable.
        let failed = generator(Some(Arc::clone(&namespace))).open(2, seconds(2)).unwrap_err();
        assert_eq!(failed.open, 0, "{failed}");
    }
    let no_namespace = Arc::new(OwnedFd::from(File::open("/dev/null").unwrap()));
    let route = Route { namespace: Some(no_namespace), ..target.into() };
    let error = Generator::new(settings(route, 1, 1), pool(hello())).unwrap_err();
    assert!(matches!(error, GeneratorError::Namespace(_)), "{error}");
}
