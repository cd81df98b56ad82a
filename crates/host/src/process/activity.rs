//! Finds the processes that used CPU time between two readings of `/proc`, and their descendants.

use std::collections::{BTreeMap, BTreeSet};

use super::procfs::{self, Identity, Process, Stat};

/// The CPU time of every process at one instant.
#[derive(Debug, Clone, Default)]
pub struct Activity(BTreeMap<u32, Entry>);

#[derive(Debug, Clone)]
struct Entry {
    command: String,
    parent: u32,
    cpu_ns: u64,
    /// CPU time of the children that the process has waited for.
    children_ns: u64,
    started_ticks: u64,
}

/// CPU time of one process between two readings, in steps of 10 ms. Its children have entries of their own,
/// since part of their time may precede the first reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    pub process: Process,
    pub cpu_ns: u64,
}

/// Resident memory of the live ones of these processes: the sum of `VmRSS`, shared pages counted for each.
#[must_use]
pub fn rss_bytes(pids: &BTreeSet<u32>) -> u64 {
    pids.iter().filter_map(|pid| procfs::memory_bytes(*pid, "VmRSS")).sum()
}

impl Activity {
    /// Reads all processes, which takes a few milliseconds on a machine with hundreds.
    #[must_use]
    pub fn read() -> Activity {
        let entry = |pid: u32| {
            let stat = procfs::stat(pid)?;
            let ns = |ticks| u64::try_from(procfs::ticks(ticks).as_nanos()).unwrap_or(u64::MAX);
            let (cpu_ns, children_ns) = (ns(stat.own_ticks), ns(stat.children_ticks));
            let Stat { command, parent, started_ticks, .. } = stat;
            Some((pid, Entry { command, parent, cpu_ns, children_ns, started_ticks }))
        };
        Activity(procfs::all_pids().into_iter().filter_map(entry).collect())
    }

    /// All processes, each with the CPU time of the children that it has waited for.
    pub(super) fn processes(&self) -> impl Iterator<Item = (Identity, u64)> {
        self.0.iter().map(|(pid, entry)| {
            (Identity { pid: *pid, started_ticks: entry.started_ticks }, entry.children_ns)
        })
    }

    /// The name of the program, cut to 15 bytes by the kernel.
    #[must_use]
    pub fn command(&self, pid: u32) -> Option<&str> {
        Some(&self.0.get(&pid)?.command)
    }

    /// These processes and all their descendants.
    #[must_use]
    pub fn family(&self, roots: &[u32]) -> BTreeSet<u32> {
        let mut family: BTreeSet<u32> = roots.iter().copied().collect();
        loop {
            let is_new = |pid: &u32, entry: &Entry| !family.contains(pid) && family.contains(&entry.parent);
            let children: Vec<u32> =
                self.0.iter().filter(|(pid, entry)| is_new(pid, entry)).map(|(pid, _)| *pid).collect();
            if children.is_empty() {
                return family;
            }
            family.extend(children);
        }
    }

    /// CPU time of the children that these processes have waited for since an earlier reading.
    #[must_use]
    pub fn waited_for_since(&self, before: &Activity, pids: &BTreeSet<u32>) -> u64 {
        let of = |pid| {
            let (now, before): (&Entry, &Entry) = (self.0.get(pid)?, before.0.get(pid)?);
            Some(now.children_ns.saturating_sub(before.children_ns))
        };
        pids.iter().filter_map(of).sum()
    }

    /// CPU time of each process since an earlier reading, the busiest first. Processes that used none, and
    /// those that began and ended between the readings, are left out.
    #[must_use]
    pub fn since(&self, before: &Activity) -> Vec<Used> {
        let used = |(pid, entry): (&u32, &Entry)| {
            // A process with another command may have taken over the PID: all its time is new.
            let earlier_ns = before.0.get(pid).filter(|before| before.command == entry.command);
            let cpu_ns = entry.cpu_ns.saturating_sub(earlier_ns.map_or(0, |before| before.cpu_ns));
            let process = Process { pid: *pid, command: entry.command.clone() };
            (cpu_ns > 0).then_some(Used { process, cpu_ns })
        };
        let mut all: Vec<Used> = self.0.iter().filter_map(used).collect();
        all.sort_by_key(|used| std::cmp::Reverse(used.cpu_ns));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(entries: &[(u32, u32, u64)]) -> Activity {
        let entry = |&(pid, parent, cpu_ns)| {
            let (command, children_ns) = (format!("p{pid}"), 2 * cpu_ns);
            (pid, Entry { command, parent, cpu_ns, children_ns, started_ticks: 1 })
        };
        Activity(entries.iter().map(entry).collect())
    }

    #[test]
    fn a_family_has_all_descendants() {
        let all = activity(&[(1, 0, 0), (5, 1, 0), (4, 5, 0), (9, 4, 0), (7, 1, 0)]);
        assert_eq!(all.family(&[5]).into_iter().collect::<Vec<_>>(), [4, 5, 9]);
        assert_eq!((all.command(9), all.command(77)), (Some("p9"), None));
        assert_eq!(all.family(&[7, 77]).into_iter().collect::<Vec<_>>(), [7, 77]);
    }

    #[test]
    fn what_was_used_is_a_difference_and_the_busiest_comes_first() {
        let (before, after) =
            (activity(&[(1, 0, 10), (2, 0, 50)]), activity(&[(1, 0, 30), (2, 0, 50), (3, 0, 90)]));
        let used: Vec<(u32, u64)> =
            after.since(&before).iter().map(|used| (used.process.pid, used.cpu_ns)).collect();
        assert_eq!(used, [(3, 90), (1, 20)]);
        assert_eq!(after.waited_for_since(&before, &[1, 2, 3].into()), 40, "of what was there before");
    }

    #[test]
    fn this_process_is_seen_to_work() {
        let before = Activity::read();
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let own = |after: &Activity| {
            after.since(&before).into_iter().find(|used| used.process.pid == std::process::id())
        };
        while own(&Activity::read()).is_none() {
            assert!(std::time::Instant::now() < end, "no CPU time in 10 s of work");
        }
    }
}
