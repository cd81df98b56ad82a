//! The load over time: a line of JSON for each interval, for programs that draw it.

use std::collections::BTreeMap;

use serde::Serialize;
use tare_load::{Failures, Interval};

use super::times::Times;

/// What happened in an interval. Times are counted from the start of the load.
#[derive(Debug, Serialize)]
pub struct Line {
    interval: u64,
    from_ns: u64,
    to_ns: u64,
    sent: u64,
    answered: u64,
    answers_per_s: f64,
    failed: BTreeMap<&'static str, u64>,
    /// At its end.
    in_flight: u64,
    unsent: u64,
    connects: u64,
    connection_failed: BTreeMap<&'static str, u64>,
    bytes_sent: u64,
    bytes_received: u64,
    latency: Option<Times>,
    schedule_lag_ns_p99: Option<u64>,
}

/// Makes lines of intervals; it keeps what a single one does not know.
#[derive(Debug, Default)]
pub struct Series {
    intervals: u64,
    sent: u64,
    ended: u64,
}

impl Series {
    /// The line of the next interval.
    pub fn line(&mut self, interval: &Interval) -> Line {
        let measures = &interval.measures;
        let tally = &measures.tally;
        self.sent += tally.sent;
        self.ended += tally.answered + tally.failed.total();
        self.intervals += 1;
        let lag = &measures.schedule_lag;
        Line {
            interval: self.intervals - 1,
            from_ns: interval.from_ns,
            to_ns: interval.to_ns,
            sent: tally.sent,
            answered: tally.answered,
            answers_per_s: interval.answers_per_s(),
            failed: by_class(&tally.failed),
            in_flight: self.sent.saturating_sub(self.ended),
            unsent: tally.unsent,
            connects: tally.connects,
            connection_failed: by_class(&tally.connection_failed),
            bytes_sent: tally.bytes_sent,
            bytes_received: tally.bytes_received,
            latency: Times::of_latency(measures),
            schedule_lag_ns_p99: (lag.count() > 0).then(|| lag.quantile_ns(0.99)),
        }
    }
}

/// Counts by the stable names of their classes; absent if nothing failed.
pub fn by_class(failures: &Failures) -> BTreeMap<&'static str, u64> {
    failures.iter().map(|(failure, count)| (failure.name(), count)).collect()
}
