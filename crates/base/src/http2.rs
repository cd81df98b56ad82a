//! The numbers of HTTP/2 (RFC 9113): types and flags of frames, and the reasons that peers give. Clients and servers of this project
//! each have code of their own for frames, so that one fault cannot hide in both; what a number means stands here.

use std::fmt;

/// The first bytes that a client sends (section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Length of the head of a frame (section 4.1).
pub const HEAD_BYTES: usize = 9;

// Types of frames (section 6).

/// A part of a body.
pub const DATA: u8 = 0;
/// The first part of a header block, or all of it.
pub const HEADERS: u8 = 1;
/// A hint of the sender, which a peer may ignore.
pub const PRIORITY: u8 = 2;
/// The end of a stream, for a reason.
pub const RST_STREAM: u8 = 3;
/// What the sender accepts.
pub const SETTINGS: u8 = 4;
/// A stream that a server opens.
pub const PUSH_PROMISE: u8 = 5;
/// A question whether the peer is there.
pub const PING: u8 = 6;
/// The end of a connection, for a reason.
pub const GOAWAY: u8 = 7;
/// More bytes that the peer may send.
pub const WINDOW_UPDATE: u8 = 8;
/// A further part of a header block.
pub const CONTINUATION: u8 = 9;

// Flags of frames (section 6). Which of them a frame may have depends on its type.

/// The last frame of a stream.
pub const END_STREAM: u8 = 0x1;
/// The answer to SETTINGS or PING.
pub const ACK: u8 = 0x1;
/// The last part of a header block.
pub const END_HEADERS: u8 = 0x4;
/// The payload begins with the length of its padding.
pub const PADDED: u8 = 0x8;
/// The payload has a priority.
pub const HAS_PRIORITY: u8 = 0x20;

/// The reason that a peer gives in RST_STREAM or GOAWAY (section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// In good order.
    pub const NO_ERROR: ErrorCode = ErrorCode(0);
    /// A violation of the protocol.
    pub const PROTOCOL: ErrorCode = ErrorCode(1);
    /// More data than a window allows.
    pub const FLOW_CONTROL: ErrorCode = ErrorCode(3);
    /// A frame on a closed stream.
    pub const STREAM_CLOSED: ErrorCode = ErrorCode(5);
    /// A frame of the wrong length.
    pub const FRAME_SIZE: ErrorCode = ErrorCode(6);
    /// A stream that was not looked at: its request may be sent again.
    pub const REFUSED_STREAM: ErrorCode = ErrorCode(7);
    /// The stream is not wanted any more.
    pub const CANCEL: ErrorCode = ErrorCode(8);
    /// A header block that cannot be decoded.
    pub const COMPRESSION: ErrorCode = ErrorCode(9);
    /// The peer makes more work than is reasonable.
    pub const ENHANCE_YOUR_CALM: ErrorCode = ErrorCode(11);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        match NAMES.get(self.0 as usize) {
            Some(name) => f.write_str(name),
            None => write!(f, "error {}", self.0),
        }
    }
}
