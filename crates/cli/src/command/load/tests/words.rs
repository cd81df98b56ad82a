//! Lists and ranges, right and wrong.

use insta::assert_snapshot;
use tare_load::Think;

use super::super::words::*;

#[track_caller]
fn refusal<T: std::fmt::Debug>(read: anyhow::Result<T>) -> String {
    read.unwrap_err().to_string()
}

#[test]
fn think_times() {
    let ms = 1_000_000;
    assert_eq!(think("100ms").unwrap(), Think::Fixed(100 * ms));
    assert_eq!(think("0").unwrap(), Think::None);
    let uniform = Think::Uniform { min_ns: 50 * ms, max_ns: 150 * ms };
    assert_eq!(think("50ms..150ms").unwrap(), uniform);
    assert_eq!(think("0..1s").unwrap(), Think::Uniform { min_ns: 0, max_ns: 1_000 * ms });
    assert_snapshot!(refusal(think("2s..1s")), @"2s is longer than 1s: put the shorter time first");
    assert_snapshot!(refusal(think("soon")), @r#""soon" is not a duration: give a number with ns, us, ms, s, m or h (seconds without one), like 500ms, 1m30s or 90, up to 584 years"#);
    assert_snapshot!(refusal(duration("0")), @"a duration of 0 is too short: give more");
    assert_snapshot!(refusal(count("0")), @"0 is too few: give 1 or more");
}

#[test]
fn a_rate_lasts_as_long_as_it_says() {
    let lasts = |text: &str| rate(text).unwrap().lasts.map(|lasts| lasts.as_secs());
    assert_eq!(lasts("20k"), None);
    assert_eq!(lasts("20k:5s"), Some(5));
    assert_eq!(lasts("1k..20k/30s"), Some(30));
    assert_eq!(lasts("1k:10s,5k:1m"), Some(70));
    assert_eq!(lasts("1k:10s,5k"), None);
    assert_eq!(lasts("5000/s"), None);
    assert_eq!(lasts("1k/s..20k/s/1m30s"), Some(90));
    assert_eq!(lasts("1k/s:10s,5k/s:1m"), Some(70));
    assert_snapshot!(refusal(rate("fast")), @r#""fast" is not a rate: give requests per second with an optional k, M, G or T, like 500, 20k, 1.5M or 5000/s"#);
}

#[test]
fn lists_of_cpus() {
    assert_eq!(cpus("1").unwrap(), [1]);
    assert_eq!(cpus("0,2-4").unwrap(), [0, 2, 3, 4]);
    assert_snapshot!(refusal(cpus("")), @r#""" is not the number of a CPU: give a list such as 0,2-3"#);
    assert_snapshot!(refusal(cpus("0,a")), @r#""a" is not the number of a CPU: give a list such as 0,2-3"#);
    assert_snapshot!(refusal(cpus("0-99999")), @r#""99999" is not the number of a CPU: give a list such as 0,2-3"#);
    assert_snapshot!(refusal(cpus("3-2")), @"the range 3-2 goes down: put the smaller number first");
    assert_snapshot!(refusal(cpus("0,0-1")), @"0 is given twice: give each once");
}

#[test]
fn lists_of_sources() {
    let read =
        |text: &str| sources(text).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(read("127.0.0.2"), "127.0.0.2");
    assert_eq!(
        read("127.0.0.254-127.0.1.1,127.0.0.2"),
        "127.0.0.254 127.0.0.255 127.0.1.0 127.0.1.1 127.0.0.2"
    );
    assert_eq!(read("::1-::2"), "::1 ::2");
    assert_snapshot!(refusal(sources("localhost")), @r#""localhost" is not an IP address: give one, a list or a range such as 127.0.0.2-127.0.0.9"#);
    assert_snapshot!(refusal(sources("127.0.0.2-9")), @r#""9" is not an IP address: give one, a list or a range such as 127.0.0.2-127.0.0.9"#);
    assert_snapshot!(refusal(sources("127.0.0.9-127.0.0.2")), @"the range 127.0.0.9-127.0.0.2 goes down: put the smaller address first");
    assert_snapshot!(refusal(sources("127.0.0.2-::1")), @"the range 127.0.0.2-::1 mixes IPv4 and IPv6: both ends must be of one kind");
    assert_snapshot!(refusal(sources("10.0.0.0-127.0.0.2")), @"the range 10.0.0.0-127.0.0.2 has more than 65536 addresses: give a shorter one");
    assert_snapshot!(refusal(sources("127.0.0.1,127.0.0.1")), @"127.0.0.1 is given twice: give each once");
}
