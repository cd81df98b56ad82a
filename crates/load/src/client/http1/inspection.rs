//! Reads the response to one request: the decoder finds its end, the judgement checks status and body.
//!
//! The module knows nothing of connections or time. Most responses of a load are identical to the previous
//! one. So each worker remembers, per exchange, the last response that it accepted, and accepts identical
//! bytes at once. If a head changes, as with a Date, the first response of each second is parsed in full.

use crate::client::cut_short;
use crate::http1::{Decoder, Framing, Malformed, ParseError, Piece, Progress, Response, parse_response};
use crate::judgement::{Expectation, Judgement, Outcome};
use crate::same_bytes::begins_with;
use crate::tally::{Failure, SAMPLE_BYTES_MAX};

/// The response that a connection waits for.
#[derive(Debug, Default)]
pub(super) struct Inspection {
    decoder: Decoder,
    judgement: Judgement,
    is_head: bool,
    /// The beginning of a response that arrives in several pieces.
    prefix: Vec<u8>,
    /// The whole response so far, if the caller wants it.
    whole: Option<Whole>,
    /// Why the last bytes were not a valid response. It is cleared when the slot connects again.
    malformed: Option<Box<Malformed>>,
}

/// A response that is kept for the caller.
#[derive(Debug, Default)]
struct Whole {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Inspection {
    /// Prepares for the response to the next request; up to `keep_bytes_max` bytes of it are kept.
    #[inline]
    pub(super) fn start(&mut self, is_head: bool, keep_bytes_max: Option<usize>) {
        self.decoder.start(is_head);
        self.judgement.start();
        self.is_head = is_head;
        self.prefix.clear();
        self.whole = keep_bytes_max.map(|bytes_max| {
            let mut whole = self.whole.take().unwrap_or_default();
            whole.bytes.clear();
            Whole { bytes_max, ..whole }
        });
    }

    /// Consumes the next bytes, up to the end of the response; what remains in `bytes` is not part of it. If
    /// `check` is off, only the framing is read.
    #[inline]
    pub(super) fn feed(&mut self, expectation: &mut Expectation<'_>, bytes: &mut &[u8]) -> Outcome {
        let memo = &*expectation.memo;
        // A response that begins like the remembered one has the same head, and therefore the same end.
        if begins_with(bytes, &memo.response) && !memo.response.is_empty() && !self.decoder.has_begun() {
            let (response, rest) = bytes.split_at(memo.response.len());
            self.keep(response);
            *bytes = rest;
            self.judgement.accept(memo.status);
            return Outcome::Answered { keep_alive: true };
        }
        let before = *bytes;
        let outcome = self.decode(expectation, bytes);
        self.keep(&before[..before.len() - bytes.len()]);
        outcome
    }

    /// Resets the state for a new connection.
    pub(super) fn begin(&mut self) {
        self.malformed = None;
        self.judgement.start();
    }

    /// The error for `bytes` that follow a complete response; `None` before the first response.
    fn left_over(&self, bytes: &[u8]) -> Option<Malformed> {
        self.status().map(|status| Malformed::left_over(status, self.is_head, bytes))
    }

    /// Records `bytes` that arrived after the end of the response.
    #[cold]
    pub(super) fn overrun(&mut self, bytes: &[u8]) {
        self.malformed = self.left_over(bytes).map(Box::new);
    }

    /// Why the response failed, in words, if more is known than the kind of failure.
    pub(super) fn reason(&self, failure: Failure) -> Option<String> {
        let malformed = |malformed: &Malformed| malformed.error.to_string();
        match failure {
            Failure::Malformed => match &self.malformed {
                Some(own) => Some(malformed(own)),
                // The bytes arrived after the response.
                None => self.left_over(&[]).as_ref().map(malformed),
            },
            Failure::Mismatch => self.judgement.wrong_event(),
            Failure::ResponseTimeout | Failure::ClosedMidResponse => Some(self.decoder.progress())
                .filter(|progress| *progress != Progress::Nothing)
                .map(|progress| progress.to_string()),
            _ => None,
        }
    }

    /// Whether any byte of the response arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.decoder.has_begun()
    }

    /// Handles the end of the connection.
    pub(super) fn eof(&mut self, expectation: &mut Expectation<'_>) -> Outcome {
        if self.decoder.eof().is_ok() {
            return self.judgement.conclude(expectation, false);
        }
        let failure = cut_short(Failure::ClosedBeforeResponse, self.has_begun());
        Outcome::Failed { failure, keep_alive: false }
    }

    /// The status of the response, if its head arrived.
    #[inline]
    pub(super) fn status(&self) -> Option<u16> {
        self.judgement.status()
    }

    /// The beginning of the received bytes, for a sample; `bytes` are those passed last.
    pub(super) fn got(&self, failure: Failure, bytes: &[u8]) -> Vec<u8> {
        let (first, second) = match (failure, &self.malformed) {
            (Failure::Malformed, Some(malformed)) => (malformed.got.as_slice(), &[][..]),
            (Failure::Malformed, None) => (bytes, &[][..]),
            (Failure::Mismatch, _) => (self.judgement.body_so_far(), &[][..]),
            _ => (self.prefix.as_slice(), bytes),
        };
        first.iter().chain(second).copied().take(SAMPLE_BYTES_MAX).collect()
    }

    /// The response that was kept; `None` if it is longer than the limit.
    pub(super) fn response(&self) -> Option<Response> {
        let whole = self.whole.as_ref()?;
        let parsed: Result<_, ParseError> = parse_response(&whole.bytes, self.is_head, true);
        // The response was read to its end before, so the only reason for `None` is its length.
        parsed.ok().flatten().map(|(response, _)| response)
    }

    #[inline]
    fn keep(&mut self, bytes: &[u8]) {
        if let Some(Whole { bytes: kept, bytes_max }) = &mut self.whole {
            let room = bytes_max.saturating_sub(kept.len());
            kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn decode(&mut self, expectation: &mut Expectation<'_>, bytes: &mut &[u8]) -> Outcome {
        let Expectation { exchange, check, .. } = *expectation;
        let (whole, all) = (!self.decoder.has_begun(), *bytes);
        loop {
            match self.decoder.next(bytes) {
                Ok(Some(Piece::Head(head))) => {
                    let has_body = head.framing != Framing::None;
                    self.judgement.head(head.status, has_body, check.then_some(exchange.expected.status));
                }
                Ok(Some(Piece::Body(_))) if !check && !exchange.is_of_events() => {}
                Ok(Some(Piece::Body(part))) => {
                    if let Err(failure) = self.judgement.part(expectation, part) {
                        return Outcome::Failed { failure, keep_alive: false };
                    }
                }
                Ok(Some(Piece::Complete { keep_alive })) => {
                    let outcome = self.judgement.conclude(expectation, keep_alive);
                    let is_kept = whole && exchange.expected.body.may_be_remembered();
                    if is_kept && outcome == (Outcome::Answered { keep_alive: true }) {
                        let status = self.judgement.status().unwrap_or_default();
                        expectation.memo.remember(&all[..all.len() - bytes.len()], status);
                    }
                    return outcome;
                }
                Ok(None) => {
                    self.keep_prefix(all);
                    return self.judgement.partial();
                }
                Err(error) => {
                    let malformed = self.decoder.malformed(error, all, all.len() - bytes.len());
                    self.malformed = Some(Box::new(malformed));
                    return Outcome::Failed { failure: Failure::Malformed, keep_alive: false };
                }
            }
        }
    }

    fn keep_prefix(&mut self, bytes: &[u8]) {
        let room = SAMPLE_BYTES_MAX.saturating_sub(self.prefix.len());
        self.prefix.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Arrival, BodyShape, Exchange, Expected, ExpectedBody, Flight};
    use crate::judgement::{EXCESS_BYTES_MAX, Memo};
    use crate::pattern::JsonPattern;
    use crate::text_pattern::TextPattern;

    fn exchange(body: ExpectedBody) -> Exchange {
        let expected = Expected { status: 200, body };
        Exchange { request: vec![], is_head: false, expected, name: "test".to_owned(), step: None }
    }

    fn response(body: &str) -> Vec<u8> {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    fn expectation<'a>(exchange: &'a Exchange, memo: &'a mut Memo, check: bool) -> Expectation<'a> {
        let events = Box::leak(Box::default());
        let (flight, arrival) = (Flight::default(), Arrival::default());
        Expectation { exchange, memo, check, is_last: true, flight, events, arrival }
    }

    fn judge(exchange: &Exchange, memo: &mut Memo, pieces: &[&[u8]]) -> (Outcome, Vec<u8>) {
        let mut inspection = Inspection::default();
        inspection.start(exchange.is_head, None);
        let mut outcome = Outcome::Partial;
        for piece in pieces {
            outcome = inspection.feed(&mut expectation(exchange, memo, true), &mut &**piece);
        }
        (outcome, inspection.got(Failure::Mismatch, &[]))
    }

    const RIGHT: Outcome = Outcome::Answered { keep_alive: true };
    const WRONG: Outcome = Outcome::Failed { failure: Failure::Mismatch, keep_alive: true };

    #[test]
    fn exact_bodies_whole_and_in_pieces() {
        let exchange = exchange(ExpectedBody::Exact(b"hello".to_vec()));
        for (body, right) in
            [("hello", true), ("hellO", false), ("hell", false), ("hello!", false), ("", false)]
        {
            let bytes = response(body);
            let mut memo = Memo::default();
            for cut in [0, 5, bytes.len() - 1, bytes.len()] {
                let (outcome, got) = judge(
                    &exchange,
                    &mut memo,
                    &[&bytes[..cut], &bytes[cut..]]
                        .into_iter()
                        .filter(|piece| !piece.is_empty())
                        .collect::<Vec<_>>(),
                );
                assert_eq!(outcome, if right { RIGHT } else { WRONG }, "{body} cut at {cut}");
                assert_eq!(got, if right { b"" } else { body.as_bytes() }, "{body} cut at {cut}");
            }
        }
    }

    #[test]
    fn equal_json_in_any_order() {
        let exchange = exchange(ExpectedBody::json(serde_json::json!({"a": 1, "b": [true]})));
        let mut memo = Memo::default();
        for _ in 0..2 {
            assert_eq!(judge(&exchange, &mut memo, &[&response(r#"{ "b": [true], "a": 1 }"#)]).0, RIGHT);
            assert_eq!(judge(&exchange, &mut memo, &[&response(r#"{"b":[true],"a":2}"#)]).0, WRONG);
            assert_eq!(judge(&exchange, &mut memo, &[&response("")]).0, WRONG);
        }
    }

    #[test]
    fn json_whole_and_in_pieces_in_the_text_of_most_servers_and_in_another() {
        let right = serde_json::json!({"a": 1, "b": -0.0});
        let exchange = exchange(ExpectedBody::json(right.clone()));
        for body in [
            r#"{"a":1,"b":-0.0}"#,
            r#"{"b":-0.0,"a":1}"#,
            r#"{"a":1,"b":-0}"#,
            r#"{"a":1, "b":-0.0}"#,
            r#"{"a":1,"b":-0.0} "#,
            r#"{"a":1,"b":-0.0}}"#,
            r#"{"a":1,"b":-0.0"#,
            r#"{"a":1,"b":-0.1}"#,
            r#"{"a":2,"b":-0.0}"#,
            "",
        ] {
            let is_right = serde_json::from_str(body).is_ok_and(|got: serde_json::Value| got == right);
            let bytes = response(body);
            let mut memo = Memo::default();
            for cut in 1..bytes.len() {
                let (outcome, got) = judge(&exchange, &mut memo, &[&bytes[..cut], &bytes[cut..]]);
                assert_eq!(outcome, if is_right { RIGHT } else { WRONG }, "{body} cut at {cut}");
                assert!(is_right || got == body.as_bytes(), "{body} cut at {cut}: {}", got.escape_ascii());
            }
        }
    }

    #[test]
    fn every_answer_is_compared_with_a_pattern() {
        let pattern = JsonPattern::new(serde_json::json!({"id": "{{any:int}}", "a": 1}), false);
        let exchange = exchange(ExpectedBody::Pattern(pattern));
        let mut memo = Memo::default();
        for id in [1, 2, 2, 3] {
            let right = response(&format!("{{\"a\":1,\"id\":{id}}}"));
            let wrong = response(&format!("{{\"a\":1,\"id\":\"{id}\"}}"));
            assert_eq!(judge(&exchange, &mut memo, &[&right]).0, RIGHT);
            assert_eq!(judge(&exchange, &mut memo, &[&wrong]).0, WRONG);
        }
        assert_eq!(judge(&exchange, &mut memo, &[&response("{")]).0, WRONG);
    }

    fn shape(bytes: std::ops::RangeInclusive<u64>, pattern: Option<&str>) -> ExpectedBody {
        let pattern = pattern.map(|pattern| TextPattern::new(pattern).unwrap());
        ExpectedBody::Shape(BodyShape { bytes, pattern })
    }

    #[test]
    fn every_answer_is_compared_with_its_shape_whole_and_in_pieces() {
        let with_pattern = exchange(shape(3..=6, Some("id-[0-9]+")));
        let of_length = exchange(shape(3..=6, None));
        let mut memos = [Memo::default(), Memo::default()];
        // Each case runs twice in a row: the second time the response is remembered.
        for (body, matches, fits) in
            ["id-1", "id-1", "id-22", "id-x", "id-x", "id", "id-4444", "id-1"].map(|body| {
                let fits = (3..=6).contains(&body.len());
                (body, fits && !body.ends_with('x') && body.len() > 3, fits)
            })
        {
            let bytes = response(body);
            for cut in 0..bytes.len() {
                let pieces = [&bytes[..cut], &bytes[cut..]];
                let pieces: Vec<&[u8]> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
                for ((exchange, right), memo) in
                    [(&with_pattern, matches), (&of_length, fits)].into_iter().zip(&mut memos)
                {
                    let (outcome, got) = judge(exchange, memo, &pieces);
                    assert_eq!(outcome, if right { RIGHT } else { WRONG }, "{body} cut at {cut}");
                    assert!(right || got == body.as_bytes(), "{body} cut at {cut}: {got:?}");
                }
            }
        }
    }

    #[test]
    fn a_body_that_is_far_too_long_is_not_waited_for() {
        let exchange = exchange(shape(0..=9, None));
        let long = response(&"x".repeat(EXCESS_BYTES_MAX as usize + 10));
        let (outcome, got) = judge(&exchange, &mut Memo::default(), &[&long]);
        assert_eq!(outcome, Outcome::Failed { failure: Failure::Mismatch, keep_alive: false });
        assert_eq!(got.len(), SAMPLE_BYTES_MAX);
        let little = response(&"x".repeat(10));
        assert_eq!(judge(&exchange, &mut Memo::default(), &[&little]).0, WRONG);
    }

    #[test]
    fn a_remembered_response_does_not_complete_a_different_one() {
        let exchange = exchange(ExpectedBody::Exact(b"hello".to_vec()));
        let (mut memo, bytes) = (Memo::default(), response("hello"));
        assert_eq!(judge(&exchange, &mut memo, &[&bytes]).0, RIGHT);
        assert_eq!(memo.response, bytes);
        // The remembered bytes as the second piece are not a response of their own.
        let (outcome, _) = judge(&exchange, &mut memo, &[b"H", &bytes]);
        assert_eq!(outcome, Outcome::Failed { failure: Failure::Malformed, keep_alive: false });
    }

    #[test]
    fn what_follows_a_response_is_left() {
        let exchange = exchange(ExpectedBody::Exact(b"hello".to_vec()));
        let (one, mut memo) = (response("hello"), Memo::default());
        // The first time it is decoded, then remembered.
        for _ in 0..2 {
            let twice = one.repeat(2);
            let mut rest = twice.as_slice();
            for left in [one.len(), 0] {
                let mut inspection = Inspection::default();
                inspection.start(false, None);
                assert_eq!(inspection.feed(&mut expectation(&exchange, &mut memo, true), &mut rest), RIGHT);
                assert_eq!(rest.len(), left);
            }
        }
    }

    #[test]
    fn without_check_only_the_framing_is_read() {
        let exchange = exchange(ExpectedBody::Exact(b"hello".to_vec()));
        let mut inspection = Inspection::default();
        let wrong = b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno";
        let mut memo = Memo::default();
        // The second time it is remembered, and its status with it.
        for _ in 0..2 {
            inspection.start(false, None);
            assert_eq!(inspection.status(), None);
            assert_eq!(
                inspection.feed(&mut expectation(&exchange, &mut memo, false), &mut &wrong[..]),
                RIGHT
            );
            assert_eq!(inspection.status(), Some(404));
        }
    }
}
