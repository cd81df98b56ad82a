//! Why bytes are not a response: the rule that they break.

use super::{
    BODY_BYTES_MAX, CHUNK_LINE_BYTES_MAX, HEAD_BYTES_MAX, HEADERS_MAX, TRAILER_BYTES_MAX, announced,
};

/// Why bytes are not a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ParseError {
    #[error("{}", of_head(*.0))]
    Head(httparse::Error),
    #[error("the response does not begin with `HTTP/` (RFC 9112, 2.3)")]
    StatusLine,
    #[error(
        "the response begins as a record of TLS (RFC 8446, 5.1), and not with `HTTP/`: the port speaks TLS"
    )]
    Tls,
    #[error("the response begins as a frame of HTTP/2 (RFC 9113, 4.1), and not with `HTTP/`")]
    Http2,
    #[error("the response head is longer than {HEAD_BYTES_MAX} bytes: send fewer or shorter headers")]
    HeadTooLong,
    #[error("the response has more than {HEADERS_MAX} headers: send fewer")]
    TooManyHeaders,
    #[error("`content-length` is not one decimal number (RFC 9112, 6.3): send it once")]
    ContentLength,
    #[error("the response announces {}: no more than {BODY_BYTES_MAX} are waited for", announced(*.bytes))]
    BodyTooLong { bytes: u64 },
    #[error("both `content-length` and `transfer-encoding` are present (RFC 9112, 6.2): send one of them")]
    TwoFramings,
    #[error(
        "`transfer-encoding` is not just `chunked` in an HTTP/1.1 response (RFC 9112, 6.1): no other was asked for"
    )]
    TransferEncoding,
    #[error("status 101 changes the protocol, which no request asked for (RFC 9110, 15.2.2)")]
    Upgrade,
    #[error(
        "a chunk does not begin with a hexadecimal size and CRLF within {CHUNK_LINE_BYTES_MAX} bytes (RFC 9112, 7.1)"
    )]
    ChunkSize,
    #[error("a chunk is not followed by CRLF (RFC 9112, 7.1): its size is wrong")]
    ChunkEnd,
    #[error(
        "the trailers after the last chunk are not header fields of at most {TRAILER_BYTES_MAX} bytes (RFC 9112, 7.1.2)"
    )]
    Trailers,
    #[error("the connection was closed in the middle of the response (RFC 9112, 8)")]
    Truncated,
    #[error("bytes follow {}", complete(*.status, *.is_to_head))]
    LeftOver { status: u16, is_to_head: bool },
}

fn of_head(error: httparse::Error) -> &'static str {
    match error {
        httparse::Error::HeaderName => {
            "a line of the response head is not a name, `:` and a value (RFC 9112, 5)"
        }
        httparse::Error::HeaderValue => "the value of a header has a control character (RFC 9110, 5.5)",
        httparse::Error::NewLine => "a CR in the response head is not followed by LF (RFC 9112, 2.2)",
        httparse::Error::Status => {
            "the status line is not a version, a status from 100 to 999 and a reason (RFC 9112, 4)"
        }
        httparse::Error::Version => "the version of the response is not HTTP/1.x (RFC 9112, 2.3)",
        httparse::Error::Token | httparse::Error::TooManyHeaders => {
            "the response head is not HTTP/1.x (RFC 9112, 2.1)"
        }
    }
}

/// A response that is over, and why.
fn complete(status: u16, is_to_head: bool) -> String {
    match status {
        _ if is_to_head => "the answer to HEAD, which has no content (RFC 9110, 6.4.1)".to_owned(),
        204 | 304 => format!("the answer with status {status}, which has no content (RFC 9110, 6.4.1)"),
        _ => "the answer, which ended where its length or its last chunk says (RFC 9112, 6.3)".to_owned(),
    }
}
