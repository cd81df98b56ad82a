//! The source of time. Logic takes instants as arguments; only loops that call the kernel hold a clock.
//!
//! It knows no calendar: an instant is a number of nanoseconds since an arbitrary origin and only differences mean
//! anything.

use rustix::time::{ClockId, clock_gettime};

/// A source of instants that never goes backwards.
pub trait Clock {
    /// Nanoseconds since the clock's own origin.
    fn now_ns(&self) -> u64;
}

/// `CLOCK_MONOTONIC`: unlike the wall clock it is never set back or forward. It may be read between fork and exec.
#[derive(Debug, Clone, Copy, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&self) -> u64 {
        clock_ns(ClockId::Monotonic)
    }
}

/// Nanoseconds since 1970 by the wall clock, which may be set back or forward.
pub fn unix_now_ns() -> u64 {
    clock_ns(ClockId::Realtime)
}

/// CPU time that the calling thread has used, in user and kernel mode together.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

#[inline]
fn clock_ns(id: ClockId) -> u64 {
    let time = clock_gettime(id);
    // No clock starts below zero, and 2^64 ns are 584 years.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_do_not_go_backwards() {
        let (wall, cpu) = (Monotonic.now_ns(), thread_cpu_ns());
        assert!(Monotonic.now_ns() >= wall);
        assert!(thread_cpu_ns() >= cpu);
    }
}
