//! Endurance as plain text for people. Colours are the business of whoever prints it.

use std::fmt;

use super::{Endurance, StageResult};
use crate::verify::{self, Outcome};

impl Endurance {
    /// How many stages of each kind, as `1 failed, 3 passed`.
    pub fn counts(&self) -> String {
        verify::counts(self.stages.iter().map(|result| &result.outcome))
    }
}

/// Every stage, one after the other.
impl fmt::Display for Endurance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed() { "endured" } else { "not endured" };
        writeln!(f, "load of contract {}: {verdict} ({})", self.contract, self.counts())?;
        self.stages.iter().try_for_each(|result| write!(f, "{result}"))
    }
}

impl fmt::Display for StageResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aside = match &self.outcome {
            Outcome::Skipped(reason) => reason.as_str(),
            _ => self.note.as_deref().unwrap_or_default(),
        };
        let line = format!("  {}  {:<16}  {aside}", self.outcome.word(), self.stage);
        writeln!(f, "{}", line.trim_end())?;
        match &self.outcome {
            Outcome::Fail(reason) | Outcome::Warn(reason) => writeln!(f, "        {reason}"),
            Outcome::Pass | Outcome::Skipped(_) => Ok(()),
        }
    }
}
