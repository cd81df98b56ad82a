//! What all answers to one request have in common, as a contract says it.

use serde::Serialize;
use tare_load::{http1::Response, pattern::JsonPattern};

use super::{LearnError, Question, Required, varying};

/// From this status on an answer is an error.
const ERROR_STATUS: u16 = 400;
/// How much of an unexpected body is quoted.
const QUOTED_BYTES: usize = 60;

/// The `[request.response]` of a contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LearnedAnswer {
    pub status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'static str>,
    #[serde(skip)]
    wildcards: usize,
}

impl LearnedAnswer {
    pub(crate) fn of_status(status: u16) -> LearnedAnswer {
        LearnedAnswer { status, body: None, json: None, extra: None, wildcards: 0 }
    }

    pub(crate) fn common(asked: &Question, answers: &[Response]) -> Result<LearnedAnswer, LearnError> {
        let Some(first) = answers.first() else { return Ok(LearnedAnswer::of_status(200)) };
        let status = first.status;
        if let Some(other) = answers.iter().find(|answer| answer.status != status) {
            return Err(LearnError::Unsteady { asked: asked.clone(), statuses: [status, other.status] });
        }
        if status >= ERROR_STATUS {
            let quoted = &first.body[..first.body.len().min(QUOTED_BYTES)];
            let body = quoted.escape_ascii().to_string();
            return Err(LearnError::Refused { asked: asked.clone(), status, body });
        }
        let is_same = answers.iter().all(|answer| answer.body == first.body);
        // Braces of the service's own would be read as placeholders.
        let has_braces = |answer: &Response| answer.body.windows(2).any(|two| two == b"{{");
        Ok(match std::str::from_utf8(&first.body) {
            _ if asked.method == "HEAD" || answers.iter().any(has_braces) => LearnedAnswer::of_status(status),
            Ok(text) if is_same => {
                LearnedAnswer { body: Some(text.to_owned()), ..LearnedAnswer::of_status(status) }
            }
            _ => LearnedAnswer::pattern(status, answers),
        })
    }

    /// The JSON that the answers have in common; if there is none, their status.
    fn pattern(status: u16, answers: &[Response]) -> LearnedAnswer {
        let values = answers.iter().map(|answer| serde_json::from_slice(&answer.body).ok());
        let common = values.collect::<Option<Vec<_>>>().and_then(|values| varying::pattern_of(&values));
        common
            .map_or(LearnedAnswer::of_status(status), |common| LearnedAnswer::like(status, &common.pattern()))
    }

    /// JSON that fits a pattern.
    pub(crate) fn like(status: u16, pattern: &JsonPattern) -> LearnedAnswer {
        LearnedAnswer {
            json: Some(pattern.to_string()),
            extra: pattern.allows_extra().then_some("allow"),
            wildcards: pattern.wildcards(),
            ..LearnedAnswer::of_status(status)
        }
    }

    /// The one answer to a request that was seen. What is an identifier or an instant by its form changes for sure.
    pub(crate) fn seen_once(asked: &Question, answer: &Response) -> Result<LearnedAnswer, LearnError> {
        let common = LearnedAnswer::common(asked, std::slice::from_ref(answer))?;
        let value = common.body.as_deref().and_then(|body| serde_json::from_str(body).ok());
        let pattern = value.map(|value| JsonPattern::new(varying::without_moments(value), false));
        Ok(match pattern.filter(|pattern| pattern.wildcards() > 0) {
            Some(pattern) => LearnedAnswer::like(common.status, &pattern),
            None => common,
        })
    }

    pub(crate) fn required(&self) -> Required {
        let status = self.status;
        if self.wildcards > 0 || self.extra.is_some() {
            return Required::Pattern { status, wildcards: self.wildcards };
        }
        match (&self.body, &self.json) {
            (Some(body), _) => Required::Body { status, bytes: body.len() },
            (None, Some(_)) => Required::Json { status },
            (None, None) => Required::Status { status },
        }
    }
}
