//! An agent's clock offset from the controller's, with its uncertainty. Values only: no clock, no socket.
//!
//! A round trip bounds the offset, whatever the delay in each direction: the agent reads its clock after the
//! question was sent and before the answer arrives. The fastest round trip gives the tightest bounds
//! (Cristian, *Probabilistic clock synchronization*, 1989). Away from its instant the bounds widen by the
//! possible drift of the two clocks. The result is the intersection of the bounds of all round trips
//! (Marzullo 1984).

/// The largest difference between the rates of two clocks, in parts per million: each may be slewed by 500,
/// the maximum of the kernel's discipline (`adjtimex(2)`).
pub const DRIFT_PPM_MAX: u64 = 1_000;
const MILLION: i128 = 1_000_000;
/// The rounding error of instants, which are whole nanoseconds on both sides.
const ROUNDING_NS: i128 = 2;

/// A question and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundTrip {
    /// The send time, by the controller's clock.
    pub sent_ns: u64,
    /// The time in between, by the agent's clock.
    pub clock_ns: u64,
    /// The receive time, by the controller's clock.
    pub received_ns: u64,
}

/// The agent's clock minus the controller's, at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    pub ns: i128,
    /// The largest distance from the true offset.
    pub error_ns: u64,
}

/// Round trips that no two clocks can have within [`DRIFT_PPM_MAX`] of each other: one was stopped or set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "its clock and the controller's drift apart by more than {DRIFT_PPM_MAX} ppm, or one of them was stopped"
)]
pub struct Inconsistent;

/// The measurements of an agent's clock.
#[derive(Debug, Clone, Default)]
pub struct AgentClock {
    trips: Vec<RoundTrip>,
}

impl AgentClock {
    /// Adds a round trip; one that ends before it begins is ignored.
    pub fn add(&mut self, trip: RoundTrip) {
        if trip.received_ns >= trip.sent_ns {
            self.trips.push(trip);
        }
    }

    #[must_use]
    pub fn trips(&self) -> usize {
        self.trips.len()
    }

    /// The duration of the fastest round trip.
    #[must_use]
    pub fn round_trip_ns_min(&self) -> Option<u64> {
        self.trips.iter().map(|trip| trip.received_ns - trip.sent_ns).min()
    }

    /// The offset at an instant of the controller's clock, which may be in the future.
    ///
    /// # Errors
    /// There is no round trip, or they contradict each other.
    pub fn offset_at(&self, at_ns: u64) -> Result<Offset, Inconsistent> {
        let bounds = self.trips.iter().map(|trip| trip.bounds_at(at_ns));
        let (low, high) =
            bounds.reduce(|one, other| (one.0.max(other.0), one.1.min(other.1))).ok_or(Inconsistent)?;
        if low > high {
            return Err(Inconsistent);
        }
        let error_ns = u64::try_from((high - low + 1) / 2 + ROUNDING_NS).unwrap_or(u64::MAX);
        Ok(Offset { ns: low + (high - low) / 2, error_ns })
    }
}

impl RoundTrip {
    /// The smallest and the largest possible offset at an instant.
    fn bounds_at(self, at_ns: u64) -> (i128, i128) {
        let [sent, clock, received, at] =
            [self.sent_ns, self.clock_ns, self.received_ns, at_ns].map(i128::from);
        let apart = (at - sent).abs().max((at - received).abs());
        let drift = drift_ns_max(apart);
        (clock - received - drift, clock - sent + drift)
    }
}

/// By how much two clocks may drift apart in this time.
pub(crate) fn drift_ns_max(in_ns: i128) -> i128 {
    (in_ns.abs() * i128::from(DRIFT_PPM_MAX) + MILLION - 1) / MILLION
}

impl Offset {
    /// The agent's time at an instant of the controller; `None` if no clock can show it.
    #[must_use]
    pub fn agent_ns(&self, controller_ns: u64) -> Option<u64> {
        u64::try_from(i128::from(controller_ns) + self.ns).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(trips: &[(u64, u64, u64)]) -> AgentClock {
        let mut clock = AgentClock::default();
        for &(sent_ns, clock_ns, received_ns) in trips {
            clock.add(RoundTrip { sent_ns, clock_ns, received_ns });
        }
        clock
    }

    #[test]
    fn the_fastest_round_trip_decides() {
        let slow = (1_000, 501_500, 3_000);
        let fast = (4_000, 504_050, 4_100);
        let offset = clock(&[slow, fast]).offset_at(4_050).unwrap();
        assert_eq!(offset, Offset { ns: 500_000, error_ns: 50 + 1 + 2 });
        assert_eq!(clock(&[slow, fast]).round_trip_ns_min(), Some(100));
        assert_eq!(offset.agent_ns(10), Some(500_010));
        assert_eq!(Offset { ns: -11, error_ns: 0 }.agent_ns(10), None);
    }

    #[test]
    fn the_bounds_widen_away_from_the_round_trips() {
        let one = clock(&[(0, 50, 100)]);
        let at = |at_ns| one.offset_at(at_ns).unwrap().error_ns;
        assert_eq!(at(50), 50 + 1 + 2);
        // One millisecond of drift in a second.
        assert!((1_000_000..1_000_100).contains(&at(1_000_000_000)), "{}", at(1_000_000_000));
        let both = clock(&[(0, 50, 100), (1_000_000_000, 1_000_000_050, 1_000_000_100)]);
        assert!(both.offset_at(1_000_000_050).unwrap().error_ns < 60, "the later one narrows it again");
    }

    #[test]
    fn a_clock_that_was_stopped_is_noticed() {
        // Ten milliseconds are missing in a second: 10,000 ppm.
        let stopped = clock(&[(0, 50, 100), (1_000_000_000, 990_000_050, 1_000_000_100)]);
        assert_eq!(stopped.offset_at(500_000_000), Err(Inconsistent));
        assert_eq!(AgentClock::default().offset_at(0), Err(Inconsistent));
        let mut none = AgentClock::default();
        none.add(RoundTrip { sent_ns: 5, clock_ns: 0, received_ns: 4 });
        assert_eq!((none.trips(), none.round_trip_ns_min()), (0, None));
    }

    #[test]
    fn no_reading_is_too_large() {
        let hostile = clock(&[(0, u64::MAX, u64::MAX), (u64::MAX, 0, u64::MAX)]);
        let _ = hostile.offset_at(u64::MAX);
        let _ = hostile.offset_at(0);
    }
}
