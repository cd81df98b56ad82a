//! The first process of a process namespace. The kernel drops signals to it that it has no handler for, and gives it the processes
//! that lost their parents; so a service is not the first one itself, as in a container that was started with `--init`.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Command, Stdio},
};

use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

use super::{outcome::Exit, syscall};

/// The command by which a program is started as one.
pub const SUBCOMMAND: &str = "service-init";
/// A shell's way to say by which signal a program ended.
const SIGNAL_BASE: i32 = 128;
/// As in a shell.
const CANNOT_EXECUTE: u8 = 127;

/// Runs a program to its end, and takes leave of every process that its parent left. Its stdin is a pipe, into which the time goes
/// at which the program is executed. Without a program it says whether all is as it should be here.
///
/// The result is that of the program; 128 and its number for a signal.
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

/// Whether `/proc` is that of this namespace.
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
        // What the standard library ignores in this process.
        syscall::default_signals();
        rustix::io::write(&stamp, &syscall::monotonic_ns().to_ne_bytes())?;
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

/// How the program below an init ended, by the status of that.
pub(super) fn exit_below(of_init: Exit) -> Exit {
    /// There are no more signals than this.
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
