//! A program that ends by itself, such as a step of a build: supervised like a service, so that it outlives neither its
//! limit nor tare, but waited for and not asked to stop. It knows nothing of what the program does.

use super::launch::{Launch, StartError, Supervisor};
use super::outcome::Exit;
use super::{Service, procfs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(2);
/// How long a program has after SIGTERM, where it may not go on.
const GRACE: Duration = Duration::from_secs(2);

/// How long a program may run.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// At most so long.
    pub time: Duration,
    /// And not beyond the moment at which somebody sets this.
    pub interrupt: &'a AtomicBool,
}

/// How a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Itself(Exit),
    /// It took too long.
    TooLong,
    /// The caller was interrupted.
    Interrupted,
}

/// What became of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Its end.
    pub ended: Ended,
    /// CPU time of it and of all its children that were waited for, to a tick of the clock (10 ms). Zero where it did
    /// not end by itself.
    pub cpu: Duration,
}

/// Starts a program and waits for its end. Whatever it leaves running is killed: a build that starts a daemon would
/// otherwise have it run beside the next measurement.
pub fn run_to_end(launch: &Launch, supervisor: &Supervisor, limits: Limits<'_>) -> Result<Job, StartError> {
    let service = Service::start(launch, supervisor)?;
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
        // It is dead and not yet waited for: its books are closed, and still open to be read.
        Ended::Itself(_) => {
            let stat = procfs::stat(service.pid());
            stat.map_or(Duration::ZERO, |stat| procfs::ticks(stat.user_ticks + stat.system_ticks))
        }
        Ended::TooLong | Ended::Interrupted => Duration::ZERO,
    };
    service.stop(GRACE);
    Ok(Job { ended, cpu })
}
