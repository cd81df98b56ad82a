//! The agent's side: it listens, accepts peers that have the token, and serves one run at a time.

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::greet::{ControllerRequirement, answer};
use crate::link::ConnectionError;
pub use crate::options::AgentOptions;
use crate::rig::Rig;
use crate::session;
pub use crate::session::RunEnd;
use crate::strangers::{Stranger, Strangers};
use crate::tls;

/// How often the listener checks for connections and for the end.
const PAUSE: Duration = Duration::from_millis(20);
/// The time limit for authentication.
const GREETING_MAX: Duration = Duration::from_secs(5);

/// An event of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    Begun {
        peer: SocketAddr,
    },
    Ended {
        peer: SocketAddr,
        end: RunEnd,
    },
    /// Why a connection was refused, and the number of refused connections so far.
    Refused {
        peer: SocketAddr,
        why: String,
        count: u64,
    },
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServeEnd {
    /// The only run that it was started for has ended.
    Run(RunEnd),
    /// It was asked to stop.
    Stopped,
    /// No run began in time.
    NoRun,
}

struct Served {
    tls: Arc<ServerConfig>,
    strangers: Strangers,
    is_busy: AtomicBool,
    refused: AtomicU64,
    first: Mutex<Option<RunEnd>>,
}

impl Served {
    fn first(&self) -> Option<RunEnd> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves until its one run is over, or until it is asked to stop.
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
        tls: tls::agent(&options.token),
        strangers: Strangers::default(),
        is_busy: AtomicBool::new(false),
        refused: AtomicU64::new(0),
        first: Mutex::new(None),
    };
    std::thread::scope(|scope| {
        let end = listen(listener, &served, options, stop, &|stream, peer| {
            let (served, stream) = (&served, Arc::new(stream));
            let stranger = served.strangers.enter(&stream, Instant::now());
            scope.spawn(move || one((stream, peer), &stranger, served, options, rig, stop, notice));
        });
        // The scope would wait for the timeouts of all unauthenticated connections.
        served.strangers.close();
        end
    })
}

/// Accepts connections until the end.
fn listen(
    listener: &TcpListener,
    served: &Served,
    options: &AgentOptions,
    stop: &AtomicBool,
    accepted: &dyn Fn(TcpStream, SocketAddr),
) -> io::Result<ServeEnd> {
    let began = Instant::now();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(ServeEnd::Stopped);
        }
        if let Some(end) = served.first().filter(|_| !options.keep) {
            return Ok(ServeEnd::Run(end));
        }
        let is_idle = !served.is_busy.load(Ordering::Relaxed);
        if is_idle && !options.keep && options.wait.is_some_and(|wait| began.elapsed() >= wait) {
            return Ok(ServeEnd::NoRun);
        }
        if !served.strangers.has_room(Instant::now()) {
            std::thread::sleep(PAUSE);
            continue;
        }
        match listener.accept() {
            Ok((stream, peer)) => accepted(stream, peer),
            // The socket does not listen.
            Err(error) if error.kind() == ErrorKind::InvalidInput => return Err(error),
            // No connection is waiting; or one failed in the queue, or all descriptors are in use (accept(2)): both pass.
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Serves one connection.
fn one(
    (stream, peer): (Arc<TcpStream>, SocketAddr),
    stranger: &Stranger<'_>,
    served: &Served,
    options: &AgentOptions,
    rig: &dyn Rig,
    stop: &AtomicBool,
    notice: &(dyn Fn(Notice) + Sync),
) {
    let claimed = Cell::new(false);
    let is_over = || !options.keep && served.first().is_some();
    let claim = || {
        // An evicted controller must not begin a run: its connection is closed.
        let is_free = stranger.leave()
            && served.is_busy.compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        claimed.set(is_free);
        is_free && !is_over()
    };
    let gate = ControllerRequirement { tls: &served.tls, tare: &options.tare, claim: &claim };
    // A socket accepted by a non-blocking listener may be non-blocking too.
    let link = stream.set_nonblocking(false).map_err(ConnectionError::Io);
    let (sender, receiver) = match link.and_then(|()| answer(stream, &gate, GREETING_MAX)) {
        Ok(link) => link,
        Err(error) => {
            if claimed.get() {
                served.is_busy.store(false, Ordering::SeqCst);
            }
            // A port scan is not worth a message.
            if !matches!(error, ConnectionError::Closed | ConnectionError::TooLate | ConnectionError::Io(_)) {
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
