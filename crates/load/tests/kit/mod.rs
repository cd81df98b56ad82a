//! A small server that misbehaves on purpose, one thread a connection, and the short loads that meet it.

#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tare_load::{
    Connections, Exchange, ExchangePool, Expected, ExpectedBody, Failure, Generator, Load, RunReport,
    Schedule, Stop,
};

pub const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello world!";

/// One accepted connection of the server.
pub struct Peer {
    pub stream: TcpStream,
    /// Counts the connections of this server from 0.
    pub index: usize,
}

impl Peer {
    /// Waits for the head of a request; false when the client is gone.
    pub fn request(&mut self) -> bool {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match self.stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return false,
            }
        }
        true
    }

    /// Sends bytes; false when the client is gone.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Answers every request with the same bytes.
    pub fn always(&mut self, bytes: impl AsRef<[u8]>) {
        while self.request() && self.send(bytes.as_ref()) {}
    }

    /// Answers one request, or reads it when there is nothing to say, and closes.
    pub fn once(&mut self, bytes: impl AsRef<[u8]>) {
        if self.request() {
            self.send(bytes);
        }
    }

    /// Keeps the connection open without a word until the client closes it.
    pub fn stall(&mut self) {
        while matches!(self.stream.read(&mut [0; 4096]), Ok(1..)) {}
    }

    /// Closes with a reset instead of in good order: what is unread makes the kernel do so.
    pub fn reset(self) {
        // One byte is left unread.
        let _taken = (&self.stream).read(&mut [0; 5]);
    }
}

/// Starts the server; it lives as long as the test process.
pub fn serve(behave: impl Fn(Peer) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let (behave, count) = (Arc::new(behave), AtomicUsize::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            stream.set_nodelay(true).unwrap();
            let (behave, index) = (behave.clone(), count.fetch_add(1, Ordering::SeqCst));
            std::thread::spawn(move || behave(Peer { stream, index }));
        }
    });
    target
}

pub fn exchange(body: ExpectedBody) -> Exchange {
    Exchange {
        request: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        is_head: false,
        expected: Expected { status: 200, body },
        name: "hello".to_owned(),
    }
}

pub fn hello() -> Exchange {
    exchange(ExpectedBody::Exact(b"Hello world!".to_vec()))
}

pub fn generator(target: SocketAddr, total: usize, threads: usize, exchange: Exchange) -> Generator {
    let pool = Arc::new(ExchangePool::new(vec![exchange]));
    Generator::new(target, Connections { total, threads }, vec![], pool, 7).unwrap()
}

pub fn load(window_ms: u64, drain_ms: u64) -> Load {
    Load {
        schedule: Schedule::SATURATE,
        stop: Stop::After {
            window: Duration::from_millis(window_ms),
            drain: Duration::from_millis(drain_ms),
        },
        response_timeout: Duration::from_secs(10),
    }
}

/// Runs, and proves that the run ended in time with totals that add up.
pub fn run(generator: &mut Generator, load: &Load) -> RunReport {
    let start = Instant::now();
    let report = generator.run(load, &AtomicBool::new(false));
    let limit = load.stop.window() + load.stop.drain() + Duration::from_millis(300);
    assert!(start.elapsed() < limit, "the run took {:?}", start.elapsed());
    report.tally.reconcile().unwrap();
    assert_eq!(report.latency.count(), report.tally.answered);
    report
}

/// Four connections on two threads against a server for a short time.
pub fn meet(behave: impl Fn(Peer) + Send + Sync + 'static) -> RunReport {
    meet_with(hello(), behave)
}

pub fn meet_with(exchange: Exchange, behave: impl Fn(Peer) + Send + Sync + 'static) -> RunReport {
    let mut generator = generator(serve(behave), 4, 2, exchange);
    generator.open(Duration::from_secs(2)).unwrap();
    run(&mut generator, &load(150, 100))
}

/// Asserts that requests failed in this way and in no other.
pub fn only(report: &RunReport, failure: Failure) {
    let kinds: Vec<_> = report.tally.failed.iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [failure], "{:?}", report.tally);
    let sample = report.first_failure.as_ref().expect("a failure leaves a sample");
    assert_eq!((sample.failure, sample.exchange.as_str()), (failure, "hello"));
}
