//! What a service and the kernel say of the code that ran: maps of compiled code, and records of samples.

use tare_host::foreign::is_hidden;
use tare_why::{
    names::{go_table, perf_map::PerfMap},
    sample::record,
};

/// A map of any bytes is bounded, and finds at every address that it names a name that hides nothing.
pub(crate) fn perf_map(bytes: &[u8]) {
    let map = PerfMap::parse(bytes);
    for word in bytes.split(|byte| byte.is_ascii_whitespace()) {
        let number = std::str::from_utf8(word).ok().and_then(|word| u64::from_str_radix(word, 16).ok());
        if let Some(name) = number.and_then(|address| map.find(address)) {
            assert!(!name.is_empty() && !name.contains(is_hidden), "{name:?}");
        }
    }
}

/// A table of any bytes is bounded: each function takes an entry, and has a name.
pub(crate) fn go_table(bytes: &[u8]) {
    let functions = go_table::functions(bytes, 0x1000);
    assert!(functions.len() * 8 <= bytes.len());
    assert!(functions.iter().all(|function| !function.name.is_empty()));
}

/// Each record takes at least its head, and no chain is longer than its bytes.
pub(crate) fn records(bytes: &[u8]) {
    for with_stacks in [false, true] {
        let mut count = 0;
        for event in record::events(bytes, with_stacks) {
            count += 1;
            if let record::SampleEvent::Sample(sample) = event {
                let stack = sample.stack.map_or(0, |copy| copy.bytes.len());
                assert!((sample.kernel.len() + sample.user.len()) * 8 + stack <= bytes.len());
            }
        }
        assert!(count <= bytes.len() / 8);
    }
}
