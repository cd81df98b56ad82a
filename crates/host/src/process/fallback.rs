//! Replaces cgroups on machines without them: finds processes by process group and by a variable in their environment, and
//! stops, continues and kills them one by one. It knows nothing of cgroups.

use super::procfs;
use rustix::process::{Pid, Signal};

/// The environment variable that holds the name of a process's group. Everything that a service starts inherits it, even a
/// daemon in a session of its own.
pub(super) const MARK: &str = "TARE_GROUP";

fn pid(number: u32) -> Option<Pid> {
    // 0 would address the own group, a negative number every process, and 1 is init.
    i32::try_from(number).ok().filter(|&number| number > 1).and_then(Pid::from_raw)
}

/// Sends SIGKILL to one process.
pub(super) fn kill_process(number: u32) {
    signal_process(number, Signal::KILL);
}

/// Sends a signal to one process. That it has ended already is not an error.
pub(super) fn signal_process(number: u32, signal: Signal) {
    if let Some(pid) = pid(number) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Sends a signal to a whole process group at once.
pub(super) fn signal_group(pgid: u32, signal: Signal) {
    if let Some(pgid) = pid(pgid) {
        let _ = rustix::process::kill_process_group(pgid, signal);
    }
}

/// Every live process that belongs to the group `name`: by its process group, or by the mark in its environment.
/// Reads every process of the machine, about 10 µs for each, so it must not be called during a measurement.
pub(super) fn members(name: &str, pgid: Option<u32>) -> Vec<u32> {
    let me = std::process::id();
    let belongs = |&pid: &u32| {
        let Some(stat) = procfs::stat(pid) else { return false };
        let by_group = pgid == Some(stat.pgid);
        pid != me && !stat.is_dead() && (by_group || procfs::environment(pid, MARK).as_deref() == Some(name))
    };
    procfs::all_pids().into_iter().filter(belongs).collect()
}

/// Whether every thread of the process is stopped (or dead).
pub(super) fn is_stopped(pid: u32) -> bool {
    let stopped = |&thread: &u32| {
        procfs::thread_state(pid, thread).is_none_or(|state| matches!(state, 'T' | 't' | 'Z' | 'X'))
    };
    procfs::threads(pid).iter().all(stopped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_signal_ever_goes_to_all_processes_or_to_init() {
        for number in [0, 1, u32::MAX, 1 << 31] {
            assert!(pid(number).is_none(), "{number}");
        }
        assert!(pid(2).is_some());
    }
}
