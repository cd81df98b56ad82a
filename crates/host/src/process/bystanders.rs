//! What the processes took that are neither a service's nor Tare's. One of them may work for the service, and no option names it: the
//! worker behind a gateway, what runs in a container behind its forwarder.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    activity::{Activity, Used},
    procfs::{Identity, Process},
    syscall,
};

/// The kernel's own threads descend from it: what they do for a service is counted for none. A container may have another there.
const KTHREADD: (u32, &str) = (2, "kthreadd");

/// The CPU time up to now of every process beside some, by itself and by the children that it waited for.
#[derive(Debug, Clone, Default)]
pub struct Bystanders {
    processes: BTreeMap<Identity, (String, u64)>,
    kernel_ns: u64,
    tare_ns: u64,
}

/// What they took between two readings.
#[derive(Debug, Clone, Default)]
pub struct BystandersUsed {
    /// The busiest first, those that took nothing left out.
    pub by: Vec<Used>,
    /// The threads of the kernel.
    pub kernel_ns: u64,
    /// This process and what it started.
    pub tare_ns: u64,
}

impl Bystanders {
    pub(super) fn beside(service: &BTreeSet<u32>, activity: &Activity) -> Bystanders {
        let tare = activity.family(&[std::process::id()]);
        let threads_of_kernel = Some(KTHREADD.0).filter(|pid| activity.command(*pid) == Some(KTHREADD.1));
        let kernel = activity.family(threads_of_kernel.as_slice());
        let mut found = Bystanders::default();
        for (process, children_ns) in
            activity.processes().filter(|(process, _)| !service.contains(&process.pid))
        {
            // Nothing is known of a process that has ended meanwhile.
            let Ok(own_ns) = syscall::process_cpu_ns(process.pid) else { continue };
            if tare.contains(&process.pid) {
                found.tare_ns += own_ns;
            } else if kernel.contains(&process.pid) {
                found.kernel_ns += own_ns;
            } else {
                let command = activity.command(process.pid).unwrap_or_default().to_owned();
                found.processes.insert(process, (command, own_ns + children_ns));
            }
        }
        found
    }

    /// What each used since `before`; all of it, if the process began since.
    #[must_use]
    pub fn since(&self, before: &Bystanders) -> BystandersUsed {
        let used = |(process, (command, ns)): (&Identity, &(String, u64))| {
            let earlier_ns = before.processes.get(process).map_or(0, |(_, ns)| *ns);
            let process = Process { pid: process.pid, command: command.clone() };
            Some(Used { process, cpu_ns: ns.saturating_sub(earlier_ns) }).filter(|used| used.cpu_ns > 0)
        };
        let mut by: Vec<Used> = self.processes.iter().filter_map(used).collect();
        by.sort_by_key(|used| std::cmp::Reverse(used.cpu_ns));
        BystandersUsed {
            by,
            kernel_ns: self.kernel_ns.saturating_sub(before.kernel_ns),
            tare_ns: self.tare_ns.saturating_sub(before.tare_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_others_took_is_a_difference_and_neither_tare_nor_the_service_are_among_them() {
        let of = |ns: u64, kernel_ns| Bystanders {
            processes: BTreeMap::from([
                (Identity { pid: 7, started_ticks: 1 }, ("a".to_owned(), ns)),
                (Identity { pid: 8, started_ticks: 1 }, ("b".to_owned(), 5)),
            ]),
            kernel_ns,
            tare_ns: 3,
        };
        let used = of(30, 9).since(&of(10, 4));
        assert_eq!((used.kernel_ns, used.tare_ns), (5, 0));
        let named: Vec<(u32, u64)> = used.by.iter().map(|used| (used.process.pid, used.cpu_ns)).collect();
        assert_eq!(named, [(7, 20)]);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let own = std::process::id();
        let has = |found: &Bystanders, pid: u32| found.processes.keys().any(|process| process.pid == pid);
        let found = Bystanders::beside(&BTreeSet::new(), &Activity::read());
        assert!(!has(&found, own) && !has(&found, child.id()) && found.tare_ns > 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
