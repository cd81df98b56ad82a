//! The results of verify as data, stored in the run folder as JSON. Module `text` makes the readable form.

use serde::{Deserialize, Serialize};
use tare_load::http1::Response;

use super::escape::escape;
use super::talk::Talk;
use tare_contract::CheckId;

/// Most bytes stored for each direction.
const WIRE_LENGTH_MAX: usize = 2048;

/// All results of one service under one contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    pub contract: String,
    /// In the order of execution; a check of several requests has several results.
    pub checks: Vec<CheckResult>,
}

/// The result of one check of one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub check: CheckId,
    /// The request's name in the contract, or a description; empty if the check did not run.
    pub request: String,
    #[serde(flatten)]
    pub outcome: CheckOutcome,
    /// A note on a pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The bytes that show a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
}

/// The outcome, with a reason that the service's author can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "reason", rename_all = "kebab-case")]
pub enum CheckOutcome {
    Pass,
    /// A violation for which the contract asks only for a warning.
    Warn(String),
    /// A violation of the contract.
    Fail(String),
    Skipped(String),
}

/// Bytes on the wire since the last right answer, escaped and limited in length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wire {
    /// From verify to the service.
    pub sent: String,
    /// From the service to verify.
    pub received: String,
}

/// A reason, and the bytes that show it.
#[derive(Debug)]
pub(super) struct Failure {
    pub reason: String,
    pub wire: Option<Wire>,
    /// The wrong answer, if a complete one came.
    pub answer: Option<Box<Response>>,
}

/// A pass, perhaps with a note.
pub(super) type Tried = Result<Option<String>, Failure>;

impl Transcript {
    /// Whether the service satisfies the contract: no required check failed.
    pub fn passed(&self) -> bool {
        self.failures().next().is_none()
    }

    pub fn failures(&self) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(|result| matches!(result.outcome, CheckOutcome::Fail(_)))
    }

    pub fn warnings(&self) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(|result| matches!(result.outcome, CheckOutcome::Warn(_)))
    }
}

impl CheckResult {
    pub(super) fn of(check: CheckId, request: impl Into<String>, tried: Tried) -> CheckResult {
        let (outcome, note, wire) = match tried {
            Ok(note) => (CheckOutcome::Pass, note, None),
            Err(Failure { reason, wire, .. }) => (CheckOutcome::Fail(reason), None, wire),
        };
        CheckResult { check, request: request.into(), outcome, note, wire }
    }

    pub(crate) fn skipped(check: CheckId, request: &str, reason: &str) -> CheckResult {
        let outcome = CheckOutcome::Skipped(reason.to_owned());
        CheckResult { check, request: request.to_owned(), outcome, note: None, wire: None }
    }
}

impl Failure {
    pub(super) fn new(reason: impl Into<String>, talk: &Talk) -> Failure {
        let wire = Wire { sent: bounded(talk.sent()), received: bounded(talk.received()) };
        Failure { reason: reason.into(), wire: Some(wire), answer: None }
    }

    /// A failure with a wrong answer.
    pub(super) fn of_answer(reason: impl Into<String>, talk: &Talk, answer: Response) -> Failure {
        Failure { answer: Some(Box::new(answer)), ..Failure::new(reason, talk) }
    }

    /// A failure before a connection existed.
    pub(super) fn without_wire(reason: impl Into<String>) -> Failure {
        Failure { reason: reason.into(), wire: None, answer: None }
    }

    pub(super) fn within(mut self, place: &str) -> Failure {
        self.reason = format!("{place}: {}", self.reason);
        self
    }
}

fn bounded(bytes: &[u8]) -> String {
    match bytes.split_at_checked(WIRE_LENGTH_MAX) {
        Some((shown, rest)) if !rest.is_empty() => {
            format!("{}... ({} bytes more)", escape(shown), rest.len())
        }
        _ => escape(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(outcome: CheckOutcome) -> CheckResult {
        CheckResult { check: CheckId::Head, request: "a".to_owned(), outcome, note: None, wire: None }
    }

    #[test]
    fn only_a_failure_fails_a_service() {
        let (warn, skip) = (CheckOutcome::Warn("w".to_owned()), CheckOutcome::Skipped("s".to_owned()));
        let mut transcript = Transcript { contract: "c".to_owned(), checks: vec![] };
        transcript.checks = [CheckOutcome::Pass, warn, skip].map(result).to_vec();
        assert!(transcript.passed() && transcript.reason().is_none());
        assert_eq!(transcript.warnings().count(), 1);
        transcript.checks.push(result(CheckOutcome::Fail("f".to_owned())));
        transcript.checks.push(result(CheckOutcome::Fail("g".to_owned())));
        assert_eq!(transcript.reason().as_deref(), Some("c: head of \"a\": f (and 1 more)"));
        let json = serde_json::to_string(&transcript).unwrap();
        assert_eq!(serde_json::from_str::<Transcript>(&json).unwrap(), transcript);
    }

    #[test]
    fn a_transcript_of_an_older_tare_is_read() {
        let json = r#"{ "check": "head", "request": "a", "outcome": "warn", "reason": "w" }"#;
        assert_eq!(
            serde_json::from_str::<CheckResult>(json).unwrap(),
            result(CheckOutcome::Warn("w".to_owned()))
        );
    }

    #[test]
    fn bytes_are_bounded_and_their_rest_is_counted() {
        assert_eq!(bounded(b"a\r"), "a\\r");
        assert_eq!(bounded(&[b'x'; WIRE_LENGTH_MAX]).len(), WIRE_LENGTH_MAX);
        assert!(bounded(&[b'x'; WIRE_LENGTH_MAX + 7]).ends_with("x... (7 bytes more)"));
    }
}
