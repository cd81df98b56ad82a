//! One slot of a worker: what it waits for. It knows neither sockets nor the load.

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is not open, and no attempt is planned.
    Closed,
    /// It is not open; a timer starts the next attempt.
    BackingOff,
    /// It is being established.
    Connecting,
    /// It is open, with or without requests in flight.
    Open,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stamp {
    /// When it was due; in a closed loop when it was handed over.
    pub(super) due_ns: u64,
    /// When it was given to its connection: from here on it is in flight.
    pub(super) handed_ns: u64,
    /// The same, or later if it had to wait for a stream of HTTP/2.
    pub(super) sent_ns: u64,
}

/// A connection, or a stream of one. It keeps its place in the pool across reconnections.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) phase: Phase,
    /// Start of the attempt to connect.
    pub(super) since_ns: u64,
    /// The exchange of the oldest request in flight, or of the next.
    pub(super) exchange: usize,
    /// Requests in flight, answered in the order of their sending.
    pub(super) in_flight: usize,
    /// Where the stamp of the oldest is, in the ring of this connection.
    pub(super) oldest: usize,
    /// Requests until this connection is to be closed.
    pub(super) allowed: u64,
    /// Requests until this slot has done its share.
    pub(super) share: u64,
    /// It has done its share and has been counted as done.
    pub(super) is_retired: bool,
    /// Its only valid timer; older ones in the queue are ignored.
    pub(super) timer_ns: u64,
}

impl Connection {
    pub(super) fn new(exchange: usize) -> Self {
        Self {
            phase: Phase::Closed,
            since_ns: 0,
            exchange,
            in_flight: 0,
            oldest: 0,
            allowed: u64::MAX,
            share: u64::MAX,
            is_retired: false,
            timer_ns: 0,
        }
    }
}

/// The stamps of all connections of a worker: one ring of `depth` for each.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    depth: usize,
    stamps: Vec<Stamp>,
}

impl Stamps {
    pub(super) fn resize(&mut self, connections: usize, depth: usize) {
        self.depth = depth;
        self.stamps.resize(connections * depth, Stamp::default());
    }

    /// The stamp of the request `nth` after the oldest of a connection.
    #[inline]
    pub(super) fn at(&mut self, slot: usize, oldest: usize, nth: usize) -> &mut Stamp {
        let place = oldest + nth;
        let place = if place >= self.depth { place - self.depth } else { place };
        &mut self.stamps[slot * self.depth + place]
    }

    #[inline]
    pub(super) fn after(&self, oldest: usize) -> usize {
        if oldest + 1 >= self.depth { 0 } else { oldest + 1 }
    }
}
