//! The group of one service: its cgroups, its process group and an environment variable. By these all its
//! processes are found, frozen, accounted and killed. It knows nothing of programs, readiness or outcomes.

use super::cgroup::{Cgroups, Isolation};
use super::tally::{CpuTime, Tally};
use super::{fallback, folder, naming, procfs};
use rustix::process::Signal;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The data needed to find and kill all processes of a group, even from the watchdog or the sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trace {
    /// The name of the group, which is also the value of the environment variable.
    pub name: String,
    /// Its cgroups; empty on a machine without them.
    pub folders: Vec<PathBuf>,
    /// Its process group; absent before its first process.
    pub pgid: Option<u32>,
}

impl Trace {
    pub(super) fn live(&self) -> Vec<u32> {
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
    pub(super) fn destroy(&self, patience: Duration) -> Vec<u32> {
        /// Number of consecutive checks that must find it empty: exec hides the environment for an instant.
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
                fallback::signal_process(pid, Signal::KILL);
            }
        }
    }

    /// A cgroup that cannot be removed is left to the next sweep: it is empty and harmless.
    pub(super) fn remove_folders(&self) {
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
    /// Its cpuset.
    pinning: Option<PathBuf>,
    /// The source of its CPU time, with its own folder.
    accounting: Cgroups,
    /// Counts CPU time if there is no such folder.
    tally: Mutex<Tally>,
}

impl Group {
    /// Chooses a new name. Nothing is created before [`Group::make`], so the watchdog can be informed first.
    pub(super) fn plan(isolation: &Isolation) -> Self {
        let name = naming::new_name();
        let folders = isolation.parents().iter().map(|parent| parent.join(&name)).collect();
        let own = |of: &Cgroups| of.folder().map(|parent| parent.join(&name));
        let (freezer, pinning) = (own(&isolation.freezer), own(&isolation.pinning));
        let accounting = match &isolation.accounting {
            Cgroups::V1(parent) => Cgroups::V1(parent.join(&name)),
            Cgroups::V2(parent) => Cgroups::V2(parent.join(&name)),
            none => none.clone(),
        };
        let tally = Mutex::default();
        Self { trace: Trace { name, folders, pgid: None }, freezer, pinning, accounting, tally }
    }

    /// Makes the cgroups for these CPUs (empty: any), and opens the files by which a process enters them.
    pub(super) fn make(&self, cpus: &[usize]) -> Result<Vec<File>, (PathBuf, io::Error)> {
        let enter = |folder: &PathBuf| {
            fs::create_dir(folder)?;
            if self.pinning.as_ref() == Some(folder) {
                folder::begin_cpus(folder, cpus)?;
            }
            fs::OpenOptions::new().write(true).open(folder.join("cgroup.procs"))
        };
        self.trace
            .folders
            .iter()
            .map(|folder| enter(folder).map_err(|error| (folder.clone(), error)))
            .collect()
    }

    /// Changes the CPUs of its cpuset, if it has one that still exists.
    pub(super) fn allow_cpus(&self, cpus: &[usize]) {
        if let Some(folder) = &self.pinning {
            let _as_it_is = folder::set_cpus(folder, cpus);
        }
    }

    /// Freezes or thaws the group; [`Group::is_frozen`] reports whether a freeze is complete.
    pub(super) fn set_frozen(&self, frozen: bool) -> io::Result<()> {
        match &self.freezer {
            Some(folder) => folder::set_frozen(folder, frozen),
            None => {
                self.signal_each(if frozen { Signal::STOP } else { Signal::CONT });
                Ok(())
            }
        }
    }

    pub(super) fn is_frozen(&self) -> io::Result<bool> {
        match &self.freezer {
            Some(folder) => folder::is_frozen(folder),
            None => Ok(self.trace.live().iter().all(|&pid| fallback::is_stopped(pid))),
        }
    }

    /// Signals the process group in one call. A process that has left it receives nothing.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pgid) = self.trace.pgid {
            fallback::signal_group(pgid, signal);
        }
    }

    /// Signals the process group and then each process, since some may have left the process group.
    fn signal_each(&self, signal: Signal) {
        self.signal(signal);
        self.trace.live().into_iter().for_each(|pid| fallback::signal_process(pid, signal));
    }

    pub(super) fn cpu_time(&self) -> io::Result<CpuTime> {
        let of_processes =
            || self.tally.lock().unwrap_or_else(PoisonError::into_inner).read(&self.trace.live());
        Ok(self.accounting.cpu_ns()?.map_or_else(of_processes, CpuTime::whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Isolation by cgroups in plain folders.
    fn isolation(freezer: &Path, accounting: Cgroups) -> Isolation {
        let killing = Cgroups::None("a test".to_owned());
        let pinning = killing.clone();
        Isolation { freezer: Cgroups::V2(freezer.to_owned()), accounting, killing, pinning }
    }

    #[test]
    fn a_planned_group_exists_only_once_it_is_made() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let group = Group::plan(&isolation(one.path(), Cgroups::V2(two.path().to_owned())));
        let folders = [one.path().join(&group.trace.name), two.path().join(&group.trace.name)];
        assert_eq!(group.trace.folders, folders);
        assert!(!folders[0].exists());
        let (path, error) = group.make(&[]).unwrap_err();
        assert_eq!(
            (path, error.kind()),
            (folders[0].clone(), io::ErrorKind::NotFound),
            "it has no cgroup.procs"
        );
        group.trace.remove_folders();
        assert!(!folders[0].exists());
    }

    #[test]
    fn groups_have_names_of_their_own() {
        let plan = || Group::plan(&Isolation::none("a test")).trace;
        let (one, two) = (plan(), plan());
        assert_ne!(one.name, two.name);
        assert!(one.folders.is_empty() && one.pgid.is_none());
    }

    #[test]
    fn cpu_time_is_read_in_the_unit_of_its_file() {
        let parent = tempfile::tempdir().unwrap();
        type How = fn(PathBuf) -> Cgroups;
        let table: [(How, &str, &str, Option<u64>); 4] = [
            (Cgroups::V1, "cpuacct.usage", "123\n", Some(123)),
            (Cgroups::V2, "cpu.stat", "nr_periods 3\nusage_usec 7\nuser_usec 1\n", Some(7_000)),
            (Cgroups::V2, "cpu.stat", "user_usec 1\n", None),
            (Cgroups::V1, "cpuacct.usage", "-1", None),
        ];
        for (how, file, text, expected) in table {
            let group = Group::plan(&isolation(parent.path(), how(parent.path().to_owned())));
            let folder = parent.path().join(&group.trace.name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(file), text).unwrap();
            match (group.cpu_time().map(|time| time.ns()), expected) {
                (Ok(ns), Some(expected)) => assert_eq!(ns, expected),
                (Err(error), None) => assert!(error.to_string().contains(&format!("{text:?}")), "{error}"),
                (found, expected) => panic!("{text:?}: {found:?} instead of {expected:?}"),
            }
        }
    }

    #[test]
    fn a_process_without_cgroups_is_destroyed_with_its_children() {
        use std::os::unix::process::CommandExt;
        let mut trace = Group::plan(&Isolation::none("a test")).trace;
        let mut command = std::process::Command::new("sh");
        // The second process leaves the process group, and is found only by its mark.
        command.args(["-c", "setsid sleep 60 & sleep 60"]).env(fallback::MARK, &trace.name).process_group(0);
        let mut child = command.spawn().unwrap();
        trace.pgid = Some(child.id());
        let end = Instant::now() + Duration::from_secs(10);
        while trace.live().len() < 3 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(trace.live().len(), 3, "the shell and two processes");
        assert_eq!(trace.destroy(Duration::from_secs(10)), [] as [u32; 0]);
        assert_eq!(trace.live(), [] as [u32; 0]);
        assert!(!child.wait().unwrap().success());
    }
}
