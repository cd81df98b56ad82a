//! The Mann-Kendall test for a trend. It uses only the order of the values, not their size or unit.

use crate::normal;

/// Up to this number of values without ties the distribution is exact.
const EXACT_MAX: usize = 60;

/// The outcome of the test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trend {
    /// Pairs that rise minus pairs that fall.
    pub(crate) score: i64,
    /// Two-sided p-value.
    pub(crate) p: f64,
}

/// Two-sided Mann-Kendall test. Exact without ties and up to 60 values; otherwise the normal approximation
/// with tie-corrected variance and continuity correction.
///
/// Source: H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945); M. G. Kendall, Rank Correlation
/// Methods (4th edition 1970), chapters 4 and 5. The exact counts are the Mahonian numbers.
pub(crate) fn trend(values: &[f64]) -> Trend {
    let mut score = 0;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            score += i64::from(b > a) - i64::from(b < a);
        }
    }
    let ties = tie_sizes(values);
    let p = if ties.is_empty() && values.len() <= EXACT_MAX {
        exact(values.len(), score)
    } else {
        approximate(values.len(), score, &ties)
    };
    Trend { score, p }
}

/// Sizes of the groups of equal values that have more than one member.
pub(crate) fn tie_sizes(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).filter(|&size| size > 1).collect()
}

/// P(|S| >= |score|) if all orders are equally likely.
fn exact(n: usize, score: i64) -> f64 {
    let mut inversions = vec![1.0];
    for size in 2..=n {
        inversions = insert_one(&inversions, size);
    }
    let pairs = inversions.len() - 1;
    // score = pairs - 2 * inversions; the lower tail of inversions is the upper tail of the score.
    let extreme = (pairs - usize::try_from(score.unsigned_abs()).unwrap_or(pairs).min(pairs)) / 2;
    (2.0 * inversions[..=extreme].iter().sum::<f64>()).min(1.0)
}

/// The distribution of inversions with one more value, which adds 0 to size - 1 inversions.
fn insert_one(before: &[f64], size: usize) -> Vec<f64> {
    let mut after = vec![0.0; before.len() + size - 1];
    for (at, probability) in before.iter().enumerate() {
        for slot in &mut after[at..at + size] {
            *slot += probability / size as f64;
        }
    }
    after
}

fn approximate(n: usize, score: i64, ties: &[usize]) -> f64 {
    let part = |size: usize| {
        let size = size as f64;
        size * (size - 1.0) * (2.0 * size + 5.0)
    };
    let variance = (part(n) - ties.iter().copied().map(part).sum::<f64>()) / 18.0;
    if variance <= 0.0 || score == 0 {
        return 1.0;
    }
    normal::two_sided((score.unsigned_abs() as f64 - 1.0) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b
    }

    /// scipy 1.17.1: `scipy.stats.kendalltau(range(n), series, method='exact').pvalue`.
    #[test]
    fn exact_agrees_with_scipy() {
        let cases: [(&[f64], f64); 5] = [
            (&[1., 2., 3., 4., 5., 6.], 0.002777777777777778),
            (&[1., 2., 3., 5., 4., 6.], 0.016666666666666666),
            (&[3., 1., 2., 5., 4., 7., 6., 9., 8., 10.], 0.0009463183421516755),
            (&[10., 9., 7., 8., 6., 5., 3., 4., 2., 1.], 2.9761904761904762e-05),
            (&[5., 1., 4., 2., 8., 3., 9., 6., 10., 7., 12., 11.], 0.005380307706696595),
        ];
        for (series, expected) in cases {
            assert!(close(trend(series).p, expected), "{series:?}: {}", trend(series).p);
        }
    }

    /// numpy 2.4.6 and scipy 1.17.1: `2 * norm.sf((|s| - 1) / sqrt(v))`, v = (n(n-1)(2n+5) - sum t(t-1)(2t+5)) / 18.
    #[test]
    fn tied_series_use_the_corrected_variance() {
        let rising = trend(&[1., 2., 2., 3., 3., 4., 5., 5., 6., 7.]);
        assert_eq!(rising.score, 42);
        assert!(close(rising.p, 0.00020565595274244048), "{}", rising.p);
        let flat = trend(&[2., 1., 2., 1., 3., 1., 2., 3., 1., 2., 3., 3.]);
        assert_eq!(flat.score, 20);
        assert!(close(flat.p, 0.16432927953806642), "{}", flat.p);
    }

    #[test]
    fn a_constant_or_single_value_has_no_trend() {
        assert_eq!(trend(&[4.0; 9]).p.to_bits(), 1.0_f64.to_bits());
        assert_eq!(trend(&[4.0]).p.to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn a_long_series_is_approximated_without_a_jump() {
        let wave = |n: u32| (0..n).map(|i| f64::from(i) + 40.0 * f64::from(i * 37 % 61)).collect::<Vec<_>>();
        let p = trend(&wave(61)).p;
        assert!(p > 0.0 && p <= 1.0, "{p}");
    }
}
