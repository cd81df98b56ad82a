//! The interface to the kernel: connections by slot, bytes out, events in.
//!
//! It is shaped after completions ("these bytes were received") rather than readiness, so that io_uring fits behind
//! it as well as epoll. It knows nothing of HTTP, schedules or time limits.

mod choice;
mod epoll;
mod outgoing;
mod socket;
#[cfg(test)]
mod tests;
mod uring;

pub use choice::{ChosenDriver, DriverChoice, DriverKind};
pub(crate) use epoll::Epoll;
pub(crate) use outgoing::{Outgoing, own_range};
pub(crate) use uring::Uring;

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::negotiated::Handshakes;
use crate::request_buffer::RequestBuffer;
use crate::tally::Failure;
use tare_base::Route;

impl ChosenDriver {
    /// The driver that a load without large bodies would have now.
    #[must_use]
    pub fn probe() -> ChosenDriver {
        match Uring::new(1) {
            Ok(_) => ChosenDriver { kind: DriverKind::IoUring, reason: None },
            Err(refused) => ChosenDriver::instead(&refused),
        }
    }

    /// The driver if the kernel refuses io_uring.
    pub(crate) fn instead(refused: &io::Error) -> ChosenDriver {
        ChosenDriver {
            kind: DriverKind::Epoll,
            reason: Some(format!("io_uring is not available: {refused}")),
        }
    }
}

/// The longest time for which events are gathered.
pub(crate) const GATHER_NS: u64 = 20_000;

/// An event of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Connected {
        slot: usize,
    },
    ConnectFailed {
        slot: usize,
        failure: Failure,
    },
    /// Bytes arrived: [`Driver::received`] has them.
    Received {
        slot: usize,
        /// Whether the peer is known to have closed its side after them.
        hangup: bool,
    },
    /// Follows a send that was not accepted whole: more of it is accepted now, and the caller may continue.
    Sendable {
        slot: usize,
        /// Bytes accepted since the last report.
        sent: usize,
    },
    /// The peer closed its side in an orderly way.
    Closed {
        slot: usize,
    },
    Failed {
        slot: usize,
        failure: Failure,
    },
}

/// A driver that speaks to the kernel itself.
pub(crate) trait Kernel: Driver + Sized {
    /// A driver for a number of slots.
    ///
    /// # Errors
    /// The kernel refuses what the driver needs.
    fn new(slots: usize) -> std::io::Result<Self>;
}

/// A way to move the bytes of many connections with few system calls. It belongs to the thread that made it.
pub(crate) trait Driver {
    /// Sets the requests that are sent from now on. No request may be in flight on any connection.
    fn set_requests(&mut self, requests: Arc<RequestBuffer>);

    /// The bytes that only this slot sends. The caller fills them anew and sends them by their [`own_range`].
    /// `None` while the previous ones are not all accepted; `Sendable` follows once they are.
    fn own(&mut self, slot: usize) -> Option<&mut Vec<u8>>;

    /// Starts to connect; `Connected` or `ConnectFailed` follows unless it fails at once.
    ///
    /// # Errors
    /// The attempt failed at once.
    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure>;

    /// Sends a range of the shared requests or of the slot's own bytes, and returns how many bytes were accepted. If that is not all,
    /// `Sendable` follows, and nothing else may be sent on that connection before it.
    ///
    /// # Errors
    /// The connection is broken.
    fn send(&mut self, slot: usize, range: Range<usize>) -> Result<usize, Failure>;

    /// Closes the connection. No event of it follows.
    fn close(&mut self, slot: usize);

    /// Whether a connection is open or being opened.
    fn is_open(&self, slot: usize) -> bool;

    /// Waits for events for at most `timeout_ns`, after submitting queued sends. A signal ends the wait.
    fn wait(&mut self, timeout_ns: u64);

    /// Waits for a moment ([`GATHER_NS`]) until `count` events have arrived, if the last wait brought one.
    /// That saves wake-ups of this thread, and the server's work of waking it. Returns the time it polled
    /// without result, if it may not sleep.
    fn gather(&mut self, _count: usize, _sleeps: bool) -> u64 {
        0
    }

    /// The next event of the last wait.
    fn next_event(&mut self) -> Option<Event>;

    /// The bytes of the last `Received`, until the next call of `wait` or `next_event`.
    fn received(&self) -> &[u8];

    /// The bytes of the last `Received`, to be decrypted in place.
    fn received_mut(&mut self) -> &mut [u8];

    /// The TLS handshakes so far, if TLS is used.
    fn tls(&self) -> Option<&Handshakes> {
        None
    }
}
