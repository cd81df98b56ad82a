//! The result for one service under one contract, in every mode; as JSON, as text and as an exit status.

use serde::Serialize;
use tare_service::{
    build::BuildError,
    endurance::{Endurance, StageResult},
    verify::{CheckOutcome, CheckResult, SentAnswer, Transcript},
};

use crate::{exit::Outcome, output::paint};

#[derive(Serialize)]
pub(super) struct Verified {
    pub service: String,
    pub contract: String,
    #[serde(flatten)]
    pub found: Found,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub(super) enum Found {
    Passed {
        transcript: Transcript,
        /// Only with `--endure`.
        #[serde(flatten)]
        endured: Option<Endured>,
    },
    Failed {
        transcript: Transcript,
    },
    NotStarted {
        reason: String,
    },
    /// Only with `--wire`, like the next variant.
    Answered {
        answers: Vec<SentAnswer>,
    },
    NotAnswered {
        reason: String,
    },
    NotBuilt {
        reason: String,
    },
    Missing {
        reason: String,
    },
}

/// The result of the endurance stages, which follow a passed proof.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Endured {
    Endurance(Endurance),
    NotEndured(String),
}

impl Verified {
    /// The text; `all` includes the passed checks.
    pub(super) fn text(&self, all: bool) -> String {
        let head = |code, word, rest: &str| head(&self.service, &self.contract, &paint(code, word), rest);
        match &self.found {
            Found::Passed { transcript, endured } => {
                let whole = if all { transcript.to_string() } else { warnings(transcript) };
                let after = endured.as_ref().map(|endured| endured.text(&self.service, all));
                head("32", "pass", &transcript.counts()) + &whole + &after.unwrap_or_default()
            }
            Found::Failed { transcript } => {
                head("31", "FAIL", &transcript.counts()) + &transcript.to_string()
            }
            Found::NotStarted { reason } | Found::NotAnswered { reason } => head("31", "FAIL", reason),
            Found::NotBuilt { reason } => head("31", "not built", reason),
            Found::Missing { reason } => head("33", "missing", reason),
            // One table at the end has all answers.
            Found::Answered { .. } => String::new(),
        }
    }
}

/// The start of each line about a service.
fn head(service: &str, contract: &str, word: &str, rest: &str) -> String {
    format!("{service:<24} {contract:<8} {word} {rest}\n")
}

fn warnings(transcript: &Transcript) -> String {
    let line =
        |result: &CheckResult| warning(&result.outcome, &format!("{} {}", result.check, result.request));
    transcript.checks.iter().map(line).collect()
}

/// A line for a warning; empty for other outcomes.
fn warning(outcome: &CheckOutcome, subject: &str) -> String {
    match outcome {
        CheckOutcome::Warn(reason) => format!("    {} {subject}: {reason}\n", paint("33", "warn")),
        _ => String::new(),
    }
}

impl Endured {
    fn passed(&self) -> bool {
        matches!(self, Endured::Endurance(endurance) if endurance.passed())
    }

    fn text(&self, service: &str, all: bool) -> String {
        let (code, word) = if self.passed() { ("32", "pass") } else { ("31", "FAIL") };
        let head = |rest: &str| head(service, "endures", &paint(code, word), rest);
        let line = |result: &StageResult| warning(&result.outcome, &result.stage.to_string());
        match self {
            Endured::NotEndured(reason) => head(reason),
            Endured::Endurance(endurance) if all || !endurance.passed() => {
                head(&endurance.counts()) + &endurance.to_string()
            }
            Endured::Endurance(endurance) => {
                head(&endurance.counts()) + &endurance.stages.iter().map(line).collect::<String>()
            }
        }
    }
}

impl Found {
    /// The result for a service that could not be built.
    pub(super) fn not_built(error: &BuildError) -> Found {
        let reason = error.to_string();
        match error.is_of_this_machine() {
            true => Found::Missing { reason },
            false => Found::NotBuilt { reason },
        }
    }

    fn outcome(&self) -> Outcome {
        match self {
            Found::Passed { endured, .. } if endured.as_ref().is_none_or(Endured::passed) => Outcome::Fine,
            Found::Answered { .. } | Found::Missing { .. } => Outcome::Fine,
            Found::NotBuilt { .. } => Outcome::SetUp,
            Found::Passed { .. } | Found::Failed { .. } => Outcome::ServiceFailed,
            Found::NotStarted { .. } | Found::NotAnswered { .. } => Outcome::ServiceFailed,
        }
    }
}

/// The outcome. If no service could be verified, that is not success.
pub(super) fn outcome(all: &[Verified]) -> Outcome {
    let nothing = all.iter().all(|verified| matches!(verified.found, Found::Missing { .. }));
    let least = if nothing { Outcome::SetUp } else { Outcome::Fine };
    all.iter().map(|verified| verified.found.outcome()).fold(least, Outcome::graver)
}

pub(super) fn summary(all: &[Verified], seed: u64) -> String {
    let count = |wanted: fn(&Found) -> bool| all.iter().filter(|verified| wanted(&verified.found)).count();
    let passed = count(|found| matches!(found, Found::Passed { .. }) && found.outcome() == Outcome::Fine);
    let missing = count(|found| matches!(found, Found::Missing { .. }));
    let failed = all.len() - passed - missing;
    format!("\n{passed} passed, {failed} failed, {missing} not on this machine; seed {seed}\n")
}
