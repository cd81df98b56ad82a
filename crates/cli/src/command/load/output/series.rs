//! The load over time: a line of JSON for each interval, for programs that draw it.

use serde_json::{Value, json};
use tare_load::Interval;

use super::times::latency;

/// Makes lines of intervals; it keeps what a single one does not know.
#[derive(Debug, Default)]
pub(super) struct Series {
    intervals: u64,
    sent: u64,
    ended: u64,
}

impl Series {
    /// The next interval. Times are counted from the start of the load, and `in_flight` is at its end.
    pub(super) fn line(&mut self, interval: &Interval) -> Value {
        let measures = &interval.measures;
        let (tally, lag) = (&measures.tally, &measures.schedule_lag);
        self.sent += tally.sent;
        self.ended += tally.answered + tally.failed.total();
        self.intervals += 1;
        json!({
            "interval": self.intervals - 1,
            "from_ns": interval.from_ns,
            "to_ns": interval.to_ns,
            "sent": tally.sent,
            "answered": tally.answered,
            "answers_per_s": interval.answers_per_s(),
            "failed": tally.failed,
            "in_flight": self.sent.saturating_sub(self.ended),
            "unsent": tally.unsent,
            "connects": tally.connects,
            "connection_failed": tally.connection_failed,
            "bytes_sent": tally.bytes_sent,
            "bytes_received": tally.bytes_received,
            "latency": latency(measures, false),
            "schedule_lag_ns_p99": (lag.count() > 0).then(|| lag.quantile_ns(0.99)),
        })
    }
}
