use super::*;
use tare_host::cpus::{CpuAccounting, Times};

const MS: u64 = 1_000_000;

fn slice(elapsed_ms: u64, foreign_ms: i64, steal_ms: u64) -> Slice {
    let server = Times { steal_ns: steal_ms * MS, ..Times::default() };
    Slice {
        elapsed_ns: elapsed_ms * MS,
        foreign_cpu_ns: Some(foreign_ms * MS as i64),
        books: Some(CpuAccounting { server, ..CpuAccounting::default() }),
        ..Slice::default()
    }
}

#[test]
fn a_slice_is_dropped_only_for_what_ticks_cannot_explain() {
    use Disturbance::{Stolen, Taken};
    let cases = [
        // The length of the slice, what others took, what was stolen; two CPUs.
        ((100, 0, 0), None),
        ((100, -20, 0), None),
        // Two CPUs, each a tick off: what a reading of 0 may look like.
        ((100, 20, 0), None),
        ((100, 40, 0), None),
        ((100, 41, 0), Some(Taken)),
        ((50, 30, 0), None),
        ((50, 31, 0), Some(Taken)),
        ((500, 120, 0), None),
        ((500, 121, 0), Some(Taken)),
        // One tick for each CPU may have been begun before the slice.
        ((100, 20, 20), None),
        ((100, 30, 30), None),
        ((100, 31, 31), Some(Stolen)),
        ((500, 71, 71), Some(Stolen)),
    ];
    for ((elapsed, foreign, steal), expected) in cases {
        let found = disturbance(&slice(elapsed, foreign, steal), 2);
        assert_eq!(found, expected, "{elapsed} ms, {foreign} ms of others, {steal} ms stolen");
    }
    let old = Slice { foreign_cpu_ns: None, books: None, ..slice(100, 0, 0) };
    assert_eq!(disturbance(&old, 2), None, "an older run, or a kernel that tells nothing");
}

#[test]
fn littles_law_is_asked_where_it_can_be() {
    // 64 in flight over 100 ms, 6,400 answers of 1 ms each.
    let right = Slice {
        elapsed_ns: 100 * MS,
        sent: 6_400,
        answered: 6_400,
        in_flight_ns: 6_400 * MS,
        service_time_ns_mean: MS,
        ..Slice::default()
    };
    type Change = fn(&mut Slice);
    let cases: [(&str, Change, bool); 7] = [
        ("it holds", |_| (), false),
        ("5% less", |slice| slice.service_time_ns_mean = 950_000, false),
        ("6% less", |slice| slice.service_time_ns_mean = 940_000, true),
        ("6% more in flight", |slice| slice.in_flight_ns += slice.in_flight_ns / 15, true),
        (
            "many without an answer have no time",
            |slice| (slice.sent, slice.in_flight_ns) = (7_000, 7_000 * MS),
            false,
        ),
        ("too few for a mean", |slice| (slice.sent, slice.answered) = (900, 900), false),
        ("an older run", |slice| slice.in_flight_ns = 0, false),
    ];
    for (what, change, is_off) in cases {
        let mut slice = right.clone();
        change(&mut slice);
        assert_eq!(disturbance(&slice, 2) == Some(Disturbance::Inconsistent), is_off, "{what}");
    }
    let wrong = Slice { service_time_ns_mean: MS / 2, ..right.clone() };
    let text = inconsistent([&wrong, &wrong]).unwrap();
    assert!(
        text.starts_with(
            "inconsistent: 64.00 requests were in flight on average, but rate x time gives 32.00"
        ),
        "{text}"
    );
    assert_eq!(inconsistent([&right; 20].into_iter().chain([&wrong])), None, "one slice in twenty");
}

#[test]
fn a_throughput_is_the_services_own_or_has_a_reason() {
    let fine = Shares { server: 0.98, generator: 0.97, foreign: Some(0.03), ..Shares::default() };
    let cases: [(&str, Shares, Option<&str>, bool); 9] = [
        ("both busy", fine, None, false),
        (
            "the generator is the slower one",
            Shares { server: 0.5, generator: 0.99, ..fine },
            Some("generator-bound"),
            true,
        ),
        ("neither is busy", Shares { server: 0.8, generator: 0.6, ..fine }, None, true),
        ("just not server-bound", Shares { server: 0.949, ..fine }, None, true),
        ("server-bound", Shares { server: 0.95, ..fine }, None, false),
        ("others took half", Shares { server: 0.6, foreign: Some(0.5), ..fine }, Some("machine-noisy"), true),
        ("others ran, not on its CPU", Shares { foreign: Some(0.3), ..fine }, None, false),
        ("a quota", Shares { server: 0.5, throttled: Some(0.5), ..fine }, Some("throttled"), true),
        ("a quota that hardly bites", Shares { throttled: Some(0.01), ..fine }, None, false),
    ];
    for (what, shares, doubt, is_short) in cases {
        let found = throughput_doubt(&shares);
        assert_eq!(found.as_deref().and_then(|text| text.split(':').next()), doubt, "{what}: {found:?}");
        assert_eq!(not_server_bound(&shares, 0).is_some(), is_short, "{what}");
        assert_eq!(not_server_bound(&shares, 5), None, "{what}: it waits on purpose");
    }
    let pressed = Shares { server: 0.6, foreign: Some(0.5), pressure: Some(0.9), ..fine };
    assert_eq!(
        throughput_doubt(&pressed).unwrap(),
        "machine-noisy: others took 50% of the measured CPUs in its time, and somebody waited for a CPU for 90% of it, \
         and left the service 60% of its own"
    );
}

#[test]
fn errors_beyond_the_budget_take_all_figures() {
    let failed = |count| [("reset".to_owned(), count)].into();
    assert_eq!(erroring(10_000, &failed(10), None), None);
    let first = "reset: expected 200".to_owned();
    assert_eq!(
        erroring(10_000, &failed(11), Some(&first)).unwrap(),
        "erroring: 11 of 10000 requests: reset 11; the first: reset: expected 200"
    );
    assert_eq!(erroring(0, &BTreeMap::new(), None), None);
}

#[test]
fn a_late_generator_tells_its_own_latency() {
    assert_eq!(late(&[2e5, 3e5, 9e6]), None, "one bad slice");
    assert!(late(&[2e5, 1.2e6, 9e6]).unwrap().contains("more than 1.2 ms after"));
    assert_eq!(late(&[]), None);
}
