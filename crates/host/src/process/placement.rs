//! CPUs and priority of a service's threads, which a service can change by itself. It does not know the CPUs
//! that the service was started with.

use std::fs;

use serde::{Deserialize, Serialize};

use super::procfs;

/// Priority of a thread: its nice value and the number of its scheduling policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Priority {
    pub nice: i32,
    pub policy: u32,
}

/// Threads with the same allowed CPUs and the same priority.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadGroup {
    pub threads: u64,
    /// The name of one of them.
    pub name: String,
    /// CPUs that they may use.
    pub cpus: Vec<usize>,
    /// CPUs on which they ran last.
    pub last_cpus: Vec<usize>,
    #[serde(flatten)]
    pub priority: Priority,
}

/// Groups the live threads of these processes.
pub(super) fn groups(pids: Vec<u32>) -> Vec<ThreadGroup> {
    let of_process = |pid| procfs::threads(pid).into_iter().filter_map(move |thread| seen(pid, thread));
    let mut groups: Vec<ThreadGroup> = Vec::new();
    for thread in pids.into_iter().flat_map(of_process) {
        let alike =
            |group: &&mut ThreadGroup| (&group.cpus, group.priority) == (&thread.cpus, thread.priority);
        match groups.iter_mut().find(alike) {
            Some(group) => group.add(&thread),
            None => groups.push(thread),
        }
    }
    groups
}

impl Priority {
    /// The priority of this process, which services inherit.
    pub fn own() -> Option<Priority> {
        Some(Seen::parse(&fs::read_to_string("/proc/self/stat").ok()?)?.priority)
    }

    /// The name of the policy as `chrt` prints it.
    pub fn policy_name(self) -> &'static str {
        match self.policy {
            0 => "SCHED_OTHER",
            1 => "SCHED_FIFO",
            2 => "SCHED_RR",
            3 => "SCHED_BATCH",
            5 => "SCHED_IDLE",
            6 => "SCHED_DEADLINE",
            7 => "SCHED_EXT",
            _ => "an unknown policy",
        }
    }
}

impl ThreadGroup {
    fn add(&mut self, other: &ThreadGroup) {
        self.threads += other.threads;
        self.last_cpus.extend(&other.last_cpus);
        self.last_cpus.sort_unstable();
        self.last_cpus.dedup();
    }
}

/// The fields of `/proc/PID/task/TID/stat` that are used.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    name: String,
    last_cpu: usize,
    priority: Priority,
}

impl Seen {
    fn parse(text: &str) -> Option<Seen> {
        let (head, tail) = text.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        // The third field of the file, the state, follows the name.
        let field = |number: usize| fields.get(number - 3);
        let priority = Priority { nice: field(19)?.parse().ok()?, policy: field(41)?.parse().ok()? };
        Some(Seen { name: name.to_owned(), last_cpu: field(39)?.parse().ok()?, priority })
    }
}

fn seen(pid: u32, thread: u32) -> Option<ThreadGroup> {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/task/{thread}/{file}")).ok();
    let Seen { name, last_cpu, priority } = Seen::parse(&read("stat")?)?;
    let status = read("status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(ThreadGroup { threads: 1, name, cpus: cpu_list(list.trim())?, last_cpus: vec![last_cpu], priority })
}

/// Parses the kernel's notation `0-2,5`.
fn cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_thread_is_read_from_its_line() {
        // proc(5): the state is field 3, the nice value 19, the last CPU 39, the policy 41, and there are 52.
        let of = |field: usize| match field {
            3 => "S".to_owned(),
            19 => "-19".to_owned(),
            39 => "3".to_owned(),
            41 => "2".to_owned(),
            _ => "100".to_owned(),
        };
        let text = format!("77 (a) R (b) {}\n", (3..=52).map(of).collect::<Vec<_>>().join(" "));
        let priority = Priority { nice: -19, policy: 2 };
        assert_eq!(Seen::parse(&text), Some(Seen { name: "a) R (b".to_owned(), last_cpu: 3, priority }));
        assert_eq!(priority.policy_name(), "SCHED_RR");
        assert_eq!(Seen::parse("77 (a) S 1"), None);
    }

    #[test]
    fn cpus_are_read_as_the_kernel_writes_them() {
        assert_eq!(cpu_list("0-2,5,7-8"), Some(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!([cpu_list(""), cpu_list("0-"), cpu_list("x")], [None, None, None]);
    }

    #[test]
    fn this_thread_is_seen_as_it_is() {
        let me = std::process::id();
        let found = seen(me, me).unwrap();
        assert_eq!(Some(found.priority), Priority::own());
        assert!(found.last_cpus.iter().all(|cpu| found.cpus.contains(cpu)), "{found:?}");
    }

    proptest! {
        #[test]
        fn no_file_of_the_kernel_is_too_much(text in "([0-9]{1,9}|[()a-zS:,-]| |\n){0,60}") {
            let _any = (Seen::parse(&text), cpu_list(&text));
        }
    }
}
