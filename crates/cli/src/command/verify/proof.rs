//! The proof: every check of every contract.

use serde::Serialize;
use tare_service::prove;
use tare_service::{
    catalogue::Row,
    contract::Contract,
    verify::{CheckResult, Outcome as Found, Transcript},
};

use super::{Absence, Session, Work, head};
use crate::{exit::Outcome, output::paint};

pub struct Prove;

#[derive(Serialize)]
pub struct Verdict {
    pub service: String,
    pub contract: String,
    #[serde(flatten)]
    pub result: Result,
}

#[derive(Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Result {
    Passed {
        transcript: Transcript,
    },
    Failed {
        transcript: Transcript,
    },
    NotStarted {
        reason: String,
    },
    #[serde(untagged)]
    Absent(Absence),
}

impl Verdict {
    pub fn of(row: &Row, contract: &Contract, result: Result) -> Verdict {
        Verdict { service: row.label.clone(), contract: contract.name.clone(), result }
    }
}

pub fn prove(session: &Session, row: &Row, contract: &Contract) -> Result {
    let folder = session.folder(row);
    match prove::prove(&row.service, contract, &session.proof(), session.supervisor, &folder) {
        Err(reason) => Result::NotStarted { reason },
        Ok(transcript) if transcript.passed() => Result::Passed { transcript },
        Ok(transcript) => Result::Failed { transcript },
    }
}

impl Work for Prove {
    type Verdict = Verdict;

    fn absent(&self, row: &Row, contract: &Contract, absence: Absence) -> Verdict {
        Verdict::of(row, contract, Result::Absent(absence))
    }

    fn look(&self, session: &Session, row: &Row, contract: &Contract) -> Verdict {
        Verdict::of(row, contract, prove(session, row, contract))
    }

    fn text(&self, session: &Session, verdict: &Verdict) -> String {
        text(verdict, session.args.all)
    }

    fn summary(&self, session: &Session, verdicts: &[Verdict]) -> String {
        summary(verdicts.iter().map(|verdict| (&verdict.result, true)), session.seed)
    }

    fn outcome(&self, verdicts: &[Verdict]) -> Outcome {
        outcome(verdicts.iter().map(|verdict| &verdict.result))
    }
}

pub fn text(verdict: &Verdict, all: bool) -> String {
    let head = |word: String, rest: &str| head(&verdict.service, &verdict.contract, &word, rest);
    match &verdict.result {
        Result::Passed { transcript } => {
            head(paint("32", "pass"), &transcript.counts()) + &checks(transcript, all)
        }
        Result::Failed { transcript } => {
            head(paint("31", "FAIL"), &transcript.counts()) + &checks(transcript, all)
        }
        Result::NotStarted { reason } => head(paint("31", "FAIL"), reason),
        Result::Absent(absence) => absence.text(&verdict.service, &verdict.contract),
    }
}

/// Everything where something failed or all of it was asked for, else only the warnings.
fn checks(transcript: &Transcript, all: bool) -> String {
    if all || !transcript.passed() {
        return transcript.to_string();
    }
    let line = |result: &CheckResult| match &result.outcome {
        Found::Warn(reason) => {
            format!("    {} {} {}: {reason}\n", paint("33", "warn"), result.check, result.request)
        }
        _ => String::new(),
    };
    transcript.checks.iter().map(line).collect()
}

/// How many of each kind; a proof counts as passed only where what came after it did too.
pub fn summary<'v>(results: impl Iterator<Item = (&'v Result, bool)>, seed: u64) -> String {
    let (mut passed, mut missing, mut all) = (0, 0, 0);
    for (result, after) in results {
        all += 1;
        passed += usize::from(after && matches!(result, Result::Passed { .. }));
        missing += usize::from(matches!(result, Result::Absent(Absence::Missing { .. })));
    }
    let failed = all - passed - missing;
    format!("\n{passed} passed, {failed} failed, {missing} not on this machine; seed {seed}\n")
}

pub fn outcome<'v>(results: impl Iterator<Item = &'v Result> + Clone) -> Outcome {
    let any = |wanted: fn(&Result) -> bool| results.clone().any(wanted);
    if any(|result| matches!(result, Result::Failed { .. } | Result::NotStarted { .. })) {
        Outcome::ServiceFailed
    } else if any(|result| matches!(result, Result::Absent(Absence::NotBuilt { .. }))) {
        Outcome::SetUp
    } else {
        Outcome::Fine
    }
}
