//! The seam to the kernel: connections by slot, bytes out, events in.
//!
//! It is shaped after completions ("these bytes were received") rather than readiness, so that io_uring fits behind
//! it as well as epoll. It knows nothing of HTTP, schedules or time limits.

mod epoll;

pub use epoll::Epoll;

use std::net::SocketAddr;

use crate::tally::Failure;

/// What happened to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It is established.
    Connected {
        /// Whose.
        slot: usize,
    },
    /// It could not be established.
    ConnectFailed {
        /// Whose.
        slot: usize,
        /// Why.
        failure: Failure,
    },
    /// Bytes came: [`Driver::received`] has them until the next call to the driver.
    Received {
        /// Whose.
        slot: usize,
        /// Whether the peer is known to have closed its side behind them.
        hangup: bool,
    },
    /// After a send that did not take everything: it may be continued.
    Sendable {
        /// Whose.
        slot: usize,
    },
    /// The peer closed its side in good order.
    Closed {
        /// Whose.
        slot: usize,
    },
    /// The connection broke.
    Failed {
        /// Whose.
        slot: usize,
        /// Why.
        failure: Failure,
    },
}

/// A way to move the bytes of many connections with few system calls.
pub trait Driver {
    /// Begins to connect; `Connected` or `ConnectFailed` follows unless it fails at once.
    fn connect(&mut self, slot: usize, target: SocketAddr) -> Result<(), Failure>;

    /// Sends what the kernel takes now and tells how much; `Sendable` follows when it was not all.
    fn send(&mut self, slot: usize, bytes: &[u8]) -> Result<usize, Failure>;

    /// Forgets the connection: no event of it comes any more.
    fn close(&mut self, slot: usize);

    /// Whether a connection is open or being opened.
    fn is_open(&self, slot: usize) -> bool;

    /// Waits for events, at most so long. An interruption counts as waiting.
    fn wait(&mut self, timeout_ns: u64);

    /// The next event of those waited for.
    fn next_event(&mut self) -> Option<Event>;

    /// The bytes of the last `Received`.
    fn received(&self) -> &[u8];
}
