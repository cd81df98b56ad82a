//! Whether the machine did something else while a service was measured: the rule by which a pilot discards its windows, and
//! the analysis its rounds. It does not know what the service did.

use tare_host::cpus::{CpuAccounting, Pinning};

/// Others surely took more than this share of the measured CPUs.
///
/// *Surely*: what the time is counted in leaves an error, which is taken off before it is compared
/// ([`CpuAccounting::error_ns`]). By the scheduler's clock it is 4 ms for each CPU: a slice of 50 ms on two CPUs is disturbed from
/// 18 ms on, one of 100 ms from 28 ms on. Where there are only ticks it is 10 ms, and the limits are 30 and 40 ms.
pub const TAKEN_SHARE_MAX: f64 = 0.10;

/// The same for what the hypervisor took. It is less, since what is stolen comes in bursts and hits one side alone.
pub const STOLEN_SHARE_MAX: f64 = 0.05;

/// Who took the measured CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    Others,
    /// The hypervisor, for another machine.
    Hypervisor,
}

/// Of a slice that took so long, in which others took `foreign_ns` of the measured CPUs.
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
