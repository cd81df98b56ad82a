//! The counts and times of a run or of an interval of it. The module only stores and sums them.

use std::ops::AddAssign;

use crate::events::EventMeasures;
use crate::statuses::Statuses;
use crate::tally::Tally;
use tare_base::latency::{CEILING_NS, Histogram};

/// Counts and times of a run or of a part of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measures {
    /// Every outcome.
    pub tally: Tally,
    /// Complete responses by status, correct or not.
    pub statuses: Statuses,
    /// Latencies of all answered requests, up to the last byte of the response: from the instant the request
    /// was due in an open loop, from its send in a closed loop. Requests answered in the drain are included.
    /// They are the slow ones, and leaving them out would flatter the server.
    pub latency: Histogram,
    /// Latencies in an open loop from the send, without the wait for a free connection. Empty in a closed
    /// loop, where it would be the same.
    pub service_time: Histogram,
    /// How long unanswered requests had waited: those that timed out, and those in flight or unsent at the
    /// end. Their true latencies are longer.
    pub unanswered: Histogram,
    /// The generator's lateness: from the instant a request was due to the instant the generator noticed it.
    /// Empty in a closed loop without think times.
    pub schedule_lag: Histogram,
    /// From the start of each attempt to connect until the connection was established.
    pub connect_time: Histogram,
    /// From the start of the attempt to connect to the close, for connections with a fixed number of requests
    /// that were all answered.
    pub connection_time: Histogram,
    /// How long requests waited because the peer did not allow an HTTP/2 stream at once: it limits concurrent
    /// streams, or it asked for another connection. The wait is part of the latency, not of the service time.
    /// Requests that did not wait are not in it.
    pub stream_wait: Histogram,
    /// The integral of the number of requests in flight over time, in ns.
    pub in_flight_ns: u128,
    /// The total time in flight of the correctly answered requests, added when each of them ended.
    pub in_flight_ns_answered: u128,
    /// The total time in flight of all other requests: timed out, failed, cut off, or in flight at the end.
    pub in_flight_ns_unanswered: u128,
    /// The longest time for which a thread of the generator had requests in flight and none of them ended. It
    /// excludes the time in which a polling thread could not run.
    pub silent_ns_max: u64,
    /// The events of answers that are streams; `None` if no answer is one.
    pub events: Option<Box<EventMeasures>>,
}

/// A quantile of all latencies, unanswered requests included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    /// The value in nanoseconds.
    pub ns: u64,
    /// Whether the value is a lower bound: requests that were given up before it may lie below or above it.
    pub at_least: bool,
}

impl Measures {
    /// The latency that the fraction `q` (0 to 1) of all requests does not exceed. An unanswered request
    /// counts with the time that it had waited, and makes every higher quantile a lower bound: without it, a
    /// server that does not answer would look fast. Requests with a wrong answer have no latency.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Quantile {
        if self.unanswered.count() == 0 {
            let ns = self.latency.quantile_ns(q);
            return Quantile { ns, at_least: ns >= self.bound_ns() };
        }
        let mut all = self.latency.clone();
        all.merge(&self.unanswered);
        let ns = all.quantile_ns(q);
        Quantile { ns, at_least: ns >= self.bound_ns() }
    }

    /// Times from this one on are lower bounds: a request was given up after it, or the histogram cannot
    /// resolve longer ones.
    fn bound_ns(&self) -> u64 {
        match self.unanswered.count() {
            0 => CEILING_NS,
            _ => self.unanswered.min_ns().min(CEILING_NS),
        }
    }

    /// The number of requests in the quantiles of [`Measures::quantile`].
    #[must_use]
    pub fn timed(&self) -> u64 {
        self.latency.count() + self.unanswered.count()
    }

    /// Whether the mean is a lower bound, so that no deviation is known.
    #[must_use]
    pub fn is_bounded_below(&self) -> bool {
        self.latency.max_ns().max(self.unanswered.max_ns()) >= self.bound_ns()
    }

    /// The mean time that an answered request was in flight: from the instant it was passed to its
    /// connection, including a wait for an HTTP/2 stream.
    #[must_use]
    pub fn in_flight_ns_mean(&self) -> f64 {
        match self.tally.answered {
            0 => 0.0,
            answered => self.in_flight_ns_answered as f64 / answered as f64,
        }
    }

    /// The mean of all latencies. It is a lower bound if there are unanswered requests, which count with the
    /// time that they had waited.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        match self.timed() {
            0 => 0.0,
            all => (self.latency.sum_ns() + self.unanswered.sum_ns()) / all as f64,
        }
    }
}

impl AddAssign<&Measures> for Measures {
    fn add_assign(&mut self, other: &Measures) {
        self.tally += other.tally;
        self.statuses += &other.statuses;
        self.latency.merge(&other.latency);
        self.service_time.merge(&other.service_time);
        self.unanswered.merge(&other.unanswered);
        self.schedule_lag.merge(&other.schedule_lag);
        self.connect_time.merge(&other.connect_time);
        self.connection_time.merge(&other.connection_time);
        self.stream_wait.merge(&other.stream_wait);
        self.in_flight_ns += other.in_flight_ns;
        self.in_flight_ns_answered += other.in_flight_ns_answered;
        self.in_flight_ns_unanswered += other.in_flight_ns_unanswered;
        self.silent_ns_max = self.silent_ns_max.max(other.silent_ns_max);
        if let Some(events) = &other.events {
            **self.events.get_or_insert_default() += events;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unanswered_requests_make_lower_bounds() {
        let mut measures = Measures::default();
        for _ in 0..98 {
            measures.latency.record(1_000);
        }
        assert_eq!(measures.quantile(0.99), Quantile { ns: 1_000, at_least: false });
        measures.unanswered.record(5_000);
        measures.unanswered.record(5_000);
        assert_eq!(measures.quantile(0.9), Quantile { ns: 1_000, at_least: false });
        assert!((measures.mean_ns() / 1_080.0 - 1.0).abs() < 1e-2, "{}", measures.mean_ns());
        let p99 = measures.quantile(0.99);
        assert!(p99.at_least && p99.ns >= 4_990, "{p99:?}");
        assert!(measures.is_bounded_below());
    }

    #[test]
    fn what_a_histogram_cannot_tell_apart_is_a_lower_bound_too() {
        let mut measures = Measures::default();
        [1_000, 1_000, 100_000_000_000].into_iter().for_each(|ns| measures.latency.record(ns));
        assert_eq!(measures.quantile(0.5), Quantile { ns: 1_000, at_least: false });
        assert!(measures.quantile(1.0).at_least && measures.is_bounded_below());
        let mut below = Measures::default();
        below.latency.record(60_000_000_000);
        assert!(!below.quantile(1.0).at_least && !below.is_bounded_below());
    }
}
