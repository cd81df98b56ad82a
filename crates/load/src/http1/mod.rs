//! HTTP/1.1 responses as a state machine over bytes (RFC 9112): bytes in, events out, no I/O and no clock.
//!
//! It deliberately knows nothing of sockets, of requests beyond "was it HEAD", or of correct responses.
//! `httparse` reads the heads; it accepts a bare LF and folded lines, as the RFC does. Framing is strict: a
//! message that two readers could understand differently is an error.
//!
//! Each limit is an error and never a stall: [`HEAD_BYTES_MAX`], [`HEADERS_MAX`], [`CHUNK_LINE_BYTES_MAX`],
//! [`TRAILER_BYTES_MAX`], and [`BODY_BYTES_MAX`] for an announced length.

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
/// The same limit as in the client of Node.
pub(crate) const HEADERS_MAX: usize = 2_000;
/// The longest line before a chunk: its size and extensions.
pub(crate) const CHUNK_LINE_BYTES_MAX: usize = 4 * 1024;
pub(crate) const TRAILER_BYTES_MAX: usize = 64 * 1024;
/// The longest body or chunk that is read to its end: 1 TiB. A longer announced body never ends in a run.
pub(crate) const BODY_BYTES_MAX: u64 = 1 << 40;

/// A length in words. A length that exceeds `u64` was read as `u64::MAX`.
pub(crate) fn announced(bytes: u64) -> String {
    let more = if bytes == u64::MAX { " or more" } else { "" };
    format!("{bytes} bytes{more}")
}

/// The same length, or an error if it exceeds [`BODY_BYTES_MAX`].
fn bearable(bytes: u64) -> Result<u64, ParseError> {
    if bytes > BODY_BYTES_MAX { Err(ParseError::BodyTooLong { bytes }) } else { Ok(bytes) }
}

/// Version of the protocol in a status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusLineVersion {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

/// A whole response, for callers that examine it and need no speed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Status code of the final response; interim ones (1xx) are skipped.
    pub status: u16,
    /// Its version.
    pub version: StatusLineVersion,
    /// Header names and values as sent, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body without its framing.
    pub body: Vec<u8>,
    /// Whether the connection can carry another request.
    pub keep_alive: bool,
}

/// Reads one response from bytes that arrive in pieces. Each byte is examined once, however many pieces there
/// are. Only a head is parsed again with each piece, and a head has a size limit.
#[derive(Debug)]
pub struct ResponseReader {
    decoder: Decoder,
    /// The number of bytes that the decoder has received.
    read: usize,
    /// The number of bytes it had consumed when it found an error.
    at: usize,
    response: Option<Response>,
}

impl ResponseReader {
    /// A reader for the next response.
    #[must_use]
    pub fn new(request_is_head: bool) -> Self {
        let mut decoder = Decoder::default();
        decoder.start(request_is_head);
        ResponseReader { decoder, read: 0, at: 0, response: None }
    }

    /// Reads the new part of `bytes`, which holds the response from its first byte on and grows with each
    /// call. Returns the response once it is complete, with its length in bytes.
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

    /// Whether any byte of the response arrived.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.decoder.has_begun()
    }

    /// How much of the response arrived.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.decoder.progress()
    }

    /// The error in the `bytes` that were read last, and its place.
    #[must_use]
    pub fn malformed(&self, error: ParseError, bytes: &[u8]) -> Malformed {
        self.decoder.malformed(error, bytes, self.at)
    }

    /// Drops from `bytes` the part that was read and is not needed any more, so that a body is not in memory
    /// twice. The next call of [`ResponseReader::read`] gets the remaining bytes and new ones.
    pub fn forget(&mut self, bytes: &mut Vec<u8>) {
        if self.response.is_some() {
            bytes.drain(..self.read);
            self.read = 0;
        }
    }

    /// The shortest possible length of the body, from the announced length of the body, or of its chunk, that
    /// is incomplete.
    #[must_use]
    pub fn announced(&self) -> Option<u64> {
        let came = self.response.as_ref().map_or(0, |response| response.body.len() as u64);
        match self.decoder.announced() {
            0 => None,
            left => Some(came.saturating_add(left)),
        }
    }

    /// Handles the end of the connection, which completes a body that lasts to the close.
    ///
    /// # Errors
    /// The response is not complete.
    pub fn end(&mut self) -> Result<Option<Response>, ParseError> {
        self.decoder.eof()?;
        Ok(self.response.take())
    }
}

/// Parses one response at the beginning of `bytes`: `None` if it needs more bytes, else the response and its
/// length in bytes. `eof` means that no more bytes will arrive: it ends a body that lasts to the close, and
/// makes any other incomplete response an error.
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
