//! The description of a run: its target, its connections, its schedule and its end. Values only.

use std::sync::Arc;
use std::time::Duration;

use crate::driver::DriverChoice;
use crate::exchange::ExchangePool;
use crate::http2::RequestError;
use crate::protocol::Protocol;
use crate::schedule::Schedule;
use crate::split::Split;
use crate::stop::{RequestQuota, Stop};
use crate::tls::TlsClient;
use tare_base::Route;

/// The default. It is long enough for a dropped SYN to be sent again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The settings of a generator, which stay the same for all of its runs.
#[derive(Debug, Clone)]
pub struct GeneratorSettings {
    /// The target, and the local side of connections.
    pub route: Route,
    /// The number of connections and of threads.
    pub connections: Connections,
    /// Thread i is pinned to `cpus[i % len]`; no CPUs means no pinning.
    pub cpus: Vec<usize>,
    /// The interface to the kernel.
    pub driver: DriverChoice,
    /// Determines think times and arrivals.
    pub seed: u64,
    /// How requests travel.
    pub protocol: Protocol,
    /// Concurrent requests on each HTTP/2 connection, each on a stream of its own; 1 for HTTP/1.1.
    pub streams: usize,
    /// The TLS client, if the protocol uses TLS.
    pub tls: Option<Arc<TlsClient>>,
    /// This generator's part of a load that several generators share.
    pub split: Split,
}

impl GeneratorSettings {
    /// Settings for plain HTTP/1.1, with an automatically chosen driver and no pinning.
    #[must_use]
    pub fn new(route: Route, connections: Connections, seed: u64) -> GeneratorSettings {
        GeneratorSettings {
            route,
            connections,
            cpus: Vec::new(),
            driver: DriverChoice::Auto,
            seed,
            protocol: Protocol::Http1,
            streams: 1,
            tls: None,
            split: Split::WHOLE,
        }
    }

    pub(super) fn streams_of_a_connection(&self) -> usize {
        if self.protocol.is_http2() { self.streams.max(1) } else { 1 }
    }
}

/// The number of connections, and the number of threads that share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// Number of connections. A remainder goes to the first threads. In an open loop it is the maximum.
    pub total: usize,
    /// Worker threads; no more are started than there are connections.
    pub threads: usize,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// When requests are due.
    pub schedule: Schedule,
    /// When sending ends.
    pub stop: Stop,
    /// How long a response may take from its request to its last byte. Checked every timeout/20.
    pub response_timeout: Duration,
    /// How long one attempt to connect may take in the run.
    pub connect_timeout: Duration,
    /// The most requests in flight on one connection. More than 1 needs a closed loop without think time.
    pub pipeline: usize,
    /// Requests after which a connection is closed. During the load another one replaces it.
    pub requests_per_connection: Option<u64>,
    /// Whether status and body of responses are compared. The framing is always checked.
    pub check: bool,
    /// How a worker waits for the next answer or due instant.
    pub waiting: Waiting,
    /// The length of the intervals that are reported to a watcher.
    pub interval: Option<Duration>,
    /// The common start, if several generators start together.
    pub aligned: Option<Aligned>,
}

/// A start that several generators have in common, and the instants at which answers are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aligned {
    /// The instant of the start, by [`Monotonic`](tare_base::Monotonic) of this machine. Arrivals are counted
    /// from it, even if the generator is ready later.
    pub start_ns: u64,
    /// Times after the start at which the number of answers is noted.
    pub marks_ns: Vec<u64>,
}

/// How a worker waits. Polling takes CPU time from a server on the same CPU, so it suits a generator with
/// CPUs of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Waiting {
    /// The kernel wakes the worker. The server pays for that: its write to a connection whose reader sleeps
    /// has to wake the reader. That is an interrupt to another CPU, and in a virtual machine often an exit to
    /// the hypervisor.
    #[default]
    Sleep,
    /// Sleeps, but polls for this time before a due instant, because timers and the wake-up of a CPU are late
    /// by some tens of microseconds.
    PollBefore(Duration),
    /// Never sleeps. The server's cost per request then does not depend on the generator's waits.
    Poll,
}

impl Waiting {
    /// The time before a due instant in which the worker polls.
    pub(super) fn poll_ns(self) -> u64 {
        match self {
            Waiting::Sleep => 0,
            Waiting::PollBefore(spin) => super::ns(spin),
            Waiting::Poll => u64::MAX,
        }
    }
}

/// Why a load cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LoadError {
    #[error("{0} requests in flight on one connection need a closed loop without think time: use 1")]
    Pipeline(usize),
    #[error("a connection needs at least 1 request in flight")]
    NoPipeline,
    #[error("a connection needs at least 1 request before it is closed")]
    EmptyConnections,
    #[error("a number of connections needs a number of requests on each, or the first would never end")]
    EndlessConnections,
    #[error(
        "the steps of a sequence wait for each other's answers: have 1 request in flight on a connection, not {0}"
    )]
    PipelinedSequence(usize),
    #[error("connections that are closed after {0} requests would cut sequences: let them be kept")]
    ClosedSequence(u64),
    #[error("an open loop ends by time or by a number of requests, not by a quota of connections")]
    OpenQuota,
    #[error("a stream of events may have no end: have 1 request in flight on a connection, not {0}")]
    PipelinedEvents(usize),
    #[error("HTTP/2 has no pipeline: have more streams on a connection instead")]
    Http2Pipeline,
    #[error("a number of requests for each connection is of HTTP/1.1: streams of HTTP/2 share a connection")]
    Http2Connections,
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl Load {
    /// A load with one request in flight on each connection, kept connections, and all responses checked.
    #[must_use]
    pub fn new(schedule: Schedule, stop: Stop, response_timeout: Duration) -> Load {
        Load {
            schedule,
            stop,
            response_timeout,
            connect_timeout: CONNECT_TIMEOUT,
            pipeline: 1,
            requests_per_connection: None,
            check: true,
            waiting: Waiting::Sleep,
            interval: None,
            aligned: None,
        }
    }

    /// Checks that the values are consistent.
    ///
    /// # Errors
    /// The combination of pipeline, schedule and quota that makes no sense.
    pub fn validate(&self) -> Result<(), LoadError> {
        let by_connections = matches!(self.stop.quota(), Some(RequestQuota::Connections(_)));
        let open = matches!(self.schedule, Schedule::Open(_));
        match self.pipeline {
            0 => return Err(LoadError::NoPipeline),
            1 => {}
            more if !self.schedule.is_immediate() => return Err(LoadError::Pipeline(more)),
            _ => {}
        }
        if self.requests_per_connection == Some(0) {
            return Err(LoadError::EmptyConnections);
        }
        if by_connections && self.requests_per_connection.is_none() {
            return Err(LoadError::EndlessConnections);
        }
        let quota = self.stop.quota();
        if open && !matches!(quota, None | Some(RequestQuota::Requests(_))) {
            return Err(LoadError::OpenQuota);
        }
        Ok(())
    }

    /// Checks that the load can be sent over HTTP/2.
    ///
    /// # Errors
    /// The load uses a feature that only HTTP/1.1 has.
    pub(super) fn validate_for_http2(&self) -> Result<(), LoadError> {
        match (self.pipeline, self.requests_per_connection) {
            (2.., _) => Err(LoadError::Http2Pipeline),
            (_, Some(_)) => Err(LoadError::Http2Connections),
            _ => Ok(()),
        }
    }

    /// Checks that the load can send these exchanges.
    ///
    /// # Errors
    /// There are sequences, which need kept connections and one request at a time.
    pub(super) fn validate_for(&self, pool: &ExchangePool) -> Result<(), LoadError> {
        if pool.has_events() && self.pipeline > 1 {
            return Err(LoadError::PipelinedEvents(self.pipeline));
        }
        match (pool.has_sequences(), self.pipeline, self.requests_per_connection) {
            (true, more @ 2.., _) => Err(LoadError::PipelinedSequence(more)),
            (true, _, Some(count)) => Err(LoadError::ClosedSequence(count)),
            _ => Ok(()),
        }
    }
}
