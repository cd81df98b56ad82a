//! One thread's share of a run: a loop over the driver's events that sends what is due, judges what comes, and ends
//! in time. It knows no other worker but for the budget of a stop by count.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

use super::check::Outcome;
use super::connection::Phase;
use super::ns;
use super::report::{Part, Shared};
use super::worker::{WAIT_NS_MAX, Worker};
use crate::clock::{Clock, Monotonic, thread_cpu_ns};
use crate::driver::{Driver, Event};
use crate::exchange::Exchange;
use crate::latency::Histogram;
use crate::tally::{Failure, Sample, Tally};

/// A server that refuses connections is asked again after this, not in a busy loop.
const BACKOFF_NS: u64 = 10_000_000;

impl Worker {
    /// Drives this worker's connections to the end of the run.
    pub(super) fn run(&mut self, shared: &Shared<'_>) -> Part {
        let mut run = Run::new(self, shared);
        run.settle();
        // The window begins when all threads are there.
        shared.barrier.wait();
        let cpu_ns = thread_cpu_ns();
        run.begin();
        run.drive();
        run.finish();
        run.part(thread_cpu_ns() - cpu_ns)
    }
}

struct Run<'a> {
    worker: &'a mut Worker,
    shared: &'a Shared<'a>,
    exchanges: &'a [Exchange],
    start_ns: u64,
    /// No request is sent from here on; an interrupt or an empty budget brings it forward.
    deadline_ns: u64,
    next_scan_ns: u64,
    scan_every_ns: u64,
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    busy: usize,
    tally: Tally,
    latency: Histogram,
    first_failure: Option<Sample>,
}

impl<'a> Run<'a> {
    fn new(worker: &'a mut Worker, shared: &'a Shared<'a>) -> Self {
        let patience_ns = ns(shared.load.response_timeout).min(shared.connect_timeout_ns);
        Run {
            exchanges: shared.pool.exchanges(),
            timers: BinaryHeap::with_capacity(worker.slots()),
            worker,
            shared,
            start_ns: 0,
            deadline_ns: 0,
            next_scan_ns: 0,
            scan_every_ns: (patience_ns / 20).clamp(1_000_000, 100_000_000),
            busy: 0,
            tally: Tally::default(),
            latency: Histogram::new(),
            first_failure: None,
        }
    }

    fn settle(&mut self) {
        for _ in 0..self.worker.settle() {
            self.tally.connection_failed.add(Failure::Malformed);
        }
    }

    fn begin(&mut self) {
        self.start_ns = Monotonic.now_ns();
        self.next_scan_ns = self.start_ns + self.scan_every_ns;
        let window_ns = if self.exchanges.is_empty() { 0 } else { ns(self.shared.load.stop.window()) };
        self.deadline_ns = self.start_ns.saturating_add(window_ns);
        for slot in 0..self.worker.slots() {
            let now_ns = Monotonic.now_ns();
            if now_ns >= self.deadline_ns {
                break;
            }
            if self.worker.driver.is_open(slot) {
                self.first(slot, now_ns);
            } else {
                self.connect(slot, now_ns);
            }
        }
    }

    fn drive(&mut self) {
        let drain_ns = ns(self.shared.load.stop.drain());
        loop {
            let now_ns = Monotonic.now_ns();
            if self.shared.interrupt.load(Ordering::Relaxed) {
                self.deadline_ns = self.deadline_ns.min(now_ns);
            }
            let end_ns = self.deadline_ns.saturating_add(drain_ns);
            if now_ns >= self.deadline_ns && (self.busy == 0 || now_ns >= end_ns) {
                return;
            }
            self.fire(now_ns);
            if now_ns >= self.next_scan_ns {
                self.scan(now_ns);
            }
            let wait_ns = self.wait_ns(now_ns, end_ns);
            self.worker.driver.wait(wait_ns);
            while let Some(event) = self.worker.driver.next_event() {
                self.take(event);
            }
        }
    }

    fn wait_ns(&self, now_ns: u64, end_ns: u64) -> u64 {
        let sending = now_ns < self.deadline_ns;
        let limit_ns = if sending { self.deadline_ns } else { end_ns };
        let timer_ns = self.timers.peek().map_or(u64::MAX, |Reverse((due_ns, _))| *due_ns);
        let until_ns = limit_ns.min(self.next_scan_ns).min(if sending { timer_ns } else { u64::MAX });
        until_ns.saturating_sub(now_ns).min(WAIT_NS_MAX)
    }

    fn take(&mut self, event: Event) {
        // After the driver has the bytes and before anything is made of them: not when the batch was waited for.
        let now_ns = Monotonic.now_ns();
        match event {
            Event::Received { slot, hangup } => self.received(slot, hangup, now_ns),
            Event::Sendable { slot } => self.send_on(slot, now_ns),
            Event::Connected { slot } => {
                self.tally.connects += 1;
                self.worker.connections[slot].phase = Phase::Idle;
                self.next(slot, now_ns);
            }
            Event::ConnectFailed { slot, failure } => self.connect_failed(slot, failure, now_ns),
            Event::Closed { slot } => self.closed(slot, now_ns),
            Event::Failed { slot, failure } if self.phase(slot) == Phase::Awaiting => {
                self.conclude(slot, Outcome::Failed { failure, keep_alive: false }, now_ns);
            }
            // An idle connection may be dropped by the server at any time: no request is lost by it.
            Event::Failed { slot, .. } => self.reopen(slot, now_ns),
        }
    }

    #[inline]
    fn received(&mut self, slot: usize, hangup: bool, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &mut worker.connections[slot];
        let bytes = worker.driver.received();
        self.tally.bytes_received += bytes.len() as u64;
        if connection.phase != Phase::Awaiting {
            self.tally.connection_failed.add(Failure::Malformed);
            self.sample(slot, Failure::Malformed, true, now_ns);
            self.reopen(slot, now_ns);
            return;
        }
        let exchange = &self.exchanges[connection.exchange];
        let memo = &mut worker.memos[connection.exchange];
        let outcome = match connection.inspection.feed(exchange, memo, bytes) {
            // Its close follows as an event of its own, unless the response ended before.
            Outcome::Partial => return,
            // A response before the end of its request: what is left of the request must not open the next.
            Outcome::Answered { .. } if hangup || connection.sent_bytes < exchange.request.len() => {
                Outcome::Answered { keep_alive: false }
            }
            Outcome::Failed { failure, .. } if hangup || connection.sent_bytes < exchange.request.len() => {
                Outcome::Failed { failure, keep_alive: false }
            }
            outcome => outcome,
        };
        if let Outcome::Failed { failure, .. } = outcome {
            self.sample(slot, failure, true, now_ns);
        }
        self.conclude(slot, outcome, now_ns);
    }

    fn closed(&mut self, slot: usize, now_ns: u64) {
        let connection = &mut self.worker.connections[slot];
        if connection.phase != Phase::Awaiting {
            self.reopen(slot, now_ns);
            return;
        }
        let exchange = &self.exchanges[connection.exchange];
        let outcome = connection.inspection.eof(exchange, &mut self.worker.memos[connection.exchange]);
        self.conclude(slot, outcome, now_ns);
    }

    /// Ends the request of a connection with its outcome.
    fn conclude(&mut self, slot: usize, outcome: Outcome, now_ns: u64) {
        let keep_alive = match outcome {
            Outcome::Partial => return,
            Outcome::Answered { keep_alive } => {
                let by_count = self.shared.budget.is_some();
                self.tally.answered += 1;
                self.tally.answered_in_window += u64::from(by_count || now_ns <= self.deadline_ns);
                self.latency.record(now_ns - self.worker.connections[slot].sent_at_ns);
                keep_alive
            }
            Outcome::Failed { failure, keep_alive } => {
                self.tally.failed.add(failure);
                self.sample(slot, failure, false, now_ns);
                keep_alive
            }
        };
        self.busy -= 1;
        let connection = &mut self.worker.connections[slot];
        connection.exchange = self.shared.pool.after(connection.exchange);
        connection.phase = Phase::Idle;
        if keep_alive { self.next(slot, now_ns) } else { self.reopen(slot, now_ns) }
    }

    /// The first request of an open connection: somewhere in its think time, so that they do not come in step.
    fn first(&mut self, slot: usize, now_ns: u64) {
        let schedule = self.shared.load.schedule;
        if schedule.is_immediate() {
            return self.send(slot, now_ns);
        }
        let think_ns = schedule.next_due_ns(now_ns, self.worker.random.draw()) - now_ns;
        let phase_ns = (u128::from(self.worker.random.draw()) * u128::from(think_ns)) >> 64;
        self.at(slot, now_ns + phase_ns as u64);
    }

    #[inline]
    fn next(&mut self, slot: usize, now_ns: u64) {
        let schedule = self.shared.load.schedule;
        if schedule.is_immediate() {
            self.send(slot, now_ns);
        } else {
            let due_ns = schedule.next_due_ns(now_ns, self.worker.random.draw());
            self.at(slot, due_ns);
        }
    }

    fn at(&mut self, slot: usize, due_ns: u64) {
        self.worker.connections[slot].timer_ns = due_ns;
        self.timers.push(Reverse((due_ns, slot)));
    }

    #[inline]
    fn send(&mut self, slot: usize, now_ns: u64) {
        if now_ns >= self.deadline_ns || !self.claim(now_ns) {
            return;
        }
        let worker = &mut *self.worker;
        let connection = &mut worker.connections[slot];
        let exchange = &self.exchanges[connection.exchange];
        connection.inspection.start(exchange);
        connection.phase = Phase::Awaiting;
        connection.sent_bytes = 0;
        self.busy += 1;
        self.tally.sent += 1;
        // A stamp of its own: checking the response before is the generator's time, not the server's.
        connection.sent_at_ns = Monotonic.now_ns();
        self.send_on(slot, now_ns);
    }

    #[inline]
    fn send_on(&mut self, slot: usize, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &mut worker.connections[slot];
        if connection.phase != Phase::Awaiting {
            return;
        }
        let rest = &self.exchanges[connection.exchange].request[connection.sent_bytes..];
        match worker.driver.send(slot, rest) {
            Ok(sent) => {
                connection.sent_bytes += sent;
                self.tally.bytes_sent += sent as u64;
            }
            Err(failure) => self.conclude(slot, Outcome::Failed { failure, keep_alive: false }, now_ns),
        }
    }

    /// Takes one request from the budget of a stop by count.
    #[inline]
    fn claim(&mut self, now_ns: u64) -> bool {
        let Some(budget) = &self.shared.budget else { return true };
        let claimed =
            budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        if !claimed {
            self.deadline_ns = self.deadline_ns.min(now_ns);
        }
        claimed
    }

    fn connect(&mut self, slot: usize, now_ns: u64) {
        match self.worker.driver.connect(slot, self.worker.target) {
            Ok(()) => self.worker.connections[slot].phase = Phase::Connecting { since_ns: now_ns },
            Err(failure) => self.connect_failed(slot, failure, now_ns),
        }
    }

    fn connect_failed(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        self.tally.connection_failed.add(failure);
        self.sample(slot, failure, false, now_ns);
        self.worker.shut(slot);
        self.worker.connections[slot].phase = Phase::BackingOff;
        self.at(slot, now_ns + BACKOFF_NS);
    }

    fn reopen(&mut self, slot: usize, now_ns: u64) {
        self.worker.shut(slot);
        if now_ns < self.deadline_ns {
            self.connect(slot, now_ns);
        }
    }

    /// Does what is due by now.
    fn fire(&mut self, now_ns: u64) {
        while let Some(&Reverse((due_ns, slot))) = self.timers.peek() {
            if due_ns > now_ns || now_ns >= self.deadline_ns {
                return;
            }
            self.timers.pop();
            match self.phase(slot) {
                _ if self.worker.connections[slot].timer_ns != due_ns => {}
                Phase::Idle => self.send(slot, now_ns),
                Phase::BackingOff => self.connect(slot, now_ns),
                Phase::Closed | Phase::Connecting { .. } | Phase::Awaiting => {}
            }
        }
    }

    /// Ends what takes too long. A pass over all connections now and then is cheaper than a timer for each request.
    fn scan(&mut self, now_ns: u64) {
        self.next_scan_ns = now_ns + self.scan_every_ns;
        let response_timeout_ns = ns(self.shared.load.response_timeout);
        for slot in 0..self.worker.slots() {
            let connection = &self.worker.connections[slot];
            let waited_ns = now_ns.saturating_sub(connection.sent_at_ns);
            match connection.phase {
                Phase::Awaiting if waited_ns >= response_timeout_ns => {
                    let late = Outcome::Failed { failure: Failure::ResponseTimeout, keep_alive: false };
                    self.conclude(slot, late, now_ns);
                }
                Phase::Connecting { since_ns } if now_ns - since_ns >= self.shared.connect_timeout_ns => {
                    self.connect_failed(slot, Failure::ConnectTimeout, now_ns);
                }
                _ => {}
            }
        }
    }

    /// Keeps the first failure; `fresh` tells whether the driver's bytes belong to it.
    fn sample(&mut self, slot: usize, failure: Failure, fresh: bool, now_ns: u64) {
        if self.first_failure.is_some() {
            return;
        }
        let connection = &self.worker.connections[slot];
        let awaiting = connection.phase == Phase::Awaiting;
        let exchange = &self.exchanges[connection.exchange];
        let bytes = if fresh { self.worker.driver.received() } else { &[] };
        let nothing = "an open connection with nothing to read";
        self.first_failure = Some(Sample {
            failure,
            exchange: if awaiting { exchange.name.clone() } else { String::new() },
            expected: if awaiting { exchange.expected.describe() } else { nothing.to_owned() },
            got: connection.inspection.got(failure, bytes),
            at_ns: now_ns.saturating_sub(self.start_ns),
        });
    }

    fn phase(&self, slot: usize) -> Phase {
        self.worker.connections[slot].phase
    }

    /// Counts what is still out, and leaves only good connections behind.
    fn finish(&mut self) {
        for slot in 0..self.worker.slots() {
            match self.phase(slot) {
                Phase::Idle | Phase::Closed => {}
                Phase::Awaiting => {
                    self.tally.in_flight += 1;
                    self.worker.shut(slot);
                }
                Phase::Connecting { .. } | Phase::BackingOff => self.worker.shut(slot),
            }
        }
    }

    fn part(self, cpu_ns: u64) -> Part {
        let end_ns = Monotonic.now_ns();
        let whole = self.shared.budget.is_some();
        Part {
            start_ns: self.start_ns,
            end_ns,
            window_ns: if whole { end_ns - self.start_ns } else { self.deadline_ns - self.start_ns },
            cpu_ns,
            tally: self.tally,
            latency: self.latency,
            first_failure: self.first_failure,
        }
    }
}
