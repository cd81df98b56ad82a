//! Where the time of the measured CPUs went, over all slices of a run: the parts must make the whole.

use serde::Serialize;

use tare_bench::{plan::Plan, record::Record};
use tare_host::cpus::{TICK_NS, Times};

/// The accounting is wrong where its sum is further than this from the time that passed, and ticks do not explain it.
pub(crate) const RESIDUAL_SHARE_MAX: f64 = 0.02;

/// The time of the measured CPUs over all slices, in nanoseconds. The service's and the generator's part come from the
/// scheduler's clocks, idle and stolen time and what all processes took from the kernel's ticks, and the whole from the
/// clock on the wall: three counts that know nothing of each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct CpuAccounting {
    /// What there was: the time of the slices on each CPU.
    pub all_ns: u64,
    pub server_ns: u64,
    /// What the services work with, such as a database.
    #[serde(skip_serializing_if = "is_zero")]
    pub backing_ns: u64,
    pub generator_ns: u64,
    /// What ran and was neither: other processes, and the softirq in their time.
    pub others_ns: u64,
    pub idle_ns: u64,
    /// Taken by a hypervisor.
    pub steal_ns: u64,
    /// Softirq in all of it; part of the figures above.
    pub softirq_ns: u64,
    /// By how much the parts are more than the whole, as a share of it.
    pub residual_share: f64,
    /// The part of that which is of the generator's CPUs, where those are not the service's too.
    pub residual_share_generator: f64,
    /// How far the residual may lie from 0: 2%, and what ticks leave to chance in so few slices.
    pub tolerance_share: f64,
}

fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// A count of ticks, read before and after, is off by the difference of two uniform errors, which has this standard
/// deviation.
const READING_TICKS_SD: f64 = 0.408;
/// Of each CPU: user, system, idle, iowait and softirq hardly ever stand still.
const READINGS: f64 = 5.0;
/// Standard deviations left to chance.
const CHANCE_SDS: f64 = 3.0;

impl CpuAccounting {
    /// Of all slices that have them; absent if none has.
    pub(crate) fn of(plan: &Plan, records: &[Record]) -> Option<CpuAccounting> {
        let mut found = CpuAccounting::default();
        let (mut times, mut generator) = (Times::default(), Times::default());
        // Of all slices: the time of the generator's CPUs, and the readings of a counter of one CPU.
        let (mut generators_ns, mut readings) = (0, 0.0);
        for record in records {
            let Record::Sample(slice) = record else { continue };
            // What a service took that is not known would stand among the others' time.
            let known = slice.host.accounting.filter(|_| slice.host.cpu_unknown.is_none());
            let Some(slice_times) = known else { continue };
            let pinning = plan.pinning_of(slice.row);
            let cpus = pinning.all().len() as u64;
            readings += cpus as f64 * READINGS;
            found.all_ns += slice_times.wall_ns * cpus;
            generators_ns += slice_times.wall_ns * pinning.generator.len() as u64;
            found.server_ns += slice.host.server_cpu_ns;
            found.backing_ns += slice.host.backing_cpu_ns.unwrap_or(0);
            found.generator_ns += slice.host.generator_cpu_ns;
            times = times.plus(&slice_times.all(pinning));
            generator = generator.plus(&slice_times.generator);
        }
        let own_ns = found.server_ns + found.backing_ns + found.generator_ns;
        found.others_ns = (times.tasks_ns + times.softirq_ns).saturating_sub(own_ns);
        (found.idle_ns, found.steal_ns, found.softirq_ns) = (times.idle_ns, times.steal_ns, times.softirq_ns);
        let sum_ns = own_ns + found.others_ns + found.idle_ns + found.steal_ns;
        found.residual_share = sum_ns as f64 / found.all_ns as f64 - 1.0;
        if plan.pinning.apart() {
            let busy_ns = found.generator_ns.max(generator.tasks_ns + generator.softirq_ns);
            let sum_ns = busy_ns + generator.idle_ns + generator.steal_ns;
            found.residual_share_generator = (sum_ns as f64 - generators_ns as f64) / found.all_ns as f64;
        }
        let chance_ns = TICK_NS as f64 * READING_TICKS_SD * readings.sqrt();
        found.tolerance_share = RESIDUAL_SHARE_MAX + CHANCE_SDS * chance_ns / found.all_ns as f64;
        (found.all_ns > 0).then_some(found)
    }

    /// Whether the parts make the whole.
    pub fn closes(&self) -> bool {
        self.residual_share.abs() <= self.tolerance_share
    }

    /// Whether what is missing is on the generator's CPUs, which go idle between answers: the kernel charges the transitions to
    /// no clock.
    pub(crate) fn lacks_idle_transitions(&self) -> bool {
        let elsewhere = self.residual_share - self.residual_share_generator;
        self.residual_share_generator < 0.0 && elsewhere.abs() <= self.tolerance_share
    }
}
