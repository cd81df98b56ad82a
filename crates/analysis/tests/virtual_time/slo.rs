//! Searches for capacity under an SLO, as a run executes them.

use std::time::Duration;

use tare_analysis::{
    capacity::{self, Bound, SloReport},
    findings::{Finding, RowIssue},
    interleaved::State,
    verdict::Verdict,
};
use tare_bench::{
    experiment::LoadSetting,
    folder::StoredRun,
    plan::{Plan, SearchSetting},
    record::Record,
    schedule::searches::Searches,
    slo::{Slo, SloPlan},
};
use tare_host::cpus::Pinning;
use tare_service::{catalogue, settings::ServiceSettings};

use crate::machine::{self, Machine, Service};

const LIMIT_NS: u64 = 10_000_000;
const QUICK: Service = Service { per_second: 20_000.0, process_sd: 0.01, slice_sd: 0.02 };
const SLOW: Service = Service { per_second: 2_000.0, ..QUICK };

/// The plan that `tare slo` would make, over rows of the simulation.
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
    (plan.slo().expect("it is a search").clone(), Plan { rows: machine::plan(rows, 1, seed).rows, ..plan })
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
    let mut searches = Searches::new(&slo);
    let kept = machine::run(&plan, &mut machine, &mut searches);
    (slo, kept)
}

fn report(services: &[(&str, Service)], starts: usize, seed: u64) -> SloReport {
    let (slo, kept) = run(services, starts, seed, usize::MAX);
    capacity::compute(&slo, &kept)
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

/// The rate that the middle start holds is the truth; of intervals over six starts all but one in twenty hold it.
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
    let (_, kept) = run(&[("slow", SLOW), ("quick", QUICK)], 1, 1, usize::MAX);
    let mut rounds = [[0; 2]; 14];
    for record in &kept.records {
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
    let (slo, kept) = run(&[("quick", QUICK)], 3, 1, 5);
    let report = capacity::compute(&slo, &kept);
    let row = &report.rows[0];
    assert_eq!((row.windows, row.starts), (42, 3));
    assert!(row.discarded >= 7, "{}", row.discarded);

    let (slo, kept) = run(&[("quick", QUICK)], 3, 1, 1);
    let report = capacity::compute(&slo, &kept);
    let late = RowIssue::LateStarts { late: 3, starts: 3 };
    assert_eq!(report.rows[0].state, State::Invalid(Finding::of_row("quick", late)));
    assert_eq!(report.rows[0].verdict(Some(1.0)), Verdict::Invalid);
}

#[test]
fn a_service_that_holds_no_rate_has_none() {
    // Its spare capacity is never enough: at most 20,000/s x 0.1 ms, where it takes 4.6.
    let (slo, kept) = run_within(100_000, &[("hopeless", QUICK)], 6, 1, usize::MAX);
    let report = capacity::compute(&slo, &kept);
    let row = &report.rows[0];
    assert_eq!((row.bound, row.capacity.is_none()), (Some(Bound::Below), true));
    assert_eq!(row.verdict(Some(1.0)), Verdict::Fail);
    assert!(row.reason().unwrap().starts_with("no rate held"), "{row:?}");
}

#[test]
fn windows_that_are_too_short_for_the_percentile_are_reported() {
    let rare = Service { per_second: 60.0, ..QUICK };
    let (slo, kept) = run_within(1_000_000_000, &[("rare", rare)], 2, 1, usize::MAX);
    let report = capacity::compute(&slo, &kept);
    let findings = &report.rows[0].findings;
    assert!(findings.iter().any(|found| found.code() == "short-window"), "{findings:?}");
}

/// What was cut off in the middle of a start counts up to the start before.
#[test]
fn a_search_that_was_cut_off_is_no_observation() {
    let (slo, mut kept) = run(&[("quick", QUICK)], 3, 1, usize::MAX);
    let last = kept.records.iter().rposition(|record| matches!(record, Record::Sample(_))).unwrap();
    kept.records.truncate(last);
    assert_eq!(capacity::compute(&slo, &kept).rows[0].starts, 2);
}
