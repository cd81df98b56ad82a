//! Invariants of every simulation, for any scenario.

use proptest::prelude::*;
use tare_scale::{
    Outcome, run,
    scenario::{Frees, Order, Pause, Scenario, Scenarios},
};

fn scenarios() -> Scenarios {
    Scenarios::parse(include_str!("../scale.toml")).unwrap()
}

/// The base of the page, with fewer machines and jobs.
fn small() -> Scenario {
    let mut scenario = scenarios().groups[0].rows[0].1.clone();
    (scenario.fleet.machines, scenario.jobs.count) = (20, 200);
    scenario
}

/// Checks that every job is committed once or reported as missing, no attempt is forgotten, and no time is
/// counted twice.
fn check(scenario: &Scenario, outcome: &Outcome) {
    let jobs = scenario.jobs.count;
    assert!(outcome.committed_by_job.iter().all(|commits| *commits <= 1), "a job was committed twice");
    let committed = outcome.committed_by_job.iter().filter(|commits| **commits == 1).count();
    assert_eq!(committed, outcome.committed);
    assert_eq!(outcome.committed + outcome.missing.len(), jobs);
    for job in &outcome.missing {
        assert_eq!(outcome.committed_by_job[*job], 0, "job {job} is missing and there");
    }
    assert_eq!(outcome.ends.all(), outcome.attempts);
    assert_eq!(outcome.ends.committed, outcome.committed);
    let (hours, dollars) = outcome.machines;
    assert!(outcome.times.taken() <= hours * (1.0 + 1e-9), "{:?} of {hours} h", outcome.times);
    assert!(dollars >= 0.0 && outcome.times.useful >= 0.0);
    for served in [&outcome.link, &outcome.checks, &outcome.placing] {
        assert!((0.0..=1.0 + 1e-9).contains(&served.utilisation), "{served:?}");
        let (counted, by_law) = (served.little.counted, served.little.by_law);
        assert!((counted - by_law).abs() <= 1e-9 * (1.0 + counted), "Little's law: {served:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_another_seed_another() {
    let scenario = small();
    assert_eq!(run(&scenario, 5), run(&scenario, 5));
    assert_ne!(run(&scenario, 5), run(&scenario, 6));
}

#[test]
fn every_scenario_of_the_page_conserves_its_jobs() {
    for group in scenarios().groups {
        for (name, mut scenario) in group.rows {
            // As many machines per job as on the page.
            scenario.jobs.count = 500;
            scenario.fleet.machines = (scenario.fleet.machines / 20).max(2);
            let outcome = run(&scenario, 3);
            check(&scenario, &outcome);
            assert!(outcome.committed > 400, "{}: {name}: {}", group.name, outcome.committed);
        }
    }
}

/// Without failures the end is known: three equal jobs per machine in sequence.
#[test]
fn a_quiet_cluster_ends_when_arithmetic_says() {
    let mut scenario = small();
    (scenario.fleet.machines, scenario.jobs.count) = (10, 30);
    (scenario.fleet.spot_share, scenario.fleet.slow_share, scenario.fleet.cut_hours) = (0.0, 0.0, 1e9);
    let jobs = &mut scenario.jobs;
    (jobs.build_seconds, jobs.build_spread, jobs.measure_seconds) = (60.0, 0.0, 300.0);
    (jobs.straggler_share, jobs.failing_share, jobs.broken_share) = (0.0, 0.0, 0.0);
    scenario.collector.mebibytes_spread = 0.0;
    let outcome = run(&scenario, 1);
    check(&scenario, &outcome);
    assert_eq!((outcome.committed, outcome.attempts, outcome.ends.duplicates), (30, 30, 0));
    let each = 3.0 + 60.0 + 300.0;
    let end = outcome.makespan as f64 / 1e6;
    // Placing ten of them takes half a second, and pushing and checking each a fraction of a second.
    assert!((3.0 * each..3.0 * each + 3.0).contains(&end), "{end}");
    assert!((outcome.times.useful * 3600.0 / (30.0 * each) - 1.0).abs() < 0.01, "{:?}", outcome.times);
}

#[test]
fn what_fails_everywhere_is_missing_by_name() {
    let mut scenario = small();
    scenario.jobs.broken_share = 1.0;
    let outcome = run(&scenario, 1);
    assert_eq!(outcome.missing, (0..200).collect::<Vec<_>>());
    assert_eq!((outcome.committed, outcome.times.useful), (0, 0.0));
    assert!(outcome.ends.failed + outcome.ends.lost >= 200 * scenario.engine.attempts);
}

/// Machines that are disconnected for longer than the engine waits cause a second attempt, and the second
/// bundle is refused.
#[test]
fn what_is_measured_twice_is_committed_once() {
    let mut scenario = small();
    (scenario.fleet.cut_hours, scenario.fleet.cut_minutes) = (0.5, 10.0);
    let outcome = run(&scenario, 1);
    check(&scenario, &outcome);
    assert!(outcome.ends.duplicates > 0, "{:?}", outcome.ends);
    scenario.engine.lost_after_seconds = 7200.0;
    let patient = run(&scenario, 1);
    check(&scenario, &patient);
    assert_eq!(patient.ends.duplicates, 0, "{:?}", patient.ends);
}

#[test]
fn copies_of_slow_jobs_end_sooner() {
    let mut scenario = small();
    (scenario.jobs.straggler_share, scenario.jobs.straggler_times) = (0.05, 10.0);
    let ends = |scenario: &Scenario| -> f64 {
        (0..8).map(|seed| run(scenario, seed).makespan as f64).sum::<f64>() / 8.0
    };
    let without = ends(&scenario);
    scenario.policy.copies = true;
    let with = ends(&scenario);
    assert!(with < 0.9 * without, "{with} {without}");
    let outcome = run(&scenario, 0);
    check(&scenario, &outcome);
    assert!(outcome.copies > 0 && outcome.ends.cancelled > 0, "{:?}", outcome.ends);
}

/// The checks are the bottleneck: they are always busy, and the simulation ends with the last of them.
#[test]
fn a_collector_that_is_too_slow_decides_the_end() {
    let mut scenario = small();
    scenario.collector.check_seconds = 60.0;
    let outcome = run(&scenario, 1);
    check(&scenario, &outcome);
    assert!(outcome.makespan as f64 / 1e6 > 200.0 * 60.0 * 0.98, "{}", outcome.makespan);
    assert!(outcome.checks.utilisation > 0.9 && outcome.checks.waiting_most > 20, "{:?}", outcome.checks);
}

prop_compose! {
    fn any_scenario()(
        machines in 1..30_usize,
        count in 1..120_usize,
        spot in 0.0..=1.0_f64,
        vanish_hours in 0.05..5.0_f64,
        cut_hours in 0.05..5.0_f64,
        cut_minutes in 0.1..30.0_f64,
        failing in 0.0..0.5_f64,
        pushes in 1..4_usize,
        check_seconds in 0.0..30.0_f64,
        down_minutes in 0.0..20.0_f64,
        deadline in 400.0..4000.0_f64,
        lost_after in 1.0..900.0_f64,
        (on_commit, fixed, longest, copies) in any::<(bool, bool, bool, bool)>(),
    ) -> Scenario {
        let mut scenario = small();
        (scenario.fleet.machines, scenario.jobs.count) = (machines, count);
        (scenario.fleet.spot_share, scenario.fleet.vanish_hours) = (spot, vanish_hours);
        (scenario.fleet.cut_hours, scenario.fleet.cut_minutes) = (cut_hours, cut_minutes);
        scenario.jobs.failing_share = failing;
        (scenario.engine.deadline_seconds, scenario.engine.lost_after_seconds) = (deadline, lost_after);
        let collector = &mut scenario.collector;
        (collector.pushes, collector.check_seconds) = (pushes, check_seconds);
        (collector.down_from_minutes, collector.down_minutes) = (5.0, down_minutes);
        collector.frees = if on_commit { Frees::OnCommit } else { Frees::OnArrival };
        scenario.retry.pause = if fixed { Pause::Fixed } else { Pause::Exponential };
        scenario.policy.order = if longest { Order::Longest } else { Order::First };
        scenario.policy.copies = copies;
        scenario
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_goes_wrong_each_job_is_committed_once_or_missing(scenario in any_scenario(), seed: u64) {
        let outcome = run(&scenario, seed);
        check(&scenario, &outcome);
        prop_assert_eq!(&outcome, &run(&scenario, seed), "the same seed gives the same outcome");
    }
}
