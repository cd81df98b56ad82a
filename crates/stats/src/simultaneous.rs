//! Many means at once, such as the difference of each function of a program, with intervals that all hold together.
//!
//! The blocks are the samples, and all quantities of one block belong together: they may depend on one another in any way. The interval of
//! each is its mean plus and minus one common multiple of its standard error. The multiple is the quantile of the largest |t| over all
//! quantities if the signs of the blocks' residuals are flipped at random (a wild bootstrap with Rademacher's weights). Quantities that
//! move together so cost less than with Bonferroni's correction, which bounds the multiple from above; Student's quantile for one quantity
//! bounds it from below.
//!
//! Sources: P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing (1993); R. Y. Liu, "Bootstrap Procedures under some
//! Non-I.I.D. Models", Annals of Statistics 16 (1988).

use serde::{Deserialize, Serialize};

use crate::student;

/// With fewer blocks there are too few patterns of signs for a quantile.
pub const BLOCKS_MIN: usize = 6;
/// Patterns of signs that are tried. All of up to 12 blocks, as a pattern and its opposite give the same |t|.
const PATTERNS_MAX: usize = 1 << 11;

/// A mean over blocks, and its interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanInterval {
    /// The mean over all blocks.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl MeanInterval {
    /// Whether the interval does not contain 0.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// The means of these series, each with one value a block, and intervals that contain all true means with `confidence`. `None` with fewer
/// than [`BLOCKS_MIN`] blocks, or if the series have different lengths.
#[must_use]
pub fn means(series: &[Vec<f64>], confidence: f64) -> Option<Vec<MeanInterval>> {
    let blocks = series.first()?.len();
    if blocks < BLOCKS_MIN || series.iter().any(|one| one.len() != blocks) {
        return None;
    }
    let n = blocks as f64;
    let centred: Vec<(f64, Vec<f64>, f64)> = series.iter().map(|one| centred(one)).collect();
    let multiple = multiple(&centred, blocks, confidence);
    let of = |(mean, _, squares): &(f64, Vec<f64>, f64)| {
        let half = multiple * (squares / (n - 1.0) / n).sqrt();
        MeanInterval { mean: *mean, low: mean - half, high: mean + half }
    };
    Some(centred.iter().map(of).collect())
}

/// The mean, the residuals, and the sum of their squares.
fn centred(series: &[f64]) -> (f64, Vec<f64>, f64) {
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let residuals: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let squares = residuals.iter().map(|residual| residual * residual).sum();
    (mean, residuals, squares)
}

/// The common multiple of standard errors.
fn multiple(centred: &[(f64, Vec<f64>, f64)], blocks: usize, confidence: f64) -> f64 {
    let df = blocks - 1;
    let varying: Vec<&(f64, Vec<f64>, f64)> =
        centred.iter().filter(|(_, _, squares)| *squares > 0.0).collect();
    let one = student::two_sided_quantile(confidence, df);
    let all = student::two_sided_quantile(1.0 - (1.0 - confidence) / varying.len().max(1) as f64, df);
    let greatest = |signs: u64| {
        varying.iter().map(|(_, residuals, squares)| t(residuals, *squares, signs)).fold(0.0, f64::max)
    };
    let mut found: Vec<f64> = patterns(blocks).map(greatest).collect();
    found.sort_by(f64::total_cmp);
    let place = ((found.len() as f64 * confidence).ceil() as usize).clamp(1, found.len()) - 1;
    found[place].clamp(one, all)
}

/// |t| of residuals with some signs flipped, which keeps their squares.
fn t(residuals: &[f64], squares: f64, signs: u64) -> f64 {
    let n = residuals.len() as f64;
    let signed = residuals.iter().enumerate().map(|(block, residual)| match signs >> (block % 64) & 1 {
        0 => *residual,
        _ => -residual,
    });
    let mean = signed.sum::<f64>() / n;
    let variance = ((squares - n * mean * mean) / (n - 1.0)).max(f64::MIN_POSITIVE);
    mean.abs() / (variance / n).sqrt()
}

/// Patterns of signs: all, or as many that are spread over all.
fn patterns(blocks: usize) -> Box<dyn Iterator<Item = u64>> {
    match 1_usize.checked_shl(blocks as u32 - 1).filter(|all| *all <= PATTERNS_MAX) {
        Some(all) => Box::new((0..all as u64).map(|pattern| pattern << 1)),
        None => Box::new((0..PATTERNS_MAX as u64).map(mixed)),
    }
}

/// Mixes the bits of a number, so that consecutive ones are unlike each other.
///
/// Source: G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA (2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// About normal: the sum of twelve uniform numbers.
    fn noise(random: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Series of a program in which functions share noise: callers have that of what they call, and all that of their block.
    fn program(random: &mut ChaCha8Rng, functions: usize, blocks: usize) -> Vec<Vec<f64>> {
        let of_block: Vec<f64> = (0..blocks).map(|_| noise(random)).collect();
        let mut series: Vec<Vec<f64>> = Vec::new();
        for function in 0..functions {
            let own: Vec<f64> = of_block.iter().map(|shared| 0.5 * shared + noise(random)).collect();
            let called = function.checked_sub(1).filter(|_| function % 3 == 0).map(|other| &series[other]);
            series.push(match called {
                Some(called) => own.iter().zip(called).map(|(own, called)| own * 0.2 + called).collect(),
                None => own,
            });
        }
        series
    }

    /// The share of programs whose intervals all contain what is true.
    fn coverage(functions: usize, blocks: usize, programs: u64) -> f64 {
        let holds = |seed: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut series = program(&mut random, functions, blocks);
            let shift = |function: usize| if function == 1 { 40.0 } else { 0.0 };
            for (function, one) in series.iter_mut().enumerate() {
                one.iter_mut().for_each(|value| *value += shift(function));
            }
            let found = means(&series, 0.95).unwrap();
            found
                .iter()
                .enumerate()
                .all(|(function, one)| one.low <= shift(function) && shift(function) <= one.high)
        };
        (0..programs).filter(|seed| holds(*seed)).count() as f64 / programs as f64
    }

    #[test]
    fn all_intervals_hold_together() {
        for (functions, blocks) in [(1, 8), (30, 8), (30, 12), (80, 14)] {
            let found = coverage(functions, blocks, 300);
            // Three standard errors of 300 trials at 95%.
            assert!((0.912..=0.99).contains(&found), "{functions} functions, {blocks} blocks: {found}");
        }
    }

    #[test]
    fn between_equal_programs_nothing_differs() {
        let names_one = |seed: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(1000 + seed);
            let found = means(&program(&mut random, 40, 12), 0.95).unwrap();
            found.iter().any(MeanInterval::excludes_zero)
        };
        let wrong = (0..300).filter(|seed| names_one(*seed)).count();
        assert!(wrong <= 26, "{wrong} of 300");
    }

    #[test]
    fn what_moves_together_costs_less_than_bonferroni() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let one: Vec<f64> = (0..12).map(|_| noise(&mut random)).collect();
        let alike = vec![one.clone(); 50];
        let [alone, among] = [&[one][..], &alike[..]].map(|series| means(series, 0.95).unwrap()[0]);
        assert_eq!(alone, among);
    }

    #[test]
    fn a_steady_series_has_no_width_and_few_blocks_no_interval() {
        let found = means(&[vec![3.0; 8], vec![0.0; 8]], 0.95).unwrap();
        assert_eq!((found[0].low, found[0].high, found[1].mean), (3.0, 3.0, 0.0));
        assert!(found[0].excludes_zero() && !found[1].excludes_zero());
        assert_eq!(means(&[vec![1.0; BLOCKS_MIN - 1]], 0.95), None);
        assert_eq!(means(&[vec![1.0; 8], vec![1.0; 7]], 0.95), None);
        assert_eq!(means(&[], 0.95), None);
    }

    #[test]
    fn many_blocks_use_patterns_that_differ() {
        let patterns: std::collections::BTreeSet<u64> =
            patterns(40).map(|pattern| pattern & ((1 << 40) - 1)).collect();
        assert_eq!(patterns.len(), PATTERNS_MAX);
    }
}
