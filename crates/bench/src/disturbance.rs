//! Whether the machine did something else while a service was measured: the rule by which a pilot discards its windows, and
//! the analysis its rounds. It does not know what the service did.

use tare_host::cpus::{Pinning, TICK_NS};

/// Others surely took more than this share of the measured CPUs.
///
/// *Surely*: idle time is counted in ticks of 10 ms, so over one slice the share may be off by a tick for each CPU. That much is
/// taken off before it is compared: a slice of 100 ms on two CPUs is disturbed from 40 ms on (20 of ticks, 20 of the 10%), one
/// of 500 ms from 120 ms on. Of 960 slices of a quiet machine three were beyond that.
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

/// Of a slice that took so long, in which others took `foreign_ns` of the measured CPUs and the hypervisor `stolen_ns`.
pub fn taker(elapsed_ns: u64, foreign_ns: i64, stolen_ns: u64, pinning: &Pinning) -> Option<Taker> {
    let cpus = pinning.all().len() as u64;
    let (all_ns, error_ns) = ((elapsed_ns * cpus) as f64, (TICK_NS * cpus) as f64);
    let is_more = |ns: f64, share: f64| ns - error_ns > share * all_ns;
    if is_more(stolen_ns as f64, STOLEN_SHARE_MAX) {
        Some(Taker::Hypervisor)
    } else {
        is_more(foreign_ns as f64, TAKEN_SHARE_MAX).then_some(Taker::Others)
    }
}
