//! A service on one side of a slow link and the generator on the other: started, loaded and stopped by the
//! same code as without a link. The tests depend on minimum times only, not on speed.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tare_base::{Endpoint, Route};
use tare_contract::Contract;
use tare_host::{
    fixture,
    link::{CLIENT, Link},
    process::{Isolation, Probed, Sandbox, Supervisor, free_port, port_in_use},
};
use tare_load::{
    Connections, Exchange, ExchangePool, Expected, ExpectedBody, Generator, Load, RequestQuota, RunReport,
    Schedule, Stop,
};
use tare_service::{
    catalogue::{Catalogue, RawSocket, Service},
    client::Channel,
    drive,
    launch::{self, LaunchSettings},
    probe::{self, Readiness},
    settings::ServiceSettings,
};

/// A program with the command `watchdog`.
const FAKE: &str = env!("CARGO_BIN_EXE_fake-service");
const GRACE: Duration = Duration::from_secs(10);
const DELAY_MS: u64 = 5;
const ROUND_TRIP_NS: u64 = 2 * DELAY_MS * 1_000_000;
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// `None` if this machine does not allow links.
fn link(test: &str, spec: &str) -> Option<Link> {
    fixture::link(test, Link::create(&spec.parse().unwrap(), &[], 1))
}

fn contract() -> Contract {
    let contracts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/hello.toml");
    Contract::load(&contracts).unwrap()
}

fn fake_service(folder: &Path) -> Service {
    std::fs::create_dir_all(folder.join("services")).unwrap();
    let mut catalogue = Catalogue::load(folder, &["hello"], RawSocket::default()).unwrap();
    let mut service = catalogue.services.remove(0);
    (service.id, service.run.command) = ("fake".to_owned(), vec![FAKE.to_owned()]);
    service.folder = folder.to_owned();
    service
}

/// Twenty requests, each on a new connection.
fn load(route: Route, pool: Arc<ExchangePool>) -> RunReport {
    let connections = Connections { total: 4, threads: 2 };
    let settings = tare_load::GeneratorSettings::new(route, connections, 7);
    let stop = Stop::count(RequestQuota::RequestsEach(5), Duration::from_secs(20), Duration::from_secs(2));
    let load = Load::new(Schedule::SATURATE, stop, Duration::from_secs(10));
    let load = Load { requests_per_connection: Some(1), ..load };
    Generator::new(settings, pool).unwrap().run(&load, &Arc::default()).unwrap()
}

/// Checks that all requests were answered, and none faster than the link.
fn prove(report: &RunReport) {
    let total = &report.total;
    assert_eq!((total.tally.answered, total.tally.connects), (20, 20), "{:?}", report.first_failure);
    assert!(total.connect_time.min_ns() >= ROUND_TRIP_NS, "{:?}", total.connect_time);
    assert!(total.latency.min_ns() >= ROUND_TRIP_NS, "{:?}", total.latency);
}

#[test]
fn a_service_starts_answers_and_stops_over_a_link() {
    let Some(link) = link("a_service_starts_answers_and_stops_over_a_link", "delay=5ms") else { return };
    let (contract, folder) = (contract(), tempfile::tempdir().unwrap());
    let service = fake_service(folder.path());
    let supervisor = Supervisor::start(Path::new(FAKE), Isolation::detect()).unwrap();
    let settings = LaunchSettings {
        contract: &contract,
        service_settings: &ServiceSettings::of_threads(4),
        cpus: &[],
        seed: 7,
        readiness: Readiness::AnswersRightly,
        port: None,
        serve_on: Ipv4Addr::LOCALHOST,
        sandbox: &Sandbox::default(),
    };
    let start = || launch::launch(&service, &settings, &supervisor, folder.path(), "link");
    let ready = link.server().within(start).unwrap().unwrap();
    let Endpoint::Tcp(address) = ready.address else { panic!("it was started") };
    let port = address.port();
    assert!(address.ip().is_loopback());

    let pool = drive::pool(&contract, &address.to_string(), 7);
    let exchange = exchange();
    let ask =
        || probe::ready(&address.into(), &Channel::default(), &exchange, Readiness::Speaks, GRACE, false);
    assert_eq!(
        link.client().within(ask).unwrap(),
        Probed::Ready,
        "it answers at the same address over the link"
    );
    prove(&load(Route { namespace: Some(link.client().fd()), ..address.into() }, pool));

    assert_eq!(link.client().within(|| port_in_use(port)).unwrap(), None);
    let owner = link.server().within(|| port_in_use(port)).unwrap().unwrap();
    assert_eq!(owner.process.map(|process| process.pid), ready.process.pid());
    let stopped = link.server().within(|| ready.process.stop(GRACE)).unwrap();
    assert!(stopped.is_clean(), "{stopped}");
}

fn exchange() -> Exchange {
    Exchange {
        request: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        is_head: false,
        expected: Expected { status: 200, body: ExpectedBody::Exact(b"ok".to_vec()) },
        name: "ok".to_owned(),
        step: None,
    }
}

#[test]
fn the_reference_is_loaded_over_a_link() {
    let Some(link) = link("the_reference_is_loaded_over_a_link", "delay=5ms,jitter=1ms,rate=10mbit") else {
        return;
    };
    // Jitter can also shorten the delay.
    let port = link.server().within(free_port).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reference =
            scope.spawn(|| link.server().within(|| tare_reference::serve(port, 1, RESPONSE, &stop)));
        let address = Endpoint::from(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let ask = || {
            probe::ready(&address, &Channel::default(), &exchange(), Readiness::AnswersRightly, GRACE, false)
        };
        while link.client().within(ask).unwrap() != Probed::Ready {}
        let route = Route { namespace: Some(link.client().fd()), ..address.into() };
        let report = load(route, Arc::new(ExchangePool::new(vec![exchange()])));
        stop.store(true, Ordering::Relaxed);
        reference.join().unwrap().unwrap().unwrap();
        assert_eq!(report.total.tally.answered, 20);
        assert!(report.total.latency.min_ns() >= ROUND_TRIP_NS - 2_000_000);
    });
    let counters = link.counters().unwrap();
    // A connection needs at least SYN, acknowledgement, request and end; 21 were made, without losses.
    assert!(counters.up.packets >= 80, "{counters:?}");
    assert_eq!((counters.up.lost, counters.up.dropped, counters.unread), (0, 0, 0));
}

#[test]
fn who_holds_a_port_is_asked_of_the_namespace_in_which_it_is_held() {
    let test = "who_holds_a_port_is_asked_of_the_namespace_in_which_it_is_held";
    let Some(link) = link(test, "delay=0ms") else { return };
    let listener = link.server().within(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).unwrap();
    let port = listener.local_addr().unwrap().port();
    let owner = link.server().within(|| port_in_use(port)).unwrap().unwrap();
    assert_eq!(owner.process.unwrap().pid, std::process::id());
    drop(listener);
    assert_eq!(link.server().within(|| port_in_use(port)).unwrap(), None);
}

#[test]
fn two_links_know_nothing_of_each_other() {
    let Some(one) = link("two_links_know_nothing_of_each_other", "delay=0ms") else { return };
    let two = link("", "delay=0ms").unwrap();
    let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 10_001)).unwrap();
    let [first, second] = [one.server().within(listen).unwrap(), two.server().within(listen).unwrap()];
    let connect = || std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, 10_001)).unwrap();
    let (_to_first, _to_second) =
        (one.client().within(connect).unwrap(), two.client().within(connect).unwrap());
    for listener in [first, second] {
        assert_eq!(listener.accept().unwrap().1.ip(), CLIENT);
    }
}
