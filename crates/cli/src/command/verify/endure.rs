//! Endurance: the proof of the contract that asks the most, and then what a service must endure beyond it. The other
//! contracts are left to the plain command: their proofs say nothing more about endurance.

use serde::Serialize;
use tare_service::{
    catalogue::Row,
    contract::Contract,
    endurance::{self, Endurance, StageResult},
    verify::Outcome as Found,
};

use super::{
    Absence, Session, Work, head,
    proof::{self, Result, Verdict},
};
use crate::{exit::Outcome, output::paint};

pub struct Endure;

#[derive(Serialize)]
pub struct Endured {
    #[serde(flatten)]
    proof: Verdict,
    /// Only of a service whose proof passed.
    #[serde(flatten)]
    after: Option<After>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum After {
    Endurance(Endurance),
    NotEndured(String),
}

impl After {
    fn passed(&self) -> bool {
        matches!(self, After::Endurance(endurance) if endurance.passed())
    }

    fn text(&self, proof: &Verdict, all: bool) -> String {
        let head = |word: String, rest: &str| head(&proof.service, "endures", &word, rest);
        match self {
            After::NotEndured(reason) => head(paint("31", "FAIL"), reason),
            After::Endurance(endurance) if endurance.passed() => {
                head(paint("32", "pass"), &endurance.counts()) + &stages(endurance, all)
            }
            After::Endurance(endurance) => {
                head(paint("31", "FAIL"), &endurance.counts()) + &endurance.to_string()
            }
        }
    }
}

/// Everything where all of it was asked for, else only the warnings.
fn stages(endurance: &Endurance, all: bool) -> String {
    if all {
        return endurance.to_string();
    }
    let line = |result: &StageResult| match &result.outcome {
        Found::Warn(reason) => format!("    {} {}: {reason}\n", paint("33", "warn"), result.stage),
        _ => String::new(),
    };
    endurance.stages.iter().map(line).collect()
}

impl Work for Endure {
    type Verdict = Endured;

    fn contracts<'c>(&self, asked: Vec<&'c Contract>) -> Vec<&'c Contract> {
        endurance::richest(asked.into_iter()).into_iter().collect()
    }

    fn absent(&self, row: &Row, contract: &Contract, absence: Absence) -> Endured {
        Endured { proof: Verdict::of(row, contract, Result::Absent(absence)), after: None }
    }

    fn look(&self, session: &Session, row: &Row, contract: &Contract) -> Endured {
        let result = proof::prove(session, row, contract);
        let (proof, folder) = (session.proof(), session.folder(row));
        let after = matches!(result, Result::Passed { .. }).then(|| {
            let service = &row.service;
            let interrupt = &session.interrupt;
            endurance::run(service, contract, &proof, session.supervisor, &folder, interrupt)
                .map_or_else(|error| After::NotEndured(error.to_string()), After::Endurance)
        });
        Endured { proof: Verdict::of(row, contract, result), after }
    }

    fn text(&self, session: &Session, verdict: &Endured) -> String {
        let all = session.args.all;
        let after = verdict.after.as_ref().map(|after| after.text(&verdict.proof, all));
        proof::text(&verdict.proof, all) + &after.unwrap_or_default()
    }

    fn summary(&self, session: &Session, verdicts: &[Endured]) -> String {
        let passed = |verdict: &Endured| verdict.after.as_ref().is_none_or(After::passed);
        let results = verdicts.iter().map(|verdict| (&verdict.proof.result, passed(verdict)));
        proof::summary(results, session.seed)
    }

    fn outcome(&self, verdicts: &[Endured]) -> Outcome {
        match verdicts.iter().filter_map(|verdict| verdict.after.as_ref()).all(After::passed) {
            true => proof::outcome(verdicts.iter().map(|verdict| &verdict.proof.result)),
            false => Outcome::ServiceFailed,
        }
    }
}
