//! Properties of the methods for whole runs that hold for all values.

use proptest::collection::vec;
use proptest::prelude::*;
use tare_stats::change_points::changes;
use tare_stats::equivalence::{Verdict, gate};
use tare_stats::{
    Better, Contrast, Estimate, Looks, Prior, RatioEstimate, contrast, holm, interval, log_ratios, ranking,
    two_sample,
};

fn sample() -> impl Strategy<Value = Vec<f64>> {
    vec(-100.0..100.0_f64, 1..45)
}

/// Figures of 2 to 5 services in 6 to 24 blocks.
fn services() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (2..6_usize, 6..25_usize).prop_flat_map(|(services, blocks)| vec(vec(0.5..2.0_f64, blocks), services))
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// Whether `after` is the mirror image of `before`.
fn mirrored(before: &Estimate, after: &Estimate) -> bool {
    close(before.point, -after.point)
        && match (before.interval, after.interval) {
            (Some(before), Some(after)) => close(before.low, -after.high) && close(before.high, -after.low),
            (before, after) => before.is_none() && after.is_none(),
        }
}

proptest! {
    #[test]
    fn the_test_rejects_what_the_interval_leaves_out(values in sample(), confidence in 0.5..0.999_f64) {
        let p = Contrast::of_values(&values).unwrap().p_value();
        let holds = interval(&values, confidence).unwrap().interval.is_none_or(|found| found.holds(0.0));
        // Excludes confidences that are attained to the last digit.
        prop_assume!((p - (1.0 - confidence)).abs() > 1e-9);
        prop_assert_eq!(holds, p > 1.0 - confidence);
    }

    #[test]
    fn a_moderated_contrast_keeps_its_point_and_lies_between(
        values in vec(vec(-10.0..10.0_f64, 2..9), 5..12),
    ) {
        let own: Vec<Contrast> = values.iter().map(|values| Contrast::of_values(values).unwrap()).collect();
        let prior = Prior::of(&own);
        let errors = |contrasts: &[Contrast]| contrasts.iter().map(|one| one.error() * (one.starts as f64).sqrt()).collect::<Vec<f64>>();
        let moderated: Vec<Contrast> = own.iter().map(|one| one.moderated(prior.as_ref())).collect();
        for (one, moderated) in own.iter().zip(&moderated) {
            prop_assert!(one.point == moderated.point && one.starts == moderated.starts);
        }
        // All errors are shrunk towards one value: none leaves the range of all.
        let range = |of: &[f64]| of.iter().fold((f64::MAX, 0.0_f64), |(low, high), one| (low.min(*one), high.max(*one)));
        let ((low, high), (low_after, high_after)) = (range(&errors(&own)), range(&errors(&moderated)));
        let width = |(low, high): (f64, f64)| high - low;
        prop_assert!(width((low_after, high_after)) <= width((low, high)) + 1e-9);
    }

    #[test]
    fn looks_treat_both_sides_alike(values in sample()) {
        let turned: Vec<f64> = values.iter().map(|value| -value).collect();
        let looks = Looks::planned(&[10, 15, 20, 30, 40], 0.05).unwrap();
        let (there, back) = (looks.estimate(&values).unwrap(), looks.estimate(&turned).unwrap());
        prop_assert!(mirrored(&there, &back));
    }

    #[test]
    fn scaling_changes_no_decision(values in sample(), scale in 0.001..1000.0_f64) {
        let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
        let looks = Looks::planned(&[10, 15, 20, 30, 40], 0.05).unwrap();
        let side = |values: &[f64]| {
            let found = looks.estimate(values).unwrap().interval;
            found.map(|found| (found.low > 0.0, found.high < 0.0))
        };
        prop_assert_eq!(side(&values), side(&scaled));
    }

    #[test]
    fn an_interval_that_bears_watching_is_never_narrower(values in vec(-1.0..1.0_f64, 10..45)) {
        let looks = Looks::planned(&[10, 15, 20, 30, 40], 0.05).unwrap();
        let shown = looks.estimate(&values).unwrap();
        let once = interval(&values[..shown.n], 0.95).unwrap().interval.unwrap();
        let shown = shown.interval.unwrap();
        prop_assert!(shown.low <= once.low && once.high <= shown.high);
    }

    #[test]
    fn planned_looks_keep_to_alpha(steps in vec(1..20_usize, 1..7), alpha in 0.001..0.5_f64) {
        let blocks: Vec<usize> = steps.iter().scan(0, |n, step| { *n += step; Some(*n) }).collect();
        let looks = Looks::planned(&blocks, alpha).unwrap();
        prop_assert!(looks.all().iter().map(|look| look.spent).sum::<f64>() <= alpha * (1.0 + 1e-9));
        prop_assert!(looks.all().iter().all(|look| look.spent * 0.99 <= look.level && look.level <= alpha * 1.01));
    }

    #[test]
    fn adjusted_p_values_are_never_smaller_and_keep_their_order(p in vec(0.0..=1.0_f64, 1..30)) {
        let adjusted = holm::adjust(&p);
        for (i, a) in p.iter().enumerate() {
            prop_assert!(adjusted[i] >= *a && adjusted[i] <= 1.0);
            for (j, b) in p.iter().enumerate() {
                prop_assert!(a > b || adjusted[i] <= adjusted[j]);
            }
        }
    }

    #[test]
    fn ranks_are_ranks_and_the_best_comes_first(values in services()) {
        let found = ranking::rank(&values, Better::Higher, 0.05).unwrap();
        prop_assert_eq!(found.pairs.len(), values.len() * (values.len() - 1) / 2);
        for place in &found.places {
            prop_assert!(1 <= place.best && place.best <= place.worst && place.worst <= values.len());
        }
        prop_assert!(found.places.iter().map(|p| -p.log_score).is_sorted());
        // Some order of all services is within the sets of ranks: each rank has a candidate.
        for rank in 1..=values.len() {
            prop_assert!(found.places.iter().any(|place| (place.best..=place.worst).contains(&rank)));
        }
    }

    #[test]
    fn turning_what_is_better_turns_the_ranks(values in services()) {
        let up = ranking::rank(&values, Better::Higher, 0.05).unwrap();
        let down = ranking::rank(&values, Better::Lower, 0.05).unwrap();
        prop_assert_eq!(&up.pairs, &down.pairs);
        for place in &up.places {
            let other = down.places.iter().find(|other| other.service == place.service).unwrap();
            prop_assert_eq!((other.best, other.worst), (values.len() + 1 - place.worst, values.len() + 1 - place.best));
        }
    }

    #[test]
    fn a_wider_margin_never_turns_a_pass(values in vec((0.8..1.2_f64, 0.8..1.2_f64), 6..30), delta in 0.01..0.4_f64) {
        let (new, old): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
        let estimate = RatioEstimate::from(interval(&log_ratios(&new, &old).unwrap(), 0.95).unwrap());
        for better in [Better::Higher, Better::Lower] {
            let (tight, wide) = (gate(&estimate, delta, better).unwrap(), gate(&estimate, delta * 1.5, better).unwrap());
            prop_assert!(tight.verdict != Verdict::Pass || wide.verdict == Verdict::Pass);
            prop_assert!(wide.verdict != Verdict::Fail || tight.verdict == Verdict::Fail);
        }
    }

    #[test]
    fn changes_are_in_order_and_inside(history in vec(-1.0..1.0_f64, 1..80), step in -5.0..5.0_f64) {
        let half = history.len() / 2;
        let stepped: Vec<f64> =
            history.iter().enumerate().map(|(i, value)| value + if i < half { 0.0 } else { step }).collect();
        let found = changes(&stepped, 0.05).unwrap();
        prop_assert!(found.is_sorted_by(|a, b| a.at < b.at));
        prop_assert!(found.iter().all(|change| 0 < change.at && change.at < history.len() && change.p <= 0.05));
    }

    #[test]
    fn starts_in_another_order_say_the_same(starts in vec(vec(-10.0..10.0_f64, 1..6), 1..6)) {
        let turned: Vec<Vec<f64>> = starts.iter().rev().cloned().collect();
        let (there, back) = (contrast::interval_of_starts(&starts, 0.95).unwrap(), contrast::interval_of_starts(&turned, 0.95).unwrap());
        prop_assert!(close(there.point, back.point) && there.interval.is_some() == (starts.len() > 1));
        if let (Some(there), Some(back)) = (there.interval, back.interval) {
            prop_assert!((there.low - back.low).abs() < 1e-6 && (there.high - back.high).abs() < 1e-6);
        }
    }

    #[test]
    fn the_test_of_two_samples_rejects_what_its_interval_leaves_out(
        before in sample(), after in sample(), confidence in 0.5..0.999_f64,
    ) {
        let p = two_sample::p_value(&before, &after).unwrap();
        let found = two_sample::shift(&before, &after, confidence).unwrap().interval;
        prop_assume!((p - (1.0 - confidence)).abs() > 1e-9);
        prop_assert_eq!(found.is_none_or(|found| found.holds(0.0)), p > 1.0 - confidence);
    }

    #[test]
    fn two_samples_the_other_way_round_are_the_mirror_image(before in sample(), after in sample()) {
        let there = two_sample::shift(&before, &after, 0.95).unwrap();
        prop_assert!(mirrored(&there, &two_sample::shift(&after, &before, 0.95).unwrap()));
        let (one, other) = (two_sample::p_value(&before, &after), two_sample::p_value(&after, &before));
        prop_assert!(close(one.unwrap(), other.unwrap()));
    }

    #[test]
    fn what_is_added_to_the_later_sample_is_the_shift(
        before in sample(), after in sample(), by in -100.0..100.0_f64, scale in 0.001..100.0_f64,
    ) {
        let moved = |values: &[f64], by: f64| values.iter().map(|value| value * scale + by).collect::<Vec<f64>>();
        let plain = two_sample::shift(&before, &after, 0.95).unwrap();
        let found = two_sample::shift(&moved(&before, 0.0), &moved(&after, by), 0.95).unwrap();
        prop_assert!((found.point - plain.point * scale - by).abs() < 1e-6);
        if let (Some(found), Some(plain)) = (found.interval, plain.interval) {
            prop_assert!((found.low - plain.low * scale - by).abs() < 1e-6);
            prop_assert!((found.high - plain.high * scale - by).abs() < 1e-6);
        }
    }

    #[test]
    fn groups_the_other_way_round_are_the_mirror_image(
        before in vec(vec(-10.0..10.0_f64, 1..6), 1..6), after in vec(vec(-10.0..10.0_f64, 1..6), 1..6),
    ) {
        let there = two_sample::between(&before, &after, 0.95).unwrap();
        prop_assert!(mirrored(&there, &two_sample::between(&after, &before, 0.95).unwrap()));
        prop_assert_eq!(there.interval.is_some(), before.len() + after.len() > 2);
        let p = two_sample::between_p(&before, &after).unwrap();
        prop_assert!((0.0..=1.0).contains(&p));
        if (p - 0.05).abs() > 1e-6 {
            prop_assert_eq!(there.interval.is_none_or(|found| found.holds(0.0)), p > 0.05);
        }
    }

    #[test]
    fn a_great_step_is_found_where_it_is(noise in vec(-1.0..1.0_f64, 18..60), step in 5.0..50.0_f64, place in 0.3..0.7_f64) {
        let at = (noise.len() as f64 * place) as usize;
        let history: Vec<f64> =
            noise.iter().enumerate().map(|(i, value)| value + if i < at { 0.0 } else { step }).collect();
        let found = changes(&history, 0.05).unwrap();
        prop_assert!(found.iter().any(|change| change.at == at), "{:?} of {}, {}", found, history.len(), at);
    }
}
