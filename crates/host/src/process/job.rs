//! A program that ends by itself, such as a build step or a version query. It is supervised like a service,
//! so it cannot outlive its limits or Tare. It knows nothing of what the program does.

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
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy)]
pub struct ProgramLimits<'a> {
    pub time: Duration,
    /// Limit of its output to stdout, and to stderr.
    pub output_bytes: u64,
    /// Setting this stops the program at once.
    pub interrupt: &'a AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It ended by itself, with this exit.
    Itself(Exit),
    /// It exceeded the time limit and was stopped.
    TooLong,
    /// It exceeded the limit of output and was stopped.
    TooMuch,
    /// It was stopped because the caller was interrupted.
    Interrupted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramRun {
    pub ended: Ended,
    /// CPU time of the program and its reaped children, in ticks of 10 ms. Zero if it was stopped.
    pub cpu: Duration,
}

/// Starts a program and waits for its end. Processes that it leaves behind are killed: the daemon of a build
/// tool would disturb the next measurement.
///
/// # Errors
/// The program cannot be started.
pub fn run_to_end(
    launch: &Launch,
    supervisor: &Supervisor,
    limits: ProgramLimits<'_>,
) -> Result<ProgramRun, StartError> {
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
        // It has ended but is not reaped yet, so its final CPU time can still be read.
        Ended::Itself(_) => {
            let stat = procfs::stat(service.pid());
            stat.map_or(Duration::ZERO, |stat| procfs::ticks(stat.user_ticks + stat.system_ticks))
        }
        Ended::TooLong | Ended::TooMuch | Ended::Interrupted => Duration::ZERO,
    };
    service.stop(GRACE);
    Ok(ProgramRun { ended, cpu })
}

fn prints_too_much(launch: &Launch, bytes_max: u64) -> bool {
    let printed =
        |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() > bytes_max);
    printed(&launch.stdout) || printed(&launch.stderr)
}

/// The output of a program, and how it ended.
#[derive(Debug)]
pub struct ProgramAnswer {
    pub ended: Ended,
    /// At most as long as the limit; `stderr` too.
    pub stdout: String,
    pub stderr: String,
}

/// As [`run_to_end`], but returns the output. The output files of `launch` are ignored.
///
/// # Errors
/// The program cannot be started, or no memory file can be made for its output.
pub fn answer(
    launch: &Launch,
    supervisor: &Supervisor,
    limits: ProgramLimits<'_>,
) -> Result<ProgramAnswer, StartError> {
    let failed = |source| StartError {
        service: launch.name.clone(),
        why: StartFailure::Output { path: "a memory file".into(), source },
    };
    let [mut stdout, mut stderr] = [memory().map_err(failed)?, memory().map_err(failed)?];
    // The program opens the memory files anew by these names.
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
    Ok(ProgramAnswer { ended: job.ended, stdout, stderr })
}

fn memory() -> io::Result<File> {
    Ok(rustix::fs::memfd_create("answer", MemfdFlags::CLOEXEC)?.into())
}
