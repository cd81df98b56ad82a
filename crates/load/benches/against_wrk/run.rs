//! One run of a tool, and its cost by the kernel's accounting of the process.

use std::error::Error;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::leash::leash;
use super::outputs::requests;
use super::tools::{Cell, Tool};

/// How long a tool may take beyond the time of its load.
const END_WITHIN: Duration = Duration::from_secs(20);

/// What one run of a tool cost.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub requests: u64,
    pub cpu_us: f64,
    pub elapsed_s: f64,
}

impl Reading {
    pub fn cpu_us_per_request(&self) -> f64 {
        self.cpu_us / self.requests as f64
    }

    pub fn requests_per_s(&self) -> f64 {
        self.requests as f64 / self.elapsed_s
    }
}

/// Runs a tool once, on the CPUs of the calling thread.
pub fn run(tool: &Tool, cell: &Cell) -> Result<Reading, Box<dyn Error>> {
    let start = Instant::now();
    let (output, is_good, cpu_us) = run_once(tool, cell)?;
    let elapsed_s = if tool.is_timed() { cell.seconds as f64 } else { start.elapsed().as_secs_f64() };
    match requests(tool, cell.protocol, &output).filter(|requests| is_good && *requests > 0) {
        Some(requests) => Ok(Reading { requests, cpu_us, elapsed_s }),
        None => {
            let name = tool.name();
            Err(format!("{name} had requests that failed, did not end or said nothing known:\n{output}")
                .into())
        }
    }
}

/// The tool's output, its success, and its CPU time in microseconds. It is killed if it does not end.
fn run_once(tool: &Tool, cell: &Cell) -> Result<(String, bool, f64), Box<dyn Error>> {
    let mut command = tool.command(cell)?;
    let mut child = leash(&mut command).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let limit = Duration::from_secs(cell.seconds) + END_WITHIN;
    let (through, is_through) = channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if is_through.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let _gone = pidfd_send_signal(handle, Signal::KILL);
        }
    });
    let mut output = String::new();
    child.stdout.take().ok_or("a child without output")?.read_to_string(&mut output)?;
    let (is_good, cpu_us) = wait(child.id())?;
    drop(through);
    watchdog.join().map_err(|_| "the watchdog panicked")?;
    Ok((output, is_good, cpu_us))
}

/// Waits for a child. Returns whether it succeeded and its CPU time: user and kernel, all threads.
#[allow(unsafe_code)]
fn wait(pid: u32) -> io::Result<(bool, f64)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are to local variables that are large enough.
    if unsafe { libc::wait4(pid as libc::pid_t, &raw mut status, 0, usage.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all-zero bits are a valid `rusage`, and `wait4` has filled it.
    let usage = unsafe { usage.assume_init() };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    Ok((status == 0, us(usage.ru_utime) + us(usage.ru_stime)))
}
