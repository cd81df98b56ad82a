//! Cleans up after a Tare that was killed together with its watchdog (out of memory, or with its container):
//! finds groups whose maker has died. It does not touch the services of this process.

use super::cgroup::{self, Isolation};
use super::fallback;
use super::group::Trace;
use super::naming::{self, Maker};
use super::{folder, procfs, scratch_folder};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

/// What a sweep removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    pub groups: Vec<String>,
    /// Processes that were alive in these groups.
    pub pids: Vec<u32>,
}

/// Kills and removes groups whose maker has died. Groups of another PID namespace stay: their makers are not
/// visible here, or have other PIDs.
pub fn sweep(isolation: &Isolation) -> Swept {
    let mut swept = Swept::default();
    for trace in orphans(isolation).into_values() {
        swept.pids.extend(trace.live());
        trace.destroy(PATIENCE);
        swept.groups.push(trace.name);
    }
    scratch_folder::orphans().iter().for_each(|path| scratch_folder::remove(path));
    swept
}

fn orphans(isolation: &Isolation) -> BTreeMap<String, Trace> {
    let mut found: BTreeMap<String, Trace> = BTreeMap::new();
    // The killed Tare may have used other means than this one, such as a freezer of version 1.
    let own = isolation.parents().into_iter().map(Path::to_owned);
    for parent in own.chain(cgroup::freezers()) {
        let entries = fs::read_dir(&parent).into_iter().flatten().flatten();
        for name in entries.filter_map(|entry| entry.file_name().into_string().ok()) {
            let path = parent.join(&name);
            if is_orphan(&name) && !folder::pids(&path).contains(&0) {
                let folders = &mut trace(&mut found, name).folders;
                if !folders.contains(&path) {
                    folders.push(path);
                }
            }
        }
    }
    for pid in procfs::all_pids() {
        let Some(name) = fallback::group_of(pid).filter(|name| is_orphan(name)) else { continue };
        // Kills a marked process that is in none of these cgroups: a trace with folders lists only the
        // processes in them.
        if !found.get(&name).is_some_and(|trace| trace.live().contains(&pid)) && pid != std::process::id() {
            if found.contains_key(&name) {
                fallback::signal_process(pid, Signal::KILL);
            }
            trace(&mut found, name);
        }
    }
    found
}

fn trace(found: &mut BTreeMap<String, Trace>, name: String) -> &mut Trace {
    found.entry(name.clone()).or_insert_with(|| Trace { name, ..Trace::default() })
}

fn is_orphan(name: &str) -> bool {
    naming::maker(name).is_some_and(Maker::is_dead)
}

#[cfg(test)]
mod tests {
    use super::fallback::MARK;
    use super::*;

    use std::{
        os::unix::process::{CommandExt, ExitStatusExt},
        process::Command,
    };

    #[test]
    fn a_group_is_an_orphan_once_its_maker_is_dead() {
        let mut maker = Command::new("sleep").arg("60").spawn().unwrap();
        let name = naming::name(maker.id(), 1);
        assert!(!is_orphan(&name));
        maker.kill().unwrap();
        maker.wait().unwrap();
        assert!(is_orphan(&name));
        assert!(!is_orphan("user.slice") && !is_orphan(&naming::new_name()));
    }

    #[test]
    fn a_process_of_a_dead_maker_is_killed_and_that_of_a_live_one_is_not() {
        let mut maker = Command::new("true").spawn().unwrap();
        maker.wait().unwrap();
        let orphaned = naming::name(maker.id(), 7);
        let start =
            |name: &str| Command::new("sleep").arg("60").env(MARK, name).process_group(0).spawn().unwrap();
        let (mut orphan, mut other) = (start(&orphaned), start(&naming::new_name()));
        // The maker of this group is alive in a container, under the same PID.
        let contained = format!("tare-{}-7-1", maker.id());
        let mut elsewhere = start(&contained);
        let is_marked = |pid, name: &str| procfs::environment(pid, MARK).as_deref() == Some(name);
        let marked = || is_marked(orphan.id(), &orphaned) && is_marked(elsewhere.id(), &contained);
        let end = std::time::Instant::now() + Duration::from_secs(10);
        while !marked() && std::time::Instant::now() < end {
            std::thread::yield_now();
        }
        let swept = sweep(&Isolation::none("a test"));
        assert!(swept.groups.contains(&orphaned) && swept.pids.contains(&orphan.id()), "{swept:?}");
        assert_eq!(orphan.wait().unwrap().signal(), Some(9));
        assert_eq!(other.try_wait().unwrap(), None, "its maker is this process");
        assert_eq!(elsewhere.try_wait().unwrap(), None, "its maker cannot be seen from here");
        elsewhere.kill().unwrap();
        elsewhere.wait().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
