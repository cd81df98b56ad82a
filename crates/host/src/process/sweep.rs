//! Cleans up after a tare that was killed together with its watchdog (out of memory, or with its whole container): finds
//! groups whose maker is no longer alive. It does not touch the services of this process.

use super::cgroup::{self, Isolation};
use super::fallback::{self, MARK};
use super::group::Trace;
use super::{folder, procfs};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// How long killing one group is retried.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a sweep found and removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The processes that were alive in them.
    pub pids: Vec<u32>,
}

/// Kills and removes groups whose maker has died. Groups with processes of another pid namespace are left alone, since
/// their makers are not visible from here.
pub fn sweep(isolation: &Isolation) -> Swept {
    let mut swept = Swept::default();
    for trace in orphans(isolation).into_values() {
        swept.pids.extend(trace.live());
        trace.destroy(PATIENCE);
        swept.groups.push(trace.name);
    }
    swept
}

fn orphans(isolation: &Isolation) -> BTreeMap<String, Trace> {
    let mut found: BTreeMap<String, Trace> = BTreeMap::new();
    for parent in isolation.parents() {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        for name in entries.filter_map(|entry| entry.file_name().into_string().ok()) {
            let path = parent.join(&name);
            if is_orphan(&name) && !folder::pids(&path).contains(&0) {
                trace(&mut found, name).folders.push(path);
            }
        }
    }
    for pid in procfs::all_pids() {
        let Some(name) = procfs::environment(pid, MARK).filter(|name| is_orphan(name)) else { continue };
        // A process with the variable that is in none of our cgroups is killed here: a trace with folders lists only
        // the processes in those.
        if !found.get(&name).is_some_and(|trace| trace.live().contains(&pid)) && pid != std::process::id() {
            if found.contains_key(&name) {
                fallback::kill_process(pid);
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
    cgroup::maker(name).is_some_and(|pid| !procfs::is_alive(pid))
}
