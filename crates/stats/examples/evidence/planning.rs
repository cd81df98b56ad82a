//! Whether the planned number of blocks has the power that was asked for.

use crate::models::{Model, normal};
use crate::{percent, rng, scaled};
use tare_stats::planning::{blocks_for, blocks_to_separate};
use tare_stats::signed_rank::p_value;

pub fn main(times: f64) {
    let count = scaled(4000, times);
    println!(
        "power of the planned number of blocks, effect and spread known, normal noise, {count} simulated runs"
    );
    for alpha in [0.05, 0.05 / 28.0] {
        for power in [0.8, 0.9] {
            for effect in [0.25, 0.5, 1.0, 2.0, 3.0] {
                let blocks = blocks_for(effect, alpha, power).unwrap().unwrap();
                let mut rng = rng();
                let found = percent(count, || {
                    let diffs: Vec<f64> =
                        Model::Normal.blocks(blocks, &mut rng).iter().map(|value| value + effect).collect();
                    p_value(&diffs).unwrap() <= alpha
                });
                println!(
                    "alpha {alpha:.4}, power {power}, {effect:4} sd: {blocks:4} blocks find {found:.1}%"
                );
            }
        }
    }
    planned_from_ten(count);
    println!();
}

/// What ten blocks of half a standard deviation say: quartiles of the estimate.
fn planned_from_ten(count: usize) {
    let mut rng = rng();
    let mut found: Vec<usize> = (0..count)
        .map(|_| {
            let diffs: Vec<f64> = (0..10).map(|_| 0.75 + normal(&mut rng)).collect();
            blocks_to_separate(&diffs, 0.05, 0.8).unwrap().map_or(usize::MAX, |more| 10 + more)
        })
        .collect();
    found.sort_unstable();
    println!("0.75 sd, asked after 10 blocks: quartiles {:?}", [1, 2, 3].map(|q| found[q * count / 4]));
}
