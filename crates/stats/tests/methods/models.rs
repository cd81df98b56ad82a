//! Noise models for testing the methods: log ratios of two equal services, block after block.
// Each test and the example use a part of them.
#![allow(dead_code)]

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The distribution of blocks. Each model has a mean of 0.
#[derive(Debug, Clone, Copy)]
pub enum Model {
    Normal,
    /// Student's t with 3 degrees of freedom: heavier tails than any benchmark should have.
    T3,
    /// One block in ten has ten times the spread.
    Contaminated,
    /// Each process draws a fast or a slow layout for its whole life, which outweighs the noise of its slices.
    Process,
    /// A drifting machine: its speed is AR(1) with this correlation from slice to slice, and three times the
    /// spread of a slice's own noise. Services have eight slices per block, in random order per round.
    Machine(f64),
    /// Log-normal slowdowns of the subject only: skewed, with a mean of 0.
    OneSided,
    /// Autocorrelated blocks with this correlation: drift that pairing did not cancel.
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
            Model::OneSided => (0.8 * normal(rng)).exp() - 0.32_f64.exp(),
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

/// One block of two services on a drifting machine.
fn machine(rho: f64, speed: &mut f64, rng: &mut ChaCha8Rng) -> f64 {
    let mut slice = || 3.0 * autoregress(rho, speed, rng) + normal(rng);
    let rounds: Vec<f64> = (0..8).map(|_| slice() - slice()).collect();
    let sign = |difference: f64| if rng.random::<bool>() { difference } else { -difference };
    rounds.into_iter().map(sign).sum::<f64>() / 8.0
}

/// One service in one block: its layout plus the mean of eight slices.
fn process(rng: &mut ChaCha8Rng) -> f64 {
    let layout = if rng.random::<f64>() < 0.3 { 2.0 } else { 0.0 };
    layout + (0..8).map(|_| normal(rng)).sum::<f64>() / 8.0
}

/// Runs of this number of rows by two metrics, without any true difference. Metrics of one row are
/// correlated, and so are the rows of one run, which share a reference.
pub fn family(rows: usize, runs: usize, metrics: f64, shared: f64, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut common = || (0..runs).map(|_| normal(rng)).collect::<Vec<f64>>();
    let of_run = [common(), common()];
    let mut all = Vec::new();
    for _ in 0..rows {
        let own: Vec<f64> = common();
        let other = common();
        let both = own
            .iter()
            .zip(&other)
            .map(|(one, other)| metrics * one + (1.0 - metrics * metrics).sqrt() * other);
        let both: Vec<f64> = both.collect();
        for (own, of_run) in [own, both].iter().zip(&of_run) {
            let mix = own.iter().zip(of_run);
            all.push(mix.map(|(own, run)| shared.sqrt() * run + (1.0 - shared).sqrt() * own).collect());
        }
    }
    all
}
