//! System calls that rustix does not wrap, and those that are made between fork and exec. It knows nothing of services.

use std::{io, mem::MaybeUninit};

use libc::{SIG_DFL, SIG_IGN, SIGHUP, SIGINT, SIGQUIT, SIGTERM, c_int};

use crate::scheduler;

/// The highest signal number of Linux, including real-time signals.
const LAST_SIGNAL: c_int = 64;
/// By these a terminal or a user asks a program to end.
const ASKED_TO_END: [c_int; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// `CPUCLOCK_SCHED`: time on the CPU as the scheduler counts it.
const SCHEDULER: c_int = 2;
/// `CPUCLOCK_PERTHREAD_MASK`.
const ONE_THREAD: c_int = 4;

/// Restores the default disposition of every signal. Exec resets handlers, but an *ignored* signal stays ignored (SIGHUP
/// under nohup, SIGINT in a background job of a script), and a service that inherits an ignored SIGTERM could not be
/// stopped. Safe between fork and exec: it allocates nothing and takes no lock.
pub(super) fn default_signals() {
    for number in 1..=LAST_SIGNAL {
        // SAFETY: signal(2) is async-signal-safe and takes plain numbers. For SIGKILL, SIGSTOP and the numbers reserved by
        // the C library it returns an error, which is ignored.
        unsafe { libc::signal(number, SIG_DFL) };
    }
}

/// Ignores the signals that ask a program to end. Safe between fork and exec.
pub(super) fn ignore_requests_to_end() {
    for number in ASKED_TO_END {
        // SAFETY: as in `default_signals`; ignoring is no handler, so no code of ours can run in signal context.
        unsafe { libc::signal(number, SIG_IGN) };
    }
}

/// Safe between fork and exec.
pub(super) fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// The CPU time of all threads of a process, dead ones included, in nanoseconds.
///
/// Every process has a CPU clock that others may read (`clock_getcpuclockid(3)`). It is exact to the nanosecond even while
/// the process runs. `/proc/PID/stat` counts in ticks, and `/proc/PID/task/*/schedstat` omits threads that have ended.
pub(super) fn process_cpu_ns(pid: u32) -> io::Result<u64> {
    cpu_ns((!pid.cast_signed() << 3) | SCHEDULER)
}

/// CPU time of one thread of this process, in nanoseconds.
pub(crate) fn thread_cpu_ns(thread: u32) -> io::Result<u64> {
    cpu_ns((!thread.cast_signed() << 3) | ONE_THREAD | SCHEDULER)
}

fn cpu_ns(clock: libc::clockid_t) -> io::Result<u64> {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the pointer is valid for a write of one timespec, and the kernel writes nothing else.
    if unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a call that returned 0 has filled the whole structure.
    let time = unsafe { time.assume_init() };
    Ok(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

/// Moves this thread, and every thread that it starts, to the idle scheduling class: it runs only when no other thread wants
/// the CPU. Unlike `nice 19`, a normal thread that wakes up preempts it at once.
///
/// # Errors
/// The kernel refuses.
pub fn run_when_idle() -> io::Result<()> {
    scheduler::set(libc::SCHED_IDLE, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_process_moves_with_its_work() {
        let before = process_cpu_ns(std::process::id()).unwrap();
        let mut sum = 0_u64;
        for i in 0..3_000_000_u64 {
            sum = std::hint::black_box(sum ^ i);
        }
        let after = process_cpu_ns(std::process::id()).unwrap();
        assert!(after > before + 100_000, "{before} {after}");
    }

    #[test]
    fn threads_of_an_idle_thread_are_idle_too() {
        let policy = || {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            // The 41st field, the name in brackets being the second.
            let policy = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(38).unwrap().to_owned();
            policy.parse::<i32>().unwrap()
        };
        let child = std::thread::spawn(move || {
            run_when_idle().unwrap();
            std::thread::spawn(policy).join().unwrap()
        });
        assert_eq!(child.join().unwrap(), libc::SCHED_IDLE);
    }

    #[test]
    fn a_process_that_does_not_exist_has_no_clock() {
        assert!(process_cpu_ns(0x3fff_fff0 >> 4).is_err());
    }
}
