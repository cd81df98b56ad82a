//! Level changes of a single load's rate, such as when a runtime compiles hot code: one rate for two levels
//! describes neither. A pure function from rates of equal intervals to steps.

use std::fmt;

use tare_stats::change_points::{self, LevelChange};

use crate::figures::{percent, rate};

/// Error probability for a load with random differences only.
const ALPHA: f64 = 0.01;
/// Smallest reported step; smaller ones are common on a shared machine.
const SHARE_MIN: f64 = 0.1;

/// A step from one level to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelStep {
    /// The first interval of the new level.
    pub at: usize,
    /// The change of the rate as a share of the rate before.
    pub share: f64,
    /// Mean rates before the step, since the previous one, and after it, until the next.
    pub before_per_second: f64,
    pub after_per_second: f64,
}

/// All steps of at least 10%, in order.
pub fn steps(rates_per_second: &[f64]) -> Vec<LevelStep> {
    let logs: Vec<f64> = rates_per_second.iter().map(|rate| rate.ln()).collect();
    // An interval without an answer has no logarithm, and is reported elsewhere.
    let found = change_points::changes(&logs, ALPHA).unwrap_or_default();
    let ends = found.iter().map(|change| change.at).chain([rates_per_second.len()]);
    let levels: Vec<f64> = [0]
        .into_iter()
        .chain(found.iter().map(|change| change.at))
        .zip(ends)
        .map(|(from, to)| mean(&rates_per_second[from..to]))
        .collect();
    let step = |(change, levels): (&LevelChange, &[f64])| LevelStep {
        at: change.at,
        share: change.shift.exp_m1(),
        before_per_second: levels[0],
        after_per_second: levels[1],
    };
    let all = found.iter().zip(levels.windows(2)).map(step);
    all.filter(|step| step.share.abs() >= SHARE_MIN).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// `rose by 47.0%, from 96.0 k/s to 141 k/s`.
impl fmt::Display for LevelStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.share > 0.0 { "rose" } else { "fell" };
        let [before, after] = [self.before_per_second, self.after_per_second].map(rate);
        write!(f, "{way} by {}, from {before}/s to {after}/s", percent(self.share.abs()))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Seconds at these levels, with noise of up to 4% either way.
    fn rates(levels: &[(usize, f64)], seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let all = levels.iter().flat_map(|(seconds, level)| vec![*level; *seconds]);
        all.map(|level| level * (0.96 + 0.08 * random.random::<f64>())).collect()
    }

    #[test]
    fn a_step_is_found_with_its_place_and_its_size() {
        for (before, after) in [(60e3, 120e3), (120e3, 60e3), (100e3, 85e3)] {
            for seed in 0..20 {
                let found = steps(&rates(&[(20, before), (12, after)], seed));
                let [step] = found[..] else { panic!("{found:?}") };
                assert_eq!(step.at, 20);
                assert!((step.share / (after / before - 1.0) - 1.0).abs() < 0.3, "{step}");
            }
        }
        let step = LevelStep { at: 20, share: 0.5, before_per_second: 60e3, after_per_second: 90e3 };
        assert_eq!(step.to_string(), format!("rose by 50.0%, from {}/s to {}/s", rate(60e3), rate(90e3)));
    }

    /// 4 of 24 seconds are indistinguishable from chance, and a step of 6% is too small to report.
    #[test]
    fn few_intervals_and_small_steps_are_none() {
        for levels in [&[(20, 60.0), (4, 120.0)][..], &[(30, 100.0), (30, 106.0)], &[(7, 1.0)], &[]] {
            assert_eq!(steps(&rates(levels, 2)), [], "{levels:?}");
        }
        assert_eq!(steps(&[0.0; 40]), [], "no answer at all");
    }

    /// The test alone would be wrong in 1% of cases; a step of 10% is 2.5 times the noise.
    #[test]
    fn a_steady_rate_has_no_step() {
        assert!((0..200).all(|seed| steps(&rates(&[(40, 50e3)], seed)).is_empty()));
    }
}
