//! Figures of other programs that the methods for whole runs must reproduce. `golden.rs` has the plain
//! interval and the versions; statsmodels is 0.15.0.
//!
//! Pettitt's test was reimplemented in NumPy from its definition, with ranks by `scipy.stats.rankdata`.

use super::golden::{FORTY, T3_20, TEN};
use tare_stats::change_points::changes;
use tare_stats::two_sample::NullDistribution;
use tare_stats::{Better, Contrast, Looks, ranking, two_sample};

fn assert_close(found: f64, expected: f64, what: &str) {
    let tolerance = 1e-11_f64.max(1e-9 * expected.abs());
    assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
}

/// `stats.ttest_1samp(x, 0).pvalue`
#[test]
fn p_values_agree_with_scipy() {
    let p_value = |values: &[f64]| Contrast::of_values(values).unwrap().p_value();
    assert_close(p_value(&TEN), 8.229835353306942e-07, "ten");
    assert_close(p_value(&T3_20), 0.04541936112155447, "t3");
    assert_close(p_value(&FORTY), 0.17731680862404794, "forty");
}

/// `stats.t.interval(1 - level, n - 1, x[:n].mean(), stats.sem(x[:n]))`; levels by the recursion with 2001 points, so
/// they agree to three digits, and the ends to four.
#[test]
fn intervals_at_the_looks_agree_with_scipy() {
    let cases = [
        (10, 0.003125, [-0.02550665, -0.000118, 0.02527065]),
        (15, 0.00514840, [-0.02753476, -0.00413067, 0.01927343]),
        (20, 0.00839850, [-0.01409543, 0.008401, 0.03089743]),
        (30, 0.02102361, [-0.00989183, 0.00665167, 0.02319516]),
        (40, 0.03621001, [-0.00431828, 0.00745825, 0.01923478]),
    ];
    // 5% without the part that planned looks leave unspent.
    let looks = Looks::planned(&[10, 15, 20, 30, 40], 0.05 / (1.0 - 2.0 / 30.0)).unwrap();
    for (n, level, [low, point, high]) in cases {
        let look = looks.reached(n).unwrap();
        assert!((look.level - level).abs() < 2e-3 * level, "{look:?}");
        let found = looks.estimate(&FORTY[..n]).unwrap();
        let interval = found.interval.unwrap();
        for (found, expected) in [(found.point, point), (interval.low, low), (interval.high, high)] {
            assert!((found - expected).abs() < 2e-5, "{n}: {found} instead of {expected}");
        }
    }
}

/// ```python
/// x = np.concatenate([FORTY, FORTY[::-1] + .06])
/// n = len(x); r = stats.rankdata(x); u = 2 * np.cumsum(r) - np.arange(1, n + 1) * (n + 1)
/// k = np.arange(1, n); c = u[:-1]**2 / (k * (n - k)); t = np.argmax(c) + 1; p = 0
/// for j in k:  # w[q]: in how many ways j of n values have q pairs in the wrong order
///     w = [1] + [0] * (j * (n - j))
///     for i in range(1, n - j + 1):
///         for q in range(j * (n - j), j + i - 1, -1): w[q] -= w[q - j - i]
///         for q in range(i, j * (n - j) + 1): w[q] += w[q - i]
///     least = np.ceil(np.sqrt(c.max() * j * (n - j) * (1 - 1e-12))); q = int((j * (n - j) - least) // 2)
///     p += 2 * sum(w[:q + 1]) / sum(w)
/// shift = np.median(np.subtract.outer(x[t:], x[:t]))
/// ```
#[test]
fn a_change_agrees_with_numpy() {
    let history: Vec<f64> =
        FORTY.into_iter().chain(FORTY.into_iter().rev().map(|value| value + 0.06)).collect();
    let found = changes(&history, 0.05).unwrap();
    assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [40]);
    assert_close(found[0].p, 1.5554978584806022e-9, "p");
    assert_close(found[0].shift, 0.06, "shift");
}

/// ```python
/// s2 = np.array([d.var(ddof=1) for d in differences]); d = n - 1  # of all pairs
/// e = np.log(s2) - special.digamma(d / 2) + np.log(d / 2)
/// d0 = 2 * trigamma_inverse(e.var(ddof=1) - special.polygamma(1, d / 2))  # by Newton, as in limma
/// s0 = np.exp(e.mean() + special.digamma(d0 / 2) - np.log(d0 / 2)); m = min(d0, d)
/// v = (m * s0 + d * s2) / (m + d); 2 * stats.t.sf(abs(mean) / np.sqrt(v / n), int(m + d))  # then Holm
/// ```
/// It gave 6.385 degrees of freedom for the prior, and a variance of 0.0013161.
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
        (0.8460146462086892, 0.8460146462086892, 0.0018855),
        (1.2181805253432149e-05, 3.654541576029645e-05, 0.0480405),
        (9.098200885127086e-05, 0.00018196401770254172, -0.05232),
        (4.677887886857676e-06, 2.3389439434288378e-05, 0.046155),
        (7.773957826040357e-06, 3.1095831304161426e-05, -0.0542055),
        (1.0090562306506724e-15, 6.054337383904034e-15, -0.1003605),
    ];
    let found = ranking::rank(&services, Better::Higher, 0.05).unwrap();
    for (pair, (p, p_adjusted, log_ratio)) in found.pairs.iter().zip(expected) {
        let what = format!("{} against {}", pair.a, pair.b);
        assert_close(pair.p, p, &what);
        assert_close(pair.p_adjusted, p_adjusted, &what);
        assert_close(pair.contrast.point, log_ratio, &what);
    }
    let table: Vec<_> = found.places.iter().map(|p| (p.service, p.best, p.worst)).collect();
    assert_eq!(table, [(3, 1, 1), (0, 2, 3), (1, 2, 3), (2, 4, 4)]);
}

/// ```python
/// def cdf(n, m, u):  # any samples with u pairs (x, y) of which x > y
///     q, r = divmod(u, m)
///     x = ([m + 1 + i * .001 for i in range(q)] + ([r - .5] if r or q < n else []))[:n]
///     x += [-1 - i * .001 for i in range(n - len(x))]
///     return stats.mannwhitneyu(x, np.arange(m), alternative='less', method='exact').pvalue
/// ```
/// The last two are `stats.norm.cdf((u + .5 - n*m/2) / (n*m*(n+m+1)/12)**.5)`.
#[test]
fn the_mann_whitney_distribution_agrees_with_scipy() {
    let cases = [
        (4, 4, 0, 0.014285714285714285),
        (3, 5, 1, 0.03571428571428571),
        (10, 5, 8, 0.019980019980019977),
        (20, 20, 127, 0.02454516259468622),
        (40, 40, 597, 0.02549495681398868),
        (60, 60, 1430, 0.02611360439177716),
        (12, 40, 150, 0.025525807714518508),
        (60, 61, 1450, 0.024571354864920777),
        (100, 100, 4200, 0.02538081514855085),
    ];
    for (one, other, u, expected) in cases {
        assert_close(NullDistribution::rank_sum(one, other).cdf(u), expected, "P(U <= u)");
    }
    // The exact value beyond the exact range of this crate: 0.025309 instead of 0.025381.
    assert!((NullDistribution::rank_sum(100, 100).cdf(4200) - 0.02530923803999966).abs() < 1e-4);
}

/// Permeability of the chorioamnion at term and at 12 to 26 weeks: M. Hollander and D. A. Wolfe, example 4.1 of
/// R's `wilcox.test`, which prints p = 0.2544. Ends by bisection, as in `golden.rs`:
/// ```python
/// p = lambda t: stats.mannwhitneyu(a, b - t, method='exact').pvalue
/// ```
#[test]
fn intervals_of_two_samples_agree_with_scipys_exact_test_inverted() {
    let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    let weeks = [1.15, 0.88, 0.90, 0.74, 1.21];
    type Case<'a> = (&'a str, [&'a [f64]; 2], f64, f64, [f64; 3]);
    let cases: [Case; 10] = [
        ("permeability", [&term, &weeks], 0.2544122544122544, 0.90, [-0.72, -0.305, 0.08]),
        ("permeability", [&term, &weeks], 0.2544122544122544, 0.95, [-0.76, -0.305, 0.15]),
        ("permeability", [&term, &weeks], 0.2544122544122544, 0.99, [-1.01, -0.305, 0.35]),
        ("ten, t3", [&TEN, &T3_20], 1.997003496253871e-06, 0.95, [0.08034, 0.119485, 0.14654]),
        ("ten, t3", [&TEN, &T3_20], 1.997003496253871e-06, 0.99, [0.06651, 0.119485, 0.15286]),
        ("halves", [&FORTY[..20], &FORTY[20..]], 0.8619870592980813, 0.90, [-0.01962, -0.00177, 0.01518]),
        ("halves", [&FORTY[..20], &FORTY[20..]], 0.8619870592980813, 0.95, [-0.02218, -0.00177, 0.01867]),
        ("t3, forty", [&T3_20, &FORTY], 0.015174493904606092, 0.95, [0.00367, 0.01923, 0.03734]),
        ("t3, forty", [&T3_20, &FORTY], 0.015174493904606092, 0.99, [-0.00131, 0.01923, 0.04597]),
        ("four", [&TEN[..4], &FORTY[..4]], 0.02857142857142857, 0.95, [0.04311, 0.146565, 0.16163]),
    ];
    for (name, [before, after], p, confidence, [low, point, high]) in cases {
        assert_close(two_sample::p_value(before, after).unwrap(), p, name);
        let found = two_sample::shift(before, after, confidence).unwrap();
        let interval = found.interval.unwrap();
        assert_close(found.point, point, name);
        assert_close(interval.low, low, name);
        assert_close(interval.high, high, name);
        assert!(interval.attained >= confidence - 1e-12, "{name}");
    }
    assert_eq!(two_sample::shift(&TEN[..4], &FORTY[..4], 0.99).unwrap().interval, None);
}

/// `stats.ttest_ind(b, a)` and its `confidence_interval(.95)`; with one value on a side by hand:
/// `sp = a.std(ddof=1); se = sp * (1/3 + 1)**.5`.
#[test]
fn groups_agree_with_scipys_t_test() {
    let before = [[0.1], [0.2], [0.16]];
    let (after, one) = ([[0.3], [0.45]], [[0.3]]);
    let found = two_sample::between(&before, &after, 0.95).unwrap();
    let interval = found.interval.unwrap();
    assert!((interval.low - 0.007414335854680709).abs() < 1e-9, "{interval:?}");
    assert!((interval.high - 0.4359189974786526).abs() < 1e-9, "{interval:?}");
    assert_close(two_sample::between_p(&before, &after).unwrap(), 0.04598890256385419, "p");
    let found = two_sample::between(&before, &one, 0.95).unwrap();
    assert!((found.interval.unwrap().high - 0.14666666666666664 - 0.250064379175031).abs() < 1e-9);
    assert_close(two_sample::between_p(&before, &one).unwrap(), 0.12764325571004148, "p of one");
}

/// ```python
/// s = np.sign(np.subtract.outer(v, v)).sum(1); k = np.arange(1, n)
/// clearest = lambda s: (np.cumsum(s)[:-1] ** 2 / (k * (n - k))).max()
/// np.mean([clearest(t) >= clearest(s) - 1e-9 for t in itertools.permutations(s)])
/// ```
#[test]
fn short_histories_have_the_p_value_of_all_their_orders() {
    let cases: [(&[f64], f64); 5] = [
        (&[1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 13.0, 14.0], 1152.0 / 40320.0),
        (&[1.0, 2.0, 2.0, 3.0, 5.0, 5.0, 4.0, 6.0], 1152.0 / 40320.0),
        (&[1.0, 3.0, 2.0, 4.0, 9.0, 8.0, 7.0, 10.0, 6.0], 10368.0 / 362_880.0),
        (&[0.3, 0.1, 0.2, 0.15, 0.9, 1.0], 208.0 / 720.0),
        (&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 11.0, 12.0], 1152.0 / 40320.0),
    ];
    for (history, p) in cases {
        assert_close(changes(history, 0.3).unwrap()[0].p, p, "p");
        assert!(changes(history, p - 1e-9).unwrap().is_empty());
    }
}
