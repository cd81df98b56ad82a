//! The CPU time of short-lived processes, on machines where no cgroup counts it.
//!
//! The kernel adds the time of an ended process to its parent's children time, in ticks of 10 ms, if the
//! parent waits for it. If no process waits (SIGCHLD ignored, or the parent ended first), that time is lost.
//! Page faults of children show a wait: they add up likewise, and every process has some.

use std::{collections::BTreeMap, iter};

use super::{
    activity::Activity,
    procfs::{self, Identity, Process},
    syscall,
    unknown::{CpuUnknown, Unwaited},
};

/// Attempts to look at all processes while none ends.
const LOOKS_MAX: usize = 5;

/// CPU time so far of processes, some of which may have ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuTime {
    pub(super) ns: u64,
    /// Number of processes that ended unreaped: their last CPU time is missing.
    pub(super) unwaited: u64,
    /// The last of these processes.
    pub(super) last_unwaited: Process,
    /// Unseen processes ended unreaped as well.
    pub(super) is_lossy: bool,
}

impl CpuTime {
    /// A complete time.
    pub(super) fn whole(ns: u64) -> CpuTime {
        CpuTime { ns, ..CpuTime::default() }
    }

    pub fn ns(&self) -> u64 {
        self.ns
    }

    /// CPU time since an earlier reading.
    ///
    /// # Errors
    /// A part of it is unknown.
    pub fn since(&self, before: &CpuTime) -> Result<u64, CpuUnknown> {
        if self.unwaited > before.unwaited {
            return Err(CpuUnknown::Unwaited(Unwaited::Seen(self.last_unwaited.clone())));
        }
        if self.is_lossy {
            return Err(CpuUnknown::Unwaited(Unwaited::Unseen));
        }
        Ok(self.ns.saturating_sub(before.ns))
    }
}

/// A process when it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SeenProcess {
    command: String,
    parent: u32,
    own_ns: u64,
    children_ns: u64,
    /// Its own page faults and those of its reaped children.
    faults: u64,
    children_faults: u64,
}

type Processes = BTreeMap<Identity, SeenProcess>;

/// What is known of some processes and all their descendants.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seen: Processes,
    /// CPU time of the processes that ended unreaped, as last seen.
    unwaited_ns: u64,
    unwaited: u64,
    last_unwaited: Process,
}

impl Tally {
    /// Looks at `roots`, all processes seen before, and all descendants of both.
    pub(super) fn read(&mut self, roots: &[u32]) -> CpuTime {
        let now = self.look(roots);
        for ended in unwaited(&self.seen, &now) {
            let SeenProcess { command, own_ns, children_ns, .. } = &self.seen[&ended];
            self.unwaited += 1;
            self.unwaited_ns += own_ns + children_ns;
            self.last_unwaited = Process { pid: ended.pid, command: command.clone() };
        }
        self.seen = now;
        let each = self.seen.values().map(|process| process.own_ns + process.children_ns);
        CpuTime {
            ns: self.unwaited_ns + each.sum::<u64>(),
            unwaited: self.unwaited,
            last_unwaited: self.last_unwaited.clone(),
            is_lossy: false,
        }
    }

    /// Largest error of a difference of two readings: children's times are in ticks, one for each mode.
    pub(super) fn error_ns(&self) -> u64 {
        let waited = self.seen.values().filter(|process| process.children_ns > 0).count();
        2 * waited as u64 * tick_ns()
    }

    /// Looks twice, so that no process counts both for itself and for a parent that reaps it in between.
    fn look(&self, roots: &[u32]) -> Processes {
        let waits = |seen: &Processes| -> Vec<(Identity, u64)> {
            seen.iter().map(|(process, seen)| (*process, seen.children_faults)).collect()
        };
        let mut found = Processes::new();
        for _ in 0..LOOKS_MAX {
            found = self.all(roots);
            let again = found.keys().filter_map(|process| SeenProcess::of(process.pid)).collect();
            if waits(&found) == waits(&again) {
                return again;
            }
        }
        found
    }

    fn all(&self, roots: &[u32]) -> Processes {
        let known = self.seen.keys().filter(|process| process.is_known()).map(|process| process.pid);
        let first: Vec<u32> = roots.iter().copied().chain(known).collect();
        Activity::read().family(&first).into_iter().filter_map(SeenProcess::of).collect()
    }
}

impl SeenProcess {
    /// An ended process is seen too until another process reaps it.
    fn of(pid: u32) -> Option<(Identity, SeenProcess)> {
        let stat = procfs::stat(pid)?;
        let seen = SeenProcess {
            parent: stat.parent,
            own_ns: syscall::process_cpu_ns(pid).unwrap_or(stat.own_ticks * tick_ns()),
            children_ns: stat.children_ticks * tick_ns(),
            faults: stat.faults + stat.children_faults,
            children_faults: stat.children_faults,
            command: stat.command,
        };
        Some((Identity { pid, started_ticks: stat.started_ticks }, seen))
    }
}

pub(super) fn tick_ns() -> u64 {
    procfs::ticks(1).as_nanos() as u64
}

/// Processes that have disappeared and that no other seen process reaped. A process is reaped by its parent,
/// or by an ancestor that adopts orphans.
fn unwaited(before: &Processes, now: &Processes) -> Vec<Identity> {
    let by_pid: BTreeMap<u32, Identity> = before.keys().map(|process| (process.pid, *process)).collect();
    let above = |process: &Identity| by_pid.get(&before[process].parent).copied();
    let waited = |(process, seen): (&Identity, &SeenProcess)| {
        let faults = now.get(process)?.children_faults.saturating_sub(seen.children_faults);
        Some((*process, faults))
    };
    let mut waited: BTreeMap<Identity, u64> = before.iter().filter_map(waited).collect();
    let mut unwaited = Vec::new();
    for ended in before.keys().filter(|process| !now.contains_key(process)) {
        let mut missing = before[ended].faults;
        for process in iter::successors(above(ended), above).take(before.len()) {
            if let Some(faults) = waited.get_mut(&process) {
                let found = missing.min(*faults);
                *faults -= found;
                missing -= found;
            }
        }
        unwaited.extend((missing > 0).then_some(*ended));
    }
    unwaited
}

#[cfg(test)]
mod tests;
