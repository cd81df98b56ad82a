//! Decides what a connection does next: think, send as much as it may, be replaced, or rest.

use std::sync::atomic::Ordering;

use super::Run;
use crate::client::Client;
use crate::generator::connection::{Phase, Stamp};
use crate::schedule::{Schedule, Think};
use crate::stop::RequestQuota;
use crate::tally::{Failure, FailureSample};
use tare_base::{Clock, Monotonic};

/// The time until the next attempt to connect after a failed one. It prevents a busy loop.
const BACKOFF_NS: u64 = 10_000_000;

impl<C: Client> Run<'_, C> {
    /// Gives a slot its share of the quota and its first action.
    pub(super) fn begin_slot(&mut self, slot: usize) {
        let share = match self.shared.load.stop.quota() {
            Some(RequestQuota::RequestsEach(each)) => each,
            _ => u64::MAX,
        };
        let now_ns = Monotonic.now_ns();
        let connection = &mut self.worker.connections[slot];
        (connection.share, connection.since_ns, connection.is_retired) = (share, now_ns, false);
        if !self.worker.client.is_open(slot) {
            return self.reopen(slot, now_ns);
        }
        if share == 0 || !self.claim_connection(slot) {
            return self.retire(slot, now_ns);
        }
        match (&self.queue, self.think()) {
            (None, think) if !think.is_none() => self.first_thought(slot, think, now_ns),
            _ => self.on_idle(slot, now_ns),
        }
    }

    /// The last request in flight on an open connection has ended.
    #[inline]
    pub(super) fn on_idle(&mut self, slot: usize, now_ns: u64) {
        let connection = &self.worker.connections[slot];
        if connection.allowed == 0 {
            self.ledger.connection_done(connection.since_ns, now_ns);
            return self.reopen(slot, now_ns);
        }
        if connection.share == 0 {
            return self.retire(slot, now_ns);
        }
        if self.queue.is_some() {
            return self.offer_connection(slot, now_ns);
        }
        match self.think() {
            Think::None => self.fill(slot, now_ns),
            think => {
                let due_ns = think.after_ns(now_ns, self.worker.random.draw());
                self.at(slot, due_ns);
            }
        }
    }

    fn think(&self) -> Think {
        match &self.shared.load.schedule {
            Schedule::Closed { think } => *think,
            Schedule::Open(_) => Think::None,
        }
    }

    /// Starts a connection at a random point of its think time, so that connections are not synchronised.
    fn first_thought(&mut self, slot: usize, think: Think, now_ns: u64) {
        let think_ns = think.after_ns(now_ns, self.worker.random.draw()) - now_ns;
        let phase_ns = (u128::from(self.worker.random.draw()) * u128::from(think_ns)) >> 64;
        self.at(slot, now_ns + phase_ns as u64);
    }

    /// Sends as many requests as a connection of a closed loop may have in flight.
    #[inline]
    pub(super) fn fill(&mut self, slot: usize, now_ns: u64) {
        let connection = &self.worker.connections[slot];
        if now_ns >= self.deadline_ns || self.worker.client.is_sending(slot) {
            return;
        }
        let room = (self.shared.load.pipeline - connection.in_flight) as u64;
        let wanted = room.min(connection.allowed).min(connection.share);
        match self.claim(wanted, now_ns) {
            0 => {}
            count => self.send(slot, count as usize, None, now_ns),
        }
    }

    /// Sends requests that were due at `due_ns`, or are due now.
    #[inline]
    pub(super) fn send(&mut self, slot: usize, count: usize, due_ns: Option<u64>, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &worker.connections[slot];
        let exchanges = worker.pool.exchanges().len();
        let mut first = connection.exchange + connection.in_flight;
        while first >= exchanges {
            first -= exchanges;
        }
        if connection.in_flight == 0 {
            worker.expect(slot, first);
        }
        worker.prepare(slot, first);
        // Read the clock again: checking the previous response took the generator's time, not the server's.
        let sent_ns = Monotonic.now_ns();
        let stamp = Stamp { due_ns: due_ns.unwrap_or(sent_ns), handed_ns: sent_ns, sent_ns };
        let connection = &mut worker.connections[slot];
        for nth in 0..count {
            *worker.stamps.at(slot, connection.oldest, connection.in_flight + nth) = stamp;
        }
        connection.in_flight += count;
        connection.allowed -= count as u64;
        connection.share -= count as u64;
        self.ledger.sent(count, sent_ns);
        if let Err(failure) = worker.send(slot, first, count) {
            self.broken(slot, failure, now_ns);
        }
    }

    /// The last send is accepted in full, and answers may have made room for more.
    #[inline]
    pub(super) fn accepted(&mut self, slot: usize, now_ns: u64) {
        if self.queue.is_none() {
            self.refill(slot, now_ns);
        }
    }

    /// A request had to wait for a stream, and is sent now.
    pub(super) fn started(&mut self, slot: usize, now_ns: u64) {
        let worker = &mut *self.worker;
        let oldest = worker.connections[slot].oldest;
        let stamp = worker.stamps.at(slot, oldest, 0);
        self.ledger.waited_for_stream(stamp.sent_ns, now_ns);
        stamp.sent_ns = now_ns;
    }

    /// Continues a pipeline whose send was blocked.
    fn refill(&mut self, slot: usize, now_ns: u64) {
        let connection = &self.worker.connections[slot];
        if connection.phase == Phase::Open && connection.in_flight > 0 && self.shared.load.pipeline > 1 {
            self.fill(slot, now_ns);
        }
    }

    /// Takes up to `wanted` requests from the budget of all workers.
    #[inline]
    pub(super) fn claim(&mut self, wanted: u64, now_ns: u64) -> u64 {
        let (Some(budget), Some(RequestQuota::Requests(_))) =
            (&self.shared.budget, self.shared.load.stop.quota())
        else {
            return wanted;
        };
        let take = |left: u64| (left > 0).then(|| left.saturating_sub(wanted));
        match budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(left) => left.min(wanted),
            Err(_) => {
                self.deadline_ns = self.deadline_ns.min(now_ns);
                0
            }
        }
    }

    /// Takes a connection from the budget, if the quota counts connections, and gives it its number of requests.
    fn claim_connection(&mut self, slot: usize) -> bool {
        let mut allowed = self.shared.load.requests_per_connection.unwrap_or(u64::MAX);
        if let (Some(budget), Some(RequestQuota::Connections(_))) =
            (&self.shared.budget, self.shared.load.stop.quota())
        {
            let take = |left: u64| left.checked_sub(1);
            if budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                allowed = 0;
            }
        }
        self.worker.connections[slot].allowed = allowed;
        allowed > 0
    }

    /// A slot has sent its share; the last such slot ends the sending.
    fn retire(&mut self, slot: usize, now_ns: u64) {
        if !std::mem::replace(&mut self.worker.connections[slot].is_retired, true) {
            self.retired += 1;
        }
        if self.retired == self.worker.slots() {
            self.deadline_ns = self.deadline_ns.min(now_ns);
        }
    }

    /// Closes a connection and, during the load, opens another in its place.
    pub(super) fn reopen(&mut self, slot: usize, now_ns: u64) {
        self.worker.shut(slot);
        if self.queue.is_some() {
            return self.offer_slot(slot, now_ns);
        }
        if self.worker.connections[slot].share == 0 {
            return self.retire(slot, now_ns);
        }
        if now_ns >= self.deadline_ns {
            return;
        }
        if self.claim_connection(slot) { self.connect(slot, now_ns) } else { self.retire(slot, now_ns) }
    }

    pub(super) fn connect(&mut self, slot: usize, now_ns: u64) {
        let worker = &mut *self.worker;
        match worker.client.connect(slot, &worker.route) {
            Ok(()) => {
                let connection = &mut worker.connections[slot];
                (connection.phase, connection.since_ns) = (Phase::Connecting, now_ns);
            }
            Err(failure) => self.connect_failed(slot, failure, true, now_ns),
        }
    }

    pub(super) fn connected(&mut self, slot: usize, is_new: bool, now_ns: u64) {
        let connection = &mut self.worker.connections[slot];
        connection.phase = Phase::Open;
        if self.queue.is_some() {
            connection.allowed = self.shared.load.requests_per_connection.unwrap_or(u64::MAX);
        }
        if is_new {
            self.ledger.connected(connection.since_ns, now_ns);
        }
        self.connecting_ended();
        self.on_idle(slot, now_ns);
    }

    /// Handles a failed attempt. An attempt that several slots waited for is counted once.
    pub(super) fn connect_failed(&mut self, slot: usize, failure: Failure, is_own: bool, now_ns: u64) {
        if is_own {
            self.ledger.connection_failed(failure, now_ns);
        }
        let client = &self.worker.client;
        self.ledger.sample(failure, now_ns, || FailureSample {
            failure,
            exchange: String::new(),
            expected: "a connection".to_owned(),
            reason: client.reason(slot, failure),
            got: Vec::new(),
            at_ns: 0,
        });
        self.connecting_ended();
        self.abandon(slot);
        self.worker.shut(slot);
        self.worker.connections[slot].phase = Phase::BackingOff;
        self.at(slot, now_ns + BACKOFF_NS);
    }

    /// Counts the requests that only this connection would have sent as unsent.
    pub(super) fn abandon(&mut self, slot: usize) {
        if let Some(RequestQuota::Connections(_)) = self.shared.load.stop.quota() {
            self.ledger.left_over(self.worker.connections[slot].allowed);
        }
    }
}
