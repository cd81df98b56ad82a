//! Any two JSON values as pattern and answer: the answer fits if and only if no difference is named, and a pattern fits its example.
//! `cargo +nightly fuzz run pattern` in `crates/load`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tare_load::pattern::JsonPattern;

fuzz_target!(|input: (bool, &str, &str)| {
    let (extra, pattern, got) = input;
    let (Ok(pattern), Ok(got)) = (serde_json::from_str(pattern), serde_json::from_str(got)) else { return };
    let pattern = JsonPattern::new(pattern, extra);
    assert_eq!(pattern.matches(&got), pattern.differences(&got).is_empty());
    assert!(pattern.matches(&pattern.example()));
});
