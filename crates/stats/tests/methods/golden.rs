//! Figures of other programs that these methods must reproduce.
//!
//! Computed with Python 3.11.7, SciPy 1.17.1 and NumPy 2.4.6 (no R), by the code beside each test.

use tare_stats::{RatioEstimate, Warning, hodges_lehmann, interval, log_ratios, summary};

fn assert_close(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-11_f64.max(1e-12 * expected.abs());
    assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
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
pub const TEN: [f64; 10] =
    [-0.14571, -0.14502, -0.14992, -0.05354, -0.10281, -0.09359, -0.132, -0.15439, -0.1601, -0.14208];

/// then `(r.standard_t(3, 20) * .02).round(5)`
pub const T3_20: [f64; 20] = [
    0.01347, -0.01297, -0.02705, -0.13594, 0.00818, -0.0006, 0.00804, -0.02247, 0.00609, -0.08341, -0.00724,
    -0.01264, 0.00251, -0.01451, -0.03057, 0.01454, -0.04201, -0.08389, 0.02275, 0.01214,
];

/// then `r.normal(.01, .03, 40).round(5)`
pub const FORTY: [f64; 40] = [
    -0.01043, 0.01171, 0.0012, 0.00957, 0.00501, -0.00498, 0.02666, 0.01576, -0.00869, -0.04699, -0.0677,
    -0.03322, 0.0054, 0.03734, -0.0026, 0.03032, 0.04482, 0.0814, 0.01861, 0.05483, 0.01703, -0.02716,
    -0.05812, 0.01892, 0.03665, 0.08409, -0.01005, 0.0247, 0.00652, -0.06105, 0.02124, 0.00035, -0.02829,
    0.06063, -0.00851, 0.02407, 0.00204, -0.0115, 0.00496, 0.03379,
];

/// `stats.t.interval(conf, len(x) - 1, x.mean(), stats.sem(x))`
#[test]
fn intervals_agree_with_scipy() {
    let cases: [(&str, &[f64], f64, [f64; 3]); 9] = [
        (
            "hollander-wolfe",
            &hollander_wolfe(),
            0.90,
            [0.16730279135896436, 0.43188888888888893, 0.6964749864188133],
        ),
        (
            "hollander-wolfe",
            &hollander_wolfe(),
            0.99,
            [-0.045532947912731936, 0.43188888888888893, 0.9093107256905097],
        ),
        ("six", &SIX, 0.95, [0.021980343170264673, 0.038274999999999997, 0.054569656829735316]),
        ("six", &SIX, 0.99, [0.012715655693346643, 0.038274999999999997, 0.06383434430665336]),
        ("ten", &TEN, 0.95, [-0.15221907995601017, -0.127916, -0.10361292004398984]),
        ("t3", &T3_20, 0.90, [-0.034846467856052, -0.019279000000000004, -0.003711532143948027]),
        ("t3", &T3_20, 0.95, [-0.03812259863617236, -0.019279000000000004, -0.000435401363827647]),
        ("forty", &FORTY, 0.95, [-0.00352193786636721, 0.00745825, 0.01843843786636721]),
        ("forty", &FORTY, 0.99, [-0.007241670381457023, 0.00745825, 0.022158170381457024]),
    ];
    for (name, diffs, confidence, [low, point, high]) in cases {
        let what = format!("{name} at {confidence}");
        let estimate = interval(diffs, confidence).unwrap();
        let found = estimate.interval.unwrap_or_else(|| panic!("{what}: no interval"));
        assert_close(estimate.point, point, &what);
        assert_close(found.low, low, &what);
        assert_close(found.high, high, &what);
        assert_eq!(found.attained.to_bits(), confidence.to_bits());
    }
}

/// `np.exp` of the figures for TEN at 95%; the reference is 1000 in every block.
#[test]
fn a_ratio_is_the_exponential_of_the_interval() {
    let subject = TEN.map(|difference| 1000.0 * difference.exp());
    let found = interval(&log_ratios(&subject, &[1000.0; 10]).unwrap(), 0.95).unwrap();
    let found = RatioEstimate::from(found);
    assert_close(found.ratio, (-0.127916_f64).exp(), "ratio");
    assert_close(found.low.unwrap(), (-0.15221907995601017_f64).exp(), "low");
    assert_close(found.high.unwrap(), (-0.10361292004398984_f64).exp(), "high");
}

/// `np.median([(a + b) / 2 for i, a in enumerate(x) for b in x[i:]])`
#[test]
fn the_hodges_lehmann_estimate_agrees_with_numpy() {
    for (values, expected) in [(&TEN[..], -0.132), (&T3_20[..], -0.011035), (&FORTY[..], 0.008075)] {
        assert_close(hodges_lehmann(values), expected, "centre");
    }
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

/// A sample that is too short has no interval, and a warning with the required number.
#[test]
fn a_single_value_has_no_interval() {
    let short = interval(&SIX[..1], 0.99).unwrap();
    assert_eq!(
        (short.interval, &short.warnings[..]),
        (None, &[Warning::TooFewBlocks { n: 1, needed: 2 }][..])
    );
}
