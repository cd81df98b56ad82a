//! A handshake, without I/O: bytes of the server in, bytes for it out.

use std::fmt;

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::kernel::KernelConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, UnbufferedStatus};
use rustls::{ExtractedSecrets, HandshakeKind};

use super::client::{TlsClient, TlsVersion};
use super::record::HEADER_BYTES;
use crate::negotiated::Negotiated;
use crate::tls_error::TlsError;

/// More than the longest chain of certificates that servers show.
const INCOMING_BYTES_MAX: usize = 256 * 1024;

/// What is left of a handshake.
pub(super) struct Established {
    pub(super) secrets: ExtractedSecrets,
    /// Knows the keys that follow these, and what to do with tickets.
    pub(super) keeper: KernelConnection<ClientConnectionData>,
    pub(super) kind: HandshakeKind,
    pub(super) negotiated: Negotiated,
    /// What came after the handshake.
    pub(super) rest: Vec<u8>,
}

pub(super) struct Handshake {
    connection: UnbufferedClientConnection,
    incoming: Vec<u8>,
    /// Whether the first bytes of the server were those of TLS.
    is_tls: bool,
    /// How rustls is given what came.
    giving: Giving,
}

/// How much of what came rustls is given at a time. What follows the handshake is not its to read.
#[derive(Debug, Clone, Copy)]
enum Giving {
    /// All: in TLS 1.3 the client has the last word, so that rustls stops before what follows.
    All,
    /// Record by record, since in TLS 1.2 the server has it. `given` bytes at the front were given, and are still of use.
    Records { given: usize },
}

impl Giving {
    fn of(version: TlsVersion) -> Giving {
        match version {
            TlsVersion::Tls13 => Giving::All,
            TlsVersion::Tls12 => Giving::Records { given: 0 },
        }
    }

    /// How much is given of what came.
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

    /// Gives one more record, if there is one.
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
    /// Begins a handshake, whose first message is put into `out`.
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

    /// Takes bytes of the server. Answers are put into `out`, an alert too if it fails.
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

    /// Goes on as far as the bytes allow. Says whether it is complete.
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
                // The server has had the last word.
                Some(false) if !is_over && !self.connection.is_handshaking() => {}
                Some(false) if self.giving.give_more(&self.incoming) => {}
                Some(false) => return Ok(false),
            }
        }
    }

    /// What rustls has to say to the server about a failure. Asked for more than that it would read on, and it has failed.
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

    /// What goes on after a complete handshake.
    pub(super) fn establish(self, client: &TlsClient) -> Result<Established, TlsError> {
        client.accepts(self.connection.alpn_protocol())?;
        let negotiated = Negotiated::of(&self.connection, client.has_certificate());
        let kind = self.connection.handshake_kind().unwrap_or(HandshakeKind::Full);
        let (secrets, keeper) = self.connection.dangerous_into_kernel_connection()?;
        Ok(Established { secrets, keeper, kind, negotiated, rest: self.incoming })
    }
}

/// Appends what `write` writes, which says how much room it needs if that is too little.
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
