//! The result for a row, a metric, a pair, a claim, a gate, or a whole run. One type for all: the word, the
//! colour, the outcome of a test case and the exit status of a command are functions of it.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use tare_bench::plan::Exclusion;
use tare_stats::equivalence;

/// A result. The variants are ordered by severity, and the greatest of several verdicts is their combination.
///
/// Left-out parts have the lowest severity, so a partly measured run is judged by the measured part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Left out for a reason that is not the service's fault.
    LeftOut(Absence),
    /// The answer is yes: figures are valid, a regression is excluded, an SLO is met, a claim is confirmed.
    Pass,
    /// It began, but has no figure yet.
    Unfinished,
    /// The data do not decide.
    Inconclusive,
    /// It was measured, but the measurement is invalid.
    Invalid,
    /// A regression is shown, but whether it reaches the gate's delta is open.
    Worse,
    /// The answer is no: a regression of delta or more, an SLO that is not met, a refuted claim.
    Fail,
    /// A service could not be built although its toolchain exists.
    NotBuilt,
    /// A service crashed, or violates its contract.
    ServiceFailed,
}

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Absence {
    AnotherContract,
    /// It does not offer the requested protocol.
    AnotherProtocol,
    /// A toolchain or a library is missing.
    NotOnThisMachine,
}

/// The question behind a verdict, because each has its own words for yes and no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Does the row have valid figures?
    Row,
    /// Does the gate pass?
    Gate,
    /// Is the published claim true here?
    Claim,
}

/// The outcome in a CI report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOutcome {
    /// A passed test case.
    Success,
    Failure,
    /// A test case that could not be evaluated: neither a failure of a service nor a success.
    Error,
    /// A test case that was left out before any measurement.
    Skipped,
}

/// The colour of a word, in all output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    #[default]
    Plain,
    Good,
    /// Neither good nor bad, or unknown.
    Open,
    /// A bad result.
    Bad,
}

impl Verdict {
    pub const ALL: [Verdict; 11] = [
        Verdict::LeftOut(Absence::AnotherContract),
        Verdict::LeftOut(Absence::AnotherProtocol),
        Verdict::LeftOut(Absence::NotOnThisMachine),
        Verdict::Pass,
        Verdict::Unfinished,
        Verdict::Inconclusive,
        Verdict::Invalid,
        Verdict::Worse,
        Verdict::Fail,
        Verdict::NotBuilt,
        Verdict::ServiceFailed,
    ];

    /// The combination of all verdicts: the most severe. Without any, nothing has passed.
    pub fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().max().unwrap_or(Verdict::Inconclusive)
    }

    /// The combination if one passing verdict is enough.
    pub(crate) fn of_any(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
        match verdicts.contains(&Verdict::Pass) {
            true => Verdict::Pass,
            false if verdicts.iter().all(|verdict| *verdict == Verdict::Fail) => Verdict::of_all(verdicts),
            false => Verdict::Inconclusive,
        }
    }

    /// `5 failed, 1 not built, 2 left out`: the most severe first, with verdicts of one word combined.
    pub fn tally(verdicts: impl IntoIterator<Item = Verdict>, question: Question) -> String {
        let mut verdicts: Vec<Verdict> = verdicts.into_iter().collect();
        verdicts.sort_unstable_by(|a, b| b.cmp(a));
        let words: Vec<&str> = verdicts.iter().map(|verdict| verdict.word(question)).collect();
        let alike = words.chunk_by(|a, b| a == b);
        alike.map(|words| format!("{} {}", words.len(), words[0])).collect::<Vec<_>>().join(", ")
    }

    pub fn name(self) -> &'static str {
        match self {
            Verdict::LeftOut(Absence::AnotherContract) => "another-contract",
            Verdict::LeftOut(Absence::AnotherProtocol) => "another-protocol",
            Verdict::LeftOut(Absence::NotOnThisMachine) => "not-on-this-machine",
            Verdict::Pass => "pass",
            Verdict::Unfinished => "unfinished",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Invalid => "invalid",
            Verdict::Worse => "worse",
            Verdict::Fail => "fail",
            Verdict::NotBuilt => "not-built",
            Verdict::ServiceFailed => "service-failed",
        }
    }

    /// The word for people, as the answer to a question.
    pub fn word(self, question: Question) -> &'static str {
        match (self, question) {
            (Verdict::Pass, Question::Row) => "measured",
            (Verdict::Pass, Question::Gate) => "pass",
            (Verdict::Pass, Question::Claim) => "holds",
            (Verdict::Fail, Question::Row | Question::Gate) => "fail",
            (Verdict::Fail, Question::Claim) => "does not hold",
            (Verdict::Inconclusive, _) => "inconclusive",
            (Verdict::Unfinished, _) => "not measured",
            (Verdict::Invalid, _) => "invalid",
            (Verdict::Worse, _) => "worse",
            (Verdict::NotBuilt, _) => "not built",
            (Verdict::ServiceFailed, Question::Row) => "failed",
            (Verdict::ServiceFailed, _) => "service failed",
            (Verdict::LeftOut(_), _) => "left out",
        }
    }

    pub fn test_outcome(self) -> TestOutcome {
        match self {
            Verdict::Pass => TestOutcome::Success,
            Verdict::Worse | Verdict::Fail | Verdict::ServiceFailed => TestOutcome::Failure,
            Verdict::NotBuilt | Verdict::Invalid | Verdict::Inconclusive | Verdict::Unfinished => {
                TestOutcome::Error
            }
            Verdict::LeftOut(_) => TestOutcome::Skipped,
        }
    }

    pub fn tone(self) -> Tone {
        match self.test_outcome() {
            TestOutcome::Success => Tone::Good,
            TestOutcome::Failure => Tone::Bad,
            TestOutcome::Error | TestOutcome::Skipped => Tone::Open,
        }
    }
}

impl Tone {
    /// The stable name for style sheets.
    pub fn name(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Good => "good",
            Tone::Open => "open",
            Tone::Bad => "bad",
        }
    }

    pub fn ansi(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Good => "32",
            Tone::Open => "33",
            Tone::Bad => "31",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The verdict for a row that was excluded from a run.
impl From<Exclusion> for Verdict {
    fn from(why: Exclusion) -> Verdict {
        match why {
            Exclusion::NotOnThisMachine => Verdict::LeftOut(Absence::NotOnThisMachine),
            Exclusion::AnotherContract => Verdict::LeftOut(Absence::AnotherContract),
            Exclusion::AnotherProtocol => Verdict::LeftOut(Absence::AnotherProtocol),
            Exclusion::NotBuilt => Verdict::NotBuilt,
            Exclusion::AgainstItsContract => Verdict::ServiceFailed,
        }
    }
}

impl From<equivalence::Verdict> for Verdict {
    fn from(found: equivalence::Verdict) -> Verdict {
        match found {
            equivalence::Verdict::Pass => Verdict::Pass,
            equivalence::Verdict::Fail => Verdict::Fail,
            equivalence::Verdict::Worse => Verdict::Worse,
            equivalence::Verdict::Inconclusive => Verdict::Inconclusive,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_has_its_name_words_and_outcome() {
        let lines = Verdict::ALL.map(|verdict| {
            let words = [Question::Row, Question::Gate, Question::Claim].map(|asked| verdict.word(asked));
            format!("{verdict}: {} / {:?}, {:?}", words.join(" | "), verdict.test_outcome(), verdict.tone())
        });
        insta::assert_snapshot!(lines.join("\n"));
        let names: BTreeSet<&str> = Verdict::ALL.iter().map(|verdict| verdict.name()).collect();
        assert_eq!(names.len(), Verdict::ALL.len(), "a name is one verdict's");
        assert!(Verdict::ALL.is_sorted(), "the list is in the order of gravity");
    }

    #[test]
    fn a_tally_counts_words_and_begins_with_the_gravest() {
        let left_out = [Absence::NotOnThisMachine, Absence::AnotherContract, Absence::AnotherProtocol]
            .map(Verdict::LeftOut);
        let found =
            [Verdict::ServiceFailed, left_out[0], Verdict::NotBuilt, left_out[1], Verdict::ServiceFailed];
        assert_eq!(Verdict::tally(found, Question::Row), "2 failed, 1 not built, 2 left out");
        assert_eq!(Verdict::tally([], Question::Row), "");
    }

    #[test]
    fn where_nothing_was_asked_nothing_has_passed() {
        assert_eq!([Verdict::of_all([]), Verdict::of_any([])], [Verdict::Inconclusive; 2]);
    }

    #[test]
    fn one_confirmation_is_enough_where_one_was_asked_for() {
        use Verdict::{Fail, Inconclusive, Pass};
        assert_eq!(Verdict::of_any([Fail, Pass]), Pass);
        assert_eq!(Verdict::of_any([Fail, Fail]), Fail);
        assert_eq!(Verdict::of_any([Fail, Inconclusive]), Inconclusive);
    }

    fn verdict() -> impl Strategy<Value = Verdict> {
        prop::sample::select(Verdict::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn a_whole_is_one_of_its_parts_whatever_their_order(mut found in prop::collection::vec(verdict(), 1..8)) {
            let whole = Verdict::of_all(found.clone());
            prop_assert!(found.contains(&whole));
            found.reverse();
            prop_assert_eq!(Verdict::of_all(found.clone()), whole);
            prop_assert_eq!(Verdict::of_all([Verdict::of_all(found.clone()), whole]), whole);
            let left_out = |verdict: &Verdict| matches!(verdict, Verdict::LeftOut(_));
            prop_assert_eq!(left_out(&whole), found.iter().all(left_out));
            if whole == Verdict::Pass {
                prop_assert!(found.iter().all(|verdict| *verdict == Verdict::Pass || left_out(verdict)));
            }
        }
    }
}
