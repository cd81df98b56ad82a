//! System calls that rustix lacks, and those between fork and exec. It knows nothing of services.

use std::{
    fs::File,
    io::{self, Read},
    mem::MaybeUninit,
    os::fd::FromRawFd,
};

use libc::{SIG_DFL, SIG_IGN, SIGHUP, SIGINT, SIGQUIT, SIGTERM, c_int, c_ulong};

use crate::scheduler;

/// The highest signal number of Linux, including real-time signals.
const LAST_SIGNAL: c_int = 64;
/// Signals by which a terminal or a user asks a program to end.
const ASKED_TO_END: [c_int; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// `CPUCLOCK_SCHED`: time on the CPU as the scheduler counts it.
const SCHEDULER: c_int = 2;
/// `CPUCLOCK_PERTHREAD_MASK`.
const ONE_THREAD: c_int = 4;

/// Restores the default disposition of every signal. Exec resets handlers, but an *ignored* signal stays
/// ignored (SIGHUP under nohup, SIGINT in a background job). A service that inherits an ignored SIGTERM could
/// not be stopped. Safe between fork and exec: it allocates nothing and takes no lock.
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
        // SAFETY: as in `default_signals`; SIG_IGN runs no code of this program in signal context.
        unsafe { libc::signal(number, SIG_IGN) };
    }
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

/// A perf counter of the CPU time of a thread and its descendants, including ended ones. Unlike a clock, it
/// omits the time that the kernel takes to switch to a thread and back.
#[derive(Debug)]
pub(super) struct TaskClock(File);

/// The descendants that inherit the counter from their start on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heirs {
    /// Threads of the same process.
    Threads,
    /// Threads and processes.
    All,
}

impl TaskClock {
    /// Time since the counter was opened.
    pub(super) fn ns(&self) -> io::Result<u64> {
        let mut count = [0; size_of::<u64>()];
        (&self.0).read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

/// Opens a counter for a thread of any process (`perf_event_open(2)`).
///
/// # Errors
/// The kernel lacks such counters or refuses them: for users other than root that depends on
/// `kernel.perf_event_paranoid` and on the owner of the process.
pub(super) fn task_clock(thread: u32, heirs: Heirs) -> io::Result<TaskClock> {
    /// The first version of `struct perf_event_attr` (`PERF_ATTR_SIZE_VER0`), which every kernel accepts.
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        sample_period: u64,
        sample_type: u64,
        read_format: u64,
        flags: u64,
        wakeup_events: u32,
        breakpoint: u32,
        address: u64,
    }
    /// `PERF_TYPE_SOFTWARE` and its `PERF_COUNT_SW_TASK_CLOCK`.
    const SOFTWARE: u32 = 1;
    const TASK_CLOCK: u64 = 1;
    /// `inherit`; `exclude_kernel` and `exclude_hv`, without which only root may count. The task clock
    /// includes kernel time all the same.
    const FLAGS: u64 = 1 << 1 | 1 << 5 | 1 << 6;
    /// `inherit_thread` (Linux 5.13).
    const THREADS_ALONE: u64 = 1 << 35;
    /// `PERF_FLAG_FD_CLOEXEC`.
    const CLOSE_ON_EXEC: c_ulong = 8;
    let attributes = Attributes {
        kind: SOFTWARE,
        size: size_of::<Attributes>() as u32,
        config: TASK_CLOCK,
        flags: FLAGS | if heirs == Heirs::Threads { THREADS_ALONE } else { 0 },
        ..Attributes::default()
    };
    let (any_cpu, no_group): (c_int, c_int) = (-1, -1);
    let number = libc::SYS_perf_event_open;
    // SAFETY: the pointer is valid for a read of as many bytes as `size` says, and the kernel writes nothing.
    let file = unsafe {
        libc::syscall(number, &raw const attributes, thread.cast_signed(), any_cpu, no_group, CLOSE_ON_EXEC)
    };
    match c_int::try_from(file) {
        // SAFETY: a call that did not fail has opened this file for the caller alone.
        Ok(file) if file >= 0 => Ok(TaskClock(unsafe { File::from_raw_fd(file) })),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Moves this thread, and every thread that it starts, to the idle scheduling class: it runs only if no other
/// thread wants the CPU. Unlike with `nice 19`, a normal thread that wakes up preempts it at once.
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

    /// Counter and clock are read one after the other, so the test allows a difference.
    #[test]
    fn a_counter_has_what_the_clock_has_in_both_modes() {
        let thread = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        let began = std::time::Instant::now();
        let Ok(counter) = task_clock(thread, Heirs::All) else {
            crate::message!("skipped: the kernel allows no counters");
            return;
        };
        let before = thread_cpu_ns(thread).unwrap();
        while thread_cpu_ns(thread).unwrap() < before + 20_000_000 {
            let _in_the_kernel = std::fs::read("/proc/self/stat");
        }
        let (counted, took) = (counter.ns().unwrap(), thread_cpu_ns(thread).unwrap() - before);
        assert!(counted as f64 > 0.9 * took as f64, "{counted} {took}");
        // While the hypervisor has the CPU, the counter advances and the clock does not.
        assert!(u128::from(counted) < began.elapsed().as_nanos() + 1_000_000, "{counted} {took}");
    }

    #[test]
    fn threads_of_an_idle_thread_are_idle_too() {
        let policy = || {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            // The policy is field 41 of the file; the name in brackets is field 2.
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
