//! Searches for capacity under an SLO, in whole runs.

use std::time::Duration;

use tare_analysis::{
    analysis::{Analysis, Answer},
    capacity::{self, Bound, SloReport},
    findings::{Finding, RowIssue},
    interleaved::RowState,
    verdict::Verdict,
};
use tare_bench::{
    experiment::LoadSetting,
    folder::StoredRun,
    plan::{Plan, SearchSetting, Until},
    record::{Ending, Record},
    slo::{Slo, SloPlan},
};
use tare_host::cpus::Pinning;
use tare_service::{catalogue, settings::ServiceSettings};

use crate::{
    machine::{Fault, Machine, Service},
    runs,
};

const LIMIT_NS: u64 = 10_000_000;
const QUICK: Service = Service::USUAL;
const SLOW: Service = Service { per_second: 2_000.0, ..QUICK };

/// The plan of `tare slo`, over simulated rows.
fn plans(rows: &[&str], starts: usize, seed: u64) -> (SloPlan, Plan) {
    let setting = SearchSetting {
        slo: Slo::parse(["p99=10ms"]).unwrap(),
        at_least: None,
        contract: "hello".to_owned(),
        load: LoadSetting::new(64, 1),
        service_settings: ServiceSettings::of_threads(1),
        starts,
        windows: 14,
        window: None,
        warm_up: Duration::ZERO,
        lag_max: Duration::from_millis(1),
        warm_up_max: Duration::ZERO,
    };
    let pinning = Pinning { server: vec![0], generator: vec![1] };
    let none: [catalogue::Row; 0] = [];
    let plan = Plan::search(&setting, &none, seed, pinning);
    (plan.slo().expect("it is a search").clone(), Plan { rows: runs::plan(rows, 1, seed).rows, ..plan })
}

fn run(
    services: &[(&str, Service)],
    starts: usize,
    seed: u64,
    discarded_every: usize,
) -> (SloPlan, StoredRun) {
    run_within(LIMIT_NS, services, starts, seed, discarded_every)
}

fn run_within(
    limit_ns: u64,
    services: &[(&str, Service)],
    starts: usize,
    seed: u64,
    discarded_every: usize,
) -> (SloPlan, StoredRun) {
    let labels: Vec<&str> = services.iter().map(|(label, _)| *label).collect();
    let services: Vec<Service> = services.iter().map(|(_, service)| *service).collect();
    let (slo, plan) = plans(&labels, starts, seed);
    let mut machine = Machine::new(&services, 0.0, &plan, limit_ns);
    machine.discarded_every = discarded_every;
    (slo, runs::run(&plan, &mut machine))
}

fn report(services: &[(&str, Service)], starts: usize, seed: u64) -> SloReport {
    let (slo, stored) = run(services, starts, seed, usize::MAX);
    capacity::compute(&slo, &stored)
}

/// exp(-(capacity - rate) limit) = 1%.
fn truth(service: Service) -> f64 {
    service.per_second - 100_f64.ln() / (LIMIT_NS as f64 / 1e9)
}

#[test]
fn two_services_are_searched_side_by_side() {
    let report = report(&[("slow", SLOW), ("quick", QUICK)], 6, 1);
    let labels: Vec<&str> = report.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["quick", "slow"], "the highest first");
    for (row, service) in report.rows.iter().zip([QUICK, SLOW]) {
        let capacity = row.capacity.as_ref().unwrap();
        let error = capacity.value / truth(service) - 1.0;
        assert!(error.abs() < 0.04, "{}: {error}", row.label);
        assert!(capacity.low < Some(capacity.value) && Some(capacity.value) < capacity.high);
        assert_eq!((row.starts, row.windows, row.discarded, row.bound), (6, 84, 0, None));
        assert_eq!(row.verdict(Some(0.5 * truth(service))), Verdict::Pass);
        assert_eq!(row.verdict(Some(1.5 * truth(service))), Verdict::Fail);
        assert_eq!(row.verdict(Some(capacity.value)), Verdict::Inconclusive);
    }
}

/// The median start holds the true capacity; intervals over six starts contain it in 95% of cases.
#[test]
fn intervals_hold_the_truth() {
    let holds = |seed: &u64| {
        let report = report(&[("quick", Service { slice_sd: 0.003, process_sd: 0.03, ..QUICK })], 6, *seed);
        let capacity = report.rows[0].capacity.as_ref().unwrap();
        let truth = truth(QUICK);
        capacity.low.unwrap() <= truth && truth <= capacity.high.unwrap()
    };
    let held = (0..200).filter(holds).count();
    assert!((184..=200).contains(&held), "{held} of 200");
}

#[test]
fn rows_are_interleaved_window_by_window() {
    let (_, stored) = run(&[("slow", SLOW), ("quick", QUICK)], 1, 1, usize::MAX);
    let mut rounds = [[0; 2]; 14];
    for record in &stored.records {
        if let Record::Sample(slice) = record
            && slice.is_open()
        {
            rounds[slice.round][slice.row] += 1;
        }
    }
    assert_eq!(rounds, [[1, 1]; 14]);
}

#[test]
fn windows_with_a_late_generator_are_tried_again() {
    let (slo, stored) = run(&[("quick", QUICK)], 3, 1, 5);
    let report = capacity::compute(&slo, &stored);
    let row = &report.rows[0];
    assert_eq!((row.windows, row.starts), (42, 3));
    assert!(row.discarded >= 7, "{}", row.discarded);

    let (slo, stored) = run(&[("quick", QUICK)], 3, 1, 1);
    let report = capacity::compute(&slo, &stored);
    let late = RowIssue::LateStarts { late: 3, starts: 3 };
    assert_eq!(report.rows[0].state, RowState::Invalid(Finding::of_row("quick", late)));
    assert_eq!(report.rows[0].verdict(Some(1.0)), Verdict::Invalid);
}

#[test]
fn a_service_that_holds_no_rate_has_none() {
    // Its spare capacity is never enough: at most 20,000/s x 0.1 ms, and 4.6 are needed.
    let (slo, stored) = run_within(100_000, &[("hopeless", QUICK)], 6, 1, usize::MAX);
    let report = capacity::compute(&slo, &stored);
    let row = &report.rows[0];
    assert_eq!((row.bound, row.capacity.is_none()), (Some(Bound::Below), true));
    assert_eq!(row.verdict(Some(1.0)), Verdict::Fail);
    assert!(row.reason().unwrap().starts_with("no rate held"), "{row:?}");
}

#[test]
fn windows_that_are_too_short_for_the_percentile_are_reported() {
    let rare = Service { per_second: 60.0, ..QUICK };
    let (slo, stored) = run_within(1_000_000_000, &[("rare", rare)], 2, 1, usize::MAX);
    let report = capacity::compute(&slo, &stored);
    let findings = &report.rows[0].findings;
    assert!(findings.iter().any(|found| found.code() == "short-window"), "{findings:?}");
}

/// A start that was cut off does not count.
#[test]
fn a_search_that_was_cut_off_is_no_observation() {
    let (slo, mut stored) = run(&[("quick", QUICK)], 3, 1, usize::MAX);
    let last = stored.records.iter().rposition(|record| matches!(record, Record::Sample(_))).unwrap();
    stored.records.truncate(last);
    assert_eq!(capacity::compute(&slo, &stored).rows[0].starts, 2);
}

/// A search over these services with `starts` starts and this required rate, before it runs.
fn asked(services: &[Service], starts: usize, at_least: Option<f64>, limit_ns: u64) -> (Plan, Machine) {
    let labels = &["first", "second"][..services.len()];
    let (_, mut plan) = plans(labels, starts, 1);
    if let Until::Search(slo) = &mut plan.until {
        slo.at_least = at_least;
    }
    let machine = Machine::new(services, 0.0, &plan, limit_ns);
    (plan, machine)
}

fn verdict(services: &[Service], at_least: Option<f64>, limit_ns: u64) -> Verdict {
    let (plan, mut machine) = asked(services, 2, at_least, limit_ns);
    Analysis::of(&runs::run(&plan, &mut machine)).verdict
}

/// Shorter than an answer takes, so no rate is low enough.
const HARD_NS: u64 = 100_000;
/// Longer than a window, so no rate is too high.
const EASY_NS: u64 = u64::MAX;

/// The exit verdict of the command.
#[test]
fn a_search_gets_the_verdict_that_is_its_own() {
    let crashes = QUICK.failing(0, Fault::Crash);
    for (services, at_least, limit_ns, expected) in [
        (&[QUICK][..], None, LIMIT_NS, Verdict::Pass),
        // "No rate holds" is a result too.
        (&[QUICK], None, HARD_NS, Verdict::Pass),
        (&[QUICK], Some(1.0), HARD_NS, Verdict::Fail),
        // It held all tried rates, which are below the required one.
        (&[QUICK], None, EASY_NS, Verdict::Pass),
        (&[QUICK], Some(1e9), EASY_NS, Verdict::Inconclusive),
        (&[QUICK, crashes], None, LIMIT_NS, Verdict::ServiceFailed),
        (&[QUICK.failing(1, Fault::WrongAnswer)], None, LIMIT_NS, Verdict::Invalid),
    ] {
        assert_eq!(verdict(services, at_least, limit_ns), expected, "{services:?} at {limit_ns} ns");
    }
    let (plan, mut machine) = asked(&[QUICK], 2, None, LIMIT_NS);
    machine.discarded_every = 1;
    assert_eq!(Analysis::of(&runs::run(&plan, &mut machine)).verdict, Verdict::Invalid);
    let (plan, mut machine) = asked(&[QUICK], 1, Some(1.0), LIMIT_NS);
    let of_one_start = Analysis::of(&runs::run(&plan, &mut machine)).verdict;
    assert_eq!(of_one_start, Verdict::Inconclusive, "it has no interval");
}

#[test]
fn a_rate_that_is_asked_for_is_held_or_not() {
    let with = |rate: f64| {
        let (plan, mut machine) = asked(&[QUICK], 6, Some(rate), LIMIT_NS);
        Analysis::of(&runs::run(&plan, &mut machine)).verdict
    };
    let verdicts = [0.5, 1.0, 1.5].map(|times| with(times * truth(QUICK)));
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Inconclusive, Verdict::Fail]);
}

#[test]
fn a_service_that_crashes_leaves_the_others_their_capacity() {
    for start in [0, 1] {
        let (plan, mut machine) = asked(&[QUICK, SLOW.failing(start, Fault::Crash)], 3, None, LIMIT_NS);
        let stored = runs::run(&plan, &mut machine);
        let report = capacity::compute(plan.slo().unwrap(), &stored);
        let row = |label: &str| report.rows.iter().find(|row| row.label == label).unwrap();
        assert!(row("first").capacity.is_some() && row("first").starts == 3);
        assert_eq!(row("second").verdict(None), Verdict::ServiceFailed);
        let reason = row("second").reason().unwrap();
        assert!(reason.starts_with(&format!("start {}: ", start + 1)), "{reason}");
    }
}

/// Unfinished starts do not count, and without a finished one there is no figure.
#[test]
fn a_budget_ends_a_search() {
    for seconds in [20, 60, 120] {
        let (plan, mut machine) = asked(&[QUICK], 100, None, LIMIT_NS);
        let plan = plan.bounded(Duration::from_secs(seconds));
        let stored = runs::run(&plan, &mut machine);
        let report = capacity::compute(plan.slo().unwrap(), &stored);
        assert_eq!(report.ending, Some(Ending::BudgetSpent));
        assert!((1..100).contains(&report.rows[0].starts), "{} starts", report.rows[0].starts);
        assert!(report.elapsed_ns <= Some((seconds + 1) * 1_000_000_000), "{:?}", report.elapsed_ns);
        assert_eq!(Analysis::of(&stored).verdict, Verdict::Pass);
    }
    let (plan, mut machine) = asked(&[QUICK], 100, None, LIMIT_NS);
    let stored = runs::run(&plan.bounded(Duration::from_millis(100)), &mut machine);
    let analysis = Analysis::of(&stored);
    assert_eq!(analysis.verdict, Verdict::Unfinished);
    let Answer::Capacity(report) = analysis.answer else { panic!("not a search") };
    assert_eq!((&report.rows[0].state, report.rows[0].starts), (&RowState::Unmeasured, 0));
    assert!(report.rows[0].reason().unwrap().starts_with("no search came to its end"));
}

/// Finished starts count; the unfinished one is lost, unless the run was killed between two.
#[test]
fn a_search_that_was_cut_off_is_resumed() {
    let starts =
        |stored: &StoredRun| capacity::compute(stored.header.plan.slo().unwrap(), stored).rows[0].starts;
    let (plan, mut machine) = asked(&[QUICK], 3, None, LIMIT_NS);
    let whole = runs::run(&plan, &mut machine);
    let fresh = || Machine::new(&[QUICK], 0.0, &plan, LIMIT_NS);
    for start in [1, 2] {
        let killed = runs::cut(&whole, runs::begins(start));
        assert_eq!((starts(&killed), Analysis::of(&killed).verdict), (start, Verdict::Unfinished));
        let resumed = runs::resume(&killed, &mut fresh());
        let capacity = |stored: &StoredRun| capacity::compute(plan.slo().unwrap(), stored).rows[0].capacity;
        assert_eq!(capacity(&resumed), capacity(&whole));
    }
    let mut stopped = fresh();
    stopped.interrupted_at_ns = 25_000_000_000;
    let interrupted = runs::run(&plan, &mut stopped);
    assert_eq!((starts(&interrupted), Analysis::of(&interrupted).verdict), (1, Verdict::Unfinished));
    let resumed = runs::resume(&interrupted, &mut fresh());
    assert_eq!((starts(&resumed), Analysis::of(&resumed).verdict), (2, Verdict::Pass));
}
