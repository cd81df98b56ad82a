//! Properties that hold for every sample.

use proptest::collection::vec;
use proptest::prelude::*;
use tare_stats::{RatioEstimate, Warning, hodges_lehmann, interval, log_ratios, summary};

fn sample() -> impl Strategy<Value = Vec<f64>> {
    vec(-100.0..100.0_f64, 1..40)
}

/// Series of one length, as (subject, reference).
fn pairs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    vec((0.001..1e6_f64, 0.001..1e6_f64), 1..40).prop_map(|pairs| pairs.into_iter().unzip())
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn paired_log_ratio(subject: &[f64], reference: &[f64], confidence: f64) -> RatioEstimate {
    interval(&log_ratios(subject, reference).unwrap(), confidence).unwrap().into()
}

proptest! {
    #[test]
    fn shifting_the_sample_shifts_the_estimate(values in sample(), shift in -1000.0..1000.0_f64) {
        let shifted: Vec<f64> = values.iter().map(|value| value + shift).collect();
        let (before, after) = (interval(&values, 0.95).unwrap(), interval(&shifted, 0.95).unwrap());
        prop_assert!(close(after.point, before.point + shift));
        prop_assert_eq!(before.interval.is_some(), after.interval.is_some());
        if let (Some(before), Some(after)) = (before.interval, after.interval) {
            prop_assert!(close(after.low, before.low + shift) && close(after.high, before.high + shift));
        }
    }

    #[test]
    fn scaling_the_sample_scales_the_estimate_and_a_negative_scale_turns_it(
        values in sample(),
        scale in prop_oneof![0.001..1000.0_f64, -1000.0..-0.001_f64],
    ) {
        let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
        prop_assert!(close(hodges_lehmann(&scaled), hodges_lehmann(&values) * scale));
        let (before, after) = (interval(&values, 0.9).unwrap(), interval(&scaled, 0.9).unwrap());
        if let (Some(before), Some(after)) = (before.interval, after.interval) {
            let (low, high) = (before.low * scale, before.high * scale);
            prop_assert!(close(after.low, low.min(high)) && close(after.high, low.max(high)));
        }
    }

    #[test]
    fn swapping_subject_and_reference_gives_the_reciprocal((subject, reference) in pairs()) {
        let there = paired_log_ratio(&subject, &reference, 0.95);
        let back = paired_log_ratio(&reference, &subject, 0.95);
        prop_assert!(close(there.ratio * back.ratio, 1.0));
        if let (Some(low), Some(high)) = (there.low, back.high) {
            prop_assert!(close(low * high, 1.0));
        }
        prop_assert_eq!(there.holds(1.0), back.holds(1.0));
    }

    #[test]
    fn more_confidence_never_gives_a_narrower_interval(
        (subject, reference) in pairs(),
        a in 0.01..0.999_f64,
        b in 0.01..0.999_f64,
    ) {
        let less = paired_log_ratio(&subject, &reference, a.min(b));
        let more = paired_log_ratio(&subject, &reference, a.max(b));
        match (less.low.zip(less.high), more.low.zip(more.high)) {
            (Some(less), Some(more)) => prop_assert!(more.0 <= less.0 && less.1 <= more.1),
            (None, Some(_)) => prop_assert!(false, "an interval at the greater confidence only"),
            _ => {}
        }
        prop_assert_eq!(less.ratio.to_bits(), more.ratio.to_bits());
    }

    #[test]
    fn the_interval_holds_the_estimate_and_attains_what_was_asked(values in sample(), confidence in 0.01..0.999_f64) {
        let estimate = interval(&values, confidence).unwrap();
        if let Some(found) = estimate.interval {
            prop_assert!(found.holds(estimate.point));
            prop_assert!(found.attained >= confidence - 1e-9 && found.attained < 1.0);
        } else {
            let told = estimate.warnings.iter().any(|warning| matches!(warning, Warning::TooFewBlocks { .. }));
            prop_assert!(told, "neither an interval nor the reason");
        }
    }

    #[test]
    fn identical_series_hold_one(series in vec(1e-300..1e300_f64, 6..40)) {
        prop_assert_eq!(paired_log_ratio(&series, &series, 0.95).holds(1.0), Some(true));
    }

    #[test]
    fn the_order_of_the_blocks_changes_warnings_only(values in sample()) {
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let (there, back) = (interval(&values, 0.95).unwrap(), interval(&reversed, 0.95).unwrap());
        prop_assert!(close(there.point, back.point));
        if let (Some(there), Some(back)) = (there.interval, back.interval) {
            prop_assert!(close(there.low, back.low) && close(there.high, back.high));
        }
    }

    #[test]
    fn quantiles_rise_with_the_probability(values in sample(), a in 0.0..=1.0_f64, b in 0.0..=1.0_f64) {
        let at = |probability| summary::quantile(&values, probability).unwrap();
        prop_assert!(at(a.min(b)) <= at(a.max(b)) + 1e-12);
        prop_assert!(at(0.0) <= at(a) && at(a) <= at(1.0));
    }
}
