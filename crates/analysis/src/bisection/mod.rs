//! The decisions of a bisection: what to measure next, and what the measurements prove.
//!
//! It assumes a single change of the cost. Each measurement shows which end a commit resembles, or neither.
//! The error of all measurements together is at most [`Bisection::alpha`]: each gets a part of the rest
//! (Bonferroni with a spending function). So commits that cannot be measured add steps, but no error.

mod search;

use std::collections::BTreeMap;

pub use search::{BisectionAnswer, BisectionSearch, EndFailed, StepShare, Subject};

/// The result of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOutcome {
    /// It is like the first.
    Good,
    /// It is like the last.
    Bad,
    /// It resembles neither: it lies in between, or had too few blocks.
    Neither,
    /// It could not be measured, with the reason.
    Skipped(String),
}

/// The result of a bisection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FirstBad {
    /// The first commit that is like the last.
    Known(usize),
    /// One of these: those before it could not be distinguished from either end.
    OneOf(Vec<usize>),
}

/// A search among commits numbered from 0, the good end, to the bad end.
#[derive(Debug, Clone)]
pub struct Bisection {
    last: usize,
    outcomes: BTreeMap<usize, StepOutcome>,
    alpha: f64,
    spent: f64,
}

impl Bisection {
    /// A search among commits 0 to `last`. All measurements together have error probability `alpha`.
    pub fn new(last: usize, alpha: f64) -> Bisection {
        let outcomes = BTreeMap::from([(0, StepOutcome::Good), (last, StepOutcome::Bad)]);
        Bisection { last, outcomes, alpha, spent: 0.0 }
    }

    /// Error probability of all measurements together, at most.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The error probability of the next measurement, spent by this call. Some remains for later ones.
    pub fn spend(&mut self) -> f64 {
        let part = (self.alpha - self.spent) / (self.steps_left() + 2) as f64;
        self.spent += part;
        part
    }

    /// Further measurements, if every commit can be measured.
    pub fn steps_left(&self) -> usize {
        let (good, bad) = self.ends();
        (bad - good).next_power_of_two().ilog2() as usize
    }

    /// The last commit known to be good, and the first known to be bad.
    pub fn ends(&self) -> (usize, usize) {
        let bad = self.outcomes.iter().find(|(_, outcome)| **outcome == StepOutcome::Bad);
        let bad = bad.map_or(self.last, |(place, _)| *place);
        let good = self.outcomes.range(..bad).rev().find(|(_, outcome)| **outcome == StepOutcome::Good);
        (good.map_or(0, |(place, _)| *place), bad)
    }

    /// The next commit: the one nearest to the middle of the open range. Absent at the end.
    pub fn next(&self) -> Option<usize> {
        let (good, bad) = self.ends();
        let middle = good + (bad - good) / 2;
        let open = (good + 1..bad).filter(|place| !self.outcomes.contains_key(place));
        open.min_by_key(|place| place.abs_diff(middle))
    }

    /// Records the result for a commit.
    pub fn found(&mut self, place: usize, outcome: StepOutcome) {
        self.outcomes.insert(place, outcome);
    }

    /// The result for a commit; the ends have theirs by definition.
    pub fn outcome(&self, place: usize) -> Option<&StepOutcome> {
        self.outcomes.get(&place)
    }

    /// The result so far, which is final if nothing is left to measure.
    pub fn answer(&self) -> FirstBad {
        let (good, bad) = self.ends();
        if bad - good == 1 { FirstBad::Known(bad) } else { FirstBad::OneOf((good + 1..=bad).collect()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use tare_bench::plan::until::{ALPHA, looks, planned};
    use tare_stats::Looks;

    use super::*;

    /// The result and the number of measurements, with `find` as the measurement.
    fn search(last: usize, mut find: impl FnMut(usize, f64) -> StepOutcome) -> (FirstBad, usize) {
        let mut bisection = Bisection::new(last, ALPHA);
        let mut measured = 0;
        while let Some(place) = bisection.next() {
            let alpha = bisection.spend();
            bisection.found(place, find(place, alpha));
            measured += 1;
        }
        (bisection.answer(), measured)
    }

    proptest! {
        #[test]
        fn the_first_bad_one_is_found_in_as_few_steps_as_there_are_halves(last in 1_usize..500, first in 0_usize..500) {
            let first = 1 + first % last;
            let (answer, measured) = search(last, |place, _| if place < first { StepOutcome::Good } else { StepOutcome::Bad });
            prop_assert_eq!(answer, FirstBad::Known(first));
            prop_assert!(measured <= last.next_power_of_two().ilog2() as usize, "{} of {}", measured, last);
        }

        #[test]
        fn what_cannot_be_measured_leaves_a_range_that_holds_it(
            last in 1_usize..60, first in 0_usize..60, broken in prop::collection::btree_set(0_usize..60, 0..30),
        ) {
            let first = 1 + first % last;
            let (answer, _) = search(last, |place, _| match place {
                place if broken.contains(&place) => StepOutcome::Skipped("does not build".to_owned()),
                place if place < first => StepOutcome::Good,
                _ => StepOutcome::Bad,
            });
            let range = match answer {
                FirstBad::Known(found) => vec![found],
                FirstBad::OneOf(range) => range,
            };
            prop_assert!(range.contains(&first), "{:?}", range);
            let is_open = |place: &usize| *place != last && broken.contains(place);
            let all_but_the_last = &range[..range.len() - 1];
            prop_assert!(all_but_the_last.iter().all(is_open), "{:?}", range);
        }

        #[test]
        fn no_more_error_is_spent_than_there_is(last in 1_usize..300, steps in 0_usize..40) {
            let mut bisection = Bisection::new(last, ALPHA);
            let parts: Vec<f64> = (0..steps).map(|_| bisection.spend()).collect();
            prop_assert!(parts.iter().all(|part| *part > 0.0) && parts.iter().sum::<f64>() < ALPHA);
        }
    }

    /// Blocks of a commit against the mean of both ends, which are 4% apart, until a look separates them.
    fn measured(random: &mut ChaCha8Rng, is_bad: bool, sd: f64, looks: &Looks) -> StepOutcome {
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let centre = if is_bad { 0.02 } else { -0.02 };
        let diffs: Vec<f64> = (0..40).map(|_| centre + sd * normal()).collect();
        for look in looks.all() {
            let found = looks.estimate(&diffs[..look.n]).unwrap().interval;
            match found {
                Some(found) if found.low > 0.0 => return StepOutcome::Bad,
                Some(found) if found.high < 0.0 => return StepOutcome::Good,
                _ => {}
            }
        }
        StepOutcome::Neither
    }

    /// At any noise a wrong commit is named in at most 5 of 100 searches.
    #[test]
    fn a_wrong_commit_is_hardly_ever_named() {
        for (sd, found_least) in [(0.02, 190), (0.06, 0), (0.2, 0)] {
            let mut random = ChaCha8Rng::seed_from_u64(11);
            // Planning looks takes longer than evaluating them.
            let mut plans: BTreeMap<u64, Looks> = BTreeMap::new();
            let (mut right, mut wrong) = (0, 0);
            for search_number in 0..200 {
                let first = 1 + search_number % 20;
                let (answer, _) = search(20, |place, alpha| {
                    let looks = plans.entry(alpha.to_bits()).or_insert_with(|| planned(&looks(40), alpha));
                    measured(&mut random, place >= first, sd, looks)
                });
                match answer {
                    FirstBad::Known(found) if found == first => right += 1,
                    FirstBad::OneOf(range) if range.contains(&first) => {}
                    _ => wrong += 1,
                }
            }
            assert!(wrong <= 10 && right >= found_least, "sd {sd}: {right} right, {wrong} wrong of 200");
        }
    }
}
