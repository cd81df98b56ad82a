//! Header blocks of responses: decoded, checked, and remembered, because most are identical to an earlier
//! one.

use std::sync::Arc;

use super::BLOCK_BYTES_MAX;
use super::error::{HeadError, Http2Error};
use super::hpack::HpackDecoder;

/// The number of blocks that are remembered for a connection, and the longest of them.
const MEMO_BLOCKS_MAX: usize = 8;
const MEMO_BLOCK_BYTES_MAX: usize = 512;
/// The size of the table that this side lets the peer fill; the default of the protocol.
const TABLE_BYTES_MAX: usize = 4096;

/// The properties of a head that matter to the rest of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseHead {
    /// Status code.
    pub status: u16,
    /// The announced length of the body.
    pub content_length: Option<u64>,
}

/// Names and values as sent.
pub(super) type Fields = Arc<Vec<(String, Vec<u8>)>>;

#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Its status and length, or why it is not a valid head.
    pub(super) head: Result<ResponseHead, HeadError>,
    /// Whether it could be trailers.
    pub(super) is_trailers: bool,
    /// All of its fields, if they are wanted.
    pub(super) fields: Option<Fields>,
}

#[derive(Debug)]
struct Remembered {
    bytes: Vec<u8>,
    block: Block,
}

/// Decodes the blocks of one connection.
#[derive(Debug)]
pub(super) struct HeadReader {
    decoder: HpackDecoder,
    /// Blocks that did not change the table; valid as long as nothing changes it.
    memo: Vec<Remembered>,
    /// The number of valid entries; the others are spare memory.
    known: usize,
    /// The entry that is replaced next.
    oldest: usize,
    keeps_fields: bool,
}

impl HeadReader {
    pub(super) fn new() -> HeadReader {
        HeadReader {
            decoder: HpackDecoder::new(TABLE_BYTES_MAX),
            memo: Vec::new(),
            known: 0,
            oldest: 0,
            keeps_fields: false,
        }
    }

    /// Whether all fields of a head are wanted.
    pub(super) fn keep_fields(&mut self, keeps_fields: bool) {
        if self.keeps_fields != keeps_fields {
            self.keeps_fields = keeps_fields;
            self.known = 0;
        }
    }

    /// Decodes a whole block. Every block must be decoded, in order: each may change the table that the next
    /// ones refer to.
    #[inline]
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Block, Http2Error> {
        match self.memo[..self.known].iter().find(|remembered| remembered.bytes == bytes) {
            Some(remembered) => Ok(remembered.block.clone()),
            None => self.decode(bytes),
        }
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<Block, Http2Error> {
        let mut parts = Parts { keeps_fields: self.keeps_fields, ..Parts::default() };
        let decoded = self.decoder.decode(bytes, |name, value| parts.take(name, value));
        // The rest of a list that is too long is not decoded, so the state of the table is unknown.
        let error = if parts.is_too_long() { Http2Error::ListTooLong } else { Http2Error::Hpack };
        let is_changed = decoded.map_err(|_| error)?;
        let block = parts.block();
        if is_changed {
            self.known = 0;
        } else if bytes.len() <= MEMO_BLOCK_BYTES_MAX {
            self.remember(bytes, block.clone());
        }
        Ok(block)
    }

    fn remember(&mut self, bytes: &[u8], block: Block) {
        let place = if self.known < MEMO_BLOCKS_MAX { self.known } else { self.oldest };
        match self.known < MEMO_BLOCKS_MAX {
            true => self.known += 1,
            false => self.oldest = (self.oldest + 1) % MEMO_BLOCKS_MAX,
        }
        let Some(remembered) = self.memo.get_mut(place) else {
            return self.memo.push(Remembered { bytes: bytes.to_vec(), block });
        };
        remembered.bytes.clear();
        remembered.bytes.extend_from_slice(bytes);
        remembered.block = block;
    }
}

/// The contents of a block, field by field.
#[derive(Debug, Default)]
struct Parts {
    status: Option<u16>,
    length: Option<u64>,
    has_pseudo: bool,
    has_regular: bool,
    error: Option<HeadError>,
    keeps_fields: bool,
    fields: Vec<(String, Vec<u8>)>,
    /// The length of all names and values: one byte of a block can stand for a field of 4 KiB.
    bytes: usize,
}

impl Parts {
    fn is_too_long(&self) -> bool {
        self.bytes > BLOCK_BYTES_MAX
    }

    /// Returns whether more fields may follow.
    fn take(&mut self, name: &[u8], value: &[u8]) -> bool {
        self.bytes += name.len() + value.len();
        if self.is_too_long() {
            return false;
        }
        let checked = match name {
            [b':', ..] => self.pseudo(name, value),
            _ => self.regular(name, value),
        };
        if let Err(error) = checked {
            self.error.get_or_insert(error);
        }
        if self.keeps_fields && !name.starts_with(b":") {
            self.fields.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
        }
        true
    }

    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Result<(), HeadError> {
        self.has_pseudo = true;
        if name != b":status" || self.has_regular {
            return Err(HeadError::PseudoHeader);
        }
        let digits = <[u8; 3]>::try_from(value).ok().filter(|digits| digits.iter().all(u8::is_ascii_digit));
        let status = digits
            .map(|[a, b, c]| u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'));
        match (self.status, status) {
            (None, Some(100..)) => self.status = status,
            _ => return Err(HeadError::Status),
        }
        Ok(())
    }

    fn regular(&mut self, name: &[u8], value: &[u8]) -> Result<(), HeadError> {
        self.has_regular = true;
        if name.is_empty()
            || !name.iter().all(|byte| matches!(byte, b'!'..=b'~') && !matches!(byte, b'A'..=b'Z' | b':'))
        {
            return Err(HeadError::Name);
        }
        if memchr::memchr3(b'\r', b'\n', b'\0', value).is_some() {
            return Err(HeadError::Value);
        }
        match name {
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade" => {
                Err(HeadError::ConnectionHeader)
            }
            b"content-length" => {
                let text = std::str::from_utf8(value).map_err(|_| HeadError::ContentLength)?;
                let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let length =
                    is_decimal.then(|| text.parse().unwrap_or(u64::MAX)).ok_or(HeadError::ContentLength)?;
                match self.length.replace(length) {
                    Some(other) if other != length => Err(HeadError::ContentLength),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn block(self) -> Block {
        let head = match (self.error, self.status) {
            (Some(error), _) => Err(error),
            (None, None) => Err(HeadError::Status),
            (None, Some(status)) => Ok(ResponseHead { status, content_length: self.length }),
        };
        Block {
            head,
            is_trailers: !self.has_pseudo && self.error.is_none(),
            fields: self.keeps_fields.then(|| Arc::new(self.fields)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reader: &mut HeadReader, bytes: &[u8]) -> Result<ResponseHead, HeadError> {
        reader.read(bytes).expect("a block").head
    }

    fn literal(name: &str, value: &str, kind: u8) -> Vec<u8> {
        let mut out = vec![kind, name.len() as u8];
        out.extend_from_slice(name.as_bytes());
        out.push(value.len() as u8);
        out.extend_from_slice(value.as_bytes());
        out
    }

    #[test]
    fn equal_blocks_are_remembered_until_the_table_changes() {
        let mut reader = HeadReader::new();
        let plain = [&[0x88][..], &literal("content-length", "12", 0)].concat();
        let head = ResponseHead { status: 200, content_length: Some(12) };
        for _ in 0..3 {
            assert_eq!(read(&mut reader, &plain), Ok(head));
        }
        assert_eq!(reader.known, 1);
        // Adds ":status: 404" as a literal, which index 62 then means, and invalidates the remembered blocks.
        let adding = literal(":status", "404", 0x40);
        assert_eq!(read(&mut reader, &adding).map(|head| head.status), Ok(404));
        assert_eq!(reader.known, 0);
        assert_eq!(read(&mut reader, &[0x80 | 62]).map(|head| head.status), Ok(404));
        let adding = literal(":status", "503", 0x40);
        assert_eq!(read(&mut reader, &adding).map(|head| head.status), Ok(503));
        assert_eq!(
            read(&mut reader, &[0x80 | 62]).map(|head| head.status),
            Ok(503),
            "the same bytes, another table"
        );
    }

    #[test]
    fn what_no_response_has_is_an_error_of_the_stream() {
        let table = [
            (vec![], HeadError::Status),
            (vec![0x88, 0x88], HeadError::Status),
            (literal(":status", "20", 0), HeadError::Status),
            (literal(":status", "2x0", 0), HeadError::Status),
            ([literal("a", "b", 0), vec![0x88]].concat(), HeadError::PseudoHeader),
            ([vec![0x88], literal(":path", "/", 0)].concat(), HeadError::PseudoHeader),
            ([vec![0x88], literal("Server", "x", 0)].concat(), HeadError::Name),
            ([vec![0x88], literal("connection", "close", 0)].concat(), HeadError::ConnectionHeader),
            ([vec![0x88], literal("content-length", "+1", 0)].concat(), HeadError::ContentLength),
            (
                [vec![0x88], literal("content-length", "1", 0), literal("content-length", "2", 0)].concat(),
                HeadError::ContentLength,
            ),
        ];
        for (bytes, error) in table {
            assert_eq!(read(&mut HeadReader::new(), &bytes), Err(error), "{bytes:?}");
        }
        for bytes in [&[0xff][..], &[0x80 | 62], &[0x40, 0x85], &[0x3f, 0xe2, 0x1f]] {
            assert_eq!(HeadReader::new().read(bytes).err(), Some(Http2Error::Hpack), "{bytes:?}");
        }
    }
}
