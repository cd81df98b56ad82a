//! A connection after its handshake, without I/O: records in, text out, and vice versa.

use std::fmt;
use std::ops::Range;

use rustls::ConnectionTrafficSecrets;
use rustls::client::ClientConnectionData;
use rustls::kernel::KernelConnection;

use super::handshake::Established;
use super::record::{self, Content, Keys};
use crate::tls_error::TlsError;

/// The longest message after a handshake, which is a ticket.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;
const CLOSE_NOTIFY: u8 = 0;
/// A warning before the end (RFC 8446, 6.1): the JDK sends it before each `close_notify`.
const USER_CANCELED: u8 = 90;
/// The number of records per key, as in rustls (RFC 8446, section 5.5). Tests use a small number.
const RECORDS_MAX: u64 = if cfg!(test) { 10 } else { 1 << 24 };

/// The place of the text of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Text {
    /// In the bytes passed by the caller.
    Given(Range<usize>),
    /// In the record that arrived in pieces.
    Carried(Range<usize>),
}

/// The result of reading bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Read {
    Text(Text),
    /// The peer will send no more.
    Closed,
    /// All bytes are read, or kept until the rest of the record arrives.
    Nothing,
}

pub(super) struct TlsSession {
    rx: Keys,
    tx: Keys,
    keeper: KernelConnection<ClientConnectionData>,
    /// A record of which only the beginning arrived, or one in pieces that was read last.
    carry: Vec<u8>,
    /// Whether `carry` holds a record that has been read.
    is_read: bool,
    /// A handshake message of which only the beginning arrived.
    message: Vec<u8>,
    /// The reply to a key update, which has to be sent to the peer.
    pub(super) reply: Vec<u8>,
}

impl fmt::Debug for TlsSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsSession").field("rx", &self.rx).field("tx", &self.tx).finish_non_exhaustive()
    }
}

impl TlsSession {
    pub(super) fn new(established: Established) -> Result<TlsSession, TlsError> {
        let Established { secrets, keeper, rest, .. } = established;
        let version = keeper.protocol_version();
        Ok(TlsSession {
            rx: Keys::new(version, secrets.rx)?,
            tx: Keys::new(version, secrets.tx)?,
            keeper,
            carry: rest,
            is_read: false,
            message: Vec::new(),
            reply: Vec::new(),
        })
    }

    fn keys(&self, secrets: (u64, ConnectionTrafficSecrets)) -> Result<Keys, TlsError> {
        Keys::new(self.keeper.protocol_version(), secrets)
    }

    #[inline]
    pub(super) fn alert_record_bytes(&self) -> usize {
        self.rx.alert_record_bytes()
    }

    /// Whether a whole record is kept unread: it arrived with the end of the handshake.
    pub(super) fn has_carried_record(&self) -> bool {
        let read = if self.is_read { self.read_length() } else { 0 };
        let rest = self.carry.get(read..).unwrap_or_default();
        match self.rx.length(rest) {
            Ok(Some(length)) => length <= rest.len(),
            Ok(None) => false,
            // The next read finds the error.
            Err(_) => true,
        }
    }

    /// The length of the carried record that was read.
    fn read_length(&self) -> usize {
        self.rx.length(&self.carry).ok().flatten().unwrap_or(self.carry.len())
    }

    /// Appends the records of `text` to `out`.
    #[inline]
    pub(super) fn seal(&mut self, text: &[u8], out: &mut Vec<u8>) {
        if self.tx.records() >= RECORDS_MAX {
            self.renew_keys(out);
        }
        self.tx.seal(Content::Data, text, out);
    }

    /// Switches to the next keys for sending, and announces them.
    #[cold]
    fn renew_keys(&mut self, out: &mut Vec<u8>) {
        // TLS 1.2 has no key updates: a connection lasts as long as its keys.
        let Ok(next) =
            self.keeper.update_tx_secret().map_err(TlsError::from).and_then(|next| self.keys(next))
        else {
            return;
        };
        self.tx.seal(Content::Handshake, &[KEY_UPDATE, 0, 0, 1, 0], out);
        self.tx = next;
    }

    /// Appends the `close_notify` record.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        self.tx.seal(Content::Alert, &[1, CLOSE_NOTIFY], out);
    }

    /// The text of the last record that arrived in pieces.
    #[inline]
    pub(super) fn carried(&self, range: Range<usize>) -> &[u8] {
        &self.carry[range]
    }

    /// The same text, to be decrypted in place by the caller.
    pub(super) fn carried_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        &mut self.carry[range]
    }

    /// Reads the next text of `bytes` from `at` on, and advances `at`.
    #[inline]
    pub(super) fn read(&mut self, bytes: &mut [u8], at: &mut usize) -> Result<Read, TlsError> {
        loop {
            if std::mem::take(&mut self.is_read) {
                self.carry_on();
            }
            let (content, text) = if self.carry.is_empty() {
                let rest = &mut bytes[*at..];
                match self.rx.length(rest)? {
                    Some(length) if length <= rest.len() => {
                        let (content, text) = self.rx.open(&mut rest[..length])?;
                        let begin = *at;
                        *at += length;
                        (content, Text::Given(begin + text.start..begin + text.end))
                    }
                    _ => {
                        self.carry.extend_from_slice(rest);
                        *at = bytes.len();
                        return Ok(Read::Nothing);
                    }
                }
            } else {
                let Some(length) = self.complete(bytes, at)? else { return Ok(Read::Nothing) };
                let (content, text) = self.rx.open(&mut self.carry[..length])?;
                self.is_read = true;
                (content, Text::Carried(text))
            };
            match (content, &text) {
                (Content::Data, Text::Given(range) | Text::Carried(range)) if range.is_empty() => {}
                (Content::Data, _) => return Ok(Read::Text(text)),
                (Content::Alert, text) => {
                    let body = match text {
                        Text::Given(range) => &bytes[range.clone()],
                        Text::Carried(range) => &self.carry[range.clone()],
                    };
                    if let Some(end) = alert(body)? {
                        return Ok(end);
                    }
                }
                (Content::Handshake, Text::Given(range)) => {
                    self.message.extend_from_slice(&bytes[range.clone()]);
                    self.messages()?;
                }
                (Content::Handshake, Text::Carried(range)) => {
                    self.message.extend_from_slice(&self.carry[range.clone()]);
                    self.messages()?;
                }
            }
        }
    }

    /// Completes the record that was begun. Returns its length once it is complete.
    fn complete(&mut self, bytes: &[u8], at: &mut usize) -> Result<Option<usize>, TlsError> {
        loop {
            let wanted = self.rx.length(&self.carry)?.unwrap_or(record::HEADER_BYTES);
            let missing = wanted.saturating_sub(self.carry.len());
            if missing == 0 && wanted > record::HEADER_BYTES {
                return Ok(Some(wanted));
            }
            let take = missing.min(bytes.len() - *at);
            if take == 0 {
                return match missing {
                    // A record without a body, which no AEAD produces.
                    0 => Err(TlsError::Undecryptable),
                    _ => Ok(None),
                };
            }
            self.carry.extend_from_slice(&bytes[*at..*at + take]);
            *at += take;
        }
    }

    /// Drops the carried record that was read. Records from the end of the handshake may follow.
    fn carry_on(&mut self) {
        let length = self.read_length().min(self.carry.len());
        self.carry.drain(..length);
    }

    /// Handles complete messages after the handshake.
    #[cold]
    fn messages(&mut self) -> Result<(), TlsError> {
        while let Some(&[kind, high, middle, low]) = self.message.first_chunk::<4>() {
            let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
            if length > MESSAGE_BYTES_MAX {
                return Err(TlsError::HandshakeTooLong { bytes_max: MESSAGE_BYTES_MAX });
            }
            let Some(body) = self.message.get(4..4 + length) else { return Ok(()) };
            match kind {
                NEW_SESSION_TICKET => self.keeper.handle_new_session_ticket(body)?,
                KEY_UPDATE => {
                    let asks_for_ours = match body {
                        [0] => false,
                        [1] => true,
                        _ => return Err(TlsError::Unexpected { what: "message", kind }),
                    };
                    if self.message.len() > 4 + length {
                        // Later data is sealed with the next keys, so this record must end here.
                        return Err(TlsError::Unexpected { what: "message", kind });
                    }
                    let next = self.keeper.update_rx_secret()?;
                    self.rx = self.keys(next)?;
                    if asks_for_ours {
                        self.tx.seal(Content::Handshake, &[KEY_UPDATE, 0, 0, 1, 0], &mut self.reply);
                        let next = self.keeper.update_tx_secret()?;
                        self.tx = self.keys(next)?;
                    }
                }
                kind => return Err(TlsError::Unexpected { what: "message", kind }),
            }
            self.message.drain(..4 + length);
        }
        Ok(())
    }
}

/// The result of an alert, if it ends the connection.
fn alert(body: &[u8]) -> Result<Option<Read>, TlsError> {
    match body {
        [_, CLOSE_NOTIFY] => Ok(Some(Read::Closed)),
        [_, USER_CANCELED] => Ok(None),
        [_, kind] => Err(TlsError::Alert(*kind)),
        _ => Err(TlsError::Undecryptable),
    }
}
