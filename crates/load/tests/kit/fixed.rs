//! A fast server with one fixed response: one thread, edge-triggered epoll, no parsing. It can be made to stall.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use tare_base::{Clock, Monotonic};

/// The response of the server, and its pauses.
#[derive(Debug, Clone)]
pub struct Fixed {
    pub body: Vec<u8>,
    pub stall: Option<Stall>,
    /// Steps of [`burn`] per event: a known cost.
    pub burn_steps: u64,
}

/// A pause of the whole server at known instants.
#[derive(Debug, Clone, Copy)]
pub struct Stall {
    pub every: Duration,
    pub lasts: Duration,
}

impl Stall {
    /// The remaining pause at a time after the server's start: the pause is at the end of each period.
    pub fn left(&self, since_start: Duration) -> Duration {
        let (every, lasts) = (self.every.as_nanos(), self.lasts.as_nanos());
        let phase = since_start.as_nanos() % every;
        Duration::from_nanos(if phase >= every - lasts { (every - phase) as u64 } else { 0 })
    }
}

/// Keeps a CPU busy. Each step depends on the one before, so that its cost does not depend on the loop's
/// place in memory.
pub fn burn(steps: u64) {
    let mut value = 1u64;
    for step in 0..steps {
        value = std::hint::black_box(value.wrapping_mul(step | 1));
    }
}

/// The body of that many bytes that servers and clients of benchmarks use.
pub fn body(bytes: usize) -> Vec<u8> {
    if bytes == 12 {
        b"Hello world!".to_vec()
    } else {
        b"0123456789abcdef".iter().copied().cycle().take(bytes).collect()
    }
}

impl Fixed {
    pub fn hello() -> Fixed {
        Fixed { body: body(12), stall: None, burn_steps: 0 }
    }

    fn response(&self) -> Vec<u8> {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", self.body.len());
        [head.as_bytes(), &self.body].concat()
    }

    /// Starts the server on a thread that lives as long as the process.
    pub fn serve(self) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let target = listener.local_addr().unwrap();
        std::thread::spawn(move || self.serve_on(&listener).unwrap());
        target
    }

    pub fn serve_on(&self, listener: &TcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, listener, key(listener), EventFlags::IN)?;
        let response = self.response();
        let mut clients: Vec<Option<Client>> = Vec::new();
        let mut events = Vec::with_capacity(256);
        let start_ns = Monotonic.now_ns();
        loop {
            events.clear();
            match epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(stall) = self.stall {
                std::thread::sleep(stall.left(Duration::from_nanos(Monotonic.now_ns() - start_ns)));
            }
            for event in &events {
                let index = event.data.u64() as usize;
                if index == listener.as_raw_fd() as usize {
                    accept(listener, &epoll, &mut clients)?;
                    continue;
                }
                burn(self.burn_steps);
                if clients[index].as_mut().is_some_and(|client| client.answer(&response).is_err()) {
                    clients[index] = None;
                }
            }
        }
    }
}

fn key(source: &impl AsRawFd) -> EventData {
    EventData::new_u64(source.as_raw_fd() as u64)
}

fn accept(listener: &TcpListener, epoll: &OwnedFd, clients: &mut Vec<Option<Client>>) -> io::Result<()> {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            // The client disconnected before the accept.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
            Err(error) => return Err(error),
        };
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        epoll::add(epoll, &stream, key(&stream), EventFlags::IN | EventFlags::OUT | EventFlags::ET)?;
        let index = stream.as_raw_fd() as usize;
        if clients.len() <= index {
            clients.resize_with(index + 1, || None);
        }
        clients[index] = Some(Client { stream, heads: Heads::default(), owed: 0, offset: 0 });
    }
}

struct Client {
    stream: TcpStream,
    heads: Heads,
    /// The number of responses that are not fully written.
    owed: usize,
    /// The number of bytes of the first of them that are written.
    offset: usize,
}

impl Client {
    /// Reads the available bytes and writes what fits; an error ends the connection.
    fn answer(&mut self, response: &[u8]) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.owed += self.heads.count(&buffer[..count]);
                    // Later bytes make another event.
                    if count < buffer.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        while self.owed > 0 {
            match self.stream.write(&response[self.offset..]) {
                Ok(count) => self.offset += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            if self.offset == response.len() {
                (self.owed, self.offset) = (self.owed - 1, 0);
            }
        }
        Ok(())
    }
}

/// Counts ends of heads in a stream that arrives in pieces.
#[derive(Debug, Default)]
pub struct Heads {
    /// The number of bytes of `\r
    /// \r
    /// ` that the last bytes matched.
    matched: usize,
}

impl Heads {
    pub fn count(&mut self, mut bytes: &[u8]) -> usize {
        const END: &[u8] = b"\r\n\r\n";
        // A head in one piece, as nearly all are.
        if self.matched == 0
            && bytes.ends_with(END)
            && memchr::memmem::find(bytes, END) == Some(bytes.len() - 4)
        {
            return 1;
        }
        let mut count = 0;
        while let Some((&byte, rest)) = bytes.split_first() {
            self.matched = match byte {
                byte if byte == END[self.matched] => self.matched + 1,
                b'\r' => 1,
                _ => 0,
            };
            if self.matched == END.len() {
                (self.matched, count) = (0, count + 1);
            }
            bytes = rest;
        }
        count
    }
}
