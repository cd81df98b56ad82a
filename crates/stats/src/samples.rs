//! The number of samples that a quantile needs to be more informative than the largest value.
//!
//! The largest of `n` samples lies below the true quantile `q` with probability `q^n`. If that exceeds 5%,
//! the true quantile may well lie above all samples, and nothing bounds it. So a quantile needs `n >=
//! ln(0.05) / ln(q)` samples, about `3 / (1 - q)`: 59 for the 95th percentile, 299 for the 99th, 2,995 for
//! the 99.9th.
//!
//! Source: S. S. Wilks, "Determination of sample sizes for setting tolerance limits", The Annals of Mathematical Statistics 12 (1941).

/// Allowed probability that the true quantile lies above all samples.
pub const BEYOND_ALL_MAX: f64 = 0.05;

/// The fewest samples that support the quantile of `probability`. Minimum and maximum need one sample.
#[must_use]
pub fn samples_min(probability: f64) -> u64 {
    if !(probability > 0.0 && probability < 1.0) {
        return 1;
    }
    // Below the median, the minimum takes the place of the maximum.
    let upper = probability.max(1.0 - probability);
    (BEYOND_ALL_MAX.ln() / upper.ln()).ceil() as u64
}

/// Whether this number of samples supports the quantile of `probability`.
#[must_use]
pub fn carry(samples: u64, probability: f64) -> bool {
    samples >= samples_min(probability)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_sizes_are_those_of_wilks() {
        let table = [
            (0.5, 5),
            (0.75, 11),
            (0.9, 29),
            (0.95, 59),
            (0.99, 299),
            (0.999, 2_995),
            (0.9999, 29_956),
            (0.05, 59),
            (1.0, 1),
            (0.0, 1),
        ];
        for (probability, samples) in table {
            assert_eq!(samples_min(probability), samples, "{probability}");
            assert!(carry(samples, probability) && !carry(samples - 1, probability), "{probability}");
        }
    }

    proptest! {
        #[test]
        fn with_the_fewest_samples_the_largest_lies_above_the_quantile_in_19_of_20(probability in 0.5..0.999_99_f64) {
            let (samples, fewer) = (samples_min(probability) as f64, samples_min(probability) as f64 - 1.0);
            prop_assert!(probability.powf(samples) <= BEYOND_ALL_MAX * (1.0 + 1e-9));
            prop_assert!(probability.powf(fewer) > BEYOND_ALL_MAX * (1.0 - 1e-9));
        }
    }
}
