//! Allows one measurement at a time on each CPU: two would measure each other's load.
//!
//! The lock of a CPU is a listener with a name in the abstract namespace of Unix sockets. The kernel frees
//! the name however its owner ends, and every user of the machine sees it. A connection yields the owner's
//! credentials. Processes in another network namespace, such as a container, have separate names.
//!
//! Any user can take these names and keep them, as any user can take the CPUs themselves. So the error names
//! the user. Lock files are no better: other users cannot see a private folder, and any of them can lock a
//! file in a shared one.

use std::{
    fmt, io,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
    time::Duration,
};

use rustix::{
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, UCred, connect, socket_with,
        sockopt::socket_peercred,
    },
    process::getuid,
    time::{ClockId, clock_gettime},
};

use crate::process::began;

/// Environment variable with a part of each lock's name. Processes with different values do not wait for each
/// other; tests use it so as not to wait for other programs.
pub const REALM: &str = "TARE_CPU_REALM";

/// The CPUs that this process measures on, until it is dropped.
#[derive(Debug)]
pub struct CpuLock {
    _names: Vec<UnixListener>,
}

/// The process that measures on a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub cpu: usize,
    /// User id; absent if it is the user of this process, or unknown.
    pub other_user: Option<u32>,
    /// Absent if the process cannot be seen or has ended.
    pub process: Option<HolderProcess>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderProcess {
    pub pid: u32,
    pub command: String,
    /// Time since the process was started.
    pub age: Duration,
}

impl CpuLock {
    /// Locks all of these CPUs, or none. If the kernel refuses such a name, that CPU is used without a lock.
    ///
    /// # Errors
    /// Another process measures on one of them.
    pub fn take(cpus: &[usize]) -> Result<CpuLock, Holder> {
        CpuLock::take_in(&std::env::var(REALM).unwrap_or_default(), cpus)
    }

    fn take_in(realm: &str, cpus: &[usize]) -> Result<CpuLock, Holder> {
        let mut names = Vec::new();
        for &cpu in cpus {
            let Ok(name) = SocketAddr::from_abstract_name(name(realm, cpu)) else { continue };
            match UnixListener::bind_addr(&name) {
                Ok(listener) => names.push(listener),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    let peer = peer(realm, cpu);
                    let other_user = peer.map(|peer| peer.uid).filter(|user| *user != getuid());
                    return Err(Holder {
                        cpu,
                        other_user: other_user.map(|user| user.as_raw()),
                        process: peer.and_then(process),
                    });
                }
                Err(_) => {}
            }
        }
        Ok(CpuLock { _names: names })
    }
}

fn name(realm: &str, cpu: usize) -> String {
    format!("tare-cpu{realm}-{cpu}")
}

/// Credentials of the listening process. It accepts no connection, so its queue is full after a few thousand
/// connections. A connection then fails at once, as the socket does not block.
fn peer(realm: &str, cpu: usize) -> Option<UCred> {
    let address = SocketAddrUnix::new_abstract_name(name(realm, cpu).as_bytes()).ok()?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).ok()?;
    connect(&socket, &address).ok()?;
    socket_peercred(&socket).ok()
}

fn process(peer: UCred) -> Option<HolderProcess> {
    let pid = peer.pid.as_raw_nonzero().get().cast_unsigned();
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let now = clock_gettime(ClockId::Boottime);
    let age = Duration::new(now.tv_sec.cast_unsigned(), 0).saturating_sub(began(pid)?);
    Some(HolderProcess { pid, command: words.join(" ").trim_end().to_owned(), age })
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.other_user.map(|user| format!(" of user {user}")).unwrap_or_default();
        let Some(HolderProcess { pid, command, age }) = &self.process else {
            return write!(f, "another tare{user} measures on CPU {}", self.cpu);
        };
        let (command, age) = (command.escape_debug(), age.as_secs());
        write!(f, "process {pid}{user} (\"{command}\") measures on CPU {}, since {age} s ago", self.cpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn realm(name: &str) -> String {
        format!("-test-{name}-{}", std::process::id())
    }

    #[test]
    fn a_cpu_is_measured_on_by_one_at_a_time_and_the_other_learns_by_whom() {
        let realm = realm("one");
        let first = CpuLock::take_in(&realm, &[0, 1]).unwrap();
        let holder = CpuLock::take_in(&realm, &[1, 2]).unwrap_err();
        let process = holder.process.as_ref().expect("a process that can be seen");
        assert_eq!((holder.cpu, process.pid), (1, std::process::id()));
        let told = holder.to_string();
        assert!(told.starts_with(&format!("process {} (\"", std::process::id())), "{told}");
        assert!(told.contains("\") measures on CPU 1, since "), "{told}");
        let beside = CpuLock::take_in(&realm, &[2]).expect("none of it was kept by the attempt");
        drop(first);
        drop(beside);
        CpuLock::take_in(&realm, &[0, 1, 2]).unwrap();
    }

    #[test]
    fn a_holder_of_another_user_is_named_with_its_user() {
        let process = Some(HolderProcess { pid: 7, command: "hog".to_owned(), age: Duration::from_secs(9) });
        let mut holder = Holder { cpu: 1, other_user: Some(1001), process };
        assert_eq!(holder.to_string(), "process 7 of user 1001 (\"hog\") measures on CPU 1, since 9 s ago");
        holder.process = None;
        assert_eq!(holder.to_string(), "another tare of user 1001 measures on CPU 1");
    }

    #[test]
    fn a_holder_that_nobody_can_connect_to_any_more_is_not_waited_for() {
        let realm = realm("full");
        let _first = CpuLock::take_in(&realm, &[0]).unwrap();
        // Each attempt stays in the queue of the holder: 100,000 are more than any queue holds.
        let unknown = (0..100_000).any(|_| CpuLock::take_in(&realm, &[0]).unwrap_err().process.is_none());
        assert!(unknown, "a queue of that length would be news");
    }

    #[test]
    fn another_realm_is_another_machine() {
        let _first = CpuLock::take_in(&realm("a"), &[0]).unwrap();
        CpuLock::take_in(&realm("b"), &[0]).unwrap();
    }
}
