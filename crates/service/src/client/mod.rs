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
mod spoken;
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
    net::{self, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt},
};
use rustls::{ClientConfig, pki_types::ServerName};
use tare_host::signals;
use tare_load::{
    Endpoint, Exchange, TlsError,
    http1::{Malformed, Response, ResponseReader},
};

pub use channel::{Channel, Trusts};
pub use error::{AskError, Http2Error, NotHttp2};
pub(crate) use http2::{Awaited, Http2Connection};
pub use spoken::{BEGIN_HTTP, Spoken, spoken_instead};
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
/// How much of the beginning of what came is kept.
const BEGINNING_BYTES: usize = 64;
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
        let too_late = AskError::TooLate { within: self.patience, bytes, progress: None };
        if left.is_zero() { Err(too_late) } else { Ok(left) }
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
    /// The first bytes of what came, without TLS: they tell what is spoken there.
    beginning: Vec<u8>,
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
        let address = endpoint.address()?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(address.address_family(), SocketType::STREAM, flags, None)?;
        if matches!(endpoint, Endpoint::Tcp(_)) {
            // Each write is a segment of its own: what is cut on purpose must arrive as it was cut.
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        let mut connection = ClientConnection {
            socket,
            chunk: vec![0; CHUNK_BYTES].into(),
            tls: None,
            unsent: Vec::new(),
            came: Came::default(),
            beginning: Vec::new(),
        };
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
        let chosen = secured.secured().and_then(|secured| secured.alpn);
        let wanted = channel.protocol.alpn().unwrap_or_default();
        // A server that knows no ALPN speaks HTTP/1.1.
        let is_right = chosen.as_deref().map_or(!channel.protocol.is_http2(), |chosen| chosen == wanted);
        let word = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        match is_right {
            true => Ok(secured),
            false => Err(TlsError::Alpn { wanted: word(wanted), chosen: chosen.as_deref().map(word) }.into()),
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
                Some(0) => return Err(TlsError::ClosedInHandshake.into()),
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
        let read = self.read_text(into)?;
        let room = BEGINNING_BYTES.saturating_sub(self.beginning.len());
        self.beginning.extend_from_slice(&into[..read.unwrap_or(0).min(room)]);
        Ok(read)
    }

    /// The first bytes of what came.
    pub(crate) fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    fn read_text(&mut self, into: &mut [u8]) -> Result<Option<usize>, AskError> {
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
        if let Err(error) = self.send(&exchange.request, deadline) {
            return Err(self.last_word().unwrap_or(error));
        }
        let (mut bytes, mut reader) = (Vec::new(), ResponseReader::new(exchange.is_head));
        loop {
            let received = self.receive(&mut bytes, deadline);
            match received.map_err(|error| error.after(reader.progress()))? {
                0 if !reader.has_begun() => return Err(AskError::Closed),
                0 => {
                    let progress = reader.progress();
                    return reader.end().ok().flatten().ok_or(AskError::Cut(progress));
                }
                _ => {}
            }
            let read = reader.read(&bytes).map_err(|error| reader.malformed(error, &bytes))?;
            if let Some((response, used)) = read {
                let rest = bytes.split_off(used);
                self.ensure_quiet(&response, exchange.is_head, rest)?;
                return Ok(response);
            }
            // What can never be read whole is not waited for.
            if let Some(bytes) = reader.announced().filter(|bytes| *bytes > ANSWER_BYTES_MAX as u64) {
                return Err(AskError::Announced(bytes));
            }
            reader.forget(&mut bytes);
        }
    }

    /// An answer that a load would refuse is none: nothing may have come behind it.
    ///
    /// # Errors
    /// Something did. What is still on its way is not waited for.
    pub fn ensure_quiet(
        &mut self,
        response: &Response,
        is_to_head: bool,
        mut behind: Vec<u8>,
    ) -> Result<(), AskError> {
        // How the connection ends is not of this answer.
        let _end = self.receive_now(&mut behind);
        match behind.as_slice() {
            [] => Ok(()),
            behind => Err(Malformed::left_over(response.status, is_to_head, behind).into()),
        }
    }

    /// What TLS says of a connection that takes no more: its alert came before.
    fn last_word(&mut self) -> Option<AskError> {
        self.tls.as_ref()?;
        self.receive_now(&mut Vec::new()).err().filter(|error| matches!(error, AskError::Tls(_)))
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
mod tests;
