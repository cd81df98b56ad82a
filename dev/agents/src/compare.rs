//! Tests whether two arms of runs have the same distribution. Values only.
//!
//! The statistic is the mean over all pairs of the difference between the two empirical distribution
//! functions of a pair. If both arms are equal, either sign of a pair's difference is equally likely, however
//! the latencies within a run depend on each other. The p value is the share of random signs with a statistic
//! at least as large (Fisher 1935; Good, *Permutation, Parametric and Bootstrap Tests*, 2005, chapter 3).

use std::collections::{BTreeMap, BTreeSet};

use tare_load::schedule::SplitMix64;

pub(crate) const LEVEL: f64 = 0.05;
pub(crate) const PERMUTATIONS: usize = 4_000;

#[derive(Debug, Clone)]
pub(crate) struct Run {
    counts: BTreeMap<u64, u64>,
    pub(crate) verdict: String,
}

impl Run {
    pub(crate) fn new(counts: impl Iterator<Item = (u64, u64)>, verdict: &str) -> Run {
        Run { counts: counts.collect(), verdict: verdict.to_owned() }
    }

    pub(crate) fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    pub(crate) fn quantile(&self, q: f64) -> u64 {
        let rank = (self.count() as f64 * q).ceil() as u64;
        let mut below = 0;
        let reached = self.counts.iter().find(|(_, count)| {
            below += **count;
            below >= rank
        });
        reached.map_or(0, |(ns, _)| *ns)
    }

    /// The share of latencies up to each value.
    fn distribution(&self, values: &[u64]) -> Vec<f64> {
        let all = self.count().max(1) as f64;
        let mut counts = self.counts.iter().peekable();
        let mut below = 0;
        let up_to = |value: &u64| {
            while let Some((_, count)) = counts.next_if(|(ns, _)| *ns <= value) {
                below += *count;
            }
            below as f64 / all
        };
        values.iter().map(up_to).collect()
    }
}

fn values<'r>(runs: impl Iterator<Item = &'r Run>) -> Vec<u64> {
    let all: BTreeSet<u64> = runs.flat_map(|run| run.counts.keys().copied()).collect();
    all.into_iter().collect()
}

/// The largest difference of two runs' distributions, and its p value for independent latencies.
pub(crate) fn pair(one: &Run, other: &Run) -> (f64, f64) {
    let values = values([one, other].into_iter());
    let d = largest(&difference(one, other, &values));
    let (n, m) = (one.count() as f64, other.count() as f64);
    (d, kolmogorov(d * (n * m / (n + m)).sqrt()))
}

fn difference(one: &Run, other: &Run, values: &[u64]) -> Vec<f64> {
    let (one, other) = (one.distribution(values), other.distribution(values));
    one.iter().zip(other).map(|(one, other)| one - other).collect()
}

fn largest(difference: &[f64]) -> f64 {
    difference.iter().fold(0.0, |most, step| most.max(step.abs()))
}

/// The limit distribution of Kolmogorov (1933): the probability of a larger value.
fn kolmogorov(x: f64) -> f64 {
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: i32| f64::from(if k % 2 == 1 { 1 } else { -1 }) * (-2.0 * f64::from(k * k) * x * x).exp();
    (2.0 * (1..=100).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

/// Pairs of runs.
#[derive(Debug, Default)]
pub(crate) struct Arms {
    pairs: Vec<(Run, Run)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison {
    pub(crate) ks: f64,
    pub(crate) ks_p: f64,
    /// The smallest significant statistic.
    pub(crate) ks_critical: f64,
    pub(crate) ad: f64,
    pub(crate) ad_p: f64,
}

impl Arms {
    pub(crate) fn add(&mut self, one: Run, several: Run) {
        self.pairs.push((one, several));
    }

    pub(crate) fn compare(&self, random: &mut SplitMix64, permutations: usize) -> Comparison {
        let values = values(self.pairs.iter().flat_map(|(one, several)| [one, several]));
        let differences: Vec<Vec<f64>> =
            self.pairs.iter().map(|(one, several)| difference(one, several, &values)).collect();
        let weights = self.weights(&values);
        let statistics = |signs: &mut dyn FnMut() -> f64| {
            let mut mean = vec![0.0; values.len()];
            for difference in &differences {
                let sign = signs() / differences.len() as f64;
                mean.iter_mut().zip(difference).for_each(|(mean, step)| *mean += sign * step);
            }
            let ad: f64 = mean.iter().zip(&weights).map(|(step, weight)| step * step * weight).sum();
            (largest(&mean), ad)
        };
        let (ks, ad) = statistics(&mut || 1.0);
        let mut by_chance: Vec<(f64, f64)> = (0..permutations)
            .map(|_| statistics(&mut || if random.draw() & 1 == 0 { 1.0 } else { -1.0 }))
            .collect();
        // The observed pattern is one of the possible ones.
        let share = |count: usize| (count + 1) as f64 / (permutations + 1) as f64;
        let nearly = 1.0 - 1e-12;
        let ks_p = share(by_chance.iter().filter(|(other, _)| *other >= ks * nearly).count());
        let ad_p = share(by_chance.iter().filter(|(_, other)| *other >= ad * nearly).count());
        by_chance.sort_by(|one, other| one.0.total_cmp(&other.0));
        let critical = ((1.0 - LEVEL) * permutations as f64).ceil() as usize;
        Comparison { ks, ks_p, ks_critical: by_chance[critical.min(permutations - 1)].0, ad, ad_p }
    }

    /// The weights of Anderson and Darling (1952): the tails count as much as the middle.
    fn weights(&self, values: &[u64]) -> Vec<f64> {
        let runs = || self.pairs.iter().flat_map(|(one, several)| [one, several]);
        let mut pooled = vec![0.0; values.len()];
        for run in runs() {
            let share = 1.0 / runs().count() as f64;
            pooled.iter_mut().zip(run.distribution(values)).for_each(|(sum, step)| *sum += share * step);
        }
        let mut below = 0.0;
        let weight = |h: &f64| {
            let step = h - std::mem::replace(&mut below, *h);
            if *h < 1.0 - 1e-12 { step / (h * (1.0 - h)) } else { 0.0 }
        };
        pooled.iter().map(weight).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dependent latencies: each run is shifted as a whole.
    fn run(random: &mut SplitMix64, slower: f64) -> Run {
        let shift = 1.0 + 0.2 * random.unit_open();
        let mut counts = BTreeMap::new();
        for _ in 0..500 {
            let ns = (-random.unit_open().ln() * 1e6 * shift * slower) as u64;
            *counts.entry(ns / 50_000 * 50_000).or_insert(0) += 1;
        }
        Run { counts, verdict: String::new() }
    }

    fn arms(random: &mut SplitMix64, slower: f64) -> Arms {
        let mut arms = Arms::default();
        (0..20).for_each(|_| {
            let (one, several) = (run(random, 1.0), run(random, slower));
            arms.add(one, several);
        });
        arms
    }

    #[test]
    fn equal_arms_are_found_different_as_often_as_the_level_says() {
        let mut random = SplitMix64::new(3);
        let mut found = 0;
        for _ in 0..60 {
            let arms = arms(&mut random, 1.0);
            found += usize::from(arms.compare(&mut random, 200).ks_p < LEVEL);
        }
        // Binomial, 60 at 5%: 3 are expected, and more than 9 occur once in a thousand.
        assert!(found <= 9, "{found} of 60");
    }

    #[test]
    fn another_arm_is_found_and_runs_are_what_counts() {
        let mut random = SplitMix64::new(5);
        let different = arms(&mut random, 1.2).compare(&mut random, 500);
        assert!(different.ks_p < 0.01 && different.ad_p < 0.01, "{different:?}");
        assert!(different.ks > different.ks_critical);
        // With one pair the test has no information, however many latencies it has.
        let single = |ns| Run { counts: BTreeMap::from([(ns, 100_000)]), verdict: String::new() };
        let mut arms = Arms::default();
        arms.add(single(1), single(2));
        arms.add(single(2), single(1));
        assert!(arms.compare(&mut random, 500).ks_p > 0.4);
    }

    #[test]
    fn two_runs_are_compared_as_everybody_does() {
        let of = |values: &[u64]| Run::new(values.iter().map(|ns| (*ns, 1)), "valid");
        let (d, p) = pair(&of(&[1, 2, 3, 4]), &of(&[3, 4, 5, 6]));
        assert_eq!(d, 0.5);
        // SciPy: kolmogorov(0.5 * sqrt(2)) = 0.6993742.
        assert!((p - 0.699_374_2).abs() < 1e-6, "{p}");
        assert_eq!(pair(&of(&[1, 2]), &of(&[1, 2])), (0.0, 1.0));
        let run = of(&[1, 2, 3, 4]);
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|q| run.quantile(q)), [1, 1, 2, 4]);
    }
}
