//! A gate: did a change cause a regression of a given size? Passing and failing both need evidence.
//!
//! It uses an estimate with its interval, the smallest regression that matters, and the better direction.
//! With the interval of a planned look ([`crate::sequential`]) it may be evaluated at every look.

use crate::better::Better;
use crate::error::EstimateError;
use crate::ratio::RatioEstimate;

/// The result of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A regression of `delta` or more is excluded: the interval ends before it. A smaller one is possible.
    Pass,
    /// A regression of `delta` or more is shown: the whole interval lies beyond it.
    Fail,
    /// A regression is shown (the interval excludes 1), but the interval contains `delta`.
    Worse,
    /// Neither is shown: more blocks are needed, or a larger `delta`.
    Inconclusive,
}

/// A verdict with the figures behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EquivalenceTest {
    /// The verdict.
    pub verdict: Verdict,
    /// The ratio at which a regression matters: 1 - delta if higher is better, 1 + delta if lower is.
    pub bound: f64,
    /// The least regression in the interval, as a share: 0.01 is worse by 1%, below 0 is better.
    pub regression_least: Option<f64>,
    /// The greatest regression in the interval.
    pub regression_most: Option<f64>,
}

/// Evaluates `estimate`, the ratio of new to old, against a regression of `delta` (0.03 for 3%).
///
/// PASS is one half of two one-sided tests (D. J. Schuirmann, "A comparison of the two one-sided tests
/// procedure and the power approach for assessing the equivalence of average bioavailability", Journal of
/// Pharmacokinetics and Biopharmaceutics 15 (1987); D. Lakens, "Equivalence tests", Social Psychological and
/// Personality Science 8 (2017)). It means "a difference of delta was excluded", not "no difference was
/// found". With a 95% interval a regression of delta passes in at most 2.5% of cases. Equivalence tests at 5%
/// use 90% intervals, and so may the caller.
/// FAIL is the opposite test: a regression of at most delta fails in at most 2.5% of cases. A point estimate
/// beyond delta is not enough, because half of all estimates of a regression of delta lie there. WORSE
/// affects an unchanged service in at most 2.5% of cases.
/// Bounds are not excluded: an interval that ends exactly at the bound neither passes nor fails, and one that
/// ends exactly at 1 is not worse.
///
/// # Errors
/// A delta that is not between 0 and 1.
pub fn gate(estimate: &RatioEstimate, delta: f64, better: Better) -> Result<EquivalenceTest, EstimateError> {
    if !(delta > 0.0 && delta < 1.0) {
        return Err(EstimateError::Delta { value: delta });
    }
    let (bound, worst, mildest) = match better {
        Better::Higher => (1.0 - delta, estimate.low, estimate.high),
        Better::Lower => (1.0 + delta, estimate.high, estimate.low),
    };
    let is_worse = |end: Option<f64>, than: f64| {
        end.is_some_and(|end| if better == Better::Higher { end < than } else { end > than })
    };
    let excluded = worst.is_some_and(|worst| worst != bound && !is_worse(Some(worst), bound));
    let verdict = match () {
        () if is_worse(mildest, bound) => Verdict::Fail,
        () if excluded => Verdict::Pass,
        () if is_worse(mildest, 1.0) => Verdict::Worse,
        () => Verdict::Inconclusive,
    };
    let regression = |end: f64| if better == Better::Higher { 1.0 - end } else { end - 1.0 };
    Ok(EquivalenceTest {
        verdict,
        bound,
        regression_least: mildest.map(regression),
        regression_most: worst.map(regression),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, ratio: f64, high: f64) -> RatioEstimate {
        RatioEstimate {
            ratio,
            low: Some(low),
            high: Some(high),
            confidence_attained: Some(0.95),
            n: 12,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn verdicts_by_where_the_interval_lies() {
        use Verdict::{Fail, Inconclusive, Pass, Worse};
        // Throughput with delta = 0.25, so that the bound, 0.75, is exact.
        let cases = [
            ((0.99, 1.0, 1.01), Pass, "the same"),
            ((1.1, 1.2, 1.3), Pass, "better"),
            ((0.8, 0.85, 0.9), Pass, "worse, but by less than matters"),
            ((0.6, 0.65, 0.7), Fail, "worse throughout"),
            ((0.7, 0.74, 0.98), Worse, "worse, by delta as far as is estimated"),
            ((0.7, 0.76, 0.8), Worse, "worse, by less than delta as far as is estimated"),
            ((0.6, 0.74, 1.05), Inconclusive, "perhaps not worse"),
            ((0.5, 1.0, 1.5), Inconclusive, "too wide"),
            ((0.75, 0.9, 1.1), Inconclusive, "ends at the bound"),
            ((0.75_f64.next_up(), 0.9, 1.1), Pass, "ends just before the bound"),
            ((0.6, 0.7, 1.0), Inconclusive, "ends at 1"),
            ((0.6, 0.7, 1.0_f64.next_down()), Worse, "ends just before 1"),
            ((0.6, 0.7, 0.75), Worse, "the mildest is at the bound"),
            ((0.6, 0.7, 0.75_f64.next_down()), Fail, "the mildest is just beyond the bound"),
        ];
        for ((low, ratio, high), verdict, what) in cases {
            let found = gate(&estimate(low, ratio, high), 0.25, Better::Higher).unwrap();
            assert_eq!(found.verdict, verdict, "{what}");
            // The mirror image, with less being better: 1 + x instead of 1 - x.
            let mirrored = estimate(2.0 - high, 2.0 - ratio, 2.0 - low);
            let mirror = gate(&mirrored, 0.25, Better::Lower).unwrap();
            let exact =
                low != 0.75_f64.next_up() && ![1.0_f64.next_down(), 0.75_f64.next_down()].contains(&high);
            assert!(!exact || mirror.verdict == verdict, "{what}, mirrored");
        }
    }

    #[test]
    fn the_verdict_has_its_bound_and_what_is_excluded() {
        let of = |better| gate(&estimate(0.75, 0.8, 0.875), 0.5, better).unwrap();
        let verdict = Verdict::Pass;
        let higher = EquivalenceTest {
            verdict,
            bound: 0.5,
            regression_least: Some(0.125),
            regression_most: Some(0.25),
        };
        let lower = EquivalenceTest {
            verdict,
            bound: 1.5,
            regression_least: Some(-0.25),
            regression_most: Some(-0.125),
        };
        assert_eq!([of(Better::Higher), of(Better::Lower)], [higher, lower]);
    }

    #[test]
    fn without_an_interval_nothing_is_excluded() {
        let few = crate::interval(&[-0.7], 0.95).unwrap().into();
        let found = gate(&few, 0.03, Better::Higher).unwrap();
        assert_eq!((found.verdict, found.regression_most), (Verdict::Inconclusive, None));
    }

    #[test]
    fn a_delta_is_a_share() {
        for delta in [0.0, 1.0, 3.0, -0.1, f64::NAN] {
            let refused = gate(&estimate(0.9, 1.0, 1.1), delta, Better::Higher);
            assert!(matches!(refused, Err(EstimateError::Delta { .. })), "{delta}");
        }
    }
}
