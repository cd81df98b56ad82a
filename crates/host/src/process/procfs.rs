//! Reads `/proc`: the processes of this machine and their state. A process that has ended meanwhile is not an
//! error: the result is `None` or empty. It knows nothing of services or groups.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A process as messages show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Process {
    pub pid: u32,
    pub command: String,
}

impl Process {
    pub(super) fn of(pid: u32) -> Option<Self> {
        stat(pid).map(|stat| Self { pid, command: stat.command })
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({:?})", self.pid, self.command)
    }
}

/// The fields of `/proc/PID/stat` that are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    /// The name of the program, cut to 15 bytes by the kernel.
    pub command: String,
    /// `R` running, `S` sleeping, `T` stopped, `Z` dead but not waited for, ...
    pub state: char,
    pub parent: u32,
    pub pgid: u32,
    /// CPU time in user mode of the process and its reaped children, in clock ticks.
    pub user_ticks: u64,
    /// The same in kernel mode.
    pub system_ticks: u64,
    /// CPU time of the process alone, in both modes.
    pub own_ticks: u64,
    /// CPU time of its reaped children and their reaped children.
    pub children_ticks: u64,
    /// Minor page faults (without I/O) of the process alone. Every process has some.
    pub faults: u64,
    /// Minor page faults of its reaped children and theirs: an increase shows that a child was reaped.
    pub children_faults: u64,
    /// Threads that have not ended.
    pub threads: u64,
    /// Start time in clock ticks since boot. Together with the PID it identifies a process.
    pub started_ticks: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The name may contain blanks and parentheses, so the last closing parenthesis ends it.
        let (head, tail) = text.rsplit_once(')')?;
        let (_, command) = head.split_once('(')?;
        let mut fields = tail.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        let pgid = fields.next()?.parse().ok()?;
        let faults = fields.nth(4)?.parse().ok()?;
        let children_faults = fields.next()?.parse().ok()?;
        let times: Option<Vec<u64>> = fields.by_ref().skip(2).take(4).map(|time| time.parse().ok()).collect();
        let [user, system, user_of_children, system_of_children] = times?[..] else { return None };
        let threads = fields.nth(2)?.parse().ok()?;
        let started_ticks = fields.nth(1)?.parse().ok()?;
        let own_ticks = user.checked_add(system)?;
        let children_ticks = user_of_children.checked_add(system_of_children)?;
        let user_ticks = user.checked_add(user_of_children)?;
        let system_ticks = system.checked_add(system_of_children)?;
        Some(Self {
            command: command.into(),
            state,
            parent,
            pgid,
            user_ticks,
            system_ticks,
            own_ticks,
            children_ticks,
            faults,
            children_faults,
            threads,
            started_ticks,
        })
    }

    /// Whether it has ended and waits to be reaped. A process whose main thread alone has ended has the same
    /// state, but more threads.
    pub(super) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }
}

/// Identifies a process, even if another one gets its PID later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    pub pid: u32,
    pub started_ticks: u64,
}

impl Identity {
    /// Absent if the process has ended.
    pub(super) fn of(pid: u32) -> Option<Identity> {
        let stat = stat(pid).filter(|stat| !stat.is_dead())?;
        Some(Identity { pid, started_ticks: stat.started_ticks })
    }

    pub(super) fn is_alive(self) -> bool {
        Identity::of(self.pid) == Some(self)
    }

    /// Whether it is alive, or has ended but is not reaped.
    pub(super) fn is_known(self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started_ticks == self.started_ticks)
    }
}

/// Converts clock ticks, the unit of times in `/proc`.
pub(super) fn ticks(count: u64) -> Duration {
    Duration::from_secs_f64(count as f64 / rustix::param::clock_ticks_per_second() as f64)
}

fn path(pid: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

pub(super) fn stat(pid: u32) -> Option<Stat> {
    Stat::parse(&String::from_utf8_lossy(&fs::read(path(pid, "stat")).ok()?))
}

/// Start time of the process since boot.
pub(crate) fn began(pid: u32) -> Option<Duration> {
    stat(pid).map(|stat| ticks(stat.started_ticks))
}

/// Whether the process exists and is not a zombie. An unreadable process, such as for lack of descriptors,
/// counts as alive: files of dead processes are removed.
pub(super) fn is_alive(pid: u32) -> bool {
    let is_gone =
        fs::symlink_metadata(path(pid, "")).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    !is_gone && stat(pid).is_none_or(|stat| !stat.is_dead())
}

/// The number of this process's PID namespace, from the kernel's name `pid:[4026531836]`.
pub(super) fn pid_namespace() -> u64 {
    static NUMBER: LazyLock<u64> = LazyLock::new(|| {
        let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let number = link.to_string_lossy();
        number.trim_start_matches("pid:[").trim_end_matches(']').parse().unwrap_or_default()
    });
    *NUMBER
}

/// The value of a variable in the environment with which the process was started.
pub(super) fn environment(pid: u32, variable: &str) -> Option<String> {
    let environment = fs::read(path(pid, "environ")).ok()?;
    environment.split(|&byte| byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(variable.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

/// An amount of memory in `/proc/PID/status`: `VmRSS` (resident now) or `VmHWM` (peak).
pub(super) fn memory_bytes(pid: u32, line: &str) -> Option<u64> {
    Some(field(&fs::read_to_string(path(pid, "status")).ok()?, line)?.saturating_mul(1024))
}

/// The entries of a folder of `/proc` whose names are numbers.
fn numbers(folder: PathBuf) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

pub(super) fn all_pids() -> Vec<u32> {
    numbers(PathBuf::from("/proc"))
}

pub(super) fn threads(pid: u32) -> Vec<u32> {
    numbers(path(pid, "task"))
}

/// Context switches of one thread, voluntary and involuntary.
pub(super) fn context_switches(pid: u32, thread: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).ok()?;
    Some(field(&status, "voluntary_ctxt_switches")? + field(&status, "nonvoluntary_ctxt_switches")?)
}

/// Total time in which a thread was ready but had no CPU; absent if the kernel does not count it.
pub(super) fn waited_ns(pid: u32, thread: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/schedstat")).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

pub(super) fn thread_state(pid: u32, thread: u32) -> Option<char> {
    let text = fs::read(format!("/proc/{pid}/task/{thread}/stat")).ok()?;
    Stat::parse(&String::from_utf8_lossy(&text)).map(|stat| stat.state)
}

/// The number after `name:` at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_is_read() {
        let text = "77 (a) R (b) S 1 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 9 0 100 200 300";
        let stat = Stat::parse(text).unwrap();
        assert_eq!(
            stat,
            Stat {
                command: "a) R (b".into(),
                state: 'S',
                parent: 1,
                pgid: 42,
                user_ticks: 12,
                system_ticks: 14,
                own_ticks: 11,
                children_ticks: 15,
                faults: 1,
                children_faults: 2,
                threads: 9,
                started_ticks: 100
            }
        );
    }

    #[test]
    fn a_zombie_is_dead_unless_other_threads_of_it_run() {
        let stat = |threads| Stat {
            command: String::new(),
            state: 'Z',
            parent: 1,
            pgid: 1,
            user_ticks: 0,
            system_ticks: 0,
            own_ticks: 0,
            children_ticks: 0,
            faults: 0,
            children_faults: 0,
            threads,
            started_ticks: 0,
        };
        assert!(stat(1).is_dead());
        assert!(!stat(2).is_dead());
    }

    #[test]
    fn this_process_is_seen_as_it_is() {
        let me = std::process::id();
        assert!(all_pids().contains(&me));
        assert!(is_alive(me));
        // Read in this order: if memory grows in between, the peak grows too.
        let resident_bytes = memory_bytes(me, "VmRSS").unwrap();
        assert!(memory_bytes(me, "VmHWM").unwrap() >= resident_bytes);
        assert!(resident_bytes > 100_000);
        assert!(threads(me).iter().filter_map(|&thread| context_switches(me, thread)).sum::<u64>() > 0);
        let _some_kernels_do_not_count_it = threads(me).iter().find_map(|&thread| waited_ns(me, thread));
    }

    #[test]
    fn a_field_is_matched_from_the_start_of_its_line() {
        let text = "nonvoluntary_ctxt_switches:\t5\nvoluntary_ctxt_switches:\t7\n";
        assert_eq!(field(text, "voluntary_ctxt_switches"), Some(7));
        assert_eq!(field(text, "ctxt_switches"), None);
    }

    #[test]
    fn the_environment_of_a_process_is_that_of_its_start() {
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("60").env("TARE_X", "a=b").env("TARE_XY", "c").spawn().unwrap();
        let end = std::time::Instant::now() + Duration::from_secs(10);
        // Between fork and exec it still has the environment of this process.
        while environment(child.id(), "TARE_X").is_none() && std::time::Instant::now() < end {
            std::thread::yield_now();
        }
        let found = ["TARE_X", "TARE_XY", "TARE_"].map(|name| environment(child.id(), name));
        assert_eq!(found, [Some("a=b".to_owned()), Some("c".to_owned()), None]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((environment(child.id(), "TARE_X"), is_alive(child.id())), (None, false));
    }

    #[test]
    fn ticks_are_hundredths_of_a_second_on_every_linux() {
        assert_eq!((ticks(0), ticks(150)), (Duration::ZERO, Duration::from_millis(1_500)));
    }

    proptest! {
        #[test]
        fn any_name_of_a_program_is_read(
            name in "[ -~]{0,15}", state in "[RSDTtZX]", numbers in proptest::collection::vec(0..u32::MAX, 48),
        ) {
            let fields: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let stat = Stat::parse(&format!("77 ({name}) {state} {}\n", fields.join(" "))).unwrap();
            prop_assert_eq!((stat.command, stat.state.to_string()), (name, state));
            let [parent, pgid, user, system] = [0, 1, 10, 11].map(|at| u64::from(numbers[at]));
            let [threads, started] = [16, 18].map(|at| u64::from(numbers[at]));
            let children = [12, 13].map(|at| u64::from(numbers[at]));
            prop_assert_eq!((stat.own_ticks, stat.children_ticks), (user + system, children[0] + children[1]));
            let [faults, children_faults] = [6, 7].map(|at| u64::from(numbers[at]));
            prop_assert_eq!((stat.faults, stat.children_faults), (faults, children_faults));
            prop_assert_eq!((u64::from(stat.parent), u64::from(stat.pgid)), (parent, pgid));
            prop_assert_eq!((stat.user_ticks, stat.system_ticks), (user + children[0], system + children[1]));
            prop_assert_eq!((stat.threads, stat.started_ticks), (threads, started));
        }

        #[test]
        fn no_file_of_the_kernel_is_too_much(text in "([0-9]{1,20}|[()a-zRé:-]| |\n|VmRSS:){0,60}") {
            let _any = (Stat::parse(&text), field(&text, "VmRSS"));
        }
    }
}
