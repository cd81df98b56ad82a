//! Simulated coverage of the 95% interval, with a fixed seed, so that it never fails by chance.
//!
//! With normal noise the Student's t interval has exactly its nominal coverage, with heavier tails more. The
//! whole table:
//! `cargo run --release -p tare-stats --example evidence -- coverage`.

use crate::models::{INDEPENDENT, Model};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tare_stats::Warning;
use tare_stats::interval;

const SEED: u64 = 0x7a5e;
const SIMULATIONS: usize = 2000;

/// Share of the intervals that contain the truth.
fn coverage(n: usize, model: Model, rng: &mut ChaCha8Rng) -> f64 {
    const TRUTH: f64 = 0.03;
    let holds = |_: &usize| {
        let diffs: Vec<f64> = model.blocks(n, rng).iter().map(|noise| TRUTH + 0.05 * noise).collect();
        interval(&diffs, 0.95).unwrap().interval.unwrap().holds(TRUTH)
    };
    (0..SIMULATIONS).filter(holds).count() as f64 / SIMULATIONS as f64
}

#[test]
fn the_interval_covers_as_often_as_it_claims() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    // Four standard errors of a share near 0.95 in 2000 trials.
    let tolerance = 4.0 * (0.95 * 0.05 / SIMULATIONS as f64).sqrt();
    for n in [4, 6, 8, 12, 20] {
        for (name, model) in INDEPENDENT {
            let covered = coverage(n, model, &mut rng);
            assert!(covered >= 0.95 - tolerance, "n = {n}, {name}: {covered}");
            assert!(!matches!(model, Model::Normal) || covered <= 0.95 + tolerance, "n = {n}: {covered}");
        }
    }
}

/// Slices side by side in random order: a drift of the machine cancels.
#[test]
fn the_interval_bears_a_machine_that_drifts() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    for n in [8, 12, 20, 40] {
        for rho in [0.5, 0.95, 0.999] {
            let covered = coverage(n, Model::Machine(rho), &mut rng);
            assert!((0.935..=0.97).contains(&covered), "n = {n}, rho = {rho}: {covered}");
        }
    }
}

/// Autocorrelated blocks are not independent. The interval tolerates a little of it only.
#[test]
fn the_interval_bears_a_little_drift_only() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    for n in [8, 12, 20] {
        let little = coverage(n, Model::Drift(0.05), &mut rng);
        let much = coverage(n, Model::Drift(0.5), &mut rng);
        assert!(little >= 0.93 && much < 0.85, "n = {n}: {little} {much}");
    }
}

#[test]
fn much_drift_over_many_blocks_is_reported_and_none_is_not() {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut told = |model: Model| {
        let serial = |w: &Warning| matches!(w, Warning::Drift { .. } | Warning::Autocorrelated { .. });
        let warned =
            |_: &i32| interval(&model.blocks(40, &mut rng), 0.95).unwrap().warnings.iter().any(serial);
        (0..300).filter(warned).count() as f64 / 300.0
    };
    let (much, none) = (told(Model::Drift(0.5)), told(Model::T3));
    assert!(much > 0.6 && none < 0.04, "{much} {none}");
}
