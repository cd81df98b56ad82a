//! One connection of a worker: what it waits for. It knows neither sockets nor the load.

use super::check::Inspection;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is not open and nothing is done about it.
    Closed,
    /// It is not open; the next attempt is at a timer.
    BackingOff,
    /// It is being established since then.
    Connecting { since_ns: u64 },
    /// It is open with nothing to do, or until a timer.
    Idle,
    /// Its request is out.
    Awaiting,
}

/// A connection, which keeps its place in the pool across reconnections.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) phase: Phase,
    /// The exchange in flight, or next.
    pub(super) exchange: usize,
    pub(super) sent_at_ns: u64,
    /// How much of the request the kernel took.
    pub(super) sent_bytes: usize,
    /// Its only valid timer: older ones in the queue are void.
    pub(super) timer_ns: u64,
    pub(super) inspection: Inspection,
}

impl Connection {
    pub(super) fn new(exchange: usize) -> Self {
        let inspection = Inspection::default();
        Self { phase: Phase::Closed, exchange, sent_at_ns: 0, sent_bytes: 0, timer_ns: 0, inspection }
    }
}
