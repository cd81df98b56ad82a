use super::*;
use tare_bench::sample::{HostUsage, LoadResult};
use tare_host::cpus::{CpuAccounting, CpuTimes};

const MS: u64 = 1_000_000;

fn slice(elapsed_ms: u64, taken_ms: i64, steal_ms: u64) -> Sample {
    let server = CpuTimes { steal_ns: steal_ms * MS, ..CpuTimes::default() };
    let host = HostUsage {
        foreign_cpu_ns: Some(taken_ms * MS as i64),
        accounting: Some(CpuAccounting { server, ..CpuAccounting::default() }),
        ..HostUsage::default()
    };
    let load = LoadResult { elapsed_ns: elapsed_ms * MS, ..LoadResult::default() };
    Sample { load, host, ..Sample::default() }
}

fn two() -> Pinning {
    Pinning { server: vec![0], generator: vec![1] }
}

#[test]
fn what_is_stolen_of_both_sides_is_added_up() {
    let mut both = slice(100, 0, 16);
    assert_eq!(disturbance(&both, &two()), None);
    let accounting = both.host.accounting.as_mut().unwrap();
    accounting.generator.steal_ns = 16 * MS;
    assert_eq!(disturbance(&both, &two()), Some(Disturbance::Stolen));
    let one = Pinning { server: vec![0], generator: vec![0] };
    assert_eq!(disturbance(&both, &one), Some(Disturbance::Stolen), "16 of 100 ms, 10 of them a tick");
    assert_eq!(disturbance(&slice(100, 0, 15), &one), None, "one CPU is counted once");
}

#[test]
fn a_slice_is_dropped_only_for_what_ticks_cannot_explain() {
    use Disturbance::{Stolen, Taken};
    let cases = [
        // Length of the slice, time taken by others, stolen time, in ms; two CPUs.
        ((100, 0, 0), None),
        ((100, -20, 0), None),
        // Each of the two CPUs is a tick off, so a reading of 0 is possible.
        ((100, 20, 0), None),
        ((100, 40, 0), None),
        ((100, 41, 0), Some(Taken)),
        ((50, 30, 0), None),
        ((50, 31, 0), Some(Taken)),
        ((500, 120, 0), None),
        ((500, 121, 0), Some(Taken)),
        // One tick per CPU may have begun before the slice.
        ((100, 20, 20), None),
        ((100, 30, 30), None),
        ((100, 31, 31), Some(Stolen)),
        ((500, 71, 71), Some(Stolen)),
    ];
    for ((elapsed, interference, steal), expected) in cases {
        let found = disturbance(&slice(elapsed, interference, steal), &two());
        assert_eq!(found, expected, "{elapsed} ms, {interference} ms of others, {steal} ms stolen");
    }
    let old = Sample { host: HostUsage::default(), ..slice(100, 0, 0) };
    assert_eq!(disturbance(&old, &two()), None, "an older run, or a kernel without that count");
}

/// The kernel works for an idle CPU, and ticks miss short work: the smaller count applies.
#[test]
fn others_took_what_both_counts_leave_to_them() {
    let taken = |by_idle_ms: i64, by_ticks_ms: Option<u64>| {
        let mut slice = slice(100, by_idle_ms, 0);
        slice.host.accounting = by_ticks_ms.map(|ms| {
            let server = CpuTimes { tasks_ns: ms * MS, ..CpuTimes::default() };
            CpuAccounting { server, ..CpuAccounting::default() }
        });
        Shares::of(&[&slice], &two(), 1).interference
    };
    assert_eq!(taken(20, None), Some(0.1), "20 of 200 ms");
    assert_eq!(taken(20, Some(40)), Some(0.1));
    assert_eq!(taken(40, Some(20)), Some(0.1));
    assert_eq!(taken(-20, Some(20)), Some(0.0), "a count that is off is no work of others");
}

#[test]
fn littles_law_is_asked_where_it_can_be() {
    // 64 in flight over 100 ms, 6,400 answers of 1 ms each.
    let right = LoadResult {
        elapsed_ns: 100 * MS,
        sent: 6_400,
        answered: 6_400,
        in_flight_ns: 6_400 * MS,
        service_time_ns_mean: MS,
        ..LoadResult::default()
    };
    let sample = |load: &LoadResult| Sample { load: load.clone(), ..Sample::default() };
    type Change = fn(&mut LoadResult);
    let cases: [(&str, Change, bool); 8] = [
        ("it holds", |_| (), false),
        ("1% less", |load| load.service_time_ns_mean = 990_000, false),
        ("2% less", |load| load.service_time_ns_mean = 980_000, true),
        ("2% more in flight", |load| load.in_flight_ns += load.in_flight_ns / 50, true),
        (
            "in an older run those without an answer have no time",
            |load| (load.sent, load.in_flight_ns) = (7_000, 7_000 * MS),
            false,
        ),
        (
            "their time belongs to the product",
            |load| {
                (load.sent, load.in_flight_ns) = (6_500, 7_400 * MS);
                load.in_flight_ns_unanswered = Some(1_000 * MS);
            },
            false,
        ),
        (
            "and may be lost",
            |load| {
                (load.sent, load.in_flight_ns) = (6_500, 7_400 * MS);
                load.in_flight_ns_unanswered = Some(500 * MS);
            },
            true,
        ),
        ("an older run without that count", |load| load.in_flight_ns = 0, false),
    ];
    for (what, change, is_off) in cases {
        let mut load = right.clone();
        change(&mut load);
        assert_eq!(disturbance(&sample(&load), &two()) == Some(Disturbance::Inconsistent), is_off, "{what}");
    }
    let wrong = sample(&LoadResult { service_time_ns_mean: MS / 2, ..right.clone() });
    let right = sample(&right);
    assert_eq!(little([&wrong, &wrong]), Some((64.0, 32.0)));
    assert_eq!(little([&right; 100].into_iter().chain([&wrong])), None, "one slice in a hundred");
}
