//! A TLS connection without a driver, for tests with foreign bytes such as fuzzing.

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
    /// Starts a client, whose first bytes are appended to `out`.
    ///
    /// # Errors
    /// rustls cannot make a connection.
    pub fn begin(client: &TlsClient, out: &mut Vec<u8>) -> Result<Probe, TlsError> {
        Handshake::begin(client, out).map(|handshake| Probe(Some(Side::Handshaking(Box::new(handshake)))))
    }

    /// Processes bytes of the server. Plain text is appended to `text`, and output to `out`. Returns whether
    /// the server has ended the connection.
    ///
    /// # Errors
    /// The server's error ends the connection.
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

/// Seals any record that a server could send, with its keys.
#[derive(Debug)]
pub struct Forger(Keys);

impl Forger {
    /// Starts from the secrets of a server, after the handshake.
    ///
    /// # Errors
    /// The AEAD of the suite is not supported.
    pub fn new(secrets: ExtractedSecrets) -> Result<Forger, TlsError> {
        Keys::new(ProtocolVersion::TLSv1_3, secrets.tx).map(Forger)
    }

    /// Appends a record with application data.
    pub fn text(&mut self, text: &[u8], out: &mut Vec<u8>) {
        self.0.seal_one(Content::Data, text, out);
    }

    /// Appends a record with handshake messages.
    pub fn messages(&mut self, messages: &[u8], out: &mut Vec<u8>) {
        self.0.seal_one(Content::Handshake, messages, out);
    }

    /// Appends a record with an alert.
    pub fn alert(&mut self, alert: &[u8], out: &mut Vec<u8>) {
        self.0.seal_one(Content::Alert, alert, out);
    }
}
