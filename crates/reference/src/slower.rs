//! A calibrated slowdown: additional CPU time for each request, as a share of what a request costs this
//! server under this load. Cost and added work are measured by the thread's CPU clock, which stops while the
//! thread waits or is preempted. So a busy machine does not change the result.
//!
//! A loop may take longer between requests than alone, so each one is timed where it runs. The added time is
//! that measured sum, not the requested one.

use std::{
    hint::black_box,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use rustix::time::{ClockId, clock_gettime};

use super::{added::Added, ballast::clock_ns};

/// Initial requests that are not measured: caches are cold, and connections still open.
const SKIPPED: u64 = 2_000;
/// Requests for one measurement of the cost.
const SPAN: u64 = 1_000;
/// Number of measurements; the cost is their median.
const SPANS: usize = 9;
/// Steps of the busy loop, timed after each span. Its cost is a median of the same period, not the minimum: a
/// busy neighbour on the core slows requests and loop alike.
const STEPS: u64 = 20_000;
/// A loop was interrupted if it takes this many times its expected time and more than [`INTERRUPT_NS`].
const INTERRUPTED: u64 = 4;
const INTERRUPT_NS: u64 = 2_000;

/// The sum over all threads; each adds its part at its end.
pub(super) type AllAdded = Arc<Mutex<Added>>;

/// Measures the cost of a request first, then adds a share of it to each.
#[derive(Debug)]
pub(super) struct Slowness {
    share: f64,
    /// Ballast of each request, which is no part of its cost.
    ballast_ns: u64,
    requests: u64,
    span_began_ns: u64,
    costs_ns: Vec<u64>,
    loops_ns: Vec<u64>,
    weight: Weight,
    added: Added,
    all: AllAdded,
}

/// The busy loop added to a request.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    steps: u64,
    ns: u64,
    /// Time of one clock read; timing a weight takes two.
    clock_ns: u64,
}

/// Adds this thread's sum to the server's.
impl Drop for Slowness {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = [*all, self.added].into_iter().sum();
    }
}

impl Slowness {
    /// `share` 0.03 makes each request cost 3% more.
    pub(super) fn new(share: f64, ballast_ns: u64, all: AllAdded) -> Slowness {
        Slowness {
            share,
            ballast_ns,
            requests: 0,
            span_began_ns: 0,
            costs_ns: Vec::with_capacity(SPANS),
            loops_ns: Vec::with_capacity(SPANS),
            weight: Weight::default(),
            added: Added::default(),
            all,
        }
    }

    pub(super) fn one_more(&mut self) {
        if self.costs_ns.len() < SPANS {
            self.calibrate();
        } else {
            let took_ns = self.weight.spend();
            if took_ns <= (INTERRUPTED * self.weight.ns).max(INTERRUPT_NS) {
                self.added = Added { requests: self.added.requests + 1, ns: self.added.ns + took_ns };
            }
        }
    }

    fn calibrate(&mut self) {
        self.requests += 1;
        let Some(measured) = self.requests.checked_sub(SKIPPED) else { return };
        if !measured.is_multiple_of(SPAN) {
            return;
        }
        let now_ns = thread_cpu_ns();
        if measured > 0 {
            self.costs_ns.push(now_ns - self.span_began_ns);
            burn(STEPS);
            self.loops_ns.push(thread_cpu_ns() - now_ns);
        }
        if self.costs_ns.len() == SPANS {
            let cost_ns = (median(&mut self.costs_ns) / SPAN as f64 - self.ballast_ns as f64).max(0.0);
            let step_ns = median(&mut self.loops_ns).max(1.0) / STEPS as f64;
            let (added_ns, clock_ns) = (self.share * cost_ns, clock_ns());
            let steps = ((added_ns - 2.0 * clock_ns).max(0.0) / step_ns).round() as u64;
            self.weight = Weight { steps, ns: added_ns as u64, clock_ns: clock_ns.round() as u64 };
            tare_host::message!("a request costs {cost_ns:.0} ns; from now on {added_ns:.0} ns more");
        }
        self.span_began_ns = thread_cpu_ns();
    }
}

impl Weight {
    /// Runs the loop and returns its duration.
    fn spend(self) -> u64 {
        let began = Instant::now();
        burn(self.steps);
        // The two reads include about one read in total; their other halves lie outside.
        began.elapsed().as_nanos() as u64 + self.clock_ns
    }
}

fn median(values: &mut [u64]) -> f64 {
    values.sort_unstable();
    values[values.len() / 2] as f64
}

/// Each step depends on the one before, so its cost does not depend on the loop's alignment.
fn burn(steps: u64) {
    let mut value = 1u64;
    for step in 0..steps {
        value = black_box(value.wrapping_mul(step | 1));
    }
}

pub(super) fn thread_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slows `requests` requests after calibration; returns the added time and the thread's CPU time.
    fn slowed(share: f64, requests: u64) -> (Added, u64) {
        let all = AllAdded::default();
        let mut slowness = Slowness::new(share, 0, Arc::clone(&all));
        (0..SKIPPED + SPAN * SPANS as u64).for_each(|_| {
            burn(1_000);
            slowness.one_more();
        });
        let began_ns = thread_cpu_ns();
        (0..requests).for_each(|_| slowness.one_more());
        let took_ns = thread_cpu_ns() - began_ns;
        drop(slowness);
        (*all.lock().unwrap(), took_ns)
    }

    #[test]
    fn nothing_is_added_before_the_cost_is_known() {
        let all = AllAdded::default();
        let mut slowness = Slowness::new(1e-9, 0, Arc::clone(&all));
        let needed = SKIPPED + SPAN * SPANS as u64;
        (1..needed).for_each(|_| slowness.one_more());
        assert_eq!(slowness.costs_ns.len(), SPANS - 1);
        slowness.one_more();
        assert_eq!((slowness.costs_ns.len(), slowness.weight.steps), (SPANS, 0));
        drop(slowness);
        assert_eq!(*all.lock().unwrap(), Added::default());
    }

    #[test]
    fn what_was_added_is_what_the_clock_of_the_thread_shows() {
        for share in [0.1, 1.0] {
            let (added, took_ns) = slowed(share, 20_000);
            // On a busy machine some are interrupted and not counted.
            assert!(added.requests > 10_000 && added.requests <= 20_000, "{added:?}");
            let (counted, took) = (added.ns_per_request().unwrap(), took_ns as f64 / 20_000.0);
            assert!((0.8..1.25).contains(&(counted / took)), "{counted} ns, and by the thread {took} ns");
        }
    }

    #[test]
    fn what_threads_added_is_added_up() {
        let all = AllAdded::default();
        for ns in [3, 4] {
            let mut slowness = Slowness::new(0.1, 0, Arc::clone(&all));
            slowness.added = Added { requests: 2, ns };
        }
        assert_eq!(*all.lock().unwrap(), Added { requests: 4, ns: 7 });
    }

    #[test]
    fn the_clock_of_the_thread_runs_while_it_works() {
        let began_ns = thread_cpu_ns();
        burn(STEPS);
        assert!(thread_cpu_ns() > began_ns);
    }
}
