//! A program that ends by itself, such as a build step, or one that is asked for its version. It is supervised like a service, so
//! that it outlives neither its limits nor tare. It knows nothing of what the program does.

use super::launch::{Launch, StartError, StartFailure, Supervisor};
use super::outcome::Exit;
use super::procfs;
use super::supervised::Supervised;
use rustix::fs::MemfdFlags;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(2);
/// How long a program has after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    pub time: Duration,
    /// How much it may print, to stdout and to stderr.
    pub output_bytes: u64,
    /// The program is stopped as soon as this is set.
    pub interrupt: &'a AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit.
    Itself(Exit),
    /// It exceeded the time limit and was stopped.
    TooLong,
    /// It printed more than it may, and was stopped.
    TooMuch,
    /// It was stopped as the caller was interrupted.
    Interrupted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    pub ended: Ended,
    /// CPU time of the program and of all children that it waited for, in clock ticks of 10 ms. Zero if it was stopped.
    pub cpu: Duration,
}

/// Starts a program and waits for its end. Processes that it leaves behind are killed; otherwise the daemon of a build tool
/// would run beside the next measurement.
///
/// # Errors
/// The program cannot be started.
pub fn run_to_end(launch: &Launch, supervisor: &Supervisor, limits: Limits<'_>) -> Result<Job, StartError> {
    let service = Supervised::start(launch, supervisor)?;
    let began = Instant::now();
    let ended = loop {
        if let Some(exit) = service.has_exited() {
            break Ended::Itself(exit);
        }
        if limits.interrupt.load(Ordering::Relaxed) {
            break Ended::Interrupted;
        }
        if began.elapsed() > limits.time {
            break Ended::TooLong;
        }
        if prints_too_much(launch, limits.output_bytes) {
            break Ended::TooMuch;
        }
        std::thread::sleep(TICK);
    };
    let cpu = match ended {
        // It has ended but has not been waited for, so its final CPU time can still be read.
        Ended::Itself(_) => {
            let stat = procfs::stat(service.pid());
            stat.map_or(Duration::ZERO, |stat| procfs::ticks(stat.user_ticks + stat.system_ticks))
        }
        Ended::TooLong | Ended::TooMuch | Ended::Interrupted => Duration::ZERO,
    };
    service.stop(GRACE);
    Ok(Job { ended, cpu })
}

fn prints_too_much(launch: &Launch, bytes_max: u64) -> bool {
    let printed =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > bytes_max);
    printed(&launch.stdout) || printed(&launch.stderr)
}

/// What a program said, and how it ended.
#[derive(Debug)]
pub struct Answer {
    pub ended: Ended,
    /// No more than was allowed, as is `stderr`.
    pub stdout: String,
    pub stderr: String,
}

/// The same for what a program prints, which goes to no file: where `launch` sends it is not looked at.
///
/// # Errors
/// The program cannot be started, or no memory file can be made for its output.
pub fn answer(launch: &Launch, supervisor: &Supervisor, limits: Limits<'_>) -> Result<Answer, StartError> {
    let failed = |source| StartError {
        service: launch.name.clone(),
        why: StartFailure::Output { path: "a memory file".into(), source },
    };
    let [mut stdout, mut stderr] = [memory().map_err(failed)?, memory().map_err(failed)?];
    // It is opened anew by this name, before the program is started.
    let path = |file: &File| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let launch = Launch { stdout: path(&stdout), stderr: path(&stderr), append: false, ..launch.clone() };
    let job = run_to_end(&launch, supervisor, limits)?;
    let read = |file: &mut File| {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.take(limits.output_bytes).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (stdout, stderr) = (read(&mut stdout).map_err(failed)?, read(&mut stderr).map_err(failed)?);
    Ok(Answer { ended: job.ended, stdout, stderr })
}

fn memory() -> io::Result<File> {
    Ok(rustix::fs::memfd_create("answer", MemfdFlags::CLOEXEC)?.into())
}
