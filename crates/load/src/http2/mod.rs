//! The client's side of HTTP/2 as a state machine over bytes ([RFC 9113](https://www.rfc-editor.org/rfc/rfc9113)): bytes in,
//! events and bytes out, no I/O and no clock.
//!
//! The module knows nothing of sockets, of TLS, or of correct responses. Header blocks of responses are
//! decoded into reused memory, and a block that is identical to an earlier one is not decoded again. Blocks
//! of requests are encoded once for each possible state of the peer's table. Whatever a peer does, work and
//! memory for it are bounded: each limit is an error of its own ([`Http2Error`]) and ends the connection.

mod connection;
mod encoder;
mod error;
mod frame;
mod head;
mod hpack;
mod huffman;
mod live;
mod reader;
mod request;
mod settings;
mod static_table;
#[cfg(test)]
mod tests;

pub use connection::{Http2Connection, Http2Event, Sent};
pub use encoder::Encoder;
pub use error::{HeadError, Http2Error};
pub use head::ResponseHead;
pub use request::{Http2Request, RequestError, RequestList, Scheme};
pub use tare_base::http2::ErrorCode;

/// The longest header block, over all of its frames.
pub(crate) const BLOCK_BYTES_MAX: usize = 64 * 1024;
/// The most frames of one header block: empty ones count too.
pub(crate) const BLOCK_FRAMES_MAX: usize = 64;
/// The most consecutive frames that do not advance an answer: settings, pings, window updates, empty data.
pub(crate) const IDLE_FRAMES_MAX: u32 = 10_000;
/// The longest frame: the protocol's default limit.
pub(crate) const FRAME_BYTES_MAX: usize = 16 * 1024;
/// The bytes that the peer may send on a stream, and on the connection, before it has to wait; as in h2load.
pub(crate) const WINDOW_BYTES: u32 = (1 << 30) - 1;
/// The output size from which bodies of requests wait.
pub(crate) const OUT_BYTES_MAX: usize = 256 * 1024;
