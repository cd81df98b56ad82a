//! One thread's part of a run: a loop over the driver's events that sends requests when they are due,
//! evaluates answers, and ends in time. Workers share only the budget.
//!
//! The loop is in this file. [`sending`] decides what a free connection does next, [`answers`] interprets
//! bytes and broken connections, [`arrivals`] holds waiting requests of an open loop, and [`ledger`] counts.

mod answers;
mod arrivals;
mod ledger;
mod marks;
mod sending;
#[cfg(test)]
mod simulated;
mod streams;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Duration;

use super::connection::Phase;
use super::load::Waiting;
use super::measures::Measures;
use super::ns;
use super::part::{End, Part, Shared};
use super::report::AlignedRun;
use super::worker::{WAIT_NS_MAX, Worker};
use crate::client::{Client, SlotEvent};
use crate::tally::Failure;
use arrivals::Queue;
use ledger::Ledger;
use marks::Marks;
use tare_base::{Clock, Monotonic, thread_cpu_ns};

impl<C: Client> Worker<C> {
    /// Runs this worker's connections to the end of the run, and reports the results in parts.
    pub(super) fn run(&mut self, shared: &Shared, parts: &Sender<Part>) {
        let mut run = Run::new(self, shared, parts);
        run.settle();
        // The window starts when all threads are ready.
        shared.barrier.wait();
        let cpu_ns = thread_cpu_ns();
        run.begin();
        run.drive();
        run.finish();
        run.end(thread_cpu_ns() - cpu_ns);
    }
}

/// A poll without result takes less than a microsecond. In a longer one the thread was preempted.
const POLL_NS_MAX: u64 = 5_000;
/// The largest lateness of a wake-up on a machine with an idle CPU.
const WAKE_NS_MAX: u64 = 200_000;

/// The most answers that are gathered, if the client gathers.
const GATHERED_MAX: usize = 8;
/// At most one in this many of the awaited answers is gathered, so that the server never waits for requests
/// because of it.
const GATHERED_SHARE: usize = 4;

struct Run<'a, C> {
    worker: &'a mut Worker<C>,
    shared: &'a Shared,
    parts: &'a Sender<Part>,
    start_ns: u64,
    /// The time from the common start until the worker began, if there is a common start.
    late_ns: u64,
    /// No request is due after this instant. An interrupt or an empty budget brings it forward.
    deadline_ns: u64,
    next_scan_ns: u64,
    scan_every_ns: u64,
    next_interval_ns: u64,
    interval_index: usize,
    interrupted: bool,
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    /// Due instants and waiting requests of an open loop; `None` in a closed loop.
    queue: Option<Queue<'a>>,
    /// When the next request of an open loop is due; checked after every event.
    next_due_ns: u64,
    /// The time before a due instant at which the worker stops sleeping.
    poll_ns: u64,
    /// The time it polled without result; this CPU time was available for work.
    polled_ns: u64,
    /// The number of slots that have sent their share of a quota.
    retired: usize,
    ledger: Ledger,
}

impl<'a, C: Client> Run<'a, C> {
    fn new(worker: &'a mut Worker<C>, shared: &'a Shared, parts: &'a Sender<Part>) -> Self {
        let load = &shared.load;
        let patience_ns = ns(load.response_timeout).min(ns(load.connect_timeout));
        worker.stamps.resize(worker.connections.len(), load.pipeline);
        worker.answered = vec![0; worker.pool.exchanges().len()];
        Run {
            timers: BinaryHeap::with_capacity(worker.slots()),
            queue: Queue::of(&load.schedule, worker),
            worker,
            shared,
            parts,
            start_ns: 0,
            late_ns: 0,
            deadline_ns: 0,
            next_scan_ns: 0,
            scan_every_ns: (patience_ns / 20).clamp(1_000_000, 100_000_000),
            next_interval_ns: u64::MAX,
            interval_index: 0,
            interrupted: false,
            next_due_ns: u64::MAX,
            poll_ns: load.waiting.poll_ns(),
            polled_ns: 0,
            retired: 0,
            ledger: Ledger::default(),
        }
    }

    fn settle(&mut self) {
        for _ in 0..self.worker.settle() {
            self.ledger.connection_failed(Failure::Malformed, self.start_ns);
        }
    }

    fn begin(&mut self) {
        let shared = self.shared;
        let load = &shared.load;
        self.start_ns = Monotonic.now_ns();
        if let Some(aligned) = &load.aligned {
            let began_ns = self.wait_until(aligned.start_ns);
            // An interrupt ends the wait.
            self.start_ns = aligned.start_ns.min(began_ns);
            self.late_ns = began_ns - self.start_ns;
            self.ledger.marks = Marks::new(self.start_ns, &aligned.marks_ns);
        }
        let window_ns = if self.worker.pool.exchanges().is_empty() { 0 } else { ns(load.stop.window()) };
        self.deadline_ns = self.start_ns.saturating_add(window_ns);
        self.next_scan_ns = self.start_ns + self.scan_every_ns;
        self.next_interval_ns =
            load.interval.map_or(u64::MAX, |interval| self.start_ns.saturating_add(ns(interval)));
        self.ledger.begin(self.start_ns, load.stop.quota().is_some(), self.queue.is_some());
        self.begin_streams();
        for slot in 0..self.worker.slots() {
            self.begin_slot(slot);
        }
        self.next_due_ns = self.due_ns();
    }

    /// Waits for an instant or an interrupt, and returns the time afterwards.
    fn wait_until(&self, start_ns: u64) -> u64 {
        loop {
            let now_ns = Monotonic.now_ns();
            if now_ns >= start_ns || self.shared.interrupt.load(Ordering::Relaxed) {
                return now_ns;
            }
            match (start_ns - now_ns).saturating_sub(WAKE_NS_MAX) {
                0 => std::hint::spin_loop(),
                sleep_ns => std::thread::sleep(Duration::from_nanos(sleep_ns.min(WAIT_NS_MAX))),
            }
        }
    }

    fn drive(&mut self) {
        let drain_ns = ns(self.shared.load.stop.drain);
        // The start of a wait that had nothing to submit and brought nothing.
        let mut idle_since_ns: Option<u64> = None;
        // Everything that arrived until this instant has been handled. Time limits are compared with it and
        // not with the clock: a process that was stopped (SIGSTOP) finds answers that arrived in time, and
        // must read them first.
        let mut handled_ns = 0;
        loop {
            let now_ns = Monotonic.now_ns();
            if let Some(since_ns) = idle_since_ns {
                let passed_ns = now_ns - since_ns;
                self.polled_ns += passed_ns.min(POLL_NS_MAX);
                self.ledger.was_away(passed_ns.saturating_sub(POLL_NS_MAX));
            }
            if self.shared.interrupt.load(Ordering::Relaxed) {
                self.interrupted = true;
                self.deadline_ns = self.deadline_ns.min(now_ns);
            }
            self.arrive(now_ns);
            if now_ns >= self.deadline_ns {
                self.cut_streams(now_ns);
            }
            let end_ns = self.deadline_ns.saturating_add(drain_ns);
            if now_ns >= self.deadline_ns && (self.is_through() || handled_ns >= end_ns) {
                return;
            }
            self.fire(now_ns);
            if now_ns >= self.next_scan_ns {
                self.scan(now_ns, handled_ns);
            }
            if now_ns >= self.next_interval_ns {
                self.report_interval(now_ns);
            }
            let has_sent = self.ledger.has_sent();
            let wait_ns = self.wait_ns(now_ns, end_ns);
            self.worker.client.wait(wait_ns);
            if let Some(count) = self.gathered() {
                self.polled_ns += self.worker.client.gather(count, wait_ns > 0);
            }
            idle_since_ns = (wait_ns == 0 && !has_sent).then_some(now_ns);
            while let Some(event) = self.worker.client.next_event() {
                idle_since_ns = None;
                self.handle(event);
            }
            handled_ns = now_ns;
        }
    }

    /// Whether no request is in flight and none will be sent.
    fn is_through(&self) -> bool {
        let waiting = self.queue.as_ref().is_some_and(|queue| queue.is_waiting() && !self.interrupted);
        self.ledger.busy() == 0 && !waiting
    }

    fn wait_ns(&self, now_ns: u64, end_ns: u64) -> u64 {
        if self.shared.load.waiting == Waiting::Poll {
            return 0;
        }
        let sending = now_ns < self.deadline_ns;
        let awake_ns = self.next_due_ns.saturating_sub(self.poll_ns);
        let limit_ns = if sending { self.deadline_ns.min(awake_ns) } else { end_ns };
        let timer_ns = self.timers.peek().map_or(u64::MAX, |Reverse((due_ns, _))| *due_ns);
        let until_ns = limit_ns.min(self.next_scan_ns).min(self.next_interval_ns).min(timer_ns);
        until_ns.saturating_sub(now_ns).min(WAIT_NS_MAX)
    }

    /// The number of answers to gather before they are processed, if that delays no request. That holds in a
    /// closed loop without think times, where the worker waits for only a part of the answers.
    fn gathered(&self) -> Option<usize> {
        let is_closed = self.queue.is_none() && self.timers.is_empty();
        let count = (self.ledger.busy() as usize / GATHERED_SHARE).min(GATHERED_MAX);
        (is_closed && count > 1).then_some(count)
    }

    fn handle(&mut self, event: SlotEvent) {
        // Read after the driver has the bytes and before they are evaluated, not at the end of the wait.
        let now_ns = Monotonic.now_ns();
        match event {
            SlotEvent::Received { slot } => self.received(slot, now_ns),
            SlotEvent::Accepted { slot } => self.accepted(slot, now_ns),
            SlotEvent::Connected { slot, is_new } => self.connected(slot, is_new, now_ns),
            SlotEvent::Started { slot } => self.started(slot, now_ns),
            SlotEvent::Replaced { .. } => self.ledger.replaced(),
            SlotEvent::ConnectFailed { slot, failure, is_own } => {
                self.connect_failed(slot, failure, is_own, now_ns)
            }
            SlotEvent::Closed { slot } => self.closed(slot, now_ns),
            SlotEvent::Failed { slot, failure } => self.broken(slot, failure, now_ns),
        }
        if now_ns >= self.next_due_ns {
            self.arrive(now_ns);
        }
    }

    fn fire(&mut self, now_ns: u64) {
        while let Some(&Reverse((due_ns, slot))) = self.timers.peek() {
            if due_ns > now_ns {
                return;
            }
            self.timers.pop();
            let connection = &self.worker.connections[slot];
            match connection.phase {
                _ if connection.timer_ns != due_ns => {}
                Phase::Open if now_ns < self.deadline_ns => {
                    self.ledger.lag(now_ns - due_ns);
                    self.fill(slot, now_ns);
                }
                Phase::BackingOff => self.reopen(slot, now_ns),
                Phase::Open | Phase::Closed | Phase::Connecting => {}
            }
        }
    }

    fn at(&mut self, slot: usize, due_ns: u64) {
        self.worker.connections[slot].timer_ns = due_ns;
        self.timers.push(Reverse((due_ns, slot)));
    }

    /// Ends connections whose request or attempt exceeded its time limit at the last instant when everything
    /// had been handled. An occasional scan of all connections is cheaper than a timer per request.
    fn scan(&mut self, now_ns: u64, handled_ns: u64) {
        self.next_scan_ns = now_ns + self.scan_every_ns;
        let load = &self.shared.load;
        let (response_timeout_ns, connect_timeout_ns) = (ns(load.response_timeout), ns(load.connect_timeout));
        for slot in 0..self.worker.slots() {
            let connection = &self.worker.connections[slot];
            match connection.phase {
                Phase::Open if connection.in_flight > 0 => {
                    let sent_ns = self.worker.stamps.at(slot, connection.oldest, 0).sent_ns;
                    // A stream of events is silent since its last event.
                    let since_ns = sent_ns.max(connection.heard_ns);
                    if handled_ns.saturating_sub(since_ns) >= response_timeout_ns {
                        self.broken(slot, Failure::ResponseTimeout, now_ns);
                    }
                }
                // If several slots wait for one connection, the first ends the attempt; others get events.
                Phase::Connecting
                    if handled_ns.saturating_sub(connection.since_ns) >= connect_timeout_ns
                        && self.worker.client.is_open(slot) =>
                {
                    self.connect_failed(slot, Failure::ConnectTimeout, true, now_ns);
                }
                _ => {}
            }
        }
    }

    /// Reports what happened since the last report.
    fn report_interval(&mut self, now_ns: u64) {
        let interval = self.shared.load.interval.map_or(u64::MAX, ns);
        let measures = self.take_measures(now_ns);
        let part = Part { index: self.interval_index, measures, end: None };
        let _caller_gone = self.parts.send(part);
        self.interval_index += 1;
        self.next_interval_ns = self.next_interval_ns.saturating_add(interval);
    }

    fn take_measures(&mut self, now_ns: u64) -> Measures {
        self.ledger.bytes(self.worker.client.take_traffic());
        Measures { events: self.take_events(), ..self.ledger.take(now_ns) }
    }

    /// Counts the requests in flight, and closes the connections that the next run cannot use.
    fn finish(&mut self) {
        let now_ns = Monotonic.now_ns();
        self.end_streams(now_ns);
        self.ledger.account(now_ns);
        for slot in 0..self.worker.slots() {
            let connection = &self.worker.connections[slot];
            if connection.phase == Phase::Open && connection.in_flight == 0 {
                continue;
            }
            for nth in 0..connection.in_flight {
                let stamp = *self.worker.stamps.at(slot, connection.oldest, nth);
                self.ledger.in_flight(stamp, now_ns);
            }
            self.worker.forget(slot);
            self.worker.shut(slot);
        }
        if let Some(queue) = &mut self.queue {
            queue.give_up(|due_ns| self.ledger.never_sent((self.start_ns + due_ns).min(now_ns), now_ns));
        }
        // A driver may queue requests to the kernel until it waits. Without this call, closed connections
        // would stay open until the next run.
        self.settle();
    }

    fn end(mut self, cpu_ns: u64) {
        let end_ns = Monotonic.now_ns();
        let by_number = self.shared.load.stop.quota().is_some();
        let end = End {
            start_ns: self.start_ns,
            end_ns,
            window_ns: if by_number { end_ns } else { self.deadline_ns } - self.start_ns,
            cpu_ns,
            polled_ns: self.polled_ns,
            interrupted: self.interrupted,
            gone_since_ns: self.ledger.gone_since_ns(),
            first_failure: self.ledger.first_failure.take(),
            answered: std::mem::take(&mut self.worker.answered),
            handshakes: self.worker.client.tls().cloned(),
            aligned: AlignedRun { late_ns: self.late_ns, answered_at: self.ledger.marks.finish() },
        };
        let measures = self.take_measures(end_ns);
        let _caller_gone = self.parts.send(Part { index: self.interval_index, measures, end: Some(end) });
    }
}
