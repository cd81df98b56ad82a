//! Queries processes and cgroups of this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

pub(crate) fn command_line(pid: u32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

pub(crate) fn has_entry(pid: u32, entry: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
}

pub(crate) fn processes(wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| wanted(*pid)).collect()
}

pub(crate) fn mounts() -> String {
    fs::read_to_string("/proc/self/mounts").unwrap_or_default()
}

/// Polls until `yes` is true or the time is over.
pub(crate) fn within(time: Duration, mut yes: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + time;
    loop {
        if yes() {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The cgroups made by the Tare with this PID.
pub(crate) fn groups_of(pid: u32) -> Vec<PathBuf> {
    fn look(folder: &Path, wanted: &str, depth: usize, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(wanted) {
                found.push(path);
            } else if depth > 0 {
                look(&path, wanted, depth - 1, found);
            }
        }
    }
    let mut found = Vec::new();
    look(Path::new("/sys/fs/cgroup"), &format!("tare-{pid}-"), 3, &mut found);
    found
}
