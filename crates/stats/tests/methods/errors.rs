//! Simulated false-alarm rates of each method, with fixed seeds: short versions of the example `evidence`.

use crate::models::{INDEPENDENT, Model, family, normal};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_stats::change_points::{EXACT_MAX, changes, changes_of_all};
use tare_stats::sequential::Look;
use tare_stats::{
    Better, Contrast, Looks, RatioEstimate, contrast, equivalence, holm, interval, ranking, two_sample,
};

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(0x7a5e)
}

fn share(count: usize, mut holds: impl FnMut() -> bool) -> f64 {
    (0..count).filter(|_| holds()).count() as f64 / count as f64
}

/// 5% plus three standard errors.
fn at_most(count: usize) -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / count as f64).sqrt()
}

/// All intervals of a run hold simultaneously in 95% of runs.
#[test]
fn the_intervals_shown_at_the_looks_hold_together() {
    const COUNT: usize = 600;
    let looks = Looks::planned(&[10, 15, 20, 30, 40], 0.05).unwrap();
    for (name, model) in INDEPENDENT {
        let mut rng = rng();
        let missed = share(COUNT, || {
            let diffs = model.blocks(40, &mut rng);
            let holds = |n: usize| looks.estimate(&diffs[..n]).unwrap().interval.unwrap().holds(0.0);
            ![10, 15, 20, 30, 40].into_iter().all(holds)
        });
        assert!(missed <= at_most(COUNT), "{name}: {missed}");
    }
}

/// The same for runs that end early after any number of blocks, with a last look there.
#[test]
fn the_intervals_of_runs_that_ended_early_hold_together() {
    const COUNT: usize = 600;
    let planned = Looks::planned(&[10, 15, 20, 30, 40], 0.05).unwrap();
    for (name, model) in INDEPENDENT {
        let mut rng = rng();
        let mut place = 0;
        let missed = share(COUNT, || {
            place += 1;
            let ended = planned.ended(6 + place % 34);
            let last = ended.all().last().unwrap().n;
            let diffs = model.blocks(last, &mut rng);
            let holds = |look: &Look| ended.estimate(&diffs[..look.n]).unwrap().interval.unwrap().holds(0.0);
            !ended.all().iter().all(holds)
        });
        assert!(missed <= at_most(COUNT), "{name}: {missed}");
    }
}

/// The effect of testing the plain interval after every block, which the looks above avoid.
#[test]
fn the_plain_interval_does_not_bear_being_watched() {
    let mut rng = rng();
    let alarms = share(200, || {
        let diffs = Model::Normal.blocks(40, &mut rng);
        (6..=40).any(|n| Contrast::of_values(&diffs[..n]).unwrap().p_value() <= 0.05)
    });
    assert!(alarms > 0.15, "{alarms}");
}

#[test]
fn eight_identical_services_are_rarely_separated() {
    const COUNT: usize = 100;
    let planned = Looks::planned(&[6, 12, 20, 30, 40], 0.05).unwrap();
    for (name, model) in INDEPENDENT {
        let mut rng = rng();
        let (mut once, mut at_planned) = (0, 0);
        for _ in 0..COUNT {
            let services: Vec<Vec<f64>> =
                (0..8).map(|_| model.blocks(40, &mut rng).iter().map(|log| log.exp()).collect()).collect();
            let least = |look: &Look| {
                let so_far: Vec<&[f64]> = services.iter().map(|values| &values[..look.n]).collect();
                let found = ranking::rank(&so_far, Better::Higher, 0.05).unwrap();
                found.pairs.iter().map(|pair| pair.p_adjusted).fold(1.0, f64::min)
            };
            // Adjusted p-values do not depend on alpha, so one ranking per look serves both.
            let least: Vec<f64> = planned.all().iter().map(least).collect();
            once += usize::from(least[0] <= 0.05);
            at_planned += usize::from(planned.all().iter().zip(least).any(|(look, p)| p <= look.spent));
        }
        for count in [once, at_planned] {
            assert!(count as f64 <= at_most(COUNT) * COUNT as f64, "{name}: {once} {at_planned}");
        }
    }
}

/// Exact p-values have exactly their false-alarm rate, so half of all simulations lie above 5%: the standard
/// error is allowed. Pettitt's bound errs on the safe side and needs none.
#[test]
fn a_history_without_a_change_has_none() {
    const COUNT: usize = 1000;
    for (name, model) in INDEPENDENT {
        for n in [12, 30, 60] {
            let bound = if n <= EXACT_MAX { at_most(COUNT) } else { 0.05 };
            let mut rng = rng();
            let alarms = share(COUNT, || !changes(&model.blocks(n, &mut rng), 0.05).unwrap().is_empty());
            assert!(alarms <= bound, "{name}, {n} runs: {alarms}");
        }
    }
}

/// A report of 11 rows by 2 metrics, 400 times without a change: 5% plus three standard errors are 8.3%.
/// Separate tests at 5% would alarm in 27 to 68% of reports.
#[test]
fn a_report_of_many_rows_without_a_change_has_none() {
    const COUNT: usize = 400;
    let mut rng = rng();
    for (metrics, rows) in [(0.0, 0.0), (-0.9, 0.0), (-0.9, 0.5)] {
        for runs in [8, 12] {
            let alarms = share(COUNT, || {
                let all = family(11, runs, metrics, rows, &mut rng);
                changes_of_all(&all, 0.05).unwrap().iter().any(|found| !found.is_empty())
            });
            assert!(alarms <= at_most(COUNT), "{runs} runs, metrics {metrics}, rows {rows}: {alarms}");
        }
    }
}

/// Without simulation error: all orders of eight runs, against the counts of
/// ```python
/// def clearest(order):
///     sums = itertools.accumulate(2 * rank - 7 for rank in order[:7])
///     return max(Fraction(s * s, k * (8 - k)) for k, s in enumerate(sums, 1))
/// counts = Counter(map(clearest, itertools.permutations(range(8))))
/// list(itertools.accumulate(counts[c] for c in sorted(counts, reverse=True)))  # 1152, 3384, 4032, 8256, ... of 40320
/// ```
#[test]
fn of_all_orders_of_eight_runs_no_more_than_alpha_have_a_change() {
    let mut alarms = [(0.05, 1152), (0.21, 8256)].map(|(alpha, exact)| (alpha, exact, 0));
    each_order(&mut [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 8, &mut |order| {
        for (alpha, _, found) in &mut alarms {
            *found += usize::from(!changes(order, *alpha).unwrap().is_empty());
        }
    });
    for (alpha, exact, found) in alarms {
        assert_eq!(found, exact, "{alpha}");
    }
}

/// Heap's algorithm: every order of the first `n` values, once.
fn each_order(values: &mut [f64], n: usize, visit: &mut impl FnMut(&[f64])) {
    if n <= 1 {
        return visit(values);
    }
    for at in 0..n {
        each_order(values, n - 1, visit);
        if at + 1 < n {
            values.swap(if n.is_multiple_of(2) { at } else { 0 }, n - 1);
        }
    }
}

#[test]
fn a_change_of_two_standard_deviations_is_found() {
    let mut rng = rng();
    let found = share(300, || {
        let mut history = Model::Normal.blocks(40, &mut rng);
        history[20..].iter_mut().for_each(|value| *value += 2.0);
        matches!(changes(&history, 0.05).unwrap()[..], [change] if change.at.abs_diff(20) <= 3)
    });
    assert!(found > 0.9, "{found}");
}

#[test]
fn few_starts_with_many_slices_do_not_claim_too_much() {
    const COUNT: usize = 2000;
    for starts in [2, 3, 5] {
        for sd in [0.0, 0.3, 3.0] {
            let mut rng = rng();
            let missed = share(COUNT, || {
                let start = |_| {
                    let level = sd * normal(&mut rng);
                    (0..8).map(|_| level + normal(&mut rng)).collect::<Vec<f64>>()
                };
                let values: Vec<Vec<f64>> = (0..starts).map(start).collect();
                !contrast::interval_of_starts(&values, 0.95).unwrap().interval.unwrap().holds(0.0)
            });
            assert!(missed <= at_most(COUNT), "{starts} starts, {sd}: {missed}");
        }
    }
}

/// At the bound: exactly delta must rarely pass or fail, and no change must rarely be worse.
#[test]
fn a_gate_errs_in_one_case_of_forty_at_the_most() {
    const COUNT: usize = 2000;
    let mut rng = rng();
    let mut verdict = |truth: f64| {
        let diffs: Vec<f64> =
            Model::T3.blocks(12, &mut rng).iter().map(|value| truth.ln() + 0.01 * value).collect();
        let estimate = RatioEstimate::from(interval(&diffs, 0.95).unwrap());
        equivalence::gate(&estimate, 0.03, Better::Higher).unwrap().verdict
    };
    let passed = share(COUNT, || verdict(0.97) == equivalence::Verdict::Pass);
    let failed = share(COUNT, || verdict(0.97) == equivalence::Verdict::Fail);
    let worse = share(COUNT, || verdict(1.0) == equivalence::Verdict::Worse);
    let bound = 0.025 + 3.0 * (0.025 * 0.975 / COUNT as f64).sqrt();
    assert!(passed <= bound && failed <= bound && worse <= bound, "{passed} {failed} {worse}");
}

/// Two runs of 12 blocks that differ only by effects per run. Among 11 rows with new builds and 2 metrics,
/// hardly any report calls one changed: a row must differ in its blocks, and by more than unchanged rows do.
/// By blocks alone, 7 reports of 10 call some row changed if runs differ by half the spread of a block.
#[test]
fn rows_that_did_not_change_tell_what_two_runs_differ_by() {
    const COUNT: usize = 400;
    let mut rng = rng();
    let mut differences = |rows: usize, between: f64| -> Vec<(f64, f64)> {
        let run = |rng: &mut ChaCha8Rng| {
            let level = between * normal(rng);
            Model::Normal.blocks(12, rng).into_iter().map(|block| level + block).collect::<Vec<f64>>()
        };
        let pairs = (0..rows).map(|_| (run(&mut rng), run(&mut rng)));
        let found = pairs.map(|(one, other)| {
            let shift = two_sample::shift(&one, &other, 0.95).unwrap();
            (shift.point, two_sample::p_value(&one, &other).unwrap())
        });
        found.collect()
    };
    let any = |p: Vec<f64>| holm::adjust(&p).into_iter().any(|p| p <= 0.05);
    for between in [0.25, 0.5, 1.0] {
        for same in [1, 3, 10] {
            let alarms = share(COUNT, || {
                let p = (0..2).flat_map(|_| {
                    let alike: Vec<f64> = differences(same, between).iter().map(|one| one.0).collect();
                    let new = differences(11, between).into_iter();
                    new.map(|(by, p)| p.max(two_sample::among_p(by, &alike))).collect::<Vec<f64>>()
                });
                any(p.collect())
            });
            assert!(alarms <= at_most(COUNT), "runs differ by {between}, {same} the same: {alarms}");
        }
    }
    let blocks_alone = share(COUNT, || any(differences(22, 0.5).into_iter().map(|(_, p)| p).collect()));
    assert!(blocks_alone > 0.5, "{blocks_alone}");
}
