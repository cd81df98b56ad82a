//! A small server that misbehaves on purpose, one thread per connection.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// One accepted connection of the server.
pub struct Peer<S = TcpStream> {
    pub stream: S,
    /// The number of this connection, counted from 0.
    pub index: usize,
}

impl<S: Read + Write> Peer<S> {
    /// Waits for the head of a request; false when the client is gone.
    pub fn request(&mut self) -> bool {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match self.stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return false,
            }
        }
        true
    }

    /// Sends bytes; false when the client is gone.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Answers every request with the same bytes.
    pub fn always(&mut self, bytes: impl AsRef<[u8]>) {
        while self.request() && self.send(bytes.as_ref()) {}
    }

    /// Answers one request, or only reads it if `bytes` is empty, and closes.
    pub fn once(&mut self, bytes: impl AsRef<[u8]>) {
        if self.request() {
            self.send(bytes);
        }
    }

    /// Keeps the connection open silently until the client closes it.
    pub fn stall(mut self) {
        while matches!(self.stream.read(&mut [0; 4096]), Ok(1..)) {}
    }

    /// Closes with a reset instead of in good order: the kernel resets a connection with unread bytes.
    pub fn reset(mut self) {
        // At least one byte stays unread.
        let _taken = self.stream.read(&mut [0; 5]);
    }
}

/// Starts the server; it lives as long as the test process.
pub fn serve(behave: impl Fn(Peer) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let accept = move || {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    accept_all(accept, behave);
    target
}

/// The same on a Unix socket at a path of its own.
pub fn serve_unix(behave: impl Fn(Peer<UnixStream>) + Send + Sync + 'static) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("tare-load-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
    let path = std::env::temp_dir().join(name);
    let listener = UnixListener::bind(&path).unwrap();
    accept_all(move || Ok(listener.accept()?.0), behave);
    path
}

pub fn accept_all<S: Send + 'static>(
    accept: impl Fn() -> io::Result<S> + Send + 'static,
    behave: impl Fn(Peer<S>) + Send + Sync + 'static,
) {
    let behave = Arc::new(behave);
    std::thread::spawn(move || {
        for index in 0.. {
            let Ok(stream) = accept() else { continue };
            let behave = Arc::clone(&behave);
            std::thread::spawn(move || behave(Peer { stream, index }));
        }
    });
}

/// The number of requests on each connection of a server, in the order of accepting.
#[derive(Clone, Default)]
pub struct Requests(Arc<Mutex<Vec<u64>>>);

impl Requests {
    /// Answers every request of a connection with these bytes, and counts.
    pub fn count<S: Read + Write>(&self, mut peer: Peer<S>, response: &str) {
        self.at(peer.index, 0);
        while peer.request() {
            self.at(peer.index, 1);
            peer.send(response);
        }
    }

    fn at(&self, index: usize, more: u64) {
        let mut counts = self.0.lock().unwrap();
        if counts.len() <= index {
            counts.resize(index + 1, 0);
        }
        counts[index] += more;
    }

    pub fn counts(&self) -> Vec<u64> {
        self.0.lock().unwrap().clone()
    }
}
