//! The open loop: requests are due whatever the server does. A request that finds no free connection waits,
//! and its wait counts. Waiting requests take no memory: their due instants are generated again from the
//! position of the oldest.

use std::collections::VecDeque;

use super::Run;
use crate::client::Client;
use crate::generator::connection::Phase;
use crate::generator::worker::{Share, Worker};
use crate::schedule::{ArrivalSource, Arrivals, Schedule};

/// The next request, the waiting ones, and the connections that could send them.
pub(super) struct Queue<'a> {
    arrivals: &'a Arrivals,
    /// The generator of the next request, which is not due yet.
    next: ArrivalSource,
    /// The generator of the oldest waiting request, if there is one.
    oldest: ArrivalSource,
    waiting: u64,
    /// Idle open connections, in the order in which they became idle.
    idle: VecDeque<usize>,
    /// Slots that could be opened.
    closed: Vec<usize>,
    connecting: u64,
}

impl<'a> Queue<'a> {
    pub(super) fn of<C: Client>(schedule: &'a Schedule, worker: &mut Worker<C>) -> Option<Queue<'a>> {
        let Schedule::Open(arrivals) = schedule else { return None };
        let Share { split, worker: own, workers, slots, .. } = worker.place;
        let next = ArrivalSource::new(arrivals, split, (own, workers), worker.seed);
        // Another run is another sample. If generators share a load, all of them draw the same sample.
        worker.seed = match split.is_whole() {
            true => worker.random.draw(),
            false => worker.joint.draw(),
        };
        Some(Queue {
            arrivals,
            oldest: next.clone(),
            next,
            waiting: 0,
            idle: VecDeque::with_capacity(slots),
            closed: Vec::with_capacity(slots),
            connecting: 0,
        })
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Calls `tell` with the due instant of every waiting request, and drops the requests.
    pub(super) fn give_up(&mut self, mut tell: impl FnMut(u64)) {
        while self.waiting > 0 {
            tell(self.pop());
        }
    }

    /// Removes the oldest waiting request and returns its due instant, counted from the start.
    fn pop(&mut self) -> u64 {
        let due_ns = self.oldest.due_ns();
        self.oldest.advance(self.arrivals);
        self.waiting -= 1;
        due_ns
    }

    fn forget_idle(&mut self, slot: usize) {
        self.idle.retain(|idle| *idle != slot);
    }
}

impl<C: Client> Run<'_, C> {
    /// When the next request of an open loop is due.
    pub(super) fn due_ns(&self) -> u64 {
        self.queue.as_ref().map_or(u64::MAX, |queue| self.start_ns.saturating_add(queue.next.due_ns()))
    }

    /// Handles requests that are due by now: each is sent on a free connection, or waits.
    pub(super) fn arrive(&mut self, now_ns: u64) {
        while self.next_due_ns <= now_ns && self.next_due_ns < self.deadline_ns {
            if self.claim(1, now_ns) == 0 {
                break;
            }
            let due_ns = self.next_due_ns;
            self.ledger.lag(now_ns - due_ns);
            self.offer(due_ns, now_ns);
            if let Some(queue) = &mut self.queue {
                queue.next.advance(queue.arrivals);
            }
            self.next_due_ns = self.due_ns();
        }
        if self.next_due_ns >= self.deadline_ns {
            self.next_due_ns = u64::MAX;
        }
    }

    fn offer(&mut self, due_ns: u64, now_ns: u64) {
        let Some(queue) = &mut self.queue else { return };
        if queue.waiting == 0 {
            while let Some(slot) = queue.idle.pop_front() {
                // The end of its connection is an event that is not handled yet.
                if self.worker.client.is_open(slot) {
                    return self.send(slot, 1, Some(due_ns), now_ns);
                }
            }
            queue.oldest = queue.next.clone();
        }
        queue.waiting += 1;
        self.call_for_connection(now_ns);
    }

    /// Opens a connection if more requests wait than connections are being opened.
    fn call_for_connection(&mut self, now_ns: u64) {
        let Some(queue) = &mut self.queue else { return };
        if queue.connecting >= queue.waiting {
            return;
        }
        if let Some(slot) = queue.closed.pop() {
            queue.connecting += 1;
            self.connect(slot, now_ns);
        }
    }

    /// Notes that an open connection of an open loop is idle.
    pub(super) fn offer_connection(&mut self, slot: usize, now_ns: u64) {
        let Some(queue) = &mut self.queue else { return };
        if queue.waiting == 0 || self.interrupted {
            return queue.idle.push_back(slot);
        }
        let due_ns = self.start_ns + queue.pop();
        self.send(slot, 1, Some(due_ns), now_ns);
    }

    /// Notes that a slot of an open loop is closed; it is opened when it is needed.
    pub(super) fn offer_slot(&mut self, slot: usize, now_ns: u64) {
        let Some(queue) = &mut self.queue else { return };
        queue.forget_idle(slot);
        queue.closed.push(slot);
        if self.worker.connections[slot].phase == Phase::Closed && !self.interrupted {
            self.call_for_connection(now_ns);
        }
    }

    /// An attempt to connect has ended.
    pub(super) fn connecting_ended(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.connecting = queue.connecting.saturating_sub(1);
        }
    }
}
