use super::*;
use crate::estimate::UnitEstimate;
use crate::findings::{Finding, KeptProcesses, RunIssue};
use crate::interleaved::{
    Report, RowState, compute,
    tests::{find, kept_with},
};
use crate::{interleaved::compute_with, validity::RowLimits};
use tare_bench::{
    folder::StoredRun,
    plan::until::RanksGoal,
    record::{Block, EndedRun, Ending, Record, Started},
};

fn compute_at(stored: &StoredRun, looks: Option<&Looks>) -> Report {
    compute_with(stored, looks, &RowLimits::default())
}

fn ranks_of(ranks: &Ranks) -> Vec<[usize; 2]> {
    ranks.rows.iter().map(|place| [place.rank_best, place.rank_worst]).collect()
}

const TWIN: usize = 2;
const ROWS: [(&str, f64); 4] = [("raw-socket", 1.0), ("slow", 0.5), ("twin", 0.8), ("other", 0.797)];

#[test]
fn what_cannot_be_separated_shares_its_ranks() {
    let report = compute(&kept_with(&ROWS, 12));
    let ranks = report.ranks.as_ref().unwrap();
    assert_eq!(ranks_of(ranks), [[1, 2], [1, 2], [3, 3]]);
    let ranked: Vec<&str> = ranks.rows.iter().map(|place| place.row.as_str()).collect();
    assert_eq!(ranked[2], "slow");
    assert!(ranks.is_behind("slow", "twin") && !ranks.is_behind("twin", "slow"));
    assert!(!ranks.is_behind("twin", "other") && !ranks.is_behind("other", "twin"));
    let row = find(&report, "twin");
    assert_eq!(row.ranks, Some([1, 2]));
    let labels: Vec<&str> = report.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels[0], "raw-socket", "a reference has no rank and stands before them");
    assert_eq!(labels[1..], ranked, "the table stands in the order of the ranks");
    let ties = labels.iter().map(|label| ranks.is_tied_to_next(label));
    assert_eq!(ties.collect::<Vec<_>>(), [None, Some(true), Some(false), None]);
    assert_eq!((ranks.by, ranks.blocks, ranks.not_separated.len()), (Metric::Cpu, 12, 1));
    let pair = &ranks.not_separated[0];
    let rows = [pair.row.as_str(), pair.next.as_str()];
    assert!(rows.contains(&"twin") && rows.contains(&"other"), "{rows:?}");
    // They are 0.4% apart. The interval of a single pair is narrower than that of all three together.
    let most = pair.differ_most.unwrap();
    assert!(0.004 < most && most < 0.1, "{most}");
}

/// A noisy row between two quiet ones is separated from neither, and the two are separated from each other.
#[test]
fn a_noisy_row_hides_no_separation() {
    let rows = [("raw-socket", 1.0), ("axum", 1.0), ("restinio", 1.03), ("hyper", 0.98)];
    let mut stored = kept_with(&rows, 12);
    for record in &mut stored.records {
        if let Record::Sample(slice) = record
            && slice.row == 2
        {
            let percent = [86, 121, 93, 109, 84, 117][slice.block % 6];
            slice.host.server_cpu_ns = slice.host.server_cpu_ns * percent / 100;
        }
    }
    let report = compute(&stored);
    let ranks: Vec<(&str, [usize; 2])> =
        report.rows[1..].iter().map(|row| (row.label.as_str(), row.ranks.unwrap())).collect();
    assert_eq!(ranks, [("restinio", [1, 3]), ("axum", [1, 2]), ("hyper", [2, 3])]);
    let ranks = report.ranks.unwrap();
    assert!(ranks.are_separated("hyper", "axum") && ranks.are_separated("axum", "hyper"));
    assert!(!ranks.are_separated("hyper", "restinio") && !ranks.are_separated("restinio", "axum"));
    assert!(ranks.lines()[0].contains("1 of 3 pairs of ranked rows are separated"), "{:?}", ranks.lines());
}

#[test]
fn ranks_are_said_in_words() {
    let report = compute(&kept_with(&ROWS, 12));
    insta::assert_snapshot!(report.ranks.unwrap().lines().join("\n"));
}

#[test]
fn rows_are_ranked_by_cost_unless_throughput_was_asked_for_and_is_valid() {
    let mut stored = kept_with(&ROWS, 12);
    for record in &mut stored.records {
        if let Record::Sample(slice) = record
            && slice.row == TWIN
        {
            slice.host.server_cpu_ns /= 2;
        }
    }
    let first = |stored: &StoredRun| {
        let report = compute(stored);
        let ranks = report.ranks.as_ref().unwrap();
        (ranks.by, ranks.rows[0].row.clone())
    };
    assert_eq!(
        first(&stored),
        (Metric::Cpu, "twin".to_owned()),
        "half the time for eight tenths of the requests"
    );
    let (metric, looks) = (Metric::Throughput, vec![12]);
    stored.header.plan.until = Until::Ranks(RanksGoal { metric, delta: 0.03, looks, alpha: ALPHA });
    let by_throughput = compute(&stored).ranks.unwrap();
    assert_eq!(
        (by_throughput.by, ranks_of(&by_throughput)),
        (Metric::Throughput, vec![[1, 2], [1, 2], [3, 3]])
    );
    for record in &mut stored.records {
        if let Record::Sample(slice) = record
            && slice.row == TWIN
        {
            slice.host.generator_cpu_ns = 99_000_000;
        }
    }
    assert_eq!(first(&stored), (Metric::Cpu, "twin".to_owned()));
    let doubt = find(&compute(&stored), "twin").throughput_finding.clone();
    assert_eq!(doubt.as_ref().map(Finding::code), Some("generator-bound"));
}

#[test]
fn who_keeps_a_process_is_judged_by_its_starts() {
    let mut stored = kept_with(&ROWS, 12);
    // A row without records of its starts counts a process per block.
    let started = |block: usize| Started { block, row: TWIN, start_up_ns: Some(1) };
    let with_starts = |record: Record| match record {
        Record::Block(Block { block, .. }) if block.is_multiple_of(3) => {
            vec![record, Record::Started(started(block))]
        }
        record => vec![record],
    };
    stored.records = stored.records.into_iter().flat_map(with_starts).collect();
    let report = compute(&stored);
    let (twin, slow) = (find(&report, "twin"), find(&report, "slow"));
    assert_eq!((twin.starts, twin.blocks, slow.starts), (4, 12, 12));
    let blocks = |row: &RowReport| row.ratio.as_ref().map(|ratio| ratio.n);
    assert_eq!((blocks(twin), blocks(slow)), (Some(4), Some(12)));
    let width = |row: &str| {
        let ratio = |stored: &StoredRun| find(&compute(stored), row).ratio.unwrap();
        let interval = |ratio: UnitEstimate| ratio.high.unwrap() - ratio.low.unwrap();
        interval(ratio(&stored)) / interval(ratio(&kept_with(&ROWS, 12)))
    };
    assert!(width("twin") > 1.2 && (width("slow") - 1.0).abs() < 1e-12, "{}", width("twin"));
    let stored = KeptProcesses { row: "twin".to_owned(), starts: 4, blocks: 12 };
    let expected = RunIssue::ProcessesKept { rows: vec![stored] };
    assert_eq!(report.findings.last(), Some(&Finding::of_run(expected)));
}

#[test]
fn groups_are_compared_by_their_reference() {
    let mut stored = kept_with(&ROWS, 24);
    stored.header.plan.blocks_mut().group_max = 3;
    assert_eq!(stored.header.plan.groups(), 2);
    let members: Vec<Vec<usize>> = (0..24).map(|block| stored.header.plan.group(block)).collect();
    let is_member = |block: usize, row: usize| members[block].contains(&row);
    stored.records.retain_mut(|record| match record {
        Record::Sample(slice) => is_member(slice.block, slice.row),
        Record::Started(started) => is_member(started.block, started.row),
        Record::Stopped(stopped) => is_member(stopped.block, stopped.row),
        Record::Block(Block { block, order, .. }) => {
            order.retain(|row| is_member(*block, *row));
            true
        }
        _ => true,
    });
    let report = compute(&stored);
    assert_eq!(find(&report, "twin").blocks, 12);
    let ranks = report.ranks.unwrap();
    assert_eq!(ranks.blocks, 12, "cycles");
    assert_eq!(ranks_of(&ranks), [[1, 2], [1, 2], [3, 3]]);
}

#[test]
fn looks_cost_blocks() {
    let looks = Looks::planned(&[10, 20, 40], 0.05).unwrap();
    let few = kept_with(&[("raw-socket", 1.0), ("slow", 0.5)], 9);
    let fixed = compute(&few);
    assert!(find(&fixed, "slow").ratio.as_ref().unwrap().low.is_some());
    assert!(fixed.ranks.unwrap().are_separated("slow", "raw-socket"));
    let looked = compute_at(&few, Some(&looks));
    assert_eq!(find(&looked, "slow").ratio.as_ref().unwrap().low, None);
    let ranks = looked.ranks.unwrap();
    assert!(!ranks.are_separated("slow", "raw-socket"));
    assert!(matches!(ranks.warnings[0], Warning::TooFewBlocks { needed: 10, .. }), "{:?}", ranks.warnings);
    let expected = Finding::of_run(RunIssue::InterimAnalyses { blocks: vec![10, 20, 40] });
    assert!(looked.findings.contains(&expected), "{:?}", looked.findings);

    let mut decided = few.clone();
    let last = Record::Ended(EndedRun { reason: Ending::Decided, elapsed_ns: 1 });
    *decided.records.last_mut().unwrap() = last;
    let too_much = |report: &Report| report.findings.contains(&Finding::of_run(RunIssue::UnplannedLooks));
    assert!(too_much(&compute(&decided)) && !too_much(&compute_at(&decided, Some(&looks))));

    let more = kept_with(&[("raw-socket", 1.0), ("slow", 0.5)], 25);
    let width = |ratio: &UnitEstimate| ratio.low.zip(ratio.high).map(|(low, high)| high / low).unwrap();
    let (fixed, looked) = (compute(&more), compute_at(&more, Some(&looks)));
    let ratio = |report: &Report| find(report, "slow").ratio.unwrap();
    assert_eq!((ratio(&fixed).n, ratio(&looked).n), (25, 20), "blocks after a look wait for the next");
    assert!(width(&ratio(&looked)) > width(&ratio(&fixed)));
    assert!(looked.ranks.unwrap().are_separated("slow", "raw-socket"));
}

#[test]
fn one_row_has_no_rank() {
    let report = compute(&kept_with(&[("raw-socket", 1.0)], 8));
    assert_eq!((report.ranks.is_none(), &report.rows[0].state), (true, &RowState::Measured));
}

/// The bounds of all three pairs must contain the true difference simultaneously in 95% of runs.
#[test]
fn the_true_difference_is_not_excluded() {
    use rand::{RngExt, SeedableRng};
    const COUNT: usize = 400;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let mut noise = || ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0) * 0.05;
    let truth = [0.0, 0.02, 0.06];
    let missed = (0..COUNT).filter(|_| {
        let values: Vec<Vec<f64>> =
            truth.iter().map(|level| (0..12).map(|_| (level + noise()).exp()).collect()).collect();
        let processes = vec![(0..12).collect(); 3];
        let table = Table { labels: vec!["a", "b", "c"], values, processes };
        let ranking = table.ranking(Better::Higher, None).unwrap();
        [(0, 1), (1, 2), (0, 2)].into_iter().any(|(one, other)| {
            let apart: f64 = truth[other] - truth[one];
            differ_most(ranking.pair(one, other).unwrap(), level_of_a_pair(&ranking, None).unwrap()).unwrap()
                < apart.exp_m1()
        })
    });
    let missed = missed.count() as f64 / COUNT as f64;
    assert!(missed <= 0.05 + 3.0 * (0.05 * 0.95 / COUNT as f64).sqrt(), "{missed}");
}

#[test]
fn rows_that_are_not_separated_are_not_called_equal() {
    let found = AdjacentPair { row: "a".to_owned(), next: "b".to_owned(), differ_most: Some(0.062) };
    assert_eq!(found.text(), "not separated: a and b differ by less than 6.2%");
    let without = AdjacentPair { differ_most: None, ..found };
    assert_eq!(without.text(), "not separated: a and b; no difference is excluded");
}
