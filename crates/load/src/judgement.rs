//! Evaluates a response in pieces, for any protocol. It compares status and body with the expected ones as
//! they arrive, and keeps no more than the comparison needs.
//!
//! The module knows nothing of framing, connections or time.

use crate::events::EventMeasures;
use crate::exchange::{Arrival, Exchange, ExpectedBody, Flight, Follower, Judged};
use crate::same_bytes::begins_with;
use crate::tally::{Failure, SAMPLE_BYTES_MAX};

/// The excess length from which the end of a body is not worth waiting for.
pub(crate) const EXCESS_BYTES_MAX: u64 = 64 * 1024;
/// The longest body that is kept whole for comparison: JSON, or a text with a pattern.
const WHOLE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Memory for bodies that is kept between responses: a slot in a thousand may need much, and there are many
/// slots.
const KEPT_BYTES_MAX: usize = 1024 * 1024;
/// A longer response is not remembered whole: parsing its head is then a small part of the work.
const MEMO_BYTES_MAX: usize = 4 * 1024;

/// What a worker remembers of an exchange.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memo {
    /// The last accepted HTTP/1.1 response, if it arrived in one piece and kept the connection open.
    pub(crate) response: Vec<u8>,
    /// Its status.
    pub(crate) status: u16,
    /// The last accepted body that needed more than a comparison of bytes.
    body: Vec<u8>,
}

impl Memo {
    pub(crate) fn remember(&mut self, bytes: &[u8], status: u16) {
        self.status = status;
        self.response.clear();
        if bytes.len() <= MEMO_BYTES_MAX {
            self.response.extend_from_slice(bytes);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// More bytes are needed.
    Partial,
    /// More bytes may follow, and events of a stream have arrived.
    Streaming,
    /// The response is complete and correct.
    Answered { keep_alive: bool },
    /// The response is wrong; `keep_alive` means that the connection, or the slot on it, remains usable.
    Failed { failure: Failure, keep_alive: bool },
}

/// Empties the buffer, and frees the memory of a long body.
#[inline]
pub(crate) fn empty(body: &mut Vec<u8>) {
    body.clear();
    if body.capacity() > KEPT_BYTES_MAX {
        *body = Vec::new();
    }
}

/// The expected answer to a request.
#[derive(Debug)]
pub(crate) struct Expectation<'a> {
    pub(crate) exchange: &'a Exchange,
    pub(crate) memo: &'a mut Memo,
    /// Whether status and body are compared. The framing always is.
    pub(crate) check: bool,
    /// Whether no other request is in flight in the slot.
    pub(crate) is_last: bool,
    /// The times of the request, if its answer is complete now.
    pub(crate) flight: Flight,
    /// What an answer that is a stream of events adds to.
    pub(crate) events: &'a mut EventMeasures,
    /// When the bytes at hand arrived.
    pub(crate) arrival: Arrival,
}

/// What is known of the awaited response.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// The status, once the head arrived; 0 before.
    status: u16,
    /// The first error found. The rest is still read, to keep the connection.
    verdict: Option<Failure>,
    has_body: bool,
    body_bytes: u64,
    /// Whether a JSON body differs from the text that most servers make of its value. Until then it is not
    /// kept.
    is_own_text: bool,
    /// The body so far, if all of it is needed, or the beginning of a body that is or may be wrong.
    body: Vec<u8>,
    /// The stream of events, if the body is one.
    follower: Option<Box<Follower>>,
    /// Whether events arrived since the last [`Judgement::partial`].
    is_streaming: bool,
}

impl Judgement {
    /// Prepares for the next response.
    #[inline]
    pub(crate) fn start(&mut self) {
        self.status = 0;
        self.verdict = None;
        self.has_body = true;
        self.body_bytes = 0;
        self.is_own_text = false;
        empty(&mut self.body);
    }

    /// The status of the response, if its head arrived.
    #[inline]
    pub(crate) fn status(&self) -> Option<u16> {
        (self.status > 0).then_some(self.status)
    }

    /// Accepts a response that is known to be correct without looking at its pieces.
    #[inline]
    pub(crate) fn accept(&mut self, status: u16) {
        self.status = status;
    }

    /// The number of compared body bytes.
    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// The beginning of a wrong body.
    pub(crate) fn body_so_far(&self) -> &[u8] {
        &self.body
    }

    #[inline]
    pub(crate) fn head(&mut self, status: u16, has_body: bool, expected_status: Option<u16>) {
        self.status = status;
        self.has_body = has_body;
        if expected_status.is_some_and(|expected| expected != status) {
            self.verdict = Some(Failure::Status);
        }
    }

    /// Handles the next part of the body.
    ///
    /// # Errors
    /// The body is much longer than it should be, and its end is not worth waiting for; or an event is wrong.
    #[inline]
    pub(crate) fn part(&mut self, expectation: &mut Expectation<'_>, part: &[u8]) -> Result<(), Failure> {
        let expected = &expectation.exchange.expected.body;
        if let ExpectedBody::Events(_) = expected {
            return self.events(expectation, part);
        }
        self.body(expected, part);
        if self.body_bytes > body_bytes_max(expected) {
            return Err(self.verdict.unwrap_or(Failure::Mismatch));
        }
        Ok(())
    }

    /// Follows a stream of events.
    fn events(&mut self, expectation: &mut Expectation<'_>, part: &[u8]) -> Result<(), Failure> {
        let Expectation { exchange, check, arrival, events, .. } = expectation;
        let ExpectedBody::Events(expected) = &exchange.expected.body else { return Ok(()) };
        // The rest of an answer with the wrong status says nothing.
        if let Some(failure) = self.verdict {
            return Err(failure);
        }
        let follower = self.follower.get_or_insert_default();
        if self.body_bytes == 0 {
            follower.restart();
        }
        self.body_bytes += part.len() as u64;
        match follower.part(expected, part, *check, *arrival, events) {
            Ok(count) => {
                self.is_streaming |= count > 0;
                Ok(())
            }
            Err(_) => {
                self.body.extend_from_slice(follower.got());
                Err(Failure::Mismatch)
            }
        }
    }

    /// The outcome of bytes that do not complete the response.
    #[inline]
    pub(crate) fn partial(&mut self) -> Outcome {
        if std::mem::take(&mut self.is_streaming) { Outcome::Streaming } else { Outcome::Partial }
    }

    /// Which event of a stream is wrong, in words.
    pub(crate) fn wrong_event(&self) -> Option<String> {
        let follower = self.follower.as_ref().filter(|_| self.body_bytes > 0)?;
        follower.wrong().map(|wrong| wrong.to_string())
    }

    fn body(&mut self, expected: &ExpectedBody, part: &[u8]) {
        let before = self.body_bytes;
        self.body_bytes += part.len() as u64;
        if self.verdict.is_some_and(|verdict| verdict != Failure::Mismatch) {
            return;
        }
        match expected {
            ExpectedBody::Any | ExpectedBody::Events(_) => {}
            ExpectedBody::Json(right) => self.json(right.text(), before as usize, part),
            ExpectedBody::Pattern(_) | ExpectedBody::Judged(_) => self.body.extend_from_slice(part),
            ExpectedBody::Shape(shape) if shape.pattern.is_some() => self.body.extend_from_slice(part),
            ExpectedBody::Shape(_) => self.keep_beginning(part),
            ExpectedBody::Exact(right) => {
                if self.verdict.is_none() {
                    // All earlier parts were correct, so `before` does not exceed the length.
                    let before = before as usize;
                    if begins_with(&right[before..], part) {
                        return;
                    }
                    self.verdict = Some(Failure::Mismatch);
                    self.body.extend_from_slice(&right[..before.min(SAMPLE_BYTES_MAX)]);
                }
                self.keep_beginning(part);
            }
        }
    }

    fn json(&mut self, text: &[u8], before: usize, part: &[u8]) {
        if !self.is_own_text {
            // All earlier parts matched this text.
            if begins_with(&text[before..], part) {
                return;
            }
            self.is_own_text = true;
            self.body.extend_from_slice(&text[..before]);
        }
        self.body.extend_from_slice(part);
    }

    fn keep_beginning(&mut self, part: &[u8]) {
        let room = SAMPLE_BYTES_MAX.saturating_sub(self.body.len());
        self.body.extend_from_slice(&part[..part.len().min(room)]);
    }

    /// The response is complete.
    #[inline]
    pub(crate) fn conclude(&mut self, expectation: &mut Expectation<'_>, keep_alive: bool) -> Outcome {
        // The grammar of events is checked in any case.
        let check = expectation.check || expectation.exchange.is_of_events();
        if check && self.verdict.is_none() && self.has_body && !self.is_right(expectation) {
            self.verdict = Some(Failure::Mismatch);
        }
        match self.verdict {
            None => Outcome::Answered { keep_alive },
            Some(failure) => Outcome::Failed { failure, keep_alive },
        }
    }

    fn is_right(&mut self, expectation: &mut Expectation<'_>) -> bool {
        let expected = &expectation.exchange.expected.body;
        match expected {
            ExpectedBody::Any => true,
            ExpectedBody::Events(events) => {
                let follower = self.follower.get_or_insert_default();
                if self.body_bytes == 0 {
                    follower.restart();
                }
                let is_right = follower.end(events, expectation.check).is_ok();
                self.body.extend_from_slice(follower.got());
                is_right
            }
            ExpectedBody::Exact(right) => {
                let whole = self.body_bytes == right.len() as u64;
                if !whole {
                    let came = (self.body_bytes as usize).min(SAMPLE_BYTES_MAX);
                    self.body.extend_from_slice(&right[..came]);
                }
                whole
            }
            ExpectedBody::Json(right) if !self.is_own_text => {
                let whole = self.body_bytes == right.text().len() as u64;
                if !whole {
                    self.body.extend_from_slice(&right.text()[..self.body_bytes as usize]);
                }
                whole || self.is_as_before_or_right(expected, expectation.memo)
            }
            ExpectedBody::Shape(shape) if shape.pattern.is_none() => shape.bytes.contains(&self.body_bytes),
            ExpectedBody::Judged(Judged(judge)) if !judge.may_be_remembered() => {
                judge.is_right(&self.body, expectation.flight)
            }
            _ => self.is_as_before_or_right(expected, expectation.memo),
        }
    }

    fn is_as_before_or_right(&self, expected: &ExpectedBody, memo: &mut Memo) -> bool {
        if self.body == memo.body && !memo.body.is_empty() {
            return true;
        }
        let right = expected.accepts(&self.body);
        if right {
            memo.body.clone_from(&self.body);
        }
        right
    }
}

fn body_bytes_max(expected: &ExpectedBody) -> u64 {
    match expected {
        ExpectedBody::Exact(right) => right.len() as u64 + EXCESS_BYTES_MAX,
        ExpectedBody::Json(_) | ExpectedBody::Pattern(_) => WHOLE_BYTES_MAX,
        ExpectedBody::Judged(Judged(judge)) => judge.body_bytes_max(),
        ExpectedBody::Shape(shape) => {
            let most = shape.bytes.end().saturating_add(EXCESS_BYTES_MAX);
            if shape.pattern.is_some() { most.min(WHOLE_BYTES_MAX) } else { most }
        }
        ExpectedBody::Any | ExpectedBody::Events(_) => u64::MAX,
    }
}
