//! The universal scalability law: simulated coverage of its intervals, and properties of every fit.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tare_stats::scalability::{Law, Peak, Scalability, scalability};

const SEED: u64 = 0x9e1;
const RUNS: usize = 2000;
const THREADS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
/// Standard deviations of logarithms: of a figure, and of the common effect of a block.
const NOISE: (f64, f64) = (0.03, 0.1);

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (one, other): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// `values[point][block]`.
fn blocks(curve: impl Fn(f64) -> f64, blocks: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut values = vec![Vec::new(); THREADS.len()];
    for _ in 0..blocks {
        let block = NOISE.1 * normal(rng);
        for (values, n) in values.iter_mut().zip(THREADS) {
            values.push(curve(n) * (block + NOISE.0 * normal(rng)).exp());
        }
    }
    values
}

fn fitted(curve: impl Fn(f64) -> f64, of: usize, rng: &mut ChaCha8Rng) -> Scalability {
    scalability(&THREADS, &blocks(curve, of, rng), 0.95).unwrap()
}

/// Share of the intervals that contain the truth.
fn coverage(law: Law, of: usize) -> [f64; 4] {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut held = [0; 4];
    for _ in 0..RUNS {
        let found = fitted(|n| law.at(n), of, &mut rng);
        let pairs = [(&found.lambda, law.lambda), (&found.sigma, law.sigma), (&found.kappa, law.kappa)];
        for (held, (estimate, truth)) in held.iter_mut().zip(pairs) {
            *held += usize::from(estimate.interval.unwrap().holds(truth));
        }
        let peak = law.peak().unwrap_or(f64::INFINITY);
        held[3] += usize::from(match found.peak {
            Peak::At { low, high, .. } => {
                low.is_none_or(|low| low <= peak) && high.is_none_or(|high| peak <= high)
            }
            Peak::NotMeasured { above } => above.is_none_or(|above| above <= peak),
        });
    }
    held.map(|held| held as f64 / RUNS as f64)
}

/// Four standard errors of a share near 0.95 in 2000 trials are 0.02.
#[test]
fn the_intervals_cover_what_they_claim() {
    let laws = [
        Law { lambda: 4e4, sigma: 0.06, kappa: 0.006 },
        Law { lambda: 4e4, sigma: 0.15, kappa: 0.0005 },
        Law { lambda: 4e4, sigma: 0.0, kappa: 0.0 },
        Law { lambda: 4e4, sigma: 0.3, kappa: 0.0 },
    ];
    for law in laws {
        for blocks in [6, 12, 40] {
            let [lambda, sigma, kappa, peak] = coverage(law, blocks);
            println!("{law:?} {blocks}: {lambda} {sigma} {kappa} {peak}");
            for share in [lambda, sigma, kappa, peak] {
                assert!(share >= 0.93, "{law:?}, {blocks} blocks: {lambda} {sigma} {kappa} {peak}");
            }
        }
    }
}

/// The test rejects one in twenty curves that follow the law, and all curves with a knee.
#[test]
fn the_test_for_lack_of_fit_errs_as_often_as_it_says() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let law = Law { lambda: 4e4, sigma: 0.06, kappa: 0.006 };
    let mut rejected = |curve: &dyn Fn(f64) -> f64, of: usize| {
        let is_rejected = |_: &usize| fitted(curve, of, &mut rng).misfit.p.unwrap() < 0.05;
        (0..RUNS).filter(is_rejected).count() as f64 / RUNS as f64
    };
    for blocks in [6, 12, 40] {
        let share = rejected(&|n| law.at(n), blocks);
        println!("{blocks}: {share}");
        assert!((0.03..=0.075).contains(&share), "{blocks} blocks: {share}");
    }
    let knee = rejected(&|n: f64| 4e4 * n.min(4.0), 12);
    assert!(knee > 0.99, "{knee}");
}

fn laws() -> impl Strategy<Value = Law> {
    (1.0..1e6_f64, 0.005..0.5_f64, 0.0005..0.05_f64).prop_map(|(lambda, sigma, kappa)| Law {
        lambda,
        sigma,
        kappa,
    })
}

/// Compares with tolerance: least squares end where the slope is 0, so only half of the digits are exact.
fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * (one.abs() + other.abs()) + 1e-9
}

fn same(one: &Scalability, other: &Scalability, times: f64) -> bool {
    let interval = |estimate: &tare_stats::Estimate| estimate.interval.map(|it| [it.low, it.high]).unwrap();
    let pairs = [
        (&one.lambda, &other.lambda, times),
        (&one.sigma, &other.sigma, 1.0),
        (&one.kappa, &other.kappa, 1.0),
    ];
    pairs.iter().all(|(one, other, times)| {
        let ends = interval(one).into_iter().zip(interval(other));
        near(one.point * times, other.point) && ends.into_iter().all(|(one, other)| near(one * times, other))
    })
}

proptest! {
    #[test]
    fn a_law_without_noise_is_found(law in laws()) {
        let values: Vec<[f64; 2]> = THREADS.map(|n| [law.at(n); 2]).to_vec();
        let found = scalability(&THREADS, &values, 0.95).unwrap();
        prop_assert!(near(found.law.lambda, law.lambda), "{:?}", found.law);
        prop_assert!(near(found.law.sigma, law.sigma) && near(found.law.kappa, law.kappa), "{:?}", found.law);
        prop_assert!(found.misfit.share.abs() < 1e-6);
    }

    #[test]
    fn the_unit_of_throughput_changes_lambda_alone(law in laws(), seed: u64, times in 0.001..1000.0_f64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let values = blocks(|n| law.at(n), 6, &mut rng);
        let scaled: Vec<Vec<f64>> =
            values.iter().map(|point| point.iter().map(|value| value * times).collect()).collect();
        let (one, other) =
            (scalability(&THREADS, &values, 0.95).unwrap(), scalability(&THREADS, &scaled, 0.95).unwrap());
        prop_assert!(same(&one, &other, times), "{one:?}\n{other:?}");
    }

    #[test]
    fn the_order_of_points_and_blocks_changes_nothing(law in laws(), seed: u64, turn in 0..5_usize) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut values = blocks(|n| law.at(n), 6, &mut rng);
        let one = scalability(&THREADS, &values, 0.95).unwrap();
        values.iter_mut().for_each(|point| point.rotate_left(turn));
        values.rotate_left(turn);
        let mut threads = THREADS;
        threads.rotate_left(turn);
        let other = scalability(&threads, &values, 0.95).unwrap();
        prop_assert!(same(&one, &other, 1.0), "{one:?}\n{other:?}");
    }

    #[test]
    fn no_parameter_and_no_interval_leaves_its_bounds(
        values in proptest::collection::vec(proptest::collection::vec(0.01..100.0_f64, 3), 5),
        confidence in 0.5..0.999_f64,
    ) {
        let Ok(found) = scalability(&THREADS, &values, confidence) else { return Ok(()) };
        let Law { lambda, sigma, kappa } = found.law;
        prop_assert!(lambda > 0.0 && sigma >= 0.0 && kappa >= 0.0);
        prop_assert!(THREADS.iter().all(|n| found.law.at(*n) > 0.0));
        for (estimate, least) in [(&found.lambda, 0.0), (&found.sigma, 0.0), (&found.kappa, 0.0)] {
            let interval = estimate.interval.unwrap();
            prop_assert!(interval.low >= least && interval.holds(estimate.point), "{estimate:?}");
        }
        prop_assert!(found.misfit.p.is_none_or(|p| (0.0..=1.0).contains(&p)));
        if let Peak::At { n, low, high } = found.peak {
            prop_assert!((1.0..=16.0).contains(&n));
            prop_assert!(low.is_none_or(|low| (1.0..=n).contains(&low)) && high.is_none_or(|high| high >= n));
        }
    }
}
