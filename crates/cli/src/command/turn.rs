//! Waits until no other Tare measures on the CPUs of a run.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{bail, ensure};
use tare_host::cpu_lock::CpuLock;

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(200);

/// Locks the CPUs once they are free; `say` gets their current user. With `no_wait`, busy CPUs are an error.
pub(crate) fn take(
    cpus: &[usize],
    no_wait: bool,
    interrupt: &AtomicBool,
    say: impl Fn(&str),
) -> anyhow::Result<CpuLock> {
    let mut told = None;
    loop {
        let holder = match CpuLock::take(cpus) {
            Ok(lock) => return Ok(lock),
            Err(holder) if no_wait => {
                bail!("{holder}: two at once would measure each other; without --no-wait this one waits")
            }
            Err(holder) => holder,
        };
        let pid = holder.process.as_ref().map(|process| process.pid);
        if told != Some(pid) {
            say(&format!("waiting: {holder}"));
            told = Some(pid);
        }
        ensure!(!interrupt.load(Ordering::Relaxed), "interrupted while it waited: nothing was measured");
        std::thread::sleep(PAUSE);
    }
}
