//! What a connection holds of the sequence that it is in: the values so far, and the step that it waits for. A load without
//! sequences has no sessions.

use crate::exchange::Exchange;
use crate::http1::Response;
use crate::judgement::{Memo, Outcome};
use crate::sequence::{Captured, MissingValue};
use crate::tally::Failure;

/// The longest response that a value is taken out of.
const RESPONSE_BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Session {
    captured: Captured,
    /// The step in flight with its values, if it has any.
    filled: Option<Exchange>,
    /// Of the filled step alone: another session's answer is not right because it was right there.
    memo: Memo,
    /// Why its value could not be taken.
    missing: Option<MissingValue>,
}

impl Session {
    /// Begins the next exchange.
    pub(super) fn begin(&mut self, exchange: &Exchange) {
        self.missing = None;
        self.filled = exchange.step.as_ref().and_then(|step| {
            if step.is_first {
                self.captured.clear();
            }
            step.rule.fill(&self.captured)
        });
        if self.filled.is_some() {
            self.memo = Memo::default();
        }
    }

    /// The step in flight, if it is another than the pool's.
    pub(super) fn filled(&self) -> Option<&Exchange> {
        self.filled.as_ref()
    }

    /// How much of the answer to this exchange is to be kept, if anything is to be taken out of it.
    pub(super) fn keep_bytes_max(exchange: &Exchange) -> Option<usize> {
        let captures = exchange.step.as_ref().is_some_and(|step| step.rule.captures());
        captures.then_some(RESPONSE_BYTES_MAX)
    }

    /// The step that was filled, if it was, and what is remembered of it.
    pub(super) fn awaited(&mut self) -> Option<(&Exchange, &mut Memo)> {
        self.filled.as_ref().map(|filled| (filled, &mut self.memo))
    }

    /// A right answer has to have the values that later steps need.
    #[inline(never)]
    pub(super) fn conclude(
        &mut self,
        listed: &Exchange,
        outcome: Outcome,
        response: impl FnOnce() -> Option<Response>,
    ) -> Outcome {
        let Some(step) = listed.step.as_ref().filter(|step| step.rule.captures()) else { return outcome };
        let Outcome::Answered { keep_alive } = outcome else { return outcome };
        let captured = match response() {
            Some(response) => step.rule.capture(&response, &mut self.captured),
            None => Err(MissingValue::TooLong { bytes_max: RESPONSE_BYTES_MAX }),
        };
        self.missing = captured.err();
        match self.missing {
            None => outcome,
            Some(_) => Outcome::Failed { failure: Failure::MissingValue, keep_alive },
        }
    }

    /// What was expected of the exchange in flight, in words for a report.
    pub(super) fn expected(&self, listed: &Exchange) -> String {
        match &self.missing {
            Some(missing) => missing.to_string(),
            None => self.filled.as_ref().unwrap_or(listed).expected.describe(),
        }
    }
}
