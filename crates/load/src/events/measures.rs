//! The counts and times of events. The module only stores and sums them.

use std::ops::AddAssign;

use tare_base::latency::Histogram;

/// Counts and times of the events of a run or of a part of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventMeasures {
    /// Correct events.
    pub events: u64,
    /// Streams that brought at least one event.
    pub streams: u64,
    /// From the instant a request was due until the first event of its stream arrived.
    pub first: Histogram,
    /// From one event of a stream to the next. Events that arrive together have a gap of 0.
    pub gap: Histogram,
    /// From the instant an event was due until it arrived; empty if that instant is not known. An event that
    /// arrives early counts as 0.
    pub delay: Histogram,
    /// The longest time for which a stream that was open at the end had brought no event.
    pub silence_ns_max: u64,
}

impl AddAssign<&EventMeasures> for EventMeasures {
    fn add_assign(&mut self, other: &EventMeasures) {
        self.events += other.events;
        self.streams += other.streams;
        self.first.merge(&other.first);
        self.gap.merge(&other.gap);
        self.delay.merge(&other.delay);
        self.silence_ns_max = self.silence_ns_max.max(other.silence_ns_max);
    }
}
