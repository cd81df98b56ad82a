use super::*;
use crate::estimate::Estimate;
use crate::findings::{Finding, KeptProcesses, RunIssue};
use crate::interleaved::{
    Report, State, compute,
    tests::{find, kept_with},
};
use crate::{interleaved::compute::compute_with, validity::RowLimits};
use tare_bench::{
    folder::StoredRun,
    plan::until::Tiers as AskedTiers,
    record::{Block, Ended, Ending, Record, Started},
};

fn compute_at(kept: &StoredRun, looks: Option<&Looks>) -> Report {
    compute_with(kept, looks, &RowLimits::default())
}

fn tiers_of(kept: &StoredRun) -> Vec<(String, usize)> {
    let tiers = compute(kept).tiers.unwrap();
    tiers.rows.iter().map(|place| (place.row.clone(), place.tier)).collect()
}

const TWIN: usize = 2;
const ROWS: [(&str, f64); 4] = [("raw-socket", 1.0), ("slow", 0.5), ("twin", 0.8), ("other", 0.797)];

#[test]
fn what_cannot_be_separated_is_one_tier() {
    let kept = kept_with(&ROWS, 12);
    let found = tiers_of(&kept);
    assert_eq!(found.iter().map(|(_, tier)| *tier).collect::<Vec<_>>(), [1, 2, 2, 3]);
    assert_eq!((found[0].0.as_str(), found[3].0.as_str()), ("raw-socket", "slow"));
    let report = compute(&kept);
    let row = find(&report, "twin");
    assert_eq!((row.tier, row.ranks), (Some(2), Some([2, 3])));
    let labels: Vec<&str> = report.rows.iter().map(|row| row.label.as_str()).collect();
    let ranked: Vec<&str> = found.iter().map(|(row, _)| row.as_str()).collect();
    assert_eq!(labels, ranked, "the table stands in the order of the ranks");
    let tiers = report.tiers.unwrap();
    assert_eq!((tiers.by, tiers.blocks, tiers.not_separated.len()), (Metric::Cpu, 12, 1));
    let pair = &tiers.not_separated[0];
    assert_eq!(pair.ns_more, pair.blocks_more.map(|blocks| blocks as u64 * 2_000_000_000));
}

#[test]
fn tiers_are_said_in_words() {
    let report = compute(&kept_with(&ROWS, 12));
    insta::assert_snapshot!(report.tiers.unwrap().lines().join("\n"));
}

#[test]
fn rows_are_ranked_by_cost_unless_throughput_was_asked_for_and_is_valid() {
    let mut kept = kept_with(&ROWS, 12);
    for record in &mut kept.records {
        if let Record::Sample(slice) = record
            && slice.row == TWIN
        {
            slice.host.server_cpu_ns /= 2;
        }
    }
    let first = |kept: &StoredRun| {
        let report = compute(kept);
        (report.tiers.as_ref().unwrap().by, report.rows[0].label.clone())
    };
    assert_eq!(
        first(&kept),
        (Metric::Cpu, "twin".to_owned()),
        "half the time for eight tenths of the requests"
    );
    let (metric, looks) = (Metric::Throughput, vec![12]);
    kept.header.plan.until = Until::Tiers(AskedTiers { metric, delta: 0.03, looks, alpha: ALPHA });
    assert_eq!(first(&kept), (Metric::Throughput, "raw-socket".to_owned()));
    for record in &mut kept.records {
        if let Record::Sample(slice) = record
            && slice.row == TWIN
        {
            slice.host.generator_cpu_ns = 99_000_000;
        }
    }
    assert_eq!(first(&kept), (Metric::Cpu, "twin".to_owned()));
    let doubt = compute(&kept).rows[0].throughput_finding.clone();
    assert_eq!(doubt.as_ref().map(Finding::code), Some("generator-bound"));
}

#[test]
fn who_keeps_a_process_is_judged_by_its_starts() {
    let mut kept = kept_with(&ROWS, 12);
    // A row without a record of its starts has a process for each block.
    let started = |block: usize| Started { block, row: TWIN, start_up_ns: 1 };
    let with_starts = |record: Record| match record {
        Record::Block(Block { block, .. }) if block.is_multiple_of(3) => {
            vec![record, Record::Started(started(block))]
        }
        record => vec![record],
    };
    kept.records = kept.records.into_iter().flat_map(with_starts).collect();
    let report = compute(&kept);
    let (twin, slow) = (find(&report, "twin"), find(&report, "slow"));
    assert_eq!((twin.starts, twin.blocks, slow.starts), (4, 12, 12));
    let blocks = |row: &RowReport| row.ratio.as_ref().map(|ratio| ratio.n);
    assert_eq!((blocks(twin), blocks(slow)), (Some(4), Some(12)));
    let width = |row: &str| {
        let ratio = |kept: &StoredRun| find(&compute(kept), row).ratio.unwrap();
        let interval = |ratio: Estimate| ratio.high.unwrap() - ratio.low.unwrap();
        interval(ratio(&kept)) / interval(ratio(&kept_with(&ROWS, 12)))
    };
    assert!(width("twin") > 1.2 && (width("slow") - 1.0).abs() < 1e-12, "{}", width("twin"));
    let kept = KeptProcesses { row: "twin".to_owned(), starts: 4, blocks: 12 };
    let expected = RunIssue::ProcessesKept { rows: vec![kept] };
    assert_eq!(report.findings.last(), Some(&Finding::of_run(expected)));
}

#[test]
fn groups_are_compared_by_their_reference() {
    let mut kept = kept_with(&ROWS, 24);
    kept.header.plan.blocks_mut().group_max = 3;
    assert_eq!(kept.header.plan.groups(), 2);
    let members: Vec<Vec<usize>> = (0..24).map(|block| kept.header.plan.group(block)).collect();
    let is_member = |block: usize, row: usize| members[block].contains(&row);
    kept.records.retain_mut(|record| match record {
        Record::Sample(slice) => is_member(slice.block, slice.row),
        Record::Started(started) => is_member(started.block, started.row),
        Record::Stopped(stopped) => is_member(stopped.block, stopped.row),
        Record::Block(Block { block, order, .. }) => {
            order.retain(|row| is_member(*block, *row));
            true
        }
        _ => true,
    });
    let report = compute(&kept);
    assert_eq!(find(&report, "twin").blocks, 12);
    let tiers = report.tiers.unwrap();
    assert_eq!(tiers.blocks, 12, "cycles");
    assert_eq!(tiers.rows.iter().map(|place| place.tier).collect::<Vec<_>>(), [1, 2, 2, 3]);
}

#[test]
fn looks_cost_blocks() {
    let looks = Looks::planned(&[10, 20, 40], 0.05).unwrap();
    let few = kept_with(&[("raw-socket", 1.0), ("slow", 0.5)], 9);
    let fixed = compute(&few);
    assert!(find(&fixed, "slow").ratio.as_ref().unwrap().low.is_some());
    assert_eq!(fixed.tiers.unwrap().rows[1].tier, 2);
    let looked = compute_at(&few, Some(&looks));
    assert_eq!(find(&looked, "slow").ratio.as_ref().unwrap().low, None);
    let tiers = looked.tiers.unwrap();
    assert_eq!(tiers.rows[1].tier, 1);
    assert!(
        matches!(tiers.warnings[0], Warning::TooFewToSeparate { needed: 10, .. }),
        "{:?}",
        tiers.warnings
    );
    let expected = Finding::of_run(RunIssue::InterimAnalyses { blocks: vec![10, 20, 40] });
    assert!(looked.findings.contains(&expected), "{:?}", looked.findings);

    let mut decided = few.clone();
    let last = Record::Ended(Ended { reason: Ending::Decided, elapsed_ns: 1 });
    *decided.records.last_mut().unwrap() = last;
    let too_much = |report: &Report| report.findings.contains(&Finding::of_run(RunIssue::UnplannedLooks));
    assert!(too_much(&compute(&decided)) && !too_much(&compute_at(&decided, Some(&looks))));

    let more = kept_with(&[("raw-socket", 1.0), ("slow", 0.5)], 25);
    let width = |ratio: &Estimate| ratio.low.zip(ratio.high).map(|(low, high)| high / low).unwrap();
    let (fixed, looked) = (compute(&more), compute_at(&more, Some(&looks)));
    let ratio = |report: &Report| find(report, "slow").ratio.unwrap();
    assert_eq!((ratio(&fixed).n, ratio(&looked).n), (25, 20), "blocks after a look wait for the next");
    assert!(width(&ratio(&looked)) > width(&ratio(&fixed)));
    assert_eq!(looked.tiers.unwrap().rows[1].tier, 2);
}

#[test]
fn one_row_has_no_tier() {
    let report = compute(&kept_with(&[("raw-socket", 1.0)], 8));
    assert_eq!((report.tiers.is_none(), &report.rows[0].state), (true, &State::Measured));
}

#[test]
fn a_block_takes_as_long_as_from_one_to_the_next() {
    let block = |elapsed_ns| Record::Block(Block { elapsed_ns, ..Block::default() });
    assert_eq!(block_ns(&[], Some(5)), None);
    assert_eq!(block_ns(&[block(100), block(300), block(700)], None), Some(300));
    assert_eq!(block_ns(&[block(100)], Some(400)), Some(300));
    assert_eq!(block_ns(&[block(0), block(0)], Some(400)), Some(200), "an older run");
}

#[test]
fn equal_rows_would_never_be_separated() {
    let found = AdjacentPair { row: "a".to_owned(), next: "b".to_owned(), blocks_more: None, ns_more: None };
    assert_eq!(found.text(), "not separated: a and b: not even 2000 blocks would separate them");
    let long = AdjacentPair { blocks_more: Some(12), ns_more: Some(240_000_000_000), ..found };
    assert_eq!(long.text(), "not separated: a and b: about 12 more blocks (4 min) would separate them");
}
