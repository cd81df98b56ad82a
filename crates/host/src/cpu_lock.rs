//! One measurement at a time on each CPU: two would measure what the other one takes.
//!
//! Each CPU is a name in the abstract namespace of Unix sockets, and whoever listens at it measures there. The kernel takes the
//! name back however its holder ends, nothing is left on a disk, and every user of the machine sees it. Who connects learns who
//! listens. Processes in another network namespace, such as in another container, have names of their own.

use std::{
    fmt, io,
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
    time::Duration,
};

use rustix::{
    net::sockopt::socket_peercred,
    time::{ClockId, clock_gettime},
};

use crate::process::began;

/// Of whose names: measurements with another value do not wait for each other. For tests, which must not wait for those of
/// another program.
pub const REALM: &str = "TARE_CPU_REALM";

/// The CPUs that this process measures on, until it is dropped.
#[derive(Debug)]
pub struct CpuLock {
    _names: Vec<UnixListener>,
}

/// Who measures on a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub cpu: usize,
    /// Absent if it cannot be seen, or has ended meanwhile.
    pub process: Option<HolderProcess>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderProcess {
    pub pid: u32,
    pub command: String,
    /// How long it has been running.
    pub age: Duration,
}

impl CpuLock {
    /// Takes all of these CPUs, or none. A kernel that refuses such names is no reason not to measure.
    ///
    /// # Errors
    /// Another process measures on one of them.
    pub fn take(cpus: &[usize]) -> Result<CpuLock, Holder> {
        CpuLock::take_in(&std::env::var(REALM).unwrap_or_default(), cpus)
    }

    fn take_in(realm: &str, cpus: &[usize]) -> Result<CpuLock, Holder> {
        let mut names = Vec::new();
        for &cpu in cpus {
            let Ok(name) = name(realm, cpu) else { continue };
            match UnixListener::bind_addr(&name) {
                Ok(listener) => names.push(listener),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    return Err(Holder { cpu, process: holder(&name) });
                }
                Err(_) => {}
            }
        }
        Ok(CpuLock { _names: names })
    }
}

fn name(realm: &str, cpu: usize) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("tare-cpu{realm}-{cpu}"))
}

fn holder(name: &SocketAddr) -> Option<HolderProcess> {
    let stream = UnixStream::connect_addr(name).ok()?;
    let pid = socket_peercred(&stream).ok()?.pid.as_raw_nonzero().get().cast_unsigned();
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let now = clock_gettime(ClockId::Boottime);
    let age = Duration::new(now.tv_sec.cast_unsigned(), 0).saturating_sub(began(pid)?);
    Some(HolderProcess { pid, command: words.join(" ").trim_end().to_owned(), age })
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(HolderProcess { pid, command, age }) = &self.process else {
            return write!(f, "another tare measures on CPU {}", self.cpu);
        };
        let command = command.escape_debug();
        write!(f, "process {pid} (\"{command}\") measures on CPU {}, since {} s ago", self.cpu, age.as_secs())
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
    fn another_realm_is_another_machine() {
        let _first = CpuLock::take_in(&realm("a"), &[0]).unwrap();
        CpuLock::take_in(&realm("b"), &[0]).unwrap();
    }
}
