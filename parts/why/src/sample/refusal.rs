//! Why the kernel does not let a service be sampled, and what would allow it.

use std::{fs, io};

/// The setting of the kernel that says who may sample.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// Sampling is not to be had, or not of this service.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    #[error(
        "the kernel lets only root sample programs (kernel.perf_event_paranoid is {0}): `sudo sysctl kernel.perf_event_paranoid=2` \
         allows it for one's own"
    )]
    Paranoid(i32),
    #[error(
        "perf_event_open is denied here, as containers do by default: allow it, such as by `docker run --cap-add PERFMON` and a \
         seccomp profile that has it"
    )]
    Denied,
    #[error("the kernel has no perf events (CONFIG_PERF_EVENTS)")]
    Missing,
    #[error("the processes of the service belong to another user: only root may sample them")]
    OtherUser,
    #[error("the service has {threads} threads on {cpus} CPUs, which takes more than {most} events")]
    TooMany { threads: usize, cpus: usize, most: usize },
    #[error("no file descriptors are left for sampling: raise `ulimit -n`")]
    NoDescriptors,
    #[error(
        "the kernel grants no memory for samples ({0}): raise kernel.perf_event_mlock_kb, or `ulimit -l`"
    )]
    NoMemory(io::Error),
    #[error("the service has no process that could be sampled")]
    NoProcess,
    #[error("sampling failed: {0}")]
    Io(#[from] io::Error),
}

impl SampleError {
    /// The reason behind a refused `perf_event_open` of a process, whose owner is this user or not.
    pub(super) fn of(error: io::Error, is_own: bool) -> SampleError {
        Self::with(error, paranoid(), is_own)
    }

    fn with(error: io::Error, paranoid: Option<i32>, is_own: bool) -> SampleError {
        match (error.raw_os_error(), paranoid) {
            (Some(libc::ENOSYS), None) => SampleError::Missing,
            (Some(libc::ENOSYS), Some(_)) => SampleError::Denied,
            (Some(libc::ENOENT | libc::EOPNOTSUPP), _) => SampleError::Missing,
            (Some(libc::EMFILE | libc::ENFILE), _) => SampleError::NoDescriptors,
            (Some(libc::EACCES | libc::EPERM), Some(level)) if level > 2 => SampleError::Paranoid(level),
            (Some(libc::EACCES | libc::EPERM), _) if !is_own => SampleError::OtherUser,
            (Some(libc::EACCES | libc::EPERM), _) => SampleError::Denied,
            _ => SampleError::Io(error),
        }
    }
}

fn paranoid() -> Option<i32> {
    fs::read_to_string(PARANOID).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_would_allow_it() {
        let of = |number, paranoid, is_own| {
            SampleError::with(io::Error::from_raw_os_error(number), paranoid, is_own).to_string()
        };
        assert!(of(libc::EACCES, Some(4), true).contains("perf_event_paranoid is 4): `sudo sysctl"));
        assert!(of(libc::EPERM, Some(2), true).contains("--cap-add PERFMON"));
        assert!(of(libc::ENOSYS, Some(2), true).contains("--cap-add PERFMON"), "seccomp may say so");
        assert!(of(libc::ENOSYS, None, true).contains("CONFIG_PERF_EVENTS"));
        assert!(of(libc::EACCES, Some(2), false).contains("another user"));
        assert!(of(libc::EMFILE, Some(2), true).contains("ulimit -n"));
        assert!(of(libc::EIO, Some(2), true).contains("sampling failed"));
    }
}
