//! The client for all requests outside a load: readiness and verification. Each request has one deadline and
//! one size limit for its whole answer, and an interrupt ends it at once.
//!
//! It is blocking, handles one request at a time, and knows nothing of contracts.

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
use tare_base::Endpoint;
use tare_host::signals;
use tare_load::{
    Exchange, TlsError,
    http1::{Malformed, Response, ResponseReader},
};

pub use channel::{Channel, Trusts};
pub use error::{AskError, ClientHttp2Error, NotHttp2};
pub(crate) use http2::{Awaited, Http2Connection};
pub use spoken::{BEGIN_HTTP, Spoken, spoken_instead};
pub use tls::Secured;
use tls::Tls;
pub(crate) use tls::client_hello;
pub(crate) use translate::{OF_ONE_CONNECTION, STATUS, text as text_of};

/// The first bytes of an HTTP/2 client: the preface, and empty SETTINGS (RFC 9113, 3.4).
pub(crate) const PREFACE: [&[u8]; 2] = [tare_base::http2::PREFACE, &[0, 0, 0, 4, 0, 0, 0, 0, 0]];

/// Limit of an answer, head and body together. Contracts need less, and a larger answer may never end.
pub const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Size of one read.
const CHUNK_BYTES: usize = 64 * 1024;
/// About one record of TLS.
const RECORD_BYTES: usize = 17 * 1024;
/// Number of first bytes that are stored.
const BEGINNING_BYTES: usize = 64;
/// Delay after which a signal is noticed that comes right before a wait.
const INTERRUPT_SEEN_WITHIN: Duration = Duration::from_millis(100);
/// Pause if the queue of a Unix socket is full.
const QUEUE_IS_FULL: Duration = Duration::from_millis(5);

/// The deadline of a whole action, which may receive at most [`ANSWER_BYTES_MAX`] bytes.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
    patience: Duration,
}

impl Deadline {
    /// A deadline `patience` from now.
    pub fn after(patience: Duration) -> Deadline {
        let now = Instant::now();
        Deadline { at: now.checked_add(patience).unwrap_or(now + Duration::from_secs(86_400)), patience }
    }

    /// The time left; an error after the deadline or an interrupt. `bytes` is the amount received so far.
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
    /// TLS records that the socket did not accept yet.
    unsent: Vec<u8>,
    came: Came,
    /// The first received bytes, below TLS: they show the server's protocol.
    beginning: Vec<u8>,
}

/// Bytes received before the current deadline; a new deadline restarts the count.
#[derive(Debug, Default)]
struct Came {
    until: Option<Instant>,
    bytes: usize,
}

impl ClientConnection {
    /// Connects, even if the server's queue is full for a while.
    ///
    /// # Errors
    /// Nothing listens there, no connection is accepted by the deadline, or an interrupt came.
    pub fn open(endpoint: &Endpoint, deadline: Deadline) -> Result<ClientConnection, AskError> {
        let address = endpoint.address()?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(address.address_family(), SocketType::STREAM, flags, None)?;
        if matches!(endpoint, Endpoint::Tcp(_)) {
            // Each write becomes a segment, as requests that are split on purpose must arrive split.
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

    /// Also makes a TLS connection, if the channel has TLS. The server then chooses the protocol by ALPN.
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
        // A server without ALPN speaks HTTP/1.1.
        let is_right = chosen.as_deref().map_or(!channel.protocol.is_http2(), |chosen| chosen == wanted);
        let word = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        match is_right {
            true => Ok(secured),
            false => Err(TlsError::Alpn { wanted: word(wanted), chosen: chosen.as_deref().map(word) }.into()),
        }
    }

    /// Starts TLS on the connection.
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
                    // Sends the alert with the reason, if possible.
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

    /// The TLS parameters, if it has TLS.
    pub fn secured(&self) -> Option<Secured> {
        self.tls.as_ref().map(|tls| tls.secured())
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// The connection is broken, the server does not accept the bytes by the deadline, or an interrupt came.
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

    /// Sends some of `bytes` without waiting and returns their number; with TLS, those put into records.
    /// Absent if none can be sent now.
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

    /// Sends waiting records; false if some remain.
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

    /// Appends the next bytes to `into` and returns their number; 0 at the end.
    ///
    /// # Errors
    /// The connection is broken, no bytes come by the deadline, too many came before, or an interrupt.
    pub fn receive(&mut self, into: &mut Vec<u8>, deadline: Deadline) -> Result<usize, AskError> {
        loop {
            // Several records may have been read at once.
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

    /// As [`ClientConnection::receive`], without waiting. Absent if there is no text.
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

    /// Reads the available bytes into `into`, decrypted. It reads the socket once: there may be endless
    /// records without text, so the caller must check the clock.
    pub(crate) fn read_now(&mut self, into: &mut [u8]) -> Result<Option<usize>, AskError> {
        let read = self.read_text(into)?;
        let room = BEGINNING_BYTES.saturating_sub(self.beginning.len());
        self.beginning.extend_from_slice(&into[..read.unwrap_or(0).min(room)]);
        Ok(read)
    }

    /// The first received bytes.
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
            // Some servers close without the TLS alert for it.
            return Ok(Some(0));
        }
        self.came.bytes += count;
        tls.feed(&records[..count], &mut self.unsent)?;
        Ok(tls.read(into)?)
    }

    /// A server that writes its answer in pieces may delay the second until the first is acknowledged. This
    /// acknowledges at once, instead of after the usual 40 ms.
    pub(crate) fn acknowledge_at_once(&self) {
        let _ = sockopt::set_tcp_quickack(&self.socket, true);
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// See [`AskError`].
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
            // An answer that is too long is not read.
            if let Some(bytes) = reader.announced().filter(|bytes| *bytes > ANSWER_BYTES_MAX as u64) {
                return Err(AskError::Announced(bytes));
            }
            reader.forget(&mut bytes);
        }
    }

    /// Checks that no bytes follow the answer, which a load would treat as an error.
    ///
    /// # Errors
    /// Bytes followed. Those still in transit are not waited for.
    pub fn ensure_quiet(
        &mut self,
        response: &Response,
        is_to_head: bool,
        mut behind: Vec<u8>,
    ) -> Result<(), AskError> {
        // How the connection ends does not matter here.
        let _end = self.receive_now(&mut behind);
        match behind.as_slice() {
            [] => Ok(()),
            behind => Err(Malformed::left_over(response.status, is_to_head, behind).into()),
        }
    }

    /// The alert that TLS received before the connection broke.
    fn last_word(&mut self) -> Option<AskError> {
        self.tls.as_ref()?;
        self.receive_now(&mut Vec::new()).err().filter(|error| matches!(error, AskError::Tls(_)))
    }

    /// The time left for reading; an error after too many bytes or an interrupt.
    pub(crate) fn left(&mut self, deadline: Deadline) -> Result<Duration, AskError> {
        self.came = Came { until: Some(deadline.at), bytes: self.came_before(deadline) };
        let left = deadline.left(self.came.bytes)?;
        if self.came.bytes > ANSWER_BYTES_MAX { Err(AskError::TooLong) } else { Ok(left) }
    }

    fn came_before(&self, deadline: Deadline) -> usize {
        if self.came.until == Some(deadline.at) { self.came.bytes } else { 0 }
    }

    /// Waits until the socket is ready for `what`. It first checks clock, interrupt and size each time, so an
    /// endless sender cannot hold it.
    pub(crate) fn wait(&mut self, what: PollFlags, deadline: Deadline) -> Result<(), AskError> {
        loop {
            let left = match what.contains(PollFlags::IN) {
                true => self.left(deadline)?,
                // Sending alone does not restart the count.
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

/// Absent if there are no bytes.
fn receive(socket: &OwnedFd, into: &mut [u8]) -> Result<Option<usize>, AskError> {
    match net::recv(socket, into, RecvFlags::DONTWAIT) {
        Ok((count, _)) => Ok(Some(count)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Opens a connection in `channel` and sends one request.
///
/// # Errors
/// See [`AskError`].
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
