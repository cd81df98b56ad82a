//! The logarithm of the gamma function and its first two derivatives, which Rust's standard library lacks.

/// From here on the asymptotic series have double precision.
const LARGE: f64 = 10.0;

/// ln Γ(x), for x > 0.
///
/// Source: as below, 6.1.15 and 6.1.41.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x < LARGE {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let square = 1.0 / (x * x);
    let series = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let sum = series.iter().rev().fold(0.0, |sum, term| sum * square + term) / x;
    (x - 0.5) * x.ln() - x + (2.0 * std::f64::consts::PI).ln() / 2.0 + sum
}

/// d/dx ln Γ(x), for x > 0.
///
/// Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 6.3.5 and 6.3.18.
pub(crate) fn digamma(x: f64) -> f64 {
    if x < LARGE {
        return digamma(x + 1.0) - 1.0 / x;
    }
    let square = 1.0 / (x * x);
    let series = [-1.0 / 12.0, 1.0 / 120.0, -1.0 / 252.0, 1.0 / 240.0, -1.0 / 132.0, 691.0 / 32760.0];
    x.ln() - 0.5 / x + square * series.iter().rev().fold(0.0, |sum, term| sum * square + term)
}

/// d²/dx² ln Γ(x), for x > 0.
///
/// Source: as above, 6.4.6 and 6.4.12.
pub(crate) fn trigamma(x: f64) -> f64 {
    if x < LARGE {
        return trigamma(x + 1.0) + 1.0 / (x * x);
    }
    let square = 1.0 / (x * x);
    let series = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0];
    let sum = series.iter().rev().fold(0.0, |sum, term| sum * square + term);
    1.0 / x + square / 2.0 + square / x * sum
}

/// The x > 0 with trigamma(x) = `value`, for a value above 0. Trigamma falls from infinity to 0.
pub(crate) fn trigamma_inverse(value: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while trigamma(high) > value {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if trigamma(middle) > value { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `scipy.special.gammaln(x)`.
    #[test]
    fn the_logarithm_agrees_with_scipy() {
        let cases = [
            (0.5, 0.5723649429247),
            (1.0, 0.0),
            (2.5, 0.2846828704729192),
            (10.3, 13.482036786138359),
            (100.0, 359.1342053695754),
        ];
        for (x, expected) in cases {
            assert!((ln_gamma(x) - expected).abs() < 1e-12 * (1.0 + expected), "{x}: {}", ln_gamma(x));
        }
    }

    /// scipy 1.17.1: `scipy.special.digamma(x)`, `scipy.special.polygamma(1, x)`.
    #[test]
    fn agree_with_scipy() {
        let cases = [
            (0.5, -1.9635100260214235, 4.93480220054468),
            (1.0, -0.5772156649015329, 1.6449340668482266),
            (2.5, 0.7031566406452432, 0.4903577561002349),
            (5.5, 1.611093148581751, 0.1993423869896277),
            (20.0, 2.970523992242149, 0.051270822935203124),
        ];
        for (x, first, second) in cases {
            assert!((digamma(x) - first).abs() < 1e-11, "{x}: {}", digamma(x));
            assert!((trigamma(x) - second).abs() < 1e-11, "{x}: {}", trigamma(x));
            assert!((trigamma_inverse(second) - x).abs() < 1e-8 * x, "{x}: {}", trigamma_inverse(second));
        }
    }
}
