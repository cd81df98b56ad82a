//! The common part of all answers to a request, as a contract expresses it.

use jiff::Timestamp;
use serde::Serialize;
use tare_load::{
    exchange::{BodyShape, ExpectedBody},
    http1::Response,
    pattern::JsonPattern,
    text_pattern::TextPattern,
};

use super::{
    LearnError, LearnRequest, Required,
    moving::{AnswerContext, Varying},
    prose, varying,
};
use tare_contract::BRACES;

/// Statuses from here on are errors.
const ERROR_STATUS: u16 = 400;
/// Longest quote of an unexpected body.
const QUOTED_BYTES: usize = 60;

/// The `[request.response]` of a contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearnedAnswer {
    pub status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<String>,
    #[serde(skip)]
    varying: Vec<Varying>,
}

impl LearnedAnswer {
    /// An answer of which only the status is required.
    pub fn of_status(status: u16) -> LearnedAnswer {
        LearnedAnswer { status, body: None, json: None, extra: None, matches: None, varying: Vec::new() }
    }

    /// The common part of the answers to a request; `now` is their time, if it is known.
    ///
    /// # Errors
    /// The answers are of a kind that no contract requires, such as a status of 500.
    pub fn common(
        asked: &LearnRequest,
        answers: &[Response],
        now: Option<Timestamp>,
    ) -> Result<LearnedAnswer, LearnError> {
        let Some(first) = answers.first() else { return Ok(LearnedAnswer::of_status(200)) };
        let status = first.status;
        if let Some(other) = answers.iter().find(|answer| answer.status != status) {
            return Err(LearnError::Unsteady { asked: asked.clone(), statuses: [status, other.status] });
        }
        if status >= ERROR_STATUS {
            let quoted = &first.body[..first.body.len().min(QUOTED_BYTES)];
            let body = quoted.escape_ascii().to_string();
            return Err(LearnError::Refused { asked: Box::new(asked.clone()), status, body });
        }
        // Literal braces would be read as placeholders.
        let has_braces = |answer: &Response| answer.body.windows(2).any(|two| two == BRACES.as_bytes());
        if asked.method == "HEAD" || asked.varies() || answers.iter().any(has_braces) {
            return Ok(LearnedAnswer::of_status(status));
        }
        Ok(LearnedAnswer::of_bodies(status, answers, &AnswerContext { now, sent: &asked.texts() }))
    }

    /// The narrowest requirement that all bodies satisfy; if there is none, only their status.
    fn of_bodies(status: u16, answers: &[Response], context: &AnswerContext) -> LearnedAnswer {
        let unknown = LearnedAnswer::of_status(status);
        let texts = answers.iter().map(|answer| std::str::from_utf8(&answer.body).ok());
        let Some(texts) = texts.collect::<Option<Vec<_>>>() else { return unknown };
        let same = texts.first().filter(|first| texts.iter().all(|text| text == *first));
        let fixed = same.map(|text| LearnedAnswer { body: Some((*text).to_owned()), ..unknown.clone() });
        // Text that looks like a wildcard cannot be used.
        let is_plain = |text: &&&str| !text.contains("{{any");
        let values = texts
            .iter()
            .map(|text| Some(text).filter(is_plain).and_then(|text| serde_json::from_str(text).ok()));
        let moving = match values.collect::<Option<Vec<_>>>() {
            Some(values) => varying::pattern_of(&values, context).map(|common| LearnedAnswer {
                varying: common.varying.clone(),
                ..LearnedAnswer::like(status, &common.pattern())
            }),
            None => prose::pattern_of(&texts, context).map(|prose| LearnedAnswer {
                matches: Some(prose.pattern),
                varying: prose.varying,
                ..unknown.clone()
            }),
        };
        match (moving, fixed) {
            (Some(moving), None) => moving,
            (Some(moving), Some(_)) if !moving.varying.is_empty() => moving,
            (_, Some(fixed)) => fixed,
            (None, None) => unknown,
        }
    }

    /// JSON that matches a pattern.
    pub fn like(status: u16, pattern: &JsonPattern) -> LearnedAnswer {
        let text = pattern.to_string();
        LearnedAnswer {
            varying: serde_json::from_str(&text).map(|value| varying::varying_of(&value)).unwrap_or_default(),
            json: Some(text),
            extra: pattern.allows_extra().then_some("allow"),
            ..LearnedAnswer::of_status(status)
        }
    }

    /// The expected body.
    fn expected(&self) -> ExpectedBody {
        let any = 0..=u64::MAX;
        let value = |text: &String| serde_json::from_str::<serde_json::Value>(text).ok();
        let pattern = |text: &String| TextPattern::new(text).ok();
        match (&self.body, self.json.as_ref().and_then(value), self.matches.as_ref().and_then(pattern)) {
            (Some(body), ..) => ExpectedBody::Exact(body.clone().into_bytes()),
            (None, Some(value), _) if self.varying.is_empty() && self.extra.is_none() => {
                ExpectedBody::json(value)
            }
            (None, Some(value), _) => ExpectedBody::Pattern(JsonPattern::new(value, self.extra.is_some())),
            (None, None, Some(pattern)) => {
                ExpectedBody::Shape(BodyShape { bytes: any, pattern: Some(pattern) })
            }
            (None, None, None) => ExpectedBody::Any,
        }
    }

    pub(crate) fn required(&self) -> Required {
        let (status, varying) = (self.status, self.varying.clone());
        match (&self.body, &self.json, &self.matches) {
            (Some(body), ..) => Required::Body { status, bytes: body.len() },
            (_, Some(_), _) if varying.is_empty() && self.extra.is_none() => Required::Json { status },
            (_, Some(_), _) => Required::Pattern { status, varying },
            (.., Some(_)) => Required::Text { status, varying },
            (None, None, None) => Required::Status { status },
        }
    }
}

/// The common part of bodies of any bytes, for callers without a contract. `now` is the time of the answers,
/// `sent` the texts of the request.
pub fn in_common(sent: &str, answers: &[Response], now: Timestamp) -> (ExpectedBody, Required) {
    let Some(first) = answers.first() else { return (ExpectedBody::Any, Required::Status { status: 200 }) };
    let (status, bytes) = (first.status, first.body.len());
    let common = LearnedAnswer::of_bodies(status, answers, &AnswerContext { now: Some(now), sent });
    match common.required() {
        Required::Status { .. } if answers.iter().all(|answer| answer.body == first.body) => {
            (ExpectedBody::Exact(first.body.clone()), Required::Body { status, bytes })
        }
        required => (common.expected(), required),
    }
}
