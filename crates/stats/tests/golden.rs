//! Figures of other people's programs that ours must reproduce.
//!
//! Made with Python 3.11.7, SciPy 1.17.1 and NumPy 2.4.6 (R was not at hand), by the code beside each test. The
//! intervals were made another way than ours: not from Walsh averages, but by inverting `scipy.stats.wilcoxon`, that is
//! by bisection for the values that its exact test does not reject. That finds an end to about 1e-13 (it printed
//! 0.1749999999999 where 0.175 stands here); the ends are Walsh averages of decimals, so they are given rounded.

use tare_stats::signed_rank::NullDistribution;
use tare_stats::{RatioEstimate, Warning, hodges_lehmann, interval, log_ratios, summary};

fn assert_close(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-11_f64.max(1e-12 * expected.abs());
    assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
}

/// ```python
/// def cdf(n, w):  # any differences with ranks 1..n and W+ = w
///     s = -np.ones(n); left = w
///     for k in range(n, 0, -1):
///         if k <= left: s[k-1] = 1; left -= k
///     return stats.wilcoxon(s * np.arange(1, n+1), alternative='less', method='exact').pvalue
/// ```
#[test]
fn null_distribution_agrees_with_scipy() {
    let cases = [
        (1, 0, 0.5),
        (5, 0, 0.03125),
        (5, 7, 0.5),
        (6, 0, 0.015625),
        (8, 3, 0.01953125),
        (10, 8, 0.0244140625),
        (12, 13, 0.021240234375),
        (20, 52, 0.02422046661376953),
        (30, 137, 0.024855060502886772),
        (50, 434, 0.024723203400300875),
        (50, 600, 0.3616293385384459),
        (60, 690, 0.04931442483830081),
    ];
    for (n, w, expected) in cases {
        let null = NullDistribution::signed_rank(n);
        let found = null.cdf(w);
        assert!((found - expected).abs() <= 1e-14 * expected, "P(W <= {w}), n = {n}: {found}");
    }
}

/// `stats.norm.cdf((w + .5 - n*(n+1)/4) / (n*(n+1)*(2*n+1)/24)**.5)`, and what `wilcoxon(method='exact')` says.
#[test]
fn beyond_the_exact_range_agrees_with_scipys_normal_and_nearly_with_its_exact_values() {
    let cases = [
        (101, 2000, 0.025713997335028584, 0.025574622901862975),
        (150, 4600, 0.02315447778885833, 0.02304751524967482),
        (200, 10000, 0.47591915689539926, 0.47597313384480766),
    ];
    for (n, w, approximate, exact) in cases {
        let null = NullDistribution::signed_rank(n);
        assert_close(null.cdf(w), approximate, "normal approximation");
        assert!((null.cdf(w) - exact).abs() < 0.0002, "n = {n}: {} instead of {exact}", null.cdf(w));
    }
}

/// Depression scores of M. Hollander and D. A. Wolfe (1973), page 29: the example of R's `wilcox.test`.
fn hollander_wolfe() -> [f64; 9] {
    let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let after = [878, 647, 598, 2050, 1060, 1290, 1060, 3140, 1290];
    std::array::from_fn(|i| before[i] - f64::from(after[i]) / 1000.0)
}

/// `r = np.random.default_rng(20); r.normal(.03, .02, 6).round(5)`
const SIX: [f64; 6] = [0.02281, 0.05407, 0.05794, 0.03634, 0.03828, 0.02021];

/// then `r.normal(-.1, .05, 10).round(5)`
const TEN: [f64; 10] =
    [-0.14571, -0.14502, -0.14992, -0.05354, -0.10281, -0.09359, -0.132, -0.15439, -0.1601, -0.14208];

/// then `(r.standard_t(3, 20) * .02).round(5)`
const T3_20: [f64; 20] = [
    0.01347, -0.01297, -0.02705, -0.13594, 0.00818, -0.0006, 0.00804, -0.02247, 0.00609, -0.08341, -0.00724,
    -0.01264, 0.00251, -0.01451, -0.03057, 0.01454, -0.04201, -0.08389, 0.02275, 0.01214,
];

/// then `r.normal(.01, .03, 40).round(5)`
const FORTY: [f64; 40] = [
    -0.01043, 0.01171, 0.0012, 0.00957, 0.00501, -0.00498, 0.02666, 0.01576, -0.00869, -0.04699, -0.0677,
    -0.03322, 0.0054, 0.03734, -0.0026, 0.03032, 0.04482, 0.0814, 0.01861, 0.05483, 0.01703, -0.02716,
    -0.05812, 0.01892, 0.03665, 0.08409, -0.01005, 0.0247, 0.00652, -0.06105, 0.02124, 0.00035, -0.02829,
    0.06063, -0.00851, 0.02407, 0.00204, -0.0115, 0.00496, 0.03379,
];

/// ```python
/// def ci(x, conf):
///     p = lambda t: stats.wilcoxon(x - t, method='exact').pvalue
///     def edge(inside, outside):
///         for _ in range(200):
///             m = (inside + outside) / 2
///             if p(m + 1e-13) > 1 - conf: inside = m
///             else: outside = m
///         return inside
///     c = np.median([(a + b) / 2 for i, a in enumerate(x) for b in x[i:]])
///     return edge(c, x.min() - 1), c, edge(c, x.max() + 1)
/// ```
#[test]
fn intervals_agree_with_scipys_exact_test_inverted() {
    let cases: [(&str, &[f64], f64, [f64; 3]); 14] = [
        ("hollander-wolfe", &hollander_wolfe(), 0.90, [0.175, 0.46, 0.726]),
        ("hollander-wolfe", &hollander_wolfe(), 0.95, [0.01, 0.46, 0.786]),
        ("hollander-wolfe", &hollander_wolfe(), 0.99, [-0.1135, 0.46, 0.987]),
        ("six", &SIX, 0.90, [0.02281, 0.03828, 0.05407]),
        ("six", &SIX, 0.95, [0.02021, 0.03828, 0.05794]),
        ("ten", &TEN, 0.90, [-0.149705, -0.132, -0.10281]),
        ("ten", &TEN, 0.95, [-0.15005, -0.132, -0.099625]),
        ("ten", &TEN, 0.99, [-0.15439, -0.132, -0.09277]),
        ("t3", &T3_20, 0.90, [-0.03057, -0.011035, -0.000415]),
        ("t3", &T3_20, 0.95, [-0.035635, -0.011035, 0.000785]),
        ("t3", &T3_20, 0.99, [-0.045565, -0.011035, 0.005345]),
        ("forty", &FORTY, 0.90, [-0.000965, 0.008075, 0.01617]),
        ("forty", &FORTY, 0.95, [-0.002325, 0.008075, 0.01782]),
        ("forty", &FORTY, 0.99, [-0.005645, 0.008075, 0.02134]),
    ];
    for (name, diffs, confidence, [low, point, high]) in cases {
        let what = format!("{name} at {confidence}");
        let estimate = interval(diffs, confidence).unwrap();
        let found = estimate.interval.unwrap_or_else(|| panic!("{what}: no interval"));
        assert_close(estimate.point, point, &what);
        assert_close(hodges_lehmann(diffs), point, &what);
        assert_close(found.low, low, &what);
        assert_close(found.high, high, &what);
        assert!(found.attained >= confidence - 1e-12, "{what}: {}", found.attained);
    }
}

/// `np.exp` of the figures for TEN at 95%; the reference is 1000 in every block.
#[test]
fn a_ratio_is_the_exponential_of_the_interval() {
    let subject = TEN.map(|difference| 1000.0 * difference.exp());
    let found = interval(&log_ratios(&subject, &[1000.0; 10]).unwrap(), 0.95).unwrap();
    let found = RatioEstimate::from(found);
    assert_close(found.ratio, (-0.132_f64).exp(), "ratio");
    assert_close(found.low.unwrap(), (-0.15005_f64).exp(), "low");
    assert_close(found.high.unwrap(), (-0.099625_f64).exp(), "high");
    // 1 - 2 * P(W+ <= 8) of the first test.
    assert_close(found.confidence_attained.unwrap(), 1.0 - 2.0 * 0.0244140625, "confidence");
}

/// `np.median(x)`, `np.quantile(x, p)` (linear, which is type 7), `stats.median_abs_deviation(x)`.
#[test]
fn summaries_agree_with_numpy_and_scipy() {
    assert_close(summary::median(&TEN).unwrap(), -0.14355, "median");
    let quantiles = [(0.1, -0.154961), (0.25, -0.1488675), (0.9, -0.089585), (0.99, -0.0571445)];
    for (probability, expected) in quantiles {
        assert_close(summary::quantile(&TEN, probability).unwrap(), expected, "quantile");
    }
    assert_close(summary::mad(&TEN).unwrap(), 0.011195, "mad");
}

/// One that is too short has no interval, and a warning that says so.
#[test]
fn a_sample_has_an_interval_of_its_own() {
    let level = interval(&SIX, 0.95).unwrap();
    let found = level.interval.unwrap();
    assert_close(found.low, 0.02021, "low");
    assert_close(found.high, 0.05794, "high");
    assert_close(found.attained, 0.96875, "attained");
    let short = interval(&SIX, 0.99).unwrap();
    assert_eq!(
        (short.interval, &short.warnings[..]),
        (None, &[Warning::TooFewBlocks { n: 6, needed: 8 }][..])
    );
}
