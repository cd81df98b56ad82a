//! The raw-socket server: it only looks for the end of a request and sends one fixed response. As the
//! reference for all frameworks it does as little as possible: one `read` and one `write` for a request, no
//! parsing, no routing, no allocation. It knows nothing of contracts: the response is given.
//!
//! For HTTP/2 and TLS it does the minimum as well: see [`http2`] and [`tls`].
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod added;
mod ballast;
pub mod events;
pub mod faults;
mod heads;
mod http1;
mod http2;
mod slower;
mod tls;
pub mod variables;
mod worker;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
use rustls::ServerConfig;

pub use self::{
    added::Added,
    ballast::Ballast,
    tls::{IdentityError, ServerIdentity},
};
use self::{
    ballast::SharedBallast,
    faults::{Fault, Faulty},
    http1::Http1,
    http2::{Choice, Http2, Turn},
    slower::AllAdded,
    tls::OverTls,
    worker::{Reply, Speech, Worker},
};

/// The HTTP version of a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RawVersion {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2: by ALPN over TLS, with prior knowledge without it.
    Http2,
}

impl RawVersion {
    /// The ALPN name.
    fn alpn(self) -> &'static [u8] {
        match self {
            RawVersion::Http1 => b"http/1.1",
            RawVersion::Http2 => b"h2",
        }
    }
}

/// The settings of a server.
#[derive(Debug)]
pub struct RawServer<'a> {
    /// 127.0.0.1 for local clients only.
    pub address: Ipv4Addr,
    pub port: u16,
    /// Number of threads, each with its own epoll.
    pub threads: usize,
    /// The HTTP/1.1 response, from which HTTP/2 frames are made too.
    pub response: &'a [u8],
    /// The HTTP version of the port.
    pub version: RawVersion,
    /// If given, the port uses TLS.
    pub identity: Option<&'a ServerIdentity>,
    /// A fault for trials of the instrument.
    pub fault: Option<&'a Fault>,
    /// What is carried besides, in an experiment.
    pub ballast: Option<&'a Ballast>,
}

impl RawServer<'_> {
    /// Answers until `stop` is set, and returns what a fault added to requests.
    ///
    /// # Errors
    /// The port cannot be used, a thread fails, the response or the identity is invalid, or the fault is
    /// impossible with this protocol or its CPU limit cannot be set.
    pub fn run(&self, stop: &AtomicBool) -> io::Result<Added> {
        let added = AllAdded::default();
        let Some(fault) = self.fault else {
            self.with_ballast(|| Plain, stop)?;
            return Ok(Added::default());
        };
        if !fault.is_of(self.version, self.identity.is_some()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the fault is none of this protocol"));
        }
        fault.begin()?;
        self.with_ballast(
            || Faulty::new(fault.clone(), self.ballast.map_or(0, |ballast| ballast.ns), Arc::clone(&added)),
            stop,
        )?;
        let added = *added.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(added)
    }

    fn with_ballast<B>(&self, behaviour: impl Fn() -> B + Sync, stop: &AtomicBool) -> io::Result<()>
    where
        B: http1::Behaviour + http2::StreamBehaviour,
    {
        match self.ballast {
            None => self.run_with(behaviour, stop),
            Some(ballast) => {
                let shared = SharedBallast::new(ballast, self.threads)?;
                self.run_with(|| shared.share(behaviour()), stop)
            }
        }
    }

    /// Generic, so that the raw socket without faults pays nothing for them.
    fn run_with<B>(&self, behaviour: impl Fn() -> B + Sync, stop: &AtomicBool) -> io::Result<()>
    where
        B: http1::Behaviour + http2::StreamBehaviour,
    {
        let config =
            |identity: &ServerIdentity| identity.config(self.version.alpn()).map_err(io::Error::other);
        let tls = self.identity.map(config).transpose()?;
        match self.version {
            RawVersion::Http1 => self.over(tls, || Ok(Http1::new(self.response, behaviour())), stop),
            RawVersion::Http2 => self.over(tls, || Http2::new(self.response, behaviour()), stop),
        }
    }

    fn over<S: Speech>(
        &self,
        tls: Option<Arc<ServerConfig>>,
        speech: impl Fn() -> io::Result<S> + Sync,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        match tls {
            None => self.work(speech, stop),
            Some(config) => {
                let delay = self.fault.and_then(Fault::delay);
                self.work(|| Ok(OverTls::new(Arc::clone(&config), delay, speech()?)), stop)
            }
        }
    }

    fn work<S: Speech>(
        &self,
        speech: impl Fn() -> io::Result<S> + Sync,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let listener = listen(self.address, self.port)?;
        std::thread::scope(|scope| {
            let work = || Worker::new(&listener, speech()?)?.run(stop);
            let start = |_| std::thread::Builder::new().spawn_scoped(scope, work);
            let workers = (0..self.threads).map(start).collect::<io::Result<Vec<_>>>();
            // Stops the threads that have already started.
            stop.fetch_or(workers.is_err(), Ordering::Relaxed);
            workers?.into_iter().try_for_each(|worker| worker.join().expect("a raw_socket thread panicked"))
        })
    }
}

/// Answers over plain HTTP/1.1 on 127.0.0.1:`port` with `threads` threads until `stop` is set.
///
/// # Errors
/// The port cannot be listened on, or a thread fails.
pub fn serve(port: u16, threads: usize, response: &[u8], stop: &AtomicBool) -> io::Result<()> {
    let version = RawVersion::Http1;
    let address = Ipv4Addr::LOCALHOST;
    RawServer { address, port, threads, response, version, identity: None, fault: None, ballast: None }
        .run(stop)?;
    Ok(())
}

/// No fault.
#[derive(Debug)]
struct Plain;

impl http1::Behaviour for Plain {
    fn answer<'a>(&'a mut self, _: &[u8], response: &'a [u8]) -> Reply<'a> {
        Reply::Send(response)
    }
}

impl http2::StreamBehaviour for Plain {
    fn turn(&mut self) -> Turn {
        Turn::Send(Choice::Right)
    }
}

/// The standard library's listener has a backlog of 128. A load that opens hundreds of connections at once
/// would lose SYNs, which are resent after a second.
fn listen(address: Ipv4Addr, port: u16) -> io::Result<TcpListener> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddr::from((address, port)))?;
    // The kernel reduces it to net.core.somaxconn.
    rustix::net::listen(&socket, i32::MAX)?;
    Ok(socket.into())
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
