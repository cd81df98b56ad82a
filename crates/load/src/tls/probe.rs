//! A connection over TLS without a driver, for those who try it with foreign bytes.

use rustls::{ExtractedSecrets, ProtocolVersion};

use super::client::TlsClient;
use super::handshake::Handshake;
use super::record::{Content, Keys};
use super::session::{Read, Text, TlsSession};
use crate::tls_error::TlsError;

/// The client's side.
#[derive(Debug)]
pub struct Probe(Option<Side>);

#[derive(Debug)]
enum Side {
    Handshaking(Box<Handshake>),
    Open(Box<TlsSession>),
}

impl Probe {
    /// A client, whose first bytes are appended to `out`.
    ///
    /// # Errors
    /// The library makes no connection.
    pub fn begin(client: &TlsClient, out: &mut Vec<u8>) -> Result<Probe, TlsError> {
        Handshake::begin(client, out).map(|handshake| Probe(Some(Side::Handshaking(Box::new(handshake)))))
    }

    /// Takes bytes of the server. Text is appended to `text`, and what is to be sent to `out`. Says whether the server has ended it.
    ///
    /// # Errors
    /// What the server did ends the connection.
    pub fn take(
        &mut self,
        client: &TlsClient,
        bytes: &mut [u8],
        text: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<bool, TlsError> {
        match self.0.take() {
            Some(Side::Open(mut session)) => {
                let is_over = read(&mut session, bytes, text, out)?;
                self.0 = (!is_over).then_some(Side::Open(session));
                Ok(is_over)
            }
            Some(Side::Handshaking(mut handshake)) => {
                if !handshake.take(bytes, out)? {
                    self.0 = Some(Side::Handshaking(handshake));
                    return Ok(false);
                }
                let session = TlsSession::new(handshake.establish(client)?)?;
                self.0 = Some(Side::Open(Box::new(session)));
                self.take(client, &mut [], text, out)
            }
            None => Ok(true),
        }
    }
}

fn read(
    session: &mut TlsSession,
    bytes: &mut [u8],
    text: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<bool, TlsError> {
    let mut at = 0;
    loop {
        let read = session.read(bytes, &mut at)?;
        out.append(&mut session.reply);
        match read {
            Read::Text(Text::Given(range)) => text.extend_from_slice(&bytes[range]),
            Read::Text(Text::Carried(range)) => text.extend_from_slice(session.carried(range)),
            Read::Closed => return Ok(true),
            Read::Nothing => return Ok(false),
        }
    }
}

/// Seals whatever a server could, with its keys.
#[derive(Debug)]
pub struct Forger(Keys);

impl Forger {
    /// With the secrets of a server, after the handshake.
    ///
    /// # Errors
    /// The suite has no AEAD that is known.
    pub fn new(secrets: ExtractedSecrets) -> Result<Forger, TlsError> {
        Keys::new(ProtocolVersion::TLSv1_3, secrets.tx).map(Forger)
    }

    /// Appends a record with text.
    pub fn text(&mut self, text: &[u8], out: &mut Vec<u8>) {
        self.0.seal_one(Content::Data, text, out);
    }

    /// Appends a record with messages of the handshake.
    pub fn messages(&mut self, messages: &[u8], out: &mut Vec<u8>) {
        self.0.seal_one(Content::Handshake, messages, out);
    }

    /// Appends a record with an alert.
    pub fn alert(&mut self, alert: &[u8], out: &mut Vec<u8>) {
        self.0.seal_one(Content::Alert, alert, out);
    }
}
