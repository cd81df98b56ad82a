//! Student's t distribution for whole degrees of freedom.

use std::f64::consts::FRAC_PI_2;

/// P(|T| <= t) where t = sqrt(df) tan(angle).
///
/// Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4.
fn within(angle: f64, df: usize) -> f64 {
    let (sin, cos) = angle.sin_cos();
    // Even: 1 + 1/2 cos^2 + (1 3)/(2 4) cos^4 + ..; odd: cos + 2/3 cos^3 + (2 4)/(3 5) cos^5 + ..
    let odd = df % 2 == 1;
    let (mut term, mut sum) = (if odd { cos } else { 1.0 }, 0.0);
    for step in (if odd { 3 } else { 2 }..=df).step_by(2) {
        sum += term;
        term *= cos * cos * (step - 1) as f64 / step as f64;
    }
    if odd { (angle + sin * sum) / FRAC_PI_2 } else { sin * sum }
}

/// The t with P(|T| <= t) = `confidence` (between 0 and 1), for `df` >= 1.
pub(crate) fn two_sided_quantile(confidence: f64, df: usize) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if within(middle, df) < confidence { low = middle } else { high = middle }
    }
    (df as f64).sqrt() * f64::midpoint(low, high).tan()
}

/// P(|T| >= |t|), for `df` >= 1.
pub(crate) fn two_sided_p(t: f64, df: usize) -> f64 {
    (1.0 - within((t.abs() / (df as f64).sqrt()).atan(), df)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `scipy.stats.t.ppf((1 + confidence) / 2, df)`.
    #[test]
    fn agrees_with_scipy() {
        let cases = [
            (1, 0.95, 12.706204736174694),
            (2, 0.95, 4.302652729749462),
            (3, 0.99, 5.840909309733355),
            (4, 0.9, 2.1318467863266495),
            (7, 0.95, 2.364624251592784),
            (10, 0.999, 4.586893858702708),
        ];
        for (df, confidence, expected) in cases {
            let found = two_sided_quantile(confidence, df);
            assert!((found - expected).abs() < 1e-9 * expected, "{df} {confidence}: {found}");
        }
    }

    /// scipy 1.17.1: `2 * scipy.stats.t.sf(t, df)`.
    #[test]
    fn tails_agree_with_scipy() {
        let cases =
            [(3.5, 4, 0.024896163460222748), (40.0, 3, 3.4380680789158506e-05), (1.0, 1, 0.5000000000000001)];
        for (t, df, expected) in cases {
            for t in [t, -t] {
                assert!((two_sided_p(t, df) - expected).abs() < 1e-12, "{t} {df}: {}", two_sided_p(t, df));
            }
        }
        assert_eq!((two_sided_p(0.0, 3), two_sided_p(f64::INFINITY, 3)), (1.0, 0.0));
    }
}
