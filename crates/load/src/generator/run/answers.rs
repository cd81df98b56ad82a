//! Evaluates received bytes: it matches them with requests. A broken connection fails its requests in flight.

use super::Run;
use crate::client::Client;
use crate::generator::worker::Worker;
use crate::judgement::Outcome;
use crate::tally::{Failure, FailureSample};

/// The state of a connection after the bytes that arrived.
enum Disposition {
    /// The answer to the oldest request is not complete.
    Incomplete,
    /// A request was answered, and others are still in flight.
    Busy,
    /// Nothing is in flight, and the connection can be used again.
    Idle,
    /// The connection cannot carry another request, and its requests in flight have failed.
    Ended,
}

impl<C: Client> Run<'_, C> {
    #[inline]
    pub(super) fn received(&mut self, slot: usize, now_ns: u64) {
        if self.worker.connections[slot].in_flight == 0 {
            return self.unsolicited(slot, now_ns);
        }
        match self.read_answers(slot, now_ns) {
            Disposition::Incomplete => {}
            Disposition::Busy => self.fill(slot, now_ns),
            Disposition::Idle => self.on_idle(slot, now_ns),
            Disposition::Ended => self.end_connection(slot, Failure::ClosedBeforeResponse, now_ns),
        }
    }

    /// Reads the answers in the received bytes.
    #[inline]
    fn read_answers(&mut self, slot: usize, now_ns: u64) -> Disposition {
        let check = self.shared.load.check;
        let mut answered = false;
        loop {
            let outcome =
                self.worker.judge(slot, check, now_ns, |client, expectation| client.judge(slot, expectation));
            let keep_alive = match outcome {
                // The close is an event of its own, unless the response had ended before.
                Outcome::Partial if answered => return Disposition::Busy,
                Outcome::Partial => return Disposition::Incomplete,
                Outcome::Streaming => {
                    self.heard(slot, now_ns);
                    return Disposition::Incomplete;
                }
                Outcome::Answered { keep_alive } => {
                    self.answered(slot, now_ns);
                    keep_alive
                }
                Outcome::Failed { failure, keep_alive } => {
                    self.answered_wrongly(slot, failure, now_ns);
                    keep_alive
                }
            };
            answered = true;
            let Worker { connections, client, .. } = &mut *self.worker;
            let connection = &connections[slot];
            let next = connection.exchange;
            match (keep_alive, connection.in_flight) {
                (false, _) => return Disposition::Ended,
                (true, 0) => return Disposition::Idle,
                (true, _) if client.has_more(slot) => self.worker.expect(slot, next),
                (true, _) => {
                    self.worker.expect(slot, next);
                    return Disposition::Busy;
                }
            }
        }
    }

    /// The oldest request of the slot was answered correctly.
    #[inline]
    fn answered(&mut self, slot: usize, now_ns: u64) {
        let Worker { client, connections, stamps, pool, .. } = &mut *self.worker;
        let connection = &mut connections[slot];
        self.ledger.came(client.status(slot));
        self.ledger.answered(*stamps.at(slot, connection.oldest, 0), now_ns, self.deadline_ns);
        connection.exchange = pool.after(connection.exchange);
        connection.oldest = stamps.after(connection.oldest);
        connection.in_flight -= 1;
    }

    fn answered_wrongly(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        self.sample(slot, failure, now_ns);
        let Worker { client, connections, stamps, pool, .. } = &mut *self.worker;
        let connection = &mut connections[slot];
        self.ledger.came(client.status(slot));
        self.ledger.failed(*stamps.at(slot, connection.oldest, 0), failure, now_ns);
        // The rest of a sequence needs this answer.
        connection.exchange = pool.beginning(pool.after(connection.exchange));
        connection.oldest = stamps.after(connection.oldest);
        connection.in_flight -= 1;
    }

    /// Bytes that arrive while no request is in flight.
    fn unsolicited(&mut self, slot: usize, now_ns: u64) {
        let client = &self.worker.client;
        self.ledger.connection_failed(Failure::Malformed, now_ns);
        self.ledger.sample(Failure::Malformed, now_ns, || FailureSample {
            failure: Failure::Malformed,
            exchange: String::new(),
            expected: "an open connection with nothing to read".to_owned(),
            reason: client.reason(slot, Failure::Malformed),
            got: client.got(slot, Failure::Malformed),
            at_ns: 0,
        });
        self.abandon(slot);
        self.reopen(slot, now_ns);
    }

    /// The peer closed in good order, which may be the end of a response.
    pub(super) fn closed(&mut self, slot: usize, now_ns: u64) {
        if self.worker.connections[slot].in_flight == 0 {
            // A server may close an idle connection at any time; no request fails because of it.
            self.cut_sequence(slot, now_ns);
            self.abandon(slot);
            return self.reopen(slot, now_ns);
        }
        let check = self.shared.load.check;
        let outcome =
            self.worker.judge(slot, check, now_ns, |client, expectation| client.judge_end(slot, expectation));
        match outcome {
            Outcome::Failed { failure, .. } => self.broken(slot, failure, now_ns),
            Outcome::Partial | Outcome::Streaming => self.broken(slot, Failure::ClosedMidResponse, now_ns),
            Outcome::Answered { .. } => {
                self.answered(slot, now_ns);
                self.end_connection(slot, Failure::ClosedBeforeResponse, now_ns);
            }
        }
    }

    /// Handles a connection that ended with nothing in flight. In the middle of a sequence that is a failure.
    /// Otherwise a service that closes after each answer would never receive a second step, and look good.
    fn cut_sequence(&mut self, slot: usize, now_ns: u64) {
        let (pool, next) = (&self.worker.pool, self.worker.connections[slot].exchange);
        if now_ns >= self.deadline_ns || !pool.is_within_sequence(next) {
            return;
        }
        self.ledger.connection_failed(Failure::CutSequence, now_ns);
        self.ledger.sample(Failure::CutSequence, now_ns, || FailureSample {
            failure: Failure::CutSequence,
            exchange: pool.exchanges()[next].name.clone(),
            expected: "an open connection for the next step of a sequence".to_owned(),
            reason: None,
            got: Vec::new(),
            at_ns: 0,
        });
    }

    /// The connection is broken: the oldest request and those after it have failed.
    pub(super) fn broken(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        if self.worker.connections[slot].in_flight > 0 {
            self.sample(slot, failure, now_ns);
        }
        self.end_connection(slot, failure, now_ns);
    }

    /// Keeps the bytes received for the slot's oldest request, which has failed, if it is the first failure.
    fn sample(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        let Worker { client, connections, sessions, pool, .. } = &*self.worker;
        let exchange = &pool.exchanges()[connections[slot].exchange];
        self.ledger.sample(failure, now_ns, || FailureSample {
            failure,
            exchange: exchange.name.clone(),
            expected: match sessions.get(slot) {
                None => exchange.expected.describe(),
                Some(session) => session.expected(exchange),
            },
            reason: client.reason(slot, failure),
            got: client.got(slot, failure),
            at_ns: 0,
        });
    }

    /// Ends a connection, and fails the requests in flight on it.
    fn end_connection(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &worker.connections[slot];
        if connection.allowed == 0 && connection.in_flight == 0 {
            self.ledger.connection_done(connection.since_ns, now_ns);
        }
        if connection.in_flight == 0 {
            self.cut_sequence(slot, now_ns);
        }
        let worker = &mut *self.worker;
        let connection = &worker.connections[slot];
        for nth in 0..connection.in_flight {
            let stamp = *worker.stamps.at(slot, connection.oldest, nth);
            self.ledger.failed(stamp, failure, now_ns);
        }
        worker.forget(slot);
        self.abandon(slot);
        self.reopen(slot, now_ns);
    }
}

impl<C: Client> Worker<C> {
    /// Removes the requests in flight from a connection; its next request is the one after them.
    pub(super) fn forget(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        for _ in 0..std::mem::take(&mut connection.in_flight) {
            connection.exchange = self.pool.after(connection.exchange);
        }
        connection.oldest = 0;
    }
}
