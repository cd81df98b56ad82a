//! Any text as what a load generator printed: it is read without a panic, and what is read can be divided by.
//! `cargo +nightly fuzz run reading` in `dev/crosscheck`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tare_crosscheck::{Tool, reading};

fuzz_target!(|text: &str| {
    for tool in Tool::ALL {
        if let Ok(reading) = reading::read(tool, text) {
            assert!(reading.answered > 0 && reading.per_second.is_finite() && reading.per_second > 0.0);
        }
    }
});
