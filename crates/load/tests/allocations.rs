//! The hot path allocates per run and per connection, never per response.

mod kit;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use kit::load::{counted, drivers, exchange, generator_of, hello, run, settings};
use kit::peer::serve;
use tare_load::{DriverChoice, DriverKind, Exchange, ExpectedBody, Quota, Settings};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
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

/// Allocations of a run of a number of requests, after a warm-up run. The server allocates nothing per
/// request, and gives every response another header so that none is taken for the one before.
fn allocations(driver: DriverKind, exchange: Exchange, body: &'static str, requests: u64) -> u64 {
    let target = serve(move |mut peer| {
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
    });
    let settings = Settings { driver: DriverChoice::Only(driver), ..settings(target, 2, 1) };
    let mut generator = generator_of(settings, exchange);
    let mut go = |requests| {
        let report = run(&mut generator, &counted(Quota::Requests(requests)));
        assert_eq!(report.total.tally.answered, requests);
    };
    go(100);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    go(requests);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn none_per_response() {
    let json = || exchange(ExpectedBody::Json(serde_json::json!({"a": 1})));
    for driver in drivers() {
        for (exchange, body) in [(hello(), "Hello world!"), (json(), r#"{"a":1}"#)] {
            let few = allocations(driver, exchange.clone(), body, 100);
            let many = allocations(driver, exchange, body, 10_000);
            assert!(
                many < few + 100,
                "{}: {many} allocations for 10000 requests, {few} for 100",
                driver.name()
            );
        }
    }
}
