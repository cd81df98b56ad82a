//! Planning of an experiment: the expected interval of a mean of values with a known spread, and the
//! difference that it can detect. By Student's t, for normal values.

use crate::{contrast::LEAST_CONTRASTS, student::two_sided_quantile};

/// A contrast among `contrasts` of the same run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Planned {
    /// Standard deviation of a value.
    pub sd: f64,
    /// Contrasts of the run, including this one.
    pub contrasts: usize,
}

impl Planned {
    /// Half width of the expected interval of the mean of `n` values; absent for fewer than two.
    pub fn half_width(&self, n: usize, confidence: f64) -> Option<f64> {
        (n >= 2).then(|| two_sided_quantile(confidence, self.freedom(n)) * self.sd / (n as f64).sqrt())
    }

    /// Other contrasts with similar noise double the degrees of freedom (see [`crate::contrast`]).
    fn freedom(&self, n: usize) -> usize {
        if self.contrasts >= LEAST_CONTRASTS { 2 * (n - 1) } else { n - 1 }
    }

    /// The fewest values with a half width of at most `half`; absent if `most` are too few.
    pub fn values_needed(&self, half: f64, confidence: f64, most: usize) -> Option<usize> {
        (2..=most).find(|n| self.half_width(*n, confidence).is_some_and(|found| found <= half))
    }

    /// The mean that a test at level `alpha` detects with this probability (above 0.5). A sum of two
    /// quantiles approximates the noncentral distribution, as usual.
    pub fn smallest_found(&self, n: usize, alpha: f64, probability: f64) -> Option<f64> {
        let found = self.half_width(n, 1.0 - alpha)?;
        Some(found + self.half_width(n, 2.0 * probability - 1.0)?)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::contrast::Contrast;

    #[test]
    fn it_is_the_interval_of_student() {
        // t(5) = 2.5706: 2.5706 x 3 / sqrt(6).
        let alone = Planned { sd: 3.0, contrasts: 1 };
        assert!((alone.half_width(6, 0.95).unwrap() - 3.1483).abs() < 1e-3);
        // Among others t(10) = 2.2281.
        let among = Planned { contrasts: 11, ..alone };
        assert!((among.half_width(6, 0.95).unwrap() - 2.7289).abs() < 1e-3);
        assert_eq!((alone.half_width(1, 0.95), alone.values_needed(0.5, 0.95, 20)), (None, None));
        let needed = alone.values_needed(2.0, 0.95, 40).unwrap();
        assert!(
            alone.half_width(needed, 0.95) <= Some(2.0) && alone.half_width(needed - 1, 0.95) > Some(2.0)
        );
    }

    /// 2,000 simulations each: a share of 80% has a standard error of 0.9.
    #[test]
    fn what_is_said_to_be_found_is_found() {
        let mut random = ChaCha8Rng::seed_from_u64(0x7a5e);
        for (n, alpha) in [(6, 0.05), (12, 0.05), (8, 0.05 / 66.0)] {
            let difference = Planned { sd: 1.0, contrasts: 1 }.smallest_found(n, alpha, 0.8).unwrap();
            // The sum of twelve uniform values is close enough to normal here.
            let mut value = || difference - 6.0 + (0..12).map(|_| random.random::<f64>()).sum::<f64>();
            let mut finds = |_: &i32| {
                let values: Vec<f64> = (0..n).map(|_| value()).collect();
                Contrast::of_values(&values).unwrap().p_value() < alpha
            };
            let share = (0..2_000).filter(|simulation| finds(simulation)).count() as f64 / 2_000.0;
            // Central quantiles are slightly off, more so for few values.
            assert!((0.74..0.88).contains(&share), "{n} at {alpha}: {share}");
        }
    }
}
