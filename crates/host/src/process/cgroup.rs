//! Finds the means of isolation that this machine offers, by trying them: it makes, inspects and removes a
//! cgroup, and moves no process. It knows nothing of services; `tare doctor` prints the result.

use super::folder;
use super::naming;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The version of cgroups used for a purpose, with the folder in which groups are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cgroups {
    V1(PathBuf),
    V2(PathBuf),
    /// No cgroup, with the reason.
    None(String),
}

/// How services are isolated on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Isolation {
    /// How services are frozen: by `cgroup.freeze` (Linux 5.2), by the `freezer` controller of version 1, or
    /// by SIGSTOP and SIGCONT to the process group. The first is preferred: a process that it froze can still
    /// be killed, while one frozen by the second must be thawed first.
    pub freezer: Cgroups,
    /// How CPU time is read: `cpuacct.usage` of version 1 in nanoseconds, or `usage_usec` of `cpu.stat` in
    /// microseconds. Otherwise the CPU clocks of live processes, which omit ended ones.
    ///
    /// Both files show one counter of the scheduler. While a process runs it advances only with timer ticks
    /// (4 ms where measured); in a frozen process it is exact. The first is preferred: it has nanoseconds,
    /// and a read takes 0.7 µs instead of 1.3 µs. It costs one more cgroup to enter, before the start-up time
    /// begins.
    pub accounting: Cgroups,
    /// How all processes of a service are killed: by `cgroup.kill` (Linux 5.14), all at once so that none
    /// escapes by forking, else one by one until none is left.
    pub killing: Cgroups,
    /// How services are kept on their CPUs: by a cpuset, which no thread can leave, else by their initial
    /// affinity, which a program may change. The CPUs of their threads are read after each block in any case.
    pub pinning: Cgroups,
}

impl Cgroups {
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Cgroups::V1(folder) | Cgroups::V2(folder) => Some(folder),
            Cgroups::None(_) => None,
        }
    }

    /// CPU time of all processes that ever ran in this group and below it; absent without a group.
    ///
    /// # Errors
    /// The counter's file cannot be read.
    pub(super) fn cpu_ns(&self) -> io::Result<Option<u64>> {
        match self {
            Cgroups::V1(folder) => parse(&folder.join("cpuacct.usage"), |text| text.trim().parse().ok()),
            Cgroups::V2(folder) => parse(&folder.join("cpu.stat"), |text| {
                let value = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
                value.parse::<u64>().ok()?.checked_mul(1000)
            }),
            Cgroups::None(_) => return Ok(None),
        }
        .map(Some)
    }
}

fn parse(file: &Path, number: impl Fn(&str) -> Option<u64>) -> io::Result<u64> {
    let text = fs::read_to_string(file)?;
    number(&text).ok_or_else(|| io::Error::other(format!("{file:?} has no CPU time in it: {text:?}")))
}

impl Isolation {
    /// Selects the best means that this machine allows.
    pub fn detect() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let usable = |controller: Option<&str>, file: &str| usable(&mounts, &own, controller, file);
        let freezer = match (usable(None, "cgroup.freeze"), usable(Some("freezer"), "freezer.state")) {
            (Ok(folder), _) => Cgroups::V2(folder),
            (_, Ok(folder)) => Cgroups::V1(folder),
            (Err(v2), Err(v1)) => Cgroups::None(format!("{v2}; {v1}")),
        };
        let accounting = match (usable(Some("cpuacct"), "cpuacct.usage"), usable(None, "cpu.stat")) {
            (Ok(folder), _) => Cgroups::V1(folder),
            (_, Ok(folder)) => Cgroups::V2(folder),
            (Err(v1), Err(v2)) => Cgroups::None(format!("{v2}; {v1}")),
        };
        let killing = usable(None, "cgroup.kill").map_or_else(Cgroups::None, Cgroups::V2);
        let pinning = match (usable(None, folder::CPUS), usable(Some("cpuset"), folder::CPUS)) {
            (Ok(folder), _) => Cgroups::V2(folder),
            (_, Ok(folder)) => Cgroups::V1(folder),
            (Err(v2), Err(v1)) => Cgroups::None(format!("{v2}; {v1}")),
        };
        Self { freezer, accounting, killing, pinning }
    }

    /// Uses no cgroup at all: for tests, and for machines where cgroups are known to fail.
    pub fn none(reason: &str) -> Self {
        let none = || Cgroups::None(reason.to_owned());
        Self { freezer: none(), accounting: none(), killing: none(), pinning: none() }
    }

    /// The source of the CPU time of a service.
    pub(crate) fn cpu_time(&self) -> &'static str {
        match self.accounting {
            Cgroups::V1(_) => "cgroup v1 cpuacct.usage (nanoseconds)",
            Cgroups::V2(_) => "cgroup v2 cpu.stat (microseconds)",
            Cgroups::None(_) => "CPU clocks of the live processes",
        }
    }

    /// A sentence for each means.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.describe().into_iter().map(|(what, how)| format!("{what}: {how}")).collect()
    }

    /// One pair of subject and description for each means.
    pub(crate) fn describe(&self) -> [(&'static str, String); 4] {
        let freezer = match &self.freezer {
            Cgroups::V2(folder) => format!("cgroup v2 freezer in {folder:?}"),
            Cgroups::V1(folder) => format!("cgroup v1 freezer in {folder:?}"),
            Cgroups::None(reason) => format!("SIGSTOP and SIGCONT, as no freezer is usable: {reason}"),
        };
        let source = self.cpu_time();
        let accounting = match &self.accounting {
            Cgroups::V1(folder) | Cgroups::V2(folder) => format!("{source} in {folder:?}"),
            Cgroups::None(reason) => format!("{source}, as no group accounting is usable: {reason}"),
        };
        let killing = match &self.killing {
            Cgroups::V1(folder) | Cgroups::V2(folder) => format!("cgroup.kill in {folder:?}"),
            Cgroups::None(reason) => format!("SIGKILL one by one, as cgroup.kill is not usable: {reason}"),
        };
        let pinning = match &self.pinning {
            Cgroups::V1(folder) => format!("cgroup v1 cpuset in {folder:?}"),
            Cgroups::V2(folder) => format!("cgroup v2 cpuset in {folder:?}"),
            Cgroups::None(reason) => format!("the affinity of each thread, as no cpuset is usable: {reason}"),
        };
        [("freezing", freezer), ("cpu time", accounting), ("killing", killing), ("pinning", pinning)]
    }

    /// The folders in which groups are made, without duplicates. The one that lists the members of a group best comes first.
    pub(super) fn parents(&self) -> Vec<&Path> {
        let mut parents = Vec::new();
        let all = [&self.killing, &self.freezer, &self.accounting, &self.pinning];
        for parent in all.into_iter().filter_map(Cgroups::folder) {
            if !parents.contains(&parent) {
                parents.push(parent);
            }
        }
        parents
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("; "))
    }
}

/// The folder in which groups with `file` can be made on this machine.
pub(super) fn folder_with(controller: Option<&str>, file: &str) -> Result<PathBuf, String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    usable(&mounts, &own, controller, file)
}

/// Prefers the group of this process, which systemd may have delegated, to the root of the mount.
fn usable(mounts: &str, own: &str, controller: Option<&str>, file: &str) -> Result<PathBuf, String> {
    let version = controller.map_or_else(|| "cgroup v2".into(), |name| format!("cgroup v1 {name:?}"));
    let Some([own, mount]) = places(mounts, own, controller) else {
        return Err(format!("{version} is not mounted"));
    };
    match try_folder(&own, file) {
        Err(_) if own != mount => try_folder(&mount, file).map(|()| mount),
        result => result.map(|()| own),
    }
    .map_err(|reason| format!("{version}: {reason}"))
}

/// The group of this process and the root of the mount; equal if the process has no group of its own.
fn places(mounts: &str, own: &str, controller: Option<&str>) -> Option<[PathBuf; 2]> {
    let (mount, root) = mount(mounts, controller)?;
    let inside = own_path(own, controller)
        .and_then(|path| path.strip_prefix(&root).map(|rest| rest.trim_start_matches('/').to_string()))
        .filter(|path| !path.is_empty() && !path.split('/').any(|part| part == ".."));
    Some([inside.map_or_else(|| mount.clone(), |inside| mount.join(inside)), mount])
}

/// Where any Tare may have frozen services: a process frozen by version 1 cannot die.
pub(super) fn freezers() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of = |controller| places(&mounts, &own, controller).into_iter().flatten();
    of(None).chain(of(Some("freezer"))).collect()
}

/// Makes a group in `parent`, checks that it has `file` and accepts processes, and removes it.
fn try_folder(parent: &Path, file: &str) -> Result<(), String> {
    let group = parent.join(naming::new_name());
    let failed = |what: &str, path: &Path, error: io::Error| {
        let error = if error.kind() == io::ErrorKind::PermissionDenied {
            "permission denied (run as root, or under `systemd-run --user --scope -p Delegate=yes`)".into()
        } else {
            error.to_string()
        };
        format!("cannot {what} {path:?}: {error}")
    };
    fs::create_dir(&group).map_err(|error| failed("make", &group, error))?;
    let looked = look(parent, &group, file, failed);
    folder::remove(&group).map_err(|error| failed("remove", &group, error))?;
    looked
}

fn look(
    parent: &Path,
    group: &Path,
    file: &str,
    failed: impl Fn(&str, &Path, io::Error) -> String,
) -> Result<(), String> {
    if !group.join(file).exists() {
        return Err(format!("groups in {parent:?} have no {file:?}"));
    }
    if fs::read_to_string(group.join("cgroup.type")).is_ok_and(|kind| kind.trim() != "domain") {
        return Err(format!("groups in {parent:?} take no processes, only threads"));
    }
    if file == folder::CPUS {
        folder::begin_cpus(group, &[]).map_err(|error| failed("give CPUs to", group, error))?;
    }
    // Moving a process needs write access to the common ancestor of both groups.
    for procs in [parent.join("cgroup.procs"), group.join("cgroup.procs")] {
        fs::OpenOptions::new()
            .write(true)
            .open(&procs)
            .map_err(|error| failed("move processes by", &procs, error))?;
    }
    Ok(())
}

/// The mount point of a controller's hierarchy (or of version 2), and the group at the root of that mount.
pub(super) fn mount(mounts: &str, controller: Option<&str>) -> Option<(PathBuf, String)> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, path) = (place.next()?, place.next()?);
        let mut kind = kind.split(' ');
        let (filesystem, _, options) = (kind.next()?, kind.next()?, kind.next()?);
        let matches = match controller {
            None => filesystem == "cgroup2",
            Some(name) => filesystem == "cgroup" && options.split(',').any(|option| option == name),
        };
        matches.then(|| (PathBuf::from(path), root.to_string()))
    })
}

/// The group of a process in that hierarchy, from its `/proc/PID/cgroup`.
pub(super) fn own_path<'a>(own: &'a str, controller: Option<&str>) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let matches = match controller {
            None => controllers.is_empty(),
            Some(name) => controllers.split(',').any(|one| one == name),
        };
        matches.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOUNTS: &str = "\
        30 25 0:26 / /sys/fs/cgroup ro,nosuid shared:9 - tmpfs tmpfs ro,mode=755\n\
        31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw,nsdelegate\n\
        32 30 0:28 /docker/x /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct\n";

    #[test]
    fn mounts_are_found_by_version_and_controller() {
        assert_eq!(mount(MOUNTS, None), Some(("/sys/fs/cgroup/unified".into(), "/".into())));
        let cpuacct = Some(("/sys/fs/cgroup/cpu,cpuacct".into(), "/docker/x".into()));
        assert_eq!(mount(MOUNTS, Some("cpuacct")), cpuacct);
        assert_eq!(mount(MOUNTS, Some("freezer")), None);
    }

    #[test]
    fn the_own_group_is_found_by_version_and_controller() {
        let own = "4:cpu,cpuacct:/a:b\n0::/user.slice/x.scope\n";
        assert_eq!(own_path(own, None), Some("/user.slice/x.scope"));
        assert_eq!(own_path(own, Some("cpuacct")), Some("/a:b"));
        assert_eq!(own_path(own, Some("freezer")), None);
    }

    #[test]
    fn the_reason_names_what_is_missing() {
        let reason = usable("", "", Some("freezer"), "freezer.state").unwrap_err();
        assert_eq!(reason, "cgroup v1 \"freezer\" is not mounted");
    }

    #[test]
    fn a_folder_that_is_no_cgroup_is_refused_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let reason = try_folder(folder.path(), "cgroup.freeze").unwrap_err();
        assert!(reason.ends_with("have no \"cgroup.freeze\""), "{reason}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn without_cgroups_there_is_no_folder_and_the_reason_is_shown() {
        let isolation = Isolation::none("a test");
        assert!(isolation.parents().is_empty());
        assert!(isolation.to_string().contains("SIGSTOP and SIGCONT, as no freezer is usable: a test"));
    }

    fn isolation(freezer: &str, accounting: &str, killing: &str) -> Isolation {
        Isolation {
            freezer: Cgroups::V1(freezer.into()),
            accounting: Cgroups::V2(accounting.into()),
            killing: Cgroups::V2(killing.into()),
            pinning: Cgroups::None("a test".to_owned()),
        }
    }

    #[test]
    fn a_folder_for_several_means_is_one_parent_and_that_of_killing_comes_first() {
        assert_eq!(isolation("/a", "/b", "/b").parents(), [Path::new("/b"), Path::new("/a")]);
        assert_eq!(isolation("/a", "/a", "/a").parents(), [Path::new("/a")]);
    }

    #[test]
    fn every_means_is_described_with_its_folder() {
        let text = isolation("/f", "/c", "/k").to_string();
        let expected = "freezing: cgroup v1 freezer in \"/f\"; \
            cpu time: cgroup v2 cpu.stat (microseconds) in \"/c\"; killing: cgroup.kill in \"/k\"; \
            pinning: the affinity of each thread, as no cpuset is usable: a test";
        assert_eq!(text, expected);
        let other = Isolation {
            freezer: Cgroups::V2("/f".into()),
            accounting: Cgroups::V1("/c".into()),
            ..isolation("", "", "")
        };
        let text = other.to_string();
        assert!(
            text.contains("cgroup v2 freezer in \"/f\"")
                && text.contains("cpuacct.usage (nanoseconds) in \"/c\"")
        );
    }

    /// A mount of version 2 at `folder`.
    fn mounted(folder: &Path) -> String {
        format!("31 30 0:27 / {} rw shared:10 - cgroup2 cgroup2 rw\n", folder.display())
    }

    #[test]
    fn the_group_of_this_process_is_tried_before_the_root_of_the_mount() {
        let mount = tempfile::tempdir().unwrap();
        fs::create_dir(mount.path().join("own")).unwrap();
        let reason = |own: &str| usable(&mounted(mount.path()), own, None, "cgroup.freeze").unwrap_err();
        // Neither folder is a cgroup, so the message names the last one that was tried.
        let root = format!("cgroup v2: groups in {:?} have no \"cgroup.freeze\"", mount.path());
        for own in ["0::/own\n", "0::/\n", "", "0::/../../etc\n", "0::/not-there\n"] {
            assert_eq!(reason(own), root, "{own:?}");
        }
        assert_eq!(fs::read_dir(mount.path().join("own")).unwrap().count(), 0, "what was tried is removed");
    }

    #[test]
    fn a_group_that_takes_no_processes_is_refused() {
        let failed = |what: &str, path: &Path, error: io::Error| format!("cannot {what} {path:?}: {error}");
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("group");
        fs::create_dir(&group).unwrap();
        fs::write(group.join("cgroup.freeze"), "").unwrap();
        let reason = look(folder.path(), &group, "cgroup.freeze", failed).unwrap_err();
        assert!(
            reason.starts_with("cannot move processes by") && reason.contains("cgroup.procs"),
            "{reason}"
        );
        fs::write(folder.path().join("cgroup.procs"), "").unwrap();
        fs::write(group.join("cgroup.procs"), "").unwrap();
        assert_eq!(look(folder.path(), &group, "cgroup.freeze", failed), Ok(()));
        fs::write(group.join("cgroup.type"), "threaded\n").unwrap();
        let reason = look(folder.path(), &group, "cgroup.freeze", failed).unwrap_err();
        assert!(reason.ends_with("take no processes, only threads"), "{reason}");
    }

    proptest! {
        #[test]
        fn every_mount_is_found_among_others(
            root in "/[a-z/]{0,9}", path in "/[a-zA-Z0-9,._-]{1,12}", optional in "(shared:[0-9]{1,2} ){0,2}",
        ) {
            let line = format!("40 30 0:28 {root} {path} rw {optional}- cgroup cgroup rw,xattr,freezer\n");
            let found = mount(&format!("{MOUNTS}{line}"), Some("freezer"));
            prop_assert_eq!(found, Some((PathBuf::from(path), root)));
        }

        #[test]
        fn the_own_path_may_have_colons(path in "/[a-z:@.-]{0,20}") {
            let own = format!("9:freezer,cpuset:{path}\n0::{path}\n");
            prop_assert_eq!(own_path(&own, Some("cpuset")), Some(path.as_str()));
            prop_assert_eq!(own_path(&own, None), Some(path.as_str()));
        }

        #[test]
        fn no_file_of_the_kernel_is_too_much(text in "([0-9]{1,2} |/|:| - |cgroup2?|,|rw|\n| |é){0,40}") {
            let _any = (mount(&text, None), mount(&text, Some("cpu")), own_path(&text, None), naming::maker(&text));
        }
    }
}
