//! Any text: the parser does not panic, and what it reads is printed as text that reads back as the same profile.
//! `cargo +nightly fuzz run profile` in `crates/load`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tare_load::{
    schedule::Profile,
    units::{parse_count, parse_duration_with_unit, parse_rate, parse_size},
};

fuzz_target!(|input: (u64, &str)| {
    let (at_ns, text) = input;
    let _ = (parse_count(text), parse_rate(text), parse_size(text), parse_duration_with_unit(text));
    let Ok(profile) = text.parse::<Profile>() else { return };
    assert_eq!(profile.to_string().parse::<Profile>(), Ok(profile.clone()));
    let (rate_per_s, arrivals) = (profile.rate_per_s(at_ns), profile.arrivals_before(at_ns));
    assert!((0.0..=profile.rate_per_s_max()).contains(&rate_per_s), "{rate_per_s} at {at_ns}");
    assert!(arrivals.is_finite() && arrivals >= 0.0, "{arrivals} before {at_ns}");
    let _ = profile.instant_ns(arrivals);
});
