//! Slices without figures in the report of a run.

use std::collections::BTreeMap;

use super::{compute, kept_with, slices};
use crate::agents::{agents, discarded, summaries};
use tare_bench::{
    folder::StoredRun,
    plan::PlannedAgents,
    record::Record,
    sample::Sample,
    sample_agents::{AgentSample, DiscardedSlice, FleetSample},
};

/// Two rows and six blocks of two rounds; these slices of the second row have no figures.
fn kept(rows: &[(&str, f64)], discarded: &[(usize, usize)]) -> StoredRun {
    let mut kept = kept_with(rows, 6);
    let addresses = vec!["a:1".to_owned(), "b:2".to_owned()];
    kept.header.plan.agents = Some(PlannedAgents { addresses, serve_on: std::net::Ipv4Addr::LOCALHOST });
    for record in &mut kept.records {
        let Record::Sample(sample) = record else { continue };
        let place = (sample.block, sample.round);
        sample.fleet = Some(FleetSample { agents: agents_of(&["valid"; 2]), ..FleetSample::default() });
        if sample.row == 1 && discarded.contains(&place) && !sample.is_open() {
            let Sample { block, round, point, row, .. } = **sample;
            let reasons = vec!["agent: b:2 is not valid: late".to_owned()];
            let agents = agents_of(&["valid", "late"]);
            let is_closed = true;
            *record = Record::Discarded(DiscardedSlice {
                block,
                round,
                point,
                row,
                is_closed,
                reasons,
                agents,
                ..DiscardedSlice::default()
            });
        }
    }
    kept
}

fn agents_of(verdicts: &[&str; 2]) -> Vec<AgentSample> {
    let of = |(address, verdict): (&str, &&str)| AgentSample {
        address: address.to_owned(),
        verdict: (*verdict).to_owned(),
        ..AgentSample::default()
    };
    ["a:1", "b:2"].into_iter().zip(verdicts).map(of).collect()
}

const TWO: [(&str, f64); 2] = [("raw-socket", 1.0), ("half", 0.5)];

#[test]
fn discarded_slices_are_counted_and_named_and_have_no_part_in_a_figure() {
    let kept = kept(&TWO, &[(1, 0), (4, 1)]);
    let found = discarded(&kept).unwrap();
    let measured = kept.records.iter().filter_map(Record::sample).count();
    assert_eq!((found.slices, found.of, found.lost), (2, measured + 2, 0));
    assert_eq!(found.by_row, BTreeMap::from([("half".to_owned(), 2)]));
    let report = compute(&kept);
    let half = report.rows.iter().find(|row| row.label == "half").unwrap();
    assert_eq!(half.blocks, 6, "a block with one round has figures");
    let text: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    let said = text.iter().find(|text| text.contains("discarded")).unwrap();
    assert!(said.contains("2 of") && said.contains("half 2") && said.contains("b:2 is not valid"), "{said}");
}

#[test]
fn the_round_of_a_discarded_slice_counts_for_no_row_of_few() {
    let kept = kept(&TWO, &[(1, 0)]);
    let slices = slices::slices(&kept);
    let counted = |block, round| {
        let of = slices.iter().filter(|of| (of.slice.block, of.slice.round) == (block, round));
        of.filter(|of| of.disposition == slices::Disposition::Counts).count()
    };
    assert_eq!((counted(1, 0), counted(1, 1), counted(0, 0)), (0, 2, 2));
    let left_out = slices.iter().find(|of| (of.slice.block, of.slice.round) == (1, 0)).unwrap();
    assert_eq!(left_out.disposition, slices::Disposition::Unpaired, "the machine did nothing to it");
}

#[test]
fn a_block_without_a_slice_left_has_no_figures_and_the_others_keep_theirs() {
    let kept = kept(&TWO, &[(2, 0), (2, 1)]);
    let report = compute(&kept);
    assert!(report.rows.iter().all(|row| row.blocks == 5), "{:?}", report.rows);
}

#[test]
fn each_agent_is_summed_up() {
    let kept = kept(&TWO, &[(1, 0)]);
    let found = summaries(&kept);
    let slices = kept.records.iter().filter(|record| !agents(record).is_empty()).count();
    assert_eq!(found.iter().map(|agent| agent.slices).collect::<Vec<_>>(), [slices, slices]);
    assert_eq!(found[0].verdicts, BTreeMap::from([("valid".to_owned(), slices)]));
    assert_eq!(found[1].verdicts["late"], 1);
    let mut local = kept;
    local.header.plan.agents = None;
    assert_eq!(summaries(&local), []);
}
