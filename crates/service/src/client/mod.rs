//! The one client for questions around a load: whether a service is ready, what it answers, whether that is right. Each question
//! has one deadline and one size for all of its answer, and an interrupt ends it at once.
//!
//! It does one thing at a time and waits for it. It knows nothing of contracts.

mod channel;
mod error;
#[cfg(test)]
pub(crate) mod front;
#[cfg(test)]
mod hostile;
mod http2;
mod tls;
mod translate;

use std::{
    os::fd::OwnedFd,
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        self, AddressFamily, RecvFlags, SendFlags, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType,
        sockopt,
    },
};
use rustls::{ClientConfig, pki_types::ServerName};
use tare_host::signals;
use tare_load::{
    Endpoint, Exchange,
    http1::{Response, ResponseReader},
};

pub use channel::{Channel, Trusts};
pub use error::AskError;
pub(crate) use http2::{Awaited, Http2Connection};
pub use tls::Secured;
use tls::Tls;
pub(crate) use tls::client_hello;
pub(crate) use translate::{OF_ONE_CONNECTION, STATUS, text as text_of};

/// What an HTTP/2 client says first: the preface, and SETTINGS that change nothing (RFC 9113, 3.4).
pub(crate) const PREFACE: [&[u8]; 2] = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[0, 0, 0, 4, 0, 0, 0, 0, 0]];

/// No contract asks for an answer of this size, head and body together. A server that sends more may never end.
pub const ANSWER_BYTES_MAX: usize = 16 << 20;
/// What is read at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// About one record of TLS.
const RECORD_BYTES: usize = 17 * 1024;
/// A signal may come just before a wait begins, and is then seen this much later.
const INTERRUPT_SEEN_WITHIN: Duration = Duration::from_millis(100);
/// How long the full queue of a Unix socket is left alone.
const QUEUE_IS_FULL: Duration = Duration::from_millis(5);

/// Until when the whole of something must have happened. Before it no more than [`ANSWER_BYTES_MAX`] bytes are read.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
    patience: Duration,
}

impl Deadline {
    /// So long from now on.
    pub fn after(patience: Duration) -> Deadline {
        let now = Instant::now();
        Deadline { at: now.checked_add(patience).unwrap_or(now + Duration::from_secs(86_400)), patience }
    }

    /// The time that is left; there is none after an interrupt, either. `bytes` is what came meanwhile.
    fn left(&self, bytes: usize) -> Result<Duration, AskError> {
        if signals::received().is_some() {
            return Err(AskError::Interrupted);
        }
        let left = self.at.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(AskError::TooLate { within: self.patience, bytes }) } else { Ok(left) }
    }
}

/// A connection to a server.
#[derive(Debug)]
pub struct ClientConnection {
    socket: OwnedFd,
    chunk: Box<[u8]>,
    tls: Option<Box<Tls>>,
    /// Records that the socket would not take yet.
    unsent: Vec<u8>,
    came: Came,
}

/// What was read before the deadline that is kept now: a new one begins a new count.
#[derive(Debug, Default)]
struct Came {
    until: Option<Instant>,
    bytes: usize,
}

impl ClientConnection {
    /// Connects, however full the server's queue is.
    ///
    /// # Errors
    /// Nothing listens there, no connection is accepted by the deadline, or there was an interrupt.
    pub fn open(endpoint: &Endpoint, deadline: Deadline) -> Result<ClientConnection, AskError> {
        let (family, address) = match endpoint {
            Endpoint::Tcp(address) if address.is_ipv4() => {
                (AddressFamily::INET, SocketAddrAny::from(*address))
            }
            Endpoint::Tcp(address) => (AddressFamily::INET6, SocketAddrAny::from(*address)),
            Endpoint::Unix(path) => (AddressFamily::UNIX, SocketAddrUnix::new(path.as_path())?.into()),
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
        if family != AddressFamily::UNIX {
            // Each write is a segment of its own: what is cut on purpose must arrive as it was cut.
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        let (chunk, unsent) = (vec![0; CHUNK_BYTES].into(), Vec::new());
        let mut connection = ClientConnection { socket, chunk, tls: None, unsent, came: Came::default() };
        loop {
            match net::connect(&connection.socket, &address) {
                Ok(()) => return Ok(connection),
                Err(Errno::INPROGRESS) => {
                    connection.wait(PollFlags::OUT, deadline)?;
                    sockopt::socket_error(&connection.socket)??;
                    return Ok(connection);
                }
                Err(Errno::AGAIN) => {
                    std::thread::sleep(deadline.left(0)?.min(QUEUE_IS_FULL));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The same with TLS, if the channel has it; the server has chosen the protocol by ALPN then.
    ///
    /// # Errors
    /// As [`ClientConnection::open`], or the handshake fails, or the server chose another protocol.
    pub fn open_in(
        endpoint: &Endpoint,
        channel: &Channel,
        deadline: Deadline,
    ) -> Result<ClientConnection, AskError> {
        let connection = ClientConnection::open(endpoint, deadline)?;
        let Some(config) = channel.tls() else { return Ok(connection) };
        let secured = connection.secure(config, channel.server_name(), deadline)?;
        let alpn = secured.secured().and_then(|secured| secured.alpn);
        let wanted = channel.protocol;
        match alpn {
            Some(chosen) if Some(&*chosen) != wanted.alpn() => {
                Err(AskError::Alpn { wanted, got: String::from_utf8_lossy(&chosen).into() })
            }
            None if wanted.is_http2() => Err(AskError::Alpn { wanted, got: "nothing".into() }),
            _ => Ok(secured),
        }
    }

    /// Makes a TLS connection of it.
    ///
    /// # Errors
    /// The handshake fails, or does not end by the deadline.
    pub(crate) fn secure(
        mut self,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        deadline: Deadline,
    ) -> Result<ClientConnection, AskError> {
        let mut tls = Tls::new(config, name)?;
        while tls.is_handshaking() {
            tls.take(&mut self.unsent)?;
            self.flush(deadline)?;
            self.wait(PollFlags::IN, deadline)?;
            match receive(&self.socket, &mut self.chunk)? {
                Some(0) => return Err(AskError::NotSecured),
                Some(count) => {
                    self.came.bytes += count;
                    let read = tls.feed(&self.chunk[..count], &mut self.unsent);
                    // The alert that says what is wrong, if it can be sent.
                    let _said = self.flush_now();
                    read?;
                }
                None => {}
            }
        }
        self.tls = Some(Box::new(tls));
        self.flush(deadline)?;
        Ok(self)
    }

    /// What is known of its TLS, if it has any.
    pub fn secured(&self) -> Option<Secured> {
        self.tls.as_ref().map(|tls| tls.secured())
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// The connection is broken, the server does not take them by the deadline, or there was an interrupt.
    pub fn send(&mut self, mut bytes: &[u8], deadline: Deadline) -> Result<(), AskError> {
        while !bytes.is_empty() {
            if self.tls.is_none() {
                self.wait(PollFlags::OUT, deadline)?;
            }
            match self.send_now(bytes)? {
                Some(count) => bytes = &bytes[count..],
                None => self.wait(PollFlags::OUT, deadline)?,
            }
        }
        self.flush(deadline)
    }

    /// Sends some of `bytes` without a wait, and says how many: with TLS, as many as became records. Absent if none can be sent
    /// now.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) fn send_now(&mut self, bytes: &[u8]) -> Result<Option<usize>, AskError> {
        if !self.flush_now()? {
            return Ok(None);
        }
        if let Some(tls) = &mut self.tls {
            let count = tls.write(bytes, &mut self.unsent)?;
            self.flush_now()?;
            return Ok(Some(count));
        }
        match net::send(&self.socket, bytes, SendFlags::NOSIGNAL) {
            Ok(count) => Ok(Some(count)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn flush(&mut self, deadline: Deadline) -> Result<(), AskError> {
        while !self.flush_now()? {
            self.wait(PollFlags::OUT, deadline)?;
        }
        Ok(())
    }

    /// Sends records that are waiting; false if some still are.
    pub(crate) fn flush_now(&mut self) -> Result<bool, AskError> {
        while !self.unsent.is_empty() {
            match net::send(&self.socket, &self.unsent, SendFlags::NOSIGNAL) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Appends what comes next to `into`, and says how much it is: nothing is the end.
    ///
    /// # Errors
    /// The connection is broken, nothing comes by the deadline, too much came before it, or there was an interrupt.
    pub fn receive(&mut self, into: &mut Vec<u8>, deadline: Deadline) -> Result<usize, AskError> {
        loop {
            // Records that came together were read together.
            if self.tls.is_some() {
                self.left(deadline)?;
                if let Some(count) = self.receive_now(into)? {
                    return Ok(count);
                }
            }
            self.wait(PollFlags::IN, deadline)?;
            if let Some(count) = self.receive_now(into)? {
                return Ok(count);
            }
        }
    }

    /// As [`ClientConnection::receive`], without a wait: absent if nothing is there, or records without text.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn receive_now(&mut self, into: &mut Vec<u8>) -> Result<Option<usize>, AskError> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let received = self.read_now(&mut chunk);
        if let Ok(Some(count)) = received {
            into.extend_from_slice(&chunk[..count]);
        }
        self.chunk = chunk;
        received
    }

    /// As much as is there and fits into `into`, out of its records with TLS. It asks the socket once: records may have no text and
    /// no end, and whoever waits for more looks at the clock.
    pub(crate) fn read_now(&mut self, into: &mut [u8]) -> Result<Option<usize>, AskError> {
        let Some(tls) = &mut self.tls else {
            let received = receive(&self.socket, into)?;
            self.came.bytes += received.unwrap_or(0);
            return Ok(received);
        };
        if let Some(count) = tls.read(into)? {
            return Ok(Some(count));
        }
        let mut records = [0; RECORD_BYTES];
        let Some(count) = receive(&self.socket, &mut records)? else { return Ok(None) };
        if count == 0 {
            // Some servers close without the alert that announces it.
            return Ok(Some(0));
        }
        self.came.bytes += count;
        tls.feed(&records[..count], &mut self.unsent)?;
        Ok(tls.read(into)?)
    }

    /// A server that writes its answer in pieces may hold the second back until the first is acknowledged, which this does
    /// without the usual 40 ms.
    pub(crate) fn acknowledge_at_once(&self) {
        let _ = sockopt::set_tcp_quickack(&self.socket, true);
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// As [`AskError`] says.
    pub fn ask(&mut self, exchange: &Exchange, deadline: Deadline) -> Result<Response, AskError> {
        self.send(&exchange.request, deadline)?;
        let (mut bytes, mut reader) = (Vec::new(), ResponseReader::new(exchange.is_head));
        loop {
            let count = self.receive(&mut bytes, deadline)?;
            if count == 0 && !reader.has_begun() {
                return Err(AskError::Closed);
            }
            if count == 0 {
                return reader.end()?.ok_or(AskError::Closed);
            }
            if let Some((response, _)) = reader.read(&bytes)? {
                return Ok(response);
            }
            // What can never be read whole is not waited for.
            if let Some(bytes) = reader.announced().filter(|bytes| *bytes > ANSWER_BYTES_MAX as u64) {
                return Err(AskError::Announced(bytes));
            }
            reader.forget(&mut bytes);
        }
    }

    /// The time that is left to read in. There is none once too much came, nor after an interrupt.
    pub(crate) fn left(&mut self, deadline: Deadline) -> Result<Duration, AskError> {
        self.came = Came { until: Some(deadline.at), bytes: self.came_before(deadline) };
        let left = deadline.left(self.came.bytes)?;
        if self.came.bytes > ANSWER_BYTES_MAX { Err(AskError::TooLong) } else { Ok(left) }
    }

    fn came_before(&self, deadline: Deadline) -> usize {
        if self.came.until == Some(deadline.at) { self.came.bytes } else { 0 }
    }

    /// Waits until the socket is ready for `what`. Looks at clock, interrupt and what came first, each time: a server that always
    /// has one byte more is not waited for, either.
    pub(crate) fn wait(&mut self, what: PollFlags, deadline: Deadline) -> Result<(), AskError> {
        loop {
            let left = match what.contains(PollFlags::IN) {
                true => self.left(deadline)?,
                // Whoever only sends begins no new count.
                false => deadline.left(self.came_before(deadline))?,
            };
            let step = left.min(INTERRUPT_SEEN_WITHIN);
            let step = Timespec { tv_sec: 0, tv_nsec: step.as_nanos() as _ };
            match poll(&mut [PollFd::new(&self.socket, what)], Some(&step)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Absent if nothing is there.
fn receive(socket: &OwnedFd, into: &mut [u8]) -> Result<Option<usize>, AskError> {
    match net::recv(socket, into, RecvFlags::DONTWAIT) {
        Ok((count, _)) => Ok(Some(count)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opens a connection in `channel`, and asks once.
///
/// # Errors
/// As [`AskError`] says.
pub fn ask_in(
    endpoint: &Endpoint,
    channel: &Channel,
    exchange: &Exchange,
    deadline: Deadline,
) -> Result<Response, AskError> {
    match channel.protocol.is_http2() {
        true => Http2Connection::open(endpoint, channel, deadline)?.ask(exchange, deadline),
        false => ClientConnection::open_in(endpoint, channel, deadline)?.ask(exchange, deadline),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Read, Write},
        net::{Shutdown, TcpListener, TcpStream},
        os::unix::net::UnixListener,
        thread::JoinHandle,
    };

    use proptest::prelude::*;

    use super::{hostile::exchange, *};

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    const LONG: Duration = Duration::from_secs(20);

    /// What is found at a server that answers so, whatever it is sent.
    fn asked(
        patience: Duration,
        answer: impl FnOnce(TcpStream) + Send + 'static,
    ) -> (Result<Response, AskError>, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Endpoint::Tcp(listener.local_addr().unwrap());
        let server = std::thread::spawn(move || answer(listener.accept().unwrap().0));
        let deadline = Deadline::after(patience);
        let mut connection = ClientConnection::open(&endpoint, deadline).unwrap();
        (connection.ask(&exchange(), deadline), server)
    }

    /// At a server that sends these chunks and closes.
    fn answered(chunks: &[&[u8]]) -> Result<Response, AskError> {
        let chunks: Vec<Vec<u8>> = chunks.iter().map(|chunk| chunk.to_vec()).collect();
        let (found, server) = asked(LONG, move |mut stream| {
            let mut request = vec![0; exchange().request.len()];
            stream.read_exact(&mut request).unwrap();
            assert_eq!(request, exchange().request);
            stream.set_nodelay(true).unwrap();
            chunks.iter().for_each(|chunk| stream.write_all(chunk).unwrap());
            stream.shutdown(Shutdown::Write).unwrap();
        });
        server.join().unwrap();
        found
    }

    #[test]
    fn an_answer_ends_with_its_body_or_with_the_connection() {
        assert_eq!(answered(&[ANSWER, b"more"]).unwrap().body, b"ok");
        let until_close = answered(&[b"HTTP/1.1 200 OK\r\n\r\n", b"o", b"k"]).unwrap();
        assert_eq!(until_close.body, b"ok");
        for chunks in [&[][..], &[&ANSWER[..ANSWER.len() - 1]]] {
            let error = answered(chunks).unwrap_err();
            assert!(matches!(error, AskError::Closed | AskError::NotHttp(_)), "{error}");
        }
        assert!(matches!(answered(&[b"SSH-2.0-x\r\n\r\n"]), Err(AskError::NotHttp(_))));
    }

    /// Sends the beginning, and then the same for ever.
    fn without_end(mut stream: TcpStream, begin: &[u8], more: &[u8], pause: Duration) {
        let mut sent = stream.write_all(begin);
        while sent.is_ok() {
            std::thread::sleep(pause);
            sent = stream.write_all(more);
        }
    }

    #[test]
    fn an_answer_without_an_end_has_one_size_for_all_of_it() {
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (begin, more) in [
            (&b"HTTP/1.1 200 OK\r\n\r\n"[..], vec![b'x'; 1 << 16]),
            (chunked, b"1\r\nx\r\n".repeat(1 << 13)),
            (b"", b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1 << 11)),
        ] {
            let began = Instant::now();
            let (found, server) =
                asked(LONG, move |stream| without_end(stream, begin, &more, Duration::ZERO));
            assert!(matches!(found, Err(AskError::TooLong)), "{found:?}");
            assert!(began.elapsed() < LONG);
            server.join().unwrap();
        }
    }

    #[test]
    fn an_answer_that_comes_byte_by_byte_has_one_deadline_for_all_of_it() {
        let began = Instant::now();
        let patience = Duration::from_millis(300);
        let (found, server) = asked(patience, |stream| {
            without_end(stream, b"HTTP/1.1 200 OK\r\nX: ", b"x", Duration::from_millis(20))
        });
        assert!(matches!(found, Err(AskError::TooLate { within, .. }) if within == patience), "{found:?}");
        assert!((patience..LONG).contains(&began.elapsed()));
        server.join().unwrap();
    }

    #[test]
    fn a_server_that_reads_nothing_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let deadline = Deadline::after(Duration::from_millis(200));
        let mut connection =
            ClientConnection::open(&listener.local_addr().unwrap().into(), deadline).unwrap();
        let sent = connection.send(&vec![b'x'; 64 << 20], deadline);
        assert!(matches!(sent, Err(AskError::TooLate { .. })), "{sent:?}");
    }

    #[test]
    fn a_unix_socket_is_asked_as_any_other_and_its_full_queue_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let endpoint = Endpoint::Unix(path);
        let mut connection = ClientConnection::open(&endpoint, Deadline::after(LONG)).unwrap();
        listener.accept().unwrap().0.write_all(ANSWER).unwrap();
        assert_eq!(
            connection.ask(&exchange(), Deadline::after(LONG)).unwrap_err().to_string(),
            "Broken pipe (os error 32)"
        );
        let mut waiting = Vec::new();
        rustix::net::listen(&listener, 0).unwrap();
        let refused = loop {
            match ClientConnection::open(&endpoint, Deadline::after(Duration::from_millis(50))) {
                Ok(connection) => waiting.push(connection),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, AskError::TooLate { .. }), "{refused}");
    }

    #[test]
    fn where_nothing_listens_there_is_no_connection() {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let refused = ClientConnection::open(&gone.into(), Deadline::after(LONG)).unwrap_err();
        assert!(matches!(&refused, AskError::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn an_answer_may_come_in_any_pieces(sizes in proptest::collection::vec(1_usize..9, 1..40)) {
            let (mut chunks, mut rest) = (Vec::new(), ANSWER);
            for size in sizes.iter().cycle() {
                let (chunk, behind) = rest.split_at(rest.len().min(*size));
                chunks.push(chunk);
                rest = behind;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(answered(&chunks).unwrap().body, b"ok");
        }
    }
}
