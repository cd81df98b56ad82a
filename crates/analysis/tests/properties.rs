//! Properties of the table of any run, tested with synthetic runs.

use proptest::prelude::*;
use tare_analysis::interleaved::{self, Report, RowReport, RowState};
use tare_bench::{
    fixture,
    folder::{Header, StoredRun},
    record::Record,
    sample::Sample,
};
use tare_host::environment::Environment;

const LABELS: [&str; 3] = ["a", "b", "c"];
const BLOCKS: usize = 10;

/// Rows at these multiples of the usual rate.
fn run(levels: &[f64; 3]) -> StoredRun {
    let header = Header::new("0.1.0", String::new(), fixture::plan(&LABELS), Environment::default());
    let records = (0..BLOCKS).flat_map(|block| fixture::block(block, levels)).collect();
    StoredRun { header, records, damage: Vec::new(), in_progress: false }
}

fn samples(run: &mut StoredRun) -> impl Iterator<Item = &mut Sample> {
    run.records.iter_mut().filter_map(|record| match record {
        Record::Sample(sample) => Some(&mut **sample),
        _ => None,
    })
}

fn find<'a>(report: &'a Report, label: &str) -> &'a RowReport {
    report.rows.iter().find(|row| row.label == label).unwrap()
}

/// All values of a row in a table, except its place.
fn figures(report: &Report, label: &str) -> String {
    format!("{:?}", find(report, label))
}

/// The run with its rows in another order: `order[place]` is the original row.
fn reordered(run: &StoredRun, order: [usize; 3]) -> StoredRun {
    let place = |row: usize| order.iter().position(|other| *other == row).unwrap();
    let mut other = run.clone();
    other.header.plan.rows = order.map(|row| run.header.plan.rows[row].clone()).into();
    for record in &mut other.records {
        match record {
            Record::Block(block) => block.order.iter_mut().for_each(|row| *row = place(*row)),
            Record::Started(started) => started.row = place(started.row),
            Record::Sample(sample) => sample.row = place(sample.row),
            Record::Stopped(stopped) => stopped.row = place(stopped.row),
            _ => {}
        }
    }
    other
}

fn level() -> impl Strategy<Value = f64> {
    0.2..3.0_f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_row_is_not_separable_from_itself(levels in [level(), level(), level()]) {
        let mut run = run(&levels);
        let answers: Vec<(usize, u64)> = samples(&mut run)
            .filter(|sample| sample.row == 0)
            .map(|sample| (sample.block, sample.load.answered))
            .collect();
        for sample in samples(&mut run).filter(|sample| sample.row > 0) {
            let (_, answered) = answers.iter().find(|(block, _)| *block == sample.block).unwrap();
            let load = &mut sample.load;
            (load.sent, load.answered, load.answered_in_window) = (*answered, *answered, *answered);
        }
        let report = interleaved::compute(&run);
        let ratio = find(&report, "b").ratio.unwrap();
        prop_assert_eq!((ratio.value, ratio.interval()), (1.0, Some((1.0, 1.0))));
        prop_assert_eq!((find(&report, "a").ranks, find(&report, "b").ranks), (None, Some([1, 2])));
        prop_assert_eq!(find(&report, "b").ranks, find(&report, "c").ranks);
    }

    #[test]
    fn the_order_of_the_rows_in_the_plan_is_no_part_of_a_figure(
        levels in [level(), level(), level()],
        order in Just([0, 1, 2]).prop_shuffle(),
    ) {
        let run = run(&levels);
        let (one, other) = (interleaved::compute(&run), interleaved::compute(&reordered(&run, order)));
        for label in LABELS {
            prop_assert_eq!(figures(&one, label), figures(&other, label));
        }
    }

    #[test]
    fn a_block_that_is_missing_takes_its_pairs_and_no_others(
        levels in [level(), level(), level()],
        missing in 0..BLOCKS,
    ) {
        let whole = run(&levels);
        let mut part = whole.clone();
        part.records.retain(|record| match record {
            Record::Block(block) => block.block != missing,
            Record::Started(started) => started.block != missing,
            Record::Sample(sample) => sample.block != missing,
            Record::Stopped(stopped) => stopped.block != missing,
            _ => true,
        });
        let (whole, part) = (interleaved::compute(&whole), interleaved::compute(&part));
        prop_assert_eq!(whole.blocks, part.blocks + 1);
        for label in ["b", "c"] {
            let n = |report: &Report| find(report, label).ratio.map_or(0, |ratio| ratio.n);
            prop_assert_eq!((n(&whole), n(&part)), (BLOCKS, BLOCKS - 1));
        }
    }

    /// A slowdown of a whole block does not change the difference between two services.
    #[test]
    fn a_disturbance_of_a_whole_block_cancels(
        levels in [level(), level(), level()],
        slow in 0..BLOCKS,
        times in 2..8_u64,
    ) {
        let calm = run(&levels);
        let mut disturbed = calm.clone();
        for sample in samples(&mut disturbed).filter(|sample| sample.block == slow) {
            let load = &mut sample.load;
            (load.window_ns, load.elapsed_ns) = (load.window_ns * times, load.elapsed_ns * times);
            sample.host.server_cpu_ns *= times;
        }
        let ratio = |run: &StoredRun| find(&interleaved::compute(run), "b").ratio.unwrap();
        let (calm, disturbed) = (ratio(&calm), ratio(&disturbed));
        prop_assert!((calm.value / disturbed.value - 1.0).abs() < 1e-9, "{:?} {:?}", calm, disturbed);
        prop_assert!((calm.low.unwrap() / disturbed.low.unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn more_failures_never_make_a_row_valid(levels in [level(), level(), level()], failed in 0..200_u64) {
        let is_invalid = |failed: u64| {
            let mut run = run(&levels);
            for sample in samples(&mut run).filter(|sample| sample.row > 0) {
                sample.load.in_flight = failed;
            }
            matches!(find(&interleaved::compute(&run), "b").state, RowState::Invalid(_))
        };
        prop_assert!(!is_invalid(failed) || is_invalid(failed + 1));
        prop_assert_eq!([is_invalid(0), is_invalid(100_000)], [false, true]);
    }
}
