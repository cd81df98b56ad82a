//! The scheduling class of a thread. It makes the system call itself: musl's functions always fail, because
//! POSIX applies to processes and the kernel to threads.

use std::io;

/// The kernel's layout; that of a C library may be longer.
#[repr(C)]
struct KernelSchedParam {
    sched_priority: libc::c_int,
}

/// Moves this thread, and every thread that it starts unless the policy says otherwise, to a scheduling class.
///
/// # Errors
/// The kernel refuses.
pub(crate) fn set(policy: libc::c_int, sched_priority: libc::c_int) -> io::Result<()> {
    let priority = KernelSchedParam { sched_priority };
    // SAFETY: the pointer is valid for the call, and the kernel only reads it; 0 is the calling thread.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_moves_to_the_class_that_was_asked_for() {
        let policy = || std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let moved = std::thread::spawn(move || {
            set(libc::SCHED_IDLE, 0).unwrap();
            policy()
        });
        let stat = moved.join().unwrap();
        // Field 41 of the file, the 39th after the name.
        let behind_the_name = stat.rsplit(')').next().unwrap();
        let found = behind_the_name.split_whitespace().nth(38).unwrap();
        assert_eq!(found, libc::SCHED_IDLE.to_string(), "{stat}");
        assert_eq!(set(libc::SCHED_IDLE, 1).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
