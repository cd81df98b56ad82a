//! The thread of a worker. It lives as long as the generator, because a ring belongs to the thread that made
//! it, and because connections outlive a run. Commands arrive over a channel and run one after another.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rustix::thread::{
    CpuSet, LinkNameSpaceType, move_into_link_name_space, sched_setaffinity, set_current_timer_slack,
};

use super::part::{Part, Shared};
use super::worker::{Share, Worker};
use crate::client::{Client, Http1, Http2, Prepared};
use crate::driver::{Driver, DriverKind, Epoll, Kernel, Uring};
use crate::exchange::ExchangePool;
use crate::protocol::Protocol;
use crate::tally::Failure;
use crate::tls::{Secured, TlsClient};
use crate::tls_error::TlsError;
use tare_base::Route;

pub(super) enum Command {
    /// Sends these requests from now on.
    Pool(Arc<ExchangePool>, Prepared),
    /// Opens slots.
    Open {
        count: usize,
        deadline_ns: u64,
        reply: Sender<Opened>,
    },
    /// Runs a load; the results come back in parts, of which the last is marked.
    Run {
        shared: Arc<Shared>,
        parts: Sender<Part>,
    },
    Close {
        reply: Sender<()>,
    },
}

/// The result of opening slots.
#[derive(Debug)]
pub(super) struct Opened {
    /// The number of open slots.
    pub(super) slots: usize,
    pub(super) failure: Option<Failure>,
    pub(super) tls_error: Option<TlsError>,
}

#[derive(Debug)]
pub(super) struct Thread {
    commands: Option<Sender<Command>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone)]
pub(super) struct Contract {
    pub(super) place: Share,
    pub(super) route: Route,
    pub(super) cpu: Option<usize>,
    pub(super) seed: u64,
    pub(super) protocol: Protocol,
    pub(super) streams: usize,
    pub(super) tls: Option<Arc<TlsClient>>,
}

impl Thread {
    /// Starts a worker with a driver of this kind.
    ///
    /// # Errors
    /// The kernel refuses the driver or the thread.
    pub(super) fn start(kind: DriverKind, contract: Contract) -> io::Result<Thread> {
        let (commands, orders) = channel();
        let (ready, is_ready) = channel();
        let worker = contract.place.worker;
        let thread =
            std::thread::Builder::new().name(format!("tare-load-{worker}")).spawn(move || match kind {
                DriverKind::IoUring => serve::<Uring>(contract, &ready, &orders),
                DriverKind::Epoll => serve::<Epoll>(contract, &ready, &orders),
            })?;
        is_ready.recv().expect("a worker tells whether it started")?;
        Ok(Thread { commands: Some(commands), thread: Some(thread) })
    }

    /// Sends a command. A worker that has ended has panicked, so this panics too.
    pub(super) fn order(&self, command: Command) {
        let commands = self.commands.as_ref().expect("it is taken only by drop");
        commands.send(command).expect("a worker lives as long as its generator");
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // The thread ends when its channel is closed.
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// Sets up the layers of a worker, from the kernel upwards, and serves until there are no more orders.
fn serve<D: Kernel>(contract: Contract, ready: &Sender<io::Result<()>>, orders: &Receiver<Command>) {
    prepare(contract.cpu);
    let connections = contract.place.slots / contract.streams;
    let driver = match enter(&contract.route).and_then(|()| D::new(connections)) {
        Ok(driver) => driver,
        Err(error) => {
            let _generator_gone = ready.send(Err(error));
            return;
        }
    };
    let _generator_gone = ready.send(Ok(()));
    match contract.tls.clone() {
        None => serve_over(driver, contract, orders),
        Some(tls) => serve_over(Secured::new(driver, tls, connections), contract, orders),
    }
}

fn serve_over<D: Driver>(driver: D, contract: Contract, orders: &Receiver<Command>) {
    let Contract { place, protocol, streams, .. } = contract;
    match protocol {
        Protocol::Http1 | Protocol::Http1Tls => serve_by(Http1::new(driver, place.slots), contract, orders),
        Protocol::H2 | Protocol::H2c => {
            serve_by(Http2::new(driver, place.slots, streams, protocol.scheme()), contract, orders);
        }
    }
}

fn serve_by<C: Client>(client: C, contract: Contract, orders: &Receiver<Command>) {
    let mut worker = Worker::new(contract.place, contract.route, contract.seed, client);
    while let Ok(command) = orders.recv() {
        match command {
            Command::Pool(pool, requests) => worker.set_pool(pool, requests),
            Command::Open { count, deadline_ns, reply } => {
                let failure = worker.open(count, deadline_ns).err();
                let tls_error = worker.client.tls().and_then(|tls| tls.last_error.clone());
                let opened = Opened { slots: worker.open_connections(), failure, tls_error };
                let _generator_gone = reply.send(opened);
            }
            Command::Run { shared, parts } => worker.run(&shared, &parts),
            Command::Close { reply } => {
                worker.close();
                let _generator_gone = reply.send(());
            }
        }
    }
}

fn prepare(cpu: Option<usize>) {
    // By default the kernel may end a wait 50 µs late to save power.
    let _slack = set_current_timer_slack(NonZeroU64::new(1));
    if let Some(cpu) = cpu {
        // The pinning was tested before. If the CPU was taken away since, the run is slower but not wrong.
        let _unpinned = pin(cpu);
    }
}

/// Moves the calling thread into the network namespace of the target, to which its later sockets belong.
///
/// # Errors
/// The namespace cannot be entered.
pub(super) fn enter(route: &Route) -> io::Result<()> {
    match &route.namespace {
        Some(namespace) => {
            Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
        }
        None => Ok(()),
    }
}

/// Pins the calling thread to one CPU.
///
/// # Errors
/// The kernel refuses.
pub(super) fn pin(cpu: usize) -> io::Result<()> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}
