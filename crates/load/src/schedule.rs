//! When a connection's next request is due: a pure function of now and of a random draw.
//!
//! It knows neither clocks nor connections nor when the run ends, so that it is tested by table without sleeping.

/// How requests arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Every connection sends its next request once the previous one is answered and it has thought.
    Closed {
        /// The time between an answer and the next request.
        think: Think,
    },
}

/// Think time of one simulated user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Send at once.
    None,
    /// Always the same number of nanoseconds.
    Fixed(u64),
    /// Uniform over the closed range.
    Uniform {
        /// The shortest time.
        min_ns: u64,
        /// The longest time.
        max_ns: u64,
    },
}

impl Schedule {
    /// A closed loop without think time: as fast as the server answers.
    pub const SATURATE: Schedule = Schedule::Closed { think: Think::None };

    /// The instant of the next request of a connection that became free at `now`; `draw` is uniform over all of u64.
    #[must_use]
    #[inline]
    pub fn next_due_ns(&self, now_ns: u64, draw: u64) -> u64 {
        let Schedule::Closed { think } = *self;
        match think {
            Think::None => now_ns,
            Think::Fixed(ns) => now_ns.saturating_add(ns),
            Think::Uniform { min_ns, max_ns } => {
                let (low, high) = (min_ns.min(max_ns), min_ns.max(max_ns));
                // Multiply and shift instead of modulo: no bias worth speaking of, and no division.
                let offset = (u128::from(draw) * (u128::from(high - low) + 1)) >> 64;
                now_ns.saturating_add(low).saturating_add(offset as u64)
            }
        }
    }

    /// Whether a draw is used at all, so that the saturating loop does not pay for one.
    #[must_use]
    #[inline]
    pub fn is_immediate(&self) -> bool {
        matches!(self, Schedule::Closed { think: Think::None })
    }
}

/// splitmix64: eight bytes of state, good enough to spread think times, and the same on every machine.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that repeats exactly for the same seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next draw, uniform over all of u64.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_instants_by_table() {
        let uniform = Think::Uniform { min_ns: 10, max_ns: 19 };
        let half = 1 << 63;
        let table = [
            (Think::None, 100, u64::MAX, 100),
            (Think::Fixed(7), 100, 0, 107),
            (Think::Fixed(7), u64::MAX - 1, 0, u64::MAX),
            (uniform, 100, 0, 110),
            (uniform, 100, half, 115),
            (uniform, 100, u64::MAX, 119),
            (Think::Uniform { min_ns: 19, max_ns: 10 }, 100, u64::MAX, 119),
            (Think::Uniform { min_ns: 5, max_ns: 5 }, 100, u64::MAX, 105),
            (Think::Uniform { min_ns: 0, max_ns: u64::MAX }, 0, half, half),
        ];
        for (think, now_ns, draw, due_ns) in table {
            let schedule = Schedule::Closed { think };
            assert_eq!(schedule.next_due_ns(now_ns, draw), due_ns, "{think:?} at {now_ns} with {draw}");
        }
        assert!(Schedule::SATURATE.is_immediate());
    }

    #[test]
    fn uniform_think_time_has_the_mean_and_the_edges() {
        let schedule = Schedule::Closed { think: Think::Uniform { min_ns: 0, max_ns: 9 } };
        let mut random = SplitMix64::new(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[schedule.next_due_ns(0, random.draw()) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }

    #[test]
    fn splitmix_matches_its_reference() {
        let mut random = SplitMix64::new(1234567);
        assert_eq!(random.draw(), 6_457_827_717_110_365_317);
        assert_eq!(random.draw(), 3_203_168_211_198_807_973);
    }
}
