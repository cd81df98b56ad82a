//! Figures of other people's programs that the methods for whole campaigns must reproduce; `golden.rs` has those of the
//! plain interval, and says with which versions. statsmodels is 0.15.0.
//!
//! The e-process and Pettitt's test were written again in NumPy, from their definitions and with ranks by
//! `scipy.stats.rankdata`; their ends were found by bisection over the reals, and are given rounded to Walsh averages.

use tare_stats::change_points::changes;
use tare_stats::sequential::Decision;
use tare_stats::signed_rank::p_value;
use tare_stats::{Better, Looks, eprocess, log_ratios, ranking};

fn assert_close(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-11_f64.max(1e-9 * expected.abs());
    assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
}

/// As in `golden.rs`.
const TEN: [f64; 10] =
    [-0.14571, -0.14502, -0.14992, -0.05354, -0.10281, -0.09359, -0.132, -0.15439, -0.1601, -0.14208];

/// As in `golden.rs`.
const T3_20: [f64; 20] = [
    0.01347, -0.01297, -0.02705, -0.13594, 0.00818, -0.0006, 0.00804, -0.02247, 0.00609, -0.08341, -0.00724,
    -0.01264, 0.00251, -0.01451, -0.03057, 0.01454, -0.04201, -0.08389, 0.02275, 0.01214,
];

/// As in `golden.rs`.
const FORTY: [f64; 40] = [
    -0.01043, 0.01171, 0.0012, 0.00957, 0.00501, -0.00498, 0.02666, 0.01576, -0.00869, -0.04699, -0.0677,
    -0.03322, 0.0054, 0.03734, -0.0026, 0.03032, 0.04482, 0.0814, 0.01861, 0.05483, 0.01703, -0.02716,
    -0.05812, 0.01892, 0.03665, 0.08409, -0.01005, 0.0247, 0.00652, -0.06105, 0.02124, 0.00035, -0.02829,
    0.06063, -0.00851, 0.02407, 0.00204, -0.0115, 0.00496, 0.03379,
];

/// `stats.wilcoxon(x, method='exact').pvalue`
#[test]
fn p_values_agree_with_scipy() {
    assert_close(p_value(&TEN).unwrap(), 0.001953125, "ten");
    assert_close(p_value(&T3_20).unwrap(), 0.08969497680664062, "t3");
    assert_close(p_value(&FORTY).unwrap(), 0.12471638389069994, "forty");
}

/// With `ci` and `cdf` of `golden.rs`: `l = 2 * cdf(n, depth - 1)`, then `ci(FORTY[:n], 1 - l - 1e-12)`.
#[test]
fn intervals_at_the_looks_agree_with_scipys_exact_test_inverted() {
    let cases = [
        (10, 0.001953125, [-0.04699, 0.002295, 0.02666]),
        (15, 0.00537109375, [-0.029065, -0.0002075, 0.01618]),
        (20, 0.0072956085205078125, [-0.01419, 0.0085175, 0.03029]),
        (30, 0.02084985189139843, [-0.01005, 0.008045, 0.0222]),
        (40, 0.03439493566293095, [-0.003235, 0.008075, 0.0185]),
    ];
    let looks = Looks::standard();
    for (n, level, [low, point, high]) in cases {
        assert_close(looks.reached(n).unwrap().level(), level, "level");
        let found = looks.decide(&FORTY[..n]).unwrap();
        let interval = found.estimate.interval.unwrap();
        assert_close(found.estimate.point, point, "point");
        assert_close(interval.low, low, "low");
        assert_close(interval.high, high, "high");
        assert_eq!(found.decision == Decision::Exhausted, n == 40);
    }
}

/// ```python
/// def side(x):
///     k = np.array([.25, .5, 1, 2, 4]); m = np.full(5, .2); out = []
///     for i in range(len(x)):
///         u = np.sign(x[i]) * stats.rankdata(np.abs(x[:i+1]), method='max')[i] / (i + 2)
///         m = m * (1 + np.tanh(k * np.arctanh(u))); out.append(m.sum())
///     return np.array(out)
/// def value(x): return np.maximum(side(x), side(-x)) / 2
/// def ends(x):  # as `edge` of golden.rs, with value(x - m)[-1] < 20 for "inside"
/// ```
#[test]
fn the_e_process_agrees_with_numpy() {
    let cases: [(&str, &[f64], f64, [f64; 2]); 3] = [
        ("ten", &TEN, 97.50529188, [-0.15501, -0.09277]),
        ("t3", &T3_20, 1.54543867, [-0.061235, 0.00804]),
        ("forty", &FORTY, 0.57373463, [-0.01043, 0.024925]),
    ];
    for (name, diffs, value, [low, high]) in cases {
        let found = eprocess::watch(diffs, 0.05).unwrap();
        assert!((found.value / value - 1.0).abs() < 1e-7, "{name}: {}", found.value);
        let interval = found.estimate.interval.unwrap();
        assert_close(interval.low, low, name);
        assert_close(interval.high, high, name);
    }
    assert!((eprocess::watch(&TEN[..5], 0.05).unwrap().value - 4.60040966).abs() < 1e-7);
}

/// ```python
/// x = np.concatenate([FORTY, FORTY[::-1] + .06])
/// n = len(x); r = stats.rankdata(x); u = 2 * np.cumsum(r) - np.arange(1, n + 1) * (n + 1)
/// k = np.arange(1, n); t = np.argmax(u[:-1]**2 / (k * (n - k))) + 1
/// p = 2 * np.exp(-6 * np.abs(u).max()**2 / (n**3 + n**2))
/// shift = np.median(np.subtract.outer(x[t:], x[:t]))
/// ```
#[test]
fn a_change_agrees_with_numpy() {
    let history: Vec<f64> =
        FORTY.into_iter().chain(FORTY.into_iter().rev().map(|value| value + 0.06)).collect();
    let found = changes(&history, 0.05).unwrap();
    assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [40]);
    assert_close(found[0].p, 2.9658428480727452e-8, "p");
    assert_close(found[0].shift, 0.06, "shift");
}

/// `stats.wilcoxon(np.log(a) - np.log(b), method='exact').pvalue` of all pairs of the four series below,
/// `statsmodels.stats.multitest.multipletests(p, method='holm')[1]`, and medians of Walsh averages.
#[test]
fn all_pairs_agree_with_scipy_and_statsmodels() {
    let series = |logs: &[f64], scale: f64, shift: f64| -> Vec<f64> {
        logs.iter().map(|log| 1000.0 * (log * scale + shift).exp()).collect()
    };
    let services = [
        series(&FORTY[..20], 1.0, 0.0),
        series(&FORTY[20..], 1.0, 0.0),
        series(&T3_20, 0.5, -0.03),
        series(&T3_20, 1.0, 0.08),
    ];
    let expected = [
        (0.6742229461669922, 0.6742229461669922, 0.003015),
        (3.62396240234375e-05, 0.00014495849609375, 0.04483125),
        (0.002712249755859375, 0.00542449951171875, -0.0602925),
        (1.33514404296875e-05, 6.67572021484375e-05, 0.04488375),
        (0.000209808349609375, 0.000629425048828125, -0.05798),
        (1.9073486328125e-06, 1.1444091796875e-05, -0.1044825),
    ];
    let found = ranking::rank(&services, Better::Higher, 0.05).unwrap();
    for (pair, (p, p_adjusted, log_ratio)) in found.pairs.iter().zip(expected) {
        let what = format!("{} against {}", pair.a, pair.b);
        assert_close(pair.p, p, &what);
        assert_close(pair.p_adjusted, p_adjusted, &what);
        assert_close(pair.log_ratio, log_ratio, &what);
        let alone = p_value(&log_ratios(&services[pair.a], &services[pair.b]).unwrap()).unwrap();
        assert_eq!(alone.to_bits(), pair.p.to_bits());
    }
    let table: Vec<_> = found.places.iter().map(|p| (p.service, p.best, p.worst, p.tier)).collect();
    assert_eq!(table, [(3, 1, 1, 1), (0, 2, 3, 2), (1, 2, 3, 2), (2, 4, 4, 3)]);
}
