//! Effects of dropped slices and of the neighbour adjustment on the figures of a run.

use tare_bench::{folder::StoredRun, record::Record, sample::Sample};

use crate::{
    interleaved::{
        Report, compute,
        tests::{each_slice, find, kept_with},
    },
    validity::Dropped,
};

/// Six rows with successive slices.
fn six() -> StoredRun {
    let rows = [("raw-socket", 1.0), ("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.6), ("half", 0.5)];
    kept_with(&rows, 8)
}

#[test]
fn of_six_rows_a_disturbed_slice_goes_alone() {
    let mut kept = six();
    let before = compute(&kept);
    each_slice(&mut kept, |slice| {
        if (slice.block, slice.round, slice.row) == (3, 1, 5) {
            (slice.host.foreign_cpu_ns, slice.load.answered_in_window) = (Some(90_000_000), 17);
        }
    });
    let report = compute(&kept);
    let dropped = Dropped { slices: 1, of_slices: 96, slices_taken: 1, ..Dropped::default() };
    assert_eq!(report.dropped, dropped);
    let note = "1 of 96 slices were dropped: in 1 slice other programs ran on the measured CPUs";
    assert!(report.findings.iter().any(|found| found.to_string() == note), "{:?}", report.findings);
    let ratio = |report: &Report, row: &str| find(report, row).ratio.unwrap().value;
    for row in ["a", "half"] {
        assert!((ratio(&report, row) / ratio(&before, row) - 1.0).abs() < 0.01, "{row}");
    }
}

#[test]
fn a_block_keeps_all_slices_if_more_than_half_of_a_row_were_disturbed() {
    let mut kept = six();
    each_slice(&mut kept, |slice| {
        if (slice.block, slice.row) == (3, 5) {
            slice.host.foreign_cpu_ns = Some(90_000_000);
        }
    });
    let report = compute(&kept);
    assert_eq!(report.dropped, Dropped { of_slices: 96, blocks_disturbed: 1, ..Dropped::default() });
}

/// Repeats the first slice of a row in a block twelve times, and drops the others.
fn in_twelve_rounds(record: &Record) -> Vec<Record> {
    let Record::Sample(slice) = record else { return vec![record.clone()] };
    let again = |round| Record::Sample(Box::new(Sample { round, ..(**slice).clone() }));
    if slice.round == 0 { (0..12).map(again).collect() } else { Vec::new() }
}

/// A disturbance that no counter shows makes four adjacent slices cost 50% more. If the slices are not
/// adjacent, their neighbours do not reveal it.
#[test]
fn what_a_moment_did_to_its_slices_is_taken_out() {
    const ROWS: usize = 8;
    let width = |place_of: fn(usize) -> usize| {
        let rows: Vec<(&str, f64)> =
            ["raw-socket", "a", "b", "c", "d", "e", "f", "g"].iter().map(|name| (*name, 1.0)).collect();
        let mut kept = kept_with(&rows, 8);
        kept.records = kept.records.iter().flat_map(in_twelve_rounds).collect();
        each_slice(&mut kept, |slice| {
            // One of four rounds, beginning with another row in each block.
            let is_struck = (slice.row + ROWS - slice.block) % ROWS < 4;
            if slice.round % 4 == slice.block % 4 && is_struck {
                slice.load.answered = slice.load.answered * 2 / 3;
            }
        });
        kept.records.sort_by_key(|record| match record {
            Record::Block(block) => (block.block, 0, 0),
            Record::Sample(slice) => (slice.block, 1 + slice.round, place_of(slice.row)),
            Record::Stopped(stopped) => (stopped.block, 9, stopped.row),
            _ => (usize::MAX, 0, 0),
        });
        let report = compute(&kept);
        let widths = report.rows.iter().filter_map(|row| row.cpu_ratio?.interval());
        widths.map(|(low, high)| high - low).sum::<f64>()
    };
    let (side_by_side, apart) = (width(|row| row), width(|row| row * 5 % ROWS));
    assert!(side_by_side < 0.9 * apart, "{side_by_side} and {apart}");
}
