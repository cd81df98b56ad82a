//! Autocorrelation of neighbours, by the rank version of von Neumann's ratio.

use crate::normal;

/// The outcome of the test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Serial {
    /// Approximate rank correlation of neighbours: 1 minus half of von Neumann's ratio.
    pub(crate) correlation: f64,
    /// One-sided p-value: the probability of this correlation for independent values.
    pub(crate) p: f64,
}

/// Bartels' test against positive autocorrelation of lag 1, by normal approximation. `None` for fewer than 10
/// values or if all are equal. Ties have mid-ranks.
///
/// Source: R. Bartels, "The rank version of von Neumann's ratio test for randomness", JASA 77 (1982).
pub(crate) fn resemblance(values: &[f64]) -> Option<Serial> {
    let n = values.len() as f64;
    let ranks: Vec<f64> = values.iter().map(|value| mid_rank(values, *value)).collect();
    let centre = (n + 1.0) / 2.0;
    let squares: f64 = ranks.iter().map(|rank| (rank - centre).powi(2)).sum();
    if values.len() < 10 || squares == 0.0 {
        return None;
    }
    let steps: f64 = ranks.windows(2).map(|pair| (pair[0] - pair[1]).powi(2)).sum();
    let ratio = steps / squares;
    let variance =
        4.0 * (n - 2.0) * (5.0 * n * n - 2.0 * n - 9.0) / (5.0 * n * (n + 1.0) * (n - 1.0).powi(2));
    Some(Serial { correlation: 1.0 - ratio / 2.0, p: normal::cdf((ratio - 2.0) / variance.sqrt()) })
}

fn mid_rank(values: &[f64], value: f64) -> f64 {
    let below = values.iter().filter(|other| **other < value).count();
    let equal = values.iter().filter(|other| **other == value).count();
    below as f64 + (equal + 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// numpy 2.4.6 and scipy 1.17.1:
    /// ```python
    /// def bartels(x):
    ///     n = len(x); r = stats.rankdata(x)
    ///     rvn = (np.diff(r)**2).sum() / ((r - r.mean())**2).sum()
    ///     v = 4*(n-2)*(5*n*n - 2*n - 9) / (5*n*(n+1)*(n-1)**2)
    ///     return 1 - rvn/2, stats.norm.cdf((rvn - 2) / v**.5)
    /// ```
    #[test]
    fn agrees_with_numpy_and_scipy() {
        let cases: [(&[f64], f64, f64); 3] = [
            (&[1., 2., 3., 4., 5., 6., 7., 8., 9., 10.], 0.9454545454545454, 0.0005751190258695276),
            (&[5., 1., 4., 2., 8., 3., 9., 6., 10., 7., 12., 11.], 0.3496503496503497, 0.09749258314617615),
            (&[1., 2., 2., 3., 3., 3., 1., 1., 2., 5., 5., 4.], 0.6062271062271063, 0.012321022652055084),
        ];
        for (values, correlation, p) in cases {
            let found = resemblance(values).unwrap();
            assert!(
                (found.correlation - correlation).abs() < 1e-12 && (found.p - p).abs() < 1e-9,
                "{found:?}"
            );
        }
    }

    #[test]
    fn too_little_to_tell() {
        assert!(resemblance(&[1.0; 30]).is_none());
        assert!(resemblance(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]).is_none());
    }
}
