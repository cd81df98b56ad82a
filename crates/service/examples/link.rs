//! Measures the slow link on this machine: round trips, throughput, loss, its cost, and a new connection for
//! each message. It prints figures and tests nothing: `cargo run --release -p tare-service --example link`.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::{
    net::sockopt,
    thread::{CpuSet, sched_setaffinity},
};
use tare_base::{Histogram, Route};
use tare_host::{
    cpus::{Pinning, available},
    link::{Choice, Link, SERVER, rights},
};
use tare_load::{
    Connections, Exchange, ExchangePool, Expected, ExpectedBody, Generator, GeneratorSettings, Load,
    RequestQuota, Schedule, Stop,
};

const SEED: u64 = 7;
const PORT: u16 = 10_000;
const TIMEOUT: Duration = Duration::from_secs(5);
/// Payload of a full TCP segment of 1500 bytes with timestamps.
const SEGMENT_BYTES: f64 = 1448.0;

fn main() {
    // Must precede the first thread.
    println!("rights      {:?}", rights::obtain().unwrap_or_else(|error| panic!("{error}")));
    let pinning = Pinning::choose(&available(), 1, 1);
    println!("link        {}", make("delay=0ms", SEED, &pinning, Choice::Auto).kind());
    round_trips(None, &pinning);
    for delay in ["delay=0ms", "delay=1ms", "delay=26ms"] {
        round_trips(Some(delay), &pinning);
    }
    for rate in ["rate=10mbit", "rate=100mbit", "rate=1gbit", "delay=26ms,rate=100mbit"] {
        throughput(rate, &pinning);
    }
    for seed in SEED..SEED + 3 {
        loss("loss=0.1%", seed, &pinning);
    }
    for link in ["delay=26ms", "delay=26ms,rate=100mbit"] {
        new_connections(link, &pinning);
    }
}

fn make(spec: &str, seed: u64, pinning: &Pinning, choice: Choice) -> Link {
    let spec = spec.parse().unwrap_or_else(|error| panic!("{error}"));
    Link::create_of(choice, &spec, &pinning.generator, seed).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `work` in the server's namespace and on its CPUs.
fn serve<T: Send>(link: &Link, pinning: &Pinning, work: impl FnOnce() -> T + Send) -> T {
    link.server().within(|| pinned(&pinning.server, work)).unwrap()
}

/// Runs `work` in the client's namespace and on the generator's CPUs.
fn ask<T: Send>(link: &Link, pinning: &Pinning, work: impl FnOnce() -> T + Send) -> T {
    link.client().within(|| pinned(&pinning.generator, work)).unwrap()
}

fn pinned<T>(cpus: &[usize], work: impl FnOnce() -> T) -> T {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    sched_setaffinity(None, &set).unwrap();
    work()
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1_000.0
}

/// Echoes 1,000 UDP datagrams a second; without a link over loopback, as the cost of both ends.
fn round_trips(spec: Option<&str>, pinning: &Pinning) {
    const COUNT: u32 = 5_000;
    let link = make(spec.unwrap_or("delay=0ms"), SEED, pinning, Choice::UserSpace);
    let echo = link.server().within(|| UdpSocket::bind((SERVER, PORT)).unwrap()).unwrap();
    let from = if spec.is_some() { link.client() } else { link.server() };
    let socket = from.within(|| UdpSocket::bind(("0.0.0.0", 0)).unwrap()).unwrap();
    socket.connect((SERVER, PORT)).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut times = Histogram::default();
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            serve(&link, pinning, || {
                for _ in 0..COUNT {
                    let mut datagram = [0; 8];
                    let (_, from) = echo.recv_from(&mut datagram).unwrap();
                    echo.send_to(&datagram, from).unwrap();
                }
            });
        });
        scope.spawn(|| {
            for number in 0..COUNT {
                let due = start + Duration::from_millis(1) * number;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                let sent_ns = start.elapsed().as_nanos() as u64;
                socket.send(&sent_ns.to_ne_bytes()).unwrap();
            }
        });
        for _ in 0..COUNT {
            let mut datagram = [0; 8];
            socket.recv(&mut datagram).unwrap();
            times.record(start.elapsed().as_nanos() as u64 - u64::from_ne_bytes(datagram));
        }
    });
    let asked_ns = link.spec().up.delay_ns + link.spec().down.delay_ns;
    let over = |quantile| us(times.quantile_ns(quantile)) - us(asked_ns);
    println!(
        "round trip  {}: {:.0} us asked for, and over that p50 {:+.0}, p99 {:+.0}, max {:+.0} us",
        spec.unwrap_or("loopback"),
        us(asked_ns),
        over(0.5),
        over(0.99),
        us(times.max_ns()) - us(asked_ns)
    );
    cost(&link, start.elapsed());
}

/// Sends to the server over one TCP connection, after three seconds of slow start.
fn throughput(spec: &str, pinning: &Pinning) {
    let link = make(spec, SEED, pinning, Choice::UserSpace);
    let listener = link.server().within(|| TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).unwrap()).unwrap();
    let start = Instant::now();
    let bits_per_s = std::thread::scope(|scope| {
        let received = scope.spawn(|| serve(&link, pinning, || receive(&listener)));
        ask(&link, pinning, || {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, PORT)).unwrap();
            let chunk = vec![7; 128 * 1024];
            while start.elapsed() < Duration::from_secs(13) && stream.write_all(&chunk).is_ok() {}
        });
        received.join().unwrap()
    });
    let rate = link.spec().up.rate_bits_per_s.unwrap_or(u64::MAX) as f64;
    println!(
        "throughput  {spec}: {:.2} mbit/s of payload, {:.2}% of what the rate leaves for it (1448 of 1500 bytes)",
        bits_per_s / 1e6,
        bits_per_s / (rate * SEGMENT_BYTES / 1500.0) * 100.0
    );
    cost(&link, start.elapsed());
}

fn receive(listener: &TcpListener) -> f64 {
    let (mut stream, _) = listener.accept().unwrap();
    let (start, mut buffer) = (Instant::now(), vec![0; 128 * 1024]);
    let (mut bytes, mut begin) = (0, None);
    loop {
        let count = stream.read(&mut buffer).unwrap();
        let elapsed = start.elapsed();
        match begin {
            None if elapsed > Duration::from_secs(3) => begin = Some(elapsed),
            None => {}
            Some(begin) if count == 0 || elapsed > begin + Duration::from_secs(8) => {
                return bytes as f64 * 8.0 / (elapsed - begin).as_secs_f64();
            }
            Some(_) => bytes += count,
        }
    }
}

/// Sends UDP datagrams to a receiver with a large buffer, so that only the link loses any.
fn loss(spec: &str, seed: u64, pinning: &Pinning) {
    const COUNT: u64 = 100_000;
    let link = make(spec, seed, pinning, Choice::UserSpace);
    let sink = link.server().within(|| UdpSocket::bind((SERVER, PORT)).unwrap()).unwrap();
    // To exceed net.core.rmem_max needs a right outside this namespace.
    if sockopt::set_socket_recv_buffer_size_force(&sink, 16 << 20).is_err() {
        sockopt::set_socket_recv_buffer_size(&sink, 16 << 20).unwrap();
    }
    let start = Instant::now();
    let seen = std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            serve(&link, pinning, || {
                sink.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
                (0..COUNT).take_while(|_| sink.recv(&mut [0; 8]).is_ok()).count() as u64
            })
        });
        ask(&link, pinning, || {
            let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
            for number in 0..COUNT {
                socket.send_to(&number.to_ne_bytes(), (SERVER, PORT)).unwrap();
                if number % 10 == 9 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        });
        seen.join().unwrap()
    });
    println!("loss        {spec}, seed {seed}: {} of {COUNT} datagrams did not come", COUNT - seen);
    cost(&link, start.elapsed());
}

/// Sends POST requests to the reference, each on a new connection, from ten producers at a time.
fn new_connections(spec: &str, pinning: &Pinning) {
    const PRODUCERS: usize = 10;
    let link = make(spec, SEED, pinning, Choice::UserSpace);
    let stop = AtomicBool::new(false);
    let target = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    std::thread::scope(|scope| {
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK";
        scope.spawn(|| serve(&link, pinning, || tare_reference::serve(PORT, 1, response, &stop)).unwrap());
        let open = || TcpStream::connect_timeout(&target, TIMEOUT).is_err();
        while ask(&link, pinning, open) {}
        for each in [20, 40, 80] {
            let route = Route { namespace: Some(link.client().fd()), ..target.into() };
            let connections = Connections { total: PRODUCERS, threads: 1 };
            let cpus = pinning.generator.clone();
            let settings = GeneratorSettings { cpus, ..GeneratorSettings::new(route, connections, SEED) };
            let quota = Stop::count(RequestQuota::RequestsEach(each), Duration::from_secs(60), TIMEOUT);
            let load = Load::new(Schedule::SATURATE, quota, TIMEOUT);
            let load = Load { requests_per_connection: Some(1), ..load };
            let mut generator = Generator::new(settings, Arc::new(ExchangePool::new(vec![post()]))).unwrap();
            let report = generator.run(&load, &Arc::default()).unwrap();
            let total = &report.total;
            assert_eq!(total.tally.answered, each * PRODUCERS as u64, "{:?}", report.first_failure);
            let round_trip_ns = link.spec().up.delay_ns + link.spec().down.delay_ns;
            let each_ns = report.elapsed_ns / each;
            println!(
                "connections {spec}: {PRODUCERS} x {each} POSTs in {:.3} s, {:.2} ms each, {:.3} round trips; \
                 connect p50 {:.2} ms, answer p50 {:.2} ms",
                report.elapsed_ns as f64 / 1e9,
                us(each_ns) / 1e3,
                each_ns as f64 / round_trip_ns as f64,
                us(total.connect_time.quantile_ns(0.5)) / 1e3,
                us(total.latency.quantile_ns(0.5)) / 1e3,
            );
        }
        stop.store(true, Ordering::Relaxed);
    });
    cost(&link, Duration::ZERO);
}

fn post() -> Exchange {
    let body = "{\"message\":\"hello\"}";
    let head = format!("POST /test HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n", body.len());
    Exchange {
        request: (head + body).into_bytes(),
        is_head: false,
        expected: Expected { status: 200, body: ExpectedBody::Exact(b"OK".to_vec()) },
        name: "test".to_owned(),
        step: None,
    }
}

fn cost(link: &Link, elapsed: Duration) {
    let counters = link.counters().unwrap();
    let packets = counters.up.packets + counters.down.packets;
    let cpu_ns = counters.cpu_ns.unwrap_or(0);
    let share = if elapsed.is_zero() { 0.0 } else { cpu_ns as f64 / elapsed.as_nanos() as f64 * 100.0 };
    let mut late = counters.up.late.clone();
    late.merge(&counters.down.late);
    println!(
        "            {packets} packets, {:.2} us of CPU each ({share:.1}% of one); late p50 {:.0}, p99 {:.0}, max {:.0} us; \
         lost {}, dropped {}, refused {}, unread {}",
        cpu_ns as f64 / 1_000.0 / packets.max(1) as f64,
        us(late.quantile_ns(0.5)),
        us(late.quantile_ns(0.99)),
        us(late.max_ns()),
        counters.up.lost + counters.down.lost,
        counters.up.dropped + counters.down.dropped,
        counters.up.refused + counters.down.refused,
        counters.unread
    );
}
