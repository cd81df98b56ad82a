//! Run time of tasks on each CPU by the scheduler's clock, in nanoseconds. `/proc/stat` counts in ticks of 10
//! ms, a tenth of a slice.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// The counter is exact for tasks that have left their CPU. For a running task it may lack the time since the
/// last timer interrupt: 4 ms at 250 Hz, the rate of most kernels.
pub(crate) const RUN_ERROR_NS: u64 = 4_000_000;

/// The source in which the kernel reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunClock {
    /// `cpuacct.usage_percpu` of the root of a cgroup v1 hierarchy, which contains all tasks of the machine.
    RootGroup(PathBuf),
    /// `/proc/schedstat`, with `CONFIG_SCHEDSTATS`.
    Schedstat(PathBuf),
}

impl RunClock {
    /// The source on this machine, if there is one.
    pub(crate) fn here() -> Option<&'static RunClock> {
        static HERE: LazyLock<Option<RunClock>> = LazyLock::new(|| {
            let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
            RunClock::find(&mounts, Path::new("/proc/schedstat"))
        });
        HERE.as_ref()
    }

    /// Only a real root has `release_agent`: the apparent root in a container counts its own tasks only.
    fn find(mounts: &str, schedstat: &Path) -> Option<RunClock> {
        let is_cpuacct = |line: &&str| line.contains(" - cgroup ") && line.contains("cpuacct");
        let places = mounts.lines().filter(is_cpuacct).filter_map(|line| line.split(' ').nth(4));
        let mut roots = places.map(Path::new).filter(|place| place.join("release_agent").exists());
        let usage = roots.next().map(|root| root.join("cpuacct.usage_percpu"));
        let group = usage.filter(|usage| usage.exists()).map(RunClock::RootGroup);
        group.or_else(|| schedstat.exists().then(|| RunClock::Schedstat(schedstat.to_owned())))
    }

    /// Run time so far of each CPU, by CPU number.
    pub(crate) fn read(&self) -> Option<Vec<u64>> {
        match self {
            RunClock::RootGroup(path) => of_group(&fs::read_to_string(path).ok()?),
            RunClock::Schedstat(path) => Some(of_schedstat(&fs::read_to_string(path).ok()?)),
        }
    }
}

/// One number for each CPU.
fn of_group(text: &str) -> Option<Vec<u64>> {
    text.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

/// Parses lines `cpu0 0 0 0 0 0 0 RAN WAITED SLICES`, one for each online CPU; 0 for the others.
fn of_schedstat(text: &str) -> Vec<u64> {
    let mut found = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("cpu")) {
        let mut fields = line.split_ascii_whitespace();
        let cpu = fields.next().and_then(|number| number.parse::<u16>().ok()).map(usize::from);
        if let Some((cpu, ran)) = cpu.zip(fields.nth(6).and_then(|ran| ran.parse().ok())) {
            found.resize(found.len().max(cpu + 1), 0);
            found[cpu] = ran;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sources_have_a_number_for_each_cpu() {
        assert_eq!(
            of_group("32815164030707 34593899822464 \n"),
            Some(vec![32_815_164_030_707, 34_593_899_822_464])
        );
        assert_eq!(of_group("12 x"), None);
        let schedstat =
            "version 17\ntimestamp 4\ncpu0 0 0 0 0 0 0 101 5 9\ndomain0 MC 3 0\ncpu2 1 2 3 4 5 6 303 7 8\n";
        assert_eq!(of_schedstat(schedstat), [101, 0, 303]);
        assert!(of_schedstat("cpu0 1 2\ncpux 0 0 0 0 0 0 7\n").is_empty());
    }

    #[test]
    fn the_group_of_a_container_is_no_root() {
        let folder = tempfile::tempdir().unwrap();
        let (group, schedstat) = (folder.path().join("cpuacct"), folder.path().join("schedstat"));
        fs::create_dir(&group).unwrap();
        fs::write(group.join("cpuacct.usage_percpu"), "7 9\n").unwrap();
        let mounts = format!(
            "31 24 0:27 / {0} rw,nosuid - tmpfs tmpfs rw\n36 31 0:32 / {0} rw - cgroup cgroup rw,cpu,cpuacct\n",
            group.display()
        );
        assert_eq!(RunClock::find(&mounts, &schedstat), None);
        fs::write(&schedstat, "cpu0 0 0 0 0 0 0 5 0 0\n").unwrap();
        let found = RunClock::find(&mounts, &schedstat).unwrap();
        assert_eq!((found.read(), found), (Some(vec![5]), RunClock::Schedstat(schedstat.clone())));
        fs::write(group.join("release_agent"), "").unwrap();
        let found = RunClock::find(&mounts, &schedstat).unwrap();
        assert_eq!(found.read(), Some(vec![7, 9]));
    }

    /// A thread works for a while and then leaves its CPU.
    #[test]
    fn the_clock_of_this_machine_counts_what_runs() {
        let Some(clock) = RunClock::here() else { return };
        let sum = || clock.read().unwrap().iter().sum::<u64>();
        let before = sum();
        let work = || {
            let began = std::time::Instant::now();
            while began.elapsed().as_millis() < 30 {}
            rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)
        };
        let ran = std::thread::spawn(work).join().unwrap();
        let ran_ns = ran.tv_sec as u64 * 1_000_000_000 + ran.tv_nsec as u64;
        let counted_ns = sum() - before;
        assert!(counted_ns + RUN_ERROR_NS >= ran_ns, "{counted_ns} of {ran_ns}");
    }
}
