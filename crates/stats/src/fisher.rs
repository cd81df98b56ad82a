//! The F distribution: how often a ratio of two variances is so large by chance. Knows nothing of samples.

/// Coefficients of Lanczos' series for the gamma function (g = 7, n = 9; P. Godfrey, 2001).
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];
const FRACTION_STEPS_MAX: usize = 300;
const PRECISION: f64 = 1e-15;
const TINY: f64 = 1e-300;

/// ln of the gamma function, for x >= 0.5.
fn ln_gamma(x: f64) -> f64 {
    let x = x - 1.0;
    let base = x + 7.5;
    let series = LANCZOS[1..]
        .iter()
        .zip(1..)
        .fold(LANCZOS[0], |sum, (coefficient, step)| sum + coefficient / (x + f64::from(step)));
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * base.ln() - base + series.ln()
}

/// The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22; evaluated after Lentz).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..=FRACTION_STEPS_MAX {
        let m = step as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < PRECISION {
            break;
        }
    }
    front.exp() * fraction / a
}

/// P(F >= f) with these degrees of freedom, both at least 1.
pub(crate) fn upper_p(f: f64, above: usize, below: usize) -> f64 {
    let (above, below) = (above as f64, below as f64);
    if f.is_infinite() {
        return 0.0;
    }
    incomplete_beta(below / (below + above * f.max(0.0)), below / 2.0, above / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student;

    #[test]
    fn with_two_degrees_of_freedom_above_it_is_a_power() {
        for (f, below) in [(0.3, 2), (1.0, 5), (4.0, 8), (30.0, 40)] {
            let expected = (1.0 + 2.0 * f / below as f64).powf(-(below as f64) / 2.0);
            assert!((upper_p(f, 2, below) - expected).abs() < 1e-13, "{f} {below}");
        }
    }

    #[test]
    fn with_one_it_is_the_square_of_t() {
        for (t, df) in [(0.2, 1), (1.5, 4), (2.5, 9), (6.0, 33)] {
            let (found, expected) = (upper_p(t * t, 1, df), student::two_sided_p(t, df));
            assert!((found - expected).abs() < 1e-13, "{t} {df}: {found} instead of {expected}");
        }
    }

    /// The upper 5% and 1% points of the printed tables (R. A. Fisher and F. Yates, Statistical Tables, 1963), to their digits.
    #[test]
    fn agrees_with_printed_tables() {
        for (f, above, below, p) in [
            (3.708, 3, 10, 0.05),
            (7.71, 1, 4, 0.05),
            (4.10, 5, 20, 0.01),
            (2.18, 8, 40, 0.05),
            (2.10, 8, 60, 0.05),
        ] {
            assert!((upper_p(f, above, below) - p).abs() < 0.02 * p, "{f}: {}", upper_p(f, above, below));
        }
        assert_eq!((upper_p(0.0, 3, 7), upper_p(f64::INFINITY, 3, 7)), (1.0, 0.0));
    }
}
