//! What a run is asked to do, as values: whom, over which connections, when, and until when. It does nothing.

use std::time::Duration;

use crate::driver::DriverChoice;
use crate::endpoint::Route;
use crate::schedule::Schedule;
use crate::stop::{Quota, Stop};

/// Of a load that says nothing else: longer than the first SYN that is dropped and comes back.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// What a generator is made of; it stays the same for all of its runs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whereto and wherefrom.
    pub route: Route,
    /// How many connections, on how many threads.
    pub connections: Connections,
    /// Thread i is pinned to `cpus[i % len]`; no CPUs means no pinning.
    pub cpus: Vec<usize>,
    /// How the kernel is talked to.
    pub driver: DriverChoice,
    /// Fixes think times and arrivals.
    pub seed: u64,
}

/// How many connections, and how many threads share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// All connections; those that do not divide evenly go to the first threads. In an open loop it is the most there
    /// may be.
    pub total: usize,
    /// Worker threads; no more are started than there are connections.
    pub threads: usize,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// When requests are due.
    pub schedule: Schedule,
    /// When no more are sent.
    pub stop: Stop,
    /// How long a response may take from its request to its last byte. It is looked at every twentieth of itself.
    pub response_timeout: Duration,
    /// How long one attempt to connect may take in the run.
    pub connect_timeout: Duration,
    /// The most requests in flight on one connection; more than 1 takes a closed loop without think time.
    pub pipeline: usize,
    /// After so many requests a connection is closed and, if the load goes on, another is opened in its place.
    pub requests_per_connection: Option<u64>,
    /// Whether status and body of responses are compared with what is expected. The framing is always read.
    pub check: bool,
    /// In an open loop, how long before a due instant a worker stops sleeping and polls: a timer and the way out of a CPU's
    /// sleep take some tens of microseconds. It costs the CPU that the worker runs on, so a server that shares it pays.
    pub spin: Duration,
    /// The length of the intervals that a watcher is told of.
    pub interval: Option<Duration>,
}

/// Why a load cannot be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Pipelining where requests have instants of their own.
    #[error("{0} requests in flight on one connection take a closed loop without think time: ask for 1")]
    Pipeline(usize),
    /// Nothing may be in flight.
    #[error("a connection needs at least 1 request in flight")]
    NoPipeline,
    /// Connections without requests.
    #[error("a connection needs at least 1 request before it is closed")]
    EmptyConnections,
    /// A number of connections without a number of requests on each.
    #[error("a number of connections needs a number of requests on each, or the first would never end")]
    EndlessConnections,
    /// Quotas of connections mean nothing to arrivals.
    #[error("an open loop ends by time or by a number of requests, not by a quota of connections")]
    OpenQuota,
}

impl Load {
    /// A load with one request in flight on each connection, kept connections, and every response checked.
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
            spin: Duration::ZERO,
            interval: None,
        }
    }

    /// Whether the values fit each other.
    pub fn validate(&self) -> Result<(), LoadError> {
        let by_connections = matches!(self.stop.quota(), Some(Quota::Connections(_)));
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
        if open && !matches!(quota, None | Some(Quota::Requests(_))) {
            return Err(LoadError::OpenQuota);
        }
        Ok(())
    }
}
