//! What comes back: bytes are judged request by request, and a broken connection takes down what was in flight on it.

use super::Run;
use super::books::Books;
use crate::driver::Driver;
use crate::exchange::Exchange;
use crate::generator::check::Outcome;
use crate::generator::connection::Connection;
use crate::generator::worker::Worker;
use crate::tally::{Failure, Sample};

/// What becomes of a connection after some bytes.
enum Fate {
    /// The answer to the oldest request is not complete.
    Waits,
    /// Something was answered, and something is still in flight.
    Goes,
    /// Nothing is in flight, and the connection is good.
    Free,
    /// It cannot carry another request, and what is in flight is lost.
    Lost,
}

impl<D: Driver> Run<'_, D> {
    #[inline]
    pub(super) fn received(&mut self, slot: usize, hangup: bool, now_ns: u64) {
        if self.worker.connections[slot].in_flight == 0 {
            return self.stray(slot, now_ns);
        }
        match self.judge(slot, hangup, now_ns) {
            Fate::Waits => {}
            Fate::Goes => self.fill(slot, now_ns),
            Fate::Free => self.freed(slot, now_ns),
            Fate::Lost => self.lost(slot, Failure::ClosedBeforeResponse, now_ns),
        }
    }

    /// Reads the answers in the bytes that came.
    #[inline]
    fn judge(&mut self, slot: usize, hangup: bool, now_ns: u64) -> Fate {
        let check = self.shared.load.check;
        let Worker { driver, connections, stamps, memos, pool, .. } = &mut *self.worker;
        let connection = &mut connections[slot];
        let received = driver.received();
        self.books.bytes_received(received.len());
        let mut bytes = received;
        let mut answered = false;
        loop {
            let exchange = &pool.exchanges()[connection.exchange];
            let memo = &mut memos[connection.exchange];
            let outcome = connection.inspection.feed(exchange, memo, check, &mut bytes);
            let Some((outcome, keep_alive)) = ended(outcome, connection, bytes, hangup) else {
                // Its close follows as an event of its own, unless the response ended before.
                return if answered { Fate::Goes } else { Fate::Waits };
            };
            let stamp = *stamps.at(slot, connection.oldest, 0);
            match outcome {
                Ok(()) => self.books.answered(stamp, now_ns, self.deadline_ns),
                Err(failure) => fail(&mut self.books, exchange, connection, stamp, failure, received, now_ns),
            }
            connection.exchange = pool.after(connection.exchange);
            connection.oldest = stamps.after(connection.oldest);
            connection.in_flight -= 1;
            answered = true;
            match (keep_alive, connection.in_flight) {
                (false, _) => return Fate::Lost,
                (true, 0) => return Fate::Free,
                (true, _) => connection.inspection.start(&pool.exchanges()[connection.exchange]),
            }
            if bytes.is_empty() {
                return Fate::Goes;
            }
        }
    }

    /// Bytes that nobody asked for.
    fn stray(&mut self, slot: usize, now_ns: u64) {
        let worker = &*self.worker;
        let got = worker.driver.received();
        self.books.bytes_received(got.len());
        self.books.connection_failed(Failure::Malformed);
        self.books.sample(now_ns, || Sample {
            failure: Failure::Malformed,
            exchange: String::new(),
            expected: "an open connection with nothing to read".to_owned(),
            got: got.iter().copied().take(crate::tally::SAMPLE_BYTES_MAX).collect(),
            at_ns: 0,
        });
        self.abandon(slot);
        self.reopen(slot, now_ns);
    }

    /// The peer closed in good order, which may be the end of a response.
    pub(super) fn closed(&mut self, slot: usize, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &mut worker.connections[slot];
        if connection.in_flight == 0 {
            // An idle connection may be closed by the server at any time: no request is lost by it.
            self.abandon(slot);
            return self.reopen(slot, now_ns);
        }
        let exchange = &worker.pool.exchanges()[connection.exchange];
        let memo = &mut worker.memos[connection.exchange];
        match connection.inspection.eof(exchange, memo, self.shared.load.check) {
            Outcome::Failed { failure, .. } => self.broken(slot, failure, now_ns),
            Outcome::Partial => self.broken(slot, Failure::ClosedMidResponse, now_ns),
            Outcome::Answered { .. } => {
                let stamp = *worker.stamps.at(slot, connection.oldest, 0);
                self.books.answered(stamp, now_ns, self.deadline_ns);
                connection.in_flight -= 1;
                connection.oldest = worker.stamps.after(connection.oldest);
                connection.exchange = worker.pool.after(connection.exchange);
                self.lost(slot, Failure::ClosedBeforeResponse, now_ns);
            }
        }
    }

    /// The connection is no good any more: the oldest request has failed, and those behind it with it.
    pub(super) fn broken(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &worker.connections[slot];
        if connection.in_flight > 0 {
            let exchange = &worker.pool.exchanges()[connection.exchange];
            self.books.sample(now_ns, || sample(exchange, connection, failure, &[]));
        }
        self.lost(slot, failure, now_ns);
    }

    /// Ends a connection, and fails what is in flight on it.
    fn lost(&mut self, slot: usize, failure: Failure, now_ns: u64) {
        let worker = &mut *self.worker;
        let connection = &worker.connections[slot];
        if connection.allowed == 0 && connection.in_flight == 0 {
            self.books.connection_done(connection.since_ns, now_ns);
        }
        for nth in 0..connection.in_flight {
            let stamp = *worker.stamps.at(slot, connection.oldest, nth);
            self.books.failed(stamp, failure, now_ns);
        }
        worker.forget(slot);
        self.abandon(slot);
        self.reopen(slot, now_ns);
    }
}

impl<D> Worker<D> {
    /// Takes what is in flight on a connection out of it: its next request is the one after.
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
    // Bytes after the last response are part of none; a response before the end of its request leaves the rest of the
    // request in the way of the next.
    let result = if rest.is_empty() { result } else { result.and(Err(Failure::Malformed)) };
    Some((result, keep_alive && rest.is_empty() && connection.unsent.is_empty() && !hangup))
}

fn fail(
    books: &mut Books,
    exchange: &Exchange,
    connection: &Connection,
    stamp: crate::generator::connection::Stamp,
    failure: Failure,
    bytes: &[u8],
    now_ns: u64,
) {
    books.sample(now_ns, || sample(exchange, connection, failure, bytes));
    books.failed(stamp, failure, now_ns);
}

fn sample(exchange: &Exchange, connection: &Connection, failure: Failure, bytes: &[u8]) -> Sample {
    Sample {
        failure,
        exchange: exchange.name.clone(),
        expected: exchange.expected.describe(),
        got: connection.inspection.got(failure, bytes),
        at_ns: 0,
    }
}
