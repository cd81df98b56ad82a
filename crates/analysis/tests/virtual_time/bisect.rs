//! Decisions of `tare bisect`: which commits it measures and which one it names, in known repositories.

use std::{collections::BTreeMap, time::Duration};

use tare_analysis::{
    apart,
    bisection::{BisectionAnswer, BisectionSearch, EndFailed, FirstBad, StepOutcome, Subject},
    verdict::Verdict,
};
use tare_bench::{
    folder::StoredRun,
    metric::Metric,
    plan::{
        Exclusion,
        until::{ALPHA, looks},
    },
    record::ending,
};

use crate::{
    machine::{Fault, Machine, Service},
    runs,
};

/// The content of a commit.
#[derive(Debug, Clone, Copy)]
enum Commit {
    Works(Service),
    /// The service is missing, or its manifest is wrong.
    Absent,
    /// It builds, but does not start to answer.
    DoesNotStart,
}

const GOOD: Commit = Commit::Works(Service::USUAL);

fn dearer() -> Commit {
    Commit::Works(Service::USUAL.times(0.9))
}

/// Good commits up to `first_bad`, then bad ones.
fn repository(first_bad: usize, count: usize) -> Vec<Commit> {
    (0..count).map(|place| if place < first_bad { GOOD } else { dearer() }).collect()
}

/// A bisection with the run of each step.
struct Bisected {
    search: BisectionSearch,
    steps: Vec<Subject>,
    runs: BTreeMap<String, StoredRun>,
}

/// Bisects these commits within `budget`; `stored` has the runs of an earlier part.
fn bisect(
    commits: &[Commit],
    seed: u64,
    budget: Option<Duration>,
    mut stored: BTreeMap<String, StoredRun>,
) -> Result<Bisected, EndFailed> {
    let mut search = BisectionSearch::new(commits.len() - 1, ALPHA);
    let (mut steps, mut spent) = (Vec::new(), Duration::ZERO);
    while let Some(subject) = search.next() {
        let places = match subject {
            Subject::Ends => vec![0, commits.len() - 1],
            Subject::Commit(place) => vec![0, commits.len() - 1, place],
        };
        let subject_place = places[places.len() - 1];
        if matches!(commits[subject_place], Commit::Absent) {
            search.left_out(subject_place, "there is no service".to_owned());
            continue;
        }
        let share = search.spend();
        let labels: Vec<String> = places.iter().map(|place| format!("v{place}")).collect();
        let time = budget.map(|budget| share.of_budget(budget.saturating_sub(spent)));
        let name = format!("{subject:?}");
        let run = stored.remove(&name).unwrap_or_else(|| measure(commits, &places, seed, share.alpha, time));
        spent += ending(&run.records).map_or(Duration::ZERO, |(_, ns)| Duration::from_nanos(ns));
        let position = apart::compute(&run).expect("the plan asks for it");
        steps.push(subject);
        search.measured(subject, &labels[labels.len() - 1], &position.found)?;
        stored.insert(name, run);
    }
    assert!(budget.is_none_or(|budget| spent <= budget + Duration::from_secs(1)), "{spent:?}");
    Ok(Bisected { search, steps, runs: stored })
}

fn measure(commits: &[Commit], places: &[usize], seed: u64, alpha: f64, time: Option<Duration>) -> StoredRun {
    let labels: Vec<String> = places.iter().map(|place| format!("v{place}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let seed = seed * 1_000 + places[places.len() - 1] as u64;
    let plan = match time {
        Some(time) => {
            runs::of_versions(&labels, seed).until_apart(Metric::Cpu, alpha).bounded_with_looks(time)
        }
        None => runs::of_short_versions(&labels, 20, seed).until_apart(Metric::Cpu, alpha),
    };
    let plan = (0..places.len()).fold(plan, |plan, row| match commits[places[row]] {
        Commit::DoesNotStart => runs::without(plan, row, Exclusion::AgainstItsContract),
        Commit::Works(_) | Commit::Absent => plan,
    });
    let services = places.iter().map(|place| match commits[*place] {
        Commit::Works(service) => service,
        Commit::Absent | Commit::DoesNotStart => Service::USUAL,
    });
    runs::run(&plan, &mut Machine::new(&services.collect::<Vec<_>>(), 0.005, &plan, 1))
}

fn answer(commits: &[Commit], seed: u64) -> BisectionAnswer {
    bisect(commits, seed, None, BTreeMap::new()).unwrap().search.answer()
}

#[test]
fn the_first_bad_commit_is_named() {
    let mut known = 0;
    for seed in 0..16 {
        let first_bad = 1 + seed as usize % 16;
        let found = bisect(&repository(first_bad, 17), seed, None, BTreeMap::new()).unwrap();
        let answer = found.search.answer();
        let is_within = answer.first_bad().contains(&first_bad);
        assert!(is_within, "{answer:?}, and it is {first_bad}");
        known += usize::from(answer == BisectionAnswer::Found(FirstBad::Known(first_bad)));
        assert_eq!(found.steps[0], Subject::Ends);
        assert!(known == 0 || found.steps.len() <= 1 + 4 + 2, "{:?}", found.steps);
        // Each run ends at one of its looks, because the change is large.
        let ended = found.runs.values().filter(|run| {
            let blocks = apart::compute(run).unwrap().blocks;
            looks(20).contains(&blocks)
        });
        assert_eq!(ended.count(), found.runs.len());
    }
    assert!(known >= 15, "{known} of 16 are known");
}

/// A decrease of the cost is found in the same way.
#[test]
fn a_commit_that_made_it_cheaper_is_named_too() {
    for seed in 0..5 {
        let mut commits = repository(3, 5);
        commits.reverse();
        assert_eq!(answer(&commits, seed), BisectionAnswer::Found(FirstBad::Known(2)));
    }
}

/// In 95 of 100 bisections equal ends are not separated, and nothing else is measured.
#[test]
fn ends_that_are_the_same_are_not_distinguished() {
    let noisy = Commit::Works(Service { process_sd: 0.04, ..Service::USUAL });
    let wrong = (0..40).filter(|seed| {
        let found = bisect(&[noisy; 3], *seed, None, BTreeMap::new()).unwrap();
        let is_alike = found.search.answer() == BisectionAnswer::Alike;
        assert!(!is_alike || found.steps == [Subject::Ends], "{:?}", found.steps);
        assert!(!is_alike || found.search.answer().verdict() == Verdict::Inconclusive);
        !is_alike
    });
    // The ends are tested with a third of 5%.
    let wrong = wrong.count();
    assert!(wrong <= 3, "{wrong} of 40 found a change where there is none");
}

/// A commit that cannot be measured leaves two candidates: itself and the next one.
#[test]
fn a_commit_that_cannot_be_measured_is_left_out() {
    for (kind, is_measured) in [(Commit::DoesNotStart, true), (Commit::Absent, false)] {
        for seed in 0..3 {
            let mut commits = repository(2, 4);
            commits[1] = kind;
            let found = bisect(&commits, seed, None, BTreeMap::new()).unwrap();
            let answer = found.search.answer();
            assert_eq!(answer, BisectionAnswer::Found(FirstBad::OneOf(vec![1, 2])));
            assert_eq!(answer.verdict(), Verdict::Inconclusive);
            assert!(matches!(found.search.bisection().outcome(1), Some(StepOutcome::Skipped(_))));
            assert_eq!(found.steps.contains(&Subject::Commit(1)), is_measured, "{:?}", found.steps);
        }
    }
    let mut commits = repository(6, 9);
    commits[4] = Commit::DoesNotStart;
    assert_eq!(answer(&commits, 1), BisectionAnswer::Found(FirstBad::Known(6)), "it was far from the change");
    // A service that ends during its measurement cannot be measured either.
    commits[5] = Commit::Works(Service::USUAL.failing(1, Fault::Crash));
    assert_eq!(answer(&commits, 1), BisectionAnswer::Found(FirstBad::OneOf(vec![4, 5, 6])));
}

#[test]
fn a_commit_that_answers_wrongly_is_left_out() {
    let mut commits = repository(2, 4);
    commits[1] = Commit::Works(Service::USUAL.failing(2, Fault::WrongAnswer));
    assert_eq!(answer(&commits, 1), BisectionAnswer::Found(FirstBad::OneOf(vec![1, 2])));
}

/// A commit between both ends resembles neither, and the change has two steps.
#[test]
fn a_change_in_two_steps_leaves_what_is_between() {
    let between = Commit::Works(Service::USUAL.times(0.9_f64.sqrt()));
    let commits = [GOOD, GOOD, between, dearer(), dearer()];
    let all = BisectionAnswer::Found(FirstBad::OneOf(vec![2, 3]));
    let found = (0..6).filter(|seed| answer(&commits, *seed) == all).count();
    assert!(found >= 5, "{found} of 6");
}

#[test]
fn an_end_that_fails_leaves_nothing_to_relate_to() {
    let crashes = |block| Commit::Works(Service::USUAL.times(0.9).failing(block, Fault::Crash));
    for end in [0, 3] {
        for failing in [Commit::DoesNotStart, crashes(1)] {
            let mut commits = repository(2, 4);
            commits[end] = failing;
            let found = bisect(&commits, 1, None, BTreeMap::new()).unwrap();
            let BisectionAnswer::Failed(failed) = found.search.answer() else {
                panic!("{:?}", found.search.answer())
            };
            assert_eq!(failed.label, format!("v{end}"));
            assert_eq!((found.search.answer().verdict(), found.steps.len()), (Verdict::ServiceFailed, 1));
        }
    }
}

/// Each step has a share of the rest, and all of them finish in time.
#[test]
fn a_budget_is_divided_among_the_steps() {
    for seed in 0..3 {
        let budget = Duration::from_secs(240);
        let found = bisect(&repository(3, 8), seed, Some(budget), BTreeMap::new()).unwrap();
        assert_eq!(found.search.answer(), BisectionAnswer::Found(FirstBad::Known(3)), "seed {seed}");
    }
    let short = bisect(&repository(3, 8), 1, Some(Duration::from_secs(3)), BTreeMap::new()).unwrap();
    assert_eq!(short.search.answer(), BisectionAnswer::Alike, "too short for a look");
}

/// Stored steps are reused, and the others share the same error probability.
#[test]
fn one_that_was_cut_off_is_continued_to_the_same_answer() {
    let commits = repository(5, 9);
    let whole = bisect(&commits, 2, None, BTreeMap::new()).unwrap();
    for known in 0..whole.steps.len() {
        let stored = whole.steps[..known].iter().map(|subject| format!("{subject:?}"));
        let stored = stored.map(|name| (name.clone(), whole.runs[&name].clone())).collect();
        let resumed = bisect(&commits, 2, None, stored).unwrap();
        assert_eq!(resumed.search.answer(), whole.search.answer());
        assert_eq!(resumed.steps, whole.steps);
    }
}
