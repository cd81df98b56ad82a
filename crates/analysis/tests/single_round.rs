//! The factors for one round, compared with the stored rounds behind them.

#[path = "support/rounds.rs"]
mod rounds;

use rounds::{METRICS, Repeated, covered, spread};
use tare_analysis::sequential::single_round;

#[test]
fn left_out_rounds_lie_within_the_factor_in_19_of_20() {
    for run in ["restinio-2017", "rest-cpp-2020"] {
        let points = Repeated::of(run);
        for metric in METRICS {
            let used = single_round::factor(metric, points[0].load()).unwrap();
            let (within, all) = covered(&points, metric, |_| used);
            assert!(all >= 90, "{run}: {all} rounds");
            assert!(within * 20 >= all * 19, "{run}, {metric}: {within} of {all} within {used}");
        }
    }
}

/// The factors are rounded up, by no more than that.
#[test]
fn the_factors_are_those_of_the_stored_rounds() {
    for run in ["restinio-2017", "rest-cpp-2020"] {
        let points = Repeated::of(run);
        for metric in METRICS {
            let computed = spread(&points, metric, None).factor();
            let used = single_round::factor(metric, points[0].load()).unwrap();
            assert!((1.0..1.07).contains(&(used / computed)), "{run}, {metric}: {used}, computed {computed}");
        }
    }
}

/// Factors computed without the round, over all metrics: 720 and 1440 ratios, which are dependent within a
/// round. About 40 are independent, so the standard error is about 3 points. The result of 97% and 96%
/// supports the method, but guarantees nothing for another run.
#[test]
fn factors_without_the_round_cover_it_too() {
    for run in ["restinio-2017", "rest-cpp-2020"] {
        let points = Repeated::of(run);
        let sums = METRICS
            .map(|metric| covered(&points, metric, |round| spread(&points, metric, Some(round)).factor()));
        let (within, all) = sums.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert!(within * 20 >= all * 19, "{run}: {within} of {all}");
    }
}
