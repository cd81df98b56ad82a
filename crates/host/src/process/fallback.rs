//! Replaces cgroups on machines without them: finds processes by process group and by an environment
//! variable, and stops, continues and kills them one by one.

use super::naming::{self, Maker};
use super::procfs;
use rustix::process::{Pid, Signal};

/// The environment variable with the name of a process's group. All descendants of a service inherit it, even
/// a daemon in another session.
pub(super) const MARK: &str = "TARE_GROUP";

/// The name of a process's group; absent if it has none, or if the group was made in another PID namespace. A
/// host sees the processes of its containers, and host and container may each run a Tare.
pub(super) fn group_of(pid: u32) -> Option<String> {
    procfs::environment(pid, MARK).filter(|name| naming::maker(name).is_some_and(Maker::is_here))
}

fn pid(number: u32) -> Option<Pid> {
    // PID 0 would address the own group, a negative number every process, and 1 is init.
    i32::try_from(number).ok().filter(|&number| number > 1).and_then(Pid::from_raw)
}

/// Sends a signal to one process. It is not an error if the process has ended.
pub(super) fn signal_process(number: u32, signal: Signal) {
    if let Some(pid) = pid(number) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Sends a signal to a whole process group at once.
pub(super) fn signal_group(pgid: u32, signal: Signal) {
    if let Some(pgid) = pid(pgid) {
        let _ = rustix::process::kill_process_group(pgid, signal);
    }
}

/// Every live process of the group `name`: by its process group, or by the mark in its environment. It reads
/// every process of the machine, about 10 µs each, so do not call it during a measurement.
pub(super) fn members(name: &str, pgid: Option<u32>) -> Vec<u32> {
    let me = std::process::id();
    let belongs = |&pid: &u32| {
        let Some(stat) = procfs::stat(pid) else { return false };
        let by_group = pgid == Some(stat.pgid);
        pid != me && !stat.is_dead() && (by_group || group_of(pid).as_deref() == Some(name))
    };
    procfs::all_pids().into_iter().filter(belongs).collect()
}

/// Whether every thread of the process is stopped (or dead).
pub(super) fn is_stopped(pid: u32) -> bool {
    let stopped = |&thread: &u32| {
        procfs::thread_state(pid, thread).is_none_or(|state| matches!(state, 'T' | 't' | 'Z' | 'X'))
    };
    procfs::threads(pid).iter().all(stopped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_signal_ever_goes_to_all_processes_or_to_init() {
        for number in [0, 1, u32::MAX, 1 << 31] {
            assert!(pid(number).is_none(), "{number}");
        }
        assert!(pid(2).is_some());
    }

    use std::{
        os::unix::process::CommandExt,
        process::{Child, Command},
        time::{Duration, Instant},
    };

    /// A process that is killed when the test ends.
    struct Sleeper(Child);

    impl Sleeper {
        fn start(prepare: impl Fn(&mut Command)) -> Sleeper {
            let mut command = Command::new("sleep");
            prepare(command.arg("60"));
            Sleeper(command.spawn().unwrap())
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn soon(what: impl Fn() -> bool) -> bool {
        let end = Instant::now() + Duration::from_secs(10);
        while !what() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        what()
    }

    #[test]
    fn members_are_found_by_process_group_and_by_mark() {
        let name = naming::name(std::process::id(), u64::MAX / 10);
        let grouped = Sleeper::start(|command| {
            command.process_group(0);
        });
        let marked = Sleeper::start(|command| {
            command.process_group(0).env(MARK, &name);
        });
        let _other = Sleeper::start(|command| {
            command.env(MARK, format!("{name}0"));
        });
        let pgid = grouped.0.id();
        // Between fork and exec a process still has its parent's environment.
        assert!(soon(|| members(&name, None) == [marked.0.id()]));
        let mut both = vec![pgid, marked.0.id()];
        both.sort_unstable();
        let mut found = members(&name, Some(pgid));
        found.sort_unstable();
        assert_eq!(found, both);
    }

    #[test]
    fn a_dead_process_is_no_member_before_it_is_reaped() {
        let mut sleeper = Sleeper::start(|command| {
            command.process_group(0);
        });
        let pgid = sleeper.0.id();
        assert_eq!(members("none", Some(pgid)), [pgid]);
        signal_process(pgid, Signal::KILL);
        assert!(soon(|| members("none", Some(pgid)).is_empty()));
        assert!(!sleeper.0.wait().unwrap().success());
    }

    #[test]
    fn a_process_is_stopped_and_continued() {
        let sleeper = Sleeper::start(|command| {
            command.process_group(0);
        });
        assert!(!is_stopped(sleeper.0.id()));
        signal_group(sleeper.0.id(), Signal::STOP);
        assert!(soon(|| is_stopped(sleeper.0.id())));
        signal_process(sleeper.0.id(), Signal::CONT);
        assert!(soon(|| !is_stopped(sleeper.0.id())));
    }
}
