//! The state of one thread between runs: its client, its connections, and its memory of each exchange. It
//! opens and closes connections; a run sends.

use std::sync::Arc;

use super::connection::{Connection, Phase, Stamp, Stamps};
use super::session::Session;
use crate::client::{Client, Prepared, SlotEvent, ToSend};
use crate::events::EventMeasures;
use crate::exchange::{Arrival, ExchangePool, Flight};
use crate::judgement::{Expectation, Memo, Outcome};
use crate::schedule::SplitMix64;
use crate::split::Split;
use crate::tally::Failure;
use tare_base::Route;
use tare_base::{Clock, Monotonic};

/// The most connections that are opened at a time. More could overflow the usual backlog of 128, and a
/// dropped SYN is sent again only after a second.
const OPENING_MAX: usize = 100;

/// The longest single wait, so that an interrupt is noticed soon.
pub(super) const WAIT_NS_MAX: u64 = 20_000_000;

/// A worker's place among the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// The part of the load that the worker's generator has.
    pub(super) split: Split,
    pub(super) worker: usize,
    pub(super) workers: usize,
    /// The number of connections of all workers together, and the first one of this worker.
    pub(super) total: usize,
    pub(super) first: usize,
    pub(super) slots: usize,
}

#[derive(Debug)]
pub(super) struct Worker<C> {
    pub(super) place: Share,
    pub(super) route: Route,
    pub(super) client: C,
    pub(super) pool: Arc<ExchangePool>,
    pub(super) connections: Vec<Connection>,
    pub(super) stamps: Stamps,
    pub(super) memos: Vec<Memo>,
    /// Correct answers to each exchange of the pool, in this run.
    pub(super) answered: Vec<u64>,
    /// The events of streams since they were last taken.
    pub(super) events: EventMeasures,
    /// The Unix time minus the generator's clock.
    pub(super) unix_offset_ns: u64,
    /// One session per connection; empty without sequences.
    pub(super) sessions: Vec<Session>,
    pub(super) seed: u64,
    pub(super) random: SplitMix64,
    /// A random stream that all workers of a shared load have in common, to draw what one worker would draw.
    pub(super) joint: SplitMix64,
}

impl<C: Client> Worker<C> {
    /// A worker without requests to send.
    pub(super) fn new(place: Share, route: Route, seed: u64, client: C) -> Self {
        Worker {
            place,
            route,
            client,
            pool: Arc::new(ExchangePool::new(Vec::new())),
            connections: (0..place.slots).map(|_| Connection::new(0)).collect(),
            stamps: Stamps::default(),
            memos: Vec::new(),
            answered: Vec::new(),
            events: EventMeasures::default(),
            unix_offset_ns: 0,
            sessions: Vec::new(),
            seed,
            random: SplitMix64::stream(seed, place.split.number(place.worker) as u64),
            joint: SplitMix64::stream(seed, 0),
        }
    }

    pub(super) fn slots(&self) -> usize {
        self.connections.len()
    }

    pub(super) fn set_pool(&mut self, pool: Arc<ExchangePool>, requests: Prepared) {
        let Share { split, first, total, .. } = self.place;
        for (slot, connection) in self.connections.iter_mut().enumerate() {
            let number = split.number(first + slot);
            connection.exchange = pool.beginning(pool.offset(number, split.of * total));
        }
        self.memos = vec![Memo::default(); pool.exchanges().len()];
        self.sessions.clear();
        if pool.has_sequences() {
            self.sessions.resize_with(self.connections.len(), Session::default);
        }
        self.client.set_requests(&pool, requests);
        self.pool = pool;
    }

    /// Fills the exchange with the values of its sequence, if it has any.
    #[inline]
    pub(super) fn prepare(&mut self, slot: usize, exchange: usize) {
        if let Some(session) = self.sessions.get_mut(slot) {
            session.begin(&self.pool.exchanges()[exchange]);
        }
    }

    /// Sends `count` exchanges from `first` on. They must have been prepared.
    #[inline]
    pub(super) fn send(&mut self, slot: usize, first: usize, count: usize) -> Result<(), Failure> {
        let filled = self.sessions.get(slot).and_then(Session::filled);
        self.client.send(slot, filled.map_or(ToSend::Listed { first, count }, ToSend::Filled))
    }

    /// Prepares for the answer to this exchange.
    #[inline]
    pub(super) fn expect(&mut self, slot: usize, exchange: usize) {
        let exchange = &self.pool.exchanges()[exchange];
        self.client.expect(slot, exchange.is_head, Session::keep_bytes_max(exchange));
    }

    /// Evaluates the oldest request of the slot by `look`, which gets the expected response.
    #[inline]
    pub(super) fn judge(
        &mut self,
        slot: usize,
        check: bool,
        now_ns: u64,
        look: impl FnOnce(&mut C, Expectation<'_>) -> Outcome,
    ) -> Outcome {
        let unix_offset_ns = self.unix_offset_ns;
        let Worker { client, connections, stamps, memos, answered, events, sessions, pool, .. } = self;
        let Connection { exchange: index, in_flight, oldest, .. } = connections[slot];
        let Stamp { due_ns, sent_ns, .. } = *stamps.at(slot, oldest, 0);
        let flight = Flight { sent_ns, answered_ns: now_ns };
        let arrival = Arrival { due_ns, at_ns: now_ns, unix_offset_ns };
        let (listed, memo, is_last) = (&pool.exchanges()[index], &mut memos[index], in_flight == 1);
        let outcome = match sessions.get_mut(slot) {
            None => {
                look(client, Expectation { exchange: listed, memo, check, is_last, flight, events, arrival })
            }
            Some(session) => {
                let (exchange, memo) = session.awaited().unwrap_or((listed, memo));
                let expectation = Expectation { exchange, memo, check, is_last, flight, events, arrival };
                let outcome = look(client, expectation);
                session.conclude(listed, outcome, || client.response(slot))
            }
        };
        answered[index] += u64::from(matches!(outcome, Outcome::Answered { .. }));
        outcome
    }

    pub(super) fn open_connections(&self) -> usize {
        self.connections.iter().filter(|connection| connection.phase == Phase::Open).count()
    }

    /// Handles events of idle connections since their last use, and closes unusable ones. Returns how many of
    /// those held unsolicited bytes.
    pub(super) fn settle(&mut self) -> u64 {
        let mut strays = 0;
        self.client.wait(0);
        while let Some(event) = self.client.next_event() {
            match event {
                SlotEvent::Received { slot } => {
                    strays += 1;
                    self.shut(slot);
                }
                SlotEvent::Closed { slot }
                | SlotEvent::Failed { slot, .. }
                | SlotEvent::ConnectFailed { slot, .. } => {
                    self.shut(slot);
                }
                SlotEvent::Connected { .. }
                | SlotEvent::Accepted { .. }
                | SlotEvent::Started { .. }
                | SlotEvent::Replaced { .. } => {}
            }
        }
        strays
    }

    /// Opens connections until `count` are open, or until the deadline or the first failure.
    pub(super) fn open(&mut self, count: usize, deadline_ns: u64) -> Result<(), Failure> {
        self.settle();
        let wanted = count.saturating_sub(self.open_connections());
        let closed = (0..self.slots()).filter(|&slot| !self.client.is_open(slot));
        let mut missing: Vec<usize> = closed.take(wanted).collect();
        let mut opening = 0;
        let mut result = Ok(());
        loop {
            let now_ns = Monotonic.now_ns();
            while result.is_ok() && opening < OPENING_MAX {
                let Some(slot) = missing.pop() else { break };
                result = self.client.connect(slot, &self.route);
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
            self.client.wait((deadline_ns - now_ns).min(WAIT_NS_MAX));
            while let Some(event) = self.client.next_event() {
                opening -= self.opened(event, &mut result);
            }
        }
    }

    /// Handles an event while opening; returns the number of attempts that ended.
    fn opened(&mut self, event: SlotEvent, result: &mut Result<(), Failure>) -> usize {
        match event {
            SlotEvent::Connected { slot, .. } => {
                self.connections[slot].phase = Phase::Open;
                1
            }
            SlotEvent::ConnectFailed { slot, failure, .. } => {
                self.shut(slot);
                *result = result.and(Err(failure));
                1
            }
            SlotEvent::Closed { slot } | SlotEvent::Received { slot } | SlotEvent::Failed { slot, .. } => {
                // The peer closed right after it accepted: the run will show whether that repeats.
                self.shut(slot);
                0
            }
            SlotEvent::Accepted { .. } | SlotEvent::Started { .. } | SlotEvent::Replaced { .. } => 0,
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
        self.client.close(slot);
        let connection = &mut self.connections[slot];
        connection.phase = Phase::Closed;
        // The captured values belong to the closed connection.
        connection.exchange = self.pool.beginning(connection.exchange);
    }

    pub(super) fn close(&mut self) {
        for slot in 0..self.slots() {
            self.shut(slot);
        }
        // A driver may queue requests to the kernel until it waits.
        self.client.wait(0);
    }
}
