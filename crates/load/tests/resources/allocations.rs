//! The hot path allocates per run and per connection, never per response.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::kit::alone::in_own_process;
use crate::kit::http2::{Http2Peer, serve_http2};
use crate::kit::load::{counted, drivers, exchange, generator_of, hello, run};
use crate::kit::peer::{Peer, serve};
use crate::kit::tls::{serve_tls, server_config, speaking};
use crate::kit::wire::{DATA, END_HEADERS, END_STREAM, HEADERS, frame};
use tare_load::{
    DriverChoice, DriverKind, Exchange, ExpectedBody, GeneratorSettings, Protocol, RequestQuota,
};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Whether allocations of this thread are not counted.
    static IS_SERVER: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !IS_SERVER.get() {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs the code of a server, whose allocations are not counted.
fn as_server<T>(serve: impl FnOnce() -> T) -> T {
    IS_SERVER.set(true);
    serve()
}

/// Answers with a different header in every response, so that none is identical to the one before.
fn http1<S: Read + Write>(mut peer: Peer<S>, body: &str) {
    let mut buffer = [0; 4096];
    let mut count = 0_u64;
    while let Ok(1..) = peer.stream.read(&mut buffer) {
        count += 1;
        let mut response = [0; 256];
        let mut rest = &mut response[..];
        let length = body.len();
        write!(rest, "HTTP/1.1 200 OK\r\nX-Count: {count}\r\nContent-Length: {length}\r\n\r\n{body}")
            .unwrap();
        let left = rest.len();
        peer.stream.write_all(&response[..256 - left]).unwrap();
    }
}

/// The same over HTTP/2. Each answer has a different head: with Huffman's code, without, or in the table.
fn http2(mut peer: Http2Peer<'_>, body: &str) {
    let mut count = 0_u64;
    while let Some(asked) = peer.request() {
        count += 1;
        let text = format!("{count:06}");
        let mut block = vec![0x88, [0, 0x10, 0x40][count as usize % 3], 1, b'x', 6];
        block.extend(text.as_bytes());
        if count.is_multiple_of(2) {
            // "a" and "0123", both compressed.
            block.extend([0, 0x81, 0x1f, 0x83, 0x00, 0x44, 0xcf]);
        }
        let bytes = [
            frame(HEADERS, END_HEADERS, asked.stream, &block),
            frame(DATA, END_STREAM, asked.stream, body.as_bytes()),
        ];
        if !peer.send(bytes.concat()) {
            return;
        }
    }
}

fn target(protocol: Protocol, body: &'static str) -> SocketAddr {
    match protocol {
        Protocol::Http1 => serve(move |peer| as_server(|| http1(peer, body))),
        Protocol::Http1Tls => serve_tls(server_config(&[]), move |peer| as_server(|| http1(peer, body))),
        Protocol::H2c | Protocol::H2 => {
            serve_http2(protocol, &[], move |peer| as_server(|| http2(peer, body)))
        }
    }
}

/// The number of allocations in a run of a number of requests, after a warm-up run.
fn allocations(
    driver: DriverKind,
    protocol: Protocol,
    exchange: &Exchange,
    body: &'static str,
    requests: u64,
) -> u64 {
    let settings = speaking(protocol, target(protocol, body), 2, 1, 3);
    let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings };
    let mut generator = generator_of(settings, exchange.clone());
    let mut go = |requests| {
        let report = run(&mut generator, &counted(RequestQuota::Requests(requests)));
        assert_eq!(report.total.tally.answered, requests, "{:?}", report.first_failure);
    };
    go(1_000);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    go(requests);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn none_per_response() {
    in_own_process("allocations::none_per_response", few_and_many);
}

fn few_and_many() {
    let json = || exchange(ExpectedBody::json(serde_json::json!({"a": 1})));
    for (driver, protocol) in
        drivers().into_iter().flat_map(|driver| Protocol::ALL.map(|protocol| (driver, protocol)))
    {
        for (exchange, body) in [(hello(), "Hello world!"), (json(), r#"{"a":1}"#), (json(), r#"{"a": 1}"#)] {
            let few = allocations(driver, protocol, &exchange, body, 100);
            let many = allocations(driver, protocol, &exchange, body, 10_000);
            println!("{protocol}, {}: {few} and {many}", driver.name());
            assert!(
                many < few + 100,
                "{protocol}, {}: {many} allocations for 10000 requests, {few} for 100",
                driver.name()
            );
        }
    }
}
