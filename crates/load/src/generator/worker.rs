//! The state of one thread between runs: its driver, its connections, and its memory of each exchange. It opens and closes
//! connections; a run sends.

use std::ops::Range;
use std::sync::Arc;

use super::check::Memo;
use super::connection::{Connection, Phase, Stamps};
use super::session::Session;
use crate::clock::{Clock, Monotonic};
use crate::driver::{Driver, Event};
use crate::endpoint::Route;
use crate::exchange::ExchangePool;
use crate::request_buffer::RequestBuffer;
use crate::schedule::SplitMix64;
use crate::tally::Failure;

/// The most connections that are opened at a time: more could overflow the usual backlog of 128, and a dropped SYN is sent
/// again only after a second.
const OPENING_MAX: usize = 100;

/// The longest single wait, so that an interrupt is noticed soon.
pub(super) const WAIT_NS_MAX: u64 = 20_000_000;

/// A worker's place among the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) worker: usize,
    pub(super) workers: usize,
    /// How many connections all workers have together, and which of them is its first.
    pub(super) total: usize,
    pub(super) first: usize,
    pub(super) slots: usize,
}

#[derive(Debug)]
pub(super) struct Worker<D> {
    pub(super) place: Share,
    pub(super) route: Route,
    pub(super) driver: D,
    pub(super) pool: Arc<ExchangePool>,
    pub(super) requests: Arc<RequestBuffer>,
    pub(super) connections: Vec<Connection>,
    pub(super) stamps: Stamps,
    pub(super) memos: Vec<Memo>,
    /// One for each connection; none without sequences.
    pub(super) sessions: Vec<Session>,
    pub(super) seed: u64,
    pub(super) random: SplitMix64,
}

impl<D: Driver> Worker<D> {
    /// A worker without requests to send.
    pub(super) fn new(place: Share, route: Route, seed: u64) -> std::io::Result<Self> {
        Ok(Worker {
            place,
            route,
            driver: D::new(place.slots)?,
            pool: Arc::new(ExchangePool::new(Vec::new())),
            requests: Arc::default(),
            connections: (0..place.slots).map(|_| Connection::new(0)).collect(),
            stamps: Stamps::default(),
            memos: Vec::new(),
            sessions: Vec::new(),
            seed,
            random: SplitMix64::stream(seed, place.worker as u64),
        })
    }

    pub(super) fn slots(&self) -> usize {
        self.connections.len()
    }

    pub(super) fn set_pool(&mut self, pool: Arc<ExchangePool>, requests: Arc<RequestBuffer>) {
        let Share { first, total, .. } = self.place;
        for (slot, connection) in self.connections.iter_mut().enumerate() {
            connection.exchange = pool.beginning(pool.offset(first + slot, total));
        }
        self.memos = vec![Memo::default(); pool.exchanges().len()];
        self.sessions.clear();
        if pool.has_sequences() {
            self.sessions.resize_with(self.connections.len(), Session::default);
        }
        self.driver.set_requests(Arc::clone(&requests));
        (self.pool, self.requests) = (pool, requests);
    }

    /// What `slot` sends next, `count` exchanges from `first` on.
    #[inline]
    pub(super) fn outgoing(
        &mut self,
        slot: usize,
        first: usize,
        count: usize,
    ) -> Result<Range<usize>, Failure> {
        let session = self.sessions.get_mut(slot);
        match session.and_then(|session| session.begin(&self.pool.exchanges()[first])) {
            None => Ok(self.requests.range(first, count)),
            Some(exchange) => self.driver.set_own(slot, &exchange.request),
        }
    }

    pub(super) fn open_connections(&self) -> usize {
        self.connections.iter().filter(|connection| connection.phase == Phase::Open).count()
    }

    /// Handles events of idle connections since their last use, and closes those that cannot be used any more. Returns how
    /// many of them held unsolicited bytes.
    pub(super) fn settle(&mut self) -> u64 {
        let mut strays = 0;
        self.driver.wait(0);
        while let Some(event) = self.driver.next_event() {
            match event {
                Event::Received { slot, .. } => {
                    strays += 1;
                    self.shut(slot);
                }
                Event::Closed { slot } | Event::Failed { slot, .. } | Event::ConnectFailed { slot, .. } => {
                    self.shut(slot);
                }
                Event::Connected { .. } | Event::Sendable { .. } => {}
            }
        }
        strays
    }

    /// Opens connections until `count` are open, to the deadline or the first failure.
    pub(super) fn open(&mut self, count: usize, deadline_ns: u64) -> Result<(), Failure> {
        self.settle();
        let wanted = count.saturating_sub(self.open_connections());
        let closed = (0..self.slots()).filter(|&slot| !self.driver.is_open(slot));
        let mut missing: Vec<usize> = closed.take(wanted).collect();
        let mut opening = 0;
        let mut result = Ok(());
        loop {
            let now_ns = Monotonic.now_ns();
            while result.is_ok() && opening < OPENING_MAX {
                let Some(slot) = missing.pop() else { break };
                result = self.driver.connect(slot, &self.route);
                if result.is_ok() {
                    let connection = &mut self.connections[slot];
                    (connection.phase, connection.since_ns) = (Phase::Connecting, now_ns);
                    opening += 1;
                }
            }
            if opening == 0 {
                return result;
            }
            if now_ns >= deadline_ns {
                self.give_up();
                return result.and(Err(Failure::ConnectTimeout));
            }
            self.driver.wait((deadline_ns - now_ns).min(WAIT_NS_MAX));
            while let Some(event) = self.driver.next_event() {
                opening -= self.opened(event, &mut result);
            }
        }
    }

    /// Takes an event while opening; returns how many attempts it ended.
    fn opened(&mut self, event: Event, result: &mut Result<(), Failure>) -> usize {
        match event {
            Event::Connected { slot } => {
                self.connections[slot].phase = Phase::Open;
                1
            }
            Event::ConnectFailed { slot, failure } => {
                self.shut(slot);
                *result = result.and(Err(failure));
                1
            }
            Event::Closed { slot } | Event::Received { slot, .. } | Event::Failed { slot, .. } => {
                // Closed right after it was accepted: the run will show whether that is repeated.
                self.shut(slot);
                0
            }
            Event::Sendable { .. } => 0,
        }
    }

    fn give_up(&mut self) {
        for slot in 0..self.slots() {
            if self.connections[slot].phase == Phase::Connecting {
                self.shut(slot);
            }
        }
    }

    /// Closes a connection. Requests in flight on it must have been counted before.
    pub(super) fn shut(&mut self, slot: usize) {
        self.driver.close(slot);
        let connection = &mut self.connections[slot];
        connection.phase = Phase::Closed;
        connection.unsent = 0..0;
        // Its values belong to this connection.
        connection.exchange = self.pool.beginning(connection.exchange);
    }

    pub(super) fn close(&mut self) {
        for slot in 0..self.slots() {
            self.shut(slot);
        }
        // A driver may queue requests to the kernel until it waits.
        self.driver.wait(0);
    }
}
