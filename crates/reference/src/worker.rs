//! The loop of one thread: it accepts, reads, passes bytes to the protocol, and writes. It knows no protocol.

use std::{
    collections::VecDeque,
    io,
    net::TcpListener,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::{event::epoll, io::Errno, net::SocketFlags, time::Timespec};

/// Longest sleep between two checks whether to stop.
const LOOK_UP: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// More than any benchmark's request; longer ones are read in parts.
const READ_BYTES: usize = 16 * 1024;

/// The reaction to received bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply<'a> {
    /// Send these bytes, if there are any.
    Send(&'a [u8]),
    /// Send these bytes and close the connection.
    Last(&'a [u8]),
}

/// The protocol of a thread's connections. Generic, so that plain HTTP/1.1 pays nothing for the others.
pub(super) trait Speech {
    /// The state of a connection.
    type State;

    /// Delay before a new connection is served.
    fn delay(&self) -> Option<Duration> {
        None
    }

    /// The state of a new connection.
    fn open(&self) -> io::Result<Self::State>;

    /// The answer to received bytes. `out` is a buffer for assembled answers; its old content is discarded.
    fn take<'a>(&'a mut self, state: &mut Self::State, read: &[u8], out: &'a mut Vec<u8>) -> Reply<'a>;

    /// Further bytes to send once all earlier ones are sent. By default there are none.
    fn more<'a>(&'a mut self, _state: &mut Self::State, _out: &'a mut Vec<u8>) -> Reply<'a> {
        Reply::Send(b"")
    }
}

/// One thread with its own epoll and its own connections; the listener is shared.
pub(super) struct Worker<'a, S: Speech> {
    speech: S,
    epoll: OwnedFd,
    listener: &'a TcpListener,
    /// Indexed by descriptor, which is a small number.
    connections: Vec<Option<Connection<S::State>>>,
    /// Connections that are not served yet, each with the instant when they will be.
    delayed: VecDeque<(Instant, usize)>,
    buffer: Box<[u8; READ_BYTES]>,
    out: Vec<u8>,
}

struct Connection<S> {
    socket: OwnedFd,
    state: S,
    /// Bytes that the socket did not accept yet.
    unsent: Vec<u8>,
}

impl<'a, S: Speech> Worker<'a, S> {
    pub(super) fn new(listener: &'a TcpListener, speech: S) -> io::Result<Worker<'a, S>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        // EPOLLEXCLUSIVE: a new connection wakes one thread only.
        let interest = epoll::EventFlags::IN | epoll::EventFlags::EXCLUSIVE;
        epoll::add(&epoll, listener, key(listener.as_fd()), interest)?;
        let buffer = Box::new([0; READ_BYTES]);
        let (connections, delayed) = (Vec::new(), VecDeque::new());
        Ok(Worker { speech, epoll, listener, connections, delayed, buffer, out: Vec::new() })
    }

    pub(super) fn run(mut self, stop: &AtomicBool) -> io::Result<()> {
        let mut events = Vec::with_capacity(256);
        let listener = self.listener.as_raw_fd();
        while !stop.load(Ordering::Relaxed) {
            events.clear();
            let pause = self.admit()?;
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&pause)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                let index = event.data.u64() as usize;
                if index as i32 == listener {
                    self.accept()?;
                } else if !self.answer(index) {
                    self.connections[index] = None;
                }
            }
        }
        Ok(())
    }

    /// Serves connections whose delay is over; returns how long the thread may sleep.
    fn admit(&mut self) -> io::Result<Timespec> {
        if self.speech.delay().is_none() {
            return Ok(LOOK_UP);
        }
        let now = Instant::now();
        while let Some((due, index)) = self.delayed.front().copied() {
            if due > now {
                let rest = Timespec::try_from(due - now).unwrap_or(LOOK_UP);
                return Ok(rest.min(LOOK_UP));
            }
            self.delayed.pop_front();
            if let Some(connection) = &self.connections[index] {
                watch(&connection.socket, &self.epoll)?;
            }
        }
        Ok(LOOK_UP)
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match rustix::net::accept_with(self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => {
                    rustix::net::sockopt::set_tcp_nodelay(&socket, true)?;
                    let index = socket.as_raw_fd() as usize;
                    match self.speech.delay() {
                        None => watch(&socket, &self.epoll)?,
                        Some(delay) => self.delayed.push_back((Instant::now() + delay, index)),
                    }
                    if index >= self.connections.len() {
                        self.connections.resize_with(index + 1, || None);
                    }
                    let state = self.speech.open()?;
                    self.connections[index] = Some(Connection { socket, state, unsent: Vec::new() });
                }
                Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads and answers; false once the connection has ended.
    fn answer(&mut self, index: usize) -> bool {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else { return true };
        if !connection.unsent.is_empty() {
            return connection.flush(&mut self.speech, &mut self.out, &self.epoll);
        }
        let count = match rustix::io::read(&connection.socket, &mut self.buffer[..]) {
            Ok(0) => return false,
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return true,
            Err(_) => return false,
        };
        let reply = self.speech.take(&mut connection.state, &self.buffer[..count], &mut self.out);
        connection.put(&reply, &self.epoll) && connection.go_on(&mut self.speech, &mut self.out, &self.epoll)
    }
}

impl<S> Connection<S> {
    fn put(&mut self, reply: &Reply<'_>, epoll: &OwnedFd) -> bool {
        match reply {
            Reply::Send(b"") => true,
            Reply::Send(bytes) => self.send(bytes, epoll),
            Reply::Last(bytes) => {
                self.send(bytes, epoll);
                false
            }
        }
    }

    /// Sends further bytes until none are left or the socket is full.
    fn go_on<P: Speech<State = S>>(&mut self, speech: &mut P, out: &mut Vec<u8>, epoll: &OwnedFd) -> bool {
        while self.unsent.is_empty() {
            match speech.more(&mut self.state, out) {
                Reply::Send(b"") => break,
                reply if self.put(&reply, epoll) => {}
                _ => return false,
            }
        }
        true
    }

    fn send(&mut self, bytes: &[u8], epoll: &OwnedFd) -> bool {
        let sent = match rustix::io::write(&self.socket, bytes) {
            Ok(sent) => sent,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(_) => return false,
        };
        if sent < bytes.len() {
            // The client does not read, so nothing more is read from it until it does.
            self.unsent = bytes[sent..].to_vec();
            return self.listen_for(epoll, epoll::EventFlags::OUT);
        }
        true
    }

    fn flush<P: Speech<State = S>>(&mut self, speech: &mut P, out: &mut Vec<u8>, epoll: &OwnedFd) -> bool {
        let unsent = std::mem::take(&mut self.unsent);
        self.send(&unsent, epoll)
            && self.go_on(speech, out, epoll)
            && (!self.unsent.is_empty() || self.listen_for(epoll, epoll::EventFlags::IN))
    }

    fn listen_for(&self, epoll: &OwnedFd, interest: epoll::EventFlags) -> bool {
        epoll::modify(epoll, &self.socket, key(self.socket.as_fd()), interest).is_ok()
    }
}

fn watch(socket: &OwnedFd, epoll: &OwnedFd) -> io::Result<()> {
    Ok(epoll::add(epoll, socket, key(socket.as_fd()), epoll::EventFlags::IN)?)
}

fn key(descriptor: BorrowedFd<'_>) -> epoll::EventData {
    epoll::EventData::new_u64(descriptor.as_raw_fd() as u64)
}
