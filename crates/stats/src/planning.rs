//! How many blocks a question takes, from those there are. An estimate to plan by, not a claim about services.

use crate::error::{EstimateError, check_level, check_sample};
use crate::{normal, signed_rank};

/// More blocks than this are not worth an answer: the pair is as good as equal.
pub const BLOCKS_MAX: usize = 2000;

/// The standard deviation of normal data, from the median distance between two values: Shamos' estimator, which uses
/// more of the sample than the MAD (86% of what the normal distribution allows, to 37%) and bears a quarter of it being
/// wild. 0 where there are fewer than two values.
///
/// Source: M. I. Shamos, "Geometry and statistics: problems at the interface" (1976); P. J. Rousseeuw and C. Croux,
/// "Alternatives to the median absolute deviation", JASA 88 (1993).
///
/// # Errors
/// An empty sample, a value that is not finite.
pub fn robust_sd(values: &[f64]) -> Result<f64, EstimateError> {
    check_sample(values)?;
    let mut distances = Vec::new();
    for (i, a) in values.iter().enumerate() {
        distances.extend(values[i + 1..].iter().map(|b| (a - b).abs()));
    }
    if distances.is_empty() {
        return Ok(0.0);
    }
    distances.sort_unstable_by(f64::total_cmp);
    // 1 / (sqrt(2) z(3/4)): the median distance of two normal values.
    Ok(signed_rank::middle(&distances) / (std::f64::consts::SQRT_2 * normal::quantile(0.75)))
}

/// How many blocks more would separate the two services whose log ratios these are, with a probability of `power`, by a
/// test at `alpha` (two-sided), if effect and spread are what they seem to be. 0 where there should be enough already;
/// `None` where there is no effect, or one so small that it would take more than [`BLOCKS_MAX`].
///
/// The effect is the Hodges-Lehmann estimate, the spread [`robust_sd`]. The mean of W+ is taken as for a shifted normal
/// distribution, its variance as that under the null hypothesis shrunk as the signs begin to agree: after G. E. Noether,
/// "Sample size determination for some common nonparametric tests", JASA 82 (1987), who leaves out the shrinking and so
/// never asks for fewer than 14. For one pair of m services under Holm give alpha / (m(m-1)/2), which errs on the safe
/// side. Effect and spread known, normal noise, the blocks found the difference in 80 to 85% of runs where 80% were
/// asked for, and in 89 to 92% where 90% were (effects of 0.25 to 1 standard deviations; of 2, where either answer is six, in 87%).
/// But an estimate from few blocks is itself uncertain: of runs that need 20 in truth, asked after ten, a quarter is
/// told 12 or fewer and a quarter 38 or more.
///
/// # Errors
/// An empty sample, a value that is not finite, an alpha or a power that is not between 0 and 1.
pub fn blocks_to_separate(diffs: &[f64], alpha: f64, power: f64) -> Result<Option<usize>, EstimateError> {
    let sd = robust_sd(diffs)?;
    let effect = signed_rank::hodges_lehmann(diffs).abs();
    // Without an effect nothing may be divided: 0 / 0 where the blocks are all alike.
    let sds = if effect == 0.0 { 0.0 } else { effect / sd };
    Ok(blocks_for(sds, alpha, power)?.map(|needed| needed.saturating_sub(diffs.len())))
}

/// How many blocks in all separate two services that are `effect_sds` standard deviations of a block's log ratio apart
/// (infinite where there is no spread); `None` for more than [`BLOCKS_MAX`]. See [`blocks_to_separate`].
///
/// # Errors
/// An alpha or a power that is not between 0 and 1.
pub fn blocks_for(effect_sds: f64, alpha: f64, power: f64) -> Result<Option<usize>, EstimateError> {
    check_level(alpha)?;
    check_level(power)?;
    let (z_alpha, z_power) = (normal::quantile(1.0 - alpha / 2.0), normal::quantile(power));
    let one = normal::cdf(effect_sds);
    let two = normal::cdf(std::f64::consts::SQRT_2 * effect_sds);
    let shrunk = (4.0 * two * (1.0 - two)).sqrt();
    let enough = |n: usize| {
        let n = n as f64;
        let null_mean = n * (n + 1.0) / 4.0;
        let null_sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let mean = n * one + n * (n - 1.0) / 2.0 * two;
        // All on one side must be possible to call: 2^(1-n) <= alpha.
        mean - null_mean >= null_sd * (z_alpha + z_power * shrunk) && (1.0 - n).exp2() <= alpha
    };
    Ok((1..=BLOCKS_MAX).find(|&n| enough(n)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_known_samples() {
        // Distances of 1 2 4: 1, 2, 3; the median is 2.
        let expected = 2.0 / (std::f64::consts::SQRT_2 * 0.674_489_750_196_081_7);
        assert!((robust_sd(&[1.0, 2.0, 4.0]).unwrap() - expected).abs() < 1e-7);
        assert_eq!((robust_sd(&[3.0]), robust_sd(&[3.0; 5])), (Ok(0.0), Ok(0.0)));
        assert_eq!(robust_sd(&[]), Err(EstimateError::Empty));
    }

    #[test]
    fn equal_services_are_never_separated() {
        assert_eq!(blocks_to_separate(&[0.0; 8], 0.05, 0.8), Ok(None));
        assert_eq!(blocks_to_separate(&[1.0, -1.0, 2.0, -2.0], 0.05, 0.8), Ok(None));
        let hardly: Vec<f64> = (0..20).map(|i| f64::from(i) - 9.499).collect();
        assert_eq!(blocks_to_separate(&hardly, 0.05, 0.8), Ok(None));
    }

    #[test]
    fn what_is_clear_takes_the_fewest_blocks() {
        assert_eq!(blocks_to_separate(&[0.1; 3], 0.05, 0.9), Ok(Some(3)));
        assert_eq!(blocks_to_separate(&[0.1; 9], 0.05, 0.9), Ok(Some(0)));
    }

    #[test]
    fn small_effects_take_what_noether_says() {
        // (z(.975) + z(.8))^2 / (3 (p - 1/2)^2) with p = cdf(sqrt(2) / 5) = 0.6114: 211 by his formula.
        let found = blocks_for(0.2, 0.05, 0.8).unwrap().unwrap();
        assert!((200..=216).contains(&found), "{found}");
        assert!(blocks_for(0.2, 0.05, 0.9).unwrap() > Some(found));
        assert_eq!(blocks_for(1.0, 0.05, 1.0), Err(EstimateError::Level { value: 1.0 }));
    }
}
