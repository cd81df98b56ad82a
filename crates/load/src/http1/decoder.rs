//! The state machine for consecutive responses on a connection. It allocates only for a head that arrives in
//! pieces, and passes bodies on without keeping them.

use super::chunked::{Chunked, Step};
use super::head::{self, Framing, Head};
use super::{HEAD_BYTES_MAX, Malformed, ParseError, Progress};

/// The meaning of the next bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The final head; interim heads (1xx) are skipped.
    Head(Head),
    /// Part of the body, never empty. The cuts follow those of the received bytes and mean nothing.
    Body(&'a [u8]),
    /// The response is over and the next byte belongs to something else.
    Complete {
        /// Whether the connection can carry another request.
        keep_alive: bool,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    Length {
        left: u64,
    },
    Chunked(Chunked),
    UntilClose,
    Complete,
}

/// Decodes the bytes of a connection into responses.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
    request_is_head: bool,
    keep_alive: bool,
    /// Whether any byte of this response arrived. It distinguishes a close before it from a close within it.
    begun: bool,
    /// The beginning of a head that is not complete.
    stash: Vec<u8>,
    /// The status of the final head, and the number of body bytes after it.
    status: u16,
    body_bytes: u64,
}

impl Decoder {
    /// Prepares for the response to the next request.
    #[inline]
    pub fn start(&mut self, request_is_head: bool) {
        self.state = State::Head;
        self.request_is_head = request_is_head;
        self.begun = false;
        self.stash.clear();
    }

    /// Whether any byte of the response arrived.
    #[must_use]
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// How much of the response arrived.
    pub(crate) fn progress(&self) -> Progress {
        let (status, bytes) = (self.status, self.body_bytes);
        match self.state {
            State::Head if !self.begun => Progress::Nothing,
            State::Head => Progress::Head { bytes: self.stash.len() },
            State::Length { left } => Progress::Body { status, bytes, announced: Some(bytes + left) },
            State::Complete => Progress::Body { status, bytes, announced: Some(bytes) },
            State::Chunked(_) | State::UntilClose => Progress::Body { status, bytes, announced: None },
        }
    }

    /// The error in `bytes`, of which the decoder had consumed those before `at` when it found the error.
    pub(crate) fn malformed(&self, error: ParseError, bytes: &[u8], at: usize) -> Malformed {
        match self.stash.as_slice() {
            [] => Malformed::new(error, bytes, at),
            // The head arrived in pieces.
            stash => Malformed::new(error, stash, stash.len()),
        }
    }

    /// The number of announced bytes of the body, or of its chunk, that have not arrived.
    pub(super) fn announced(&self) -> u64 {
        match self.state {
            State::Length { left } | State::Chunked(Chunked::Data { left }) => left,
            _ => 0,
        }
    }

    /// The next event, with its bytes taken from the front of `input`. `None` if more bytes are needed
    /// (`input` is then empty), or if the response is over and [`Decoder::start`] was not called (`input` is
    /// then unchanged).
    ///
    /// # Errors
    /// The bytes are not a response of HTTP/1.0 or HTTP/1.1, or exceed a limit of the decoder.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ParseError> {
        self.begun |= !input.is_empty();
        match self.state {
            State::Head => self.head(input),
            State::Length { left: 0 } => Ok(Some(self.complete())),
            State::Complete => Ok(None),
            _ if input.is_empty() => Ok(None),
            State::Length { left } => {
                let take = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                let (body, rest) = input.split_at(take);
                *input = rest;
                self.body_bytes += take as u64;
                self.state = State::Length { left: left - take as u64 };
                Ok(Some(Piece::Body(body)))
            }
            State::Chunked(mut chunked) => {
                let step = chunked.step(input)?;
                self.state = State::Chunked(chunked);
                match step {
                    Step::Data(body) => {
                        self.body_bytes += body.len() as u64;
                        Ok(Some(Piece::Body(body)))
                    }
                    Step::More => Ok(None),
                    Step::End => Ok(Some(self.complete())),
                }
            }
            State::UntilClose => {
                self.body_bytes += input.len() as u64;
                Ok(Some(Piece::Body(std::mem::take(input))))
            }
        }
    }

    /// Handles the end of the connection: completes a body that lasts to the close.
    ///
    /// # Errors
    /// The response is not complete, and its body does not last to the close.
    pub fn eof(&mut self) -> Result<(), ParseError> {
        if self.state != State::UntilClose {
            return Err(ParseError::Truncated);
        }
        self.complete();
        Ok(())
    }

    fn head<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, ParseError> {
        loop {
            if input.is_empty() {
                return Ok(None);
            }
            let Some(head) = self.take_head(input)? else { return Ok(None) };
            if head.status >= 200 {
                self.keep_alive = head.keep_alive;
                (self.status, self.body_bytes) = (head.status, 0);
                self.state = match head.framing {
                    Framing::None => State::Length { left: 0 },
                    Framing::Length(left) => State::Length { left },
                    Framing::Chunked => State::Chunked(Chunked::START),
                    Framing::UntilClose => State::UntilClose,
                };
                return Ok(Some(Piece::Head(head)));
            }
        }
    }

    fn take_head(&mut self, input: &mut &[u8]) -> Result<Option<Head>, ParseError> {
        let stashed = self.stash.len();
        if stashed == 0 {
            // The usual case: the whole head in one read, nothing copied.
            let head = head::parse(input, self.request_is_head)?;
            match head {
                Some(head) => *input = &input[head.len..],
                None => self.stash.extend_from_slice(std::mem::take(input)),
            }
            return Ok(head);
        }
        // At most the limit is copied; bytes beyond it are not examined.
        let take = input.len().min(HEAD_BYTES_MAX.saturating_sub(stashed));
        self.stash.extend_from_slice(&input[..take]);
        let Some(head) = head::parse(&self.stash, self.request_is_head)? else {
            *input = &[];
            return Ok(None);
        };
        // The stashed part alone was incomplete, so the head ends in the new bytes.
        *input = &input[head.len - stashed..];
        self.stash.clear();
        Ok(Some(head))
    }

    fn complete<'a>(&mut self) -> Piece<'a> {
        self.state = State::Complete;
        Piece::Complete { keep_alive: self.keep_alive }
    }
}
