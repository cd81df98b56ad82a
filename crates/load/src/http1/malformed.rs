//! Selects the part of invalid bytes that shows the error.

use super::{HEAD_BYTES_MAX, ParseError, head};

/// The number of received bytes that are shown.
const SHOWN_BYTES: usize = 128;
/// The number of shown bytes that precede the error.
const SHOWN_BEFORE_BYTES: usize = 48;
/// The headers that decide where a body ends.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

/// Bytes that are not a response, and the part of them that shows it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}; it sent `{}`", .got.escape_ascii())]
pub struct Malformed {
    /// What is wrong.
    pub error: ParseError,
    /// The bytes around the error.
    pub got: Vec<u8>,
}

impl Malformed {
    /// An error in `bytes`, which were read up to `at` when it was found.
    pub(super) fn new(error: ParseError, bytes: &[u8], at: usize) -> Malformed {
        let error = if error == ParseError::StatusLine { of_first_bytes(bytes) } else { error };
        let got = match error {
            ParseError::Head(httparse::Error::Status | httparse::Error::Version) => shown(bytes),
            ParseError::Head(_) => shown(wrong_line(bytes)),
            ParseError::ContentLength | ParseError::TwoFramings | ParseError::TransferEncoding => {
                framing_lines(bytes).unwrap_or_else(|| shown_at(bytes, at))
            }
            ParseError::BodyTooLong { .. }
            | ParseError::ChunkSize
            | ParseError::ChunkEnd
            | ParseError::Trailers => shown_at(bytes, at),
            ParseError::LeftOver { .. } => shown(&bytes[at.min(bytes.len())..]),
            ParseError::StatusLine
            | ParseError::Tls
            | ParseError::Http2
            | ParseError::HeadTooLong
            | ParseError::TooManyHeaders
            | ParseError::Upgrade
            | ParseError::Truncated => shown(bytes),
        };
        Malformed { error, got }
    }

    /// Unsolicited bytes after a complete response with this status.
    #[must_use]
    pub fn left_over(status: u16, is_to_head: bool, bytes: &[u8]) -> Malformed {
        Malformed::new(ParseError::LeftOver { status, is_to_head }, bytes, 0)
    }
}

/// The error for bytes that do not begin like a response. The first bytes may identify another protocol.
fn of_first_bytes(bytes: &[u8]) -> ParseError {
    match bytes {
        // A TLS alert or handshake, and the version of the record.
        [0x15 | 0x16, 3, ..] => ParseError::Tls,
        // SETTINGS, the first frame, with fewer than 65,536 bytes and on stream 0.
        [0, _, _, 4, _, 0, 0, 0, 0, ..] => ParseError::Http2,
        _ => ParseError::StatusLine,
    }
}

fn shown(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len().min(SHOWN_BYTES)].to_vec()
}

/// The bytes around `at`, from the beginning of a line if one begins shortly before it.
fn shown_at(bytes: &[u8], at: usize) -> Vec<u8> {
    let at = at.min(bytes.len());
    let Some(before) = at.checked_sub(SHOWN_BEFORE_BYTES + 1) else { return shown(bytes) };
    let line = memchr::memchr(b'\n', &bytes[before..at]).unwrap_or(0);
    shown(&bytes[before + line + 1..])
}

/// The first line at whose end the head is known to be wrong; the whole head if that is unknown.
fn wrong_line(bytes: &[u8]) -> &[u8] {
    let bytes = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1).collect();
    // A head that is wrong stays wrong, whatever follows.
    let right = ends.partition_point(|end| head::parse(&bytes[..*end], false).is_ok());
    let begin = right.checked_sub(1).map_or(0, |last| ends[last]);
    &bytes[begin..ends.get(right).copied().unwrap_or(bytes.len())]
}

/// The lines of the head that decide where the body ends.
fn framing_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    let is_of_framing = |line: &&[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        FRAMING.iter().any(|framing| name.eq_ignore_ascii_case(framing.as_bytes()))
    };
    let in_head = |line: &&[u8]| !matches!(*line, b"\r\n" | b"\n");
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').take_while(in_head).filter(is_of_framing);
    let lines = lines.collect::<Vec<_>>().concat();
    (!lines.is_empty()).then(|| shown(&lines))
}
