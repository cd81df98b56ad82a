use super::*;
use crate::Warning;

/// Threads and throughput of one measurement each, with equal weights.
fn alike(points: &[(f64, f64)]) -> Vec<Weighted> {
    points.iter().map(|&(n, value)| Weighted { n, value, weight: 1.0 }).collect()
}

/// Scripts an hour by users: a SPARCcenter 2000 of 16 CPUs in SPEC SDM91, October 1994.
const SDM91: [(f64, f64); 7] = [
    (1.0, 64.9),
    (18.0, 995.9),
    (36.0, 1652.4),
    (72.0, 1853.2),
    (108.0, 1828.9),
    (144.0, 1775.0),
    (216.0, 1702.2),
];

/// Rays by processors, from Gunther 2007, table 5.1: the first six.
const RAYS: [(f64, f64); 6] =
    [(1.0, 20.0), (4.0, 78.0), (8.0, 130.0), (12.0, 170.0), (16.0, 190.0), (20.0, 200.0)];

/// The reference output of the R package usl 3.0 (N. Gunther and S. Moeding), which calls sigma alpha, kappa beta and lambda gamma:
/// README.md and tests/summary.Rout.save.
#[test]
fn spec_sdm91_is_fitted_as_published() {
    let points = alike(&SDM91);
    let law = fit(&points).unwrap();
    assert!((law.lambda - 89.995_233_0).abs() < 5e-5, "{law:?}");
    assert!((law.sigma - 0.027_728_5).abs() < 5e-8, "{law:?}");
    assert!((law.kappa - 0.000_104_4).abs() < 5e-8, "{law:?}");
    let peak = law.peak().unwrap();
    assert!((peak - 96.519_56).abs() < 1e-3 && (law.at(peak) - 1884.0).abs() < 0.5, "{peak}");
    // Residual standard error: 82.85 on 4 degrees of freedom; the residuals lie between -81.66 and 111.09.
    assert!(((fit::squares(&points, &law) / 4.0).sqrt() - 82.85).abs() < 5e-3);
    let off: Vec<f64> = points.iter().map(|point| point.value - law.at(point.n)).collect();
    let (least, most) = off.iter().fold((0.0_f64, 0.0_f64), |(a, b), off| (a.min(*off), b.max(*off)));
    assert!((least + 81.66).abs() < 6e-3 && (most - 111.09).abs() < 6e-3, "{off:?}");
}

/// The same package's tests/confint.Rout.save.
#[test]
fn the_ray_tracer_is_fitted_as_published() {
    let law = fit(&alike(&RAYS)).unwrap();
    assert!((law.sigma - 0.02444).abs() < 5e-6 && (law.kappa - 0.00163).abs() < 5e-6, "{law:?}");
    assert!((law.lambda - 20.85605).abs() < 5e-6, "{law:?}");
}

/// The same package's tests/coef.R: figures of a known law, rounded to four digits.
#[test]
fn a_law_is_found_again() {
    let points = [(1.0, 1.0), (2.0, 1.8868), (4.0, 3.0769), (6.0, 3.5294), (8.0, 3.5398), (10.0, 3.3557)];
    let law = fit(&alike(&points)).unwrap();
    assert!((law.sigma - 0.02).abs() < 1e-4 && (law.kappa - 0.02).abs() < 1e-5, "{law:?}");
    let exact = Law { lambda: 7e4, sigma: 0.03, kappa: 2e-4 };
    let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|n| (n, exact.at(n))).to_vec();
    let law = fit(&alike(&points)).unwrap();
    for (found, expected) in law.parameters().into_iter().zip(exact.parameters()) {
        assert!((found / expected - 1.0).abs() < 1e-7, "{law:?}");
    }
}

#[test]
fn what_rises_faster_than_its_threads_has_no_contention_and_no_coherence() {
    let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0].map(|n: f64| (n, n.powf(1.1))).to_vec();
    let law = fit(&alike(&points)).unwrap();
    assert_eq!((law.sigma, law.kappa, law.peak()), (0.0, 0.0, None));
    // Straight first and bent later: contention would be below 0, and is fixed at 0.
    let bent = [(1.0, 1.0), (2.0, 2.1), (4.0, 4.2), (8.0, 7.0), (16.0, 8.0)];
    let law = fit(&alike(&bent)).unwrap();
    assert!(law.sigma == 0.0 && law.kappa > 0.0, "{law:?}");
}

#[test]
fn three_points_are_no_evidence() {
    let error = fit(&alike(&RAYS[..3])).unwrap_err();
    assert_eq!(error, ScalabilityError::TooFewPoints { found: 3, needed: 4 });
    let values = vec![vec![1.0, 1.1]; 3];
    assert_eq!(scalability(&[1.0, 2.0, 4.0], &values, 0.95).unwrap_err(), error);
    assert!(error.to_string().contains("goes through any three"), "{error}");
}

#[test]
fn mistakes_are_named() {
    let with = |place: usize, point: Weighted| {
        let mut points = alike(&SDM91);
        points[place] = point;
        fit(&points).unwrap_err()
    };
    let point = Weighted { n: 36.0, value: 1.0, weight: 1.0 };
    assert_eq!(with(4, point), ScalabilityError::Threads { index: 4, n: 36.0 }, "twice");
    assert_eq!(with(0, Weighted { n: 0.5, ..point }), ScalabilityError::Threads { index: 0, n: 0.5 });
    let negative = with(1, Weighted { n: 2.0, value: -1.0, ..point });
    assert!(matches!(negative, ScalabilityError::Sample(EstimateError::NotPositive { .. })), "{negative}");
    let nan = with(1, Weighted { n: 2.0, weight: f64::NAN, ..point });
    assert!(matches!(nan, ScalabilityError::Weight { index: 1, .. }), "{nan}");
    let uneven = [vec![1.0; 3], vec![1.0; 3], vec![1.0; 2], vec![1.0; 3]];
    let found = scalability(&[1.0, 2.0, 3.0, 4.0], &uneven, 0.95).unwrap_err();
    let expected = EstimateError::BlocksDiffer { index: 2, found: 2, expected: 3 };
    assert_eq!(found, ScalabilityError::Sample(expected));
}

/// Four blocks of a law, each with its own factor, and fixed small noise.
fn measured(law: Law, threads: &[f64]) -> Vec<Vec<f64>> {
    let noise = [
        [0.011, -0.004, 0.007, -0.009, 0.002, -0.006],
        [-0.008, 0.009, -0.003, 0.004, -0.007, 0.005],
        [0.002, -0.011, 0.008, 0.006, -0.001, -0.003],
        [-0.004, 0.005, -0.012, 0.001, 0.009, 0.004],
    ];
    let factors = [1.0, 0.7, 1.2, 0.95];
    let point = |(place, n): (usize, &f64)| {
        let block = |block: usize| law.at(*n) * factors[block] * (1.0 + noise[block][place]);
        (0..4).map(block).collect::<Vec<f64>>()
    };
    threads.iter().enumerate().map(point).collect()
}

#[test]
fn a_peak_within_the_range_has_an_interval() {
    let threads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let truth = Law { lambda: 5e4, sigma: 0.05, kappa: 0.004 };
    let found = scalability(&threads, &measured(truth, &threads), 0.95).unwrap();
    for (estimate, expected) in [(&found.sigma, 0.05), (&found.kappa, 0.004)] {
        assert!(estimate.interval.unwrap().holds(expected), "{estimate:?}");
        assert_eq!(estimate.n, 4);
    }
    let Peak::At { n, low: Some(low), high: Some(high) } = found.peak else { panic!("{found:?}") };
    assert!(low < 15.41 && 15.41 < high && low < n && n < high && high / low < 1.5, "{found:?}");
    assert!(found.misfit.p.unwrap() > 0.05, "{:?}", found.misfit);
    // The blocks differ by half: lambda is that uncertain, sigma and kappa are not.
    let wide = found.lambda.interval.unwrap();
    assert!(wide.high / wide.low > 1.5 && found.sigma.interval.unwrap().high < 0.07, "{found:?}");
}

#[test]
fn a_curve_that_only_rises_has_no_peak_in_the_range() {
    let threads = [1.0, 2.0, 4.0, 8.0];
    let truth = Law { lambda: 5e4, sigma: 0.02, kappa: 0.0 };
    let found = scalability(&threads, &measured(truth, &threads), 0.95).unwrap();
    assert!(matches!(found.peak, Peak::NotMeasured { .. }), "{found:?}");
    assert!(found.kappa.interval.unwrap().low == 0.0 && found.sigma.interval.unwrap().low >= 0.0);
}

/// Eight threads on four cores: flat from there on, which does not follow the law.
#[test]
fn a_curve_with_a_knee_does_not_fit() {
    let threads = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let knee = |n: f64| n.min(4.0);
    let straight = Law { lambda: 1.0, sigma: 0.0, kappa: 0.0 };
    let mut values = measured(straight, &threads);
    for (n, values) in threads.iter().zip(&mut values) {
        values.iter_mut().for_each(|value| *value *= knee(*n) / n);
    }
    let misfit = scalability(&threads, &values, 0.95).unwrap().misfit;
    assert!(misfit.p.unwrap() < 1e-6 && misfit.standard_errors.unwrap().abs() > 5.0, "{misfit:?}");
    assert!(misfit.share > 0.1 && misfit.n == 4.0, "{misfit:?}");
}

#[test]
fn one_block_has_a_law_and_no_interval() {
    let threads = [1.0, 2.0, 4.0, 8.0, 16.0];
    let values: Vec<[f64; 1]> = threads.map(|n: f64| [n / (1.0 + 0.1 * (n - 1.0))]).to_vec();
    let found = scalability(&threads, &values, 0.95).unwrap();
    assert!((found.law.sigma - 0.1).abs() < 1e-6, "{found:?}");
    assert_eq!((found.sigma.interval, found.misfit.p, found.misfit.standard_errors), (None, None, None));
    assert_eq!(found.sigma.warnings, [Warning::TooFewBlocks { n: 1, needed: 2 }]);
    assert_eq!(found.peak, Peak::NotMeasured { above: None });
}
