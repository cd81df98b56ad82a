//! A gate: did a change make it worse by more than one is ready to bear? Passing needs evidence, as failing does.
//!
//! Knows an estimate with its interval, a difference that matters, and which way is better; nothing of how the interval
//! was made. So the interval of a planned look ([`crate::sequential`]) gives a gate that may be asked at every look.

use crate::better::Better;
use crate::error::EstimateError;
use crate::ratio::RatioEstimate;

/// What a gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Worse by `delta` or more is ruled out: the interval ends before it. It may still be worse by less.
    Pass,
    /// Worse, and not by chance (the interval leaves out 1), and by `delta` or more as far as can be estimated.
    Fail,
    /// Neither: more blocks are needed, or a greater `delta`.
    Inconclusive,
}

/// A verdict with what led to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// The verdict.
    pub verdict: Verdict,
    /// The ratio from which on a regression matters: 1 - delta where higher is better, 1 + delta where lower is.
    pub bound: f64,
}

/// Weighs `estimate`, the ratio of the new to the old, against a regression of `delta` (0.03 for 3%).
///
/// PASS is the one-sided half of two one-sided tests (D. J. Schuirmann, "A comparison of the two one-sided tests procedure
/// and the power approach for assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and
/// Biopharmaceutics 15 (1987); D. Lakens, "Equivalence tests", Social Psychological and Personality Science 8 (2017)): not
/// "no difference was found" but "a difference of delta was excluded". With an interval of 95% a change that is worse by
/// delta passes in at most 2.5% of cases; equivalence tests at 5% use intervals of 90%, and so may the caller.
/// FAIL strikes a change that does nothing in at most 2.5%.
///
/// Ends and bounds count as not excluded: an interval that ends exactly at the bound does not pass, one that ends exactly
/// at 1 does not fail; an estimate exactly at the bound is a regression of delta.
///
/// # Errors
/// A delta that is not between 0 and 1.
pub fn gate(estimate: &RatioEstimate, delta: f64, better: Better) -> Result<Gate, EstimateError> {
    if !(delta > 0.0 && delta < 1.0) {
        return Err(EstimateError::Delta { value: delta });
    }
    let (bound, worst, mildest) = match better {
        Better::Higher => (1.0 - delta, estimate.low, estimate.high),
        Better::Lower => (1.0 + delta, estimate.high, estimate.low),
    };
    // Turned so that less is worse.
    let turn = |ratio: f64| if better == Better::Higher { ratio } else { -ratio };
    let regressed = mildest.is_some_and(|mildest| turn(mildest) < turn(1.0));
    let excluded = worst.is_some_and(|worst| turn(worst) > turn(bound));
    let verdict = match (regressed && turn(estimate.ratio) <= turn(bound), excluded) {
        (true, _) => Verdict::Fail,
        (false, true) => Verdict::Pass,
        (false, false) => Verdict::Inconclusive,
    };
    Ok(Gate { verdict, bound })
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
        use Verdict::{Fail, Inconclusive, Pass};
        // Throughput with delta = 0.25, so that the bound, 0.75, is exact.
        let cases = [
            ((0.99, 1.0, 1.01), Pass, "the same"),
            ((1.1, 1.2, 1.3), Pass, "better"),
            ((0.8, 0.85, 0.9), Pass, "worse, but by less than matters"),
            ((0.6, 0.65, 0.7), Fail, "worse throughout"),
            ((0.7, 0.74, 0.98), Fail, "worse for certain, by delta as far as one can tell"),
            ((0.7, 0.76, 0.8), Inconclusive, "worse for certain, but perhaps by less"),
            ((0.6, 0.74, 1.05), Inconclusive, "perhaps not worse"),
            ((0.5, 1.0, 1.5), Inconclusive, "too wide"),
            ((0.75, 0.9, 1.1), Inconclusive, "ends at the bound"),
            ((0.75_f64.next_up(), 0.9, 1.1), Pass, "ends just before the bound"),
            ((0.6, 0.7, 1.0), Inconclusive, "ends at 1"),
            ((0.6, 0.7, 1.0_f64.next_down()), Fail, "ends just before 1"),
            ((0.6, 0.75, 0.9), Fail, "estimated at the bound"),
            ((0.6, 0.75_f64.next_up(), 0.9), Inconclusive, "estimated just before the bound"),
        ];
        for ((low, ratio, high), verdict, what) in cases {
            let found = gate(&estimate(low, ratio, high), 0.25, Better::Higher).unwrap();
            assert_eq!(found.verdict, verdict, "{what}");
            // The mirror image, where less is better: 1 + x in place of 1 - x.
            let mirrored = estimate(2.0 - high, 2.0 - ratio, 2.0 - low);
            let mirror = gate(&mirrored, 0.25, Better::Lower).unwrap();
            let exact =
                low != 0.75_f64.next_up() && high != 1.0_f64.next_down() && ratio != 0.75_f64.next_up();
            assert!(!exact || mirror.verdict == verdict, "{what}, mirrored");
        }
    }

    #[test]
    fn the_verdict_has_its_bound() {
        let of = |better| gate(&estimate(0.8, 0.85, 0.9), 0.25, better).unwrap();
        assert_eq!(of(Better::Higher), Gate { verdict: Verdict::Pass, bound: 0.75 });
        assert_eq!(of(Better::Lower), Gate { verdict: Verdict::Pass, bound: 1.25 });
    }

    #[test]
    fn without_an_interval_nothing_is_excluded() {
        let few = crate::interval(&[-0.7, -0.6], 0.95).unwrap().into();
        assert_eq!(gate(&few, 0.03, Better::Higher).unwrap().verdict, Verdict::Inconclusive);
    }

    #[test]
    fn a_delta_is_a_share() {
        for delta in [0.0, 1.0, 3.0, -0.1, f64::NAN] {
            let refused = gate(&estimate(0.9, 1.0, 1.1), delta, Better::Higher);
            assert!(matches!(refused, Err(EstimateError::Delta { .. })), "{delta}");
        }
    }
}
