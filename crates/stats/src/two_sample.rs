//! Two unpaired samples: two runs at different times, or several runs of each of two versions.
//!
//! Within a run blocks are paired, and [`crate::ratio`] applies. Two runs have no common blocks, so callers
//! pass values that are relative already: ln(service / reference).
//!
//! Two functions, for two questions:
//! - [`shift`]: the distance between two samples of independent values. For two runs the values are blocks.
//!   Effects that are random per run (a boot, memory layout, other tenants) are the same for all its blocks.
//!   So the interval describes these two runs only, with any number of blocks.
//! - [`between`]: the same for two sets of groups, in which groups are independent. For several runs of two
//!   versions the groups are runs, and the interval includes effects per run. For two runs with processes
//!   that last for several blocks the groups are starts.
//!
//! # How often they err
//! Coverage at 95% without a difference, 10,000 simulations each (standard error 0.2%); n blocks each.
//! [`shift`], also if runs differ by themselves, with a standard deviation in multiples of a block's:
//!
//! | blocks of each run | 8 | 12 | 20 | 40 | 8 and 40 |
//! |---|---|---|---|---|---|
//! | attained, by computation | 95.0% | 95.5% | 95.1% | 95.0% |  |
//! | normal | 94.7% | 95.3% | 95.3% | 95.2% | 95.1% |
//! | t with 3 degrees of freedom | 95.2% | 95.6% | 95.2% | 94.5% | 95.3% |
//! | one block in ten has ten times the spread | 94.8% | 95.6% | 95.2% | 95.0% | 95.0% |
//! | a fast or a slow layout per process | 94.7% | 95.2% | 95.2% | 94.8% | 95.5% |
//! | AR(1) 0.1 | 92.3% | 92.9% | 92.9% | 92.8% | 92.7% |
//! | runs differ by 0.25 | 89.9% | 87.6% | 82.7% | 71.6% | 85.4% |
//! | runs differ by 0.5 | 76.7% | 70.1% | 59.2% | 46.1% | 66.3% |
//! | runs differ by 1 | 52.1% | 44.5% | 35.1% | 25.0% | 40.6% |
//! | the second run spreads twice as wide | 93.9% | 94.5% | 94.3% | 94.4% | 98.9% |
//!
//! So an interval for two runs is exact for these runs, but covers two versions less, the more blocks they
//! have. [`between`] with the same differences of runs, 12 blocks per run, and its width:
//!
//! | runs before + after | 0 | 0.25 | 0.5 | 1 | width at 1, in sd of a block |
//! |---|---|---|---|---|---|
//! | 2 + 1 | 100.0% | 100.0% | 100.0% | 100.0% | 26.91 |
//! | 3 + 1 | 100.0% | 99.9% | 98.9% | 96.5% | 9.20 |
//! | 5 + 1 | 99.6% | 98.0% | 96.1% | 95.2% | 5.97 |
//! | 2 + 2 | 100.0% | 99.9% | 99.0% | 96.8% | 8.02 |
//! | 3 + 3 | 99.5% | 98.2% | 96.2% | 95.0% | 4.45 |
//! | 5 + 5 | 98.3% | 96.4% | 95.0% | 94.7% | 2.95 |
//! | 10 + 3 | 98.0% | 95.8% | 94.7% | 94.7% | 2.96 |
//!
//! Two runs and one suffice for an interval; five and one, or three and three, for a useful one.

use crate::error::{EstimateError, check_confidence, check_sample};
use crate::estimate::{Estimate, Interval};
use crate::normal;
use crate::student;
use crate::two_level::Sums;
use crate::warning::Warning;

/// Exact null distribution up to this total number of values; the counts fit the integers.
pub const EXACT_MAX: usize = 120;

/// The null distribution of U: symmetric, from 0 up.
#[derive(Debug, Clone)]
pub struct NullDistribution {
    max: usize,
    /// Standard deviation without ties.
    sd: f64,
    /// P(U <= u) for u = 0, 1, ..; empty if approximated.
    cumulative: Vec<f64>,
}

impl NullDistribution {
    /// The distribution of U for two samples from one distribution. U is the number of pairs with a smaller
    /// value in the second sample. Exact up to [`EXACT_MAX`] values in total, above by normal approximation
    /// with continuity correction.
    ///
    /// Source: H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically larger
    /// than the other", Annals of Mathematical Statistics 18 (1947). Counted by Gauss's binomial coefficient:
    /// the number of ways to get U = u is the coefficient of q^u in (1 - q^(n+1))..(1 - q^(n+m)) / (1 -
    /// q)..(1 - q^m).
    #[must_use]
    pub fn rank_sum(one: usize, other: usize) -> Self {
        let ways = if one + other <= EXACT_MAX { ways_to_part(one, other) } else { Vec::new() };
        let all = ways.iter().sum::<i128>() as f64;
        let below = ways.iter().scan(0, |below, ways| {
            *below += ways;
            Some(*below as f64 / all)
        });
        let sd = ((one * other) as f64 * (one + other + 1) as f64 / 12.0).sqrt();
        NullDistribution { max: one * other, sd, cumulative: below.collect() }
    }

    /// P(U <= `u`).
    #[must_use]
    pub fn cdf(&self, u: usize) -> f64 {
        if u >= self.max {
            return 1.0;
        }
        let approximate = || normal::cdf((u as f64 + 0.5 - self.max as f64 / 2.0) / self.sd);
        self.cumulative.get(u).copied().unwrap_or_else(approximate)
    }

    /// The number of ordered values that may be cut off at each end with a probability of at most `tail`
    /// beyond: the largest k >= 1 with P(U <= k - 1) <= `tail`. `None` if even the widest interval excludes
    /// more.
    #[must_use]
    pub fn depth(&self, tail: f64) -> Option<usize> {
        // A confidence such as 0.95 is not exact in binary: 1 - 0.95 exceeds 0.05 in the last place.
        let allowed = tail * (1.0 + 1e-12);
        let (mut inside, mut outside) = (0, self.max / 2 + 1);
        while inside + 1 < outside {
            let k = usize::midpoint(inside, outside);
            if self.cdf(k - 1) <= allowed { inside = k } else { outside = k }
        }
        (inside > 0).then_some(inside)
    }

    /// The interval of `confidence` with ends among these ascending values; `None` with too few.
    fn interval(&self, ascending: &[f64], confidence: f64) -> Option<Interval> {
        let depth = self.depth((1.0 - confidence) / 2.0)?;
        Some(Interval {
            low: ascending[depth - 1],
            high: ascending[ascending.len() - depth],
            attained: 1.0 - 2.0 * self.cdf(depth - 1),
        })
    }

    /// Two-sided p-value of a centre of 0: the least `1 - confidence` whose interval excludes 0.
    fn p_value(&self, ascending: &[f64]) -> f64 {
        let negative = ascending.partition_point(|value| *value < 0.0);
        let positive = ascending.len() - ascending.partition_point(|value| *value <= 0.0);
        (2.0 * self.cdf(ascending.len() - negative.max(positive))).min(1.0)
    }
}

/// The number of ways in which two samples can have each number of such pairs.
fn ways_to_part(one: usize, other: usize) -> Vec<i128> {
    let pairs = one * other;
    let mut ways = vec![0_i128; pairs + 1];
    ways[0] = 1;
    for step in 1..=other {
        // No intermediate value exceeds the number of ways to split the samples, which is below 2^117.
        for u in (one + step..=pairs).rev() {
            ways[u] -= ways[u - one - step];
        }
        for u in step..=pairs {
            ways[u] += ways[u - step];
        }
    }
    ways
}

/// Fewest values per sample, for samples of equal size, with which [`shift`] has an interval of `confidence`:
/// 4 for 0.95. `None` if the confidence is not between 0 and 1.
#[must_use]
pub fn least_n(confidence: f64) -> Option<usize> {
    check_confidence(confidence).ok()?;
    (1..=EXACT_MAX / 2).find(|&n| NullDistribution::rank_sum(n, n).depth((1.0 - confidence) / 2.0).is_some())
}

/// The distance from `before` to `after`: the Hodges-Lehmann estimate (the median of all differences after
/// minus before), with an interval of at least `confidence` from the exact Mann-Whitney test. Assumes
/// independent values and the same distribution up to a shift; normality is not required. The interval is
/// closed; ties only increase its coverage.
///
/// `n` is the size of the smaller sample. Too small samples have no interval.
///
/// Source: P. K. Moses' interval as in M. Hollander, D. A. Wolfe and E. Chicken, Nonparametric Statistical Methods (3rd
/// edition 2014), sections 4.2 and 4.3.
///
/// # Errors
/// An empty sample, a value that is not finite, a confidence that is not between 0 and 1.
pub fn shift(before: &[f64], after: &[f64], confidence: f64) -> Result<Estimate, EstimateError> {
    check_confidence(confidence)?;
    let differences = differences(before, after)?;
    let null = NullDistribution::rank_sum(before.len(), after.len());
    let interval = null.interval(&differences, confidence);
    let n = before.len().min(after.len());
    let mut warnings = Vec::new();
    if interval.is_none() {
        warnings.push(Warning::TooFewBlocks {
            n,
            needed: least_n(confidence).unwrap_or(EXACT_MAX / 2).max(n + 1),
        });
    }
    Ok(Estimate { point: middle(&differences), interval, n, warnings })
}

/// Two-sided p-value of "no difference": the least `1 - confidence` at which [`shift`] excludes 0.
///
/// # Errors
/// An empty sample, a value that is not finite.
pub fn p_value(before: &[f64], after: &[f64]) -> Result<f64, EstimateError> {
    let differences = differences(before, after)?;
    Ok(NullDistribution::rank_sum(before.len(), after.len()).p_value(&differences))
}

/// All differences after minus before, ascending.
pub(crate) fn differences(before: &[f64], after: &[f64]) -> Result<Vec<f64>, EstimateError> {
    check_sample(before)?;
    check_sample(after)?;
    let mut differences: Vec<f64> =
        after.iter().flat_map(|after| before.iter().map(move |before| after - before)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    Ok(differences)
}

/// The median of an ascending, non-empty slice.
pub(crate) fn middle(sorted: &[f64]) -> f64 {
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

/// The distance from the groups of `before` to those of `after`: the difference of the means of group means,
/// with an interval of `confidence` by Student's t. Groups are independent; values of one group need not be.
///
/// The variance between groups is pooled over both sides, because differences between runs of one program
/// come from the machine. So three groups in all suffice, with a single one on one side. As in
/// [`crate::contrast::interval_of_starts`], the variance of a side is at least what values within its groups
/// explain. `n` is the number of groups. With one group per side there is an estimate, no interval, and
/// [`Warning::TooFewBlocks`].
///
/// # Errors
/// A side without groups, a group without values, a value that is not finite, a confidence that is not between 0 and 1.
pub fn between<V: AsRef<[f64]>>(
    before: &[V],
    after: &[V],
    confidence: f64,
) -> Result<Estimate, EstimateError> {
    check_confidence(confidence)?;
    let (point, error) = centre(before, after)?;
    let n = before.len() + after.len();
    let Some(error) = error else {
        return Ok(Estimate {
            point,
            interval: None,
            n,
            warnings: vec![Warning::TooFewBlocks { n, needed: 3 }],
        });
    };
    let reach = student::two_sided_quantile(confidence, n - 2) * error;
    let interval = Interval { low: point - reach, high: point + reach, attained: confidence };
    Ok(Estimate { point, interval: Some(interval), n, warnings: Vec::new() })
}

/// Two-sided p-value of "no difference", with the assumptions of [`between`]; 1 with one group per side.
///
/// # Errors
/// The errors of [`between`].
pub fn between_p<V: AsRef<[f64]>>(before: &[V], after: &[V]) -> Result<f64, EstimateError> {
    let (point, error) = centre(before, after)?;
    let freedom = before.len() + after.len() - 2;
    Ok(error.filter(|_| point != 0.0).map_or(1.0, |error| student::two_sided_p(point / error, freedom)))
}

/// The difference of the means, and its standard error if there are enough groups.
fn centre<V: AsRef<[f64]>>(before: &[V], after: &[V]) -> Result<(f64, Option<f64>), EstimateError> {
    let (one, other) = (Sums::of(before)?, Sums::of(after)?);
    let point = other.mean - one.mean;
    let groups = before.len() + after.len();
    if groups < 3 {
        return Ok((point, None));
    }
    let freedom = one.freedom + other.freedom;
    let within = if freedom > 0 { (one.within + other.within) / freedom as f64 } else { 0.0 };
    let among = (one.between + other.between) / (groups - 2) as f64;
    let part = |sums: &Sums, groups: usize| among.max(within * sums.share) / groups as f64;
    Ok((point, Some((part(&one, before.len()) + part(&other, after.len())).sqrt())))
}

/// Two-sided p-value of a difference, compared with the chance differences `alike`, such as those of programs
/// that did not change between two runs. These are assumed to be normal about 0 with a common spread:
/// Student's t with one degree of freedom each. 1 without any.
#[must_use]
pub fn among_p(difference: f64, alike: &[f64]) -> f64 {
    let square = alike.iter().map(|one| one * one).sum::<f64>() / alike.len() as f64;
    match alike.len() {
        0 => 1.0,
        _ if difference == 0.0 => 1.0,
        freedom => student::two_sided_p(difference / square.sqrt(), freedom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_distributions_by_hand() {
        // Two and two: of the six orders U is 0 1 2 2 3 4.
        let null = NullDistribution::rank_sum(2, 2);
        let sixths: Vec<f64> = (0..=4).map(|u| (null.cdf(u) * 6.0).round()).collect();
        assert_eq!(sixths, [1.0, 2.0, 4.0, 5.0, 6.0]);
        assert_eq!((null.max, null.cdf(99).to_bits()), (4, 1.0_f64.to_bits()));
    }

    #[test]
    fn distributions_are_symmetric_and_do_not_know_which_sample_is_first() {
        for (one, other) in [(1, 1), (1, 7), (5, 3), (40, 12), (60, 60)] {
            let (null, turned) =
                (NullDistribution::rank_sum(one, other), NullDistribution::rank_sum(other, one));
            for u in 0..null.max {
                assert!((null.cdf(u) + null.cdf(null.max - 1 - u) - 1.0).abs() < 1e-12, "{one} {other} {u}");
                assert!((null.cdf(u) - turned.cdf(u)).abs() < 1e-15, "{one} {other} {u}");
            }
        }
    }

    #[test]
    fn the_normal_approximation_takes_over_smoothly() {
        let (exact, approximate) = (NullDistribution::rank_sum(60, 60), NullDistribution::rank_sum(60, 61));
        let (one, other) = (exact.depth(0.025).unwrap(), approximate.depth(0.025).unwrap());
        assert!(other > one && other < one + 40, "{one} {other}");
    }

    #[test]
    fn four_of_each_are_the_fewest_at_95_percent() {
        assert_eq!((least_n(0.9), least_n(0.95), least_n(0.99)), (Some(3), Some(4), Some(5)));
        assert_eq!((least_n(1.0), least_n(f64::NAN)), (None, None));
        let found = shift(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.0], 0.95).unwrap();
        assert_eq!((found.point, found.interval, found.n), (10.0, None, 3));
        assert_eq!(found.warnings, [Warning::TooFewBlocks { n: 3, needed: 4 }]);
        // A run with many blocks does not compensate for another with few.
        let one = shift(&[1.0], &[0.5; 30], 0.95).unwrap();
        assert_eq!(one.warnings, [Warning::TooFewBlocks { n: 1, needed: 4 }]);
    }

    #[test]
    fn two_runs_alike_differ_by_nothing() {
        let run = [0.1, 0.3, 0.2, 0.25, 0.15, 0.35];
        let found = shift(&run, &run, 0.95).unwrap();
        assert!(found.point.abs() < 1e-12 && found.interval.unwrap().holds(0.0));
        assert_eq!(p_value(&run, &run), Ok(1.0));
        assert_eq!(p_value(&[2.0; 9], &[2.0; 9]), Ok(1.0));
    }

    #[test]
    fn one_group_on_each_side_says_nothing_of_the_spread_between_groups() {
        let found = between(&[vec![1.0; 20]], &[vec![2.0; 20]], 0.95).unwrap();
        assert_eq!((found.point, found.interval), (1.0, None));
        assert_eq!(found.warnings, [Warning::TooFewBlocks { n: 2, needed: 3 }]);
        assert_eq!(between_p(&[vec![1.0; 20]], &[vec![2.0; 20]]), Ok(1.0));
    }

    #[test]
    fn more_values_of_a_group_do_not_narrow_what_groups_leave_open() {
        let of = |values: usize| {
            let group = |level: f64| vec![level; values];
            between(&[group(1.0), group(2.0)], &[group(4.0), group(5.0)], 0.95).unwrap().interval
        };
        assert_eq!(of(2), of(500));
    }

    /// scipy: `2 * stats.t.sf(3 / np.sqrt((1 + 1 + 4 + 4) / 4), 4)`.
    #[test]
    fn a_difference_is_held_against_those_of_what_did_not_change() {
        assert!((among_p(3.0, &[1.0, -1.0, 2.0, -2.0]) - 0.13063511375366063).abs() < 1e-12);
        assert_eq!((among_p(3.0, &[]), among_p(0.0, &[0.0])), (1.0, 1.0));
        // One unchanged row is hardly a yardstick.
        assert!(among_p(10.0, &[1.0]) > 0.05 && among_p(20.0, &[1.0]) < 0.05);
    }

    #[test]
    fn what_is_no_sample_is_refused() {
        assert_eq!(shift(&[], &[1.0], 0.95), Err(EstimateError::Empty));
        assert_eq!(between::<Vec<f64>>(&[], &[], 0.95), Err(EstimateError::Empty));
        assert!(matches!(p_value(&[1.0], &[f64::NAN]), Err(EstimateError::NotFinite { index: 0, .. })));
        assert!(matches!(shift(&[1.0], &[1.0], 2.0), Err(EstimateError::Confidence { .. })));
    }
}
