//! The one client for questions around a load: whether a service is ready, what it answers, whether that is right. Each question
//! has one deadline and one size for all of its answer, and an interrupt ends it at once.
//!
//! It does one thing at a time and waits for it. It knows nothing of contracts.

use std::{
    io,
    os::fd::OwnedFd,
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
use tare_host::signals;
use tare_load::{
    Endpoint, Exchange,
    http1::{ParseError, Response, ResponseReader},
};

/// No contract asks for an answer of this size, head and body together. A server that sends more may never end.
pub const ANSWER_BYTES_MAX: usize = 16 << 20;
/// What is read at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// A signal may come just before a wait begins, and is then seen this much later.
const INTERRUPT_SEEN_WITHIN: Duration = Duration::from_millis(100);
/// How long the full queue of a Unix socket is left alone.
const QUEUE_IS_FULL: Duration = Duration::from_millis(5);

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    NotHttp(#[from] ParseError),
    #[error("the connection was closed without an answer")]
    Closed,
    #[error("the answer was not complete within {0:?}")]
    TooLate(Duration),
    #[error("the answer has no end: more than {ANSWER_BYTES_MAX} bytes came")]
    TooLong,
    #[error("interrupted")]
    Interrupted,
}

impl From<Errno> for AskError {
    fn from(error: Errno) -> AskError {
        AskError::Io(error.into())
    }
}

/// Until when the whole of something must have happened.
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

    fn left(&self) -> Result<Duration, AskError> {
        let left = self.at.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(AskError::TooLate(self.patience)) } else { Ok(left) }
    }
}

/// A connection to a server.
#[derive(Debug)]
pub struct ClientConnection {
    socket: OwnedFd,
    chunk: Box<[u8]>,
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
        let connection = ClientConnection { socket, chunk: vec![0; CHUNK_BYTES].into() };
        loop {
            match net::connect(&connection.socket, &address) {
                Ok(()) => return Ok(connection),
                Err(Errno::INPROGRESS) => {
                    connection.wait(PollFlags::OUT, deadline)?;
                    sockopt::socket_error(&connection.socket)??;
                    return Ok(connection);
                }
                Err(Errno::AGAIN) => {
                    std::thread::sleep(time_left(deadline)?.min(QUEUE_IS_FULL));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// The connection is broken, the server does not take them by the deadline, or there was an interrupt.
    pub fn send(&self, mut bytes: &[u8], deadline: Deadline) -> Result<(), AskError> {
        while !bytes.is_empty() {
            self.wait(PollFlags::OUT, deadline)?;
            match net::send(&self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Appends what comes next to `into`, and says how much it is: nothing is the end.
    ///
    /// # Errors
    /// The connection is broken, nothing comes by the deadline, or there was an interrupt.
    pub fn receive(&mut self, into: &mut Vec<u8>, deadline: Deadline) -> Result<usize, AskError> {
        loop {
            self.wait(PollFlags::IN, deadline)?;
            if let Some(count) = self.receive_now(into)? {
                return Ok(count);
            }
        }
    }

    /// As [`ClientConnection::receive`], without a wait: absent if nothing is there.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn receive_now(&mut self, into: &mut Vec<u8>) -> Result<Option<usize>, AskError> {
        match net::recv(&self.socket, &mut *self.chunk, RecvFlags::DONTWAIT) {
            Ok((count, _)) => {
                into.extend_from_slice(&self.chunk[..count]);
                Ok(Some(count))
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
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
            if count == 0 && bytes.is_empty() {
                return Err(AskError::Closed);
            }
            if count == 0 {
                return reader.end()?.ok_or(AskError::Closed);
            }
            if let Some((response, _)) = reader.read(&bytes)? {
                return Ok(response);
            }
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(AskError::TooLong);
            }
        }
    }

    /// Waits until the socket is ready for `what`. Looks at clock and interrupt first, each time: a server that always has one
    /// byte more is not waited for, either.
    fn wait(&self, what: PollFlags, deadline: Deadline) -> Result<(), AskError> {
        loop {
            let step = time_left(deadline)?.min(INTERRUPT_SEEN_WITHIN);
            let step = Timespec { tv_sec: 0, tv_nsec: step.as_nanos() as _ };
            match poll(&mut [PollFd::new(&self.socket, what)], Some(&step)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn time_left(deadline: Deadline) -> Result<Duration, AskError> {
    if signals::received().is_some() { Err(AskError::Interrupted) } else { deadline.left() }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{Shutdown, TcpListener, TcpStream},
        os::unix::net::UnixListener,
        thread::JoinHandle,
    };

    use proptest::prelude::*;
    use tare_load::{Expected, ExpectedBody};

    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    const LONG: Duration = Duration::from_secs(20);

    fn exchange() -> Exchange {
        Exchange {
            request: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
            is_head: false,
            expected: Expected { status: 200, body: ExpectedBody::Any },
            name: "root".to_owned(),
            step: None,
        }
    }

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
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (begin, more) in [
            (&head[..], vec![b'x'; 1 << 16]),
            (b"HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 1 << 16]),
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
        assert!(matches!(found, Err(AskError::TooLate(late)) if late == patience), "{found:?}");
        assert!((patience..LONG).contains(&began.elapsed()));
        server.join().unwrap();
    }

    #[test]
    fn a_server_that_reads_nothing_is_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let deadline = Deadline::after(Duration::from_millis(200));
        let connection = ClientConnection::open(&listener.local_addr().unwrap().into(), deadline).unwrap();
        let sent = connection.send(&vec![b'x'; 64 << 20], deadline);
        assert!(matches!(sent, Err(AskError::TooLate(_))), "{sent:?}");
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
        assert!(matches!(refused, AskError::TooLate(_)), "{refused}");
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
