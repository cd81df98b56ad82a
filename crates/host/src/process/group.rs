//! The group of one service: its cgroups, its process group and the variable in its environment, by which all its processes
//! are found, frozen, accounted and killed. It knows nothing of programs, readiness or outcomes.

use super::cgroup::{self, Accounting, Freezer, Isolation};
use super::{fallback, folder, procfs, syscall};
use rustix::process::Signal;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Enough to find and kill all processes of a group, also from another process (the watchdog, the sweep).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trace {
    /// The name of the group, which is also the value of the environment variable.
    pub name: String,
    /// Its cgroups; empty on a machine without them.
    pub folders: Vec<PathBuf>,
    /// Its process group, once there is one.
    pub pgid: Option<u32>,
}

impl Trace {
    /// Every live process of the group.
    pub fn live(&self) -> Vec<u32> {
        if self.folders.is_empty() {
            return fallback::members(&self.name, self.pgid);
        }
        let mut pids: Vec<u32> = self.folders.iter().flat_map(|folder| folder::pids(folder)).collect();
        pids.sort_unstable();
        pids.dedup();
        pids.retain(|&pid| procfs::is_alive(pid));
        pids
    }

    /// Kills every process of the group, frozen or not, removes its cgroups, and returns the processes that are still
    /// alive after `patience`.
    pub fn destroy(&self, patience: Duration) -> Vec<u32> {
        /// The group must be found empty twice: during exec a process shows no environment for an instant.
        const EMPTY_CHECKS: u32 = 2;
        let deadline = Instant::now() + patience;
        let mut empty = 0;
        loop {
            self.kill_once();
            let live = self.live();
            empty = if live.is_empty() { empty + 1 } else { 0 };
            if empty >= EMPTY_CHECKS || Instant::now() > deadline {
                self.remove_folders();
                return live;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn kill_once(&self) {
        for folder in &self.folders {
            folder::kill(folder);
        }
        if let Some(pgid) = self.pgid {
            fallback::signal_group(pgid, Signal::KILL);
        }
        if self.folders.is_empty() {
            for pid in self.live() {
                fallback::kill_process(pid);
            }
        }
    }

    /// A cgroup that cannot be removed is left to the next sweep: nothing runs in it, so it does no harm.
    pub fn remove_folders(&self) {
        for folder in &self.folders {
            let _ = folder::remove(folder);
        }
    }
}

/// The group of a service of this process.
#[derive(Debug)]
pub(super) struct Group {
    pub trace: Trace,
    freezer: Option<PathBuf>,
    usage: Option<Usage>,
}

/// The file that holds the CPU time of the group.
#[derive(Debug)]
enum Usage {
    /// A file with one number of nanoseconds.
    Nanoseconds(PathBuf),
    /// A file with a line `usage_usec`.
    Microseconds(PathBuf),
}

impl Group {
    /// Plans a group under a new name. Nothing exists before [`Group::make`], so that the watchdog can be informed first.
    pub fn plan(isolation: &Isolation) -> Self {
        let name = cgroup::new_name();
        let folders = isolation.parents().iter().map(|parent| parent.join(&name)).collect();
        let freezer = match &isolation.freezer {
            Freezer::V2(parent) | Freezer::V1(parent) => Some(parent.join(&name)),
            Freezer::None(_) => None,
        };
        let usage = match &isolation.accounting {
            Accounting::V1(parent) => Some(Usage::Nanoseconds(parent.join(&name).join("cpuacct.usage"))),
            Accounting::V2(parent) => Some(Usage::Microseconds(parent.join(&name).join("cpu.stat"))),
            Accounting::None(_) => None,
        };
        Self { trace: Trace { name, folders, pgid: None }, freezer, usage }
    }

    /// Makes the cgroups and opens the files by which a process enters them.
    ///
    /// # Errors
    /// The first cgroup that cannot be made, with the reason.
    pub fn make(&self) -> Result<Vec<File>, (PathBuf, io::Error)> {
        let enter = |folder: &PathBuf| {
            fs::create_dir(folder)?;
            fs::OpenOptions::new().write(true).open(folder.join("cgroup.procs"))
        };
        self.trace
            .folders
            .iter()
            .map(|folder| enter(folder).map_err(|error| (folder.clone(), error)))
            .collect()
    }

    /// Requests that all processes stand still.
    pub fn freeze(&self) -> io::Result<()> {
        match &self.freezer {
            Some(folder) => folder::freeze(folder),
            None => {
                self.signal_each(Signal::STOP);
                Ok(())
            }
        }
    }

    /// Whether all of them do.
    pub fn is_frozen(&self) -> io::Result<bool> {
        match &self.freezer {
            Some(folder) => folder::is_frozen(folder),
            None => Ok(self.trace.live().iter().all(|&pid| fallback::is_stopped(pid))),
        }
    }

    /// Lets all processes run again.
    pub fn thaw(&self) -> io::Result<()> {
        match &self.freezer {
            Some(folder) => folder::thaw(folder),
            None => {
                self.signal_each(Signal::CONT);
                Ok(())
            }
        }
    }

    /// Sends a signal to the process group in one call. A process that has left the group does not get it.
    pub fn signal(&self, signal: Signal) {
        if let Some(pgid) = self.trace.pgid {
            fallback::signal_group(pgid, signal);
        }
    }

    /// Sends a signal to the process group and then to each process, as some may have left the process group.
    fn signal_each(&self, signal: Signal) {
        self.signal(signal);
        self.trace.live().into_iter().for_each(|pid| fallback::signal_process(pid, signal));
    }

    /// The CPU time of the group so far.
    pub fn cpu_ns(&self) -> io::Result<u64> {
        match &self.usage {
            Some(Usage::Nanoseconds(file)) => parse(file, |text| text.trim().parse().ok()),
            Some(Usage::Microseconds(file)) => parse(file, |text| {
                let value = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
                Some(value.parse::<u64>().ok()? * 1000)
            }),
            None => Ok(self.trace.live().iter().filter_map(|&pid| syscall::process_cpu_ns(pid).ok()).sum()),
        }
    }
}

fn parse(file: &Path, number: impl Fn(&str) -> Option<u64>) -> io::Result<u64> {
    let text = fs::read_to_string(file)?;
    number(&text).ok_or_else(|| io::Error::other(format!("{file:?} has no CPU time in it: {text:?}")))
}
