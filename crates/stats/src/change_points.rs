//! Where a history of runs changed its level: log ratios of one service, run after run, in the order of time.
//!
//! Knows the order of the runs and not their dates; each run is one value. Between changes the values are taken to be
//! independent draws of one distribution, whatever its shape.
//!
//! # Why this method
//! Pettitt's test finds the place where the values before and after differ most in rank; where it is significant, both
//! parts are searched in the same way (binary segmentation). One wild run has one rank, and cannot make a level; there is
//! nothing to tune. E-divisive (D. S. Matteson and N. A. James, JASA 109 (2014); for benchmarks D. Daly et al., "The use of
//! change point detection to identify software performance regressions", ICPE 2020) also sees changes of spread, but has
//! its p-values from random permutations, and this crate draws nothing at random; a level is what a history is asked for.
//! What permutations would estimate is counted here, for histories of up to [`EXACT_MAX`] runs: all of their orders.
//! PELT (R. Killick, P. Fearnhead and I. A. Eckley, JASA 107 (2012)) has a penalty in place of an error probability.
//!
//! # What it finds
//! By simulation at alpha = 5%. Without a change one is reported in 2.8 to 3.0%, 4.9 to 5.2%, 1.7 to 2.0%, 2.6 to 3.0% and
//! 3.1 to 3.7% of histories of 8, 12, 20, 40 and 100 runs (normal, t3, 10% wild, two layouts): up to 14 it is exact (of
//! all orders of 8 runs one in 35 has a change), and beyond that cautious, since the p-value is an upper bound. Where
//! runs resemble their neighbours it is not: with a correlation of 0.1 it is 7.4% of 12 runs and 5.0% of 40, with 0.3
//! 14.8% and 13.4%; give it ratios to a reference, which do not follow the machine, and read `Warning::Autocorrelated`.
//!
//! One change by a number of standard deviations, found alone and at most three runs off; in brackets at its very place:
//!
//! | runs before + after | 1 | 1.5 | 2 | 3 | 5 |
//! |---|---|---|---|---|---|
//! | 4 + 4 | 13% (10) | 30% (23) | 49% (39) | 83% (72) | 100% (96) |
//! | 6 + 6 | 26% (10) | 50% (26) | 73% (46) | 97% (79) | 100% (98) |
//! | 9 + 3 | 13% (7) | 26% (17) | 44% (34) | 78% (70) | 96% (92) |
//! | 10 + 10 | 25% (11) | 59% (30) | 84% (53) | 96% (80) | 96% (94) |
//! | 20 + 20 | 49% (17) | 82% (40) | 94% (59) | 98% (83) | 98% (97) |
//! | 40 + 40 | 60% (22) | 83% (43) | 92% (59) | 97% (84) | 97% (96) |
//! | 28 + 12 | 34% (12) | 74% (36) | 91% (57) | 97% (81) | 97% (95) |
//! | 32 + 8 | 15% (6) | 46% (24) | 78% (50) | 97% (82) | 98% (97) |
//!
//! So a change of three standard deviations is believed some four to ten runs after it came. It is no gate: for the latest
//! run use [`crate::two_sample`], and within one run [`crate::equivalence`].

use crate::error::{EstimateError, check_level, check_sample};
use crate::summary;
use crate::two_sample;

/// Up to this number of runs all their orders are counted; above it, p is an upper bound. 2^14 sets take a fraction of a millisecond.
pub const EXACT_MAX: usize = 14;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The first run of the new level, from 0.
    pub at: usize,
    /// The Hodges-Lehmann estimate of the shift: the median of all differences between a run of the level after and one
    /// of the level before. For log ratios exp of it is the factor.
    pub shift: f64,
    /// p-value of the test that found it, by itself.
    pub p: f64,
}

/// All changes of level in `history` at an error probability of `alpha`, in order.
///
/// A stretch of m of n values is tested at alpha m/n, so that the levels of one true history spend alpha together: the
/// probability of a change where none is, is at most about alpha, with or without true changes elsewhere.
///
/// Up to [`EXACT_MAX`] values p is the share of all their orders in which the values before and after some place differ in
/// rank as much, by its standard deviation; beyond, Pettitt's bound.
///
/// Source: A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied Statistics 28 (1979), with his
/// p = 2 exp(-6 K^2 / (n^3 + n^2)); L. Ju. Vostrikova, "Detecting disorder in multidimensional random processes", Soviet
/// Mathematics Doklady 24 (1981), on segmentation. Takes time in proportion to n^2.
///
/// # Errors
/// An empty sample, a value that is not finite, an alpha that is not between 0 and 1.
pub fn changes(history: &[f64], alpha: f64) -> Result<Vec<Change>, EstimateError> {
    check_sample(history)?;
    check_level(alpha)?;
    let mut places = Vec::new();
    search(history, 0, alpha / history.len() as f64, &mut places);
    places.sort_by_key(|&(at, _)| at);
    let bounds: Vec<usize> =
        [0].into_iter().chain(places.iter().map(|&(at, _)| at)).chain([history.len()]).collect();
    let shift = |around: &[usize]| shift(&history[around[0]..around[1]], &history[around[1]..around[2]]);
    Ok(places
        .iter()
        .zip(bounds.windows(3))
        .map(|(&(at, p), around)| Change { at, shift: shift(around), p })
        .collect())
}

/// Finds the changes of a stretch that begins at `offset`, tested at `alpha_each` for each of its values.
fn search(stretch: &[f64], offset: usize, alpha_each: f64, places: &mut Vec<(usize, f64)>) {
    let (at, p) = test(stretch);
    if p > alpha_each * stretch.len() as f64 {
        return;
    }
    places.push((offset + at, p));
    search(&stretch[..at], offset, alpha_each, places);
    search(&stretch[at..], offset + at, alpha_each, places);
}

/// Ranks cannot tell places whose standardised sums are this near to the greatest; the values choose among them.
const AS_CLEAR: f64 = 0.9;

/// Where the values before and after differ most, and the p-value of that; (0, 1) where all are equal.
///
/// Pettitt's test takes the greatest sum of signs, which is drawn towards the middle, where sums have more terms. So the
/// place is that of the greatest sum by its standard deviation; and since a run between two levels ranks above all of one
/// and below all of the other wherever it belongs, of places that are as clear ([`AS_CLEAR`]) it is the one whose two
/// medians the values lie closest to. Where all orders can be counted, the test too takes the sum by its deviation.
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
    let greatest = sums.iter().map(|sum| sum.abs()).max().unwrap_or(0);
    if greatest == 0 {
        return (0, 1.0);
    }
    let square = |at: usize| (sums[at - 1] * sums[at - 1], (at * (n - at)) as i64);
    let clear = |at: usize| (square(at).0 as f64 / square(at).1 as f64).sqrt();
    let clearest = (1..n).max_by(|a, b| clear(*a).total_cmp(&clear(*b))).unwrap_or(1);
    let distance = |at: usize| distance(&values[..at]) + distance(&values[at..]);
    let places = (1..n).filter(|at| clear(*at) >= AS_CLEAR * clear(clearest));
    let at = places.min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap_or(0);
    (at, if n <= EXACT_MAX { exact_p(&signs, square(clearest)) } else { bound(n as f64, greatest as f64) })
}

/// How far all values lie from their median, added up.
fn distance(values: &[f64]) -> f64 {
    summary::median(values)
        .map_or(f64::NAN, |median| values.iter().map(|value| (value - median).abs()).sum::<f64>())
}

/// Of each value, how many others are less, less how many are greater. The sum over the values before a place is the sum of
/// signs of all pairs across it, since pairs on one side cancel.
fn signs(values: &[f64]) -> Vec<i64> {
    let sign = |a: f64, b: f64| i64::from(a > b) - i64::from(a < b);
    values.iter().map(|value| values.iter().map(|other| sign(*value, *other)).sum()).collect()
}

/// Pettitt's p = 2 exp(-6 K^2 / (n^3 + n^2)).
fn bound(n: f64, greatest: f64) -> f64 {
    (2.0 * (-6.0 * greatest * greatest / (n.powi(3) + n.powi(2))).exp()).min(1.0)
}

/// The share of all orders of the values in which some sum, squared and by its variance, is `clearest` (a fraction) or
/// more, ties and all. An order is a way from the empty set to the full one that adds a value at a time; those are counted
/// whose sums all stay below.
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

/// Fewest runs among which a change can be found at all, however great it is: 8 at an alpha of 5%. `None` where it takes
/// more than [`EXACT_MAX`], or alpha is not between 0 and 1.
#[must_use]
pub fn least_n(alpha: f64) -> Option<usize> {
    check_level(alpha).ok()?;
    let rising = |n: usize| (0..n).map(|value| value as f64).collect::<Vec<f64>>();
    (2..=EXACT_MAX).find(|&n| test(&rising(n)).1 <= alpha)
}

/// The median of all differences of a value after and a value before.
fn shift(before: &[f64], after: &[f64]) -> f64 {
    // Both have values, and all are finite.
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
            (least_n(0.05), least_n(0.2), least_n(1e-6), least_n(2.0)),
            (Some(8), Some(6), None, None)
        );
        let found = changes(&history(&[(4, 0.0), (4, 9.0)]), 0.05).unwrap();
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [4]);
        assert_eq!(changes(&history(&[(4, 0.0), (3, 9.0)]), 0.05), Ok(vec![]));
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
