//! Interim analysis of a run: Student's t at planned looks, with one error probability over all of them.
//!
//! Testing after every block and stopping at the first "significant" result finds a difference between
//! identical services in a large share of runs. Here looks are planned, and each spends a part of the 5%.
//! Same assumptions as [`crate::contrast`]. The caller measures blocks, asks after each, and stops at a
//! decision.
//!
//! ```
//! let looks = tare_stats::Looks::planned(&[10, 15, 20, 30, 40], 0.05)?;
//! let log_ratios = [0.031, 0.027, 0.035, 0.022, 0.041, 0.030, 0.019, 0.033, 0.028, 0.037];
//! assert_eq!(looks.estimate(&log_ratios[..9])?.interval, None);
//! assert!(looks.estimate(&log_ratios)?.interval.is_some_and(|found| found.low > 0.0));
//! # Ok::<(), tare_stats::EstimateError>(())
//! ```

use crate::contrast::{Contrast, LEAST_STARTS};
use crate::error::{EstimateError, check_level, check_sample};
use crate::estimate::{Estimate, Interval};
use crate::normal;
use crate::warning::{self, Warning};

/// The error spent up to the share t of the blocks is alpha t^2. That is more at early looks than O'Brien and
/// Fleming, so a clear difference ends a run early, and costs the last look little.
const SPENDING_POWER: i32 = 2;

/// If noise is estimated from few blocks, each look errs slightly more than its level. Leaving this share of
/// alpha, divided by the blocks of the first look, unspent keeps the total below alpha, by simulation.
const UNSPENT_SHARE: f64 = 2.0 / 3.0;

/// One look: its number of blocks, and its error probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Number of blocks.
    pub n: usize,
    /// The two-sided error probability of a single test at this look. Over all looks they add up to more than
    /// alpha, because a run that errs at one look often errs at the next.
    pub level: f64,
    /// The part of alpha that this look spends, for [`crate::ranking::rank`]; in total at most alpha.
    pub spent: f64,
}

/// The looks at a run, planned before its first block.
#[derive(Debug, Clone, PartialEq)]
pub struct Looks {
    looks: Vec<Look>,
    alpha: f64,
}

impl Looks {
    /// Looks at increasing numbers of blocks, with an overall two-sided error of `alpha` for one question.
    ///
    /// The error spent up to each look is alpha t^2, with t its share of the last look's blocks (K. Kim and
    /// D. L. DeMets, "Design and analysis of group sequential tests based on the type I error spending rate
    /// function", Biometrika 74 (1987)). The levels follow from the joint distribution of the looks' means
    /// (P. Armitage, C. K. McPherson and B. C. Rowe, "Repeated significance tests on accumulating data", JRSS
    /// A 132 (1969)). That is exact for a known variance; with an estimated one each look is Student's t at
    /// that level (C. Jennison and B. W. Turnbull, Group Sequential Methods (2000), section 4.4). Simulated
    /// errors at 5%, with looks at 12, 16, 20, 30 and 40 blocks or at 4, 5, 6, 9 and 12 (40,000 runs): 4.9%
    /// and 4.8% with normal noise, 2.1 to 4.1% with heavier tails.
    ///
    /// # Errors
    /// No looks, looks that do not increase, or an alpha that is not between 0 and 1.
    pub fn planned(blocks: &[usize], alpha: f64) -> Result<Self, EstimateError> {
        check_level(alpha)?;
        let last = *blocks.last().ok_or(EstimateError::Looks { index: 0, n: 0 })?;
        let rises =
            |(index, n): (usize, &usize)| *n > index.checked_sub(1).map_or(0, |before| blocks[before]);
        if let Some((index, &n)) = blocks.iter().enumerate().find(|look| !rises(*look)) {
            return Err(EstimateError::Looks { index, n });
        }
        let few = if blocks.len() > 1 { UNSPENT_SHARE / blocks[0].max(1) as f64 } else { 0.0 };
        let until = |n: usize| (1.0 - few) * alpha * (n as f64 / last as f64).powi(SPENDING_POWER);
        Ok(Looks { looks: spending(blocks.iter().map(|n| (*n, until(*n)))), alpha })
    }

    /// The looks of a run that ended after `n` blocks for a reason independent of its results, such as time.
    /// They are the looks that it reached, and a last one at its end that spends the rest of alpha (K. K. G.
    /// Lan and D. L. DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983)). A
    /// run that reached its last look ended there.
    #[must_use]
    pub fn ended(&self, n: usize) -> Looks {
        if n == 0 || self.looks.last().is_none_or(|last| last.n <= n) {
            return self.clone();
        }
        let before = self.looks.iter().filter(|look| look.n < n);
        let mut until = 0.0;
        let mut ends: Vec<(usize, f64)> = before
            .map(|look| {
                until += look.spent;
                (look.n, until)
            })
            .collect();
        let all = match ends.is_empty() {
            true => self.alpha,
            false => self.looks.iter().map(|look| look.spent).sum(),
        };
        ends.push((n, all));
        Looks { looks: spending(ends), alpha: self.alpha }
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

    /// The first look that can separate anything; `None` if the plan ends before.
    #[must_use]
    pub fn first(&self) -> Option<&Look> {
        self.looks.iter().find(|look| look.n >= LEAST_STARTS)
    }

    /// The latest look that `n` blocks have reached.
    #[must_use]
    pub fn reached(&self, n: usize) -> Option<&Look> {
        self.looks.iter().rev().find(|look| look.n <= n)
    }

    /// The estimate from the differences so far, in chronological order.
    ///
    /// The interval is that of the latest look reached, from the blocks up to it: a *repeated confidence
    /// interval* (C. Jennison and B. W. Turnbull, "Interim analyses: the repeated confidence interval
    /// approach", JRSS B 51 (1989)). All intervals of a run hold simultaneously with a probability of at
    /// least 1 - alpha, so each may be shown, and the run may end for any reason. An interval without 0
    /// proves a difference; a last interval with 0 does not prove equality (see [`crate::equivalence`]).
    /// Blocks after a look count at the next one; those after the last are unused. There is no interval
    /// before the first look that can separate.
    ///
    /// # Errors
    /// An empty sample, a value that is not finite.
    pub fn estimate(&self, diffs: &[f64]) -> Result<Estimate, EstimateError> {
        check_sample(diffs)?;
        let look = self.reached(diffs.len());
        let used = &diffs[..look.map_or(diffs.len(), |look| look.n)];
        let contrast = Contrast::of_values(used)?;
        let at = |look: &Look| contrast.interval(1.0 - look.level).ok().flatten();
        let interval = look.and_then(at).map(|found| Interval { attained: 1.0 - self.alpha, ..found });
        let mut warnings = Vec::new();
        if interval.is_none() {
            let needed = self.first().map_or(LEAST_STARTS, |look| look.n);
            warnings.push(Warning::TooFewBlocks { n: used.len(), needed });
        }
        warnings.extend(warning::inspect(used));
        Ok(Estimate { point: contrast.point, interval, n: used.len(), warnings })
    }
}

/// Looks after increasing numbers of blocks, with the alpha spent up to each.
fn spending(ends: impl IntoIterator<Item = (usize, f64)>) -> Vec<Look> {
    let (mut paths, mut before) = (Paths::new(), 0.0);
    let look = |(n, until): (usize, f64)| {
        let spent = until - before;
        before = until;
        Look { n, level: normal::two_sided(paths.stop(n, spent)), spent }
    };
    ends.into_iter().map(look).collect()
}

/// Points of a density between the bounds of a look.
const POINTS: usize = 400;

/// Beyond this |z| the normal tail is below the range of a double.
const Z_MAX: f64 = 38.0;

/// Distribution of the sums of unit normal values that no look has stopped: a density at points.
struct Paths {
    blocks: usize,
    /// Sums with their probabilities; empty before the first look, where the sum is 0.
    points: Vec<(f64, f64)>,
}

impl Paths {
    fn new() -> Paths {
        Paths { blocks: 0, points: vec![(0.0, 1.0)] }
    }

    /// Adds a look after `blocks` values that stops the share `spent` of all paths at the returned |z|.
    fn stop(&mut self, blocks: usize, spent: f64) -> f64 {
        let (sd, all) = (((blocks - self.blocks) as f64).sqrt(), (blocks as f64).sqrt());
        let beyond = |z: f64| -> f64 {
            let tails = |sum: f64| normal::cdf((sum - z * all) / sd) + normal::cdf((-sum - z * all) / sd);
            self.points.iter().map(|(sum, share)| share * tails(*sum)).sum()
        };
        let (mut low, mut high) = (0.0, Z_MAX);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if beyond(middle) > spent { low = middle } else { high = middle }
        }
        let width = 2.0 * high * all / POINTS as f64;
        let density = |to: f64| -> f64 {
            let near = |(from, share): &(f64, f64)| share * (-((to - from) / sd).powi(2) / 2.0).exp();
            self.points.iter().map(near).sum::<f64>() / (sd * std::f64::consts::TAU.sqrt())
        };
        let sums = (0..POINTS).map(|point| -high * all + (point as f64 + 0.5) * width);
        self.points = sums.map(|sum| (sum, density(sum) * width)).collect();
        self.blocks = blocks;
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: [usize; 5] = [10, 15, 20, 30, 40];

    fn looks() -> Looks {
        Looks::planned(&PLAN, 0.05).unwrap()
    }

    #[test]
    fn a_run_that_ends_early_spends_the_rest_at_its_end() {
        let levels = |looks: &Looks| looks.all().iter().map(|look| (look.n, look.level)).collect::<Vec<_>>();
        let (planned, ended) = (looks(), looks().ended(17));
        assert_eq!(levels(&ended)[..2], levels(&planned)[..2], "what was looked at stays");
        assert_eq!(ended.all().len(), 3);
        let spent = |looks: &Looks| looks.all().iter().map(|look| look.spent).sum::<f64>();
        assert!((spent(&ended) - spent(&planned)).abs() < 1e-12);
        assert!(ended.all()[2].level > planned.all()[2].level);
        let one = looks().ended(4);
        assert!((one.all()[0].level - 0.05).abs() < 1e-4 && one.all().len() == 1, "{one:?}");
        assert_eq!([looks().ended(0), looks().ended(40), looks().ended(41)], [looks(), looks(), looks()]);
    }

    /// numpy 2.4.6 and scipy 1.17.1, the recursion with 2001 points, for an alpha of 0.025.
    #[test]
    fn levels_agree_with_more_points() {
        let looks = Looks::planned(&[12, 16, 20, 30, 40], 0.025 / (1.0 - UNSPENT_SHARE / 12.0)).unwrap();
        let expected = [0.00225, 0.002_666_91, 0.003_806_94, 0.010_156_59, 0.017_274_77];
        for (look, expected) in looks.all().iter().zip(expected) {
            assert!((look.level - expected).abs() < 2e-3 * expected, "{look:?}, expected {expected}");
        }
    }

    #[test]
    fn before_the_first_look_there_is_an_estimate_only() {
        let found = looks().estimate(&[-1.0, -3.0, -2.0]).unwrap();
        assert_eq!((found.point, found.interval), (-2.0, None));
        assert_eq!(found.warnings, [Warning::TooFewBlocks { n: 3, needed: 10 }]);
    }

    #[test]
    fn blocks_between_looks_and_after_the_last_wait() {
        let wave: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 61) - 30.0).collect();
        assert_eq!(looks().estimate(&wave[..20]), looks().estimate(&wave[..29]));
        assert_eq!(looks().estimate(&wave).unwrap().n, 40);
    }

    #[test]
    fn planned_looks_never_spend_more_than_alpha() {
        for (blocks, alpha) in [(vec![10, 15, 20, 30, 40], 0.05), (vec![6, 9, 14], 0.05), (vec![12], 0.01)] {
            let looks = Looks::planned(&blocks, alpha).unwrap();
            let spent: f64 = looks.all().iter().map(|look| look.spent).sum();
            assert!(spent <= alpha && spent > 0.8 * alpha, "{blocks:?}: {spent}");
            assert!(looks.all().iter().all(|look| look.level >= look.spent * 0.999), "{looks:?}");
        }
        // A single look is the plain test.
        let single = Looks::planned(&[20], 0.05).unwrap();
        assert!((single.all()[0].level - 0.05).abs() < 1e-9);
    }

    #[test]
    fn a_plan_that_can_separate_nothing_says_what_it_takes() {
        let found = Looks::planned(&[1], 0.05).unwrap().estimate(&[1.0; 5]).unwrap();
        assert_eq!(found.interval, None);
        assert_eq!(found.warnings[0], Warning::TooFewBlocks { n: 1, needed: 2 });
    }

    #[test]
    fn plans_that_make_no_sense_are_refused() {
        assert_eq!(Looks::planned(&[], 0.05), Err(EstimateError::Looks { index: 0, n: 0 }));
        assert_eq!(Looks::planned(&[0, 4], 0.05), Err(EstimateError::Looks { index: 0, n: 0 }));
        assert_eq!(Looks::planned(&[10, 10], 0.05), Err(EstimateError::Looks { index: 1, n: 10 }));
        assert_eq!(Looks::planned(&[10], 1.0), Err(EstimateError::Level { value: 1.0 }));
        assert_eq!(looks().estimate(&[]), Err(EstimateError::Empty));
    }

    #[test]
    fn looks_are_found_by_the_number_of_blocks() {
        assert_eq!(looks().reached(9), None);
        assert_eq!(looks().reached(19).map(|look| look.n), Some(15));
        assert!(looks().all().is_sorted_by(|one, next| one.level <= next.level), "{:?}", looks());
    }
}
