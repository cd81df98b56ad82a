//! The CPU time of processes that come and go, where no cgroup counts it.
//!
//! The time of a process that has ended is added to that of the children of the process that waited for it, in ticks of 10 ms. If no
//! process waited, since its parent ignores SIGCHLD or had ended before it, its time is found nowhere. The page faults of children show
//! whether one waited: the kernel adds them up in the same way, and no process is without any, so the sum moves by each wait.

use std::{collections::BTreeMap, iter};

use super::{
    activity::Activity,
    procfs::{self, Identity, Process},
    syscall,
    unknown::{CpuUnknown, Unwaited},
};

/// How often processes are looked at until none ends meanwhile.
const LOOKS_MAX: usize = 5;

/// CPU time up to now of processes of which some may have ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuTime {
    pub(super) ns: u64,
    /// The processes that ended and that none of the others waited for: what they took at last is not in it.
    pub(super) unwaited: u64,
    /// The last of these.
    pub(super) last_unwaited: Process,
    /// There are others that no process waits for and that are not seen.
    pub(super) is_lossy: bool,
}

impl CpuTime {
    /// Nothing of it is missing.
    pub(super) fn whole(ns: u64) -> CpuTime {
        CpuTime { ns, ..CpuTime::default() }
    }

    pub fn ns(&self) -> u64 {
        self.ns
    }

    /// What was taken since.
    ///
    /// # Errors
    /// A part of it is not known.
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

/// A process when it was looked at last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SeenProcess {
    command: String,
    parent: u32,
    own_ns: u64,
    children_ns: u64,
    /// Its own page faults and those of the children that it waited for.
    faults: u64,
    children_faults: u64,
}

type Processes = BTreeMap<Identity, SeenProcess>;

/// What is known of some processes and of all that descend from them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seen: Processes,
    /// What was seen last of those that ended unwaited.
    unwaited_ns: u64,
    unwaited: u64,
    last_unwaited: Process,
}

impl Tally {
    /// Looks at `roots`, at all that was seen before, and at all that descends from either, whoever its parent is now.
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

    /// By how much a difference of two readings may be off: the times of children are in ticks, one for each mode.
    pub(super) fn error_ns(&self) -> u64 {
        let waited = self.seen.values().filter(|process| process.children_ns > 0).count();
        2 * waited as u64 * tick_ns()
    }

    /// Twice, so that no process is counted both by itself and by the one that waited for it in between.
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
    /// A process that has ended is seen too, as long as no other has waited for it.
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

/// Those that are no longer there, and that none of the others waited for. Who waits is the parent, or above it the one that adopts
/// what loses its parent.
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
