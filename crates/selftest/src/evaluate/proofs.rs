//! Trials that need no load: what `tare verify` finds in a server with a fault.

use tare_service::verify::{CheckId, CheckResult, Outcome as Checked, Transcript};

use super::{Evaluation, Evidence};

fn proofs(evidence: &Evidence) -> &[Result<Transcript, String>] {
    match evidence {
        Evidence::Proofs(proofs) => proofs,
        Evidence::Run(_) => &[],
    }
}

/// The checks that failed; an evaluation if there is no transcript.
fn failures(proof: Option<&Result<Transcript, String>>) -> Result<Vec<(CheckId, String)>, Evaluation> {
    match proof {
        Some(Ok(transcript)) => Ok(transcript.failures().map(failure).collect()),
        Some(Err(reason)) => Err(Evaluation::not_seen(reason.clone())),
        None => Err(Evaluation::not_seen("there was no proof")),
    }
}

fn failure(result: &CheckResult) -> (CheckId, String) {
    match &result.outcome {
        Checked::Fail(reason) | Checked::Warn(reason) => (result.check, reason.clone()),
        Checked::Pass | Checked::Skipped(_) => (result.check, String::new()),
    }
}

fn describe(failures: &[(CheckId, String)]) -> String {
    let mut names: Vec<&str> = failures.iter().map(|(check, _)| check.name()).collect();
    names.dedup();
    match failures.first() {
        None => "every check passed".to_owned(),
        Some((_, reason)) => format!("failed {}: {reason}", names.join(", ")),
    }
}

pub(crate) fn honest(evidence: &Evidence) -> Evaluation {
    match failures(proofs(evidence).first()) {
        Err(evaluation) => evaluation,
        Ok(failed) => Evaluation::of(failed.is_empty(), describe(&failed), &[]),
    }
}

/// At least one of these checks must fail.
fn refused_by(evidence: &Evidence, checks: &[CheckId]) -> Evaluation {
    match failures(proofs(evidence).first()) {
        Err(evaluation) => evaluation,
        Ok(mut failed) => {
            failed.retain(|(check, _)| checks.contains(check));
            Evaluation::of(!failed.is_empty(), describe(&failed), &[])
        }
    }
}

pub(crate) fn cache(evidence: &Evidence) -> Evaluation {
    refused_by(evidence, &[CheckId::Response, CheckId::Fresh])
}

pub(crate) fn wrong_length(evidence: &Evidence) -> Evaluation {
    refused_by(evidence, &[CheckId::Response, CheckId::KeepAlive, CheckId::Fragments, CheckId::Pipelined])
}

/// The first server closes its connections as announced, the second does not.
pub(crate) fn slow_close(evidence: &Evidence) -> Evaluation {
    let failed_to_close = |index: usize| {
        let mut failed = failures(proofs(evidence).get(index))?;
        failed.retain(|(check, _)| *check == CheckId::ConnectionClose);
        Ok(failed)
    };
    match (failed_to_close(0), failed_to_close(1)) {
        (Ok(honest), Ok(slow)) => {
            let is_seen = honest.is_empty() && !slow.is_empty();
            let other = if honest.is_empty() { "passed" } else { "failed it too" };
            Evaluation::of(is_seen, format!("{}; the other server {other}", describe(&slow)), &[])
        }
        (Err(evaluation), _) | (_, Err(evaluation)) => evaluation,
    }
}
