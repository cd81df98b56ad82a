//! What a running service has cost so far. Each figure is a look at the kernel's books at this instant; what it means
//! and how it is related to requests is for others to say.

use super::{Service, procfs};
use std::{io, time::Duration};

/// CPU time by mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modes {
    /// The program's own.
    pub user: Duration,
    /// The kernel's, on its behalf.
    pub system: Duration,
}

impl Service {
    /// CPU time of all its processes since the start, in nanoseconds. While it runs the kernel's books may be a tick
    /// (1 to 10 ms) behind: freeze it first where that matters.
    ///
    /// Without group accounting it is the sum over the processes that live now.
    pub fn cpu_ns(&self) -> io::Result<u64> {
        self.group.cpu_ns()
    }

    /// CPU time of its live processes by mode, in ticks of usually 10 ms and so only for loads that take seconds.
    pub fn cpu_by_mode(&self) -> Modes {
        let stats: Vec<procfs::Stat> = self.pids().into_iter().filter_map(procfs::stat).collect();
        let sum = |ticks: fn(&procfs::Stat) -> u64| stats.iter().map(ticks).sum::<u64>();
        let of = |ticks| procfs::ticks(sum(ticks));
        Modes { user: of(|stat| stat.user_ticks), system: of(|stat| stat.system_ticks) }
    }

    /// The most memory that was resident, in bytes: the sum of `VmHWM` over its live processes.
    ///
    /// Not the peak of its cgroup, though there is one: a cgroup is charged with every page of the page cache that it
    /// touches first, so that the service which starts first pays for the shared libraries of all, and a run after
    /// another is lighter than the same run after a reboot. `VmHWM` counts the pages that a process had mapped, whoever
    /// paid. Its own fault: what two processes of a service share is counted twice, and their peaks may have been at
    /// different times, so with several processes it is an upper bound.
    pub fn rss_bytes_peak(&self) -> u64 {
        self.pids().into_iter().filter_map(procfs::rss_bytes_peak).sum()
    }

    /// The memory that is resident now, in bytes: the sum of `VmRSS` over its live processes. What they share is counted
    /// for each of them.
    pub fn rss_bytes(&self) -> u64 {
        self.pids().into_iter().filter_map(procfs::rss_bytes).sum()
    }

    /// Context switches of its live threads, voluntary and not.
    pub fn context_switches(&self) -> u64 {
        let of_process = |pid| {
            let threads = procfs::threads(pid).into_iter();
            threads.filter_map(move |thread| procfs::context_switches(pid, thread))
        };
        self.pids().into_iter().flat_map(of_process).sum()
    }

    /// How many threads it has now.
    pub fn threads(&self) -> usize {
        self.pids().into_iter().map(|pid| procfs::threads(pid).len()).sum()
    }

    /// Its live processes.
    pub fn pids(&self) -> Vec<u32> {
        self.group.trace.live()
    }
}
