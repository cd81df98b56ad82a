//! The CPU time of a server that runs already, by its processes, and whether some is missing in that.
//!
//! A process that begins and ends between two looks is not seen at all if no process waits for it. But the kernel has counters that
//! each child inherits, whoever its parent is later. What they say is too little for a figure, since it has no part of what it takes
//! to end a process, and they cost something: the kernel stops and starts them with each thread, and a request of 15 µs would pay 10%
//! for that. So they are open until they have counted enough to be compared with what the processes say.

use std::{io, thread, time::Duration};

use super::{
    procfs::{self, Identity},
    syscall::{self, Heirs, TaskClock},
    tally::{CpuTime, Tally, tick_ns},
};
use crate::cpus::Times;

/// More threads than this have no counters: each needs two files.
const THREADS_MAX: usize = 256;
/// How often counters are opened until no thread begins meanwhile.
const OPENINGS_MAX: usize = 3;
/// What two readings at about one instant may differ by.
const ERROR_NS: u64 = 1_000_000;
/// Counters that say more by this share say more. They say too little rather than too much.
const ERROR_SHARE: f64 = 0.02;
/// The kernel adds time that the hypervisor took to `/proc/stat` at the next tick of the CPU that lost it, however much it was. Two ticks
/// of the slowest clock (100 Hz) are enough.
const STEAL_SHOWN: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
pub(super) struct Meter {
    tally: Tally,
    /// All processes that were there at first, until enough was counted.
    followed: Option<Vec<Followed>>,
    /// What they had taken then.
    from_ns: u64,
    /// What the hypervisor had taken of all CPUs then.
    stolen_from_ns: u64,
    is_lossy: bool,
}

/// What the counters say beside the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// They have time that the processes do not have: some ended unseen.
    More,
    AsMuch,
    TooLittleToTell,
}

/// A process that was there when the counters were opened, and all that it starts.
#[derive(Debug)]
struct Followed {
    process: Identity,
    /// Its clock when they were opened.
    from_ns: u64,
    /// For each thread.
    own: Vec<TaskClock>,
    all: Vec<TaskClock>,
}

impl Meter {
    /// Counts these processes and all that descend from them.
    pub(super) fn of(roots: &[u32], processes: &[u32]) -> Meter {
        let mut tally = Tally::default();
        // Before the counters are opened: what is taken between the two is in the processes alone, and never in the counters alone.
        let from_ns = tally.read(roots).ns();
        let stolen_from_ns = stolen_ns();
        Meter { tally, followed: follow(processes), from_ns, stolen_from_ns, is_lossy: false }
    }

    pub(super) fn read(&mut self, roots: &[u32]) -> CpuTime {
        let mut time = self.tally.read(roots);
        let mut says = self.says(&time);
        if says == Says::More {
            thread::sleep(STEAL_SHOWN);
            time = self.tally.read(roots);
            says = self.says(&time);
        }
        self.is_lossy |= says == Says::More;
        if says != Says::TooLittleToTell {
            self.followed = None;
        }
        CpuTime { is_lossy: self.is_lossy, ..time }
    }

    fn says(&self, time: &CpuTime) -> Says {
        let Some(counted_ns) = self.counted_ns() else { return Says::TooLittleToTell };
        // While the hypervisor has a CPU the counters go on, and the clocks do not.
        let stolen_ns = stolen_ns().saturating_sub(self.stolen_from_ns);
        let error_ns = ERROR_NS + self.tally.error_ns() + stolen_ns;
        let share_ns = (counted_ns as f64 * ERROR_SHARE) as u64;
        // The last tick that was stolen may not be shown yet.
        if self.from_ns + counted_ns > time.ns() + error_ns + share_ns + tick_ns() {
            Says::More
        } else if error_ns < share_ns {
            Says::AsMuch
        } else {
            Says::TooLittleToTell
        }
    }

    /// Since the counters were opened; absent if they are open no more.
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

    /// By the clock of the process, and by counters of what it started.
    fn ns(&self) -> io::Result<u64> {
        let sum = |counters: &[TaskClock]| counters.iter().map(TaskClock::ns).sum::<io::Result<u64>>();
        let counted_ns = sum(&self.own)?;
        let clock = syscall::process_cpu_ns(self.process.pid).ok().filter(|_| self.process.is_known());
        let own_ns = clock.map_or(counted_ns, |ns| ns.saturating_sub(self.from_ns));
        Ok(own_ns + sum(&self.all)?.saturating_sub(counted_ns))
    }
}

/// Up to now, in ticks.
fn stolen_ns() -> u64 {
    Times::of_machine().map_or(0, |times| times.steal_ns)
}

/// Absent if the kernel allows no counters, or threads begin all the time.
fn follow(processes: &[u32]) -> Option<Vec<Followed>> {
    let threads = || -> Vec<u32> { processes.iter().flat_map(|pid| procfs::threads(*pid)).collect() };
    for _ in 0..OPENINGS_MAX {
        let before = threads();
        if before.len() > THREADS_MAX {
            return None;
        }
        // A thread that begins meanwhile has the counter of the one that started it, or none.
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
