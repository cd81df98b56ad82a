//! Ctrl-C and SIGTERM: the first asks a command to stop and print its results so far, a second one ends it at
//! once. The watchdog then kills what still runs.

use std::{
    io,
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering},
    },
};

use rustix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};

/// A further signal within this time is the same request: `timeout` sends one to its command and one to the whole group.
const SAME_NS: u64 = 100_000_000;

static RECEIVED: AtomicI32 = AtomicI32::new(0);
static REQUESTS: Requests = Requests { first_ns: AtomicU64::new(0) };

/// Time of the first signal; 0 before it.
#[derive(Debug)]
struct Requests {
    first_ns: AtomicU64,
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Request {
    Stop,
    /// A duplicate of the first one.
    Same,
    EndAtOnce,
}

impl Requests {
    fn add(&self, now_ns: u64) -> Request {
        match self.first_ns.compare_exchange(0, now_ns.max(1), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Request::Stop,
            Err(first_ns) if now_ns.saturating_sub(first_ns) < SAME_NS => Request::Same,
            Err(_) => Request::EndAtOnce,
        }
    }
}

/// Runs in a signal handler, so it uses only atomics, a clock and `_exit`.
fn receive(signal: i32) {
    let now = clock_gettime(ClockId::Monotonic);
    let now_ns = now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned();
    RECEIVED.store(signal, Ordering::Relaxed);
    if REQUESTS.add(now_ns) == Request::EndAtOnce {
        signal_hook::low_level::exit(128 + signal);
    }
}

/// Installs the handlers. A signal sets the returned flag, and so does an earlier one.
///
/// # Errors
/// The kernel refuses a handler for a signal.
pub fn listen() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Each call adds a handler; all handlers of one signal run within `SAME_NS`.
        // SAFETY: `receive` makes only async-signal-safe calls (signal-safety(7)), and it does not panic.
        unsafe { signal_hook::low_level::register(signal, move || receive(signal)) }?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    // The signal may have come in an earlier part of the same command.
    if received().is_some() {
        flag.store(true, Ordering::Relaxed);
    }
    Ok(flag)
}

/// As [`listen`], for an event loop: a signal makes the returned socket readable.
///
/// # Errors
/// The kernel refuses a handler or a pair of sockets.
pub fn listen_by_socket() -> io::Result<UnixStream> {
    listen()?;
    let (read, write) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(read)
}

/// Turns the excess of a file-size limit (`ulimit -f`) into a write error, as for a full disk. By default the
/// kernel ends the process, which could not report the reason.
///
/// # Errors
/// The kernel refuses a handler.
pub fn survive_the_limit_of_a_file() -> io::Result<()> {
    // A handler, since child processes would inherit an ignored signal.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

pub fn received() -> Option<i32> {
    let signal = RECEIVED.load(Ordering::Relaxed);
    (signal != 0).then_some(signal)
}

/// Forgets the received signal: a server that ends on SIGTERM was not interrupted.
pub fn forget() {
    RECEIVED.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::{io::Read, time::Duration};

    #[test]
    fn two_signals_within_a_tenth_of_a_second_are_one() {
        const MS: u64 = 1_000_000;
        let asked = |at_ms: &[u64]| {
            let requests = Requests { first_ns: AtomicU64::new(0) };
            at_ms.iter().map(|ms| requests.add(ms * MS)).collect::<Vec<_>>()
        };
        assert_eq!(asked(&[5_000, 5_000, 5_099]), [Request::Stop, Request::Same, Request::Same]);
        assert_eq!(asked(&[5_000, 5_001, 5_100]), [Request::Stop, Request::Same, Request::EndAtOnce]);
        assert_eq!(asked(&[0, 700]), [Request::Stop, Request::EndAtOnce]);
        assert_eq!(asked(&[5_000, 4_999]), [Request::Stop, Request::Same], "handlers of two threads");
    }

    /// One test for everything, since a signal reaches the whole process.
    #[test]
    fn the_first_signal_is_noticed_everywhere_and_can_be_forgotten() {
        let flag = listen().unwrap();
        let mut socket = listen_by_socket().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        assert_eq!((flag.load(Ordering::Relaxed), received()), (false, None));
        signal_hook::low_level::raise(SIGTERM).unwrap();
        assert_eq!(socket.read(&mut [0; 8]).unwrap(), 1, "an event loop wakes up");
        assert_eq!((flag.load(Ordering::Relaxed), received()), (true, Some(SIGTERM)));
        forget();
        assert_eq!(received(), None);
    }
}
