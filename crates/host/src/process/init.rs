//! The first process (PID 1) of a PID namespace. The kernel drops signals that it does not handle, and makes
//! it the parent of orphans. So the service runs below it, as in a container with `--init`.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Command, Stdio},
};

use rustix::process::{Pid, WaitOptions, WaitStatus, wait};
use tare_base::{Clock, Monotonic};

use super::{outcome::Exit, syscall};

/// The hidden command that runs [`main`].
pub const SUBCOMMAND: &str = "service-init";
/// Base of the exit status for a signal, as in a shell.
const SIGNAL_BASE: i32 = 128;
/// Exit status if the program cannot be executed, as in a shell.
const CANNOT_EXECUTE: u8 = 127;

/// Runs a program to its end and reaps all orphans. Stdin is a pipe that receives the time at which the
/// program is executed. Without a program it only checks that the namespace is set up.
///
/// Returns the exit status of the program, or 128 plus the number of the signal that ended it.
pub fn main(command: &[OsString]) -> u8 {
    let Some((program, words)) = command.split_first() else {
        return u8::from(std::process::id() != 1 || !is_alone());
    };
    match run(program, words) {
        Ok(status) => status,
        Err(error) => {
            let _nobody_may_read_it = writeln!(io::stderr(), "cannot execute {program:?}: {error}");
            CANNOT_EXECUTE
        }
    }
}

/// Whether `/proc` belongs to this PID namespace.
fn is_alone() -> bool {
    fs::read_link("/proc/self").is_ok_and(|own| own.as_os_str() == "1")
}

fn run(program: &OsString, words: &[OsString]) -> io::Result<u8> {
    let stamp = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    rustix::stdio::dup2_stdin(fs::File::open("/dev/null")?)?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    let child = spawn(command, stamp)?;
    let ended = |(pid, status): (Pid, WaitStatus)| {
        (pid.as_raw_nonzero().get().cast_unsigned() == child).then_some(status)
    };
    loop {
        match wait(WaitOptions::empty()) {
            Ok(reaped) => {
                if let Some(status) = reaped.and_then(ended) {
                    return Ok(code(status));
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn spawn(mut command: Command, stamp: OwnedFd) -> io::Result<u32> {
    let prepare = move || {
        // Also resets the signals that the standard library ignores in this process.
        syscall::default_signals();
        rustix::io::write(&stamp, &Monotonic.now_ns().to_ne_bytes())?;
        Ok(())
    };
    // SAFETY: between fork and exec `prepare` resets signals, reads the clock and writes to an open file: plain system calls.
    unsafe { command.pre_exec(prepare) };
    Ok(command.spawn()?.id())
}

fn code(status: WaitStatus) -> u8 {
    let of_signal = || status.terminating_signal().map(|signal| SIGNAL_BASE + signal);
    status.exit_status().or_else(of_signal).and_then(|code| code.try_into().ok()).unwrap_or(u8::MAX)
}

/// How the program below an init ended, derived from the exit of the init.
pub(super) fn exit_below(of_init: Exit) -> Exit {
    /// The highest signal number of Linux.
    const SIGNAL_MAX: i32 = 64;
    match of_init {
        Exit::Status(status) if (1..=SIGNAL_MAX).contains(&(status - SIGNAL_BASE)) => {
            Exit::Signal(status - SIGNAL_BASE)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_known_by_the_status_of_the_init() {
        for (of_init, expected) in [
            (Exit::Status(0), Exit::Status(0)),
            (Exit::Status(1), Exit::Status(1)),
            (Exit::Status(128), Exit::Status(128)),
            (Exit::Status(128 + 11), Exit::Signal(11)),
            (Exit::Status(255), Exit::Status(255)),
            (Exit::Signal(9), Exit::Signal(9)),
        ] {
            assert_eq!(exit_below(of_init), expected);
        }
    }
}
