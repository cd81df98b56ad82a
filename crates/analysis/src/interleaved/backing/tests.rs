use tare_bench::{
    experiment::Rate,
    fixture::{self, database::Database},
    folder::StoredRun,
    metric::Metric,
    plan::{
        Until,
        until::{ALPHA, RanksGoal},
    },
    sample::{CpuByMode, HostUsage, Sample},
};
use tare_service::backing::BackingCounts;

use super::*;
use crate::interleaved::{
    Report, compute, pair_ratios,
    tests::{each_slice, find, kept_with},
};

const DATABASE: Database = Database { cpu_ns_per_answer: 1_000.0, kernel_share: 0.3, rss_bytes: 60 << 20 };

/// Twelve blocks of services whose answers take 1 µs of a database each.
fn kept() -> StoredRun {
    let mut kept = kept_with(&[("raw-socket", 1.0), ("half", 0.5), ("third", 0.33)], 12);
    each_slice(&mut kept, |slice| DATABASE.serve(slice));
    kept
}

fn holds(estimate: UnitEstimate, truth: f64) -> bool {
    estimate.interval().is_some_and(|(low, high)| low <= truth && truth <= high)
}

fn backing<'a>(report: &'a Report, label: &str) -> &'a BackingCost {
    find(report, label).backing.as_ref().unwrap()
}

#[test]
fn the_database_has_a_figure_of_its_own_whose_interval_holds_the_truth() {
    let labels: Vec<String> = (0..40).map(|row| format!("row-{row}")).collect();
    let rows: Vec<(&str, f64)> = labels.iter().map(|label| (label.as_str(), 0.6)).collect();
    let mut kept = kept_with(&rows, 12);
    each_slice(&mut kept, |slice| DATABASE.serve(slice));
    let report = compute(&kept);
    let found = |label: &String| backing(&report, label).clone();
    let all: Vec<BackingCost> = labels.iter().map(found).collect();
    let is_held = |found: &&BackingCost| holds(found.cpu_ns_per_request, 1_000.0);
    // Intervals with 95% coverage give at least 34 of 40, except once in 300 times.
    assert!(all.iter().filter(is_held).count() >= 34, "{all:?}");
    for found in &all {
        assert_eq!((found.kind, found.cpu_ns_per_request.n), (BackingKind::Database, 12));
        let (low, high) = found.cpu_ns_per_request.interval().unwrap();
        assert!(high - low < 20.0, "2% of noise in each of 24 slices: {found:?}");
        let rss = found.rss_bytes.unwrap().value;
        assert!((rss / f64::from(60 << 20) - 1.0).abs() < 0.002, "{rss}");
    }
}

#[test]
fn the_total_is_the_sum_of_both_figures_and_its_interval_that_of_the_sums() {
    let report = compute(&kept());
    for row in &report.rows {
        let (service, backing) = (row.cpu_ns_per_request.unwrap(), row.backing.as_ref().unwrap());
        let total = backing.total_cpu_ns_per_request.unwrap();
        let sum = service.value + backing.cpu_ns_per_request.value;
        assert!((total.value / sum - 1.0).abs() < 1e-12, "{}", row.label);
        let (low, high) = total.interval().unwrap();
        assert!(low < sum && sum < high && total.n == 12, "{total:?}");
    }
    // 98 ms for 10,000 answers, over both parts.
    let half = backing(&report, "half").total_cpu_ns_per_request.unwrap();
    assert!((half.value / 9_800.0 - 1.0).abs() < 0.01, "{half:?}");
}

/// The cost of a database does not change the ratio of the services.
#[test]
fn the_ratio_to_the_reference_is_the_services_alone() {
    let report = compute(&kept());
    let ratio = find(&report, "half").cpu_ratio.unwrap();
    // 9.8 µs and 4.9 µs, minus one each.
    assert!(holds(ratio, 8.8 / 3.9), "{ratio:?}");
}

/// That of the sums is, paired by block: 9.8 µs and 4.9 µs.
#[test]
fn the_ratio_of_the_sums_has_an_interval_of_its_own() {
    let stored = kept();
    let report = compute(&stored);
    let half = find(&report, "half");
    let ratio = half.ratio_by(Metric::CpuWithDatabase).unwrap();
    assert!(holds(ratio, 2.0) && ratio.n == 12, "{ratio:?}");
    let pairs = pair_ratios(&stored, &report);
    let of_reference = pairs.iter().find(|pair| pair.first == "half" && pair.second == "raw-socket").unwrap();
    assert_eq!(of_reference.total_cpu, Some(ratio));
    assert_eq!(find(&report, "raw-socket").total_cost_of("raw-socket"), Some(UnitEstimate::known(1.0)));
}

/// What a service saves and its database spends is no saving.
#[test]
fn rows_are_ranked_by_service_and_database_together() {
    let mut stored = kept_with(&[("raw-socket", 1.0), ("light", 0.5), ("whole", 0.45)], 12);
    each_slice(&mut stored, |slice| {
        let times = if slice.row == 1 { 4.0 } else { 1.0 };
        Database { cpu_ns_per_answer: 1_000.0 * times, ..DATABASE }.serve(slice);
        if slice.row == 1 {
            // It takes of the service what it takes of the database, and then some.
            slice.host.backing_cpu_ns = slice.host.backing_cpu_ns.map(|ns| ns + 30_000_000);
        }
    });
    let report = compute(&stored);
    let ranks = report.ranks.as_ref().unwrap();
    assert_eq!(ranks.by, Metric::CpuWithDatabase);
    let labels: Vec<&str> = report.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["raw-socket", "whole", "light"]);
    let [light, whole] = ["light", "whole"].map(|label| find(&report, label));
    assert!(
        light.cpu_ratio.unwrap().value < whole.cpu_ratio.unwrap().value,
        "of the service alone it is first"
    );
    assert!(ranks.is_behind("light", "whole"), "{ranks:?}");
    assert!(ranks.lines()[0].starts_with("ranks are by CPU/request of service + database: "));

    let looks = vec![12];
    let goal = RanksGoal { metric: Metric::Throughput, delta: 0.03, looks, alpha: ALPHA };
    stored.header.plan.until = Until::Ranks(goal);
    assert_eq!(compute(&stored).ranks.unwrap().by, Metric::Throughput, "what was asked for");
}

#[test]
fn the_split_is_of_summed_ticks_and_says_how_exact_it_is() {
    let report = compute(&kept());
    for row in &report.rows {
        let kernel = row.backing.as_ref().unwrap().kernel.unwrap();
        assert!((kernel.share - 0.3).abs() < kernel.resolution, "{}: {kernel:?}", row.label);
        let [user, system] = row.cpu_ns_by_mode().unwrap();
        assert!((user + system - row.cpu_ns_per_request.unwrap().value).abs() < 1e-9);
        assert!((system / (user + system) - kernel.share).abs() < 1e-12);
    }
}

fn by_mode(slices: usize, user_ms: u64, system_ms: u64) -> Option<KernelShare> {
    let modes = CpuByMode { user_ns: user_ms * 1_000_000, system_ns: system_ms * 1_000_000 };
    let host = HostUsage { server_cpu_by_mode: Some(modes), ..HostUsage::default() };
    let slice = Sample { host, ..Sample::default() };
    KernelShare::of(&vec![&slice; slices])
}

#[test]
fn few_ticks_say_nothing_and_more_say_more() {
    assert_eq!(by_mode(9, 60, 50), None, "99 ticks");
    let few = by_mode(10, 50, 50).unwrap();
    assert_eq!((few.share, few.ticks), (0.5, 100));
    // 1.96 standard errors of 100 ticks, and of 20 rounded readings.
    assert!((few.resolution - 1.96 * (25.0_f64 + 10.0 / 12.0).sqrt() / 100.0).abs() < 1e-12, "{few:?}");
    let many = by_mode(1_000, 50, 50).unwrap();
    assert!((many.resolution * 10.0 / few.resolution - 1.0).abs() < 1e-9, "{many:?}");
    let none = Sample::default();
    assert_eq!(KernelShare::of(&[&none, &none]), None, "slices of an older run");
}

#[test]
fn a_gateway_has_a_server_behind_it_and_no_database() {
    let mut kept = kept();
    each_slice(&mut kept, |slice| {
        let counts = BackingCounts { upstream_requests: Some(1), ..BackingCounts::default() };
        slice.host.backing = Some(counts);
    });
    let report = compute(&kept);
    let upstream = backing(&report, "half");
    assert_eq!((upstream.kind, upstream.total_cpu_ratio), (BackingKind::Upstream, None));
    assert_eq!(report.ranks.unwrap().by, Metric::Cpu);
}

#[test]
fn a_service_that_works_with_nothing_has_no_such_figures() {
    let report = compute(&kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 4));
    assert!(report.rows.iter().all(|row| row.backing.is_none() && row.busy_cpu_share().is_none()));
}

/// CPU time that the database takes counts as busy: the service has no spare time.
#[test]
fn a_service_that_shares_its_cpus_with_a_busy_database_is_saturated() {
    let report = compute(&kept());
    let half = find(&report, "half");
    let (own, both) = (half.server_cpu_share().unwrap(), half.busy_cpu_share().unwrap());
    assert!(own < 0.9 && both > 0.97, "{own} {both}");
    assert!(half.ratio.is_some() && !half.findings.iter().any(|found| found.code() == "not-server-bound"));
    let mut idle = kept();
    each_slice(&mut idle, |slice| slice.host.backing_cpu_ns = Some(1_000_000));
    let report = compute(&idle);
    assert!(find(&report, "raw-socket").findings.iter().any(|found| found.code() == "not-server-bound"));
}

#[test]
fn at_an_equal_rate_the_database_is_apart_too() {
    let mut kept = kept();
    kept.header.plan = fixture::with_rates(kept.header.plan, &[Rate::PerSecond(1_000.0)], 1);
    let open = |slice: &Sample| {
        let mut slice = Sample { point: 1, ..slice.clone() };
        (slice.load.offered_per_second, slice.load.answered) = (Some(1_000.0), 100);
        (slice.host.server_cpu_ns, slice.host.backing_cpu_ns) = (2_000_000, Some(500_000));
        slice
    };
    let more: Vec<_> = kept.records.iter().filter_map(|record| record.sample()).map(open).collect();
    kept.records.extend(more.into_iter().map(|slice| tare_bench::record::Record::Sample(Box::new(slice))));
    let report = compute(&kept);
    let cost = &find(&report, "half").cost_at_rates[0];
    assert_eq!(cost.cpu_ns_per_request.value.round(), 20_000.0);
    assert_eq!(cost.backing_cpu_ns_per_request.unwrap().value.round(), 5_000.0);
}
