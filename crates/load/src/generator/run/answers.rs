//! Evaluates what comes back: bytes are matched with requests, and a broken connection fails the requests in flight on it.

use super::Run;
use crate::driver::Driver;
use crate::exchange::Exchange;
use crate::generator::check::Outcome;
use crate::generator::connection::Connection;
use crate::generator::session::Session;
use crate::generator::worker::Worker;
use crate::tally::{Failure, Sample};

/// The state of a connection after the bytes that arrived.
enum Disposition {
    /// The answer to the oldest request is not complete.
    Incomplete,
    /// A request was answered, and others are still in flight.
    Busy,
    /// Nothing is in flight, and the connection can be used again.
    Idle,
    /// It cannot carry another request, and requests in flight have failed.
    Ended,
}

impl<D: Driver> Run<'_, D> {
    #[inline]
    pub(super) fn received(&mut self, slot: usize, hangup: bool, now_ns: u64) {
        if self.worker.connections[slot].in_flight == 0 {
            return self.unsolicited(slot, now_ns);
        }
        match self.read_answers(slot, hangup, now_ns) {
            Disposition::Incomplete => {}
            Disposition::Busy => self.fill(slot, now_ns),
            Disposition::Idle => self.on_idle(slot, now_ns),
            Disposition::Ended => self.end_connection(slot, Failure::ClosedBeforeResponse, now_ns),
        }
    }

    /// Reads the answers in the bytes that came.
    #[inline]
    fn read_answers(&mut self, slot: usize, hangup: bool, now_ns: u64) -> Disposition {
        let check = self.shared.load.check;
        let Worker { driver, connections, stamps, memos, sessions, pool, .. } = &mut *self.worker;
        let connection = &mut connections[slot];
        let received = driver.received();
        self.ledger.bytes_received(received.len());
        let mut bytes = received;
        let mut answered = false;
        loop {
            let exchange = &pool.exchanges()[connection.exchange];
            let memo = &mut memos[connection.exchange];
            let inspection = &mut connection.inspection;
            let outcome = match sessions.get_mut(slot) {
                None => inspection.feed(exchange, memo, check, &mut bytes),
                Some(session) => session.judge(exchange, memo, &mut bytes, |exchange, memo, bytes| {
                    inspection.feed(exchange, memo, check, bytes)
                }),
            };
            let Some((outcome, keep_alive)) = ended(outcome, connection, bytes, hangup) else {
                // Its close follows as an event of its own, unless the response ended before.
                return if answered { Disposition::Busy } else { Disposition::Incomplete };
            };
            let stamp = *stamps.at(slot, connection.oldest, 0);
            self.ledger.came(connection.inspection.status());
            match outcome {
                Ok(()) => {
                    self.ledger.answered(stamp, now_ns, self.deadline_ns);
                    connection.exchange = pool.after(connection.exchange);
                }
                Err(failure) => {
                    let session = sessions.get(slot);
                    let sample = || sample(exchange, session, connection, failure, received);
                    self.ledger.sample(failure, now_ns, sample);
                    self.ledger.failed(stamp, failure, now_ns);
                    // The rest of a sequence needs this answer.
                    connection.exchange = pool.beginning(pool.after(connection.exchange));
                }
            }
            connection.oldest = stamps.after(connection.oldest);
            connection.in_flight -= 1;
            answered = true;
            match (keep_alive, connection.in_flight) {
                (false, _) => return Disposition::Ended,
                (true, 0) => return Disposition::Idle,
                (true, _) => connection.inspection.start(&pool.exchanges()[connection.exchange]),
            }
            if bytes.is_empty() {
                return Disposition::Busy;
            }
        }
    }

    /// Bytes that arrive while no request is in flight.
    fn unsolicited(&mut self, slot: usize, now_ns: u64) {
        let worker = &*self.worker;
        let got = worker.driver.received();
        self.ledger.bytes_received(got.len());
        self.ledger.connection_failed(Failure::Malformed, now_ns);
        self.ledger.sample(Failure::Malformed, now_ns, || Sample {
            failure: Failure::Malformed,
            exchange: String::new(),
            expected: "an open connection with nothing to read".to_owned(),
            got: got.iter().copied().take(crate::tally::SAMPLE_BYTES_MAX).collect(),
            at_ns: 0,
        });
        self.abandon(slot);
        self.reopen(slot, now_ns);
    }

    /// The peer closed in an orderly way, which may be the end of a response.
    pub(super) fn closed(&mut self, slot: usize, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &mut worker.connections[slot];
        if connection.in_flight == 0 {
            // A server may close an idle connection at any time; no request fails by it.
            self.cut_sequence(slot, now_ns);
            self.abandon(slot);
            return self.reopen(slot, now_ns);
        }
        let exchange = &worker.pool.exchanges()[connection.exchange];
        let memo = &mut worker.memos[connection.exchange];
        let (inspection, check) = (&mut connection.inspection, self.shared.load.check);
        let outcome = match worker.sessions.get_mut(slot) {
            None => inspection.eof(exchange, memo, check),
            Some(session) => session.judge(exchange, memo, &mut &[][..], |exchange, memo, _| {
                inspection.eof(exchange, memo, check)
            }),
        };
        match outcome {
            Outcome::Failed { failure, .. } => self.broken(slot, failure, now_ns),
            Outcome::Partial => self.broken(slot, Failure::ClosedMidResponse, now_ns),
            Outcome::Answered { .. } => {
                self.ledger.came(connection.inspection.status());
                let stamp = *worker.stamps.at(slot, connection.oldest, 0);
                self.ledger.answered(stamp, now_ns, self.deadline_ns);
                connection.in_flight -= 1;
                connection.oldest = worker.stamps.after(connection.oldest);
                connection.exchange = worker.pool.after(connection.exchange);
                self.end_connection(slot, Failure::ClosedBeforeResponse, now_ns);
            }
        }
    }

    /// A connection has ended with nothing in flight. Where a sequence would go on, that is a failure: a service that closes
    /// after each answer would otherwise never be asked for a second step, and look good.
    fn cut_sequence(&mut self, slot: usize, now_ns: u64) {
        let (pool, next) = (&self.worker.pool, self.worker.connections[slot].exchange);
        if now_ns >= self.deadline_ns || !pool.is_within_sequence(next) {
            return;
        }
        self.ledger.connection_failed(Failure::CutSequence, now_ns);
        self.ledger.sample(Failure::CutSequence, now_ns, || Sample {
            failure: Failure::CutSequence,
            exchange: pool.exchanges()[next].name.clone(),
            expected: "an open connection for the next step of a sequence".to_owned(),
            got: Vec::new(),
            at_ns: 0,
        });
    }

    /// The connection is broken: the oldest request has failed, and so have those behind it.
    pub(super) fn broken(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &worker.connections[slot];
        if connection.in_flight > 0 {
            let exchange = &worker.pool.exchanges()[connection.exchange];
            let session = worker.sessions.get(slot);
            self.ledger.sample(failure, now_ns, || sample(exchange, session, connection, failure, &[]));
        }
        self.end_connection(slot, failure, now_ns);
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

impl<D> Worker<D> {
    /// Removes the requests in flight from a connection; its next request is the one after them.
    pub(super) fn forget(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        for _ in 0..std::mem::take(&mut connection.in_flight) {
            connection.exchange = self.pool.after(connection.exchange);
        }
        connection.oldest = 0;
    }
}

/// The final outcome of the oldest request, and whether the connection can carry more; `None` while it is not
/// complete.
#[inline]
fn ended(
    outcome: Outcome,
    connection: &Connection,
    rest: &[u8],
    hangup: bool,
) -> Option<(Result<(), Failure>, bool)> {
    let (result, keep_alive) = match outcome {
        Outcome::Partial => return None,
        Outcome::Answered { keep_alive } => (Ok(()), keep_alive),
        Outcome::Failed { failure, keep_alive } => (Err(failure), keep_alive),
    };
    if connection.in_flight > 1 {
        return Some((result, keep_alive));
    }
    // Bytes after the last response belong to no response. After a response before the end of its request, the rest of that
    // request would precede the next one.
    let result = if rest.is_empty() { result } else { result.and(Err(Failure::Malformed)) };
    Some((result, keep_alive && rest.is_empty() && connection.unsent.is_empty() && !hangup))
}

fn sample(
    exchange: &Exchange,
    session: Option<&Session>,
    connection: &Connection,
    failure: Failure,
    bytes: &[u8],
) -> Sample {
    Sample {
        failure,
        exchange: exchange.name.clone(),
        expected: session.map_or_else(|| exchange.expected.describe(), |session| session.expected(exchange)),
        got: connection.inspection.got(failure, bytes),
        at_ns: 0,
    }
}
