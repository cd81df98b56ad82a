//! The arrivals of an open loop: when each request is due, whatever the server does.
//!
//! Both processes count expected arrivals of the whole run, and get the instant from the profile by Λ⁻¹. For
//! the Poisson process that is the mapping theorem: unit-rate Poisson points sent through Λ⁻¹ are a Poisson
//! process of rate λ(t). By the superposition theorem the union of n independent processes of rate λ(t)/n is
//! again one of rate λ(t), so workers need not communicate. Both theorems: Kingman, *Poisson Processes*,
//! 1993, chapter 2.
//!
//! Generators that share a load send one process, split by index. Their union is that process to the
//! nanosecond, whatever their number, and so comparable with the load of one generator. Each worker then
//! draws all intervals of the process and keeps every nth. That costs some 10 ns per request for each worker
//! of all generators. Threads of one generator use independent streams instead: a request of one thread of 16
//! would take 15 more draws. Thinning draws at the highest rate and discards (Lewis and Shedler 1979).
//! Inverting Λ discards nothing, and a piecewise linear rate has a closed inverse.

use super::{RateProfile, SplitMix64};
use crate::split::Split;

/// The due instants of all requests of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    /// The expected rate over time, of all workers together.
    pub profile: RateProfile,
    /// How arrivals are distributed around that rate.
    pub process: ArrivalProcess,
}

/// How arrivals are distributed around their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalProcess {
    /// Evenly: arrival `k` is due when `k + 0.5` arrivals are expected, so that no run starts in a burst.
    Constant,
    /// Randomly and independently of each other.
    Poisson,
}

/// One worker's share of the arrivals.
///
/// It holds only a position: no heap, no profile. An earlier clone regenerates the same arrivals, so that a
/// backlog costs no memory.
#[derive(Debug, Clone)]
pub struct ArrivalSource {
    due_ns: u64,
    /// The segment of the profile that `due_ns` lies in.
    segment: usize,
    position: Position,
}

#[derive(Debug, Clone)]
enum Position {
    Constant {
        /// The index of the arrival in the whole run. The instant is computed from it: no drift.
        arrival: u64,
        step: u64,
    },
    Poisson {
        random: SplitMix64,
        /// The sum of the unit exponentials so far, in units of 2^-64. A float sum would lose a bit of every
        /// term each time it doubles. Adding integers is exact, and only the result is rounded.
        sum: u128,
        /// The number of workers that have a stream of their own.
        streams: f64,
        /// The number of intervals between two arrivals of this worker.
        step: usize,
    },
}

impl Position {
    /// Advances to the next arrival of this worker.
    #[inline]
    fn advance(&mut self) {
        match self {
            // Saturating is the same as never: a u64 of arrivals takes 584 years at the highest rate.
            Position::Constant { arrival, step } => *arrival = arrival.saturating_add(*step),
            Position::Poisson { step, .. } => {
                let step = *step;
                self.draw(step);
            }
        }
    }

    /// Skips a number of intervals of the Poisson process.
    #[inline]
    fn draw(&mut self, intervals: usize) {
        const SCALE: f64 = (1_u128 << 64) as f64;
        if let Position::Poisson { random, sum, .. } = self {
            // Each term is rounded alone, so that the sum does not depend on which worker adds it up.
            for _ in 0..intervals {
                *sum += (-random.unit_open().ln() * SCALE) as u128;
            }
        }
    }

    /// The same position in expected arrivals of all workers.
    #[inline]
    fn arrivals(&self) -> f64 {
        match *self {
            Position::Constant { arrival, .. } => arrival as f64 + 0.5,
            Position::Poisson { sum, streams, .. } => {
                const UNIT: f64 = 1.0 / (1_u128 << 64) as f64;
                // The inverse of Λ/n at the sum is the inverse of Λ at n times the sum.
                sum as f64 * UNIT * streams
            }
        }
    }
}

impl ArrivalSource {
    /// The share of one of `workers` workers of a generator, at its first arrival.
    ///
    /// Constant: worker `w` of `n` gets the arrivals `k ≡ w (mod n)`, so that the union is evenly spaced.
    /// Poisson: each worker is a process of its own at its share of the rate, and the first arrival comes
    /// after one interval. If several generators share a load, both processes are split by index over all
    /// workers of all generators.
    ///
    /// # Panics
    ///
    /// If `worker` is not below `workers`, or the index of the generator not below their number.
    pub(crate) fn new(
        arrivals: &Arrivals,
        split: Split,
        (worker, workers): (usize, usize),
        seed: u64,
    ) -> ArrivalSource {
        assert!(worker < workers, "worker {worker} of {workers}: workers are counted from 0");
        assert!(split.index < split.of, "{split:?}: generators are counted from 0");
        let (first, step) = (split.number(worker), split.of * workers);
        let position = match arrivals.process {
            ArrivalProcess::Constant => Position::Constant { arrival: first as u64, step: step as u64 },
            ArrivalProcess::Poisson if split.is_whole() => {
                let random = SplitMix64::stream(seed, worker as u64);
                let mut own = Position::Poisson { random, sum: 0, streams: workers as f64, step: 1 };
                own.draw(1);
                own
            }
            ArrivalProcess::Poisson => {
                let random = SplitMix64::stream(seed, 0);
                let mut joint = Position::Poisson { random, sum: 0, streams: 1.0, step };
                joint.draw(first + 1);
                joint
            }
        };
        let mut source = ArrivalSource { due_ns: 0, segment: 0, position };
        source.locate(&arrivals.profile);
        source
    }

    /// The instant of the next arrival, counted from the start of the run; `u64::MAX` if there is none.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Advances to the next arrival; `arrivals` is the value that the source was made from.
    #[inline]
    pub(crate) fn advance(&mut self, arrivals: &Arrivals) {
        self.position.advance();
        self.locate(&arrivals.profile);
    }

    #[inline]
    fn locate(&mut self, profile: &RateProfile) {
        let due_ns = profile.instant_from(&mut self.segment, self.position.arrivals()).unwrap_or(u64::MAX);
        // On a ramp of hours at 10^9 requests per second, rounding may make a root smaller than the one
        // before; time never decreases.
        self.due_ns = self.due_ns.max(due_ns);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_does_not_fall_back() {
        // Found by search: after a year, neighbouring instants differ in the last bits of a float.
        let over = Duration::from_secs_f64(35_623_073.176_163_75);
        let profile = RateProfile::ramp(24_789_823.429_916_758, 896_695_298.102_791_4, over).expect("ramp");
        let first = 5_195_632_542_620_700;
        let instant_ns = |k: u64| profile.instant_ns(k as f64 + 0.5);
        assert!(
            (first..first + 300).any(|k| instant_ns(k + 1) < instant_ns(k)),
            "the example shows nothing any more"
        );
        let position = Position::Constant { arrival: first, step: 1 };
        let mut source = ArrivalSource { due_ns: 0, segment: 0, position };
        let arrivals = Arrivals { profile, process: ArrivalProcess::Constant };
        let mut last_ns = 0;
        for _ in 0..300 {
            source.advance(&arrivals);
            assert!(source.due_ns() >= last_ns);
            last_ns = source.due_ns();
        }
    }
}
