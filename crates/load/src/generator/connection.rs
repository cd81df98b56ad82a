//! The state of one slot of a worker. The module knows neither sockets nor the load.

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not open, and no attempt is planned.
    Closed,
    /// Not open; a timer starts the next attempt.
    BackingOff,
    /// Being established.
    Connecting,
    /// Open, with or without requests in flight.
    Open,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stamp {
    /// When the request was due; in a closed loop, when it was passed to its connection.
    pub(super) due_ns: u64,
    /// When the request was passed to its connection: from here on it is in flight.
    pub(super) handed_ns: u64,
    /// When the request was sent; later than `handed_ns` if it waited for an HTTP/2 stream.
    pub(super) sent_ns: u64,
}

/// A connection, or an HTTP/2 stream of one. It keeps its place in the pool across reconnections.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) phase: Phase,
    /// Start of the attempt to connect.
    pub(super) since_ns: u64,
    /// The exchange of the oldest request in flight, or of the next.
    pub(super) exchange: usize,
    /// Requests in flight; they are answered in the order of sending.
    pub(super) in_flight: usize,
    /// The position of the oldest request's stamp in the ring of this connection.
    pub(super) oldest: usize,
    /// Requests left until this connection is to be closed.
    pub(super) allowed: u64,
    /// Requests left until this slot has sent its share.
    pub(super) share: u64,
    /// The slot has sent its share and has been counted as done.
    pub(super) is_retired: bool,
    /// When events of its stream last arrived.
    pub(super) heard_ns: u64,
    /// The slot's only valid timer; older timers in the queue are ignored.
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
            heard_ns: 0,
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
