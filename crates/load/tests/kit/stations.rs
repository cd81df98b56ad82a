//! Servers of queueing theory: a number of M/M/1 stations behind one address. A request goes to a random
//! station, waits there behind earlier requests, and is served for an exponential time. Thinned Poisson
//! arrivals are Poisson again, so each station is an M/M/1 queue of its own, and many stations give many
//! independent samples in little time.
//!
//! No station does any work: the k-th service of a station ends at max(end of the one before, arrival) + its
//! time. One thread writes the answer at that instant of the monotonic clock, so lateness does not add up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex};

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use rustix::time::Timespec;
use tare_base::{Clock, Histogram, Monotonic};
use tare_load::schedule::SplitMix64;

use super::fixed::Heads;
use super::load::HELLO;

/// The kernel wakes a thread some tens of microseconds late, so the last part of a wait is polled.
const SPIN_NS: u64 = 50_000;

#[derive(Debug, Clone, Copy)]
pub struct Stations {
    pub count: u64,
    /// The service rate of each station.
    pub services_per_s: f64,
    pub seed: u64,
}

/// What the stations recorded about their requests.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    /// From arrival to the end of the service: the latency that a client should measure.
    pub sojourn: Histogram,
    /// The lateness of answers.
    pub late: Histogram,
}

/// A connection and the state of its unread heads.
struct Client {
    stream: TcpStream,
    heads: Heads,
}

struct Server {
    stations: Stations,
    epoll: OwnedFd,
    listener: TcpListener,
    clients: Vec<Option<Client>>,
    random: SplitMix64,
    /// For each station, when it has served all of its requests.
    free_ns: Vec<u64>,
    /// The ends of services, each with its connection.
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    truth: Arc<Mutex<Truth>>,
}

impl Stations {
    /// Starts the server on a thread that lives as long as the process.
    pub fn serve(self) -> (SocketAddr, Arc<Mutex<Truth>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let target = listener.local_addr().unwrap();
        let truth = Arc::<Mutex<Truth>>::default();
        let told = Arc::clone(&truth);
        std::thread::spawn(move || Server::new(self, listener, told).unwrap().serve().unwrap());
        (target, truth)
    }
}

impl Server {
    fn new(stations: Stations, listener: TcpListener, truth: Arc<Mutex<Truth>>) -> io::Result<Server> {
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, key(&listener), EventFlags::IN)?;
        Ok(Server {
            stations,
            epoll,
            listener,
            clients: Vec::new(),
            random: SplitMix64::new(stations.seed),
            free_ns: vec![0; stations.count as usize],
            ends: BinaryHeap::new(),
            truth,
        })
    }

    fn serve(&mut self) -> io::Result<()> {
        set_current_timer_slack(NonZeroU64::new(1))?;
        let mut events = Vec::with_capacity(256);
        loop {
            let timeout = self.ends.peek().map(|Reverse((end_ns, _))| {
                let wait_ns = end_ns.saturating_sub(Monotonic.now_ns()).saturating_sub(SPIN_NS);
                Timespec { tv_sec: (wait_ns / 1_000_000_000) as i64, tv_nsec: (wait_ns % 1_000_000_000) as _ }
            });
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let now_ns = Monotonic.now_ns();
            for event in &events {
                match event.data.u64() as usize {
                    index if index == self.listener.as_raw_fd() as usize => self.accept()?,
                    index => self.arrive(index, now_ns),
                }
            }
            self.answer(Monotonic.now_ns());
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            epoll::add(&self.epoll, &stream, key(&stream), EventFlags::IN)?;
            let index = stream.as_raw_fd() as usize;
            if self.clients.len() <= index {
                self.clients.resize_with(index + 1, || None);
            }
            self.clients[index] = Some(Client { stream, heads: Heads::default() });
        }
        Ok(())
    }

    fn arrive(&mut self, index: usize, now_ns: u64) {
        let Some(client) = &mut self.clients[index] else { return };
        let mut buffer = [0; 4096];
        let requests = match client.stream.read(&mut buffer) {
            Ok(count @ 1..) => client.heads.count(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            _ => {
                self.clients[index] = None;
                0
            }
        };
        for _ in 0..requests {
            let station = (self.random.draw() % self.stations.count) as usize;
            let service_s = -self.random.unit_open().ln() / self.stations.services_per_s;
            let end_ns = self.free_ns[station].max(now_ns) + (service_s * 1e9) as u64;
            self.free_ns[station] = end_ns;
            self.ends.push(Reverse((end_ns, index)));
            self.truth.lock().unwrap().sojourn.record(end_ns - now_ns);
        }
    }

    fn answer(&mut self, now_ns: u64) {
        while let Some(&Reverse((end_ns, index))) = self.ends.peek() {
            if end_ns > now_ns {
                return;
            }
            self.ends.pop();
            if let Some(client) = &mut self.clients[index] {
                // A client that disconnected is noticed at the next read.
                let _gone = client.stream.write_all(HELLO.as_bytes());
            }
            self.truth.lock().unwrap().late.record(now_ns - end_ns);
        }
    }
}

fn key(source: &impl AsRawFd) -> EventData {
    EventData::new_u64(source.as_raw_fd() as u64)
}
