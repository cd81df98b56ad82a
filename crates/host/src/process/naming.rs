//! Names of groups and scratch folders, which identify the Tare that made them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::procfs;

/// A unique name of a group: `tare-<pid of tare>-<n>-<its PID namespace>`. Containers may share folders of
/// groups and `/dev/shm`, and a PID has a meaning in its own namespace only.
pub(super) fn new_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    name(std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The name of group `number` of a Tare in this PID namespace.
pub(super) fn name(pid: u32, number: u64) -> String {
    format!("tare-{pid}-{number}-{}", procfs::pid_namespace())
}

/// The Tare that made a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Maker {
    pub pid: u32,
    /// The number of its PID namespace.
    pub namespace: u64,
}

impl Maker {
    /// Whether it is in the PID namespace of this process.
    pub(super) fn is_here(self) -> bool {
        self.namespace == procfs::pid_namespace()
    }

    /// Whether it is known to have died. A process in another namespace is never known to be dead.
    pub(super) fn is_dead(self) -> bool {
        self.is_here() && !procfs::is_alive(self.pid)
    }
}

/// The maker named by a group's name; absent if the name is not one of Tare's.
pub(super) fn maker(name: &str) -> Option<Maker> {
    let mut parts = name.strip_prefix("tare-")?.split('-');
    let (pid, number, namespace) = (parts.next()?, parts.next()?, parts.next()?);
    number.parse::<u64>().ok()?;
    let maker = Maker { pid: pid.parse().ok()?, namespace: namespace.parse().ok()? };
    parts.next().is_none().then_some(maker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ours_have_a_maker() {
        assert_eq!(maker("tare-17-3-5"), Some(Maker { pid: 17, namespace: 5 }));
        for other in [
            "tare-17",
            "tare-17-3",
            "tare-x-1-5",
            "tare-17-x-5",
            "tare-17-1-x",
            "tare-17-1-2-3",
            "user.slice",
        ] {
            assert_eq!(maker(other), None, "{other}");
        }
        assert_eq!(maker(&new_name()).unwrap().pid, std::process::id());
    }

    #[test]
    fn a_maker_is_dead_only_where_its_number_is_known() {
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let here = |pid| maker(&name(pid, 1)).unwrap();
        assert!(here(gone.id()).is_dead() && !here(std::process::id()).is_dead());
        // In a container the maker may have any PID, so it counts as alive.
        assert!(!Maker { namespace: 1, ..here(gone.id()) }.is_dead());
    }
}
