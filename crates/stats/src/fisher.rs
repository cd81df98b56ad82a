//! The F distribution for real degrees of freedom.

use crate::{chi_squared, gamma::ln_gamma};

/// From this many degrees of freedom of the denominator on, the numerator alone varies: the difference is below 1e-7, and the logarithms of
/// the gamma function, which cancel each other, have errors as large.
const SURE: f64 = 1e7;

/// P(F >= f), for f >= 0 and degrees of freedom above 0; `one` is a whole number.
///
/// Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 26.6.2.
pub(crate) fn upper_tail(f: f64, one: f64, two: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    if two > SURE {
        return chi_squared::upper_tail(f * one, one.round() as usize);
    }
    let x = two / (two + one * f);
    incomplete_beta(x, two / 2.0, one / 2.0).clamp(0.0, 1.0)
}

/// The regularised incomplete beta function I_x(a, b).
///
/// Source: as above, 26.5.8, the continued fraction evaluated as W. Lentz, "Generating Bessel functions in Mie scattering
/// calculations using continued fractions", Applied Optics 15 (1976).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges quickly on this side only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let factor = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    factor.exp() / (a * fraction(x, a, b))
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const STEPS_MAX: usize = 10_000;
    let away_from_0 = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut above, mut below) = (1.0_f64, 1.0_f64, 0.0_f64);
    for step in 1..=STEPS_MAX {
        let half = (step / 2) as f64;
        let term = match step % 2 {
            0 => half * (b - half) * x / ((a + 2.0 * half - 1.0) * (a + 2.0 * half)),
            _ => -(a + half) * (a + b + half) * x / ((a + 2.0 * half) * (a + 2.0 * half + 1.0)),
        };
        below = 1.0 / away_from_0(1.0 + term * below);
        above = away_from_0(1.0 + term / above);
        let change = above * below;
        value *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `scipy.stats.f.sf(f, one, two)`.
    #[test]
    fn agrees_with_scipy() {
        let cases = [
            (1.0, 1.0, 1.0, 0.5000000000000001),
            (4.2, 2.0, 13.7, 0.03779625847214853),
            (2.5, 8.0, 30.1, 0.03269547380574896),
            (0.3, 3.0, 7.5, 0.824667036550676),
            (12.0, 5.0, 4.2, 0.013945055349277907),
            (1.1, 40.0, 200.0, 0.3275647634910096),
        ];
        for (f, one, two, expected) in cases {
            let found = upper_tail(f, one, two);
            assert!((found - expected).abs() < 1e-11, "{f} {one} {two}: {found}");
        }
        assert_eq!((upper_tail(0.0, 2.0, 3.0), upper_tail(f64::INFINITY, 2.0, 3.0)), (1.0, 0.0));
    }

    /// The quantiles of chi-squared at 5%, for 1 and 4 degrees of freedom.
    #[test]
    fn a_sure_denominator_leaves_chi_squared() {
        for (x, one) in [(3.841_458_820_694_124, 1.0), (9.487_729_036_781_154, 4.0)] {
            for two in [0.99e7, 1.01e7, 1e10, 1e15] {
                let found = upper_tail(x / one, one, two);
                assert!((found - 0.05).abs() < 1e-7, "{one} {two}: {found}");
            }
        }
    }

    /// With one degree of freedom it is the square of Student's t.
    #[test]
    fn agrees_with_student() {
        for (t, df) in [(0.5, 3), (2.2, 7), (4.0, 1)] {
            let expected = crate::student::two_sided_p(t, df);
            assert!((upper_tail(t * t, 1.0, df as f64) - expected).abs() < 1e-12);
        }
    }
}
