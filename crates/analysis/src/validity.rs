//! Whether figures measure what their column is named after: decided before any figure is shown, by thresholds that were
//! fixed before there was a result. Pure: it reads counts and times, and knows no ratio.
//!
//! Three kinds of answer. A *slice* in which the machine did something else counts for nothing, and of a few rows its round with it. A
//! *row* whose counts cannot be true has no figures. A *cell* that measured something else has the reason in place of its
//! number.

use serde::Serialize;
use tare_bench::{
    disturbance::{Taker, taker},
    sample::Sample,
};
use tare_host::cpus::Pinning;

/// More resets, time-outs and other missing answers than this share make a row invalid. Of wrong answers one is enough.
pub use tare_bench::slo::objective::FAILURE_SHARE_MAX;

/// Rate x time may lie this far from the number in flight (Little's law); beyond, the generator's counts contradict each
/// other.
pub(crate) const LITTLE_SHARE_MAX: f64 = 0.01;

/// A block of which more than this share of the rounds, or of the slices of a row, were disturbed keeps all of them: that is how the
/// machine was, and a block is never dropped for what happened in it.
pub const DROPPED_SHARE_MAX: f64 = 0.5;

/// A row of which the service's CPUs were busy for less than this share, while the generator's were busy for more, says
/// how fast the generator is, and not how fast the service is.
pub(crate) const BUSY_SHARE: f64 = 0.9;

/// Below this the service's CPUs were not what limited it: its throughput is less than its capacity.
pub(crate) const SERVER_BOUND_SHARE: f64 = 0.95;

/// Others that take more than this of the measured CPUs over all slices of a row that is not server-bound took its
/// throughput. Over a row the ticks average out.
pub(crate) const ROW_TAKEN_SHARE_MAX: f64 = 0.10;

/// A service that its group's quota held back for more than this share of the time was measured under that quota.
pub(crate) const THROTTLED_SHARE_MAX: f64 = 0.01;

/// A service that is busy for so much more than the CPUs of its `THREADS` has more threads at work than it was given. Its clock
/// and that of the slice are read one after the other, which is worth less than this.
pub(crate) const MORE_THREADS_SHARE: f64 = 0.05;

/// A service has more threads at work than it was given if on average this number above `THREADS` is ready to run or running. A
/// collector or a compiler beside the workers is less: it works for a part of the time.
pub(crate) const THREADS_AT_WORK_MORE: f64 = 0.5;

/// Less CPU time than this for a request is not that of a service: to receive and to send are two system calls, of which each
/// takes longer over a socket.
pub(crate) const COST_NS_MIN: f64 = 200.0;

/// An open loop whose generator was later than this in 1% of the requests of half of its slices measures its own latency.
pub(crate) const SCHEDULE_LAG_NS_P99_MAX: u64 = 1_000_000;

/// A link whose thread takes more than this share of a CPU may hold packets up that it should not.
pub(crate) const LINK_BUSY_SHARE: f64 = 0.9;

/// The thresholds by which a row is classified. They are no part of a stored run: a run that is read again is classified by
/// those of the program that reads it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowLimits {
    pub failure_share_max: f64,
    pub throttled_share_max: f64,
    pub taken_share_max: f64,
    pub busy_share: f64,
    pub server_bound_share: f64,
}

impl Default for RowLimits {
    fn default() -> RowLimits {
        RowLimits {
            failure_share_max: FAILURE_SHARE_MAX,
            throttled_share_max: THROTTLED_SHARE_MAX,
            taken_share_max: ROW_TAKEN_SHARE_MAX,
            busy_share: BUSY_SHARE,
            server_bound_share: SERVER_BOUND_SHARE,
        }
    }
}

/// Why a slice counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// Other programs ran on the measured CPUs.
    Taken,
    /// The hypervisor gave them to another machine.
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

/// What was left out because the machine was disturbed, by thresholds that do not know a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Rounds left out, of all rows alike: of a few rows, what is compared was measured side by side.
    pub rounds: usize,
    pub of_rounds: usize,
    /// Slices left out alone, of blocks with many rows.
    pub slices: usize,
    pub of_slices: usize,
    /// Slices, of those or in those rounds, in which others took the CPUs.
    pub slices_taken: usize,
    /// Slices in which a hypervisor took them.
    pub slices_stolen: usize,
    /// Slices whose counts contradict each other.
    pub slices_inconsistent: usize,
    /// Blocks that keep all their slices, since more than half of a row's were disturbed.
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

/// Whether a slice was disturbed. What the service did does not matter.
pub(crate) fn disturbance(slice: &Sample, pinning: &Pinning) -> Option<Disturbance> {
    let accounting = slice.host.accounting.unwrap_or_default();
    let foreign_ns = slice.host.foreign_cpu_ns.unwrap_or(0);
    match taker(slice.load.elapsed_ns, foreign_ns, &accounting, pinning) {
        Some(Taker::Others) => Some(Disturbance::Taken),
        Some(Taker::Hypervisor) => Some(Disturbance::Stolen),
        None => little([slice]).map(|_| Disturbance::Inconsistent),
    }
}

/// The time that requests were in flight, added up, counted twice.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct InFlight {
    /// As the generator counted it.
    pub counted_ns: f64,
    /// As rate x time says (Little's law).
    pub law_ns: f64,
    pub elapsed_ns: f64,
}

impl InFlight {
    /// Over slices of which the time of every request is known: in older runs those in which each was answered. Absent if there is no
    /// such slice.
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

    /// Requests in flight on average, as counted.
    pub fn counted(&self) -> f64 {
        self.counted_ns / self.elapsed_ns
    }

    /// The same, as rate x time says.
    pub fn law(&self) -> f64 {
        self.law_ns / self.elapsed_ns
    }
}

/// Requests in flight as counted, and as rate x time says, if the two contradict each other.
pub(crate) fn little<'a>(slices: impl IntoIterator<Item = &'a Sample>) -> Option<(f64, f64)> {
    let found = InFlight::of(slices)?;
    let (counted, law) = (found.counted_ns, found.law_ns);
    let is_off = (counted - law).abs() > LITTLE_SHARE_MAX * counted.max(law);
    is_off.then_some((found.counted(), found.law()))
}

/// Where the time of the slices of a row went, as shares.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Shares {
    /// Of the service's CPUs: the service itself.
    pub server: f64,
    /// The same with what it works with, which shares its CPUs; absent if that is nothing.
    pub with_backing: Option<f64>,
    /// Of the generator's CPUs: the generator.
    pub generator: f64,
    /// Of all of them: others, the hypervisor's other guests among them.
    pub interference: Option<f64>,
    /// Threads of the service that ran or were ready to run, on average; absent if the kernel does not count it.
    pub at_work: Option<f64>,
    /// Of all of them: the hypervisor's other guests.
    pub stolen: Option<f64>,
    /// Of the service's CPUs: time that its quota kept it from running.
    pub throttled: Option<f64>,
    /// Of the time: some process on this machine waited for a CPU. No verdict is made of it alone, for a service with more
    /// threads than CPUs waits for itself.
    pub pressure: Option<f64>,
}

impl Shares {
    /// Over these slices of one row, whose service was set to use `threads` threads.
    pub(crate) fn of(slices: &[&Sample], pinning: &Pinning, threads: usize) -> Shares {
        let elapsed_ns: f64 = slices.iter().map(|slice| slice.load.elapsed_ns as f64).sum();
        let share = |ns: f64, cpus: usize| ns / elapsed_ns / cpus.max(1) as f64;
        let some = |value: &dyn Fn(&Sample) -> Option<f64>, cpus: usize| {
            Some(share(slices.iter().map(|slice| value(slice)).sum::<Option<f64>>()?, cpus))
        };
        // The link's time is the generator's here: they share their CPUs.
        let generator_ns = |slice: &Sample| slice.host.generator_busy_ns() + slice.host.link_cpu_ns();
        let own_ns = |slice: &Sample| slice.host.own_cpu_ns() as f64;
        let busy_ns =
            |slice: &Sample| Some(slice.host.accounting?.all(pinning).busy_ns() as f64 - own_ns(slice));
        let (all, threads) = (pinning.all().len(), pinning.server.len().min(threads));
        // What wakes up for an instant is seen by no tick, and what the kernel does for an idle CPU is no other's work: others
        // took what both counts leave to them.
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
            throttled: some(&|slice| Some(slice.host.throttled_ns? as f64), threads),
            pressure: some(&|slice| Some(slice.host.accounting?.pressure_ns? as f64), 1),
        }
    }

    /// How busy the service's CPUs were: a service of fewer threads than CPUs is saturated when its threads are.
    pub(crate) fn busy(&self) -> f64 {
        self.with_backing.map_or(self.server, |both| both.max(self.server))
    }
}

#[cfg(test)]
mod tests;
