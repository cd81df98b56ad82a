//! What a request costs in the service and in what it works with, apart: a database, a server behind it. The framework and the driver
//! are in the service's part, because both run in its processes.

use std::collections::BTreeSet;

use tare_bench::sample::{CpuByMode, Sample};

use super::{
    RowReport,
    blocks::{Block, Blocks},
    levels::level,
};
use crate::estimate::Estimate;

/// A tick of the clocks by mode.
const TICK_NS: u64 = 10_000_000;
/// Of fewer ticks the split would be a guess: 1 s of CPU time, whose error is up to 10 points and more.
const TICKS_MIN: u64 = 100;
/// Of a difference of two readings, each rounded down to a tick: its variance in ticks.
const ROUNDING_VARIANCE: f64 = 1.0 / 6.0;
/// Standard errors in half of a 95% interval.
const NORMAL_95: f64 = 1.96;

/// What a service works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackingKind {
    Database,
    /// A server behind a gateway.
    Upstream,
    Both,
}

/// The cost of what a row works with, for each right answer of the service.
#[derive(Debug, Clone, PartialEq)]
pub struct BackingCost {
    pub kind: BackingKind,
    /// What it said of itself, which are version and settings of a database: each that was met.
    pub settings: Vec<String>,
    /// CPU time of its processes; the mean of the blocks.
    pub cpu_ns_per_request: Estimate,
    /// With the service's: the sum of the two figures, whose interval is that of the sums of the blocks. Absent if the service's is
    /// not known.
    pub total_cpu_ns_per_request: Option<Estimate>,
    /// How much of the service's CPU time is the kernel's; absent if too little of it was counted by mode.
    pub kernel: Option<KernelShare>,
    /// The most that was resident after a slice of a block, the mean of the blocks. Pages that its processes share count for each.
    pub rss_bytes: Option<Estimate>,
}

/// A share that the kernel counts in ticks: at each, all of it belongs to the mode that ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelShare {
    pub share: f64,
    /// Half of a 95% interval: of counting ticks, and of rounding each reading to one.
    pub resolution: f64,
    /// How many were counted.
    pub ticks: u64,
}

/// Of the closed loops of a row; absent if it works with nothing.
pub(super) fn compute(blocks: &Blocks) -> Option<BackingCost> {
    let slices: Vec<&Sample> = blocks.values().flat_map(|block| block.slices.iter().copied()).collect();
    Some(BackingCost {
        cpu_ns_per_request: level(|block| block.backing_cpu_ns_per_request(), blocks)?,
        total_cpu_ns_per_request: level(total, blocks),
        kind: kind(&slices),
        settings: settings(blocks),
        kernel: KernelShare::of(&slices),
        rss_bytes: level(|block| Some(most_resident(block)? as f64), blocks),
    })
}

/// Of a block in which both are known.
fn total(block: &Block) -> Option<f64> {
    let service = Some(block.cpu_ns_per_request()).filter(|ns| *ns > 0.0)?;
    Some(service + block.backing_cpu_ns_per_request()?)
}

fn settings(blocks: &Blocks) -> Vec<String> {
    let said = blocks.values().filter_map(|block| block.stopped?.backing.clone());
    said.collect::<BTreeSet<_>>().into_iter().collect()
}

fn most_resident(block: &Block) -> Option<u64> {
    block.slices.iter().filter_map(|slice| slice.host.backing_rss_bytes).max()
}

/// By what was asked of it.
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

/// Makes the total the sum of the two figures beside it: the service's is related to the reference, and a mean of sums is a little
/// more than the sum of two geometric means. Absent where the service's is.
pub(super) fn relate(row: &mut RowReport) {
    let service = row.cpu_ns_per_request;
    if let Some(backing) = &mut row.backing {
        let sum = service.map(|service| service.value + backing.cpu_ns_per_request.value);
        let own = backing.total_cpu_ns_per_request.zip(sum);
        backing.total_cpu_ns_per_request =
            own.map(|(own, sum)| Estimate { value: sum, ..own.over(own.value / sum) });
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
        // Each mode of each slice is rounded: the kernel's with the weight of the user's share, and the other way about.
        let rounded = modes.len() as f64 * ROUNDING_VARIANCE * (share.powi(2) + (1.0 - share).powi(2));
        let resolution = NORMAL_95 * (counted + rounded).sqrt() / ticks as f64;
        Some(KernelShare { share, resolution, ticks })
    }
}

impl RowReport {
    /// CPU time of the service in user mode and in the kernel, for each right answer: its figure, split by the share of ticks.
    pub fn cpu_ns_by_mode(&self) -> Option<[f64; 2]> {
        let (cpu_ns, kernel) = (self.cpu_ns_per_request?.value, self.backing.as_ref()?.kernel?.share);
        Some([cpu_ns * (1.0 - kernel), cpu_ns * kernel])
    }
}

#[cfg(test)]
mod tests;
