//! A limit on the CPU time of a program, enforced by the kernel. The selftest uses it for the trial in which a throttled
//! server must be recognised.

use super::{cgroup, folder};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A place where a program is limited. Dropping it removes the cgroup that was made for it.
#[derive(Debug)]
pub enum Quota {
    /// A group of the version 1 controller `cpu` with its limit set; the program enters it.
    Group(PathBuf),
    /// A folder of version 2 below which the program's own group has a file `cpu.max`.
    Own(PathBuf),
}

impl Quota {
    /// Allows `quota_us` microseconds of CPU time in each period of `period_us`.
    ///
    /// # Errors
    /// Neither version of cgroups allows it; the text says why.
    pub fn new(quota_us: u32, period_us: u32) -> Result<Quota, String> {
        let v1 = cgroup::folder_with(Some("cpu"), "cpu.cfs_quota_us").and_then(|parent| {
            let group = parent.join(cgroup::new_name());
            make(&group, quota_us, period_us).map_err(|error| format!("{group:?}: {error}"))?;
            Ok(Quota::Group(group))
        });
        v1.or_else(|v1| {
            let v2 = cgroup::folder_with(None, "cpu.max").map(Quota::Own);
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

impl Drop for Quota {
    /// A group that cannot be removed is empty and does no harm.
    fn drop(&mut self) {
        if let Quota::Group(group) = self {
            let _ = folder::remove(group);
        }
    }
}
