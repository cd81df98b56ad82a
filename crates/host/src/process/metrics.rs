//! Resource usage of a running service so far. Each figure is the kernel's counter at this instant; the
//! caller relates it to requests.

use super::bystanders::Bystanders;
use super::fallback;
use super::placement::{self, ThreadGroup};
use super::port;
use super::procfs::{self, Process};
use super::service::{Hold, RunningService};
use super::tally::CpuTime;
use super::unknown::CpuUnknown;
use std::{io, time::Duration};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modes {
    pub user: Duration,
    /// CPU time in the kernel on behalf of the service.
    pub system: Duration,
}

impl RunningService {
    /// CPU time of all its processes so far, or why it is unknown. While the service runs, the counter may be
    /// one tick (1 to 10 ms) behind; freeze the service first for an exact value. Without cgroup accounting
    /// it is the sum over its processes and their reaped children.
    ///
    /// # Errors
    /// The file of the cgroup cannot be read.
    pub fn cpu_time(&self) -> io::Result<Result<CpuTime, CpuUnknown>> {
        match &self.hold {
            Hold::Supervised(own) => own.group.cpu_time().map(Ok),
            Hold::Attached(server) => server.cpu_time(),
        }
    }

    /// [`RunningService::cpu_time`] in nanoseconds; absent if it is unknown.
    ///
    /// # Errors
    /// The file of the cgroup cannot be read.
    pub fn cpu_ns(&self) -> io::Result<Option<u64>> {
        Ok(self.cpu_time()?.ok().map(|time| time.ns()))
    }

    /// CPU time of all other processes so far, for a server that was found by its port: some may work for it.
    /// Absent for any other service.
    pub fn bystanders(&self) -> Option<Bystanders> {
        match &self.hold {
            Hold::Supervised(_) => None,
            Hold::Attached(server) => server.bystanders(),
        }
    }

    /// CPU time of its live processes by mode. The resolution is one tick, usually 10 ms, so it is meant for loads of seconds.
    pub fn cpu_by_mode(&self) -> Modes {
        let stats: Vec<procfs::Stat> = self.pids().into_iter().filter_map(procfs::stat).collect();
        let sum = |ticks: fn(&procfs::Stat) -> u64| stats.iter().map(ticks).sum::<u64>();
        let of = |ticks| procfs::ticks(sum(ticks));
        Modes { user: of(|stat| stat.user_ticks), system: of(|stat| stat.system_ticks) }
    }

    /// Peak resident memory in bytes: the sum of `VmHWM` over its live processes.
    ///
    /// The peak of its cgroup is not used. A cgroup is charged for each page of the page cache that it
    /// touches first, so the first service would pay for the shared libraries of all. `VmHWM` counts the
    /// pages that a process had mapped, whichever cgroup was charged. For several processes it is an upper
    /// bound: shared pages count for each, and the peaks may be at different times.
    pub fn rss_bytes_peak(&self) -> u64 {
        self.pids().into_iter().filter_map(|pid| procfs::memory_bytes(pid, "VmHWM")).sum()
    }

    /// Resident memory in bytes: the sum of `VmRSS` over its live processes. Shared pages count for each
    /// process.
    pub fn rss_bytes(&self) -> u64 {
        self.pids().into_iter().filter_map(|pid| procfs::memory_bytes(pid, "VmRSS")).sum()
    }

    /// Context switches of its live threads, voluntary and involuntary; absent if no process can be seen.
    pub fn context_switches(&self) -> Option<u64> {
        let of_process = |pid| {
            let threads = procfs::threads(pid).into_iter();
            threads.filter_map(move |thread| procfs::context_switches(pid, thread))
        };
        let pids = self.pids();
        (!pids.is_empty()).then(|| pids.into_iter().flat_map(of_process).sum())
    }

    /// Total time in which its live threads were ready but had no CPU; absent if the kernel does not count
    /// it. With their CPU time it gives the number of active threads, however few CPUs there are.
    pub fn waited_ns(&self) -> Option<u64> {
        let of_process =
            |pid| procfs::threads(pid).into_iter().map(move |thread| procfs::waited_ns(pid, thread));
        let pids = self.pids();
        let threads = pids.into_iter().flat_map(of_process);
        // A thread that has ended meanwhile has no value.
        threads.flatten().reduce(|all, one| all + one)
    }

    /// One of its processes that is stopped, as by SIGSTOP; a freeze does not count.
    pub fn stopped(&self) -> Option<Process> {
        self.pids().into_iter().filter(|pid| fallback::is_stopped(*pid)).find_map(Process::of)
    }

    /// Its live threads, grouped. It reads two files for each thread, some 20 µs: too slow during a slice.
    pub fn thread_groups(&self) -> Vec<ThreadGroup> {
        placement::groups(self.pids())
    }

    pub fn threads(&self) -> usize {
        self.pids().into_iter().map(|pid| procfs::threads(pid).len()).sum()
    }

    /// Why its CPU time is unknown, if it is: another program listens on its port, or the processes of a
    /// server that Tare did not start cannot be seen.
    pub fn cpu_unknown(&self) -> Option<CpuUnknown> {
        match &self.hold {
            Hold::Supervised(own) => port::other_listener(own.port?, &self.pids()).map(CpuUnknown::ServedBy),
            Hold::Attached(server) => server.unseen().map(CpuUnknown::Unseen),
        }
    }

    pub fn pids(&self) -> Vec<u32> {
        match &self.hold {
            Hold::Supervised(own) => own.pids(),
            Hold::Attached(server) => server.live(),
        }
    }
}
