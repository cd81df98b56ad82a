//! A calibrated slowness: so much more CPU time for each request, as a share of what a request costs this very server
//! under this very load. Both the cost and the work that is added are measured on the CPU clock of the thread, which
//! stands still while the thread waits or is preempted: a busy machine does not change what is added.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

/// Requests that are not measured: the first ones find cold caches and connections that are still being opened.
const SKIPPED: u64 = 2_000;
/// Requests of one measurement of the cost.
const SPAN: u64 = 1_000;
/// The cost is the median of this number of measurements.
const SPANS: usize = 9;
/// Steps of the busy loop that are measured after each span. Its cost is the median as well and from the same time, not
/// the least that it can be: a busy neighbour on the same core makes requests and loop dearer alike.
const STEPS: u64 = 20_000;

/// Costs nothing until it knows what a request costs, then a share of that for each.
#[derive(Debug)]
pub(super) struct Slowness {
    share: f64,
    requests: u64,
    span_began_ns: u64,
    costs_ns: Vec<u64>,
    loops_ns: Vec<u64>,
    steps: u64,
}

impl Slowness {
    /// `share` 0.03 makes each request cost 3% more.
    pub(super) fn new(share: f64) -> Slowness {
        let none = || Vec::with_capacity(SPANS);
        Slowness { share, requests: 0, span_began_ns: 0, costs_ns: none(), loops_ns: none(), steps: 0 }
    }

    pub(super) fn one_more(&mut self) {
        if self.costs_ns.len() < SPANS {
            self.calibrate();
        } else {
            burn(self.steps);
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
            let cost_ns = median(&mut self.costs_ns) / SPAN as f64;
            let step_ns = median(&mut self.loops_ns).max(1.0) / STEPS as f64;
            let added_ns = self.share * cost_ns;
            self.steps = (added_ns / step_ns).round() as u64;
            tare_host::tell!("a request costs {cost_ns:.0} ns; from now on {added_ns:.0} ns more");
        }
        self.span_began_ns = thread_cpu_ns();
    }
}

fn median(values: &mut [u64]) -> f64 {
    values.sort_unstable();
    values[values.len() / 2] as f64
}

/// Each step waits for the one before, so that a step costs the same wherever the loop lies in memory.
fn burn(steps: u64) {
    let mut value = 1u64;
    for step in 0..steps {
        value = black_box(value.wrapping_mul(step | 1));
    }
}

fn thread_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_added_before_the_cost_is_known() {
        let mut slowness = Slowness::new(1e-9);
        let needed = SKIPPED + SPAN * SPANS as u64;
        (1..needed).for_each(|_| slowness.one_more());
        assert_eq!(slowness.costs_ns.len(), SPANS - 1);
        slowness.one_more();
        assert_eq!((slowness.costs_ns.len(), slowness.steps), (SPANS, 0));
    }

    #[test]
    fn the_clock_of_the_thread_runs_while_it_works() {
        let began_ns = thread_cpu_ns();
        burn(STEPS);
        assert!(thread_cpu_ns() > began_ns);
    }
}
