//! The rule that tells a disturbed slice from a quiet one, from CPU accounting alone. A pilot discards
//! windows by it, and the analysis slices or rounds.

use tare_host::cpus::{CpuAccounting, Pinning};

/// A slice is disturbed if other processes took more than this share of the measured CPUs beyond doubt.
///
/// The error of the clock is subtracted before the comparison ([`CpuAccounting::error_ns`]). The scheduler's
/// clock has an error of 4 ms per CPU: on two CPUs a slice of 50 ms is disturbed from 18 ms on, one of 100 ms
/// from 28 ms on. Ticks have an error of 10 ms, and the limits are 30 and 40 ms.
pub const TAKEN_SHARE_MAX: f64 = 0.10;

/// The same limit for stolen time. It is lower, because stolen time comes in bursts and hits one side alone.
pub const STOLEN_SHARE_MAX: f64 = 0.05;

/// The cause of a disturbance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    Others,
    /// The hypervisor ran another virtual machine.
    Hypervisor,
}

/// Classifies a slice in which others took `foreign_ns` of the measured CPUs; `None` if undisturbed.
pub fn taker(
    elapsed_ns: u64,
    foreign_ns: i64,
    accounting: &CpuAccounting,
    pinning: &Pinning,
) -> Option<Taker> {
    let all_ns = (elapsed_ns * pinning.all().len() as u64) as f64;
    let error_ns = accounting.error_ns(pinning) as f64;
    let is_more = |ns: f64, share: f64| ns - error_ns > share * all_ns;
    if is_more(accounting.stolen_ns(pinning) as f64, STOLEN_SHARE_MAX) {
        Some(Taker::Hypervisor)
    } else {
        is_more(foreign_ns as f64, TAKEN_SHARE_MAX).then_some(Taker::Others)
    }
}
