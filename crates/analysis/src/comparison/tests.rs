use insta::assert_snapshot;

use super::*;
use crate::verdict::Absence;
use tare_bench::{
    fixture,
    folder::StoredRun,
    plan::Excluded,
    record::{EndedRun, Ending, Failed, Record},
};

/// Blocks of `a` and of `b`, which has `ratio` times its rate.
fn kept(blocks: usize, ratio: f64) -> StoredRun {
    let records = (0..blocks).flat_map(|block| fixture::block(block, &[1.0, ratio]));
    let ended = EndedRun { reason: Ending::Decided, elapsed_ns: blocks as u64 * 4_000_000_000 };
    StoredRun {
        header: fixture::compared(),
        records: records.chain([Record::Ended(ended)]).collect(),
        damage: Vec::new(),
        in_progress: false,
    }
}

fn verdict(stored: &StoredRun) -> (Verdict, String) {
    let found = compute(stored).unwrap();
    (found.verdict, found.reason)
}

/// The verdict, and each metric with its figures.
fn words(found: &Comparison) -> String {
    let figure = |figure: &Figure| {
        let text = figure.text().unwrap_or_default();
        format!("{:?}: {text}", figure.verdict)
    };
    let figures: Vec<String> = found.figures.iter().map(figure).collect();
    format!("{}: {}\n{}", found.head(), found.reason, figures.join("\n"))
}

#[test]
fn a_candidate_that_is_the_same_passes() {
    assert_snapshot!(words(&compute(&kept(12, 1.0)).unwrap()));
}

#[test]
fn one_that_is_worse_fails() {
    assert_snapshot!(words(&compute(&kept(12, 0.9)).unwrap()));
}

#[test]
fn one_that_is_worse_by_about_delta_is_worse_by_what_the_interval_excludes() {
    assert_snapshot!(words(&compute(&kept(14, 0.973)).unwrap()));
}

#[test]
fn an_inconclusive_one_says_what_is_not_excluded() {
    let mut noisy = kept(14, 0.98);
    // Every other block of the candidate is 10% better, the rest 10% worse.
    for record in &mut noisy.records {
        if let Record::Sample(slice) = record
            && slice.row == 1
        {
            let times = if slice.block % 2 == 0 { 1.1 } else { 0.9 };
            slice.load.answered_in_window = (slice.load.answered_in_window as f64 * times) as u64;
            slice.host.server_cpu_ns = (slice.host.server_cpu_ns as f64 / times) as u64;
        }
    }
    assert_snapshot!(words(&compute(&noisy).unwrap()));
}

#[test]
fn a_verdict_has_a_reason() {
    assert_eq!(
        verdict(&kept(3, 0.5)),
        (
            Verdict::Inconclusive,
            "the first look is after 12 blocks, and nothing is said before it".to_owned()
        )
    );
    let mut dead = kept(12, 1.0);
    let failed = Failed { block: 12, row: 1, reason: "was killed".to_owned() };
    dead.records.push(Record::Failed(failed));
    assert_eq!(verdict(&dead), (Verdict::ServiceFailed, "b: block 13: was killed".to_owned()));
    let mut absent = kept(0, 1.0);
    let reason = "no compiler".to_owned();
    let why = tare_bench::plan::Exclusion::NotOnThisMachine;
    absent.header.plan.rows[0].excluded = Some(Excluded { why, reason });
    assert_eq!(verdict(&absent), (Verdict::LeftOut(Absence::NotOnThisMachine), "a: no compiler".to_owned()));
}

/// If the generator was the limit, throughput is not compared, and CPU decides alone.
#[test]
fn a_throughput_that_is_not_valid_does_not_decide() {
    let mut bound = kept(12, 0.5);
    for record in &mut bound.records {
        if let Record::Sample(slice) = record {
            (slice.host.server_cpu_ns, slice.host.generator_cpu_ns) =
                (slice.load.answered * 5_000, 99_000_000);
        }
    }
    let found = compute(&bound).unwrap();
    assert_eq!(
        (found.verdict, found.figures[0].decides, found.figures[1].decides),
        (Verdict::Pass, false, true)
    );
    assert_eq!(found.figures[0].doubts[0].code(), "generator-bound");
    let tare_bench::plan::until::Until::Gate(gate) = &mut bound.header.plan.until else { unreachable!() };
    gate.metrics = vec![Metric::Throughput];
    assert_eq!(compute(&bound).unwrap().verdict, Verdict::Invalid);
}

/// A wrong answer in a hundred thousand, of either row, even in a cut-off block, ends the comparison.
#[test]
fn one_wrong_answer_of_either_leaves_nothing_to_compare() {
    use tare_bench::sample::{Failure, Sample};
    let with = |row: usize, failure: Failure| {
        let mut run = kept(12, 1.0);
        let mut load = fixture::slice(10_000).load;
        (load.sent, load.answered) = (10_001, 10_000);
        load.failed = [(failure, 1)].into_iter().collect();
        load.first_failure = Some(format!("{failure} at \"hello\""));
        let sample = Sample { block: 12, row, load, ..Sample::default() };
        run.records.insert(run.records.len() - 1, Record::Sample(Box::new(sample)));
        verdict(&run)
    };
    assert_eq!(with(1, Failure::Reset).0, Verdict::Pass, "a reset in a hundred thousand is allowed");
    for (row, label) in ["a", "b"].into_iter().enumerate() {
        let (verdict, reason) = with(row, Failure::Mismatch);
        assert_eq!(verdict, Verdict::Invalid, "{reason}");
        assert!(reason.starts_with(&format!("{label}: wrong answers: 1 of ")), "{reason}");
        assert!(reason.ends_with("mismatch 1; the first: mismatch at \"hello\""), "{reason}");
    }
}

#[test]
fn a_comparison_has_the_errors_of_both() {
    let mut run = kept(12, 1.0);
    let sample = run.records.iter_mut().find_map(|record| match record {
        Record::Sample(sample) if sample.row == 1 => Some(sample),
        _ => None,
    });
    sample.unwrap().load.failed = [(tare_bench::sample::Failure::Reset, 2)].into_iter().collect();
    let found = compute(&run).unwrap();
    assert_eq!(found.verdict, Verdict::Pass);
    assert!(found.baseline.errors().starts_with("none of "), "{}", found.baseline.errors());
    assert!(found.candidate.errors().starts_with("2 of "), "{}", found.candidate.errors());
    assert!(found.candidate.errors().ends_with(" requests: reset 2"), "{}", found.candidate.errors());
}

/// The same records in two parts, or with later records after the look, give equal figures.
#[test]
fn a_replay_gives_the_same_to_the_last_digit() {
    let whole = kept(40, 0.9);
    let until_the_look = kept(12, 0.9);
    assert_eq!(compute(&whole).unwrap().figures, compute(&until_the_look).unwrap().figures);
    assert_eq!(compute(&whole).unwrap().look, Some(12));
}

#[test]
fn the_quotient_of_two_figures_is_the_ratio_beside_them() {
    let found = compute(&kept(12, 0.9)).unwrap();
    let mut related = 0;
    for figure in &found.figures {
        let (Some(baseline), Some(candidate), Some(ratio)) =
            (figure.baseline, figure.candidate, figure.ratio.as_ref())
        else {
            continue;
        };
        assert!((candidate / baseline / ratio.value - 1.0).abs() < 1e-9, "{figure:?}");
        related += 1;
    }
    assert!(related > 1, "{found:?}");
}

#[test]
fn other_runs_are_no_comparisons() {
    let mut other = kept(12, 1.0);
    other.header.plan.until = Default::default();
    assert!(compute(&other).is_none());
}

/// The run with a twin of the candidate at this share of its rate.
fn again(ratio: f64, share: f64) -> StoredRun {
    let mut run = kept(0, 1.0);
    run.header.plan = tare_bench::plan::Plan {
        until: run.header.plan.until.clone(),
        twin: Some("b@again".to_owned()),
        ..fixture::plan(&["a", "b", "b@again"])
    };
    run.header.plan.rows[2].service = "b".to_owned();
    let records = (0..12).flat_map(|block| fixture::block(block, &[1.0, ratio, ratio * share]));
    run.records.splice(0..0, records);
    run
}

#[test]
fn a_candidate_is_compared_with_itself_too() {
    let found = compute(&again(0.9, 1.0)).unwrap();
    assert_eq!(found.verdict, Verdict::Fail);
    let twin = found.again.unwrap();
    assert_eq!((twin.original.as_str(), twin.label.as_str()), ("b", "b@again"));
    let figure = &twin.figures[1];
    let ratio = figure.ratio.unwrap();
    assert!((ratio.value - 1.0).abs() < 0.01 && figure.verdict.is_none(), "{ratio:?}");
    assert!((0.001..0.03).contains(&figure.resolution().unwrap()), "{ratio:?}");
    assert!(compute(&kept(12, 0.9)).unwrap().again.is_none());
}

#[test]
fn a_build_that_differs_from_itself_decides_nothing() {
    for share in [0.9, 1.12] {
        let found = compute(&again(1.0, share)).unwrap();
        assert_eq!(found.verdict, Verdict::Invalid, "{share}");
        assert!(found.reason.starts_with("two processes of b differ by 3% or more"), "{}", found.reason);
    }
    assert_eq!(compute(&again(1.0, 0.98)).unwrap().verdict, Verdict::Pass, "by less than delta");
}
