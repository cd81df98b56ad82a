//! CPU accounting of the measured CPUs over all slices of a run: the parts must add up.

use serde::Serialize;

use tare_bench::{plan::Plan, record::Record};
use tare_host::cpus::{CpuTimes, TICK_NS};

/// Largest accepted residual, as a share of the elapsed time, beyond the error of ticks.
pub(crate) const RESIDUAL_SHARE_MAX: f64 = 0.02;

/// The time of the measured CPUs over all slices, in nanoseconds. Service and generator come from the
/// scheduler's clocks; idle, stolen and total process time come from the kernel's ticks; the whole comes from
/// the wall clock. The three sources are independent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct CpuTotals {
    /// The whole: elapsed time of the slices times CPUs.
    pub all_ns: u64,
    pub server_ns: u64,
    /// The services' backing, such as a database.
    #[serde(skip_serializing_if = "is_zero")]
    pub backing_ns: u64,
    pub generator_ns: u64,
    /// Other processes, and the softirq during their time.
    pub others_ns: u64,
    pub idle_ns: u64,
    /// Taken by a hypervisor.
    pub steal_ns: u64,
    /// Softirq in all of it; part of the figures above.
    pub softirq_ns: u64,
    /// The sum of the parts minus the whole, as a share of the whole.
    pub residual_share: f64,
    /// The part of the residual on the generator's CPUs, if these are not the service's too.
    pub residual_share_generator: f64,
    /// Allowed residual: 2% plus the random error of ticks in this number of slices.
    pub tolerance_share: f64,
}

fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// Standard deviation of the difference of two tick readings, which have uniform errors each.
const READING_TICKS_SD: f64 = 0.408;
/// Counters per CPU: user, system, idle, iowait and softirq all change in most slices.
const READINGS: f64 = 5.0;
/// Standard deviations allowed for chance.
const CHANCE_SDS: f64 = 3.0;

impl CpuTotals {
    /// Accounting of all slices that have counters; absent if none has.
    pub(crate) fn of(plan: &Plan, records: &[Record]) -> Option<CpuTotals> {
        let mut found = CpuTotals::default();
        let (mut times, mut generator) = (CpuTimes::default(), CpuTimes::default());
        // Over all slices: time of the generator's CPUs, and number of counter readings.
        let (mut generators_ns, mut readings) = (0, 0.0);
        for record in records {
            let Record::Sample(slice) = record else { continue };
            // Unknown time of a service would count as other processes' time.
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

    /// Whether the parts add up to the whole.
    pub fn closes(&self) -> bool {
        self.residual_share.abs() <= self.tolerance_share
    }

    /// Whether the missing time is on the generator's CPUs: the kernel charges idle transitions to no clock.
    pub(crate) fn lacks_idle_transitions(&self) -> bool {
        let elsewhere = self.residual_share - self.residual_share_generator;
        self.residual_share_generator < 0.0 && elsewhere.abs() <= self.tolerance_share
    }
}
