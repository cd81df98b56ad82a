//! A bisection from the comparison of its ends to its result: measurements go in, the next subject comes out.
//! Commits are numbers; nothing is started here.

use std::time::Duration;

use super::{Bisection, FirstBad, StepOutcome};
use crate::{
    apart::{PositionFound, SideOfMean},
    verdict::Verdict,
};

/// The subject of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The last commit beside the first.
    Ends,
    /// A commit beside both ends.
    Commit(usize),
}

/// The resources of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepShare {
    /// Error probability.
    pub alpha: f64,
    /// Expected number of measurements after it.
    pub steps_after: usize,
}

/// The result of a bisection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BisectionAnswer {
    /// The ends cannot be distinguished, or were not compared.
    Alike,
    /// An end has no figures.
    Failed(EndFailed),
    /// The ends differ.
    Found(FirstBad),
}

/// An end of the bisection has no figures, so no commit can be compared with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{label}: {reason}")]
pub struct EndFailed {
    pub label: String,
    pub reason: String,
}

/// The state of the search.
#[derive(Debug, Clone)]
pub struct BisectionSearch {
    bisection: Bisection,
    /// Result of comparing the ends; absent before that.
    ends: Option<PositionFound>,
}

impl StepShare {
    /// The share of the remaining time, if each later measurement takes as much.
    pub fn of_budget(self, left: Duration) -> Duration {
        left / u32::try_from(self.steps_after + 1).unwrap_or(u32::MAX)
    }
}

impl BisectionAnswer {
    /// PASS if the search named a single commit.
    pub fn verdict(&self) -> Verdict {
        match self {
            BisectionAnswer::Found(FirstBad::Known(_)) => Verdict::Pass,
            BisectionAnswer::Found(FirstBad::OneOf(_)) | BisectionAnswer::Alike => Verdict::Inconclusive,
            BisectionAnswer::Failed(_) => Verdict::ServiceFailed,
        }
    }

    /// The candidates for the first bad commit; empty if the ends do not differ.
    pub fn first_bad(&self) -> Vec<usize> {
        match self {
            BisectionAnswer::Found(FirstBad::Known(place)) => vec![*place],
            BisectionAnswer::Found(FirstBad::OneOf(places)) => places.clone(),
            BisectionAnswer::Alike | BisectionAnswer::Failed(_) => Vec::new(),
        }
    }
}

impl BisectionSearch {
    /// A search among commits 0 to `last`, with this error probability for all measurements together.
    pub fn new(last: usize, alpha: f64) -> BisectionSearch {
        BisectionSearch { bisection: Bisection::new(last, alpha), ends: None }
    }

    /// What to measure next; absent at the end.
    pub fn next(&self) -> Option<Subject> {
        match &self.ends {
            None => Some(Subject::Ends),
            Some(PositionFound::Side(_)) => self.bisection.next().map(Subject::Commit),
            Some(PositionFound::Neither | PositionFound::Failed { .. }) => None,
        }
    }

    /// The share of the next measurement, which is spent by this call.
    pub fn spend(&mut self) -> StepShare {
        let alpha = self.bisection.spend();
        // The comparison of the ends is not a step among commits.
        let own = usize::from(self.ends.is_some());
        StepShare { alpha, steps_after: self.bisection.steps_left().saturating_sub(own) }
    }

    /// Records a commit that cannot be measured. It has cost no error probability.
    pub fn left_out(&mut self, commit: usize, reason: String) {
        self.bisection.found(commit, StepOutcome::Skipped(reason));
    }

    /// Records the result for row `label`, the subject of the measurement.
    ///
    /// # Errors
    /// If an end failed during the measurement of a commit: no commit can be compared with it.
    pub fn measured(
        &mut self,
        subject: Subject,
        label: &str,
        found: &PositionFound,
    ) -> Result<(), EndFailed> {
        match subject {
            Subject::Ends => self.ends = Some(found.clone()),
            Subject::Commit(commit) => {
                let outcome = self.outcome(label, found)?;
                self.bisection.found(commit, outcome);
            }
        }
        Ok(())
    }

    fn outcome(&self, label: &str, found: &PositionFound) -> Result<StepOutcome, EndFailed> {
        Ok(match found {
            PositionFound::Side(side) if Some(*side) == self.side_of_bad() => StepOutcome::Bad,
            PositionFound::Side(_) => StepOutcome::Good,
            PositionFound::Neither => StepOutcome::Neither,
            PositionFound::Failed { label: failed, reason } if failed == label => {
                StepOutcome::Skipped(reason.clone())
            }
            PositionFound::Failed { label, reason } => {
                return Err(EndFailed { label: label.clone(), reason: reason.clone() });
            }
        })
    }

    /// The side of the last commit relative to the first.
    fn side_of_bad(&self) -> Option<SideOfMean> {
        match &self.ends {
            Some(PositionFound::Side(side)) => Some(*side),
            _ => None,
        }
    }

    /// The state of the search among commits.
    pub fn bisection(&self) -> &Bisection {
        &self.bisection
    }

    /// The result so far, which is final if nothing is left to measure.
    pub fn answer(&self) -> BisectionAnswer {
        match &self.ends {
            Some(PositionFound::Side(_)) => BisectionAnswer::Found(self.bisection.answer()),
            Some(PositionFound::Failed { label, reason }) => {
                BisectionAnswer::Failed(EndFailed { label: label.clone(), reason: reason.clone() })
            }
            Some(PositionFound::Neither) | None => BisectionAnswer::Alike,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOVE: PositionFound = PositionFound::Side(SideOfMean::Above);
    const BELOW: PositionFound = PositionFound::Side(SideOfMean::Below);

    fn failed(label: &str) -> PositionFound {
        PositionFound::Failed { label: label.to_owned(), reason: "was killed".to_owned() }
    }

    fn after_ends(found: &PositionFound) -> BisectionSearch {
        let mut search = BisectionSearch::new(4, 0.05);
        assert_eq!((search.next(), search.answer()), (Some(Subject::Ends), BisectionAnswer::Alike));
        search.measured(Subject::Ends, "v4", found).unwrap();
        search
    }

    #[test]
    fn ends_that_do_not_differ_leave_nothing_to_look_for() {
        let alike = after_ends(&PositionFound::Neither);
        assert_eq!((alike.next(), alike.answer()), (None, BisectionAnswer::Alike));
        assert_eq!((alike.answer().verdict(), alike.answer().first_bad()), (Verdict::Inconclusive, vec![]));
        for label in ["v0", "v4"] {
            let answer = after_ends(&failed(label)).answer();
            let reason = EndFailed { label: label.to_owned(), reason: "was killed".to_owned() };
            assert_eq!(
                (&answer, answer.verdict()),
                (&BisectionAnswer::Failed(reason), Verdict::ServiceFailed)
            );
        }
    }

    /// The rule holds for increases and decreases: a commit on the side of the bad end resembles it.
    #[test]
    fn a_commit_is_like_the_end_on_its_side() {
        for (bad, good) in [(ABOVE, BELOW), (BELOW, ABOVE)] {
            let mut search = after_ends(&bad);
            assert_eq!(search.next(), Some(Subject::Commit(2)));
            search.measured(Subject::Commit(2), "v2", &good).unwrap();
            assert_eq!((search.next(), search.bisection().ends()), (Some(Subject::Commit(3)), (2, 4)));
            search.measured(Subject::Commit(3), "v3", &bad).unwrap();
            let answer = search.answer();
            assert_eq!(
                (&answer, answer.verdict()),
                (&BisectionAnswer::Found(FirstBad::Known(3)), Verdict::Pass)
            );
            assert_eq!((search.next(), answer.first_bad()), (None, vec![3]));
        }
    }

    #[test]
    fn what_fails_is_left_out_unless_it_is_an_end() {
        let mut search = after_ends(&ABOVE);
        search.measured(Subject::Commit(2), "v2", &failed("v2")).unwrap();
        search.left_out(1, "does not compile".to_owned());
        search.measured(Subject::Commit(3), "v3", &PositionFound::Neither).unwrap();
        let answer = search.answer();
        let all = BisectionAnswer::Found(FirstBad::OneOf(vec![1, 2, 3, 4]));
        assert_eq!((search.next(), &answer, answer.verdict()), (None, &all, Verdict::Inconclusive));
        assert_eq!(search.bisection().outcome(2), Some(&StepOutcome::Skipped("was killed".to_owned())));

        let mut search = after_ends(&ABOVE);
        let error = search.measured(Subject::Commit(2), "v2", &failed("v0")).unwrap_err();
        assert_eq!(error.to_string(), "v0: was killed");
        assert_eq!(search.next(), Some(Subject::Commit(2)), "nothing is known of it");
    }

    #[test]
    fn each_measurement_has_its_share() {
        let mut search = BisectionSearch::new(4, 0.05);
        let ends = search.spend();
        assert_eq!(ends, StepShare { alpha: 0.05 / 4.0, steps_after: 2 });
        search.measured(Subject::Ends, "v4", &ABOVE).unwrap();
        let first = search.spend();
        assert_eq!(first.steps_after, 1);
        search.measured(Subject::Commit(2), "v2", &BELOW).unwrap();
        let second = search.spend();
        assert_eq!(second.steps_after, 0);
        assert!(ends.alpha + first.alpha + second.alpha < 0.05);
        let of_a_minute = [ends, first, second].map(|share| share.of_budget(Duration::from_secs(60)));
        assert_eq!(of_a_minute, [20, 30, 60].map(Duration::from_secs));
    }
}
