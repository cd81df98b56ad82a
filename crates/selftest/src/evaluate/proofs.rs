//! Trials without load: what `tare verify` finds in a server with a fault.

use tare_service::verify::{CheckId, CheckOutcome, CheckResult};

use super::{Evaluation, Evidence, Found, NO_FIGURES};

/// The failed checks of the proof with this index; an evaluation if there is no transcript.
fn failures(evidence: &Evidence, index: usize) -> Result<Vec<(CheckId, String)>, Evaluation> {
    let Evidence::Proofs(proofs) = evidence else {
        return Err(Evaluation::not_decided("there was no proof"));
    };
    match proofs.get(index) {
        Some(Ok(transcript)) => Ok(transcript.failures().map(failure).collect()),
        Some(Err(reason)) => Err(Evaluation::not_decided(reason.clone())),
        None => Err(Evaluation::not_decided("there was no proof")),
    }
}

fn failure(result: &CheckResult) -> (CheckId, String) {
    match &result.outcome {
        CheckOutcome::Fail(reason) | CheckOutcome::Warn(reason) => (result.check, reason.clone()),
        CheckOutcome::Pass | CheckOutcome::Skipped(_) => (result.check, String::new()),
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

pub(crate) fn honest(evidence: &Evidence) -> Found {
    let failed = failures(evidence, 0)?;
    Ok(Evaluation::of(failed.is_empty(), describe(&failed), NO_FIGURES))
}

/// At least one of these checks must fail.
fn refused_by(evidence: &Evidence, checks: &[CheckId]) -> Found {
    let mut failed = failures(evidence, 0)?;
    failed.retain(|(check, _)| checks.contains(check));
    Ok(Evaluation::of(!failed.is_empty(), describe(&failed), NO_FIGURES))
}

pub(crate) fn cache(evidence: &Evidence) -> Found {
    refused_by(evidence, &[CheckId::Response, CheckId::Fresh])
}

pub(crate) fn wrong_length(evidence: &Evidence) -> Found {
    refused_by(evidence, &[CheckId::Response, CheckId::KeepAlive, CheckId::Fragments, CheckId::Pipelined])
}

/// The first server closes its connections as announced, the second does not.
pub(crate) fn slow_close(evidence: &Evidence) -> Found {
    let failed_to_close = |index: usize| {
        let mut failed = failures(evidence, index)?;
        failed.retain(|(check, _)| *check == CheckId::ConnectionClose);
        Ok(failed)
    };
    let (honest, slow) = (failed_to_close(0)?, failed_to_close(1)?);
    let other = if honest.is_empty() { "passed" } else { "failed it too" };
    let found = format!("{}; the other server {other}", describe(&slow));
    Ok(Evaluation::of(honest.is_empty() && !slow.is_empty(), found, NO_FIGURES))
}
