//! Two names for one service: how often a run separates them, and how often it finds a real difference.

use tare_analysis::{
    estimate::UnitEstimate,
    interleaved::{self, Report},
};
use tare_bench::fixture::in_blocks;

use crate::{
    machine::{Machine, Service},
    runs::{plan, run},
};

const SERVICE: Service = Service { per_second: 50_000.0, process_sd: 0.03, slice_sd: 0.1, ..Service::USUAL };
const BLOCKS: usize = 12;

fn report(services: &[Service], drift_sd: f64, seed: u64) -> Report {
    let labels = &["raw-socket", "same", "third"][..services.len()];
    let plan = plan(labels, BLOCKS, seed);
    interleaved::compute(&run(&plan, &mut Machine::new(services, drift_sd, &plan, 1)))
}

/// The row that is not the reference.
fn ratio(report: &Report) -> &UnitEstimate {
    report.rows.iter().find_map(|row| row.ratio.as_ref()).expect("it was measured")
}

fn separates(ratio: &UnitEstimate) -> bool {
    ratio.low.is_some_and(|low| low > 1.0) || ratio.high.is_some_and(|high| high < 1.0)
}

/// The number of `runs` that separate the two.
fn separated(second: Service, drift_sd: f64, runs: u64) -> usize {
    let found = (0..runs).filter(|seed| separates(ratio(&report(&[SERVICE, second], drift_sd, *seed))));
    found.count()
}

/// Process effects outweigh slice noise, and the machine drifts by 2% from slice to slice.
#[test]
fn one_service_under_two_names_is_seldom_two() {
    let found = separated(SERVICE, 0.02, 1_000);
    assert!(found <= 50, "{found} of 1000 runs separated a service from itself");
    assert!(found >= 20, "{found} of 1000: wider than 95% needs");
}

/// The second service warms up so slowly that each process lasts for four blocks. Effects per process are
/// then the same in all four; counting blocks would declare a difference in every second run.
#[test]
fn a_process_that_lasts_makes_no_service_another() {
    let slow = |seed: u64| {
        let plan = plan(&["raw-socket", "same"], 32, seed);
        let plan = in_blocks(plan, |blocks| blocks.warm_up_ns_max = Some(60_000_000_000));
        let mut machine = Machine::new(&[SERVICE; 2], 0.02, &plan, 1);
        machine.steady_after_ns[1] = 60_000_000_000;
        interleaved::compute(&run(&plan, &mut machine))
    };
    let starts: Vec<usize> = slow(1).rows.iter().map(|row| row.starts).collect();
    assert_eq!((slow(1).blocks, starts.iter().sum::<usize>()), (32, 32 + 8));
    let reports: Vec<Report> = (0..500).map(slow).collect();
    let found = reports.iter().filter(|report| separates(ratio(report))).count();
    assert!((10..=32).contains(&found), "{found} of 500 runs separated a service from itself");
    let is_two = |report: &&Report| {
        report.ranks.as_ref().is_some_and(|ranks| ranks.are_separated("same", "raw-socket"))
    };
    assert!(reports.iter().filter(is_two).count() <= 32);
}

#[test]
fn a_service_that_is_a_tenth_slower_is_found() {
    let slower = Service { per_second: 45_000.0, ..SERVICE };
    let found = separated(slower, 0.02, 100);
    assert!(found >= 90, "{found} of 100");
    let report = report(&[SERVICE, slower], 0.0, 7);
    assert!((ratio(&report).value - 0.9).abs() < 0.03, "{:?}", ratio(&report));
    assert_eq!((report.blocks, ratio(&report).n), (BLOCKS, BLOCKS));
}

#[test]
fn the_same_seed_gives_the_same_run_to_the_last_digit() {
    let text = |seed| format!("{:?}", report(&[SERVICE; 3], 0.02, seed));
    assert_eq!(text(3), text(3));
    assert_ne!(text(3), text(4));
}
