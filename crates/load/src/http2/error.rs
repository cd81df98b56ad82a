//! The reasons why a connection or a stream ends.

use tare_base::http2::ErrorCode;

use crate::http1::{BODY_BYTES_MAX, announced};

/// The peer's error that ends the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Http2Error {
    #[error("the server does not speak HTTP/2: its first frame is not SETTINGS")]
    NoSettings,
    #[error("a frame of {bytes} bytes, of at most {FRAME_BYTES_MAX} that are allowed", FRAME_BYTES_MAX = super::FRAME_BYTES_MAX)]
    FrameTooLong { bytes: usize },
    #[error("a frame of type {kind} with a length of {bytes}, which none of its type has")]
    FrameLength { kind: u8, bytes: usize },
    #[error("a frame of type {kind} on stream {stream}, where none of its type belongs")]
    FrameStream { kind: u8, stream: u32 },
    #[error("padding that is longer than its frame")]
    Padding,
    #[error("a frame on stream {0}, which is closed")]
    ClosedStream(u32),
    #[error("PUSH_PROMISE, although push was refused")]
    Push,
    #[error("a header block that is interrupted by another frame")]
    Interrupted,
    #[error("CONTINUATION without a header block before it")]
    Continuation,
    #[error("a header block of more than {BLOCK_BYTES_MAX} bytes", BLOCK_BYTES_MAX = super::BLOCK_BYTES_MAX)]
    BlockTooLong,
    #[error("headers of more than {} bytes", super::BLOCK_BYTES_MAX)]
    ListTooLong,
    #[error("a header block of more than {BLOCK_FRAMES_MAX} frames", BLOCK_FRAMES_MAX = super::BLOCK_FRAMES_MAX)]
    BlockFrames,
    #[error("a header block that cannot be decoded")]
    Hpack,
    #[error("the setting {id} with the value {value}, which it cannot have")]
    Setting { id: u16, value: u32 },
    #[error("a window of more than 2^31 - 1 bytes")]
    WindowOverflow,
    #[error("more data than its window allows")]
    BeyondWindow,
    #[error("a WINDOW_UPDATE of 0 bytes")]
    EmptyWindowUpdate,
    #[error(
        "{} frames in a row, such as SETTINGS or PING, and none belongs to an answer",
        super::IDLE_FRAMES_MAX
    )]
    Flood,
    #[error("the server sends frames that need an answer, and does not read the answers")]
    Unread,
    #[error("the server ended the connection: GOAWAY with {0}")]
    GoneAway(ErrorCode),
}

impl Http2Error {
    /// The error code that the peer is sent.
    pub(super) fn code(self) -> ErrorCode {
        match self {
            Http2Error::FrameTooLong { .. } | Http2Error::FrameLength { .. } => ErrorCode::FRAME_SIZE,
            Http2Error::ClosedStream(_) => ErrorCode::STREAM_CLOSED,
            Http2Error::Hpack => ErrorCode::COMPRESSION,
            Http2Error::WindowOverflow | Http2Error::BeyondWindow => ErrorCode::FLOW_CONTROL,
            Http2Error::Flood
            | Http2Error::Unread
            | Http2Error::BlockTooLong
            | Http2Error::ListTooLong
            | Http2Error::BlockFrames => ErrorCode::ENHANCE_YOUR_CALM,
            Http2Error::GoneAway(_) => ErrorCode::NO_ERROR,
            _ => ErrorCode::PROTOCOL,
        }
    }
}

/// Why a response is malformed, which ends its stream (RFC 9113, section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum HeadError {
    #[error("a response without exactly one :status of three digits")]
    Status,
    #[error("a pseudo-header other than `:status`, or one after an ordinary header")]
    PseudoHeader,
    #[error("a header name that is empty, or has capital letters or other characters that none has")]
    Name,
    #[error("a header value with a line end or a zero byte")]
    Value,
    #[error("a connection header such as `transfer-encoding`, which HTTP/2 forbids")]
    ConnectionHeader,
    #[error("a content-length that is not one decimal number")]
    ContentLength,
    #[error("a content-length of {}: no more than {BODY_BYTES_MAX} are waited for", announced(*.bytes))]
    BodyTooLong { bytes: u64 },
    #[error("a content-length that is not the length of the body")]
    BodyLength,
    #[error("trailers that do not end the stream, or data before a head")]
    Order,
}
