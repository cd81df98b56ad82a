//! The CPU time of a server that Tare did not start, from its processes, with a check whether some is
//! missing.
//!
//! A process that begins and ends between two looks, and that no process reaps, is not seen. Inherited perf
//! counters include it. They omit the end of a process, and cost 10% of a request of 15 µs, as the kernel
//! stops and starts them at thread switches. So they are for the check only, and closed after it.

use std::{io, thread, time::Duration};

use super::{
    procfs::{self, Identity},
    syscall::{self, Heirs, TaskClock},
    tally::{CpuTime, Tally, tick_ns},
};
use crate::cpus::CpuTimes;

/// With more threads there are no counters: each thread needs two files.
const THREADS_MAX: usize = 256;
/// Attempts to open the counters while no new thread begins.
const OPENINGS_MAX: usize = 3;
/// Largest difference of two readings at about one instant.
const ERROR_NS: u64 = 1_000_000;
/// Counters show lost time if they exceed the processes by this share. They tend to count too little.
const ERROR_SHARE: f64 = 0.02;
/// Stolen time appears in `/proc/stat` at the next tick of the CPU that lost it. Two ticks of the slowest
/// clock (100 Hz) are enough.
const STEAL_SHOWN: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
pub(super) struct Meter {
    tally: Tally,
    /// The initial processes with their counters, until enough was counted.
    followed: Option<Vec<Followed>>,
    /// CPU time of the processes when the counters were opened.
    from_ns: u64,
    /// Stolen time of all CPUs at that instant.
    stolen_from_ns: u64,
    is_lossy: bool,
}

/// Comparison of the counters with the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CounterComparison {
    /// The counters have more time: a process ended unseen.
    More,
    AsMuch,
    TooLittleToTell,
}

/// A process that existed when the counters were opened, and all its descendants.
#[derive(Debug)]
struct Followed {
    process: Identity,
    /// CPU time by its clock when they were opened.
    from_ns: u64,
    /// One counter for each thread.
    own: Vec<TaskClock>,
    all: Vec<TaskClock>,
}

impl Meter {
    /// Counts these processes and all their descendants.
    pub(super) fn of(roots: &[u32], processes: &[u32]) -> Meter {
        let mut tally = Tally::default();
        // Read before the counters are opened: time between the two counts for the processes only.
        let from_ns = tally.read(roots).ns();
        let stolen_from_ns = stolen_ns();
        Meter { tally, followed: follow(processes), from_ns, stolen_from_ns, is_lossy: false }
    }

    pub(super) fn read(&mut self, roots: &[u32]) -> CpuTime {
        let mut time = self.tally.read(roots);
        let mut says = self.says(&time);
        if says == CounterComparison::More {
            thread::sleep(STEAL_SHOWN);
            time = self.tally.read(roots);
            says = self.says(&time);
        }
        self.is_lossy |= says == CounterComparison::More;
        if says != CounterComparison::TooLittleToTell {
            self.followed = None;
        }
        CpuTime { is_lossy: self.is_lossy, ..time }
    }

    fn says(&self, time: &CpuTime) -> CounterComparison {
        let Some(counted_ns) = self.counted_ns() else { return CounterComparison::TooLittleToTell };
        // While the hypervisor has a CPU, the counters advance and the clocks do not.
        let stolen_ns = stolen_ns().saturating_sub(self.stolen_from_ns);
        let error_ns = ERROR_NS + self.tally.error_ns() + stolen_ns;
        let share_ns = (counted_ns as f64 * ERROR_SHARE) as u64;
        // The last stolen tick may not be visible yet.
        if self.from_ns + counted_ns > time.ns() + error_ns + share_ns + tick_ns() {
            CounterComparison::More
        } else if error_ns < share_ns {
            CounterComparison::AsMuch
        } else {
            CounterComparison::TooLittleToTell
        }
    }

    /// Time since the counters were opened; absent once they are closed.
    fn counted_ns(&self) -> Option<u64> {
        self.followed.as_ref()?.iter().map(Followed::ns).sum::<io::Result<u64>>().ok()
    }
}

impl Followed {
    fn open(pid: u32) -> io::Result<Followed> {
        let process = Identity::of(pid).ok_or(io::ErrorKind::NotFound)?;
        let threads = procfs::threads(pid);
        let counters = |heirs| -> io::Result<Vec<TaskClock>> {
            threads.iter().map(|thread| syscall::task_clock(*thread, heirs)).collect()
        };
        let (own, all) = (counters(Heirs::Threads)?, counters(Heirs::All)?);
        Ok(Followed { process, from_ns: syscall::process_cpu_ns(pid)?, own, all })
    }

    /// CPU time by the clock of the process, plus counters of its descendants.
    fn ns(&self) -> io::Result<u64> {
        let sum = |counters: &[TaskClock]| counters.iter().map(TaskClock::ns).sum::<io::Result<u64>>();
        let counted_ns = sum(&self.own)?;
        let clock = syscall::process_cpu_ns(self.process.pid).ok().filter(|_| self.process.is_known());
        let own_ns = clock.map_or(counted_ns, |ns| ns.saturating_sub(self.from_ns));
        Ok(own_ns + sum(&self.all)?.saturating_sub(counted_ns))
    }
}

/// Stolen time up to now, in whole ticks.
fn stolen_ns() -> u64 {
    CpuTimes::of_machine().map_or(0, |times| times.steal_ns)
}

/// Opens the counters. Absent if the kernel refuses them, or if new threads keep beginning.
fn follow(processes: &[u32]) -> Option<Vec<Followed>> {
    let threads = || -> Vec<u32> { processes.iter().flat_map(|pid| procfs::threads(*pid)).collect() };
    for _ in 0..OPENINGS_MAX {
        let before = threads();
        if before.len() > THREADS_MAX {
            return None;
        }
        // A thread that begins meanwhile inherits a counter, or has none.
        let opened: io::Result<Vec<Followed>> = processes.iter().map(|pid| Followed::open(*pid)).collect();
        match opened {
            Ok(followed) if threads().iter().all(|thread| before.contains(thread)) => return Some(followed),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
