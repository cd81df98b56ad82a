//! The cost per request of a service and of its backing (a database, an upstream server), separately.
//! Framework and driver belong to the service, because they run in its processes.

use std::collections::BTreeSet;

use tare_bench::sample::{CpuByMode, Sample};

use super::{
    blocks::{Block, Blocks},
    relation::level,
};
use crate::estimate::UnitEstimate;

/// A tick of the clocks for user and kernel mode.
const TICK_NS: u64 = 10_000_000;
/// Fewest ticks for a split: 1 s of CPU time, with an error of about 10 points.
const TICKS_MIN: u64 = 100;
/// Variance, in ticks, of the difference of two readings that are rounded down.
const ROUNDING_VARIANCE: f64 = 1.0 / 6.0;
/// Standard errors in half of a 95% interval.
const NORMAL_95: f64 = 1.96;

/// The kind of a service's backing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackingKind {
    Database,
    /// A server behind a gateway.
    Upstream,
    Both,
}

/// The cost of a row's backing per correct answer of the service.
#[derive(Debug, Clone, PartialEq)]
pub struct BackingCost {
    pub kind: BackingKind,
    /// Versions and settings that the backing reported, without duplicates.
    pub settings: Vec<String>,
    /// CPU time of its processes; the mean of the blocks.
    pub cpu_ns_per_request: UnitEstimate,
    /// CPU time of service and backing together. Absent if the service's time is unknown.
    pub total_cpu_ns_per_request: Option<UnitEstimate>,
    /// The same divided by the reference's, paired by block. Only with a database: what a server of Tare's own takes is in no rank.
    pub total_cpu_ratio: Option<UnitEstimate>,
    /// Kernel share of the service's CPU time; absent with too few ticks by mode.
    pub kernel: Option<KernelShare>,
    /// Largest resident memory after a slice, as a mean over blocks. Shared memory counts per process.
    pub rss_bytes: Option<UnitEstimate>,
}

/// A share measured in ticks: each tick belongs entirely to the mode that ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelShare {
    pub share: f64,
    /// Half width of a 95% interval, from the counting of ticks and the rounding of readings.
    pub resolution: f64,
    /// Number of ticks.
    pub ticks: u64,
}

/// The cost over a row's closed loops; absent without a backing.
pub(super) fn compute(blocks: &Blocks) -> Option<BackingCost> {
    let slices: Vec<&Sample> = blocks.values().flat_map(|block| block.slices.iter().copied()).collect();
    Some(BackingCost {
        cpu_ns_per_request: level(|block| block.backing_cpu_ns_per_request(), blocks)?,
        total_cpu_ns_per_request: level(|block| block.total_cpu_ns_per_request(), blocks),
        total_cpu_ratio: None,
        kind: kind(&slices),
        settings: settings(blocks),
        kernel: KernelShare::of(&slices),
        rss_bytes: level(|block| Some(most_resident(block)? as f64), blocks),
    })
}

fn settings(blocks: &Blocks) -> Vec<String> {
    let said = blocks.values().filter_map(|block| block.stopped?.backing.clone());
    said.collect::<BTreeSet<_>>().into_iter().collect()
}

fn most_resident(block: &Block) -> Option<u64> {
    block.slices.iter().filter_map(|slice| slice.host.backing_rss_bytes).max()
}

/// The kind, from the requests counted at the backing.
fn kind(slices: &[&Sample]) -> BackingKind {
    let counts = || slices.iter().filter_map(|slice| slice.host.backing);
    let is_upstream = counts().any(|counts| counts.upstream_requests.is_some());
    let is_database = counts().any(|counts| counts.reads.or(counts.rows_written).is_some());
    match (is_database, is_upstream) {
        (true, true) => BackingKind::Both,
        (false, true) => BackingKind::Upstream,
        _ => BackingKind::Database,
    }
}

impl BackingCost {
    /// Makes the total the exact sum of both displayed figures. The service's figure is adjusted to the
    /// reference, and a mean of sums exceeds the sum of two geometric means. Absent if the service's figure is.
    pub(super) fn beside(self, service: Option<UnitEstimate>, ratio: Option<UnitEstimate>) -> BackingCost {
        let sum = service.map(|service| service.value + self.cpu_ns_per_request.value);
        let own = self.total_cpu_ns_per_request.zip(sum);
        let total = own.map(|(own, sum)| UnitEstimate { value: sum, ..own.over(own.value / sum) });
        let ratio = ratio.filter(|_| self.kind == BackingKind::Database);
        BackingCost { total_cpu_ns_per_request: total, total_cpu_ratio: ratio, ..self }
    }
}

impl KernelShare {
    fn of(slices: &[&Sample]) -> Option<KernelShare> {
        let modes: Vec<CpuByMode> =
            slices.iter().map(|slice| slice.host.server_cpu_by_mode).collect::<Option<_>>()?;
        let ballast_ns: u64 =
            slices.iter().filter_map(|slice| slice.host.ballast).map(|ballast| ballast.cpu_ns).sum();
        let user_ns = modes.iter().map(|modes| modes.user_ns).sum::<u64>().saturating_sub(ballast_ns);
        let system_ns: u64 = modes.iter().map(|modes| modes.system_ns).sum();
        let ticks = (user_ns + system_ns) / TICK_NS;
        if ticks < TICKS_MIN {
            return None;
        }
        let share = system_ns as f64 / (user_ns + system_ns) as f64;
        let counted = share * (1.0 - share) * ticks as f64;
        // Rounding of both modes: each enters the share with the weight of the other mode.
        let rounded = modes.len() as f64 * ROUNDING_VARIANCE * (share.powi(2) + (1.0 - share).powi(2));
        let resolution = NORMAL_95 * (counted + rounded).sqrt() / ticks as f64;
        Some(KernelShare { share, resolution, ticks })
    }
}

#[cfg(test)]
mod tests;
