//! CPU time of the processes that belong neither to a service nor to Tare. Some may work for the service
//! although no option names them, such as the worker behind a gateway or in a container.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    activity::{Activity, Used},
    procfs::{Identity, Process},
    syscall,
};

/// The parent of the kernel's threads, whose work no service is charged for. A container may have another.
const KTHREADD: (u32, &str) = (2, "kthreadd");

/// CPU time so far of every process outside the service and Tare, with that of its reaped children.
#[derive(Debug, Clone, Default)]
pub struct Bystanders {
    processes: BTreeMap<Identity, (String, u64)>,
    kernel_ns: u64,
    tare_ns: u64,
}

/// CPU time of bystanders between two readings.
#[derive(Debug, Clone, Default)]
pub struct BystandersUsed {
    /// The busiest process first; processes that used nothing are left out.
    pub by: Vec<Used>,
    /// CPU time of the kernel's threads.
    pub kernel_ns: u64,
    /// CPU time of this process and its descendants.
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
            // The process has ended meanwhile.
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

    /// The CPU time of each since `before`. A process that began since counts in full.
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
