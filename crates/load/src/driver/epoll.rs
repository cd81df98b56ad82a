//! The epoll driver: edge-triggered, every socket registered once, many events a wait.
//!
//! A read that does not fill the buffer has drained the socket (epoll(7), question 9). So an answer costs one
//! receive and one send, and no `epoll_ctl`. One buffer serves all connections of a driver.

use std::fmt;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, sockopt};

use super::outgoing::Outgoing;
use super::socket::{self, broken_failure, connect_failure};
use super::{Driver, Event, GATHER_NS, Kernel};
use crate::request_buffer::RequestBuffer;
use crate::tally::Failure;
use tare_base::Route;
use tare_base::{Clock, Monotonic};

/// The most events of one wait.
const EVENTS_MAX: usize = 512;
/// Small enough to stay in the cache, large enough that a body of some size takes few calls.
const BUFFER_BYTES: usize = 64 * 1024;
/// After this number of full buffers in a row the other connections have their turn.
const FULL_READS_MAX: u32 = 16;

#[derive(Debug, Default)]
struct EpollSocket {
    fd: Option<OwnedFd>,
    /// Distinguishes it from earlier connections of the same slot, whose events may still be queued.
    generation: u32,
    connecting: bool,
    /// A send was cut short: the next writable edge matters.
    blocked: bool,
}

/// A socket that may have more to read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    slot: usize,
    generation: u32,
    hangup: bool,
    full_reads: u32,
}

/// The events of the last wait.
struct Events(Vec<epoll::Event>);

// SAFETY: the type is not Send because an event may carry a pointer; ours only ever carry a number, put there by
// `try_connect`.
#[allow(unsafe_code)]
unsafe impl Send for Events {}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events", self.0.len())
    }
}

/// Connections behind one epoll instance.
#[derive(Debug)]
pub(crate) struct Epoll {
    epoll: OwnedFd,
    outgoing: Outgoing,
    sockets: Vec<EpollSocket>,
    events: Events,
    cursor: usize,
    reading: Option<Reading>,
    /// Sockets that had more than their turn's worth.
    unfinished: Vec<Reading>,
    buffer: Box<[u8]>,
    filled: usize,
}

impl Epoll {
    fn try_connect(&mut self, slot: usize, route: &Route) -> Result<(), Errno> {
        let (fd, target) = socket::open(route, slot, SocketFlags::NONBLOCK)?;
        match rustix::net::connect(&fd, &target) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(errno),
        }
        let socket = &mut self.sockets[slot];
        socket.generation = socket.generation.wrapping_add(1);
        let interest =
            epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        let token = u64::from(socket.generation) << 32 | slot as u64;
        epoll::add(&self.epoll, &fd, epoll::EventData::new_u64(token), interest)?;
        (socket.fd, socket.connecting, socket.blocked) = (Some(fd), true, false);
        Ok(())
    }

    fn live(&self, slot: usize, generation: u32) -> bool {
        self.sockets.get(slot).is_some_and(|socket| socket.fd.is_some() && socket.generation == generation)
    }

    /// The event of a readiness report; readable data are only noted in `reading`.
    fn ready(&mut self, event: epoll::Event) -> Option<Event> {
        let (token, flags) = (event.data.u64(), event.flags);
        let (slot, generation) = (token as u32 as usize, (token >> 32) as u32);
        if !self.live(slot, generation) {
            return None;
        }
        let hangup =
            flags.intersects(epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR);
        let readable = hangup || flags.contains(epoll::EventFlags::IN);
        let reading = readable.then_some(Reading { slot, generation, hangup, full_reads: 0 });
        let socket = &mut self.sockets[slot];
        if socket.connecting {
            let fd = socket.fd.as_ref()?;
            if let Err(errno) = sockopt::socket_error(fd).and_then(|error| error) {
                return Some(Event::ConnectFailed { slot, failure: connect_failure(errno) });
            }
            socket.connecting = false;
            self.reading = reading;
            return Some(Event::Connected { slot });
        }
        self.reading = reading;
        if socket.blocked && flags.contains(epoll::EventFlags::OUT) {
            socket.blocked = false;
            return Some(Event::Sendable { slot, sent: 0 });
        }
        None
    }

    fn read(&mut self, mut reading: Reading) -> Option<Event> {
        let slot = reading.slot;
        if !self.live(slot, reading.generation) {
            return None;
        }
        let fd = self.sockets[slot].fd.as_ref()?;
        match receive(fd, &mut self.buffer) {
            Ok(0) => Some(Event::Closed { slot }),
            Ok(bytes) => {
                self.filled = bytes;
                let full = bytes == self.buffer.len();
                reading.full_reads += u32::from(full);
                if full && reading.full_reads >= FULL_READS_MAX {
                    self.unfinished.push(Reading { full_reads: 0, ..reading });
                } else if full || reading.hangup {
                    self.reading = Some(reading);
                }
                Some(Event::Received { slot, hangup: reading.hangup && !full })
            }
            Err(Errno::AGAIN) => None,
            Err(errno) => Some(Event::Failed { slot, failure: broken_failure(errno) }),
        }
    }
}

impl Kernel for Epoll {
    fn new(slots: usize) -> std::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut events = Events(Vec::with_capacity(EVENTS_MAX));
        // Not every kernel has `epoll_pwait2`, which waits for less than a millisecond: fail here instead of spinning later.
        epoll::wait(&epoll, spare_capacity(&mut events.0), Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
        let mut sockets = Vec::new();
        sockets.resize_with(slots, EpollSocket::default);
        Ok(Self {
            epoll,
            outgoing: Outgoing::new(slots),
            sockets,
            events,
            cursor: 0,
            reading: None,
            unfinished: Vec::new(),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            filled: 0,
        })
    }
}

impl Driver for Epoll {
    fn set_requests(&mut self, requests: Arc<RequestBuffer>) {
        self.outgoing.share(requests);
    }

    #[inline]
    fn own(&mut self, slot: usize) -> Option<&mut Vec<u8>> {
        Some(self.outgoing.own(slot))
    }

    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure> {
        self.close(slot);
        self.try_connect(slot, route).map_err(connect_failure)
    }

    #[inline]
    fn send(&mut self, slot: usize, range: Range<usize>) -> Result<usize, Failure> {
        let bytes = self.outgoing.bytes(slot, range);
        let socket = &mut self.sockets[slot];
        let Some(fd) = &socket.fd else { return Err(Failure::Other) };
        let sent = loop {
            match rustix::net::send(fd, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => break sent,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break 0,
                Err(errno) => return Err(broken_failure(errno)),
            }
        };
        socket.blocked = sent < bytes.len();
        Ok(sent)
    }

    fn close(&mut self, slot: usize) {
        // Closing the only descriptor of a socket takes it out of the epoll set.
        self.sockets[slot].fd = None;
    }

    fn is_open(&self, slot: usize) -> bool {
        self.sockets[slot].fd.is_some()
    }

    fn wait(&mut self, timeout_ns: u64) {
        self.events.0.clear();
        self.cursor = 0;
        let timeout_ns = if self.unfinished.is_empty() { timeout_ns } else { 0 };
        let timeout = Timespec {
            tv_sec: (timeout_ns / 1_000_000_000).cast_signed(),
            tv_nsec: (timeout_ns % 1_000_000_000).cast_signed(),
        };
        // The one error of a valid call is an interruption, after which the caller looks at its clock and waits again.
        let _interrupted = epoll::wait(&self.epoll, spare_capacity(&mut self.events.0), Some(&timeout));
        self.reading = self.reading.or_else(|| self.unfinished.pop());
    }

    /// The kernel cannot wait for a number of sockets. Data that arrives meanwhile on the named ones is read
    /// together with the rest.
    fn gather(&mut self, count: usize, sleeps: bool) -> u64 {
        let ready = self.events.0.len();
        if ready == 0 || ready >= count {
            return 0;
        }
        if sleeps {
            std::thread::sleep(Duration::from_nanos(GATHER_NS));
            return 0;
        }
        let began_ns = Monotonic.now_ns();
        while Monotonic.now_ns() < began_ns + GATHER_NS {
            std::hint::spin_loop();
        }
        GATHER_NS
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(reading) = self.reading.take() {
                if let Some(event) = self.read(reading) {
                    return Some(event);
                }
                continue;
            }
            let event = *self.events.0.get(self.cursor)?;
            self.cursor += 1;
            if let Some(event) = self.ready(event) {
                return Some(event);
            }
        }
    }

    #[inline]
    fn received(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    #[inline]
    fn received_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.filled]
    }
}

#[inline]
fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match rustix::net::recv(fd, &mut *buffer, RecvFlags::empty()) {
            Ok((bytes, _)) => return Ok(bytes),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}
