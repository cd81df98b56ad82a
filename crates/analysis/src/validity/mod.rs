//! Whether figures measure what their column says, decided before any figure is shown, by thresholds that
//! were fixed before any result. Pure functions of counts and times.
//!
//! There are three kinds of decisions. A disturbed *slice* does not count; with few rows, neither does its
//! round. A *row* with impossible counts has no figures. A *cell* that measured something else shows the
//! reason instead of its number.

use serde::Serialize;
use tare_bench::{
    disturbance::{Taker, taker},
    sample::Sample,
};
use tare_host::cpus::Pinning;

/// Largest share of resets, time-outs and other missing answers. One wrong answer is too many.
pub use tare_bench::slo::objective::FAILURE_SHARE_MAX;

/// Allowed deviation of rate x time from the requests in flight (Little's law).
pub(crate) const LITTLE_SHARE_MAX: f64 = 0.01;

/// A block with a larger disturbed share, of rounds or of a row's slices, keeps all slices: that was the
/// normal state of the machine, and blocks are never dropped for their content.
pub const DROPPED_SHARE_MAX: f64 = 0.5;

/// A service that exceeds the CPUs of its `THREADS` by more than this share has more threads at work than
/// given. The clocks of service and slice are read at different times, which explains less than this.
pub(crate) const MORE_THREADS_SHARE: f64 = 0.05;

/// A service has too many threads at work if, on average, this number above `THREADS` is runnable. Collectors
/// and compilers beside the workers add less, because they run part of the time.
pub(crate) const THREADS_AT_WORK_MORE: f64 = 0.5;

/// Less CPU time per request is impossible: receiving and sending are two longer system calls.
pub(crate) const COST_NS_MIN: f64 = 200.0;

/// An open loop measures its generator if the p99 schedule lag exceeds this in half of its slices.
pub(crate) const SCHEDULE_LAG_NS_P99_MAX: u64 = 1_000_000;

/// A link whose thread uses a larger share of a CPU may delay packets.
pub(crate) const LINK_BUSY_SHARE: f64 = 0.9;

/// The thresholds for rows. They are not stored with a run: it is classified by the program that reads it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowLimits {
    pub failure_share_max: f64,
    /// A service that its quota throttled for a larger share of the time was measured under the quota.
    pub throttled_share_max: f64,
    /// If others take more than this share of the measured CPUs over a row that is not server-bound, they reduced
    /// its throughput. Over a row, tick errors average out.
    pub taken_share_max: f64,
    /// A service below this busy share, with a generator above it, measures the generator's speed.
    pub busy_share: f64,
    /// Below this busy share the CPUs were not the limit, and the throughput is below the capacity.
    pub server_bound_share: f64,
}

impl Default for RowLimits {
    fn default() -> RowLimits {
        RowLimits {
            failure_share_max: FAILURE_SHARE_MAX,
            throttled_share_max: 0.01,
            taken_share_max: 0.10,
            busy_share: 0.9,
            server_bound_share: 0.95,
        }
    }
}

/// Why a slice does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// Other programs ran on the measured CPUs.
    Taken,
    /// The hypervisor ran another guest on them.
    Stolen,
    /// The generator's own counts contradict each other.
    Inconsistent,
}

impl Disturbance {
    pub fn text(self) -> &'static str {
        match self {
            Disturbance::Taken => "others ran on the measured CPUs",
            Disturbance::Stolen => "the hypervisor took CPU time",
            Disturbance::Inconsistent => "the generator's counts contradict each other",
        }
    }
}

/// What was left out because of disturbances, by thresholds independent of results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Rounds left out for all rows: with few rows, comparisons are made within a round.
    pub rounds: usize,
    pub of_rounds: usize,
    /// Single slices left out, in blocks with many rows.
    pub slices: usize,
    pub of_slices: usize,
    /// Disturbed slices, alone or in those rounds, in which others took the CPUs.
    pub slices_taken: usize,
    /// Disturbed slices in which a hypervisor took them.
    pub slices_stolen: usize,
    /// Disturbed slices with contradictory counts.
    pub slices_inconsistent: usize,
    /// Blocks that keep all slices, because more than half of their rounds, or of a row's slices, were disturbed.
    pub blocks_disturbed: usize,
}

impl Dropped {
    pub(crate) fn count(&mut self, why: Disturbance) {
        *match why {
            Disturbance::Taken => &mut self.slices_taken,
            Disturbance::Stolen => &mut self.slices_stolen,
            Disturbance::Inconsistent => &mut self.slices_inconsistent,
        } += 1;
    }
}

/// Whether a slice was disturbed, independent of the service's behaviour.
pub(crate) fn disturbance(slice: &Sample, pinning: &Pinning) -> Option<Disturbance> {
    let accounting = slice.host.accounting.unwrap_or_default();
    let foreign_ns = slice.host.foreign_cpu_ns.unwrap_or(0);
    match taker(slice.load.elapsed_ns, foreign_ns, &accounting, pinning) {
        Some(Taker::Others) => Some(Disturbance::Taken),
        Some(Taker::Hypervisor) => Some(Disturbance::Stolen),
        None => little([slice]).map(|_| Disturbance::Inconsistent),
    }
}

/// The total time of requests in flight, from two sources.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct InFlight {
    /// Counted by the generator.
    pub counted_ns: f64,
    /// Computed as rate x time (Little's law).
    pub law_ns: f64,
    pub elapsed_ns: f64,
}

impl InFlight {
    /// Sums over slices with known times of all requests. Absent without such a slice.
    pub fn of<'a>(slices: impl IntoIterator<Item = &'a Sample>) -> Option<InFlight> {
        let mut found = InFlight::default();
        for load in slices.into_iter().map(|slice| &slice.load) {
            let all_answered = load.sent == load.answered;
            let unanswered_ns = load.in_flight_ns_unanswered.or(all_answered.then_some(0));
            let Some(unanswered_ns) = unanswered_ns.filter(|_| load.in_flight_ns > 0) else { continue };
            found.elapsed_ns += load.elapsed_ns as f64;
            found.counted_ns += load.in_flight_ns as f64;
            found.law_ns += load.service_time_ns_mean as f64 * load.answered as f64 + unanswered_ns as f64;
        }
        (found.elapsed_ns > 0.0).then_some(found)
    }

    /// Mean requests in flight, as counted.
    pub fn counted(&self) -> f64 {
        self.counted_ns / self.elapsed_ns
    }

    /// Mean requests in flight, by Little's law.
    pub fn law(&self) -> f64 {
        self.law_ns / self.elapsed_ns
    }
}

/// Mean requests in flight as counted and by Little's law, if they contradict each other.
pub(crate) fn little<'a>(slices: impl IntoIterator<Item = &'a Sample>) -> Option<(f64, f64)> {
    let found = InFlight::of(slices)?;
    let (counted, law) = (found.counted_ns, found.law_ns);
    let is_off = (counted - law).abs() > LITTLE_SHARE_MAX * counted.max(law);
    is_off.then_some((found.counted(), found.law()))
}

/// Where the time of a row's slices went, as shares.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shares {
    /// The service, as a share of its CPUs.
    pub server: f64,
    /// The same including a backing on these CPUs; absent without one.
    pub with_backing: Option<f64>,
    /// The generator, as a share of its CPUs.
    pub generator: f64,
    /// Others, including other guests, as a share of all measured CPUs.
    pub interference: Option<f64>,
    /// Mean number of runnable threads of the service; absent if the kernel does not count them.
    pub at_work: Option<f64>,
    /// Other guests of the hypervisor, as a share of all measured CPUs.
    pub stolen: Option<f64>,
    /// Interrupts and softirq, for all processes, as a share of the service's CPUs.
    pub softirq: Option<f64>,
    /// Time throttled by a quota, as a share of the service's CPUs.
    pub throttled: Option<f64>,
    /// Share of the time in which some process on this machine waited for a CPU. It alone decides nothing,
    /// because a service with more threads than CPUs waits for itself.
    pub pressure: Option<f64>,
}

impl Shares {
    /// Shares over these slices of one row, whose service was given `threads` threads.
    pub(crate) fn of(slices: &[&Sample], pinning: &Pinning, threads: usize) -> Shares {
        let elapsed_ns: f64 = slices.iter().map(|slice| slice.load.elapsed_ns as f64).sum();
        let share = |ns: f64, cpus: usize| ns / elapsed_ns / cpus.max(1) as f64;
        let some = |value: &dyn Fn(&Sample) -> Option<f64>, cpus: usize| {
            Some(share(slices.iter().map(|slice| value(slice)).sum::<Option<f64>>()?, cpus))
        };
        // The link's time belongs to the generator: they share their CPUs.
        let generator_ns = |slice: &Sample| slice.host.generator_busy_ns() + slice.host.link_cpu_ns();
        let own_ns = |slice: &Sample| slice.host.own_cpu_ns() as f64;
        let busy_ns =
            |slice: &Sample| Some(slice.host.accounting?.all(pinning).busy_ns() as f64 - own_ns(slice));
        let (all, threads) = (pinning.all().len(), pinning.server.len().min(threads));
        // Ticks miss short work, and idle CPUs do kernel work: others took the smaller of both counts.
        let by_idle = some(&|slice| Some(slice.host.foreign_cpu_ns? as f64), all);
        let by_ticks = some(&busy_ns, all);
        let with_backing_ns =
            |slice: &Sample| Some((slice.host.server_cpu_ns + slice.host.sharing_cpu_ns()?) as f64);
        let at_work_ns = |slice: &Sample| Some((slice.host.server_cpu_ns + slice.host.waited_ns?) as f64);
        Shares {
            at_work: some(&at_work_ns, 1),
            server: share(slices.iter().map(|slice| slice.host.server_cpu_ns as f64).sum(), threads),
            with_backing: some(&with_backing_ns, pinning.server.len()),
            generator: share(
                slices.iter().map(|slice| generator_ns(slice) as f64).sum(),
                pinning.generator.len(),
            ),
            interference: by_idle.map(|share| share.min(by_ticks.unwrap_or(share)).max(0.0)),
            stolen: some(&|slice| Some(slice.host.accounting?.stolen_ns(pinning) as f64), all),
            softirq: some(
                &|slice| Some(slice.host.accounting?.server.softirq_ns as f64),
                pinning.server.len(),
            ),
            throttled: some(&|slice| Some(slice.host.throttled_ns? as f64), threads),
            pressure: some(&|slice| Some(slice.host.accounting?.pressure_ns? as f64), 1),
        }
    }

    /// Busy share of the service's CPUs. A service is saturated when its threads are.
    pub(crate) fn busy(&self) -> f64 {
        self.with_backing.map_or(self.server, |both| both.max(self.server))
    }
}

#[cfg(test)]
mod tests;
