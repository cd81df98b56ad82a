//! A limit on the CPU time of a program, enforced by the kernel. The selftest uses it for a trial in which a
//! throttled server must be recognised.

use super::{cgroup, folder, naming};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A cgroup that limits a program. Dropping this removes the cgroup if it was made for it.
#[derive(Debug)]
pub enum CpuQuota {
    /// A group of the version 1 controller `cpu` with its limit set; the program enters it.
    Group(PathBuf),
    /// A folder of version 2 in which the program's own group has a file `cpu.max`.
    Own(PathBuf),
}

impl CpuQuota {
    /// Allows `quota_us` microseconds of CPU time in each period of `period_us`.
    ///
    /// # Errors
    /// Neither version of cgroups allows it; the text says why.
    pub fn new(quota_us: u32, period_us: u32) -> Result<CpuQuota, String> {
        let v1 = cgroup::folder_with(Some("cpu"), "cpu.cfs_quota_us").and_then(|parent| {
            let group = parent.join(naming::new_name());
            make(&group, quota_us, period_us).map_err(|error| format!("{group:?}: {error}"))?;
            Ok(CpuQuota::Group(group))
        });
        v1.or_else(|v1| {
            let v2 = cgroup::folder_with(None, "cpu.max").map(CpuQuota::Own);
            v2.map_err(|v2| format!("{v2}; {v1}"))
        })
    }
}

fn make(group: &Path, quota_us: u32, period_us: u32) -> io::Result<()> {
    fs::create_dir(group)?;
    let limited = fs::write(group.join("cpu.cfs_period_us"), period_us.to_string())
        .and_then(|()| fs::write(group.join("cpu.cfs_quota_us"), quota_us.to_string()));
    if limited.is_err() {
        let _ = folder::remove(group);
    }
    limited
}

impl Drop for CpuQuota {
    /// A group that cannot be removed is empty and harmless.
    fn drop(&mut self) {
        if let CpuQuota::Group(group) = self {
            let _ = folder::remove(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_its_quota_before_a_program_enters_it_and_goes_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("group");
        make(&group, 5_000, 10_000).unwrap();
        let read = |file: &str| fs::read_to_string(group.join(file)).unwrap();
        assert_eq!(
            (read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")),
            ("5000".to_owned(), "10000".to_owned())
        );
        // The kernel removes the files of a real cgroup; in a plain folder they must go first.
        for file in ["cpu.cfs_quota_us", "cpu.cfs_period_us"] {
            fs::remove_file(group.join(file)).unwrap();
        }
        drop(CpuQuota::Group(group.clone()));
        assert!(!group.exists());
    }

    #[test]
    fn a_group_that_exists_is_not_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(make(folder.path(), 1, 2).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(folder.path().is_dir());
        drop(CpuQuota::Own(folder.path().to_owned()));
        assert!(folder.path().is_dir(), "the folder is not this program's to remove");
    }

    #[test]
    fn a_machine_without_quotas_has_a_reason_for_each_version() {
        match &CpuQuota::new(5_000, 10_000) {
            Ok(CpuQuota::Group(group)) => assert!(group.is_dir()),
            Ok(CpuQuota::Own(folder)) => assert!(folder.is_dir()),
            Err(reason) => {
                assert!(reason.contains("cgroup v2") && reason.contains("cgroup v1 \"cpu\""), "{reason}")
            }
        }
    }
}
