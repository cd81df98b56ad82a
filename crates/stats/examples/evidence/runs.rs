//! Comparison of two runs: coverage without a difference, and if runs differ by themselves.

use rand_chacha::ChaCha8Rng;
use tare_stats::two_sample;

use crate::models::{INDEPENDENT, Model, normal};
use crate::{percent, rng, scaled};

/// Standard deviations between runs, as multiples of the standard deviation of a block.
const BETWEEN: [f64; 4] = [0.0, 0.25, 0.5, 1.0];
const SIZES: [usize; 4] = [8, 12, 20, 40];

pub fn main(times: f64) {
    let count = scaled(10_000, times);
    println!(
        "two runs: coverage of the 95% interval in %, of {count}; blocks of each {SIZES:?}, then 8 + 40"
    );
    let attained = SIZES.map(|n| {
        let flat = vec![0.0; n];
        100.0 * two_sample::shift(&flat, &flat, 0.95).unwrap().interval.unwrap().attained
    });
    println!("{:20} {attained:.1?}", "attained");
    for (name, model) in INDEPENDENT.into_iter().chain([("AR(1) 0.1", Model::Drift(0.1))]) {
        blocks(name, model, [0.0, 1.0], count);
    }
    for between in &BETWEEN[1..] {
        blocks(&format!("runs differ {between}"), Model::Normal, [*between, 1.0], count);
    }
    blocks("spread 1 and 2", Model::Normal, [0.0, 2.0], count);
    println!(
        "several runs of 12 blocks: coverage in %, and mean width in sd of a block; runs differ {BETWEEN:?}"
    );
    for (before, after) in [(2, 1), (3, 1), (5, 1), (2, 2), (3, 3), (5, 5), (10, 3)] {
        let mut width = 0.0;
        let covered = BETWEEN.map(|between| {
            let mut rng = rng();
            width = 0.0;
            percent(count, || {
                let mut runs = |runs: usize| {
                    (0..runs).map(|_| run(Model::Normal, 12, between, &mut rng)).collect::<Vec<_>>()
                };
                let (before, after) = (runs(before), runs(after));
                let found = two_sample::between(&before, &after, 0.95).unwrap().interval.unwrap();
                width += (found.high - found.low) / count as f64;
                found.holds(0.0)
            })
        });
        println!("{before:2} + {after}: {covered:5.1?}, width at {} {width:.2}", BETWEEN[3]);
    }
    println!();
}

/// Two runs; the second with its own spread.
fn blocks(name: &str, model: Model, [between, spread]: [f64; 2], count: usize) {
    let mut rng = rng();
    let mut covered = |one: usize, other: usize| {
        percent(count, || {
            let before = run(model, one, between, &mut rng);
            let after: Vec<f64> =
                run(model, other, between, &mut rng).iter().map(|value| value * spread).collect();
            two_sample::shift(&before, &after, 0.95).unwrap().interval.unwrap().holds(0.0)
        })
    };
    let same = SIZES.map(|n| covered(n, n));
    println!("{name:20} {same:5.1?} {:5.1}", covered(8, 40));
}

fn run(model: Model, blocks: usize, between: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let level = between * normal(rng);
    model.blocks(blocks, rng).into_iter().map(|block| level + block).collect()
}
