//! The agent's end: it listens, lets in who has the token, and serves one run at a time.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::link::{Gate, LinkError, answer};
pub use crate::options::AgentOptions;
use crate::rig::Rig;
use crate::session;
pub use crate::session::RunEnd;

/// How often the listener looks for a connection and for the end.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a stranger may take to greet.
const GREETING_MAX: Duration = Duration::from_secs(5);
/// One wrong token is answered in this time, whoever else tries.
const PENALTY: Duration = Duration::from_secs(1);
/// More connections at a time are closed at once.
const CONNECTIONS_MAX: usize = 16;

/// What an agent notices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    Begun {
        peer: SocketAddr,
    },
    Ended {
        peer: SocketAddr,
        end: RunEnd,
    },
    /// Why a connection was not let in, and how many were not so far.
    Refused {
        peer: SocketAddr,
        why: String,
        count: u64,
    },
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServeEnd {
    /// The one run that it was for.
    Run(RunEnd),
    /// It was asked to stop.
    Stopped,
    /// No run began in time.
    NoRun,
}

struct Served {
    is_busy: AtomicBool,
    refused: AtomicU64,
    pending: AtomicUsize,
    /// Held while a wrong token waits for its answer.
    penalty: Mutex<()>,
    first: Mutex<Option<RunEnd>>,
}

/// Serves until its one run is over, or it is asked to stop.
///
/// # Errors
/// The listener fails.
pub fn serve(
    listener: &TcpListener,
    options: &AgentOptions,
    rig: &dyn Rig,
    stop: &AtomicBool,
    notice: &(dyn Fn(Notice) + Sync),
) -> io::Result<ServeEnd> {
    listener.set_nonblocking(true)?;
    let served = Served {
        is_busy: AtomicBool::new(false),
        refused: AtomicU64::new(0),
        pending: AtomicUsize::new(0),
        penalty: Mutex::new(()),
        first: Mutex::new(None),
    };
    let began = Instant::now();
    std::thread::scope(|scope| {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(ServeEnd::Stopped);
            }
            let end = served.first.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(end) = end.filter(|_| !options.keep) {
                return Ok(ServeEnd::Run(end));
            }
            let is_idle = !served.is_busy.load(Ordering::Relaxed);
            if is_idle && !options.keep && options.wait.is_some_and(|wait| began.elapsed() >= wait) {
                return Ok(ServeEnd::NoRun);
            }
            match listener.accept() {
                Ok((stream, peer)) => {
                    if served.pending.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                        served.pending.fetch_sub(1, Ordering::Relaxed);
                        continue;
                    }
                    let served = &served;
                    scope.spawn(move || {
                        one(stream, peer, served, options, rig, stop, notice);
                        served.pending.fetch_sub(1, Ordering::Relaxed);
                    });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(error) => return Err(error),
            }
        }
    })
}

/// One connection.
fn one(
    stream: TcpStream,
    peer: SocketAddr,
    served: &Served,
    options: &AgentOptions,
    rig: &dyn Rig,
    stop: &AtomicBool,
    notice: &(dyn Fn(Notice) + Sync),
) {
    let claimed = Cell::new(false);
    let is_over = || !options.keep && served.first.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    let claim = || {
        let is_free =
            served.is_busy.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        claimed.set(is_free);
        is_free && !is_over()
    };
    let penalty = || {
        let _one_at_a_time = served.penalty.lock().unwrap_or_else(PoisonError::into_inner);
        std::thread::sleep(PENALTY);
    };
    let gate = Gate { token: &options.token, tare: &options.tare, claim: &claim, penalty: &penalty };
    // A stream of a listener that does not block may not block either.
    let link = stream.set_nonblocking(false).map_err(LinkError::Io);
    let (sender, receiver) = match link.and_then(|()| answer(stream, &gate, GREETING_MAX)) {
        Ok(link) => link,
        Err(error) => {
            if claimed.get() {
                served.is_busy.store(false, Ordering::SeqCst);
            }
            // Of a port that is only looked at nothing is to be said.
            if !matches!(error, LinkError::Closed | LinkError::TooLate | LinkError::Io(_)) {
                let count = served.refused.fetch_add(1, Ordering::Relaxed) + 1;
                notice(Notice::Refused { peer, why: error.to_string(), count });
            }
            return;
        }
    };
    notice(Notice::Begun { peer });
    let end = session::hold(sender, receiver, rig, options, stop);
    notice(Notice::Ended { peer, end: end.clone() });
    served.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(end);
    served.is_busy.store(false, Ordering::SeqCst);
}
