//! Any text as an OpenAPI document: it is read or refused, without a panic and in a bounded time, and what was read makes a contract or
//! nothing. `cargo +nightly fuzz run openapi` in `crates/service`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tare_service::record::{Wish, openapi, record};

fuzz_target!(|text: &str| {
    let wish = Wish { name: "fuzzed", writes: true, server: None };
    if let Ok(source) = openapi::read(text) {
        let _nothing_is_fine_too = record(source, &wish);
    }
});
