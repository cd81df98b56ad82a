#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| tare_fuzz::check("events", input));
