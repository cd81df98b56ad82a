//! The seam to the kernel: connections by slot, bytes out, events in.
//!
//! It is shaped after completions ("these bytes were received") rather than readiness, so that io_uring fits behind
//! it as well as epoll. It knows nothing of HTTP, schedules or time limits.

mod choice;
mod epoll;
mod socket;
#[cfg(test)]
mod tests;
mod uring;

pub use choice::{ChosenDriver, DriverChoice, DriverKind, UnknownDriver};
pub use epoll::Epoll;
pub use uring::Uring;

use std::ops::Range;
use std::sync::Arc;

use crate::endpoint::Route;
use crate::tally::Failure;
use crate::wire::Wire;

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
    /// After a send that did not take everything: so much more of it is taken now, and it may be continued.
    Sendable {
        /// Whose.
        slot: usize,
        /// How many bytes were taken since.
        sent: usize,
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

/// A way to move the bytes of many connections with few system calls. It belongs to the thread that made it.
pub trait Driver: Sized {
    /// A driver for a number of slots.
    fn new(slots: usize) -> std::io::Result<Self>;

    /// The memory that is sent from, until the next call. No request is out on any open connection.
    fn set_wire(&mut self, wire: Arc<Wire>);

    /// Begins to connect; `Connected` or `ConnectFailed` follows unless it fails at once.
    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure>;

    /// Sends a range of the wire and tells how many bytes are taken care of; `Sendable` follows when it was not all,
    /// and nothing else is sent on that connection before.
    fn send(&mut self, slot: usize, range: Range<usize>) -> Result<usize, Failure>;

    /// Forgets the connection: no event of it comes any more.
    fn close(&mut self, slot: usize);

    /// Whether a connection is open or being opened.
    fn is_open(&self, slot: usize) -> bool;

    /// Waits for events, at most so long; what was sent before is under way at the latest now. An interruption counts
    /// as waiting.
    fn wait(&mut self, timeout_ns: u64);

    /// The next event of those waited for.
    fn next_event(&mut self) -> Option<Event>;

    /// The bytes of the last `Received`.
    fn received(&self) -> &[u8];
}
