//! CPUs and threads of a row, and CPU accounting.

use super::*;
use tare_bench::sample::Placement;
use tare_host::{
    cpus::{self, CpuTimes},
    process::{Priority, ThreadGroup},
};

fn times(tasks: u64, softirq: u64, idle: u64) -> CpuTimes {
    let ms = |ms| ms * 1_000_000;
    CpuTimes { tasks_ns: ms(tasks), softirq_ns: ms(softirq), idle_ns: ms(idle), steal_ns: 0 }
}

#[test]
fn the_accounting_closes_and_softirq_is_shown() {
    let mut kept = kept();
    each_slice(&mut kept, |slice| {
        let accounting = cpus::CpuAccounting {
            wall_ns: 101_000_000,
            server: times(80, 20, 0),
            generator: times(50, 10, 40),
            pressure_ns: Some(5_000_000),
            ran: None,
        };
        (slice.host.accounting, slice.host.throttled_ns, slice.host.foreign_cpu_ns) =
            (Some(accounting), Some(0), Some(1_000_000));
    });
    kept.header.environment.irq_time_apart = Some(false);
    let report = compute(&kept);
    let found = report.cpu_accounting.unwrap();
    assert!(found.closes() && (found.residual_share - (200.0 / 202.0 - 1.0)).abs() < 1e-9, "{found:?}");
    assert_eq!(report.findings.last(), Some(&Finding::of_run(RunIssue::CpuTime(found))));
    let half = find(&report, "half");
    let more = |row: &RowReport| {
        row.cpu_ns_per_request_with_softirq.unwrap() / row.cpu_ns_per_request.unwrap().value
    };
    assert!((more(half) - 1.0).abs() < 1e-9, "the kernel has it in there");
    let usage = half.usage.unwrap();
    assert!((usage.softirq.unwrap() - 0.2).abs() < 1e-9);
    assert_eq!((usage.pressure, usage.throttled), (Some(0.05), Some(0.0)));
    kept.header.environment.irq_time_apart = Some(true);
    let report = compute(&kept);
    let half = find(&report, "half");
    assert!((more(half) - 118.0 / 98.0).abs() < 1e-3, "{}", more(half));
    each_slice(&mut kept, |slice| slice.host.accounting.as_mut().unwrap().wall_ns = 140_000_000);
    let report = compute(&kept);
    let found = report.cpu_accounting.unwrap();
    assert!(!found.closes() && !found.lacks_idle_transitions(), "{found:?}");

    each_slice(&mut kept, |slice| {
        let accounting = slice.host.accounting.as_mut().unwrap();
        (accounting.wall_ns, accounting.generator) = (101_000_000, times(50, 10, 20));
    });
    let report = compute(&kept);
    let found = report.cpu_accounting.unwrap();
    assert!((found.residual_share_generator + 21.0 / 202.0).abs() < 1e-9 && !found.closes(), "{found:?}");
    assert!(found.lacks_idle_transitions(), "{found:?}");
}

/// A row with other conditions than the rest has no throughput, but keeps its cost.
#[test]
fn a_row_that_left_its_cpus_or_its_priority_has_no_throughput() {
    let usual = || ThreadGroup { threads: 1, cpus: vec![0], last_cpus: vec![0], ..ThreadGroup::default() };
    let away = ThreadGroup {
        threads: 3,
        name: "worker".to_owned(),
        cpus: vec![0, 1],
        last_cpus: vec![1],
        ..usual()
    };
    let nicer = ThreadGroup { priority: Priority { nice: -19, policy: 0 }, ..usual() };
    for (second, code) in
        [(None, None), (Some(away), Some("left-cpus")), (Some(nicer), Some("other-priority"))]
    {
        let mut kept = kept();
        let groups: Vec<ThreadGroup> = std::iter::once(usual()).chain(second).collect();
        let stops = kept.records.iter_mut().filter_map(|record| match record {
            Record::Stopped(stopped) if stopped.row == HALF => Some(stopped),
            _ => None,
        });
        let placement = Placement { groups, ..Placement::default() };
        stops.last().unwrap().placement = Some(placement);
        let report = compute(&kept);
        let half = find(&report, "half");
        assert_eq!(half.throughput_finding.as_ref().map(Finding::code), code);
        assert_eq!(
            (half.requests_per_second.is_none(), half.ratio.is_none()),
            (code.is_some(), code.is_some())
        );
        assert!(half.cpu_ratio.is_some());
    }
}

#[test]
fn a_row_that_was_busy_on_more_cpus_than_it_was_given_has_no_throughput() {
    let mut kept = kept();
    each_slice(&mut kept, |slice| {
        if slice.row == HALF {
            slice.host.server_cpu_ns *= 2;
        }
    });
    let report = compute(&kept);
    let found = find(&report, "half").throughput_finding.as_ref().unwrap();
    let RowIssue::MoreThreads { busy_cpus, threads: 1 } = found.row_issue().unwrap() else {
        panic!("{found}")
    };
    assert!((busy_cpus - 1.96).abs() < 1e-9, "{busy_cpus}");
}

/// Four threads on the only CPU of a service with THREADS=1: each waits while another runs.
#[test]
fn more_threads_than_it_was_given_are_named_on_however_few_cpus() {
    let of = |threads: u64| {
        let mut kept = kept();
        each_slice(&mut kept, |slice| {
            if slice.row == HALF {
                slice.host.waited_ns = Some((threads - 1) * slice.load.elapsed_ns);
            }
        });
        let report = compute(&kept);
        let half = find(&report, "half").clone();
        assert_eq!(half.verdict(), Verdict::Pass, "its figures stand");
        half.findings.iter().find(|found| found.code() == "threads-at-work").map(ToString::to_string)
    };
    assert!(of(4).unwrap().starts_with("more threads: 4.0 of its threads were at work at a time"));
    assert_eq!(of(1), None);
    let mut disturbed = kept();
    each_slice(&mut disturbed, |slice| slice.host.waited_ns = Some(slice.load.elapsed_ns / 3));
    let report = compute(&disturbed);
    let is_named = |row: &RowReport| row.findings.iter().any(|found| found.code() == "threads-at-work");
    assert!(!report.rows.iter().any(is_named), "one thread that waits for others is one");
}

/// 20 ns of CPU per request: the work was done by an uncounted process.
#[test]
fn a_cost_that_cannot_be_is_no_figure() {
    let mut kept = kept();
    each_slice(&mut kept, |slice| {
        if slice.row == HALF {
            slice.host.server_cpu_ns = 20 * slice.load.answered;
        }
    });
    let report = compute(&kept);
    let half = find(&report, "half");
    assert_eq!((half.cpu_ns_per_request, half.cpu_ratio, half.server_cpu_share()), (None, None, None));
    let codes: Vec<&str> = half.findings.iter().map(Finding::code).collect();
    assert!(half.requests_per_second.is_some() && codes.contains(&"impossible-cost"), "{codes:?}");
}
