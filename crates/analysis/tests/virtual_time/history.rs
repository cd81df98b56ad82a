//! Results of `tare history`: the cost of each version, and the versions at which it changed.

use std::time::Duration;

use tare_analysis::{
    analysis::Analysis,
    verdict::Verdict,
    versions::{self, Version},
};
use tare_bench::{
    folder::StoredRun,
    metric::Metric,
    plan::{Exclusion, Plan},
};

use crate::{
    machine::{Fault, Machine, Service},
    runs,
};

const ROWS: [&str; 5] = ["v1", "v2", "v3", "v4", "v5"];
/// Rates of five versions: the third and later ones cost more.
const CHANGED: [f64; 5] = [1.0, 1.0, 0.9, 0.9, 0.9];

fn plan(seed: u64) -> Plan {
    runs::of_short_versions(&ROWS, 12, seed).of_versions()
}

fn run(plan: &Plan, services: &[Service]) -> StoredRun {
    runs::run(plan, &mut Machine::new(services, 0.005, plan, 1))
}

fn at(rates: [f64; 5]) -> [Service; 5] {
    rates.map(|rate| Service::USUAL.times(rate))
}

fn found(run: &StoredRun) -> Vec<Version> {
    let found = versions::compute(run).expect("it is a history");
    assert_eq!(found.metric, Metric::Cpu);
    found.all
}

fn changes(versions: &[Version]) -> Vec<&str> {
    versions.iter().filter(|version| version.is_change).map(|version| version.label.as_str()).collect()
}

#[test]
fn the_change_is_marked_and_nothing_else() {
    let (mut right, mut held) = (0, 0);
    for seed in 0..100 {
        let run = run(&plan(seed), &at(CHANGED));
        let versions = found(&run);
        right += usize::from(changes(&versions) == ["v3"]);
        let (low, high) = versions[4].against_first.unwrap().interval().unwrap();
        held += usize::from(low < 1.0 / 0.9 && 1.0 / 0.9 < high);
        assert_eq!(Analysis::of(&run).verdict, Verdict::Pass, "every version has figures");
    }
    // All marks of a run are right in 95% of runs; intervals have the same coverage.
    assert!(right >= 91 && held >= 90, "{right} were right, {held} intervals of 100 hold the truth");
}

#[test]
fn versions_that_cost_the_same_are_seldom_marked() {
    let noisy = Service { process_sd: 0.04, ..Service::USUAL };
    let marked = (0..150).filter(|seed| !changes(&found(&run(&plan(*seed), &[noisy; 5]))).is_empty()).count();
    assert!(marked <= 14, "{marked} of 150 mark a change where there is none");
}

/// A version that does not start is a row with its reason; the next one is compared with the previous one.
#[test]
fn a_version_that_does_not_start_is_passed_over() {
    let right = (0..20).filter(|seed| {
        let plan = runs::without(plan(*seed), 2, Exclusion::AgainstItsContract);
        let run = run(&plan, &at(CHANGED));
        let versions = found(&run);
        assert_eq!(versions[2].reason.as_deref(), Some("it ended before it was ready"));
        assert_eq!((versions[2].against_first, versions[2].against_previous), (None, None));
        assert!((versions[3].against_previous.unwrap().value - 1.0 / 0.9).abs() < 0.05);
        assert_eq!(Analysis::of(&run).verdict, Verdict::ServiceFailed, "its author has to mend it");
        changes(&versions) == ["v4"]
    });
    let right = right.count();
    assert!(right >= 18, "{right} of 20 mark the version after it alone");
}

#[test]
fn a_version_that_fails_has_its_reason_and_the_others_go_on() {
    for (fault, verdict) in [(Fault::Crash, Verdict::ServiceFailed), (Fault::WrongAnswer, Verdict::Invalid)] {
        let mut services = at(CHANGED);
        services[1] = services[1].failing(3, fault);
        let run = run(&plan(4), &services);
        let versions = found(&run);
        assert!(versions[1].reason.is_some() && versions[0].reason.is_none());
        assert_eq!(changes(&versions), ["v3"]);
        assert_eq!(Analysis::of(&run).verdict, verdict);
    }
}

#[test]
fn a_version_that_was_not_built_is_left_out() {
    let run = run(&runs::without(plan(1), 4, Exclusion::NotBuilt), &at(CHANGED));
    assert_eq!(Analysis::of(&run).verdict, Verdict::NotBuilt);
    assert_eq!(changes(&found(&run)), ["v3"]);
}

/// As the command plans it by default.
#[test]
fn a_budget_bounds_a_history() {
    for seconds in [30, 180] {
        let plan = runs::of_versions(&ROWS, 1).of_versions().bounded(Duration::from_secs(seconds));
        let run = run(&plan, &at(CHANGED));
        let ended = tare_bench::record::ending(&run.records).unwrap();
        assert!(ended.1 <= (seconds + 1) * 1_000_000_000, "{ended:?}");
        let marked = changes(&found(&run)).len();
        assert!(seconds == 30 && marked == 0 || marked == 1, "{marked} after {seconds} s");
    }
}

#[test]
fn one_that_was_killed_is_resumed_to_the_same_marks() {
    for seed in 0..5 {
        let plan = plan(seed);
        let still = || Machine::new(&at(CHANGED), 0.0, &plan, 1);
        let whole = runs::run(&plan, &mut still());
        let killed = runs::cut(&whole, runs::begins(5));
        assert_eq!(Analysis::of(&killed).verdict, Verdict::Unfinished);
        let resumed = runs::resume(&killed, &mut still());
        assert_eq!(found(&resumed), found(&whole));
    }
}
