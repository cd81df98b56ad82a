//! Looking at a run while it is in progress: the signed-rank test at planned looks, with one error probability over all.
//!
//! Who looks after every block and stops at the first "significant" one finds a difference between two identical
//! services in a large share of runs. Here the looks are planned, and each spends a part of the 5%. Assumes what
//! [`crate::signed_rank`] does: blocks that are independent and symmetric about the centre. Knows no clock or budget:
//! the caller measures blocks, asks after each, and stops when told.
//!
//! ```
//! let looks = tare_stats::Looks::standard();
//! let log_ratios = [0.031, 0.027, 0.035, 0.022, 0.041, 0.030, 0.019, 0.033, 0.028, 0.037];
//! assert_eq!(looks.estimate(&log_ratios[..9])?.interval, None);
//! assert!(looks.estimate(&log_ratios)?.interval.is_some_and(|found| found.low > 0.0));
//! # Ok::<(), tare_stats::EstimateError>(())
//! ```

use crate::error::{EstimateError, check_level, check_sample};
use crate::signed_rank::{self, Estimate, Interval, NullDistribution};
use crate::warning::{self, Warning};

/// The share of alpha spent up to the share t of the blocks is t^2: more at early looks than O'Brien and Fleming, so
/// that a clear difference ends a run at its first look, and little taken from the last one.
const SPENDING_POWER: i32 = 2;

/// One look: after how many blocks, and what it takes to stop there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Number of blocks.
    pub n: usize,
    /// How many Walsh averages are cut off at each end for the interval; the look separates where min(W+, W-) is less.
    /// 0 where the look cannot separate anything: even n blocks on one side say too little.
    pub depth: usize,
}

impl Look {
    /// The two-sided error probability of this look by itself: what [`crate::ranking::rank`] is to be given as alpha
    /// when it is asked at this look. 0 where the look cannot separate anything.
    #[must_use]
    pub fn level(&self) -> f64 {
        self.depth.checked_sub(1).map_or(0.0, |most| 2.0 * NullDistribution::signed_rank(self.n).cdf(most))
    }
}

/// The looks at a run, planned before its first block.
#[derive(Debug, Clone, PartialEq)]
pub struct Looks {
    looks: Vec<Look>,
    alpha: f64,
}

impl Looks {
    /// Looks at 10, 15, 20, 30 and 40 blocks with an overall two-sided error of at most 5%.
    ///
    /// The critical |z| are 2.80, 2.67, 2.61, 2.29 and 2.11: at the first look all ten blocks must lie on one side. The
    /// depths keep within 5% t^2 at each look (t = n/40; K. Kim and D. L. DeMets, "Design and analysis of group sequential
    /// tests based on the type I error spending rate function", Biometrika 74 (1987)), for the discrete statistic itself
    /// and not for its normal limit. The error spent is 0.20%, 0.67% and 1.17% up to the third look (computed exactly),
    /// 2.80% and 4.90% up to the last two (10^8 simulated paths, standard error 0.002%). The last depth is one less than
    /// would keep to 5%: that had 4.996%, too near for a simulation to vouch for.
    ///
    /// O'Brien and Fleming's critical |z| for these looks, 3.95, 3.20, 2.80, 2.29 and 2.04, keep within 5% too (4.93%), but
    /// are no use at 10 blocks, where |z| cannot exceed 2.80, and next to none at 15.
    ///
    /// With normal noise both find a shift of half a standard deviation of a block in 85% of runs, of 0.6 in 94%, of
    /// 0.75 in 99% (94% within 30 blocks). These looks take 30, 26 and 22 blocks for it on average, those 32, 29 and 25; a
    /// shift of three standard deviations takes 10 and 15.
    #[must_use]
    pub fn standard() -> Self {
        let depths = [(10, 1), (15, 14), (20, 36), (30, 122), (40, 254)];
        Looks { looks: depths.map(|(n, depth)| Look { n, depth }).to_vec(), alpha: 0.05 }
    }

    /// Looks at any rising numbers of blocks, with an overall two-sided error of at most `alpha`.
    ///
    /// Spends alpha t^2 like [`Looks::standard`], but adds up the errors of the looks as if no two ever happened in one
    /// run (Bonferroni). That holds without a simulation, and takes a little power: for the standard looks and 5% the
    /// error is 3.5%, and |z| at 40 blocks 2.27 in place of 2.11. What a look cannot spend, being discrete, is left to the next.
    ///
    /// # Errors
    /// No looks, looks that do not rise, an alpha that is not between 0 and 1.
    pub fn planned(blocks: &[usize], alpha: f64) -> Result<Self, EstimateError> {
        check_level(alpha)?;
        let last = *blocks.last().ok_or(EstimateError::Looks { index: 0, n: 0 })?;
        let (mut looks, mut spent): (Vec<Look>, f64) = (Vec::new(), 0.0);
        for (index, &n) in blocks.iter().enumerate() {
            if n <= looks.last().map_or(0, |look: &Look| look.n) {
                return Err(EstimateError::Looks { index, n });
            }
            let allowed = alpha * (n as f64 / last as f64).powi(SPENDING_POWER);
            let depth = NullDistribution::signed_rank(n).depth((allowed - spent) / 2.0).unwrap_or(0);
            looks.push(Look { n, depth });
            spent += looks[index].level();
        }
        Ok(Looks { looks, alpha })
    }

    /// All looks, in order.
    #[must_use]
    pub fn all(&self) -> &[Look] {
        &self.looks
    }

    /// The overall two-sided error probability.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The latest look that `n` blocks have reached.
    #[must_use]
    pub fn reached(&self, n: usize) -> Option<&Look> {
        self.looks.iter().rev().find(|look| look.n <= n)
    }

    /// What the differences so far, in the order in which they were measured, say about their centre.
    ///
    /// The interval is that of the latest look reached, from the blocks up to that look: a *repeated confidence interval*
    /// (C. Jennison and B. W. Turnbull, "Interim analyses: the repeated confidence interval approach", JRSS B 51 (1989)).
    /// All intervals of a run hold the truth together with a probability of at least 1 - alpha, so each may be
    /// shown, and the run may end for whatever reason: a look whose interval leaves out 0 has found a difference, and that
    /// the last one holds 0 is no proof of equality (see [`crate::equivalence`]). Blocks after a look wait for the next
    /// one; those after the last are not used. There is no interval before the first look that can separate.
    ///
    /// # Errors
    /// An empty sample, a value that is not finite.
    pub fn estimate(&self, diffs: &[f64]) -> Result<Estimate, EstimateError> {
        check_sample(diffs)?;
        let look = self.reached(diffs.len());
        let used = &diffs[..look.map_or(diffs.len(), |look| look.n)];
        let interval = look.and_then(|look| self.interval_at(look, diffs));
        let mut warnings = Vec::new();
        if interval.is_none() {
            let first = self.looks.iter().find(|look| look.depth > 0);
            // Where no look of a plan can separate anything, what any test at this alpha takes.
            let least = || signed_rank::least_n(1.0 - self.alpha).unwrap_or(signed_rank::EXACT_MAX + 1);
            let needed = first.map_or_else(least, |look| look.n);
            warnings.push(Warning::TooFewBlocks { n: used.len(), needed });
        }
        warnings.extend(warning::inspect(used));
        Ok(Estimate { point: signed_rank::hodges_lehmann(used), interval, n: used.len(), warnings })
    }

    fn interval_at(&self, look: &Look, diffs: &[f64]) -> Option<Interval> {
        let averages = signed_rank::walsh_averages(&diffs[..look.n]);
        let low = *averages.get(look.depth.checked_sub(1)?)?;
        let high = averages[averages.len() - look.depth];
        Some(Interval { low, high, attained: 1.0 - self.alpha })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_look_asks_for_all_blocks_on_one_side() {
        let mut diffs: Vec<f64> = (1..=10).map(f64::from).collect();
        let interval = Looks::standard().estimate(&diffs).unwrap().interval.unwrap();
        assert_eq!((interval.low, interval.high, interval.attained), (1.0, 10.0, 0.95));
        diffs[0] = -1.0;
        let found = Looks::standard().estimate(&diffs).unwrap();
        assert!(found.interval.unwrap().holds(0.0));
    }

    #[test]
    fn before_the_first_look_there_is_an_estimate_only() {
        let found = Looks::standard().estimate(&[-1.0, -3.0, -2.0]).unwrap();
        assert_eq!((found.point, found.interval), (-2.0, None));
        assert_eq!(found.warnings, [Warning::TooFewBlocks { n: 3, needed: 10 }]);
    }

    #[test]
    fn blocks_between_looks_and_after_the_last_wait() {
        let wave: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 61) - 30.0).collect();
        let looks = Looks::standard();
        assert_eq!(looks.estimate(&wave[..20]), looks.estimate(&wave[..29]));
        assert_eq!(looks.estimate(&wave).unwrap().n, 40);
    }

    #[test]
    fn planned_looks_never_spend_more_than_alpha() {
        for (blocks, alpha) in [(vec![10, 15, 20, 30, 40], 0.05), (vec![6, 9, 14], 0.05), (vec![12], 0.01)] {
            let looks = Looks::planned(&blocks, alpha).unwrap();
            let spent: f64 = looks.all().iter().map(Look::level).sum();
            assert!(spent <= alpha && spent > 0.8 * alpha, "{blocks:?}: {spent}");
        }
        // A single look is the plain test.
        let single = Looks::planned(&[20], 0.05).unwrap();
        assert_eq!(single.all()[0].depth, NullDistribution::signed_rank(20).depth(0.025).unwrap());
    }

    #[test]
    fn a_plan_that_can_separate_nothing_says_what_it_takes() {
        let found = Looks::planned(&[3, 5], 0.05).unwrap().estimate(&[1.0; 5]).unwrap();
        assert_eq!(found.interval, None);
        assert_eq!(found.warnings[0], Warning::TooFewBlocks { n: 5, needed: 6 });
    }

    #[test]
    fn plans_that_make_no_sense_are_refused() {
        assert_eq!(Looks::planned(&[], 0.05), Err(EstimateError::Looks { index: 0, n: 0 }));
        assert_eq!(Looks::planned(&[0, 4], 0.05), Err(EstimateError::Looks { index: 0, n: 0 }));
        assert_eq!(Looks::planned(&[10, 10], 0.05), Err(EstimateError::Looks { index: 1, n: 10 }));
        assert_eq!(Looks::planned(&[10], 1.0), Err(EstimateError::Level { value: 1.0 }));
        assert_eq!(Looks::standard().estimate(&[]), Err(EstimateError::Empty));
    }

    #[test]
    fn looks_are_found_by_the_number_of_blocks() {
        let looks = Looks::standard();
        assert_eq!(looks.reached(9), None);
        assert_eq!(looks.reached(19).map(|look| look.n), Some(15));
        let levels: Vec<f64> = looks.all().iter().map(Look::level).collect();
        assert!(levels.is_sorted() && levels[0] == 2.0 / 1024.0, "{levels:?}");
    }
}
