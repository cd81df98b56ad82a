//! The gain of the neighbour adjustment, and whether intervals still contain the truth.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use tare_stats::{
    contrast::{Contrast, Prior},
    neighbours::{Moment, explained},
};

use super::{models::normal, rng};

const CONFIDENCE: f64 = 0.95;
/// Rows and rounds of a block, and blocks of a run, as in `quick`. The first row is the reference.
const ROWS: usize = 13;
const ROUNDS: usize = 27;
const BLOCKS: usize = 9;
/// Standard deviations as in that run: of the machine's state (correlation 0.85), a slice, and a process.
const STATE_SD: f64 = 0.135;
const SLICE_SD: f64 = 0.12;
const PROCESS_SD: f64 = 0.015;

pub fn main(times: f64) {
    let runs = (400.0 * times) as usize;
    println!(
        "{runs} runs of {BLOCKS} blocks, {ROWS} rows, {ROUNDS} slices each; by the correlation of the machine's state from slice to slice"
    );
    println!(
        "correlation  half width as measured, adjusted  coverage as measured, adjusted  apart from 0 of two alike"
    );
    for correlation in [0.0, 0.5, 0.85, 0.95, 0.99] {
        let mut random = rng();
        let all: Vec<[Found; 2]> = (0..runs).map(|_| run(correlation, &mut random)).collect();
        let mean = |which: usize, of: fn(&Found) -> f64| {
            100.0 * all.iter().map(|run| of(&run[which])).sum::<f64>() / runs as f64
        };
        println!(
            "{correlation:>11}  {:>23.2}%, {:>7.2}%  {:>21.1}%, {:>7.1}%  {:>16.1}%, {:.1}%",
            mean(0, |run| run.half),
            mean(1, |run| run.half),
            mean(0, |run| run.covered),
            mean(1, |run| run.covered),
            mean(0, |run| run.separated),
            mean(1, |run| run.separated)
        );
    }
    println!();
}

/// Means over the rows of a run.
struct Found {
    half: f64,
    covered: f64,
    /// 1 if the first row is separated from the reference, although it is equal.
    separated: f64,
}

/// The results as measured, and adjusted.
fn run(correlation: f64, random: &mut ChaCha8Rng) -> [Found; 2] {
    let blocks: Vec<[Vec<f64>; 2]> = (0..BLOCKS).map(|_| block(correlation, random)).collect();
    [0, 1].map(|which| {
        let logs = |row: usize| -> Vec<f64> {
            blocks.iter().map(|block| block[which][row] - block[which][0]).collect()
        };
        let all: Vec<Contrast> = (1..ROWS).filter_map(|row| Contrast::of_values(&logs(row)).ok()).collect();
        let prior = Prior::of(&all);
        let of = |row: &Contrast| row.moderated(prior.as_ref()).interval(CONFIDENCE).ok().flatten();
        let found: Vec<(f64, f64)> = all.iter().filter_map(of).map(|found| (found.low, found.high)).collect();
        let mean = |of: fn(&(f64, f64)) -> f64| found.iter().map(of).sum::<f64>() / found.len() as f64;
        let holds = |(low, high): &(f64, f64)| f64::from(u8::from(*low <= 0.0 && 0.0 <= *high));
        Found {
            half: mean(|(low, high)| (high - low) / 2.0),
            covered: found.iter().map(holds).sum::<f64>() / found.len() as f64,
            separated: 1.0 - found.first().map_or(1.0, holds),
        }
    })
}

/// The log cost of each row in a block, all with the same true value: as measured, and adjusted.
fn block(correlation: f64, random: &mut ChaCha8Rng) -> [Vec<f64>; 2] {
    let processes: Vec<f64> = (0..ROWS).map(|_| PROCESS_SD * normal(random)).collect();
    let (mut state, mut values) = (normal(random), Vec::new());
    for _ in 0..ROUNDS {
        let mut order: Vec<usize> = (0..ROWS).collect();
        order.shuffle(random);
        for series in order {
            state = correlation * state + (1.0 - correlation * correlation).sqrt() * normal(random);
            let log = processes[series] + STATE_SD * state + SLICE_SD * normal(random);
            values.push(Some(Moment { series, log }));
        }
    }
    let parts = explained(&values);
    let mean = |row: usize, share: f64| {
        let own = values.iter().flatten().zip(&parts).filter(|(moment, _)| moment.series == row);
        own.map(|(moment, part)| moment.log - share * part).sum::<f64>() / ROUNDS as f64
    };
    [0.0, 1.0].map(|share| (0..ROWS).map(|row| mean(row, share)).collect())
}
