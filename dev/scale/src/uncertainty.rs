//! Load from several generators: the part of a window that remains after it is cut to the time that all of
//! them shared. Clocks are aligned by the fastest of several round trips, with an uncertainty of half its
//! length, and generators do not begin at the same instant.

use serde::Deserialize;

use crate::random::{Draws, Purpose};

/// The synchronisation of a load group.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClockSetting {
    /// The numbers of generators (rows) and the lengths of a window (columns).
    pub generators: Vec<usize>,
    pub windows_ms: Vec<f64>,
    /// Round trips between the controller and a generator: their number, the shortest time, and the mean
    /// delay by queues.
    pub exchanges: usize,
    pub round_trip_us: f64,
    pub queueing_us: f64,
    /// The drift of a clock, and the time since its alignment.
    pub drift_ppm: f64,
    pub aligned_seconds_ago: f64,
    /// The time from the barrier to a generator's first request: minimum and mean scheduling delay.
    pub start_us: f64,
    pub start_more_us: f64,
    /// The controller's time to release each generator.
    pub release_us: f64,
}

/// The alignment of a group's window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alignment {
    /// The uncertainty of the least certain clock.
    pub uncertainty_us: f64,
    /// The time between the first and the last start.
    pub skew_us: f64,
}

impl Alignment {
    pub fn draw(setting: &ClockSetting, generators: usize, seed: u64) -> Alignment {
        let (mut worst, mut first, mut last) = (0.0_f64, f64::INFINITY, 0.0_f64);
        for place in 0..generators {
            let mut draws = Draws::new(seed, Purpose::Clock, place);
            let trip = |draws: &mut Draws| setting.round_trip_us + draws.exponential(setting.queueing_us);
            let fastest = (0..setting.exchanges).map(|_| trip(&mut draws)).fold(f64::INFINITY, f64::min);
            // One ppm for a second is a microsecond.
            let drift = setting.drift_ppm * setting.aligned_seconds_ago;
            worst = worst.max(fastest / 2.0 + drift);
            let released = setting.release_us * place as f64;
            let begins = released + setting.start_us + draws.exponential(setting.start_more_us);
            (first, last) = (first.min(begins), last.max(begins));
        }
        Alignment { uncertainty_us: worst, skew_us: last - first }
    }

    /// The lost share of a window: the part that not all of them loaded, and the uncertainty at both ends.
    pub fn lost_share(&self, window_ms: f64) -> f64 {
        ((self.skew_us + 2.0 * self.uncertainty_us) / (window_ms * 1000.0)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting() -> ClockSetting {
        ClockSetting {
            generators: vec![1, 8],
            windows_ms: vec![100.0],
            exchanges: 16,
            round_trip_us: 100.0,
            queueing_us: 200.0,
            drift_ppm: 20.0,
            aligned_seconds_ago: 2.0,
            start_us: 1000.0,
            start_more_us: 500.0,
            release_us: 10.0,
        }
    }

    #[test]
    fn one_generator_has_no_skew_and_is_known_to_half_a_round_trip() {
        let one = Alignment::draw(&setting(), 1, 3);
        assert_eq!(one.skew_us, 0.0);
        assert!(one.uncertainty_us >= 50.0 + 40.0 && one.uncertainty_us < 150.0, "{one:?}");
    }

    #[test]
    fn more_exchanges_know_more_and_more_generators_less() {
        let with = |exchanges| Alignment::draw(&ClockSetting { exchanges, ..setting() }, 64, 3);
        assert!(with(64).uncertainty_us < with(2).uncertainty_us);
        let of = |generators| Alignment::draw(&setting(), generators, 3).lost_share(100.0);
        assert!(of(1) < of(8) && of(8) < of(64) && of(64) < of(1000));
        assert_eq!(Alignment { uncertainty_us: 1e9, skew_us: 0.0 }.lost_share(100.0), 1.0);
    }
}
