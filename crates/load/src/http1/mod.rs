//! HTTP/1.1 responses as a state machine over bytes (RFC 9112): bytes in, events out, no I/O and no clock.
//!
//! It deliberately knows nothing of sockets, of requests beyond "was it HEAD", and of what a right response is. Heads
//! are read by `httparse` (which takes a bare LF for a line end, and a folded line for one, as the RFC has it); framing is
//! strict: what two readers could understand differently is an error.
//!
//! Limits, each an error and never a stall: [`HEAD_BYTES_MAX`], [`HEADERS_MAX`], [`CHUNK_LINE_BYTES_MAX`],
//! [`TRAILER_BYTES_MAX`], and [`BODY_BYTES_MAX`] for a length that is announced.

mod chunked;
mod decoder;
mod error;
mod head;
mod malformed;
mod progress;

pub(crate) use chunked::unchunked;
pub use decoder::{Decoder, Piece};
pub use error::ParseError;
pub use head::{Framing, Head};
pub use malformed::Malformed;
pub use progress::Progress;

/// The longest status line and headers together.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// As many as the client of Node takes.
pub(crate) const HEADERS_MAX: usize = 2_000;
/// The longest line before a chunk: its size and extensions.
pub(crate) const CHUNK_LINE_BYTES_MAX: usize = 4 * 1024;
pub(crate) const TRAILER_BYTES_MAX: usize = 64 * 1024;
/// The longest body, or chunk of one, whose end is waited for: 1 TiB. What announces more has no end that anybody sees.
pub(crate) const BODY_BYTES_MAX: u64 = 1 << 40;

/// A length in words. One that fits into no `u64` was read as the largest that does.
pub(crate) fn announced(bytes: u64) -> String {
    let more = if bytes == u64::MAX { " or more" } else { "" };
    format!("{bytes} bytes{more}")
}

/// The same length, if its end can be waited for.
fn bearable(bytes: u64) -> Result<u64, ParseError> {
    if bytes > BODY_BYTES_MAX { Err(ParseError::BodyTooLong { bytes }) } else { Ok(bytes) }
}

/// Version of the protocol in a status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

/// A whole response, for those who look at it closely and not a million times a second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Status code of the final response; interim ones (1xx) are skipped.
    pub status: u16,
    /// Its version.
    pub version: Version,
    /// Header names and values as sent, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body without its framing.
    pub body: Vec<u8>,
    /// Whether the connection can carry another request.
    pub keep_alive: bool,
}

/// Reads one response out of bytes that come in pieces. Each byte is looked at once, however many pieces there are (only a head
/// is looked at anew with each, and that has a limit).
#[derive(Debug)]
pub struct ResponseReader {
    decoder: Decoder,
    /// How many bytes the decoder has had.
    read: usize,
    /// How many it had taken when it found a mistake.
    at: usize,
    response: Option<Response>,
}

impl ResponseReader {
    /// Of the next response.
    #[must_use]
    pub fn new(request_is_head: bool) -> Self {
        let mut decoder = Decoder::default();
        decoder.start(request_is_head);
        ResponseReader { decoder, read: 0, at: 0, response: None }
    }

    /// Takes what is new in `bytes`, which are those of the response from its first one on: more of them with each call. Gives
    /// the response once it is whole, and how many bytes it took.
    ///
    /// # Errors
    /// The bytes are not a response.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Option<(Response, usize)>, ParseError> {
        let mut rest = bytes.get(self.read..).unwrap_or_default();
        loop {
            let next = self.decoder.next(&mut rest);
            if next.is_err() {
                self.at = bytes.len() - rest.len();
            }
            let Some(event) = next? else { break };
            let used = bytes.len() - rest.len();
            match event {
                Piece::Head(head) => self.response = Some(open(&head, &bytes[used - head.len..used])?),
                Piece::Body(part) => {
                    if let Some(response) = &mut self.response {
                        response.body.extend_from_slice(part);
                    }
                }
                Piece::Complete { .. } => return Ok(self.response.take().map(|response| (response, used))),
            }
        }
        self.read = bytes.len();
        Ok(None)
    }

    /// Whether any byte of it came.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.decoder.has_begun()
    }

    /// How much of it came.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.decoder.progress()
    }

    /// What is wrong with the `bytes` that were read last, and where.
    #[must_use]
    pub fn malformed(&self, error: ParseError, bytes: &[u8]) -> Malformed {
        self.decoder.malformed(error, bytes, self.at)
    }

    /// Drops from `bytes` what was read and is not needed any more, so that a body does not lie in memory twice. The next call of
    /// [`ResponseReader::read`] is given what is left, and more.
    pub fn forget(&mut self, bytes: &mut Vec<u8>) {
        if self.response.is_some() {
            bytes.drain(..self.read);
            self.read = 0;
        }
    }

    /// How long the body is at least, by the length of it, or of its chunk, that is announced and has not come whole.
    #[must_use]
    pub fn announced(&self) -> Option<u64> {
        let came = self.response.as_ref().map_or(0, |response| response.body.len() as u64);
        match self.decoder.announced() {
            0 => None,
            left => Some(came.saturating_add(left)),
        }
    }

    /// No more bytes will come, which ends a body that lasts to the close.
    ///
    /// # Errors
    /// The response is not complete.
    pub fn end(&mut self) -> Result<Option<Response>, ParseError> {
        self.decoder.eof()?;
        Ok(self.response.take())
    }
}

/// Reads one response from the beginning of `bytes`: `None` when it needs more, else the response and how many
/// bytes it took. `eof` is true if no more will come: it ends a body that lasts to the close, and makes
/// anything else unfinished an error.
///
/// # Errors
/// The bytes are not a response, or `eof` is true and the response is not complete.
pub fn parse_response(
    bytes: &[u8],
    request_is_head: bool,
    eof: bool,
) -> Result<Option<(Response, usize)>, ParseError> {
    let mut reader = ResponseReader::new(request_is_head);
    match reader.read(bytes)? {
        None if eof => Ok(reader.end()?.map(|response| (response, bytes.len()))),
        read => Ok(read),
    }
}

fn open(head: &Head, bytes: &[u8]) -> Result<Response, ParseError> {
    let Head { status, version, keep_alive, .. } = *head;
    let headers = head::fields(bytes)?;
    Ok(Response { status, version, headers, body: Vec::new(), keep_alive })
}

#[cfg(test)]
mod tests;
