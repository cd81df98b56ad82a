//! Which of the bytes that are not a response show it.

use super::{HEAD_BYTES_MAX, ParseError, head};

/// How much of what came is shown.
const SHOWN_BYTES: usize = 128;
/// How much of it is what stands before the place of the mistake.
const SHOWN_BEFORE_BYTES: usize = 48;
/// The headers that say where a body ends.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

/// Bytes that are not a response, and the part of them that shows it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}; it sent `{}`", .got.escape_ascii())]
pub struct Malformed {
    /// What is wrong.
    pub error: ParseError,
    /// Where it is wrong.
    pub got: Vec<u8>,
}

impl Malformed {
    /// A mistake in `bytes`, which were read up to `at` when it was found.
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

    /// Bytes that nothing asked for, behind a response with this status that is complete.
    #[must_use]
    pub fn left_over(status: u16, is_to_head: bool, bytes: &[u8]) -> Malformed {
        Malformed::new(ParseError::LeftOver { status, is_to_head }, bytes, 0)
    }
}

/// What does not begin as a response may be of another protocol, which its first bytes tell.
fn of_first_bytes(bytes: &[u8]) -> ParseError {
    match bytes {
        // An alert or a handshake, and the version of the record.
        [0x15 | 0x16, 3, ..] => ParseError::Tls,
        // SETTINGS, which comes first, of fewer than 65,536 bytes and of no stream.
        [0, _, _, 4, _, 0, 0, 0, 0, ..] => ParseError::Http2,
        _ => ParseError::StatusLine,
    }
}

fn shown(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len().min(SHOWN_BYTES)].to_vec()
}

/// From the beginning of a line on, if one begins shortly before `at`.
fn shown_at(bytes: &[u8], at: usize) -> Vec<u8> {
    let at = at.min(bytes.len());
    let Some(before) = at.checked_sub(SHOWN_BEFORE_BYTES + 1) else { return shown(bytes) };
    let line = memchr::memchr(b'\n', &bytes[before..at]).unwrap_or(0);
    shown(&bytes[before + line + 1..])
}

/// The first line at whose end the head is known to be wrong; all of it where that is not known.
fn wrong_line(bytes: &[u8]) -> &[u8] {
    let bytes = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1).collect();
    // A head that is wrong stays so, whatever follows.
    let right = ends.partition_point(|end| head::parse(&bytes[..*end], false).is_ok());
    let begin = right.checked_sub(1).map_or(0, |last| ends[last]);
    &bytes[begin..ends.get(right).copied().unwrap_or(bytes.len())]
}

/// The lines of the head that say where the body ends.
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
