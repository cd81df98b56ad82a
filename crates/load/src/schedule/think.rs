//! The pause of one simulated user between an answer and the next request.

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

impl Think {
    /// The instant of the next request of a connection that became free at `now`; `draw` is uniform over all of u64.
    #[inline]
    pub(crate) fn after_ns(&self, now_ns: u64, draw: u64) -> u64 {
        match *self {
            Think::None => now_ns,
            Think::Fixed(ns) => now_ns.saturating_add(ns),
            Think::Uniform { min_ns, max_ns } => {
                let (low, high) = (min_ns.min(max_ns), min_ns.max(max_ns));
                // Multiply and shift instead of modulo: the bias is negligible, and there is no division.
                let offset = (u128::from(draw) * (u128::from(high - low) + 1)) >> 64;
                now_ns.saturating_add(low).saturating_add(offset as u64)
            }
        }
    }

    /// Whether no draw is needed, so that the saturating loop makes none.
    #[inline]
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Think::None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Schedule, SplitMix64};
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
            assert_eq!(think.after_ns(now_ns, draw), due_ns, "{think:?} at {now_ns} with {draw}");
            assert_eq!(Schedule::Closed { think }.is_immediate(), think == Think::None);
        }
        assert!(Schedule::SATURATE.is_immediate());
    }

    #[test]
    fn uniform_think_time_has_the_mean_and_the_edges() {
        let think = Think::Uniform { min_ns: 0, max_ns: 9 };
        let mut random = SplitMix64::new(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[think.after_ns(0, random.draw()) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }
}
