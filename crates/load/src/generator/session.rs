//! The state of a connection within a sequence: the values so far, and the step it waits for. A load without
//! sequences has no sessions.

use crate::exchange::Exchange;
use crate::http1::Response;
use crate::judgement::{Memo, Outcome};
use crate::sequence::{Captured, MissingValue};
use crate::tally::Failure;

/// The longest response from which a value is captured.
const RESPONSE_BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Session {
    captured: Captured,
    /// The step in flight with its values, if it has placeholders.
    filled: Option<Exchange>,
    /// The memo of this filled step only: an answer that is correct for one session is not for another.
    memo: Memo,
    /// Why a value could not be captured.
    missing: Option<MissingValue>,
}

impl Session {
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

    /// The step in flight, if it differs from the one in the pool.
    pub(super) fn filled(&self) -> Option<&Exchange> {
        self.filled.as_ref()
    }

    /// The number of bytes of the answer to keep, if the exchange captures a value.
    pub(super) fn keep_bytes_max(exchange: &Exchange) -> Option<usize> {
        let captures = exchange.step.as_ref().is_some_and(|step| step.rule.captures());
        captures.then_some(RESPONSE_BYTES_MAX)
    }

    /// The filled step, if there is one, with its memo.
    pub(super) fn awaited(&mut self) -> Option<(&Exchange, &mut Memo)> {
        self.filled.as_ref().map(|filled| (filled, &mut self.memo))
    }

    /// Checks that a correct answer has the values that later steps need.
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

    /// The expected answer of the exchange in flight, in words for a report.
    pub(super) fn expected(&self, listed: &Exchange) -> String {
        match &self.missing {
            Some(missing) => missing.to_string(),
            None => self.filled.as_ref().unwrap_or(listed).expected.describe(),
        }
    }
}
