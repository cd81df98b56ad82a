//! Random draws: one stream for each purpose and place. So the draws of one job do not depend on others, and
//! two policies meet the same jobs and machines.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Job,
    Attempt,
    Machine,
    Cut,
    Retry,
    Clock,
}

/// A stream for one purpose and place.
#[derive(Debug, Clone)]
pub struct Draws(ChaCha8Rng);

impl Draws {
    pub fn new(seed: u64, purpose: Purpose, place: usize) -> Draws {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(((purpose as u64) << 48) | place as u64);
        Draws(random)
    }

    /// A uniform number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0.random()
    }

    pub fn happens(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// An exponential number with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// A standard normal number (G. E. P. Box and M. E. Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let (one, other) = (self.unit(), self.unit());
        (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }

    /// A lognormal number with this median and standard deviation of its logarithm.
    pub fn lognormal(&mut self, median: f64, spread: f64) -> f64 {
        median * (spread * self.normal()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_apart_and_repeat() {
        let first = |purpose, place| Draws::new(7, purpose, place).unit();
        assert_eq!(first(Purpose::Job, 3), first(Purpose::Job, 3));
        assert_ne!(first(Purpose::Job, 3), first(Purpose::Job, 4));
        assert_ne!(first(Purpose::Job, 3), first(Purpose::Attempt, 3));
    }

    #[test]
    fn draws_have_their_means() {
        let mut draws = Draws::new(1, Purpose::Job, 0);
        let mean = |draws: &mut Draws, draw: fn(&mut Draws) -> f64| {
            (0..40_000).map(|_| draw(draws)).sum::<f64>() / 40_000.0
        };
        assert!((mean(&mut draws, |draws| draws.exponential(3.0)) - 3.0).abs() < 0.06);
        assert!(mean(&mut draws, Draws::normal).abs() < 0.02);
        assert!((mean(&mut draws, |draws| draws.normal().powi(2)) - 1.0).abs() < 0.03);
        // The mean is exp(spread^2 / 2) times the median.
        assert!((mean(&mut draws, |draws| draws.lognormal(2.0, 0.5)) - 2.0 * 0.125_f64.exp()).abs() < 0.05);
    }
}
