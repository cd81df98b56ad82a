//! A socket with the protocol on it: messages over TLS. One thread sends and another receives. They share the
//! state of TLS behind a mutex, which neither holds while it waits for the socket.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustls::{AlertDescription, CertificateError, Connection, Error as TlsError};
use serde::{Serialize, de::DeserializeOwned};

use crate::frame::{FrameError, Frames, MESSAGE_BYTES_MAX, framed};
use crate::message::{self, BadMessage};
use crate::tls::PROTOCOL;

/// The longest wait of a read, after which its thread checks other conditions.
pub(crate) const SLICE: Duration = Duration::from_millis(100);
/// The time limit of a write: a peer that reads makes room sooner.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const READ_BYTES: usize = 64 * 1024;

/// Why a connection is unusable.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("the connection was closed")]
    Closed,
    #[error(
        "it closed the connection without an answer, as an agent of an older Tare does: use the same version on all machines"
    )]
    Unanswered,
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    #[error("it did not greet in time")]
    TooLate,
    #[error("it does not speak {PROTOCOL}: use the same version of Tare on all machines")]
    Protocol,
    #[error("it is Tare {theirs}, and this is Tare {ours}: use the same version on all machines")]
    Version { ours: String, theirs: String },
    #[error("it has another token: give both the same --token-file")]
    WrongToken,
    #[error("it serves another run")]
    Busy,
    #[error("it sent a message out of turn")]
    OutOfTurn,
    #[error("what came is not what the other end sent")]
    Changed,
    #[error("it does not speak Tare's protocol of agents: {0}")]
    Tls(TlsError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Message(#[from] BadMessage),
}

impl From<TlsError> for ConnectionError {
    fn from(error: TlsError) -> ConnectionError {
        match error {
            TlsError::InvalidCertificate(CertificateError::ApplicationVerificationFailure)
            | TlsError::AlertReceived(AlertDescription::AccessDenied) => ConnectionError::WrongToken,
            TlsError::NoApplicationProtocol
            | TlsError::AlertReceived(AlertDescription::NoApplicationProtocol) => ConnectionError::Protocol,
            TlsError::DecryptError => ConnectionError::Changed,
            other => ConnectionError::Tls(other),
        }
    }
}

/// The half that sends.
#[derive(Debug)]
pub struct Sender {
    stream: Arc<TcpStream>,
    tls: Arc<Mutex<Connection>>,
}

/// The half that receives.
#[derive(Debug)]
pub struct Receiver {
    stream: Arc<TcpStream>,
    tls: Arc<Mutex<Connection>>,
    frames: Frames,
    buffer: Vec<u8>,
}

fn lock(tls: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    tls.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn closed_or(error: io::Error) -> ConnectionError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            ConnectionError::Closed
        }
        _ => ConnectionError::Io(error),
    }
}

/// Whether a read ended without bytes, because of its timeout or a signal.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Sets the timeouts of a socket.
pub(crate) fn set_waits(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))
}

/// Does the TLS handshake.
///
/// # Errors
/// The peer is not the expected one, or does not finish by `deadline`, which also stops peers that send one
/// byte at a time.
pub(crate) fn open(
    stream: Arc<TcpStream>,
    tls: Connection,
    deadline: Instant,
) -> Result<(Sender, Receiver), ConnectionError> {
    let tls = Arc::new(Mutex::new(tls));
    let mut sender = Sender { stream: Arc::clone(&stream), tls: Arc::clone(&tls) };
    let (frames, buffer) = (Frames::new(MESSAGE_BYTES_MAX), vec![0; READ_BYTES]);
    let mut receiver = Receiver { stream, tls, frames, buffer };
    loop {
        sender.flush()?;
        if !lock(&sender.tls).is_handshaking() {
            return Ok((sender, receiver));
        }
        if Instant::now() >= deadline {
            return Err(ConnectionError::TooLate);
        }
        if let Err(error) = receiver.take() {
            // The alert gives the peer the reason.
            let _gone = sender.flush();
            return Err(error);
        }
    }
}

impl Sender {
    /// Sends a message.
    ///
    /// # Errors
    /// It is too long, or the peer is gone.
    pub fn send<T: Serialize>(&mut self, message: &T) -> Result<(), ConnectionError> {
        let frame = framed(&message::write(message))?;
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            // TLS buffers a limited number of bytes for the socket.
            let taken = lock(&self.tls).writer().write(rest)?;
            rest = &rest[taken..];
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the pending TLS records without holding the mutex: otherwise two sides that both write long
    /// messages, and cannot read meanwhile, would wait for each other.
    fn flush(&mut self) -> Result<(), ConnectionError> {
        let mut records = Vec::new();
        let mut tls = lock(&self.tls);
        while tls.wants_write() {
            tls.write_tls(&mut records)?;
        }
        drop(tls);
        (&*self.stream).write_all(&records).map_err(closed_or)
    }

    /// Closes the connection for both halves.
    pub fn close(&self) {
        let _was_closed = self.stream.shutdown(Shutdown::Both);
    }
}

impl Receiver {
    /// How long [`Receiver::receive`] waits.
    pub const PATIENCE: Duration = SLICE;

    /// The next message; `None` if none arrives within [`Receiver::PATIENCE`]. A process that was stopped
    /// reads the messages that arrived meanwhile before it checks the time.
    ///
    /// # Errors
    /// The peer is gone, or violates the protocol.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ConnectionError> {
        loop {
            if let Some(frame) = self.frames.take()? {
                return Ok(Some(message::read(&frame)?));
            }
            if !self.take()? {
                return Ok(None);
            }
        }
    }

    /// Reads from the socket and decrypts. False if nothing arrives within [`Receiver::PATIENCE`].
    fn take(&mut self) -> Result<bool, ConnectionError> {
        match (&*self.stream).read(&mut self.buffer) {
            Ok(0) => Err(ConnectionError::Closed),
            Ok(count) => self.decrypt(count).map(|()| true),
            Err(error) if is_pause(&error) => Ok(false),
            Err(error) => Err(closed_or(error)),
        }
    }

    fn decrypt(&mut self, count: usize) -> Result<(), ConnectionError> {
        let mut tls = lock(&self.tls);
        let mut rest = &self.buffer[..count];
        while !rest.is_empty() {
            tls.read_tls(&mut rest)?;
            let mut plain = vec![0; tls.process_new_packets()?.plaintext_bytes_to_read()];
            tls.reader().read_exact(&mut plain)?;
            self.frames.push(&plain);
        }
        Ok(())
    }
}
