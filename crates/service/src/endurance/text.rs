//! Endurance as plain text; the caller adds colours.

use std::fmt;

use super::{Endurance, StageResult};
use crate::verify::{self, CheckOutcome};

impl Endurance {
    /// Number of stages by outcome: `1 failed, 3 passed`.
    pub fn counts(&self) -> String {
        verify::counts(self.stages.iter().map(|result| &result.outcome))
    }
}

/// All stages in order.
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
            CheckOutcome::Skipped(reason) => reason.as_str(),
            _ => self.note.as_deref().unwrap_or_default(),
        };
        let line = format!("  {}  {:<16}  {aside}", self.outcome.word(), self.stage);
        writeln!(f, "{}", line.trim_end())?;
        match &self.outcome {
            CheckOutcome::Fail(reason) | CheckOutcome::Warn(reason) => writeln!(f, "        {reason}"),
            CheckOutcome::Pass | CheckOutcome::Skipped(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::super::Stage;

    #[test]
    fn every_stage_is_a_line_and_a_failure_has_its_reason_below() {
        let stages = vec![
            StageResult::passed(Stage::BadInput, Some("25 rounds".to_owned())),
            StageResult::failed(Stage::LongConnection, "closed it".to_owned()),
            StageResult::skipped(Stage::Crowd, "interrupted".to_owned()),
        ];
        let endurance = Endurance { contract: "hello".to_owned(), stages };
        insta::assert_snapshot!(endurance.to_string(), @"
        load of contract hello: not endured (1 failed, 1 passed, 1 skipped)
          pass  bad-input         25 rounds
          FAIL  long-connection
                closed it
          skip  crowd             interrupted
        ");
        assert!(!endurance.passed());
        let json = serde_json::to_string(&endurance).unwrap();
        assert_eq!(serde_json::from_str::<Endurance>(&json).unwrap(), endurance);
    }
}
