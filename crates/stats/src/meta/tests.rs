//! Comparison with published figures of metafor, and with SciPy.

use super::*;

fn known(estimates: &[f64], variances: &[f64]) -> Vec<MachineResult> {
    let each = estimates.iter().zip(variances);
    each.map(|(estimate, variance)| MachineResult {
        estimate: *estimate,
        error: variance.sqrt(),
        freedom: None,
    })
    .collect()
}

/// 13 trials of the BCG vaccine: ill and well with it, ill and well without (G. A. Colditz et al., JAMA 271
/// (1994); `dat.bcg` of metadat).
const BCG: [[f64; 4]; 13] = [
    [4., 119., 11., 128.],
    [6., 300., 29., 274.],
    [3., 228., 11., 209.],
    [62., 13536., 248., 12619.],
    [33., 5036., 47., 5761.],
    [180., 1361., 372., 1079.],
    [8., 2537., 10., 619.],
    [505., 87886., 499., 87892.],
    [29., 7470., 45., 7232.],
    [17., 1699., 65., 1600.],
    [186., 50448., 141., 27197.],
    [5., 2493., 3., 2338.],
    [27., 16886., 29., 17825.],
];

/// Logarithms of relative risks, with their variances.
fn risks() -> Vec<MachineResult> {
    let of = |[a, b, c, d]: [f64; 4]| {
        ((a / (a + b) / (c / (c + d))).ln(), 1. / a - 1. / (a + b) + 1. / c - 1. / (c + d))
    };
    let (estimates, variances): (Vec<f64>, Vec<f64>) = BCG.into_iter().map(of).unzip();
    known(&estimates, &variances)
}

/// Logarithms of odds ratios, with their variances.
fn odds() -> Vec<MachineResult> {
    let of = |[a, b, c, d]: [f64; 4]| ((a * d / (b * c)).ln(), 1. / a + 1. / b + 1. / c + 1. / d);
    let (estimates, variances): (Vec<f64>, Vec<f64>) = BCG.into_iter().map(of).unzip();
    known(&estimates, &variances)
}

fn many(found: &[MachineResult]) -> Synthesis {
    match pool(found, 0.95).unwrap() {
        Pooled::Many(found) => found,
        other => panic!("{other:?}"),
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (one, other) in found.iter().zip(expected) {
        assert!((one - other).abs() <= tolerance, "{found:?} instead of {expected:?}");
    }
}

/// metafor's figures for these data in its manual and on its site, for any estimator of tau squared: `Q(df =
/// 12) = 152.2330`, and `confint()` with tau^2 from 0.1197 to 1.1115 and I^2 from 81.92 to 97.68%. For odds
/// ratios Q is 163.1649, and the interval of tau^2 is 0.1302 to 1.1812 (van Houwelingen et al. 2002, repeated
/// on metafor's site with a root to three digits).
#[test]
fn agrees_with_the_figures_that_metafor_publishes() {
    let found = many(&risks()).heterogeneity;
    assert_close(&[found.q], &[152.2330], 5e-5);
    assert_close(&found.tau_squared_interval, &[0.1197, 1.1115], 5e-5);
    assert_close(&found.i_squared_interval, &[0.8192, 0.9768], 5e-5);
    let found = many(&odds()).heterogeneity;
    assert_close(&[found.q], &[163.1649], 5e-5);
    assert_close(&found.tau_squared_interval, &[0.1302, 1.1812], 1e-4);
}

/// The same method in NumPy, with roots by `scipy.optimize.brentq` (scipy 1.17.1, numpy 2.4.6). metafor's
/// `method = "PM"` also gives a tau squared of 0.3181.
#[test]
fn agrees_with_scipy() {
    let found = many(&risks());
    assert_close(&[found.heterogeneity.tau_squared], &[0.3180684522050242], 1e-12);
    let mean = found.mean;
    assert_close(&[mean.point, mean.error], &[-0.7149681534934442, 0.18089219153762356], 1e-12);
    let ends = [mean.interval.low, mean.interval.high];
    assert_close(&ends, &[-1.1090983812022401, -0.32083792578464837], 1e-9);
    let prediction = [found.prediction.low, found.prediction.high];
    assert_close(&prediction, &[-2.0185580541846573, 0.5886217471977688], 1e-9);
    assert_close(&[found.heterogeneity.i_squared], &[0.9233033795415325], 1e-12);
    assert!((found.heterogeneity.p / 1.9967645908458624e-26 - 1.0).abs() < 1e-6);
    let without: Vec<f64> = found.without.iter().map(|mean| mean.point).collect();
    let expected = [
        -0.7085124836659679,
        -0.6542353908504537,
        -0.6863043738403252,
        -0.6326109054034603,
        -0.7642317870443369,
        -0.7106709496041812,
        -0.655334261830958,
        -0.7954162093513586,
        -0.7412905421872552,
        -0.6542144867584665,
        -0.7577566954858106,
        -0.7575314821150599,
        -0.7775383649623003,
    ];
    assert_close(&without, &expected, 1e-12);
}

/// Welch's test in NumPy, with `scipy.stats.f.sf`.
#[test]
fn standard_errors_that_are_estimates_make_a_difference_less_sure() {
    let three = [(-0.446, 0.011, 9), (-0.401, 0.02, 11), (-0.52, 0.015, 7)];
    let finding =
        |(estimate, error, df): (f64, f64, usize)| MachineResult { estimate, error, freedom: Some(df) };
    let found = many(&three.map(finding)).heterogeneity;
    assert_close(&[found.q, found.p], &[26.32154566037736, 0.00043960286295087697], 1e-11);
    let sure = many(&three.map(|(estimate, error, _)| MachineResult { estimate, error, freedom: None }))
        .heterogeneity;
    assert_close(&[sure.q, sure.p], &[26.32154566037736, 1.9246376721723636e-06], 1e-11);
    let two = pool(&[finding(three[0]), finding(three[1])], 0.95).unwrap();
    let p = two.heterogeneity().unwrap().p;
    assert_close(&[p], &[0.06538380762727533], 1e-11);
}

#[test]
fn machines_that_agree_by_chance_are_no_certainty() {
    let found = many(&known(&[0.1, 0.11, 0.105], &[1e-4, 4e-4, 2.25e-4]));
    assert_eq!((found.heterogeneity.tau_squared, found.heterogeneity.i_squared), (0.0, 0.0));
    // Their squares are 0.23 instead of 2, and do not narrow the interval.
    assert_close(&[found.mean.error], &[0.007682212795973758], 1e-15);
    let ends = [found.mean.interval.low, found.mean.interval.high];
    assert_close(&ends, &[0.06973299138878888, 0.13584077910301437], 1e-9);
    let prediction = [found.prediction.low, found.prediction.high];
    assert_close(&prediction, &[0.005175116633398022, 0.20039865385840522], 1e-9);
    assert_eq!(found.heterogeneity.tau_squared_interval[0], 0.0);
    assert_close(&found.heterogeneity.i_squared_interval, &[0.0, 0.7798490549818186], 1e-9);
}

#[test]
fn one_machine_has_its_own_interval_and_two_have_a_wide_one() {
    let one = MachineResult { estimate: -0.5, error: 0.1, freedom: Some(7) };
    let found = pool(&[one], 0.95).unwrap();
    let Pooled::One(mean) = &found else { panic!("{found:?}") };
    assert_close(&[mean.interval.high], &[-0.5 + 0.1 * 2.364624251592784], 1e-9);
    assert!(found.heterogeneity().is_none());
    let sure = pool(&[MachineResult { freedom: None, ..one }], 0.95).unwrap();
    assert_close(&[sure.mean().interval.high], &[-0.5 + 0.1 * 1.959963984540054], 1e-4);
    let found = pool(&known(&[-0.446, -0.401], &[0.011 * 0.011, 4e-4]), 0.95).unwrap();
    let Pooled::Two(mean, heterogeneity) = &found else { panic!("{found:?}") };
    assert_close(&[mean.point, mean.interval.low], &[-0.4266, -0.7097631249517393], 1e-9);
    assert_close(&[heterogeneity.tau_squared, heterogeneity.p], &[0.000752, 0.048668336279527144], 1e-12);
    assert_eq!(heterogeneity.tau_squared_interval[0], 0.0);
}

#[test]
fn what_has_no_standard_error_is_refused() {
    let good = MachineResult { estimate: 0.0, error: 1.0, freedom: Some(3) };
    assert_eq!(pool(&[], 0.95), Err(EstimateError::Empty));
    for error in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
        let found = pool(&[good, MachineResult { error, ..good }], 0.95);
        assert!(matches!(found, Err(EstimateError::StandardError { index: 1, .. })), "{error}: {found:?}");
    }
    let unknown = pool(&[MachineResult { estimate: f64::NAN, ..good }], 0.95);
    assert!(matches!(unknown, Err(EstimateError::NotFinite { index: 0, .. })));
    assert_eq!(pool(&[good], 1.0), Err(EstimateError::Confidence { value: 1.0 }));
}
