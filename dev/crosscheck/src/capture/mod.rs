//! Captures a tool's real request as bytes, by a listener that gives every request the same answer.
//!
//! Our engine then sends the same bytes, so that both cause the same work: a service spends time on each
//! header. Over HTTP/2 it sends the same fields in the same order; each client compresses them in its own
//! way. TLS does not change a tool's request, so nothing is captured over TLS.

mod http2;

use std::{
    io::{self, Read, Write},
    mem,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";
/// The longest request: the tools send no longer ones without a body.
const REQUEST_BYTES_MAX: usize = 16 * 1024;
const TICK: Duration = Duration::from_millis(2);
/// A connection that is silent for this long is over.
const SILENCE: Duration = Duration::from_millis(500);

/// A listener that runs until it is stopped.
#[derive(Debug)]
pub(super) struct Listener {
    pub address: SocketAddr,
    over: Arc<AtomicBool>,
    seen: Arc<Mutex<Option<Vec<u8>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Starts a listener for HTTP/2 with prior knowledge, or for HTTP/1.1.
    pub(crate) fn start(is_http2: bool) -> io::Result<Listener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (over, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
        let thread = std::thread::spawn({
            let (over, seen) = (Arc::clone(&over), Arc::clone(&seen));
            move || {
                while !over.load(Ordering::Relaxed) {
                    match listener.accept() {
                        // In sequence: there is one connection at a time. The tool reports its own errors.
                        Ok((stream, _)) => drop(answer(stream, is_http2, &over, &seen)),
                        Err(_) => std::thread::sleep(TICK),
                    }
                }
            }
        });
        Ok(Listener { address, over, seen, thread: Some(thread) })
    }

    /// The first request that arrived.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        self.end();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn end(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.end();
    }
}

/// Answers everything on a connection until it is closed or silent.
fn answer(
    mut stream: TcpStream,
    is_http2: bool,
    over: &AtomicBool,
    seen: &Mutex<Option<Vec<u8>>>,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    let see = |request| {
        seen.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(request);
    };
    match is_http2 {
        true => http2::answer(&mut stream, over, see),
        false => answer_http1(&mut stream, over, see),
    }
}

fn answer_http1(stream: &mut TcpStream, over: &AtomicBool, see: impl Fn(Vec<u8>)) -> io::Result<()> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    while !over.load(Ordering::Relaxed) && request.len() < REQUEST_BYTES_MAX {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        request.extend_from_slice(&buffer[..count]);
        if request.ends_with(b"\r\n\r\n") {
            stream.write_all(ANSWER)?;
            see(mem::take(&mut request));
        }
    }
    Ok(())
}

/// Replaces the address that the request was sent to by another one.
pub(super) fn readdress(request: &[u8], from: SocketAddr, to: SocketAddr) -> Vec<u8> {
    String::from_utf8_lossy(request).replace(&from.to_string(), &to.to_string()).into_bytes()
}

/// The first line of a request, without the version.
pub(super) fn line(request: &[u8]) -> String {
    let text = String::from_utf8_lossy(request);
    let mut words = text.lines().next().unwrap_or_default().split(' ');
    format!("{} {}", words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

/// The names of its header fields, as sent.
pub(super) fn header_names(request: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(request);
    let lines = text.lines().skip(1).map_while(|line| line.split_once(':'));
    lines.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_request_is_kept_and_each_is_answered() {
        let listener = Listener::start(false).unwrap();
        let mut stream = TcpStream::connect(listener.address).unwrap();
        for request in [&b"GET /a HTTP/1.1\r\nA: b\r\n\r\n"[..], b"GET /c HTTP/1.1\r\n\r\n"] {
            stream.write_all(request).unwrap();
            let mut answer = vec![0; ANSWER.len()];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, ANSWER);
        }
        drop(stream);
        let request = listener.finish().unwrap();
        assert_eq!(request, b"GET /a HTTP/1.1\r\nA: b\r\n\r\n");
        assert_eq!(line(&request), "GET /a");
    }

    #[test]
    fn a_request_is_addressed_anew() {
        let (from, to) = ("127.0.0.1:9".parse().unwrap(), "127.0.0.1:80".parse().unwrap());
        let host = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n";
        assert_eq!(readdress(host, from, to), b"GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
        assert_eq!(line(b""), " ");
        assert_eq!(header_names(host), ["Host"]);
        assert_eq!(header_names(b"GET / HTTP/1.1\r\n\r\n"), [] as [&str; 0]);
    }

    #[test]
    fn bytes_that_come_one_by_one_are_one_request() {
        let listener = Listener::start(false).unwrap();
        let mut stream = TcpStream::connect(listener.address).unwrap();
        for byte in b"GET /slow HTTP/1.1\r\n\r\n" {
            stream.write_all(&[*byte]).unwrap();
        }
        let mut answer = vec![0; ANSWER.len()];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(line(&listener.finish().unwrap()), "GET /slow");
    }

    #[test]
    fn a_connection_without_a_request_is_no_request() {
        let listener = Listener::start(false).unwrap();
        let mut stream = TcpStream::connect(listener.address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
        drop(stream);
        assert_eq!(listener.finish(), None);
    }

    #[test]
    fn a_request_without_an_end_is_given_up() {
        let listener = Listener::start(false).unwrap();
        let mut stream = TcpStream::connect(listener.address).unwrap();
        // The listener closes after the longest request, and then writing fails.
        let filler = [b'x'; 4096];
        let written = (0..10_000).take_while(|_| stream.write_all(&filler).is_ok()).count();
        assert!(written < 10_000);
        assert_eq!(listener.finish(), None);
    }

    proptest! {
        #[test]
        fn only_the_address_changes(path in "/[a-z]{0,9}", from in 1_u16.., to in 1_u16.., value in "[a-z :0-9]{0,20}") {
            let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let request = |port: u16| format!("GET {path} HTTP/1.1\r\nHost: {}\r\nA: {value}\r\n\r\n", address(port));
            prop_assume!(from.to_string().len() == 5);
            let found = readdress(request(from).as_bytes(), address(from), address(to));
            prop_assert_eq!(String::from_utf8(found).unwrap(), request(to));
            prop_assert_eq!(line(request(from).as_bytes()), format!("GET {path}"));
        }
    }
}
