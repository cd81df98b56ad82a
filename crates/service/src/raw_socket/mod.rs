//! The raw socket: a raw-socket server that looks only for the end of a request and sends one fixed response. It is the
//! reference against which every framework is measured, so it does as little as a server can: one `read` and one
//! `write` for a request, no parsing, no routing, no allocation. It knows nothing of contracts: the response is given.

pub mod faults;
mod heads;
mod slower;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::{
    event::epoll,
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt},
};

use faults::{Fault, Faulty};
use heads::Heads;

/// How long a thread sleeps at most before it looks whether it must stop.
const LOOK_UP: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// More than any benchmark's request; a longer one is read in parts.
const READ_BYTES: usize = 16 * 1024;

/// What becomes of one request.
#[derive(Debug, PartialEq, Eq)]
enum Reply<'a> {
    Send(&'a [u8]),
    /// These bytes are sent, if there are any, and the connection is closed.
    Last(&'a [u8]),
}

/// How requests are answered by one thread.
trait Behaviour {
    /// The answer to a request; `request` has the bytes that were read last.
    fn answer<'a>(&'a mut self, request: &[u8], response: &'a [u8]) -> Reply<'a>;
}

#[derive(Debug)]
struct Plain;

impl Behaviour for Plain {
    fn answer<'a>(&'a mut self, _: &[u8], response: &'a [u8]) -> Reply<'a> {
        Reply::Send(response)
    }
}

/// Answers on 127.0.0.1:`port` with `threads` threads until `stop` is set.
///
/// # Errors
/// The port cannot be listened on, or a thread fails.
pub fn serve(port: u16, threads: usize, response: &[u8], stop: &AtomicBool) -> io::Result<()> {
    serve_with(port, threads, response, || Plain, stop)
}

/// The same server with a known fault, for trials of the instrument.
///
/// # Errors
/// As [`serve`], or the limit on CPU time cannot be put into force.
pub fn serve_with_fault(
    port: u16,
    threads: usize,
    response: &[u8],
    fault: &Fault,
    stop: &AtomicBool,
) -> io::Result<()> {
    fault.begin()?;
    serve_with(port, threads, response, || Faulty::new(fault.clone()), stop)
}

/// Generic, so that the raw socket pays nothing for the faults of the others.
fn serve_with<M: Behaviour>(
    port: u16,
    threads: usize,
    response: &[u8],
    behaviour: impl Fn() -> M + Sync,
    stop: &AtomicBool,
) -> io::Result<()> {
    let listener = listen(port)?;
    std::thread::scope(|scope| {
        let work = || Worker::new(&listener, response, behaviour())?.run(stop);
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, work);
        let workers = (0..threads).map(start).collect::<io::Result<Vec<_>>>();
        // Those that have started would go on.
        stop.fetch_or(workers.is_err(), Ordering::Relaxed);
        workers?.into_iter().try_for_each(|worker| worker.join().expect("a raw_socket thread panicked"))
    })
}

/// The standard library's listener has a backlog of 128, and a load that opens hundreds of connections at once would
/// lose SYNs, each of which comes back after a second.
fn listen(port: u16) -> io::Result<TcpListener> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    // The kernel cuts it down to net.core.somaxconn.
    rustix::net::listen(&socket, i32::MAX)?;
    Ok(socket.into())
}

/// One thread with its own epoll and its own connections; the listener is shared.
struct Worker<'a, M> {
    behaviour: M,
    epoll: OwnedFd,
    listener: &'a TcpListener,
    response: &'a [u8],
    /// By descriptor; descriptors are small numbers.
    connections: Vec<Option<Connection>>,
    buffer: Box<[u8; READ_BYTES]>,
}

struct Connection {
    socket: OwnedFd,
    heads: Heads,
    /// What the socket would not take yet.
    unsent: Vec<u8>,
}

impl<'a, M: Behaviour> Worker<'a, M> {
    fn new(listener: &'a TcpListener, response: &'a [u8], behaviour: M) -> io::Result<Worker<'a, M>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        // Exclusive: one new connection wakes one thread.
        let interest = epoll::EventFlags::IN | epoll::EventFlags::EXCLUSIVE;
        epoll::add(&epoll, listener, key(listener.as_fd()), interest)?;
        let buffer = Box::new([0; READ_BYTES]);
        Ok(Worker { behaviour, epoll, listener, response, connections: Vec::new(), buffer })
    }

    fn run(mut self, stop: &AtomicBool) -> io::Result<()> {
        let mut events = Vec::with_capacity(256);
        let listener = self.listener.as_raw_fd();
        while !stop.load(Ordering::Relaxed) {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&LOOK_UP)) {
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

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match rustix::net::accept_with(self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => {
                    rustix::net::sockopt::set_tcp_nodelay(&socket, true)?;
                    epoll::add(&self.epoll, &socket, key(socket.as_fd()), epoll::EventFlags::IN)?;
                    let index = socket.as_raw_fd() as usize;
                    if index >= self.connections.len() {
                        self.connections.resize_with(index + 1, || None);
                    }
                    self.connections[index] =
                        Some(Connection { socket, heads: Heads::default(), unsent: Vec::new() });
                }
                Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// False once the connection is over.
    fn answer(&mut self, index: usize) -> bool {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else { return true };
        if !connection.unsent.is_empty() {
            return connection.flush(&self.epoll);
        }
        let count = match rustix::io::read(&connection.socket, &mut self.buffer[..]) {
            Ok(0) => return false,
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return true,
            Err(_) => return false,
        };
        let request = &self.buffer[..count];
        match connection.heads.count(request) {
            0 => true,
            1 => match self.behaviour.answer(request, self.response) {
                Reply::Send(bytes) => connection.send(bytes, &self.epoll),
                Reply::Last(bytes) => {
                    connection.send(bytes, &self.epoll);
                    false
                }
            },
            heads => {
                let (answers, goes_on) = several(&mut self.behaviour, heads, request, self.response);
                connection.send(&answers, &self.epoll) && goes_on
            }
        }
    }
}

/// The answers to several requests that came together, and whether the connection goes on after them.
fn several<M: Behaviour>(
    behaviour: &mut M,
    heads: usize,
    request: &[u8],
    response: &[u8],
) -> (Vec<u8>, bool) {
    let mut answers = Vec::with_capacity(heads * response.len());
    for _ in 0..heads {
        match behaviour.answer(request, response) {
            Reply::Send(bytes) => answers.extend_from_slice(bytes),
            Reply::Last(bytes) => {
                answers.extend_from_slice(bytes);
                return (answers, false);
            }
        }
    }
    (answers, true)
}

impl Connection {
    fn send(&mut self, bytes: &[u8], epoll: &OwnedFd) -> bool {
        let sent = match rustix::io::write(&self.socket, bytes) {
            Ok(sent) => sent,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(_) => return false,
        };
        if sent < bytes.len() {
            // The client does not read. Until it does, nothing more is read from it either.
            self.unsent = bytes[sent..].to_vec();
            return self.listen_for(epoll, epoll::EventFlags::OUT);
        }
        true
    }

    fn flush(&mut self, epoll: &OwnedFd) -> bool {
        let unsent = std::mem::take(&mut self.unsent);
        self.send(&unsent, epoll)
            && (!self.unsent.is_empty() || self.listen_for(epoll, epoll::EventFlags::IN))
    }

    fn listen_for(&self, epoll: &OwnedFd, interest: epoll::EventFlags) -> bool {
        epoll::modify(epoll, &self.socket, key(self.socket.as_fd()), interest).is_ok()
    }
}

fn key(descriptor: BorrowedFd<'_>) -> epoll::EventData {
    epoll::EventData::new_u64(descriptor.as_raw_fd() as u64)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpStream,
        time::Duration,
    };

    use super::*;

    const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    fn with_raw_socket(test: impl FnOnce(TcpStream)) {
        let port = tare_host::process::free_port();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let server = scope.spawn(|| serve(port, 2, RESPONSE, &stop));
            let stream = loop {
                match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                    Ok(stream) => break stream,
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            test(stream);
            stop.store(true, Ordering::Relaxed);
            server.join().unwrap().unwrap();
        });
    }

    #[test]
    fn each_request_has_one_response_however_it_is_cut() {
        with_raw_socket(|mut stream| {
            let mut answer = [0; RESPONSE.len()];
            for byte in b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" {
                stream.write_all(&[*byte]).unwrap();
            }
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, RESPONSE);
            stream.write_all(b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n").unwrap();
            let mut both = [0; 2 * RESPONSE.len()];
            stream.read_exact(&mut both).unwrap();
            assert_eq!(both, RESPONSE.repeat(2).as_slice());
        });
    }

    #[test]
    fn a_client_that_reads_late_gets_every_response() {
        with_raw_socket(|mut stream| {
            const REQUESTS: usize = 200_000;
            let mut writer = stream.try_clone().unwrap();
            let writing =
                std::thread::spawn(move || writer.write_all(&b"GET / HTTP/1.1\r\n\r\n".repeat(REQUESTS)));
            std::thread::sleep(Duration::from_millis(100));
            let mut all = vec![0; REQUESTS * RESPONSE.len()];
            stream.read_exact(&mut all).unwrap();
            writing.join().unwrap().unwrap();
            assert!(all.chunks(RESPONSE.len()).all(|answer| answer == RESPONSE));
        });
    }
}
