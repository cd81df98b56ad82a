//! The thread that implements the link without netem: it reads packets from two TUN devices, delays them, and
//! writes each to the other device. [`super::line`] decides whether and when a packet comes out.

use std::{
    io,
    num::NonZeroU64,
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Sender, channel},
    },
    thread::JoinHandle,
};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    io::Errno,
    thread::{CpuSet, gettid, sched_setaffinity, set_current_timer_slack},
    time::Timespec,
};
use tare_base::{Clock, Histogram, Monotonic};

use super::{
    error::LinkError,
    line::{Draws, Gone, Line},
    spec::{LinkSpec, MTU},
};
use crate::scheduler;

/// The most by which a wait for a delivery ends early. Timers and wake-ups of a virtual machine are tens of
/// microseconds late. The thread learns by how much, ends its waits earlier, and polls for the rest.
const EARLY_NS_MAX: u64 = 50_000;
/// Number of waits over which the lateness is averaged.
const MEMORY: u64 = 8;
/// Packets read from one device before the other has its turn.
const BATCH: usize = 64;
/// The lowest real-time priority of `sched_setscheduler(2)`, above every normal thread.
const PRIORITY: i32 = 1;

#[derive(Debug, Clone, Default)]
pub struct WayCounters {
    pub packets: u64,
    /// Bytes of these packets, including IP headers.
    pub bytes: u64,
    /// Packets lost by the specified loss rate.
    pub lost: u64,
    pub dropped: u64,
    /// Packets that the receiving kernel rejected.
    pub refused: u64,
    /// Lateness of packets: delivery minus the instant at which they were due.
    pub late: Histogram,
}

/// The running thread. Dropping this value ends it.
#[derive(Debug)]
pub(super) struct Pump {
    counters: Arc<Mutex<[WayCounters; 2]>>,
    bell: Arc<OwnedFd>,
    started: Running,
    thread: Option<JoinHandle<()>>,
}

/// The report of the thread once it runs.
#[derive(Debug)]
struct Running {
    thread_id: u32,
    /// Why the thread has no real-time priority; absent if it has.
    no_priority: Option<io::Error>,
}

impl Pump {
    /// Starts the thread on these CPUs (empty: any), between the client's device and the server's.
    pub(super) fn start(
        spec: &LinkSpec,
        [client, server]: [OwnedFd; 2],
        cpus: &[usize],
        seed: u64,
    ) -> Result<Pump, LinkError> {
        let bell =
            Arc::new(eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| LinkError::Thread(error.into()))?);
        let counters = Arc::<Mutex<[WayCounters; 2]>>::default();
        let way = |way, stream| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            Direction { line: Line::new(way), random }
        };
        let work = Work {
            ways: [way(spec.up, 0), way(spec.down, 1)],
            devices: [client, server],
            early_ns: 0,
            spare: Vec::new(),
            counters: Arc::clone(&counters),
            bell: Arc::clone(&bell),
        };
        let (ready, is_ready) = channel();
        let cpus = cpus.to_vec();
        let thread = std::thread::Builder::new()
            .name("tare-link".to_owned())
            .spawn(move || work.begin(&cpus, &ready))
            .map_err(LinkError::Thread)?;
        let started = is_ready.recv().expect("the thread reports whether it started")?;
        Ok(Pump { counters, bell, started, thread: Some(thread) })
    }

    /// The counters of both directions: up, then down.
    pub(super) fn counters(&self) -> [WayCounters; 2] {
        lock(&self.counters).clone()
    }

    /// CPU time of the thread so far.
    pub(super) fn cpu_ns(&self) -> io::Result<u64> {
        crate::process::thread_cpu_ns(self.started.thread_id)
    }

    #[cfg(test)]
    pub(crate) fn thread_id(&self) -> u32 {
        self.started.thread_id
    }

    /// Why the thread has no real-time priority; absent if it has.
    pub(super) fn no_priority(&self) -> Option<&io::Error> {
        self.started.no_priority.as_ref()
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        let _only_full = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

fn lock(counters: &Mutex<[WayCounters; 2]>) -> MutexGuard<'_, [WayCounters; 2]> {
    counters.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One direction with random numbers of its own, so that they do not depend on the traffic of the other.
struct Direction {
    line: Line<Vec<u8>>,
    random: ChaCha8Rng,
}

/// The state of the thread. Direction `i` leads from device `i` to the other device.
struct Work {
    ways: [Direction; 2],
    devices: [OwnedFd; 2],
    /// The time by which a wait ends before the delivery.
    early_ns: u64,
    /// Buffers that are reused for packets.
    spare: Vec<Vec<u8>>,
    counters: Arc<Mutex<[WayCounters; 2]>>,
    bell: Arc<OwnedFd>,
}

impl Work {
    fn begin(mut self, cpus: &[usize], ready: &Sender<Result<Running, LinkError>>) {
        // By default the kernel may end a wait 50 us late to save power.
        let _slack = set_current_timer_slack(NonZeroU64::new(1));
        if let Err(source) = pin(cpus) {
            let _link_gone = ready.send(Err(LinkError::Pin { cpus: cpus.to_vec(), source }));
            return;
        }
        let started = Running {
            thread_id: gettid().as_raw_nonzero().get().cast_unsigned(),
            no_priority: take_priority().err(),
        };
        let _link_gone = ready.send(Ok(started));
        while self.wait() {
            self.deliver();
        }
    }

    /// Waits for packets or for the next delivery, and reads the packets that have arrived. False after the bell has rung.
    fn wait(&mut self) -> bool {
        let next_ns = self.ways.iter().filter_map(|way| way.line.next_ns()).min().unwrap_or(u64::MAX);
        let until_ns = next_ns.saturating_sub(self.early_ns);
        let wait_ns = until_ns.saturating_sub(Monotonic.now_ns());
        let mut came = self.look(wait_ns);
        if wait_ns > 0 && came == [false; 3] {
            let mut now_ns = Monotonic.now_ns();
            // A signal may end a wait early; nothing is learnt from that.
            if let Some(late_ns) = now_ns.checked_sub(until_ns) {
                self.early_ns = learn(self.early_ns, late_ns);
                while now_ns < next_ns && came == [false; 3] {
                    came = self.look(0);
                    now_ns = Monotonic.now_ns();
                }
            }
        }
        for (index, came) in came[..2].iter().enumerate() {
            if *came {
                self.read(index);
            }
        }
        !came[2]
    }

    /// Whether the client's device, the server's device and the bell become readable within this time.
    fn look(&self, within_ns: u64) -> [bool; 3] {
        let [client, server] = &self.devices;
        let mut files = [client, server, &*self.bell].map(|file| PollFd::new(file, PollFlags::IN));
        match poll(&mut files, Some(&timespec(within_ns))) {
            Ok(_) | Err(Errno::INTR) => files.map(|file| !file.revents().is_empty()),
            Err(error) => unreachable!("the kernel cannot wait for three open files: {error}"),
        }
    }

    fn read(&mut self, index: usize) {
        for _ in 0..BATCH {
            let mut packet = self.spare.pop().unwrap_or_else(|| vec![0; MTU]);
            packet.resize(MTU, 0);
            let Ok(bytes) = rustix::io::read(&self.devices[index], &mut packet[..]) else {
                self.spare.push(packet);
                return;
            };
            packet.truncate(bytes);
            let way = &mut self.ways[index];
            let draws = Draws { loss: way.random.random(), jitter: way.random.random() };
            // Each packet gets its own arrival time, so the first ones of a batch do not wait for the last.
            if let Err((gone, packet)) = way.line.offer(Monotonic.now_ns(), bytes, packet, draws) {
                self.spare.push(packet);
                let counters = &mut lock(&self.counters)[index];
                match gone {
                    Gone::Lost => counters.lost += 1,
                    Gone::Dropped => counters.dropped += 1,
                }
            }
        }
    }

    /// Writes the packets that are due.
    fn deliver(&mut self) {
        for index in 0..2 {
            let mut now_ns = Monotonic.now_ns();
            while let Some((due_ns, packet)) = self.ways[index].line.take(now_ns) {
                let written = rustix::io::write(&self.devices[1 - index], &packet);
                let after_ns = Monotonic.now_ns();
                let mut counters = lock(&self.counters);
                let counters = &mut counters[index];
                match written {
                    Ok(bytes) => {
                        counters.packets += 1;
                        counters.bytes += bytes as u64;
                        counters.late.record(now_ns - due_ns);
                    }
                    Err(_) => counters.refused += 1,
                }
                now_ns = after_ns;
                self.spare.push(packet);
            }
        }
    }
}

/// How early the next wait ends, after one that was late by `late_ns`. One very late wait counts little.
fn learn(early_ns: u64, late_ns: u64) -> u64 {
    (early_ns * (MEMORY - 1) + late_ns.min(EARLY_NS_MAX)) / MEMORY
}

fn pin(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Without priority the thread would compete with the generator on their CPUs, and the delay would grow with its load.
fn take_priority() -> io::Result<()> {
    scheduler::set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, PRIORITY)
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_early_a_wait_ends_follows_how_late_waits_were() {
        let after = |late: &[u64]| late.iter().fold(0, |early_ns, late_ns| learn(early_ns, *late_ns));
        assert!((29_000..=30_000).contains(&after(&[30_000; 40])));
        assert_eq!(after(&[0; 40]), 0);
        assert!(after(&[u64::MAX; 99]) <= EARLY_NS_MAX && after(&[10_000_000]) < 7_000);
    }

    #[test]
    fn a_cpu_that_no_machine_has_is_refused() {
        assert_eq!(pin(&[CpuSet::MAX_CPU]).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(pin(&[]).is_ok(), "any CPU");
    }

    #[test]
    fn a_time_has_seconds_and_the_rest_of_them() {
        let time = timespec(3_000_000_007);
        assert_eq!((time.tv_sec, time.tv_nsec), (3, 7));
    }
}
