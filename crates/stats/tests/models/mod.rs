//! Noise to try the methods on: log ratios of two services of which neither is ahead, block after block.
// Each test and the example use a part of it.
#![allow(dead_code)]

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// What the blocks of a run have in common with those of a bad day. Each is symmetric about 0.
#[derive(Debug, Clone, Copy)]
pub enum Model {
    Normal,
    /// Student's t with 3 degrees of freedom: heavier tails than any benchmark should have.
    T3,
    /// One block in ten has ten times the spread.
    Contaminated,
    /// Each process draws a fast or a slow layout for its whole life, which outweighs the noise of its slices.
    Process,
    /// A machine that drifts: its speed is AR(1) with this correlation from slice to slice, with three times the spread of the
    /// slices' own noise. Both services have eight slices a block side by side, in an order drawn for each round.
    Machine(f64),
    /// Blocks resemble the one before with this correlation: what pairing did not cancel drifts.
    Drift(f64),
}

pub const INDEPENDENT: [(&str, Model); 4] = [
    ("normal", Model::Normal),
    ("t3", Model::T3),
    ("10% wild", Model::Contaminated),
    ("process", Model::Process),
];

pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    // Box-Muller; 1 - u keeps the logarithm away from 0.
    let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

impl Model {
    /// The log ratios of `n` blocks.
    pub fn blocks(self, n: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut before = normal(rng);
        (0..n).map(|_| self.block(&mut before, rng)).collect()
    }

    fn block(self, before: &mut f64, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Model::Normal => normal(rng),
            Model::T3 => {
                let chi_squared: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
                normal(rng) / (chi_squared / 3.0).sqrt()
            }
            Model::Contaminated => normal(rng) * if rng.random::<f64>() < 0.1 { 10.0 } else { 1.0 },
            Model::Process => process(rng) - process(rng),
            Model::Machine(rho) => machine(rho, before, rng),
            Model::Drift(rho) => autoregress(rho, before, rng),
        }
    }
}

/// The next value of a series with variance 1.
fn autoregress(rho: f64, before: &mut f64, rng: &mut ChaCha8Rng) -> f64 {
    *before = rho * *before + (1.0 - rho * rho).sqrt() * normal(rng);
    *before
}

/// One block of two services on a machine that drifts.
fn machine(rho: f64, speed: &mut f64, rng: &mut ChaCha8Rng) -> f64 {
    let mut slice = || 3.0 * autoregress(rho, speed, rng) + normal(rng);
    let rounds: Vec<f64> = (0..8).map(|_| slice() - slice()).collect();
    let sign = |difference: f64| if rng.random::<bool>() { difference } else { -difference };
    rounds.into_iter().map(sign).sum::<f64>() / 8.0
}

/// One service in one block: its layout, and the mean of eight slices.
fn process(rng: &mut ChaCha8Rng) -> f64 {
    let layout = if rng.random::<f64>() < 0.3 { 2.0 } else { 0.0 };
    layout + (0..8).map(|_| normal(rng)).sum::<f64>() / 8.0
}

/// The smaller of W+ and W- after each of `looks` blocks, where neither service is ahead. Signs are then fair coins that
/// know nothing of the ranks, so random bits do: the high ones order the sizes, the lowest is the sign. No distribution is
/// assumed.
pub fn smaller_sums<const LOOKS: usize>(looks: [usize; LOOKS], rng: &mut ChaCha8Rng) -> [u16; LOOKS] {
    let mut sorted = [0_u64; 64];
    let (mut smaller, mut look) = ([0; LOOKS], 0);
    for n in 1..=looks[LOOKS - 1] {
        let value = rng.random::<u64>();
        let at = sorted[..n - 1].partition_point(|other| *other < value);
        sorted.copy_within(at..n - 1, at + 1);
        sorted[at] = value;
        if n == looks[look] {
            let plus: u64 = sorted[..n].iter().zip(1..).map(|(value, rank)| (value & 1) * rank).sum();
            let all = (n * (n + 1) / 2) as u64;
            smaller[look] = plus.min(all - plus) as u16;
            look += 1;
        }
    }
    smaller
}
