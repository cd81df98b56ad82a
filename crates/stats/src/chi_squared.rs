//! The chi-squared distribution for whole degrees of freedom.

use crate::normal;

/// P(X >= x), for x >= 0 and `df` >= 1.
///
/// Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 26.4.4 and 26.4.5.
pub(crate) fn upper_tail(x: f64, df: usize) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    // Even: e^(-x/2) (1 + x/2 + (x/2)^2/2! + ..). Odd: the normal tail, and the same series with half powers.
    let is_odd = df % 2 == 1;
    let root = x.sqrt();
    let bell = (-x / 2.0).exp();
    let (start, mut term) = match is_odd {
        true => (normal::two_sided(root), bell * root * (2.0 / std::f64::consts::PI).sqrt()),
        false => (0.0, bell),
    };
    let mut sum = start;
    for step in (if is_odd { 3 } else { 2 }..=df).step_by(2) {
        sum += term;
        term *= x / step as f64;
    }
    sum.min(1.0)
}

/// The x with P(X >= x) = `tail` (between 0 and 1), for `df` >= 1.
pub(crate) fn upper_quantile(tail: f64, df: usize) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while upper_tail(high, df) > tail {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle, df) > tail { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `scipy.stats.chi2.sf(x, df)`.
    #[test]
    fn agrees_with_scipy() {
        let cases = [
            (1.0, 1, 0.31731050786291115),
            (3.84, 1, 0.05004352124870519),
            (5.0, 2, 0.0820849986238988),
            (7.5, 3, 0.0575584519726364),
            (152.23, 12, 1.999575197972201e-26),
            (2.2, 8, 0.9742581834703291),
            (40.0, 41, 0.5149516203003768),
            (0.01, 5, 0.9999994699729957),
        ];
        for (x, df, expected) in cases {
            let found = upper_tail(x, df);
            assert!((found - expected).abs() < 1e-10 * expected.max(1e-30), "{x} {df}: {found}");
            assert!((upper_quantile(expected, df) - x).abs() < 1e-4 * (1.0 + x), "{x} {df}");
        }
        assert_eq!(upper_tail(0.0, 3), 1.0);
    }
}
