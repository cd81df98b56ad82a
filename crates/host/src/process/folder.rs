//! One cgroup as a folder of files: freeze, thaw, kill, list, remove. The version is recognised by the files in it, so the
//! watchdog and the sweep need only a path. It knows nothing of services.

use super::fallback::kill_process;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long removal is retried after the last process has died: the kernel releases a process a little later.
const REMOVAL: Duration = Duration::from_secs(2);

/// Requests a freeze; [`is_frozen`] says whether it is complete.
pub(super) fn freeze(folder: &Path) -> io::Result<()> {
    if folder.join("cgroup.freeze").exists() {
        write(folder, "cgroup.freeze", "1")
    } else {
        write(folder, "freezer.state", "FROZEN")
    }
}

/// Lets the processes run again.
pub(super) fn thaw(folder: &Path) -> io::Result<()> {
    if folder.join("cgroup.freeze").exists() {
        write(folder, "cgroup.freeze", "0")
    } else {
        write(folder, "freezer.state", "THAWED")
    }
}

/// Whether every process in it has really stopped.
pub(super) fn is_frozen(folder: &Path) -> io::Result<bool> {
    if folder.join("cgroup.events").exists() {
        let events = fs::read_to_string(folder.join("cgroup.events"))?;
        return Ok(events.lines().any(|line| line == "frozen 1"));
    }
    Ok(fs::read_to_string(folder.join("freezer.state"))?.trim() == "FROZEN")
}

/// The processes in it. A process of another pid namespace is listed as 0.
pub(super) fn pids(folder: &Path) -> Vec<u32> {
    let Ok(text) = fs::read_to_string(folder.join("cgroup.procs")) else { return Vec::new() };
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Kills every process in it, frozen or not. `cgroup.kill` (Linux 5.14) kills all at once; without it they are killed one
/// by one, and the caller has to repeat the call until the folder is empty.
pub(super) fn kill(folder: &Path) {
    // Errors are ignored: the caller checks afterwards whether anything survived.
    if folder.join("cgroup.kill").exists() && write(folder, "cgroup.kill", "1").is_ok() {
        return;
    }
    for pid in pids(folder) {
        kill_process(pid);
    }
    let _ = thaw(folder);
}

/// Removes the folder. That it does not exist is not an error.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let deadline = Instant::now() + REMOVAL;
    loop {
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn write(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    // Not `fs::write`: it would create the file if the folder is not a cgroup.
    io::Write::write_all(&mut fs::OpenOptions::new().write(true).open(folder.join(file))?, text.as_bytes())
}
