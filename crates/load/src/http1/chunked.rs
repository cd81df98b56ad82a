//! The chunked transfer coding with trailers (RFC 9112, section 7.1). The module knows nothing of heads.
//!
//! Only CRLF ends a line here: a bare LF in chunk framing is a means of response smuggling.

use super::{CHUNK_LINE_BYTES_MAX, ParseError, TRAILER_BYTES_MAX, bearable};

/// The position of the next byte in the coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunked {
    Size { size: u64, digits: u8 },
    Extension { size: u64, bytes: usize },
    SizeLf { size: u64 },
    Data { left: u64 },
    DataCr,
    DataLf,
    Trailer { bytes: usize, place: TrailerState },
}

/// The position of the next byte in a trailer line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrailerState {
    Start,
    Name,
    Value,
    /// After the CR of a field line.
    Lf,
    /// After the CR of the empty line that ends the coding.
    LastLf,
}

pub(super) enum Step<'a> {
    Data(&'a [u8]),
    More,
    End,
}

/// A whole body without its chunk framing; `None` if the coding is invalid or does not end with `input`.
pub(crate) fn unchunked(mut input: &[u8]) -> Option<Vec<u8>> {
    let (mut chunked, mut body) = (Chunked::START, Vec::new());
    loop {
        match chunked.step(&mut input).ok()? {
            Step::Data(data) => body.extend_from_slice(data),
            Step::More => return None,
            Step::End => return input.is_empty().then_some(body),
        }
    }
}

impl Chunked {
    pub(super) const START: Chunked = Chunked::Size { size: 0, digits: 0 };

    /// Consumes `input` up to the next data, to its end, or to the end of the coding.
    pub(super) fn step<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, ParseError> {
        loop {
            if let Chunked::Data { left } = self
                && !input.is_empty()
            {
                let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                let (data, rest) = input.split_at(take);
                (*left, *input) = (*left - take as u64, rest);
                if *left == 0 {
                    *self = Chunked::DataCr;
                }
                return Ok(Step::Data(data));
            }
            let Some((&byte, rest)) = input.split_first() else { return Ok(Step::More) };
            *input = rest;
            match self.byte(byte)? {
                Some(next) => *self = next,
                None => return Ok(Step::End),
            }
        }
    }

    /// The state after one byte of framing; `None` at the end of the coding.
    fn byte(self, byte: u8) -> Result<Option<Chunked>, ParseError> {
        Ok(Some(match (self, byte) {
            (Chunked::Size { size, digits }, _) => return in_size(size, digits, byte).map(Some),
            (Chunked::Extension { size, .. }, b'\r') => Chunked::SizeLf { size },
            (Chunked::Extension { size, bytes }, _) => {
                if byte == b'\n' || bytes >= CHUNK_LINE_BYTES_MAX {
                    return Err(ParseError::ChunkSize);
                }
                Chunked::Extension { size, bytes: bytes + 1 }
            }
            (Chunked::SizeLf { size: 0 }, b'\n') => Chunked::Trailer { bytes: 0, place: TrailerState::Start },
            (Chunked::SizeLf { size }, b'\n') => Chunked::Data { left: size },
            (Chunked::SizeLf { .. }, _) => return Err(ParseError::ChunkSize),
            (Chunked::DataCr, b'\r') => Chunked::DataLf,
            (Chunked::DataLf, b'\n') => Chunked::START,
            // `step` consumes data before it calls this.
            (Chunked::DataCr | Chunked::DataLf | Chunked::Data { .. }, _) => {
                return Err(ParseError::ChunkEnd);
            }
            (Chunked::Trailer { bytes, place }, _) => return in_trailer(bytes, place, byte),
        }))
    }
}

fn in_size(size: u64, digits: u8, byte: u8) -> Result<Chunked, ParseError> {
    match byte {
        b'\r' if digits > 0 => Ok(Chunked::SizeLf { size: bearable(size)? }),
        // White space before an extension is wrong, but some servers send it.
        b';' | b' ' | b'\t' if digits > 0 => Ok(Chunked::Extension { size: bearable(size)?, bytes: 0 }),
        _ => {
            let digit = char::from(byte).to_digit(16).ok_or(ParseError::ChunkSize)?;
            if digits == 16 {
                // Leading zeros may go on for ever.
                bearable(if size >> 60 == 0 { 0 } else { u64::MAX })?;
                return Err(ParseError::ChunkSize);
            }
            Ok(Chunked::Size { size: size << 4 | u64::from(digit), digits: digits + 1 })
        }
    }
}

fn in_trailer(bytes: usize, place: TrailerState, byte: u8) -> Result<Option<Chunked>, ParseError> {
    if bytes >= TRAILER_BYTES_MAX {
        return Err(ParseError::Trailers);
    }
    let place = match (place, byte) {
        (TrailerState::LastLf, b'\n') => return Ok(None),
        (TrailerState::Start, b'\r') => TrailerState::LastLf,
        (TrailerState::Name, b':') => TrailerState::Value,
        (TrailerState::Start | TrailerState::Name, _) if is_token(byte) => TrailerState::Name,
        (TrailerState::Value, b'\r') => TrailerState::Lf,
        (TrailerState::Value, b'\t' | b' '..=b'~' | 0x80..) => TrailerState::Value,
        (TrailerState::Lf, b'\n') => TrailerState::Start,
        _ => return Err(ParseError::Trailers),
    };
    Ok(Some(Chunked::Trailer { bytes: bytes + 1, place }))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
