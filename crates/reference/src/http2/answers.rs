//! The response as HTTP/2 frames, built once from the HTTP/1.1 response.

use std::io;

use tare_base::http2::{DATA, END_HEADERS, END_STREAM, HEAD_BYTES, HEADERS};

use super::frames::{PAYLOAD_MAX, frame, head};

/// Position of the stream number in a frame header.
const STREAM: std::ops::Range<usize> = 5..HEAD_BYTES;

/// Headers of an HTTP/1.1 connection, which HTTP/2 forbids (RFC 9113, section 8.2.2).
const OF_HTTP1: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// Names of response headers in HPACK's static table (RFC 7541, appendix A).
const STATIC_NAMES: [(&str, u8); 11] = [
    ("cache-control", 24),
    ("content-encoding", 26),
    ("content-length", 28),
    ("content-type", 31),
    ("date", 33),
    ("etag", 34),
    ("last-modified", 44),
    ("location", 46),
    ("server", 54),
    ("set-cookie", 55),
    ("vary", 59),
];
/// Statuses in the static table.
const STATIC_STATUSES: [(u16, u8); 7] =
    [(200, 8), (204, 9), (206, 10), (304, 11), (400, 12), (404, 13), (500, 14)];
/// Index of `:status` for other values.
const STATUS_NAME: u8 = 8;

/// The kind of answer for a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Choice {
    Right,
    /// As long as the right one, with one wrong byte.
    OtherBody,
    /// One byte longer than its head announces.
    LongBody,
}

/// All possible answers.
#[derive(Debug)]
pub(super) struct StreamAnswers {
    right: StreamAnswer,
    other_body: StreamAnswer,
    long_body: StreamAnswer,
}

impl StreamAnswers {
    /// The header block uses only static entries and literals without indexing. So it depends on no
    /// connection state and is the same for every stream.
    ///
    /// # Errors
    /// The bytes are not one HTTP/1.1 response, or its headers exceed a frame.
    pub(super) fn from_http1(response: &[u8]) -> io::Result<StreamAnswers> {
        let refused = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
        let (block, body) =
            of_http1(response).ok_or_else(|| refused("the response is not one of HTTP/1.1"))?;
        if block.len() > PAYLOAD_MAX {
            return Err(refused("the headers of the response do not fit into one frame"));
        }
        let answer = |body: &[u8]| StreamAnswer::new(&block, body);
        let long = [body, b"!"].concat();
        Ok(StreamAnswers {
            right: answer(body),
            other_body: answer(&with_another_byte(body)),
            long_body: answer(&long),
        })
    }

    pub(super) fn get(&self, choice: Choice) -> &StreamAnswer {
        match choice {
            Choice::Right => &self.right,
            Choice::OtherBody => &self.other_body,
            Choice::LongBody => &self.long_body,
        }
    }
}

/// One answer.
#[derive(Debug)]
pub(super) struct StreamAnswer {
    /// HEADERS with stream number 0.
    head: Vec<u8>,
    pub(super) body: Vec<u8>,
    /// Head and body, if the body fits into one frame.
    whole: Option<Vec<u8>>,
}

impl StreamAnswer {
    fn new(block: &[u8], body: &[u8]) -> StreamAnswer {
        let ends = if body.is_empty() { END_STREAM } else { 0 };
        let mut head = Vec::new();
        frame(&mut head, HEADERS, END_HEADERS | ends, 0, block);
        let mut whole = head.clone();
        if !body.is_empty() {
            frame(&mut whole, DATA, END_STREAM, 0, body);
        }
        let whole = (body.len() <= PAYLOAD_MAX).then_some(whole);
        StreamAnswer { head, body: body.to_vec(), whole }
    }

    /// Writes the whole answer. `None`, without writing, if its body needs several frames.
    pub(super) fn write_whole(&self, stream: u32, out: &mut Vec<u8>) -> Option<()> {
        let at = out.len();
        out.extend_from_slice(self.whole.as_ref()?);
        patch(&mut out[at..], stream);
        if !self.body.is_empty() {
            patch(&mut out[at + self.head.len()..], stream);
        }
        Some(())
    }

    /// Writes everything before the body, or the end of the stream if there is no body.
    pub(super) fn write_head(&self, stream: u32, out: &mut Vec<u8>) {
        let at = out.len();
        out.extend_from_slice(&self.head);
        patch(&mut out[at..], stream);
    }

    /// Writes a frame with this part of the body.
    pub(super) fn write_body(&self, stream: u32, part: std::ops::Range<usize>, out: &mut Vec<u8>) {
        let flags = if part.end == self.body.len() { END_STREAM } else { 0 };
        out.extend_from_slice(&head(part.len(), DATA, flags, stream));
        out.extend_from_slice(&self.body[part]);
    }
}

fn patch(frame: &mut [u8], stream: u32) {
    frame[STREAM].copy_from_slice(&stream.to_be_bytes());
}

/// Changes the last byte; an empty body stays as it is.
fn with_another_byte(body: &[u8]) -> Vec<u8> {
    let mut other = body.to_vec();
    if let Some(last) = other.last_mut() {
        *last ^= 1;
    }
    other
}

/// The header block and the body of a response.
fn of_http1(response: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(end) = parsed.parse(response).ok()? else { return None };
    let (status, body) = (parsed.code?, &response[end..]);
    let mut block = Vec::new();
    match STATIC_STATUSES.iter().find(|(known, _)| *known == status) {
        Some((_, index)) => block.push(0x80 | index),
        None => {
            name_by_index(STATUS_NAME, &mut block);
            literal(status.to_string().as_bytes(), &mut block);
        }
    }
    for header in parsed.headers.iter() {
        let name = header.name.to_ascii_lowercase();
        if !OF_HTTP1.contains(&name.as_str()) {
            field(&name, header.value, &mut block);
        }
    }
    Some((block, body))
}

/// Writes a literal without indexing.
fn field(name: &str, value: &[u8], block: &mut Vec<u8>) {
    match STATIC_NAMES.iter().find(|(known, _)| *known == name) {
        Some((_, index)) => name_by_index(*index, block),
        None => {
            block.push(0);
            literal(name.as_bytes(), block);
        }
    }
    literal(value, block);
}

fn name_by_index(index: u8, block: &mut Vec<u8>) {
    integer(index.into(), 4, block);
}

/// Writes a string without Huffman coding.
fn literal(text: &[u8], block: &mut Vec<u8>) {
    integer(text.len(), 7, block);
    block.extend_from_slice(text);
}

/// Writes an integer that begins in the last `prefix` bits of a byte (RFC 7541, section 5.1).
fn integer(value: usize, prefix: u32, block: &mut Vec<u8>) {
    let full = (1_usize << prefix) - 1;
    if value < full {
        return block.push(value as u8);
    }
    block.push(full as u8);
    let mut rest = value - full;
    while rest >= 0x80 {
        block.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    block.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_written_as_the_rfc_has_it() {
        let written = |value, prefix| {
            let mut block = Vec::new();
            integer(value, prefix, &mut block);
            block
        };
        // RFC 7541, appendix C.1.
        assert_eq!(written(10, 5), [0b01010]);
        assert_eq!(written(1337, 5), [0b11111, 0b10011010, 0b00001010]);
        assert_eq!((written(42, 8), written(15, 4), written(127, 7)), (vec![42], vec![15, 0], vec![127, 0]));
    }

    #[test]
    fn a_response_keeps_its_headers_and_loses_those_of_a_connection() {
        let response = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok";
        let (block, body) = of_http1(response).unwrap();
        // content-length has index 28: 15 plus 13.
        assert_eq!(block, [&[0x88, 15, 13, 1][..], b"2", &[0, 3], b"x-a", &[1], b"b"].concat());
        assert_eq!(body, b"ok");
    }

    #[test]
    fn a_status_that_is_not_in_the_table_is_a_literal() {
        let (block, _) = of_http1(b"HTTP/1.1 201 Created\r\n\r\n").unwrap();
        assert_eq!(block, [&[8, 3][..], b"201"].concat());
        assert_eq!(of_http1(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap().0, [0x8d]);
        assert_eq!(of_http1(b"hello"), None);
    }

    #[test]
    fn an_answer_in_one_piece_is_the_answer_in_parts() {
        for body in [&b""[..], b"ok"] {
            let answer = StreamAnswer::new(&[0x88], body);
            let (mut whole, mut parts) = (b"before".to_vec(), b"before".to_vec());
            answer.write_whole(0x1234, &mut whole).unwrap();
            answer.write_head(0x1234, &mut parts);
            if !body.is_empty() {
                answer.write_body(0x1234, 0..body.len(), &mut parts);
            }
            assert_eq!(whole, parts);
        }
        assert_eq!(StreamAnswer::new(&[0x88], &[0; PAYLOAD_MAX + 1]).write_whole(1, &mut Vec::new()), None);
    }
}
