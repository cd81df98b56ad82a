//! The counts and times of a run: every sent request ends in exactly one counter. It decides nothing.

use super::super::connection::Stamp;
use super::super::measures::Measures;
use super::marks::Marks;
use crate::client::Traffic;
use crate::tally::{Failure, FailureSample};

#[derive(Default)]
pub(super) struct Ledger {
    measures: Measures,
    busy: u64,
    has_sent: bool,
    /// The instant up to which requests in flight are integrated.
    accounted_ns: u64,
    /// When a request last ended, or was sent while none was in flight.
    progress_ns: u64,
    start_ns: u64,
    /// With a quota every answer counts, otherwise only those within the window.
    by_number: bool,
    is_open: bool,
    /// When the last correct answer arrived.
    answered_ns: u64,
    /// When a connection was first refused after the last established connection and the last answer.
    refused_ns: Option<u64>,
    pub(super) first_failure: Option<FailureSample>,
    pub(super) marks: Marks,
}

impl Ledger {
    pub(super) fn begin(&mut self, start_ns: u64, by_number: bool, is_open: bool) {
        (self.start_ns, self.accounted_ns) = (start_ns, start_ns);
        (self.by_number, self.is_open) = (by_number, is_open);
    }

    pub(super) fn busy(&self) -> u64 {
        self.busy
    }

    /// Whether a request was sent since the last call.
    pub(super) fn has_sent(&mut self) -> bool {
        std::mem::take(&mut self.has_sent)
    }

    /// Integrates the requests in flight until now. Call it before their number changes.
    #[inline]
    pub(super) fn account(&mut self, now_ns: u64) {
        let since_ns = now_ns.saturating_sub(self.accounted_ns);
        self.measures.in_flight_ns += u128::from(self.busy) * u128::from(since_ns);
        self.accounted_ns = self.accounted_ns.max(now_ns);
    }

    /// The measures since the last call.
    pub(super) fn take(&mut self, now_ns: u64) -> Measures {
        self.account(now_ns);
        std::mem::take(&mut self.measures)
    }

    #[inline]
    pub(super) fn sent(&mut self, count: usize, now_ns: u64) {
        self.account(now_ns);
        if self.busy == 0 {
            self.progress_ns = now_ns;
        }
        self.busy += count as u64;
        self.has_sent = true;
        self.measures.tally.sent += count as u64;
    }

    /// A response is complete, or its head shows that it is wrong.
    #[inline]
    pub(super) fn came(&mut self, status: Option<u16>) {
        if let Some(status) = status {
            self.measures.statuses.add(status);
        }
    }

    #[inline]
    pub(super) fn answered(&mut self, stamp: Stamp, now_ns: u64, deadline_ns: u64) {
        self.measures.in_flight_ns_answered += self.ended(stamp, now_ns);
        self.answered_ns = now_ns;
        self.marks.answered(now_ns);
        let tally = &mut self.measures.tally;
        tally.answered += 1;
        tally.answered_in_window += u64::from(self.by_number || now_ns <= deadline_ns);
        self.measures.latency.record(now_ns.saturating_sub(stamp.due_ns));
        if self.is_open {
            self.measures.service_time.record(now_ns.saturating_sub(stamp.sent_ns));
        }
    }

    pub(super) fn failed(&mut self, stamp: Stamp, failure: Failure, now_ns: u64) {
        self.measures.in_flight_ns_unanswered += self.ended(stamp, now_ns);
        self.measures.tally.failed.add(failure);
        if failure == Failure::ResponseTimeout {
            self.measures.unanswered.record(now_ns.saturating_sub(stamp.due_ns));
        }
    }

    /// A request is still in flight at the end.
    pub(super) fn in_flight(&mut self, stamp: Stamp, now_ns: u64) {
        // As far as the generator knows, no answer arrived before the end.
        self.measures.in_flight_ns_unanswered += self.ended(stamp, now_ns);
        self.measures.tally.in_flight += 1;
        self.measures.unanswered.record(now_ns.saturating_sub(stamp.due_ns));
    }

    /// A stream of events was open at the end, and right so far.
    pub(super) fn streaming(&mut self, stamp: Stamp, now_ns: u64) {
        self.measures.in_flight_ns_unanswered += self.ended(stamp, now_ns);
        self.measures.tally.streaming += 1;
    }

    /// Events of a stream have arrived.
    pub(super) fn heard(&mut self, now_ns: u64) {
        let silent_ns = now_ns.saturating_sub(self.progress_ns);
        self.measures.silent_ns_max = self.measures.silent_ns_max.max(silent_ns);
        self.progress_ns = now_ns;
    }

    /// A request was due and still waits for a connection at the end.
    pub(super) fn never_sent(&mut self, due_ns: u64, now_ns: u64) {
        self.measures.tally.unsent += 1;
        self.measures.unanswered.record(now_ns.saturating_sub(due_ns));
    }

    /// Counts requests that a connection would have sent, but which ended before.
    pub(super) fn left_over(&mut self, count: u64) {
        self.measures.tally.unsent += count;
    }

    /// Ends a request in flight and returns how long it was in flight, up to the instant of the last
    /// integration: the clock of the caller may be slightly older.
    #[inline]
    fn ended(&mut self, stamp: Stamp, now_ns: u64) -> u128 {
        self.account(now_ns);
        self.busy -= 1;
        let silent_ns = now_ns.saturating_sub(self.progress_ns);
        self.measures.silent_ns_max = self.measures.silent_ns_max.max(silent_ns);
        self.progress_ns = now_ns;
        u128::from(self.accounted_ns.saturating_sub(stamp.handed_ns))
    }

    /// The generator did not look for answers for `ns`: this is no silence of the server.
    pub(super) fn was_away(&mut self, ns: u64) {
        self.progress_ns += ns;
    }

    #[inline]
    pub(super) fn lag(&mut self, lag_ns: u64) {
        self.measures.schedule_lag.record(lag_ns);
    }

    pub(super) fn bytes(&mut self, traffic: Traffic) {
        self.measures.tally.bytes_sent += traffic.sent_bytes;
        self.measures.tally.bytes_received += traffic.received_bytes;
    }

    /// A request waited until the peer allowed another stream.
    pub(super) fn waited_for_stream(&mut self, since_ns: u64, now_ns: u64) {
        self.measures.stream_wait.record(now_ns.saturating_sub(since_ns));
    }

    /// A new connection replaced one that the peer ended in good order.
    pub(super) fn replaced(&mut self) {
        self.refused_ns = None;
        self.measures.tally.connects += 1;
    }

    pub(super) fn connected(&mut self, since_ns: u64, now_ns: u64) {
        self.refused_ns = None;
        self.measures.tally.connects += 1;
        self.measures.connect_time.record(now_ns.saturating_sub(since_ns));
    }

    /// The time after the start since which no server listens: connections were refused, and since then none
    /// was established and no answer arrived.
    pub(super) fn gone_since_ns(&self) -> Option<u64> {
        let refused_ns = self.refused_ns.filter(|refused_ns| self.answered_ns <= *refused_ns)?;
        Some(refused_ns.saturating_sub(self.start_ns))
    }

    pub(super) fn connection_failed(&mut self, failure: Failure, now_ns: u64) {
        // Connections that are still open may be answered after the first refusal.
        let is_first = self.refused_ns.is_none_or(|refused_ns| refused_ns < self.answered_ns);
        if failure == Failure::Refused && is_first {
            self.refused_ns = Some(now_ns);
        }
        self.measures.tally.connection_failed.add(failure);
    }

    /// A connection has sent all its requests.
    pub(super) fn connection_done(&mut self, since_ns: u64, now_ns: u64) {
        self.measures.connection_time.record(now_ns.saturating_sub(since_ns));
    }

    /// Keeps the first failure, or the first wrong answer instead; `sample` is called only if it is kept.
    pub(super) fn sample(&mut self, failure: Failure, now_ns: u64, sample: impl FnOnce() -> FailureSample) {
        let is_less = |own: &FailureSample| own.failure.is_wrong_answer() || !failure.is_wrong_answer();
        if !self.first_failure.as_ref().is_some_and(is_less) {
            self.first_failure =
                Some(FailureSample { at_ns: now_ns.saturating_sub(self.start_ns), ..sample() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_gone_from_the_first_refusal_after_its_last_answer() {
        let mut ledger = Ledger::default();
        ledger.begin(100, false, false);
        ledger.sent(2, 110);
        assert_eq!(ledger.gone_since_ns(), None);
        ledger.connection_failed(Failure::Reset, 115);
        ledger.connection_failed(Failure::Refused, 120);
        ledger.connection_failed(Failure::Refused, 130);
        assert_eq!(ledger.gone_since_ns(), Some(20));
        ledger.answered(Stamp::default(), 140, 1_000);
        assert_eq!(ledger.gone_since_ns(), None, "a connection that was open is still answered");
        ledger.connection_failed(Failure::Refused, 150);
        ledger.connection_failed(Failure::Refused, 160);
        assert_eq!(ledger.gone_since_ns(), Some(50));
        ledger.connected(160, 170);
        assert_eq!(ledger.gone_since_ns(), None, "it came back");
    }
}
