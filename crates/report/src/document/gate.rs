//! What a gate asks of a run. Which questions there are is the affair of each kind of run; what becomes of the answers (test
//! cases, an exit status) knows only these.

use serde::Serialize;

/// One question of a gate, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Unique in its document and the same from run to run, such as the label of a row, or of a row and a metric.
    pub name: String,
    /// What came out.
    pub verdict: Verdict,
    /// Why, in a sentence with its figures.
    pub text: String,
}

/// What came out of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// What was asked holds: a row has figures, a candidate is not worse.
    Passed,
    /// It does not hold: a service failed its contract or crashed, a gate is not passed.
    Failed,
    /// It was measured, and not validly: neither yes nor no.
    Invalid,
    /// The data do not tell.
    Inconclusive,
    /// It was not measured, for a reason that is nobody's failure.
    LeftOut,
}

impl Check {
    /// A question and its answer.
    #[must_use]
    pub fn new(name: impl Into<String>, verdict: Verdict, text: impl Into<String>) -> Check {
        Check { name: name.into(), verdict, text: text.into() }
    }
}
