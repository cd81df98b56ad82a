//! Change points in a history of runs: log ratios of one service, run after run, in chronological order.
//!
//! The method uses the order of the runs, not their dates; each run is one value. It assumes that values
//! between changes are independent draws from one distribution of any shape.
//!
//! # Why this method
//! Pettitt's test finds the place where values before and after differ most in rank. If it is significant,
//! both parts are searched in the same way (binary segmentation). A single outlier has only one rank, and
//! nothing needs tuning. E-divisive (D. S. Matteson and N. A. James, JASA 109 (2014); for benchmarks D. Daly
//! et al., "The use of change point detection to identify software performance regressions", ICPE 2020) also
//! detects changes of spread. But its p-values come from random permutations, and this crate uses no
//! randomness. For histories of up to [`EXACT_MAX`] runs all orders are counted instead. Beyond, the sum of
//! the exact probabilities over all places is an upper bound. For steps near an end and for small alphas it
//! finds much more than Pettitt's bound, 2 exp(-6 K^2 / (n^3 + n^2)). PELT (R. Killick, P. Fearnhead and I.
//! A. Eckley, JASA 107 (2012)) has a penalty instead of an error probability.
//!
//! # What it finds
//! By simulation at alpha = 5%. Without a change, one is reported in 2.8 to 3.1%, 4.7 to 5.4%, 2.3 to 3.0%,
//! 1.7 to 2.4% and 1.0 to 1.4% of histories of 8, 12, 20, 40 and 100 runs (normal, t3, 10% wild, two
//! layouts). Up to 14 runs the test is exact (1/35 of all orders of 8 runs has a change); beyond, the p-value
//! is an upper bound. Autocorrelated runs raise the rate: to 6.9% of 12 runs and 4.1% of 40 at a correlation
//! of 0.1, and to 15% of 12 at 0.3. Use ratios to a reference, which do not follow the machine, and read
//! `Warning::Autocorrelated`. [`changes_of_all`] over 11 rows by 2 metrics, with any correlation, reports one
//! for 0%, 3.1 to 4.5% and 2.5 to 3.2% of 8, 12 and 20 runs.
//!
//! One change, in standard deviations: the share found alone, at most three runs off (in brackets: in place).
//!
//! | runs before + after | 1 | 1.5 | 2 | 3 | 5 |
//! |---|---|---|---|---|---|
//! | 4 + 4 | 12% (9) | 28% (23) | 48% (40) | 82% (72) | 100% (96) |
//! | 6 + 6 | 25% (10) | 49% (25) | 71% (44) | 98% (77) | 100% (98) |
//! | 9 + 3 | 13% (8) | 25% (17) | 42% (33) | 78% (69) | 96% (92) |
//! | 10 + 10 | 25% (10) | 56% (28) | 83% (52) | 95% (78) | 95% (93) |
//! | 20 + 20 | 40% (13) | 76% (37) | 92% (57) | 96% (81) | 97% (95) |
//! | 40 + 40 | 56% (20) | 84% (44) | 94% (61) | 98% (84) | 98% (97) |
//! | 28 + 12 | 33% (12) | 75% (37) | 92% (58) | 97% (82) | 97% (95) |
//! | 32 + 8 | 24% (8) | 61% (33) | 88% (56) | 98% (83) | 98% (97) |
//!
//! So a change of three standard deviations is detected some four to ten runs after it occurred. It is no
//! gate: for the latest run use [`crate::two_sample`], and within one run [`crate::equivalence`].

use crate::error::{EstimateError, check_level, check_sample};
use crate::holm;
use crate::summary;
use crate::two_sample::{self, NullDistribution};

/// Histories up to this length use exact counts, longer ones a bound. 2^14 sets take under a millisecond.
pub const EXACT_MAX: usize = 14;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelChange {
    /// The first run of the new level, from 0.
    pub at: usize,
    /// The Hodges-Lehmann estimate of the shift: the median of all differences between runs after and before.
    /// For log ratios its exponential is the factor.
    pub shift: f64,
    /// Unadjusted p-value of the test that found it.
    pub p: f64,
}

/// All changes of level in `history` at an error probability of `alpha`, in order.
///
/// A part of m of n values is tested at alpha m/n, so that the levels of one history share alpha. A false
/// change has a probability of at most about alpha, with or without true changes elsewhere.
///
/// p is the probability of as large a standardised rank difference at some place. Up to [`EXACT_MAX`] values
/// it is the share of all orders; beyond, the sum over all places, an upper bound.
///
/// Source: A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics 28 (1979), on the
/// statistic; L. Ju. Vostrikova, "Detecting disorder in multidimensional random processes", Soviet Mathematics Doklady 24
/// (1981), on segmentation. Takes time in proportion to n^2.
///
/// # Errors
/// An empty sample, a value that is not finite, or an alpha that is not between 0 and 1.
pub fn changes(history: &[f64], alpha: f64) -> Result<Vec<LevelChange>, EstimateError> {
    Ok(changes_of_all(&[history], alpha)?.pop().unwrap_or_default())
}

/// The changes of several histories, such as all rows and metrics of one report. The probability of any false
/// change in an unchanged history is at most `alpha`, for any dependence: Holm's procedure over whole
/// histories. The parts of a changed history are searched at alpha divided by the number of histories.
///
/// # Errors
/// The errors of [`changes`] for any history.
pub fn changes_of_all<V: AsRef<[f64]>>(
    histories: &[V],
    alpha: f64,
) -> Result<Vec<Vec<LevelChange>>, EstimateError> {
    check_level(alpha)?;
    histories.iter().try_for_each(|history| check_sample(history.as_ref()))?;
    let whole: Vec<(usize, f64)> = histories.iter().map(|history| test(history.as_ref())).collect();
    let p: Vec<f64> = whole.iter().map(|(_, p)| *p).collect();
    let each = alpha / histories.len() as f64;
    let found = histories.iter().zip(whole).zip(holm::adjust(&p)).map(|((history, first), adjusted)| {
        match adjusted <= alpha {
            true => segments(history.as_ref(), first, each),
            false => Vec::new(),
        }
    });
    Ok(found.collect())
}

/// The changes of a history, given its first; its parts are searched at `alpha`.
fn segments(history: &[f64], first: (usize, f64), alpha: f64) -> Vec<LevelChange> {
    let mut places = vec![first];
    let each = alpha / history.len() as f64;
    search(&history[..first.0], 0, each, &mut places);
    search(&history[first.0..], first.0, each, &mut places);
    places.sort_by_key(|&(at, _)| at);
    let bounds: Vec<usize> =
        [0].into_iter().chain(places.iter().map(|&(at, _)| at)).chain([history.len()]).collect();
    let shift = |around: &[usize]| shift(&history[around[0]..around[1]], &history[around[1]..around[2]]);
    let change = |(&(at, p), around)| LevelChange { at, shift: shift(around), p };
    places.iter().zip(bounds.windows(3)).map(change).collect()
}

/// Finds the changes of a part that begins at `offset`, at `alpha_each` per value.
fn search(stretch: &[f64], offset: usize, alpha_each: f64, places: &mut Vec<(usize, f64)>) {
    let (at, p) = test(stretch);
    if p > alpha_each * stretch.len() as f64 {
        return;
    }
    places.push((offset + at, p));
    search(&stretch[..at], offset, alpha_each, places);
    search(&stretch[at..], offset + at, alpha_each, places);
}

/// Places within this share of the largest standardised sum are equally clear; the values decide.
const AS_CLEAR: f64 = 0.9;

/// The place where values before and after differ most, and its p-value; (0, 1) if all are equal.
///
/// Pettitt's largest sum of signs favours the middle, where sums have more terms. So place and test use the
/// largest sum over its standard deviation. A run between two levels has the same ranks on either side. So
/// among equally clear places ([`AS_CLEAR`]) the one wins that minimises distances from the two medians.
fn test(values: &[f64]) -> (usize, f64) {
    let n = values.len();
    let signs = signs(values);
    let sums: Vec<i64> = signs
        .iter()
        .take(n - 1)
        .scan(0, |sum, own| {
            *sum += own;
            Some(*sum)
        })
        .collect();
    if sums.iter().all(|sum| *sum == 0) {
        return (0, 1.0);
    }
    let square = |at: usize| (sums[at - 1] * sums[at - 1], (at * (n - at)) as i64);
    let clear = |at: usize| (square(at).0 as f64 / square(at).1 as f64).sqrt();
    let clearest = (1..n).max_by(|a, b| clear(*a).total_cmp(&clear(*b))).unwrap_or(1);
    let distance = |at: usize| distance(&values[..at]) + distance(&values[at..]);
    let places = (1..n).filter(|at| clear(*at) >= AS_CLEAR * clear(clearest));
    let at = places.min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap_or(0);
    (at, if n <= EXACT_MAX { exact_p(&signs, square(clearest)) } else { bound(n, square(clearest)) })
}

/// The sum of the distances from the median.
fn distance(values: &[f64]) -> f64 {
    summary::median(values)
        .map_or(f64::NAN, |median| values.iter().map(|value| (value - median).abs()).sum::<f64>())
}

/// The number of smaller values minus the number of greater ones, for each value. Summed before a place,
/// pairs on one side cancel, which leaves the signs of all pairs across it.
fn signs(values: &[f64]) -> Vec<i64> {
    let sign = |a: f64, b: f64| i64::from(a > b) - i64::from(a < b);
    values.iter().map(|value| values.iter().map(|other| sign(*value, *other)).sum()).collect()
}

/// The sum over all places of the probability that the squared sum over its variance is at least `clearest`
/// (a fraction). Each term is the tail of a rank sum.
fn bound(n: usize, clearest: (i64, i64)) -> f64 {
    let clear = clearest.0 as f64 / clearest.1 as f64;
    let tail = |at: usize| {
        let pairs = at * (n - at);
        // A sum is twice the pairs in the wrong order minus all pairs. Rounding must not exclude a sum.
        let least = (clear * pairs as f64 * (1.0 - 1e-12)).sqrt().ceil();
        let wrong = ((pairs as f64 - least) / 2.0).floor();
        let null = || NullDistribution::rank_sum(n - at, at);
        if wrong < 0.0 { 0.0 } else { 2.0 * null().cdf(wrong as usize) }
    };
    // Places at the same distance from either end are equal. The middle ones often reach 1 alone.
    let mut sum = 0.0;
    for at in (1..=n / 2).rev() {
        sum += if 2 * at == n { tail(at) } else { 2.0 * tail(at) };
        if sum >= 1.0 {
            return 1.0;
        }
    }
    sum
}

/// The share of all orders in which some squared sum over its variance is at least `clearest` (a fraction).
/// An order is a path from the empty set to the full one; paths are counted whose sums stay below.
fn exact_p(signs: &[i64], clearest: (i64, i64)) -> f64 {
    let n = signs.len();
    let (mut sums, mut orders) = (vec![0_i64; 1 << n], vec![0_u64; 1 << n]);
    orders[0] = 1;
    for set in 1..1_usize << n {
        sums[set] = sums[set & (set - 1)] + signs[set.trailing_zeros() as usize];
        let size = set.count_ones() as usize;
        let is_below = sums[set] * sums[set] * clearest.1 < clearest.0 * (size * (n - size)) as i64;
        if is_below || size == n {
            let members = (0..n).filter(|member| set >> member & 1 == 1);
            orders[set] = members.map(|member| orders[set ^ (1 << member)]).sum();
        }
    }
    let all: u64 = (1..=n as u64).product();
    (all - orders[(1 << n) - 1]) as f64 / all as f64
}

/// The fewest runs in which any change can be found: 8 at 5%. `None` above 40, or for an invalid alpha.
#[must_use]
pub fn least_n(alpha: f64) -> Option<usize> {
    check_level(alpha).ok()?;
    let rising = |n: usize| (0..n).map(|value| value as f64).collect::<Vec<f64>>();
    (2..=40).find(|&n| test(&rising(n)).1 <= alpha)
}

/// The median of all differences between values after and before.
fn shift(before: &[f64], after: &[f64]) -> f64 {
    // Both parts have finite values.
    two_sample::differences(before, after).map_or(f64::NAN, |differences| two_sample::middle(&differences))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wobble(index: usize) -> f64 {
        ((index * 37) % 61) as f64 / 61.0 - 0.5
    }

    fn history(levels: &[(usize, f64)]) -> Vec<f64> {
        let flat = levels.iter().flat_map(|&(runs, level)| std::iter::repeat_n(level, runs));
        flat.enumerate().map(|(index, level)| level + wobble(index)).collect()
    }

    #[test]
    fn levels_are_found_with_their_shifts() {
        let found = changes(&history(&[(20, 0.0), (20, 2.0), (20, 1.0)]), 0.05).unwrap();
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [20, 40]);
        assert!((found[0].shift - 2.0).abs() < 0.1 && (found[1].shift + 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn a_level_without_changes_has_none() {
        assert_eq!(changes(&history(&[(60, 1.0)]), 0.05), Ok(vec![]));
        assert_eq!(changes(&[3.0; 50], 0.05), Ok(vec![]));
        assert_eq!(changes(&[1.0], 0.05), Ok(vec![]));
        assert_eq!(changes(&[1.0, 2.0, 100.0], 0.05), Ok(vec![]));
    }

    #[test]
    fn eight_runs_are_the_fewest_in_which_a_change_is_found() {
        assert_eq!(
            (least_n(0.05), least_n(0.2), least_n(1e-15), least_n(2.0)),
            (Some(8), Some(6), None, None)
        );
        let found = changes(&history(&[(4, 0.0), (4, 9.0)]), 0.05).unwrap();
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [4]);
        assert_eq!(changes(&history(&[(4, 0.0), (3, 9.0)]), 0.05), Ok(vec![]));
    }

    /// Among 22 histories a change must be clearer; its p-value stays unadjusted.
    #[test]
    fn many_histories_ask_more_of_each() {
        let clear = history(&[(6, 0.0), (6, 9.0)]);
        let flat = history(&[(12, 0.0)]);
        let with = |others: usize, one: &[f64]| {
            let all = [vec![one.to_vec()], vec![flat.clone(); others]].concat();
            changes_of_all(&all, 0.05).unwrap().iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(with(21, &clear)[..2], [1, 0]);
        assert_eq!(with(30, &clear)[0], 0);
        let eight = history(&[(4, 0.0), (4, 9.0)]);
        assert_eq!((with(0, &eight), with(1, &eight)[0]), (vec![1], 0));
        assert_eq!(changes_of_all::<Vec<f64>>(&[], 0.05), Ok(vec![]));
        assert_eq!(
            [1, 2, 22, 60].map(|histories| least_n(0.05 / f64::from(histories))),
            [8, 10, 12, 14].map(Some)
        );
    }

    /// Exact counts and the bound agree at the transition: a history that gains a run keeps its change.
    #[test]
    fn the_bound_begins_where_counting_ends() {
        for histories in [1, 22, 60] {
            for n in EXACT_MAX..40 {
                let found = changes(&history(&[(n / 2, 0.0), (n - n / 2, 9.0)]), 0.05 / f64::from(histories));
                assert_eq!(found.unwrap().len(), 1, "{n} runs, {histories} histories");
            }
        }
        let values = history(&[(7, 0.0), (7, 1.0)]);
        let (signs, all) = (signs(&values), 49);
        let sum: i64 = signs[..7].iter().sum();
        let [exact, bound] = [exact_p(&signs, (sum * sum, all)), bound(14, (sum * sum, all))];
        assert!(exact <= bound && bound < 2.0 * exact, "{exact} {bound}");
    }

    #[test]
    fn one_wild_run_is_no_level() {
        let mut values = history(&[(30, 0.0)]);
        values[15] = 1000.0;
        assert_eq!(changes(&values, 0.05), Ok(vec![]));
    }

    #[test]
    fn histories_that_are_none_are_refused() {
        assert_eq!(changes(&[], 0.05), Err(EstimateError::Empty));
        assert_eq!(changes(&[1.0], 0.0), Err(EstimateError::Level { value: 0.0 }));
        let refused = changes(&[1.0, f64::NAN], 0.05);
        assert!(matches!(refused, Err(EstimateError::NotFinite { index: 1, .. })));
    }
}
