//! A limit on the CPU time of a program, by the kernel: for the trial in which a throttled server must be recognised.

use super::{cgroup, folder};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where a program can be limited. A group that was made for it is removed with this value.
#[derive(Debug)]
pub enum Quota {
    /// A group of the version 1 controller `cpu` with its limit set; the program enters it.
    Group(PathBuf),
    /// A folder of version 2 below which the program's own group has a file `cpu.max`.
    Own(PathBuf),
}

impl Quota {
    /// Makes one of so many microseconds of CPU time in each period, or says why there is none.
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
    /// A group that will not go is empty and harms nobody.
    fn drop(&mut self) {
        if let Quota::Group(group) = self {
            let _ = folder::remove(group);
        }
    }
}
