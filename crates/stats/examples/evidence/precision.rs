//! Runs that end when their intervals are narrow enough: how often the intervals contain the truth.

use rand_chacha::ChaCha8Rng;
use tare_stats::contrast::{Contrast, Prior};

use super::{models::normal, rng};

const CONFIDENCE: f64 = 0.95;
/// Fewest and most blocks.
const BLOCKS: (usize, usize) = (6, 40);
/// Standard deviation of a block, of a row and of the common reference.
const SDS: (f64, f64) = (0.05, 0.03);

pub fn main(times: f64) {
    let runs = (2_000.0 * times) as usize;
    println!(
        "Coverage of 95% intervals (Student's t, moderated) of a run that ends when their half width is small enough on average"
    );
    println!("rows  half width  blocks  coverage  without the rule");
    for (rows, halves) in [(1, [0.05, 0.035, 0.025]), (11, [0.05, 0.035, 0.025])] {
        for half in halves {
            let mut random = rng();
            let all: Vec<Run> = (0..runs).map(|_| Run::until(&mut random, rows, half)).collect();
            let mean = |of: fn(&Run) -> f64| all.iter().map(of).sum::<f64>() / runs as f64;
            let fixed = mean(|run| run.blocks as f64).round() as usize;
            let other: f64 =
                (0..runs).map(|_| Run::of(&mut random, rows, fixed).covered).sum::<f64>() / runs as f64;
            println!(
                "{rows:>4}  {:>9.1}%  {:>6.1}  {:>7.1}%  {:>15.1}%",
                half * 100.0,
                mean(|run| run.blocks as f64),
                mean(|run| run.covered) * 100.0,
                other * 100.0
            );
        }
    }
}

/// The length of a run, and the share of its intervals that contain the truth, 0.
struct Run {
    blocks: usize,
    covered: f64,
}

impl Run {
    /// A run that ends when the mean half width is at most `half`.
    fn until(random: &mut ChaCha8Rng, rows: usize, half: f64) -> Run {
        let mut values = vec![Vec::new(); rows];
        loop {
            block(random, &mut values);
            let blocks = values[0].len();
            let narrow = blocks >= BLOCKS.0
                && intervals(&values).iter().map(|(_, own)| own).sum::<f64>() / rows as f64 <= half;
            if narrow || blocks >= BLOCKS.1 {
                return Run::found(&values);
            }
        }
    }

    /// A run with a fixed number of blocks.
    fn of(random: &mut ChaCha8Rng, rows: usize, blocks: usize) -> Run {
        let mut values = vec![Vec::new(); rows];
        (0..blocks).for_each(|_| block(random, &mut values));
        Run::found(&values)
    }

    fn found(values: &[Vec<f64>]) -> Run {
        let found = intervals(values);
        let covered = found.iter().filter(|(middle, half)| middle.abs() <= *half).count();
        Run { blocks: values[0].len(), covered: covered as f64 / found.len() as f64 }
    }
}

/// One more block of each row; the reference is in all of them.
fn block(random: &mut ChaCha8Rng, values: &mut [Vec<f64>]) {
    let reference = SDS.1 * normal(random);
    values.iter_mut().for_each(|row| row.push(SDS.0 * normal(random) - reference));
}

/// Centre and half width of the interval of each row.
fn intervals(values: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let all: Vec<Contrast> = values.iter().filter_map(|row| Contrast::of_values(row).ok()).collect();
    let prior = Prior::of(&all);
    let of = |row: &Contrast| {
        let found = row.moderated(prior.as_ref()).interval(CONFIDENCE).ok()??;
        Some((row.point, (found.high - found.low) / 2.0))
    };
    all.iter().filter_map(of).collect()
}
