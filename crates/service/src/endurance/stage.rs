//! The stages: names, a table of what each does and proves, and results as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tare_load::Tally;

use crate::verify::CheckOutcome;
use tare_contract::CheckText;

/// One endurance test, in the order of execution. Stages are not checks of a contract, which could skip or
/// weaken those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Stage {
    BadInput,
    LongConnection,
    Crowd,
    Sigterm,
}

impl Stage {
    /// All stages, in the order of execution.
    pub const ALL: [Stage; 4] = [Stage::BadInput, Stage::LongConnection, Stage::Crowd, Stage::Sigterm];
    /// Repetitions of each bad request: more than the default size of any thread or connection pool.
    pub(super) const BAD_INPUT_ROUNDS: u64 = 25;

    pub fn text(self) -> CheckText {
        let (does, proves) = match self {
            Stage::BadInput => (
                "sends every [[bad]] request of the contract, then a right one, 25 times over",
                "no refusal costs the service a thread, a connection or anything else that runs out",
            ),
            Stage::LongConnection => (
                "sends 10000 requests of the load one after the other on one connection, and checks every answer",
                "there is no number of requests after which a connection is closed",
            ),
            Stage::Crowd => (
                "sends 100 requests on each of 64 connections at once, and checks every answer",
                "connections beyond THREADS are served too, each of them, and none is closed",
            ),
            Stage::Sigterm => (
                "sends SIGTERM while 16 connections send requests",
                "it ends as the check end wants it, no answer was wrong, and nothing is left behind",
            ),
        };
        CheckText { name: self.into(), does, proves }
    }
}

/// The results of one service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Endurance {
    /// The contract whose requests were sent.
    pub contract: String,
    /// In the order of execution.
    pub stages: Vec<StageResult>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageResult {
    pub stage: Stage,
    #[serde(flatten)]
    pub outcome: CheckOutcome,
    /// A note on a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Counts, if the stage has a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<StageFigures>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageFigures {
    pub elapsed_ns: u64,
    pub sent: u64,
    pub answered: u64,
    pub connects: u64,
    /// Requests and connections that failed, by kind.
    pub failed: BTreeMap<String, u64>,
}

impl StageFigures {
    pub(super) fn of(tally: &Tally, elapsed_ns: u64) -> StageFigures {
        let mut failed = BTreeMap::new();
        for (kind, count) in tally.failed.iter().chain(tally.connection_failed.iter()) {
            *failed.entry(kind.name().to_owned()).or_default() += count;
        }
        let Tally { sent, answered, connects, .. } = *tally;
        StageFigures { elapsed_ns, sent, answered, connects, failed }
    }
}

impl Endurance {
    pub fn passed(&self) -> bool {
        self.stages.iter().all(|result| !matches!(result.outcome, CheckOutcome::Fail(_)))
    }
}

impl StageResult {
    pub(super) fn passed(stage: Stage, note: Option<String>) -> StageResult {
        StageResult { stage, outcome: CheckOutcome::Pass, note, figures: None }
    }

    pub(super) fn failed(stage: Stage, reason: String) -> StageResult {
        StageResult { stage, outcome: CheckOutcome::Fail(reason), note: None, figures: None }
    }

    pub(super) fn skipped(stage: Stage, reason: String) -> StageResult {
        StageResult { stage, outcome: CheckOutcome::Skipped(reason), note: None, figures: None }
    }

    /// Adds a warning to the outcome.
    pub(super) fn warn_too(&mut self, warning: String) {
        self.outcome = match &self.outcome {
            CheckOutcome::Pass => CheckOutcome::Warn(warning),
            CheckOutcome::Warn(earlier) => CheckOutcome::Warn(format!("{earlier}; {warning}")),
            CheckOutcome::Fail(earlier) => CheckOutcome::Fail(format!("{earlier}; {warning}")),
            CheckOutcome::Skipped(reason) => CheckOutcome::Skipped(reason.clone()),
        };
    }

    /// Makes the outcome a failure, with this further reason.
    pub(super) fn fail_too(&mut self, reason: String) {
        self.outcome = CheckOutcome::Fail(match &self.outcome {
            CheckOutcome::Fail(earlier) | CheckOutcome::Warn(earlier) => format!("{earlier}; then {reason}"),
            CheckOutcome::Pass | CheckOutcome::Skipped(_) => reason,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_uses_the_names_of_the_table() {
        for stage in Stage::ALL {
            assert_eq!(serde_json::to_value(stage).unwrap(), serde_json::json!(stage.to_string()));
        }
    }

    #[test]
    fn failures_of_requests_and_of_connections_are_counted_together() {
        let mut tally = Tally { sent: 5, answered: 3, connects: 2, ..Tally::default() };
        tally.failed.add(tare_load::Failure::Reset);
        tally.connection_failed.add(tare_load::Failure::Reset);
        tally.connection_failed.add(tare_load::Failure::Refused);
        let figures = StageFigures::of(&tally, 9);
        let failed = [("refused".to_owned(), 1), ("reset".to_owned(), 2)].into();
        assert_eq!(figures, StageFigures { elapsed_ns: 9, sent: 5, answered: 3, connects: 2, failed });
    }
}
