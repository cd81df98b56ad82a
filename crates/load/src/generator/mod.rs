//! The generator: it keeps connections open between runs and sends a load over them.
//!
//! It knows nothing of services and does not interpret results. Connections outlive a run, so that short
//! slices of many servers can be interleaved. A run over open connections starts at once, and a server that
//! is frozen between runs is not touched.

mod connection;
mod load;
mod measures;
mod part;
mod report;
mod run;
mod session;
mod thread;
pub mod verdict;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::client::Prepared;
use crate::driver::{ChosenDriver, DriverChoice, DriverKind};
use crate::exchange::ExchangePool;
use crate::http2::RequestList;
use crate::protocol::Protocol;
use crate::request_buffer::RequestBuffer;
use crate::stop::RequestQuota;
use crate::tally::Failure;
use crate::tls_error::TlsError;
pub use load::{Aligned, Connections, GeneratorSettings, Load, LoadError, Waiting};
pub use measures::{Measures, Quantile};
use part::{Shared, gather};
pub use report::{AlignedRun, RunInterval, RunReport};
use tare_base::Endpoint;
use tare_base::{Clock, Monotonic};
use thread::{Command, Contract, Thread, enter, pin};
pub use verdict::{Contradiction, EngineFinding, Limits, evaluate};
use worker::Share;

/// From this body size on epoll is the cheaper driver: it reads into one buffer that stays in the cache,
/// while a ring needs many. See `cargo bench --bench against_wrk -- --body 102400`.
const LARGE_BODY_BYTES: usize = 64 * 1024;

/// Why a generator cannot be made.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GeneratorError {
    #[error("{total} connections on {threads} threads cannot send: give at least 1 of each")]
    NoConnections { total: usize, threads: usize },
    #[error("the pool has no exchange: give at least 1")]
    EmptyPool,
    #[error(
        "threads cannot be pinned to cpu {cpu} ({source}): choose from those that `nproc` and `taskset -p $$` show"
    )]
    Pin { cpu: usize, source: std::io::Error },
    #[error(
        "the network namespace of the target cannot be entered ({0}): run as the user who made it, or as root"
    )]
    Namespace(std::io::Error),
    #[error("a connection over {0} needs to know whose certificates it trusts")]
    NoTls(Protocol),
    #[error("{} cannot be set up ({source}): {}", .kind.name(), driver_advice(*.kind))]
    Driver { kind: DriverKind, source: std::io::Error },
}

fn driver_advice(kind: DriverKind) -> &'static str {
    match kind {
        DriverKind::IoUring => "use epoll, or auto, which falls back to it",
        DriverKind::Epoll => "it needs Linux 5.11 and a free file descriptor, see `ulimit -n`",
    }
}

/// Why not all connections are open.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "only {open} of {total} connections to {target} are open ({}): {}",
    tls_error.as_ref().map_or_else(|| failure.to_string(), ToString::to_string),
    advice(*.failure)
)]
pub struct OpenError {
    /// The first failure.
    pub failure: Failure,
    /// The number of open connections.
    pub open: usize,
    /// The number of requested connections.
    pub total: usize,
    /// The target.
    pub target: Endpoint,
    /// The TLS error, if the failure is one of TLS.
    pub tls_error: Option<TlsError>,
}

fn advice(failure: Failure) -> &'static str {
    match failure {
        Failure::Refused => "start the server first",
        Failure::NoDescriptors => "raise `ulimit -n`",
        Failure::NoPorts => {
            "use fewer connections, more source addresses, or widen net.ipv4.ip_local_port_range"
        }
        Failure::ConnectTimeout => {
            "the server does not accept in time; give it a longer backlog or more time"
        }
        Failure::Tls => {
            "check that the port speaks TLS 1.3 and the protocol that was asked for, and that its certificate is trusted"
        }
        Failure::Malformed => "see whether it speaks the protocol that was asked for",
        _ => "check that the server still works",
    }
}

/// Open connections to one target and the threads that drive them.
#[derive(Debug)]
pub struct Generator {
    target: Endpoint,
    connections: Connections,
    protocol: Protocol,
    streams: usize,
    driver: ChosenDriver,
    threads: Vec<Thread>,
    pool: Arc<ExchangePool>,
    /// The pipeline depth that the workers' request buffer was made for.
    prepared_for: Option<usize>,
}

impl Generator {
    /// A generator without open connections.
    ///
    /// # Errors
    /// There are no connections, threads or requests, a CPU or the namespace cannot be used, or the driver does not start.
    pub fn new(settings: GeneratorSettings, pool: Arc<ExchangePool>) -> Result<Generator, GeneratorError> {
        let Connections { total, threads } = settings.connections;
        if total == 0 || threads == 0 {
            return Err(GeneratorError::NoConnections { total, threads });
        }
        if pool.exchanges().is_empty() {
            return Err(GeneratorError::EmptyPool);
        }
        if settings.protocol.is_tls() && settings.tls.is_none() {
            return Err(GeneratorError::NoTls(settings.protocol));
        }
        try_pinning(&settings.cpus)?;
        elsewhere(|| enter(&settings.route)).map_err(GeneratorError::Namespace)?;
        let (driver, threads) = start(&settings, &pool)?;
        Ok(Generator {
            streams: settings.streams_of_a_connection(),
            target: settings.route.target,
            connections: settings.connections,
            protocol: settings.protocol,
            driver,
            threads,
            pool,
            prepared_for: None,
        })
    }

    /// Opens connections until `count` are open, within `timeout`. Connections that the server closed are
    /// opened again. Nothing is sent.
    ///
    /// # Errors
    /// An attempt failed. There is no second attempt, and open connections stay open.
    pub fn open(&mut self, count: usize, timeout: Duration) -> Result<(), OpenError> {
        let deadline_ns = Monotonic.now_ns().saturating_add(ns(timeout));
        let total = count.min(self.connections.total);
        let (mut open, mut first_failure, mut first_tls_error) = (0, None, None);
        // One worker after another, so that pending connections do not exceed the server's backlog.
        for (thread, count) in self.threads.iter().zip(spread(total, self.threads.len())) {
            let (reply, answer) = channel();
            thread.order(Command::Open { count: count * self.streams, deadline_ns, reply });
            let opened = answer.recv().expect("a worker answers");
            open += opened.slots / self.streams;
            first_failure = first_failure.or(opened.failure);
            first_tls_error = first_tls_error.or(opened.tls_error);
            if first_failure.is_some() {
                break;
            }
        }
        match first_failure {
            Some(failure) => {
                let tls_error = first_tls_error.filter(|_| failure == Failure::Tls);
                Err(OpenError { failure, open, total, target: self.target.clone(), tls_error })
            }
            None => Ok(()),
        }
    }

    /// Sets the requests from the next run on. With an empty pool a run sends nothing.
    pub fn set_pool(&mut self, pool: Arc<ExchangePool>) {
        (self.pool, self.prepared_for) = (pool, None);
    }

    /// Runs the load. The run ends after window + drain and a small slack, whatever the server does. Missing
    /// connections are opened during the run. Setting `interrupt` ends the window within 20 ms.
    ///
    /// # Errors
    /// The load is not valid.
    pub fn run(&mut self, load: &Load, interrupt: &Arc<AtomicBool>) -> Result<RunReport, LoadError> {
        self.run_watched(&Load { interval: None, ..load.clone() }, interrupt, &mut |_| {})
    }

    /// Does the same as [`Generator::run`], and calls `watch` on the caller's thread soon after the end of
    /// each interval.
    ///
    /// # Errors
    /// The load is not valid.
    pub fn run_watched(
        &mut self,
        load: &Load,
        interrupt: &Arc<AtomicBool>,
        watch: &mut dyn FnMut(&RunInterval),
    ) -> Result<RunReport, LoadError> {
        load.validate()?;
        load.validate_for(&self.pool)?;
        if self.protocol.is_http2() {
            load.validate_for_http2()?;
        }
        self.prepare_requests(load.pipeline)?;
        let budget = match load.stop.quota() {
            Some(RequestQuota::Requests(left) | RequestQuota::Connections(left)) => {
                Some(AtomicU64::new(left))
            }
            Some(RequestQuota::RequestsEach(_)) | None => None,
        };
        let shared = Arc::new(Shared {
            load: load.clone(),
            interrupt: Arc::clone(interrupt),
            budget,
            barrier: Barrier::new(self.threads.len()),
        });
        let (parts, told) = channel();
        for thread in &self.threads {
            thread.order(Command::Run { shared: Arc::clone(&shared), parts: parts.clone() });
        }
        drop(parts);
        let (total, end) = gather(&told, self.threads.len(), load.interval.map(ns), watch);
        Ok(RunReport {
            answered_by_name: self.pool.by_name(&end.answered),
            window_ns: end.window_ns,
            elapsed_ns: end.end_ns - end.start_ns,
            total,
            generator_cpu_ns: end.cpu_ns,
            generator_polled_ns: end.polled_ns,
            threads: self.threads.len(),
            driver: self.driver.clone(),
            interrupted: end.interrupted,
            gone_since_ns: end.gone_since_ns,
            first_failure: end.first_failure,
            handshakes: end.handshakes,
            aligned: load.aligned.is_some().then_some(end.aligned),
        })
    }

    /// Gives the workers the requests in the form that the protocol and this pipeline need.
    fn prepare_requests(&mut self, pipeline: usize) -> Result<(), LoadError> {
        if self.prepared_for == Some(pipeline) {
            return Ok(());
        }
        let requests = match self.protocol {
            Protocol::Http1 | Protocol::Http1Tls => {
                Prepared::Http1(Arc::new(RequestBuffer::new(&self.pool, pipeline)))
            }
            Protocol::H2 | Protocol::H2c => {
                Prepared::Http2(Arc::new(RequestList::of(&self.pool, self.protocol.scheme())?))
            }
        };
        for thread in &self.threads {
            thread.order(Command::Pool(Arc::clone(&self.pool), requests.clone()));
        }
        self.prepared_for = Some(pipeline);
        Ok(())
    }

    /// Closes all connections.
    pub fn close(&mut self) {
        for thread in &self.threads {
            let (reply, answer) = channel();
            thread.order(Command::Close { reply });
            answer.recv().expect("a worker answers");
        }
    }
}

/// Starts the workers with the given driver, or with the best one for these responses that the kernel allows.
fn start(
    settings: &GeneratorSettings,
    pool: &ExchangePool,
) -> Result<(ChosenDriver, Vec<Thread>), GeneratorError> {
    let all = |kind| -> std::io::Result<Vec<Thread>> {
        contracts(settings).map(|contract| Thread::start(kind, contract)).collect()
    };
    let (kind, reason) = match settings.driver {
        DriverChoice::Only(kind) => (kind, None),
        DriverChoice::Auto if pool.body_bytes_max() >= LARGE_BODY_BYTES => {
            (DriverKind::Epoll, Some("cheaper for large bodies".to_owned()))
        }
        DriverChoice::Auto => match all(DriverKind::IoUring) {
            Ok(threads) => return Ok((ChosenDriver { kind: DriverKind::IoUring, reason: None }, threads)),
            Err(refused) => {
                let ChosenDriver { kind, reason } = ChosenDriver::instead(&refused);
                (kind, reason)
            }
        },
    };
    let threads = all(kind).map_err(|source| GeneratorError::Driver { kind, source })?;
    Ok((ChosenDriver { kind, reason }, threads))
}

fn contracts(settings: &GeneratorSettings) -> impl Iterator<Item = Contract> {
    let Connections { total, threads } = settings.connections;
    let workers = threads.min(total);
    let streams = settings.streams_of_a_connection();
    let mut first = 0;
    spread(total, threads).enumerate().map(move |(worker, connections)| {
        let slots = connections * streams;
        let split = settings.split;
        let place = Share { split, worker, workers, total: total * streams, first, slots };
        first += slots;
        let cpu = (!settings.cpus.is_empty()).then(|| settings.cpus[worker % settings.cpus.len()]);
        let tls = settings.tls.clone().filter(|_| settings.protocol.is_tls());
        let GeneratorSettings { route, protocol, seed, .. } = settings;
        Contract { place, route: route.clone(), cpu, seed: *seed, protocol: *protocol, streams, tls }
    })
}

/// The number of connections for each thread: all are assigned, and each thread has at least one.
fn spread(total: usize, threads: usize) -> impl Iterator<Item = usize> {
    let threads = threads.min(total).max(1);
    (0..threads).map(move |index| total / threads + usize::from(index < total % threads))
}

fn try_pinning(cpus: &[usize]) -> Result<(), GeneratorError> {
    for &cpu in cpus {
        elsewhere(|| pin(cpu)).map_err(|source| GeneratorError::Pin { cpu, source })?;
    }
    Ok(())
}

/// Runs `work` on a new thread, so that the caller's CPU and namespace do not change.
fn elsewhere(work: impl FnOnce() -> std::io::Result<()> + Send) -> std::io::Result<()> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, work)?;
        thread.join().expect("a system call does not panic")
    })
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
