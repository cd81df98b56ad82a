//! The cgroup of each node, below which the kubelet makes those of its pods. Only cgroups outlive a cluster's
//! processes outside of its folder, so their names begin with a hash of its path.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::processes::send;

const GONE_WITHIN: Duration = Duration::from_secs(10);
/// The controllers that the kubelet uses.
const CONTROLLERS: &str = "+cpu +cpuset +memory +pids";

/// The prefix of all cgroups of a cluster.
pub(super) fn prefix(folder: &Path) -> String {
    let hash = blake3::hash(folder.as_os_str().as_encoded_bytes());
    format!("kubernetes-{}-", &hash.to_hex()[..10])
}

/// The paths of the hierarchies: one per controller in version 1, a single one in version 2.
fn hierarchies() -> Vec<(PathBuf, bool)> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let of = |fields: Vec<&str>| match fields[..] {
        [_, place, "cgroup", ..] => Some((PathBuf::from(place), false)),
        [_, place, "cgroup2", ..] => Some((PathBuf::from(place), true)),
        _ => None,
    };
    fields.filter_map(of).collect()
}

/// Makes the cgroup of a node in all hierarchies, with all CPUs.
pub(super) fn make(name: &str) -> Result<()> {
    let mut hierarchies = hierarchies();
    if hierarchies.is_empty() {
        bail!("there are no cgroups here");
    }
    // Beside hierarchies of version 1, that of version 2 has no controllers, and the container runtime makes
    // its groups there itself.
    if hierarchies.iter().any(|(_, is_unified)| !is_unified) {
        hierarchies.retain(|(_, is_unified)| !is_unified);
    }
    for (place, is_unified) in hierarchies {
        let own = place.join(name);
        let made = || -> io::Result<()> {
            fs::create_dir_all(&own)?;
            if is_unified {
                fs::write(place.join("cgroup.subtree_control"), CONTROLLERS)?;
                fs::write(own.join("cgroup.subtree_control"), CONTROLLERS)?;
            } else if own.join("cpuset.cpus").exists() {
                for file in ["cpuset.cpus", "cpuset.mems"] {
                    fs::write(own.join(file), fs::read(place.join(file))?)?;
                }
            }
            Ok(())
        };
        made().with_context(|| own.display().to_string())?;
    }
    Ok(())
}

/// Removes all cgroups with this prefix, and ends the processes in them.
pub(super) fn remove(prefix: &str) -> Result<()> {
    let began = Instant::now();
    loop {
        let all = all(prefix);
        all.iter().for_each(|own| remove_below(own));
        let left: Vec<&PathBuf> = all.iter().filter(|own| own.exists()).collect();
        if left.is_empty() {
            return Ok(());
        }
        if began.elapsed() > GONE_WITHIN {
            bail!("cgroups are left: {left:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
}

pub(super) fn all(prefix: &str) -> Vec<PathBuf> {
    let entries = hierarchies().into_iter().filter_map(|(place, _)| fs::read_dir(place).ok()).flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let is_own = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)) && path.is_dir()
    };
    paths.filter(is_own).collect()
}

fn remove_below(cgroup: &Path) {
    let entries = fs::read_dir(cgroup).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).for_each(|path| remove_below(&path));
    let processes = fs::read_to_string(cgroup.join("cgroup.procs")).unwrap_or_default();
    for pid in processes.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid != 0) {
        send(pid, Signal::KILL);
    }
    let _it_is_tried_again = fs::remove_dir(cgroup);
}
