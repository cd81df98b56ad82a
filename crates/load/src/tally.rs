//! Counts the outcome of every request, so that sent = answered + failed + in flight + streaming.
//!
//! It only counts: the generator decides on an outcome, and the caller evaluates a run.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a request or a connection failed. Names are stable: they go into files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(usize)]
pub enum Failure {
    /// The connection was refused, because no server listens.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The connection was not established within its time limit.
    ConnectTimeout,
    /// The response was not complete within its time limit.
    ResponseTimeout,
    /// The peer closed after the request was sent and before the first byte of its response.
    ClosedBeforeResponse,
    /// The peer closed in the middle of a response.
    ClosedMidResponse,
    /// The bytes violate the protocol, exceed a documented limit, or were not requested.
    Malformed,
    /// A response whose body is not the expected one.
    Mismatch,
    /// A response whose status is not the expected one.
    Status,
    /// A correct answer lacks the value that a later step of its sequence needs.
    MissingValue,
    /// The peer closed an idle connection between two steps of a sequence.
    CutSequence,
    /// The peer reset the HTTP/2 stream of the request.
    StreamReset,
    /// The TLS handshake failed, or the bytes after it do not belong to that connection.
    Tls,
    /// No local port was left to connect from.
    NoPorts,
    /// The process or the system is out of file descriptors.
    NoDescriptors,
    /// Any other refusal of the system, such as an unreachable network.
    Other,
}

impl Failure {
    /// All failures, in the order of their counters.
    pub const ALL: [Failure; 16] = [
        Failure::Refused,
        Failure::Reset,
        Failure::ConnectTimeout,
        Failure::ResponseTimeout,
        Failure::ClosedBeforeResponse,
        Failure::ClosedMidResponse,
        Failure::Malformed,
        Failure::Mismatch,
        Failure::Status,
        Failure::MissingValue,
        Failure::CutSequence,
        Failure::StreamReset,
        Failure::Tls,
        Failure::NoPorts,
        Failure::NoDescriptors,
        Failure::Other,
    ];

    /// The stable kebab-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Failure::Refused => "refused",
            Failure::Reset => "reset",
            Failure::ConnectTimeout => "connect-timeout",
            Failure::ResponseTimeout => "response-timeout",
            Failure::ClosedBeforeResponse => "closed-before-response",
            Failure::ClosedMidResponse => "closed-mid-response",
            Failure::Malformed => "malformed",
            Failure::Mismatch => "mismatch",
            Failure::Status => "status",
            Failure::MissingValue => "missing-value",
            Failure::CutSequence => "cut-sequence",
            Failure::StreamReset => "stream-reset",
            Failure::Tls => "tls",
            Failure::NoPorts => "no-ports",
            Failure::NoDescriptors => "no-descriptors",
            Failure::Other => "other",
        }
    }

    /// Whether an answer arrived that was not correct: wrong status or body, invalid, cut short, or without a
    /// needed value. The other failures are missing answers.
    #[must_use]
    pub fn is_wrong_answer(self) -> bool {
        matches!(
            self,
            Failure::ClosedMidResponse
                | Failure::Malformed
                | Failure::Mismatch
                | Failure::Status
                | Failure::MissingValue
        )
    }

    /// The failure with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Failure> {
        Failure::ALL.into_iter().find(|failure| failure.name() == name)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One counter for each [`Failure`].
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Failures([u64; Failure::ALL.len()]);

impl Failures {
    /// Counts one failure.
    pub fn add(&mut self, failure: Failure) {
        self.0[failure as usize] += 1;
    }

    /// The count of this kind.
    #[must_use]
    pub fn get(&self, failure: Failure) -> u64 {
        self.0[failure as usize]
    }

    /// The count of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The count of answers that arrived and were wrong.
    #[must_use]
    pub fn wrong_answers(&self) -> u64 {
        self.iter().filter(|(failure, _)| failure.is_wrong_answer()).map(|(_, count)| count).sum()
    }

    /// The kinds that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Failure, u64)> + '_ {
        Failure::ALL.into_iter().map(|failure| (failure, self.get(failure))).filter(|&(_, count)| count > 0)
    }
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(failure, count)| (failure.name(), count))).finish()
    }
}

impl FromIterator<(Failure, u64)> for Failures {
    fn from_iter<I: IntoIterator<Item = (Failure, u64)>>(counts: I) -> Failures {
        let mut failures = Failures::default();
        for (failure, count) in counts {
            failures.0[failure as usize] += count;
        }
        failures
    }
}

/// A map from name to count, of the kinds that occurred.
impl Serialize for Failures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(failure, count)| (failure.name(), count)))
    }
}

/// A name of a newer engine counts as [`Failure::Other`], so that the failure is not lost.
impl<'de> Deserialize<'de> for Failures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Failures, D::Error> {
        let by_name = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let of = |(name, count): (String, u64)| (Failure::from_name(&name).unwrap_or(Failure::Other), count);
        Ok(by_name.into_iter().map(of).collect())
    }
}

impl AddAssign for Failures {
    fn add_assign(&mut self, other: Self) {
        for (own, more) in self.0.iter_mut().zip(other.0) {
            *own += more;
        }
    }
}

/// The outcomes of a run.
///
/// A request counts as sent when its first byte is offered to an established connection, and ends as exactly
/// one of answered, failed or in flight. A failure without a request in flight (a refused connection,
/// unsolicited bytes) is not the outcome of a request: it is in `connection_failed`, outside of the equation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests sent.
    pub sent: u64,
    /// Requests with a complete response of the expected status and body.
    pub answered: u64,
    /// The part of `answered` that was complete by the end of the window: the basis of the throughput.
    pub answered_in_window: u64,
    /// Requests that failed, by kind.
    pub failed: Failures,
    /// Requests without an outcome when the drain was over.
    pub in_flight: u64,
    /// Streams of events that were open at the end, and right so far.
    pub streaming: u64,
    /// Requests that were due but not sent: still queued at the end of an open loop, or assigned to a
    /// connection that broke. They are outside of the equation.
    pub unsent: u64,
    /// Connections established during the run, without those already open at its start.
    pub connects: u64,
    /// Failures of connections that had no request in flight.
    pub connection_failed: Failures,
    /// Bytes of requests that the kernel accepted.
    pub bytes_sent: u64,
    /// All bytes received.
    pub bytes_received: u64,
}

/// A tally whose requests do not add up. This is a bug of the generator, never of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "requests do not add up: sent {sent} is not answered {answered} + failed {failed} + in flight {in_flight} + \
     streaming {streaming}; \
     discard this run and report it as a bug of the load engine"
)]
pub struct Unreconciled {
    /// Requests sent.
    pub sent: u64,
    /// Requests answered.
    pub answered: u64,
    /// Requests failed.
    pub failed: u64,
    /// Requests in flight at the end.
    pub in_flight: u64,
    /// Streams of events that were open at the end.
    pub streaming: u64,
}

impl Tally {
    /// Checks that every sent request has exactly one outcome.
    ///
    /// # Errors
    /// The outcomes do not add up to the sent requests.
    pub fn reconcile(&self) -> Result<(), Unreconciled> {
        let (sent, answered, failed, in_flight, streaming) =
            (self.sent, self.answered, self.failed.total(), self.in_flight, self.streaming);
        let sound = sent == answered + failed + in_flight + streaming && self.answered_in_window <= answered;
        if sound { Ok(()) } else { Err(Unreconciled { sent, answered, failed, in_flight, streaming }) }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.answered += other.answered;
        self.answered_in_window += other.answered_in_window;
        self.failed += other.failed;
        self.in_flight += other.in_flight;
        self.streaming += other.streaming;
        self.unsent += other.unsent;
        self.connects += other.connects;
        self.connection_failed += other.connection_failed;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
    }
}

/// The first wrong answer of a run or, without one, its first failure, to help repair the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureSample {
    /// The kind of failure.
    pub failure: Failure,
    /// The name of the exchange; empty if no request was in flight.
    pub exchange: String,
    /// The expected answer, in words.
    pub expected: String,
    /// Why it failed, if more is known than its kind: the broken rule, or how much arrived.
    pub reason: Option<String>,
    /// Up to [`SAMPLE_BYTES_MAX`] received bytes: from the body for a mismatch, around the error for a
    /// malformed answer, else from the status line on.
    pub got: Vec<u8>,
    /// The time of the failure, counted from the start of the run.
    pub at_ns: u64,
}

impl FailureSample {
    /// The order in which samples are preferred: a wrong answer before a missing one, then the earlier one.
    #[must_use]
    pub fn order(&self) -> (bool, u64) {
        (!self.failure.is_wrong_answer(), self.at_ns)
    }
}

/// The number of bytes of a failed response in a [`FailureSample`].
pub const SAMPLE_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stable_distinct_and_read_back() {
        for (index, failure) in Failure::ALL.into_iter().enumerate() {
            assert_eq!(failure as usize, index);
            assert_eq!(Failure::from_name(failure.name()), Some(failure));
        }
        assert_eq!(Failure::from_name("timeout"), None);
    }

    #[test]
    fn counters_are_kept_by_name_and_a_foreign_name_is_still_a_failure() {
        let failures = Failures::from_iter([(Failure::Reset, 2), (Failure::Status, 1)]);
        let text = serde_json::to_string(&failures).unwrap();
        assert_eq!(text, r#"{"reset":2,"status":1}"#);
        assert_eq!(serde_json::from_str::<Failures>(&text).unwrap(), failures);
        let newer: Failures = serde_json::from_str(r#"{"reset":1,"too-early":3}"#).unwrap();
        assert_eq!(newer, Failures::from_iter([(Failure::Reset, 1), (Failure::Other, 3)]));
    }

    #[test]
    fn counts_that_do_not_add_up_are_an_error() {
        let mut tally = Tally { sent: 4, answered: 2, in_flight: 1, ..Tally::default() };
        assert!(tally.reconcile().is_err());
        tally.failed.add(Failure::Reset);
        assert_eq!(tally.reconcile(), Ok(()));
        tally.connection_failed.add(Failure::Refused);
        assert_eq!(tally.reconcile(), Ok(()), "a refused connection is no request");
        tally.answered_in_window = 3;
        assert!(tally.reconcile().is_err(), "more in the window than in all");
    }

    #[test]
    fn sums_keep_every_field() {
        let mut one = Tally { sent: 2, answered: 1, connects: 3, bytes_sent: 4, ..Tally::default() };
        one.failed.add(Failure::Status);
        let mut two = one;
        two += one;
        assert_eq!((two.sent, two.answered, two.connects, two.bytes_sent), (4, 2, 6, 8));
        assert_eq!(two.failed.iter().collect::<Vec<_>>(), [(Failure::Status, 2)]);
    }
}
