//! A program that ends by itself, such as a build step. It is supervised like a service, so that it outlives neither its
//! time limit nor tare. It knows nothing of what the program does.

use super::launch::{Launch, StartError, Supervisor};
use super::outcome::Exit;
use super::procfs;
use super::supervised::Supervised;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(2);
/// How long a program has after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    pub time: Duration,
    /// The program is stopped as soon as this is set.
    pub interrupt: &'a AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit.
    Itself(Exit),
    /// It exceeded the time limit and was stopped.
    TooLong,
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
        std::thread::sleep(TICK);
    };
    let cpu = match ended {
        // It has ended but has not been waited for, so its final CPU time can still be read.
        Ended::Itself(_) => {
            let stat = procfs::stat(service.pid());
            stat.map_or(Duration::ZERO, |stat| procfs::ticks(stat.user_ticks + stat.system_ticks))
        }
        Ended::TooLong | Ended::Interrupted => Duration::ZERO,
    };
    service.stop(GRACE);
    Ok(Job { ended, cpu })
}
