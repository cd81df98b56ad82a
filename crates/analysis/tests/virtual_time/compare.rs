//! Decisions of `tare compare`: its plan, stopping rule and verdict, with known candidates.

use std::{collections::BTreeMap, time::Duration};

use tare_analysis::{
    analysis::Analysis,
    comparison::{self, Comparison, Figure},
    verdict::Verdict,
};
use tare_bench::{
    folder::StoredRun,
    plan::{
        Exclusion, Plan,
        until::{Metric, looks},
    },
    record::{Ending, Record},
};

use crate::{
    machine::{Fault, Machine, Service},
    runs,
};

const BASELINE: Service = Service::USUAL;
const ROWS: [&str; 2] = ["baseline", "candidate"];
const DELTA: f64 = 0.03;
const DECIDE: [Metric; 2] = [Metric::Throughput, Metric::Cpu];

/// The plan of `tare compare baseline candidate`.
fn usual(seed: u64) -> Plan {
    runs::of_versions(&ROWS, seed).until_compared(DELTA, DECIDE.to_vec())
}

/// At most twelve blocks, with looks after 4, 5, 6, 9 and 12 of them.
fn short(delta: f64, metrics: &[Metric], seed: u64) -> Plan {
    runs::of_short_versions(&ROWS, 12, seed).until_compared(delta, metrics.to_vec())
}

fn machine(plan: &Plan, services: &[Service]) -> Machine {
    Machine::new(services, 0.005, plan, 1)
}

fn run(plan: &Plan, candidate: Service) -> StoredRun {
    runs::run(plan, &mut machine(plan, &[BASELINE, candidate]))
}

fn compared(run: &StoredRun) -> Comparison {
    let found = comparison::compute(run).expect("it is a comparison");
    assert_eq!(found.verdict, Analysis::of(run).verdict, "the status of the command");
    found
}

/// The number of seeds with each verdict.
fn verdicts(seeds: u64, of: impl Fn(u64) -> (Plan, Service)) -> BTreeMap<Verdict, usize> {
    let mut counts = BTreeMap::new();
    for seed in 0..seeds {
        let (plan, candidate) = of(seed);
        let found = comparison::compute(&run(&plan, candidate)).expect("it is a comparison");
        *counts.entry(found.verdict).or_default() += 1;
    }
    counts
}

fn separates(figure: &Figure) -> bool {
    let interval = figure.ratio.and_then(|ratio| ratio.interval());
    interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
}

fn blocks(run: &StoredRun) -> usize {
    run.records.iter().filter(|record| matches!(record, Record::Block(_))).count()
}

#[test]
fn a_candidate_gets_the_verdict_that_is_its_own() {
    for (rate, verdict) in
        [(1.0, Verdict::Pass), (1.25, Verdict::Pass), (0.9, Verdict::Fail), (0.97, Verdict::Worse)]
    {
        let found = compared(&run(&usual(1), BASELINE.times(rate)));
        assert_eq!(found.verdict, verdict, "at {rate}: {}", found.reason);
        assert_eq!(found.looks, looks(40));
        match verdict {
            Verdict::Worse => assert_eq!((found.blocks, found.ending), (40, Some(Ending::BlocksMax))),
            _ => {
                assert_eq!((Some(found.blocks), found.ending), (found.look, Some(Ending::Decided)));
                assert!(found.look.is_some_and(|look| look < 40), "{:?}", found.look);
            }
        }
        let cpu = found.figures.iter().find(|figure| figure.metric == Metric::Cpu).unwrap();
        let (low, high) = cpu.ratio.unwrap().interval().unwrap();
        assert!(low < 1.0 / rate && 1.0 / rate < high, "{low} to {high} at {rate}");
    }
}

/// With processes that differ by 4% and two slices per block, noise alone makes differences of delta. All
/// intervals of all looks hold simultaneously in 95% of runs, so at most one run in twenty separates the two.
#[test]
fn a_service_is_seldom_said_to_differ_from_itself() {
    let noisy = Service { process_sd: 0.04, slice_sd: 0.05, ..BASELINE };
    let (mut separated, mut worse, mut open) = (0, 0, 0);
    for seed in 0..300 {
        let plan = short(DELTA, &DECIDE, seed);
        let kept = runs::run(&plan, &mut machine(&plan, &[noisy; 2]));
        let found = comparison::compute(&kept).unwrap();
        separated += usize::from(found.figures.iter().any(|figure| figure.decides && separates(figure)));
        worse += usize::from(matches!(found.verdict, Verdict::Fail | Verdict::Worse));
        open += usize::from(found.verdict == Verdict::Inconclusive);
        let (blocks, is_decided) = (blocks(&kept), matches!(found.verdict, Verdict::Pass | Verdict::Fail));
        assert!(looks(12).contains(&blocks) && (blocks == 12 || is_decided), "{blocks} blocks");
        let ended = if blocks < 12 { Ending::Decided } else { Ending::BlocksMax };
        assert_eq!(found.ending, Some(ended));
    }
    // 5% of 300, plus two standard errors.
    assert!(separated <= 22, "{separated} of 300 separated a service from itself");
    assert!(worse <= 15 && open >= 100, "{worse} worse, {open} inconclusive of 300");
}

#[test]
fn a_real_difference_is_found() {
    let found = verdicts(100, |seed| (short(DELTA, &DECIDE, seed), BASELINE.times(0.9)));
    assert!(found[&Verdict::Fail] >= 99, "{found:?}");
    let found = verdicts(100, |seed| (short(DELTA, &DECIDE, seed), BASELINE.times(1.1)));
    assert_eq!(found[&Verdict::Pass], 100, "an improvement is no regression: {found:?}");
}

/// A regression of exactly delta is neither excluded nor exceeded.
#[test]
fn a_regression_of_delta_hardly_ever_passes_or_fails() {
    let found = verdicts(200, |seed| (short(DELTA, &DECIDE, seed), BASELINE.times(1.0 / (1.0 + DELTA))));
    let of = |verdict| found.get(&verdict).copied().unwrap_or(0);
    // 1.25% of 200 on either side, plus three standard errors.
    assert!(of(Verdict::Pass) <= 7 && of(Verdict::Fail) <= 7, "{found:?}");
    assert!(of(Verdict::Worse) >= 150, "{found:?}");
}

#[test]
fn delta_decides_what_matters() {
    let with = |delta| verdicts(20, |seed| (short(delta, &DECIDE, seed), BASELINE.times(0.95)));
    let only = |verdict| BTreeMap::from([(verdict, 20)]);
    assert_eq!(with(0.02), only(Verdict::Fail));
    assert_eq!(with(0.1), only(Verdict::Pass));
}

/// A candidate that is worse in one metric fails only if that metric decides.
#[test]
fn the_metrics_that_were_asked_for_decide() {
    let candidates = [
        // Slower with equally less CPU use: the cost per answer is unchanged.
        (Metric::Throughput, Service { cpu_share: 0.96 * 0.93, ..BASELINE.times(0.93) }),
        (Metric::Cpu, Service { cpu_share: 1.03, ..BASELINE }),
        (Metric::P99, Service { p99_ns: BASELINE.p99_ns * 1.5, ..BASELINE }),
        (Metric::Rss, Service { rss_bytes: BASELINE.rss_bytes * 1.5, ..BASELINE }),
    ];
    for (worse, candidate) in candidates {
        for seed in 0..3 {
            for metric in Metric::COMPARED {
                let found = compared(&run(&short(DELTA, &[metric], seed), candidate));
                let expected = if metric == worse { Verdict::Fail } else { Verdict::Pass };
                assert_eq!(found.verdict, expected, "{metric:?} of one worse in {worse:?}: {}", found.reason);
                let decide = found.figures.iter().filter(|figure| figure.decides);
                assert_eq!(decide.map(|figure| figure.metric).collect::<Vec<_>>(), [metric]);
            }
            let found = compared(&run(&short(DELTA, &Metric::COMPARED, seed), candidate));
            let failed = found.figures.iter().filter(|figure| figure.verdict == Some(Verdict::Fail));
            assert_eq!(failed.map(|figure| figure.metric).collect::<Vec<_>>(), [worse]);
            assert_eq!((found.verdict, found.figures.len()), (Verdict::Fail, 4), "by any of them");
        }
    }
}

/// A wrong answer ends the comparison, and a crash ends the service: measurement stops for both.
#[test]
fn what_a_service_does_wrong_ends_the_run() {
    // Without the candidate the baseline has nothing to be compared with.
    for (fault, verdict, endings) in [
        (Fault::WrongAnswer, Verdict::Invalid, [Ending::Decided; 2]),
        (Fault::Crash, Verdict::ServiceFailed, [Ending::Decided, Ending::NothingLeft]),
    ] {
        for failing in [0, 1] {
            let mut services = [BASELINE; 2];
            services[failing] = BASELINE.failing(2, fault);
            let plan = usual(5);
            let kept = runs::run(&plan, &mut machine(&plan, &services));
            let found = compared(&kept);
            assert_eq!((found.verdict, found.ending), (verdict, Some(endings[failing])), "{}", found.reason);
            assert!(found.reason.starts_with(ROWS[failing]), "{}", found.reason);
            assert_eq!(blocks(&kept), 3, "it ends with the block");
        }
    }
}

/// The row is excluded: it could not be built, cannot run here, or failed verification.
#[test]
fn what_takes_no_part_cannot_be_compared() {
    for why in [Exclusion::NotBuilt, Exclusion::AgainstItsContract, Exclusion::NotOnThisMachine] {
        for row in [0, 1] {
            let kept = run(&runs::without(usual(1), row, why), BASELINE);
            let found = compared(&kept);
            assert_eq!((found.verdict, found.ending), (Verdict::from(why), Some(Ending::NothingLeft)));
            assert!(found.reason.contains("it ended before it was ready"), "{}", found.reason);
            assert_eq!(kept.records.len(), 1, "nothing is measured where there is nothing to compare");
        }
    }
}

#[test]
fn too_few_blocks_are_inconclusive() {
    for candidate in [BASELINE, BASELINE.times(0.5)] {
        let plan = runs::of_short_versions(&ROWS, 2, 1).until_compared(DELTA, DECIDE.to_vec());
        let found = compared(&run(&plan, candidate));
        assert_eq!((found.verdict, found.ending), (Verdict::Inconclusive, Some(Ending::BlocksMax)));
    }
}

/// A budget allows fewer blocks, with looks for as many as fit, and a last look at its end.
#[test]
fn a_budget_bounds_the_run_and_its_looks() {
    for seconds in [20, 60] {
        for seed in 0..5 {
            let plan = usual(seed).bounded_with_looks(Duration::from_secs(seconds));
            let kept = run(&plan, BASELINE.times(0.8));
            let found = compared(&kept);
            assert_eq!(found.verdict, Verdict::Fail, "{seconds} s: {}", found.reason);
            let most = kept.header.plan.blocks().max;
            assert!((4..40).contains(&most) && blocks(&kept) <= most, "{} of {most}", blocks(&kept));
            assert!(found.elapsed_ns <= Some((seconds + 1) * 1_000_000_000), "{:?}", found.elapsed_ns);
            // A candidate with equal cost passes or is inconclusive.
            let same = compared(&run(&plan, BASELINE));
            assert!(matches!(same.verdict, Verdict::Pass | Verdict::Inconclusive), "{}", same.reason);
        }
    }
    let none = usual(1).bounded_with_looks(Duration::from_secs(1));
    let found = compared(&run(&none, BASELINE.times(0.5)));
    assert_eq!((found.verdict, found.ending), (Verdict::Inconclusive, Some(Ending::BudgetSpent)));
}

/// A run killed between two blocks has the same later blocks, and so the same figures to the last digit. A
/// run killed within a block loses that block, and has the same verdict.
#[test]
fn a_run_that_was_killed_is_resumed_to_its_verdict() {
    let figures = |found: &Comparison| format!("{:?} {:?} {:?}", found.verdict, found.look, found.figures);
    let rates = [1.0, 0.85, 1.25];
    for (seed, rate) in (0..4).flat_map(|seed| rates.map(|rate| (seed, rate))) {
        let plan = short(DELTA, &DECIDE, seed);
        let services = [BASELINE, BASELINE.times(rate)];
        let still = |plan: &Plan| Machine::new(&services, 0.0, plan, 1);
        let whole = runs::run(&plan, &mut still(&plan));
        let killed = runs::cut(&whole, runs::begins(3));
        assert_eq!(comparison::compute(&killed).unwrap().verdict, Verdict::Inconclusive);
        let resumed = runs::resume(&killed, &mut still(&plan));
        assert_eq!(figures(&compared(&resumed)), figures(&compared(&whole)), "seed {seed} at {rate}");

        // With an equal candidate, one block less may be too few.
        if rate == 1.0 {
            continue;
        }
        let in_a_block = |record: &Record| record.sample().is_some_and(|slice| slice.block == 2);
        let resumed = runs::resume(&runs::cut(&whole, in_a_block), &mut still(&plan));
        assert_eq!(compared(&resumed).verdict, compared(&whole).verdict, "seed {seed} at {rate}");
    }
}

#[test]
fn a_run_that_was_interrupted_is_unfinished_until_it_is_resumed() {
    for seed in 0..5 {
        let plan = usual(seed);
        let mut stopped = machine(&plan, &[BASELINE, BASELINE.times(0.9)]);
        stopped.interrupted_at_ns = 20_000_000_000;
        let kept = runs::run(&plan, &mut stopped);
        let found = comparison::compute(&kept).unwrap();
        assert_eq!((found.verdict, found.ending), (Verdict::Inconclusive, Some(Ending::Interrupted)));
        assert_eq!(Analysis::of(&kept).verdict, Verdict::Inconclusive);
        let rest = &mut machine(&plan, &[BASELINE, BASELINE.times(0.9)]);
        assert_eq!(compared(&runs::resume(&kept, rest)).verdict, Verdict::Fail);
    }
}

/// Slices without figures do not favour any side.
#[test]
fn slices_that_were_discarded_change_no_verdict() {
    for (rate, verdict) in [(1.0, Verdict::Pass), (0.9, Verdict::Fail)] {
        for seed in 0..5 {
            let plan = usual(seed);
            let mut machine = machine(&plan, &[BASELINE, BASELINE.times(rate)]);
            machine.lost_every = 5;
            let kept = runs::run(&plan, &mut machine);
            assert!(kept.records.iter().filter(|record| record.discarded().is_some()).count() > 20);
            assert_eq!(compared(&kept).verdict, verdict, "seed {seed} at {rate}");
        }
    }
}

/// Two processes of one build differ by more than delta, so any difference found comes from the machine.
#[test]
fn a_machine_that_separates_a_build_from_itself_has_no_verdict() {
    let rows = ["baseline", "candidate", "candidate@again"];
    for (again, verdict) in [(0.9, Verdict::Fail), (0.6, Verdict::Invalid), (1.3, Verdict::Invalid)] {
        let plan = runs::of_short_versions(&rows, 12, 3).until_compared(DELTA, DECIDE.to_vec());
        let services = [BASELINE, BASELINE.times(0.9), BASELINE.times(again)];
        let found = compared(&runs::run(&plan, &mut machine(&plan, &services)));
        assert_eq!(found.verdict, verdict, "{again}: {}", found.reason);
        let twin = found.again.unwrap();
        assert_eq!((twin.original.as_str(), twin.label.as_str()), ("candidate", "candidate@again"));
        assert!(twin.figures.iter().all(|figure| !figure.decides && figure.verdict.is_none()));
    }
}
