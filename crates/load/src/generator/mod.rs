//! The generator: it holds open connections between runs and drives a load over them.
//!
//! It knows nothing of what a service is or what a result means; it reports what happened. Connections outlive a
//! run so that a campaign can interleave short slices of many servers: a run over connections that are all open
//! begins at once, and a server that is frozen between runs is not touched.

mod check;
mod connection;
mod report;
mod run;
mod worker;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::{Clock, Monotonic};
use crate::exchange::ExchangePool;
use crate::schedule::Schedule;
use crate::stop::Stop;
use crate::tally::Failure;
pub use report::RunReport;
use report::{Part, Shared};
use worker::Worker;

/// How long a run lets one attempt to connect take, until [`Generator::open`] says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How many connections, and how many threads share them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// All connections; those that do not divide evenly go to the first threads.
    pub total: usize,
    /// Worker threads; no more are started than there are connections.
    pub threads: usize,
}

/// Schedule, stop and the patience with one response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// When requests are due.
    pub schedule: Schedule,
    /// When no more are sent.
    pub stop: Stop,
    /// How long a response may take from its request to its last byte. It is looked at every twentieth of itself.
    pub response_timeout: Duration,
}

/// Why a generator cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum GeneratorError {
    /// Nothing to do.
    #[error("{total} connections on {threads} threads cannot send: give at least 1 of each")]
    NoConnections {
        /// Connections asked for.
        total: usize,
        /// Threads asked for.
        threads: usize,
    },
    /// Nothing to send.
    #[error("the pool has no exchange: give at least 1")]
    EmptyPool,
    /// A CPU that threads cannot run on.
    #[error(
        "threads cannot be pinned to cpu {cpu} ({source}): choose from those that `nproc` and `taskset -p $$` show"
    )]
    Pin {
        /// The CPU.
        cpu: usize,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The driver did not start.
    #[error("epoll cannot be set up ({0}): it takes Linux 5.11 and a free file descriptor, see `ulimit -n`")]
    Driver(std::io::Error),
}

/// Why not all connections are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("only {open} of {total} connections to {target} are open ({failure}): {}", advice(*.failure))]
pub struct OpenError {
    /// The first failure.
    pub failure: Failure,
    /// How many are open.
    pub open: usize,
    /// How many were asked for.
    pub total: usize,
    /// Whereto.
    pub target: SocketAddr,
}

fn advice(failure: Failure) -> &'static str {
    match failure {
        Failure::Refused => "start the server first",
        Failure::NoDescriptors => "raise `ulimit -n`",
        Failure::NoPorts => "use fewer connections or widen net.ipv4.ip_local_port_range",
        Failure::ConnectTimeout => {
            "the server does not accept in time; give it a longer backlog or more time"
        }
        _ => "see whether the server is still well",
    }
}

/// Open connections to one target and the threads' state.
#[derive(Debug)]
pub struct Generator {
    target: SocketAddr,
    total: usize,
    cpus: Vec<usize>,
    pool: Arc<ExchangePool>,
    workers: Vec<Worker>,
    connect_timeout: Duration,
}

impl Generator {
    /// A generator without open connections. Thread i is pinned to `cpus[i % len]`; no CPUs means no pinning.
    pub fn new(
        target: SocketAddr,
        connections: Connections,
        cpus: Vec<usize>,
        pool: Arc<ExchangePool>,
        seed: u64,
    ) -> Result<Generator, GeneratorError> {
        let Connections { total, threads } = connections;
        if total == 0 || threads == 0 {
            return Err(GeneratorError::NoConnections { total, threads });
        }
        if pool.is_empty() {
            return Err(GeneratorError::EmptyPool);
        }
        try_pinning(&cpus)?;
        let mut workers = Vec::new();
        let mut first = 0;
        for (index, slots) in spread(total, threads).enumerate() {
            let seed = seed ^ (index as u64).wrapping_mul(0xA076_1D64_78BD_642F);
            let starts = (first..first + slots).map(|connection| pool.offset(connection, total)).collect();
            workers.push(Worker::new(target, starts, pool.len(), seed).map_err(GeneratorError::Driver)?);
            first += slots;
        }
        Ok(Generator { target, total, cpus, pool, workers, connect_timeout: CONNECT_TIMEOUT })
    }

    /// Opens all connections that are not open (or that the server closed meanwhile), in at most `timeout`. Nothing is
    /// sent. On failure those that did open stay so; there is no second attempt.
    pub fn open(&mut self, timeout: Duration) -> Result<(), OpenError> {
        self.connect_timeout = timeout;
        let deadline_ns = Monotonic.now_ns().saturating_add(ns(timeout));
        let mut first_failure = None;
        for worker in &mut self.workers {
            if let Err(failure) = worker.open(deadline_ns) {
                first_failure = Some(failure);
                break;
            }
        }
        let open = self.workers.iter().map(Worker::open_connections).sum();
        match first_failure {
            Some(failure) => Err(OpenError { failure, open, total: self.total, target: self.target }),
            None => Ok(()),
        }
    }

    /// Changes what is sent from the next run on. An empty pool makes runs that send nothing.
    pub fn set_pool(&mut self, pool: Arc<ExchangePool>) {
        let mut connection = 0;
        for worker in &mut self.workers {
            worker.set_pool(pool.len(), |slot| pool.offset(connection + slot, self.total));
            connection += worker.slots();
        }
        self.pool = pool;
    }

    /// Drives the load. It ends by window + drain and a small slack whatever the server does; connections that are
    /// not open are opened on the way, and setting `interrupt` ends the window within 20 ms.
    pub fn run(&mut self, load: &Load, interrupt: &AtomicBool) -> RunReport {
        let shared = Shared {
            load: *load,
            pool: &self.pool,
            interrupt,
            budget: load.stop.requests().map(AtomicU64::new),
            barrier: Barrier::new(self.workers.len()),
            connect_timeout_ns: ns(self.connect_timeout),
        };
        let cpus = &self.cpus;
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .workers
                .iter_mut()
                .enumerate()
                .map(|(index, worker)| {
                    let shared = &shared;
                    scope.spawn(move || {
                        if !cpus.is_empty() {
                            // It worked in `new`; a CPU taken away since makes the run slower, not wrong.
                            let _unpinned = pin(cpus[index % cpus.len()]);
                        }
                        worker.run(shared)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("a worker does not panic")).collect()
        });
        report::gather(&parts)
    }

    /// Closes all connections.
    pub fn close(&mut self) {
        for worker in &mut self.workers {
            worker.close();
        }
    }
}

/// How many of `total` each thread gets: none is dropped, and no thread is without any.
fn spread(total: usize, threads: usize) -> impl Iterator<Item = usize> {
    let threads = threads.min(total).max(1);
    (0..threads).map(move |index| total / threads + usize::from(index < total % threads))
}

/// On threads of its own, so that the caller's stays where it is.
fn try_pinning(cpus: &[usize]) -> Result<(), GeneratorError> {
    for &cpu in cpus {
        let pinned = std::thread::scope(|scope| scope.spawn(|| pin(cpu)).join());
        let pinned = pinned.expect("pinning does not panic");
        pinned.map_err(|source| GeneratorError::Pin { cpu, source })?;
    }
    Ok(())
}

fn pin(cpu: usize) -> std::io::Result<()> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remainder_is_spread() {
        let table =
            [((10, 3), vec![4, 3, 3]), ((2, 4), vec![1, 1]), ((64, 1), vec![64]), ((7, 7), vec![1; 7])];
        for ((total, threads), spread_) in table {
            assert_eq!(spread(total, threads).collect::<Vec<_>>(), spread_, "{total} over {threads}");
        }
    }
}
