//! The client's side of HTTP/2 as a state machine over bytes ([RFC 9113](https://www.rfc-editor.org/rfc/rfc9113)): bytes in,
//! events and bytes out, no I/O and no clock.
//!
//! It knows nothing of sockets, of TLS, and of what a right response is. Header blocks of responses are decoded
//! in memory that is kept, and one that is equal to one before is not decoded again; those of requests are encoded once for each
//! state that the peer's table can be in. Whatever a peer does, work and memory for it are bounded: each limit is an error of its own
//! ([`Http2Error`]) and ends the connection.

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
pub use error::{ErrorCode, HeadError, Http2Error};
pub use head::ResponseHead;
pub use request::{Request, RequestError, RequestList, Scheme};

/// The longest header block, over all of its frames.
pub(crate) const BLOCK_BYTES_MAX: usize = 64 * 1024;
/// The most frames of one header block: empty ones count too.
pub(crate) const BLOCK_FRAMES_MAX: usize = 64;
/// The most frames in a row that bring no answer nearer: settings, pings, window updates, empty data.
pub(crate) const IDLE_FRAMES_MAX: u32 = 10_000;
/// The longest frame, which is what a peer may send unless it is allowed more.
pub(crate) const FRAME_BYTES_MAX: usize = 16 * 1024;
/// How much the peer may send on a stream, and on the connection, before it has to wait: what h2load allows too.
pub(crate) const WINDOW_BYTES: u32 = (1 << 30) - 1;
/// How much waits to be sent before bodies of requests wait too.
pub(crate) const OUT_BYTES_MAX: usize = 256 * 1024;
