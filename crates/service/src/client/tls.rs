//! TLS for a connection: encodes writes as records and decodes received records. It does no I/O.

use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    sync::Arc,
};

use rustls::{ClientConfig, pki_types::ServerName};
use tare_load::TlsError;

use super::AskError;

/// One side of a TLS connection.
#[derive(Debug)]
pub(super) struct Tls {
    session: rustls::ClientConnection,
    /// The server's first bytes, until it is known whether they are TLS.
    beginning: Vec<u8>,
    is_tls: bool,
    /// Decrypted text. The session itself holds one record only, and several may arrive together.
    text: VecDeque<u8>,
}

/// The TLS parameters after the handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secured {
    /// The protocol chosen by ALPN, if any.
    pub alpn: Option<Vec<u8>>,
    pub version: Option<rustls::ProtocolVersion>,
    /// The certificate of the server itself.
    pub leaf: Option<Vec<u8>>,
}

/// The ClientHello.
pub(crate) fn client_hello(
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
) -> Result<Vec<u8>, AskError> {
    let mut records = Vec::new();
    Tls::new(config, name)?.take(&mut records)?;
    Ok(records)
}

impl Tls {
    /// `name` is the name that the server's certificate must have.
    pub(super) fn new(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Tls, AskError> {
        let session = rustls::ClientConnection::new(config, name)?;
        Ok(Tls { session, beginning: Vec::new(), is_tls: false, text: VecDeque::new() })
    }

    pub(super) fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    pub(super) fn secured(&self) -> Secured {
        Secured {
            alpn: self.session.alpn_protocol().map(<[u8]>::to_vec),
            version: self.session.protocol_version(),
            leaf: self.session.peer_certificates().and_then(|chain| Some(chain.first()?.to_vec())),
        }
    }

    /// Encodes some of `bytes` as records and returns their number.
    pub(super) fn write(&mut self, bytes: &[u8], records: &mut Vec<u8>) -> io::Result<usize> {
        let count = self.session.writer().write(bytes)?;
        self.take(records)?;
        Ok(count)
    }

    /// Takes the records to send, including those of the handshake.
    pub(super) fn take(&mut self, records: &mut Vec<u8>) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(records)?;
        }
        Ok(())
    }

    /// Decodes received bytes, and adds the replies to `records`.
    pub(super) fn feed(&mut self, mut bytes: &[u8], records: &mut Vec<u8>) -> Result<(), AskError> {
        if !self.is_tls {
            self.beginning.extend_from_slice(bytes);
            TlsError::of_first_bytes(&self.beginning).map_or(Ok(()), Err)?;
            self.is_tls = self.beginning.len() > 1;
        }
        while !bytes.is_empty() {
            self.session.read_tls(&mut bytes)?;
            let read = self.session.process_new_packets();
            // The alert with the reason is sent too.
            self.take(records)?;
            read?;
            match io::copy(&mut self.session.reader(), &mut self.text) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Decrypted bytes: absent if none are there, 0 at the end.
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        if !self.text.is_empty() {
            return self.text.read(into).map(Some);
        }
        match self.session.reader().read(into) {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{SocketAddr, TcpListener},
        time::Duration,
    };

    use tare_base::Endpoint;
    use tare_load::Protocol;

    use super::super::{Channel, ClientConnection, Deadline, Trusts, front};
    use super::*;
    use crate::certificate::Certificates;

    /// Longer than one read and one record.
    const ANSWER_BYTES: usize = 300_000;

    /// Echoes its input until a long answer is complete.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, mut word) = (stream.unwrap(), [0; 4]);
                while stream.read_exact(&mut word).is_ok() {
                    stream.write_all(&word.repeat(ANSWER_BYTES / 4)).unwrap();
                }
            }
        });
        address
    }

    fn channel(folder: &std::path::Path, protocol: Protocol) -> Channel {
        let certificates = Arc::new(Certificates::make(folder).unwrap());
        Channel { protocol, trusts: Trusts::Run(certificates) }
    }

    #[test]
    fn what_is_sent_comes_back_through_records() {
        let folder = tempfile::tempdir().unwrap();
        let channel = channel(folder.path(), Protocol::Http1Tls);
        let certificates = channel.certificates().unwrap();
        let front: Endpoint = front::before(echo(), certificates, &[]).into();
        let deadline = Deadline::after(Duration::from_secs(20));
        let mut connection = ClientConnection::open_in(&front, &channel, deadline).unwrap();
        let secured = connection.secured().unwrap();
        assert_eq!(secured.version, Some(rustls::ProtocolVersion::TLSv1_3));
        assert_eq!((secured.alpn, secured.leaf.as_deref()), (None, Some(&**certificates.leaf())));
        for word in [b"abcd", b"efgh"] {
            connection.send(word, deadline).unwrap();
            let mut answer = Vec::new();
            while answer.len() < ANSWER_BYTES {
                assert_ne!(connection.receive(&mut answer, deadline).unwrap(), 0);
            }
            assert_eq!(answer, word.repeat(ANSWER_BYTES / 4));
        }
        assert!(matches!(connection.receive_now(&mut Vec::new()), Ok(None)), "nothing is left");
    }

    #[test]
    fn a_protocol_that_was_not_chosen_and_a_foreign_certificate_are_refused() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = channel(folder.path(), Protocol::H2);
        let certificates = own.certificates().unwrap();
        let open = |channel: &Channel, alpn: &[&[u8]]| {
            let front: Endpoint = front::before(echo(), certificates, alpn).into();
            let opened = ClientConnection::open_in(&front, channel, Deadline::after(Duration::from_secs(20)));
            opened.map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(open(&own, &[b"h2"]), Ok(()));
        assert_eq!(open(&own, &[]), Err("the server did not choose \"h2\" by ALPN, but nothing".to_owned()));
        let refused = open(&own, &[b"http/1.1"]).unwrap_err();
        assert!(refused.contains("no_application_protocol (120)"), "{refused}");
        let foreign = open(&channel(other.path(), Protocol::H2), &[b"h2"]).unwrap_err();
        assert!(foreign.contains("the certificate of the server is"), "{foreign}");
        let plain: Endpoint = echo().into();
        let deadline = Deadline::after(Duration::from_secs(20));
        let error = ClientConnection::open_in(&plain, &own, deadline).unwrap_err().to_string();
        // The server echoes the client's handshake, which looks like TLS at first.
        assert!(error.starts_with("the TLS handshake failed: "), "{error}");
    }
}
