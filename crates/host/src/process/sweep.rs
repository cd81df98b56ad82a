//! Clears up after a Tare that died together with its keeper (the machine's memory ran out, a whole container was
//! killed): groups whose maker is no longer alive. It knows nothing of services of this process.

use super::cgroup::{self, Isolation};
use super::fallback::{self, MARK};
use super::group::Trace;
use super::{folder, procfs};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// How long one group is tried to be killed.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a sweep found and cleared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// The names of the groups.
    pub groups: Vec<String>,
    /// The processes that were alive in them.
    pub pids: Vec<u32>,
}

/// Kills and removes the groups that dead Tares have left. Those of living ones are not touched, nor those that hold
/// processes of another pid namespace, whose makers cannot be seen from here.
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
        // One that is marked but in no cgroup of ours is killed here, for a trace with folders asks those alone.
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
