//! Time for which the kernel throttled a process whose cgroup had used up its CPU quota. A container or a
//! systemd slice around Tare may set such a quota. It only reads.

use std::fs;
use std::path::{Path, PathBuf};

use super::cgroup;

/// The cgroups that may throttle a process: its own and its ancestors.
#[derive(Debug, Clone, Default)]
pub struct Throttle {
    files: Vec<PathBuf>,
}

impl Throttle {
    /// Finds the cgroups once. They stay the same even if the process moves to another cgroup later.
    pub fn of(pid: u32) -> Throttle {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let versions = [None, Some("cpu")].into_iter();
        let files = versions.filter_map(|controller| files(&mounts, &groups, controller)).flatten();
        Throttle { files: files.filter(|file| read(file).is_some()).collect() }
    }

    /// Total throttled time of these cgroups so far; absent if the kernel does not count it.
    pub fn ns(&self) -> Option<u64> {
        let times = self.files.iter().map(|file| read(file));
        times.sum::<Option<u64>>().filter(|_| !self.files.is_empty())
    }
}

/// Files from the process's cgroup up to the root of the mount.
fn files(mounts: &str, groups: &str, controller: Option<&str>) -> Option<Vec<PathBuf>> {
    let (mount, root) = cgroup::mount(mounts, controller)?;
    let path = cgroup::own_path(groups, controller)?;
    let inside = path.strip_prefix(root.as_str()).unwrap_or_default().trim_start_matches('/');
    let folder = mount.join(inside);
    let above = folder.ancestors().take_while(|folder| folder.starts_with(&mount));
    Some(above.map(|folder| folder.join("cpu.stat")).collect())
}

fn read(file: &Path) -> Option<u64> {
    throttled_ns(&fs::read_to_string(file).ok()?)
}

/// Version 2 has `throttled_usec`, version 1 `throttled_time` in nanoseconds.
fn throttled_ns(stat: &str) -> Option<u64> {
    let value =
        |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    value("throttled_usec ").map(|usec| usec.saturating_mul(1000)).or_else(|| value("throttled_time "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_versions_are_read() {
        assert_eq!(throttled_ns("usage_usec 5\nnr_throttled 2\nthrottled_usec 30\n"), Some(30_000));
        assert_eq!(throttled_ns("nr_periods 7\nnr_throttled 2\nthrottled_time 31\n"), Some(31));
        assert_eq!(throttled_ns("usage_usec 5\nuser_usec 3\n"), None, "no quota can be set here");
    }

    #[test]
    fn the_groups_above_count_too() {
        let mounts = "31 30 0:27 / /sys/fs/cgroup rw shared:10 - cgroup2 cgroup2 rw\n";
        let found = files(mounts, "0::/a/b\n", None).unwrap();
        let expected =
            ["/sys/fs/cgroup/a/b/cpu.stat", "/sys/fs/cgroup/a/cpu.stat", "/sys/fs/cgroup/cpu.stat"];
        assert_eq!(found, expected.map(PathBuf::from));
        assert_eq!(files(mounts, "1:cpu:/\n", Some("cpu")), None, "not mounted");
    }

    #[test]
    fn only_the_part_below_the_mount_is_a_folder() {
        let mounts = "31 30 0:27 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let found = files(mounts, "0::/docker/x/a\n", None).unwrap();
        assert_eq!(found, ["/sys/fs/cgroup/a/cpu.stat", "/sys/fs/cgroup/cpu.stat"].map(PathBuf::from));
    }

    #[test]
    fn the_groups_of_a_process_are_summed_and_absent_ones_are_not_zero() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            fs::write(folder.path().join(name), text).unwrap();
            folder.path().join(name)
        };
        let files = vec![file("a", "throttled_usec 2\n"), file("b", "throttled_time 30\n")];
        assert_eq!(Throttle { files: files.clone() }.ns(), Some(2_030));
        fs::remove_file(&files[0]).unwrap();
        assert_eq!(Throttle { files }.ns(), None, "one has gone");
        assert_eq!(Throttle::default().ns(), None);
        assert_eq!(Throttle::of(u32::MAX).ns(), None, "no such process");
    }

    proptest! {
        #[test]
        fn the_time_is_found_among_other_counters(time in any::<u64>(), before in 0_usize..5, is_v2 in any::<bool>()) {
            let name = if is_v2 { "throttled_usec" } else { "throttled_time" };
            let others = "nr_periods 12\nnr_throttled 3\nuser_usec 7\nsystem_usec 9\nusage_usec 16\n".lines();
            let mut lines: Vec<String> = others.map(str::to_owned).collect();
            lines.insert(before, format!("{name} {time}"));
            let expected = if is_v2 { time.saturating_mul(1000) } else { time };
            prop_assert_eq!(throttled_ns(&lines.join("\n")), Some(expected));
            lines.remove(before);
            prop_assert_eq!(throttled_ns(&lines.join("\n")), None);
        }

        #[test]
        fn no_counter_is_too_much(text in "(throttled_(usec|time)|[0-9]{1,25}| |-|\n|é){0,20}") {
            let _any = throttled_ns(&text);
        }
    }
}
