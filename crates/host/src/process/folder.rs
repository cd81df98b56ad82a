//! One cgroup as a folder of files: freeze, thaw, kill, list, remove. Its files show the version, so the
//! watchdog and the sweep need only a path. It knows nothing of services.

use super::fallback::signal_process;
use rustix::process::Signal;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time limit for retries of a removal: the kernel releases a process shortly after it has died.
const REMOVAL: Duration = Duration::from_secs(2);

/// The file with the CPUs that the group's processes may use.
pub(super) const CPUS: &str = "cpuset.cpus";
const MEMORY_NODES: &str = "cpuset.mems";

/// Makes the group ready for processes: a cpuset of version 1 accepts none before it has CPUs and memory. If
/// `cpus` is empty, it gets its parent's.
pub(super) fn begin_cpus(folder: &Path, cpus: &[usize]) -> io::Result<()> {
    // In version 2 a group without a list uses its parent's, and the root has no such file.
    let inherit = |file| match fs::read_to_string(folder.join("..").join(file)) {
        Ok(list) => write(folder, file, list.trim()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    inherit(MEMORY_NODES)?;
    if cpus.is_empty() { inherit(CPUS) } else { set_cpus(folder, cpus) }
}

pub(super) fn set_cpus(folder: &Path, cpus: &[usize]) -> io::Result<()> {
    let list: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    write(folder, CPUS, &list.join(","))
}

/// Thaws the group, or requests a freeze; [`is_frozen`] reports whether that is complete.
pub(super) fn set_frozen(folder: &Path, frozen: bool) -> io::Result<()> {
    if folder.join("cgroup.freeze").exists() {
        write(folder, "cgroup.freeze", if frozen { "1" } else { "0" })
    } else {
        write(folder, "freezer.state", if frozen { "FROZEN" } else { "THAWED" })
    }
}

pub(super) fn is_frozen(folder: &Path) -> io::Result<bool> {
    if folder.join("cgroup.events").exists() {
        let events = fs::read_to_string(folder.join("cgroup.events"))?;
        return Ok(events.lines().any(|line| line == "frozen 1"));
    }
    Ok(fs::read_to_string(folder.join("freezer.state"))?.trim() == "FROZEN")
}

/// The processes in the group. A process of another PID namespace is listed as 0.
pub(super) fn pids(folder: &Path) -> Vec<u32> {
    let Ok(text) = fs::read_to_string(folder.join("cgroup.procs")) else { return Vec::new() };
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Kills every process in the group, frozen or not. `cgroup.kill` (Linux 5.14) kills all at once. Without it
/// they are killed one by one, and the caller repeats the call until the group is empty.
pub(super) fn kill(folder: &Path) {
    // Errors are ignored: the caller checks whether a process survived.
    if folder.join("cgroup.kill").exists() && write(folder, "cgroup.kill", "1").is_ok() {
        return;
    }
    for pid in pids(folder) {
        signal_process(pid, Signal::KILL);
    }
    let _ = set_frozen(folder, false);
}

/// Removes the folder. It is not an error if the folder does not exist.
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

#[cfg(test)]
mod tests {
    use super::*;

    use std::process::Command;

    /// A folder with these files of a cgroup.
    fn cgroup(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    fn content(folder: &tempfile::TempDir, file: &str) -> String {
        fs::read_to_string(folder.path().join(file)).unwrap()
    }

    #[test]
    fn each_version_is_frozen_and_thawed_by_its_own_file() {
        let v2 = cgroup(&[("cgroup.freeze", ""), ("freezer.state", "")]);
        set_frozen(v2.path(), true).unwrap();
        assert_eq!((content(&v2, "cgroup.freeze"), content(&v2, "freezer.state")), ("1".into(), "".into()));
        set_frozen(v2.path(), false).unwrap();
        assert_eq!(content(&v2, "cgroup.freeze"), "0");
        let v1 = cgroup(&[("freezer.state", "")]);
        set_frozen(v1.path(), true).unwrap();
        assert_eq!(content(&v1, "freezer.state"), "FROZEN");
        set_frozen(v1.path(), false).unwrap();
        assert_eq!(content(&v1, "freezer.state"), "THAWED");
    }

    #[test]
    fn a_cpuset_begins_with_the_memory_of_its_parent_and_cpus_of_its_own_or_of_that() {
        let parent = cgroup(&[("cpuset.mems", "0-1\n"), ("cpuset.cpus", "0-7\n")]);
        let folder = parent.path().join("group");
        fs::create_dir(&folder).unwrap();
        ["cpuset.mems", "cpuset.cpus"].iter().for_each(|file| fs::write(folder.join(file), "").unwrap());
        let content = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        begin_cpus(&folder, &[]).unwrap();
        assert_eq!((content("cpuset.mems"), content("cpuset.cpus")), ("0-1".into(), "0-7".into()));
        fs::remove_file(parent.path().join("cpuset.mems")).unwrap();
        begin_cpus(&folder, &[2, 3]).unwrap();
        assert_eq!((content("cpuset.mems"), content("cpuset.cpus")), ("0-1".into(), "2,3".into()));
    }

    #[test]
    fn a_group_is_frozen_when_the_kernel_reports_it() {
        for (file, text, expected) in [
            ("cgroup.events", "populated 1\nfrozen 1\n", true),
            ("cgroup.events", "populated 1\nfrozen 0\n", false),
            ("cgroup.events", "populated 1\n", false),
            ("freezer.state", "FROZEN\n", true),
            ("freezer.state", "FREEZING\n", false),
        ] {
            assert_eq!(is_frozen(cgroup(&[(file, text)]).path()).unwrap(), expected, "{text:?}");
        }
        assert!(is_frozen(cgroup(&[]).path()).is_err(), "not a cgroup");
    }

    #[test]
    fn a_folder_that_is_no_cgroup_gets_no_files() {
        let folder = cgroup(&[]);
        assert!(set_frozen(folder.path(), true).is_err() && set_frozen(folder.path(), false).is_err());
        kill(folder.path());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn processes_are_killed_at_once_or_one_by_one() {
        let sleep = || Command::new("sleep").arg("60").spawn().unwrap();
        let mut child = sleep();
        let listed = format!("{}\nnot a number\n", child.id());
        let at_once = cgroup(&[("cgroup.procs", &listed), ("cgroup.kill", "")]);
        assert_eq!(pids(at_once.path()), [child.id()]);
        kill(at_once.path());
        assert_eq!(content(&at_once, "cgroup.kill"), "1");
        assert!(child.try_wait().unwrap().is_none(), "the kernel would kill it");
        let one_by_one = cgroup(&[("cgroup.procs", &listed), ("freezer.state", "FROZEN")]);
        kill(one_by_one.path());
        assert_eq!(
            content(&one_by_one, "freezer.state"),
            "THAWED",
            "a frozen process dies only when it is thawed"
        );
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_folder_is_removed_once_and_missing_ones_are_no_error() {
        let parent = cgroup(&[]);
        let group = parent.path().join("group");
        fs::create_dir(&group).unwrap();
        remove(&group).unwrap();
        assert!(!group.exists());
        remove(&group).unwrap();
        assert_eq!(pids(&group), [] as [u32; 0]);
    }
}
