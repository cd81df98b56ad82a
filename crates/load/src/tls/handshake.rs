//! A TLS handshake, without I/O: bytes of the server in, bytes for the server out.

use std::fmt;

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::kernel::KernelConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{ExtractedSecrets, HandshakeKind};

use super::client::{TlsClient, TlsVersion};
use super::record::HEADER_BYTES;
use crate::negotiated::Negotiated;
use crate::tls_error::TlsError;

/// The largest handshake: longer than the longest certificate chain that servers show.
const INCOMING_BYTES_MAX: usize = 256 * 1024;

/// The result of a complete handshake.
pub(super) struct Established {
    pub(super) secrets: ExtractedSecrets,
    /// Derives later keys, and handles tickets.
    pub(super) keeper: KernelConnection<ClientConnectionData>,
    pub(super) kind: HandshakeKind,
    pub(super) negotiated: Negotiated,
    /// The bytes that arrived after the handshake.
    pub(super) rest: Vec<u8>,
}

pub(super) struct Handshake {
    connection: UnbufferedClientConnection,
    incoming: Vec<u8>,
    /// Whether the first bytes of the server were those of TLS.
    is_tls: bool,
    /// How received bytes are passed to rustls.
    giving: Giving,
}

/// How many received bytes are passed to rustls at a time. It must not consume bytes after the handshake.
#[derive(Debug, Clone, Copy)]
enum Giving {
    /// All bytes: in TLS 1.3 the client sends the last handshake message, so rustls stops before the
    /// following records.
    All,
    /// Record by record: in TLS 1.2 the server sends the last message. `given` bytes at the front were
    /// passed, and are still needed.
    Records { given: usize },
}

impl Giving {
    fn of(version: TlsVersion) -> Giving {
        match version {
            TlsVersion::Tls13 => Giving::All,
            TlsVersion::Tls12 => Giving::Records { given: 0 },
        }
    }

    /// The number of received bytes to pass.
    fn bytes(self, incoming: &[u8]) -> usize {
        match self {
            Giving::All => incoming.len(),
            Giving::Records { given } => given,
        }
    }

    fn discard(&mut self, bytes: usize) {
        if let Giving::Records { given } = self {
            *given -= bytes;
        }
    }

    /// Passes one more record, if there is one.
    fn give_more(&mut self, incoming: &[u8]) -> bool {
        let Giving::Records { given } = self else { return false };
        let rest = &incoming[*given..];
        let more = match rest.first_chunk() {
            Some([_, _, _, high, low]) => HEADER_BYTES + usize::from(u16::from_be_bytes([*high, *low])),
            None => return false,
        };
        let has_come = more <= rest.len();
        if has_come {
            *given += more;
        }
        has_come
    }
}

impl fmt::Debug for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handshake").field("incoming", &self.incoming.len()).finish_non_exhaustive()
    }
}

impl Handshake {
    /// Begins a handshake; its first message is appended to `out`.
    pub(super) fn begin(client: &TlsClient, out: &mut Vec<u8>) -> Result<Handshake, TlsError> {
        let mut handshake = Handshake {
            connection: client.begin()?,
            incoming: Vec::new(),
            is_tls: false,
            giving: Giving::of(client.version()),
        };
        handshake.advance(out)?;
        Ok(handshake)
    }

    /// Processes bytes of the server. Answers, and an alert on failure, are appended to `out`.
    pub(super) fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<bool, TlsError> {
        if self.incoming.len() + bytes.len() > INCOMING_BYTES_MAX {
            return Err(TlsError::HandshakeTooLong { bytes_max: INCOMING_BYTES_MAX });
        }
        self.incoming.extend_from_slice(bytes);
        if !self.is_tls {
            TlsError::of_first_bytes(&self.incoming).map_or(Ok(()), Err)?;
            self.is_tls = self.incoming.len() > 1;
        }
        self.advance(out)
    }

    /// Advances as far as the bytes allow. Returns whether the handshake is complete.
    fn advance(&mut self, out: &mut Vec<u8>) -> Result<bool, TlsError> {
        loop {
            let is_over = !self.connection.is_handshaking();
            let given = if is_over { 0 } else { self.giving.bytes(&self.incoming) };
            let input = &mut self.incoming[..given];
            let UnbufferedStatus { discard, state, .. } = self.connection.process_tls_records(input);
            let step = match state {
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    encode(out, |room| data.encode(room))?;
                    None
                }
                Ok(ConnectionState::TransmitTlsData(data)) => {
                    data.done();
                    None
                }
                Ok(ConnectionState::BlockedHandshake) => Some(false),
                Ok(ConnectionState::WriteTraffic(_)) => Some(is_over),
                Ok(_) => return Err(TlsError::ClosedInHandshake),
                Err(error) => {
                    self.incoming.drain(..discard);
                    self.encode_alert(out);
                    return Err(error.into());
                }
            };
            self.incoming.drain(..discard);
            self.giving.discard(discard);
            match step {
                None => {}
                Some(true) => return Ok(true),
                // The server sent the last handshake message.
                Some(false) if !is_over && !self.connection.is_handshaking() => {}
                Some(false) if self.giving.give_more(&self.incoming) => {}
                Some(false) => return Ok(false),
            }
        }
    }

    /// Appends the alert for a failure. Only the alert is encoded: further steps would continue to read,
    /// although the handshake has failed.
    fn encode_alert(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            let UnbufferedStatus { discard, state, .. } =
                self.connection.process_tls_records(&mut self.incoming);
            let Ok(ConnectionState::EncodeTlsData(mut data)) = state else { return };
            if encode(out, |room| data.encode(room)).is_err() {
                return;
            }
            self.incoming.drain(..discard);
        }
    }

    /// The connection after a complete handshake.
    pub(super) fn establish(self, client: &TlsClient) -> Result<Established, TlsError> {
        client.accepts(self.connection.alpn_protocol())?;
        let negotiated = Negotiated::of(&self.connection, client.has_certificate());
        let kind = self.connection.handshake_kind().unwrap_or(HandshakeKind::Full);
        let (secrets, keeper) = self.connection.dangerous_into_kernel_connection()?;
        Ok(Established { secrets, keeper, kind, negotiated, rest: self.incoming })
    }
}

/// Appends the output of `write`, which reports the needed size if the room is too small.
fn encode(
    out: &mut Vec<u8>,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>,
) -> Result<(), TlsError> {
    let begin = out.len();
    let mut room = 1024;
    loop {
        out.resize(begin + room, 0);
        match write(&mut out[begin..]) {
            Ok(written) => {
                out.truncate(begin + written);
                return Ok(());
            }
            Err(EncodeError::InsufficientSize(needed)) => room = needed.required_size,
            Err(EncodeError::AlreadyEncoded) => {
                out.truncate(begin);
                return Err(rustls::Error::General("a message was encoded twice".to_owned()).into());
            }
        }
    }
}
