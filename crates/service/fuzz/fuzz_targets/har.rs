//! Any text as a HAR file: it is read or refused, without a panic, and what was read makes a contract or nothing.
//! `cargo +nightly fuzz run har` in `crates/service`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tare_service::record::{Wish, har, record};

fuzz_target!(|text: &str| {
    let wish = Wish { name: "fuzzed", writes: true, server: None };
    if let Ok(source) = har::read(text) {
        let _nothing_is_fine_too = record(source, &wish);
    }
});
