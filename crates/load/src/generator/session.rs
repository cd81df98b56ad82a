//! What a connection holds of the sequence that it is in: the values so far, and the step that it waits for. A load without
//! sequences has no sessions.

use super::check::{Memo, Outcome};
use crate::exchange::{Exchange, SequenceStep};
use crate::http1::parse_response;
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
    /// The response so far, if something is to be taken out of it.
    response: Vec<u8>,
    /// Why its value could not be taken.
    missing: Option<MissingValue>,
}

impl Session {
    /// Begins the next exchange. Returns its request, if it is another than the pool's.
    pub(super) fn begin(&mut self, exchange: &Exchange) -> Option<&Exchange> {
        self.response.clear();
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
        self.filled.as_ref()
    }

    /// Judges what came by `look`, which takes it from the front of `bytes`, as the answer to the exchange of the pool or to the
    /// step that was filled. A right answer has to have the values that later steps need.
    #[inline(never)]
    pub(super) fn judge(
        &mut self,
        listed: &Exchange,
        memo: &mut Memo,
        bytes: &mut &[u8],
        look: impl FnOnce(&Exchange, &mut Memo, &mut &[u8]) -> Outcome,
    ) -> Outcome {
        let before = *bytes;
        let outcome = match &self.filled {
            None => look(listed, memo, bytes),
            Some(filled) => look(filled, &mut self.memo, bytes),
        };
        let Some(step) = listed.step.as_ref().filter(|step| step.rule.captures()) else { return outcome };
        let room = (RESPONSE_BYTES_MAX).saturating_sub(self.response.len());
        let taken = before.len() - bytes.len();
        self.response.extend_from_slice(&before[..taken.min(room)]);
        let Outcome::Answered { keep_alive } = outcome else { return outcome };
        self.missing = self.capture(step, listed).err();
        match self.missing {
            None => outcome,
            Some(_) => Outcome::Failed { failure: Failure::MissingValue, keep_alive },
        }
    }

    fn capture(&mut self, step: &SequenceStep, listed: &Exchange) -> Result<(), MissingValue> {
        match parse_response(&self.response, listed.is_head, true) {
            Ok(Some((response, _))) => step.rule.capture(&response, &mut self.captured),
            // It was read to its end before, so that only its length is left as a reason.
            Ok(None) | Err(_) => Err(MissingValue::TooLong { bytes_max: RESPONSE_BYTES_MAX }),
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
