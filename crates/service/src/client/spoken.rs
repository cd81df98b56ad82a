//! Finds out which protocol a port speaks after a request in another protocol failed: from its first bytes,
//! after harmless requests.

use std::time::Duration;

use tare_base::Endpoint;
use tare_load::{
    Protocol, TlsClient, TlsObstacle, TlsOffer, TlsOptions, TlsTrust, TlsVersion,
    http1::{Malformed, ParseError},
};

use super::{AskError, Channel, ClientConnection, Deadline, client_hello};

/// Time limit of each such request.
const SPOKEN_WITHIN: Duration = Duration::from_millis(500);
/// The fix for a URL that must use plain HTTP.
pub const BEGIN_HTTP: &str = "begin the URL with http://";
const BEGIN_HTTPS: &str = "begin the URL with https://";

/// The protocol shown by a server's first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spoken {
    Tls,
    Http1,
    Http2,
}

/// A harmless request about the server as a whole (RFC 9110, 9.3.7).
const OPTIONS: &[u8] = b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

impl Spoken {
    /// From its first bytes: a TLS alert or handshake record, a status line, or SETTINGS.
    pub fn of(first: &[u8]) -> Option<Spoken> {
        match first {
            [0x15 | 0x16, 3, ..] => Some(Spoken::Tls),
            [b'H', b'T', b'T', b'P', b'/', ..] => Some(Spoken::Http1),
            [0, _, _, 4, _, 0, 0, 0, 0, ..] => Some(Spoken::Http2),
            _ => None,
        }
    }

    /// From its answer to a TLS handshake or else to a request, each within `patience`.
    pub fn there(endpoint: &Endpoint, patience: Duration) -> Option<Spoken> {
        let said = |question: Vec<u8>| first_bytes(endpoint, &question, Deadline::after(patience)).ok();
        let of_hello = hello().ok().and_then(said).and_then(|first| Spoken::of(&first));
        of_hello.or_else(|| said(OPTIONS.to_vec()).and_then(|first| Spoken::of(&first)))
    }
}

/// The protocol that the port speaks instead of the failed one, with the fix of the URL or option. Absent if
/// it is unknown.
pub fn spoken_instead(endpoint: &Endpoint, channel: &Channel, error: &AskError) -> Option<String> {
    let spoken = match error {
        AskError::NotHttp(Malformed { error: ParseError::Tls, .. }) => Spoken::Tls,
        AskError::NotHttp(Malformed { error: ParseError::Http2, .. }) => Spoken::Http2,
        AskError::NotHttp2(error) => Spoken::of(&error.got)?,
        // These errors do not show the protocol, so the port is asked again.
        AskError::Closed | AskError::Io(_) | AskError::Http2(_) => Spoken::there(endpoint, SPOKEN_WITHIN)?,
        AskError::Tls(error) if error.obstacle() == TlsObstacle::Silence => {
            Spoken::there(endpoint, SPOKEN_WITHIN)?
        }
        AskError::TooLate { bytes: 0, .. } => Spoken::there(endpoint, SPOKEN_WITHIN)?,
        _ => return None,
    };
    // Whether the unexpected protocol is inside TLS.
    let is_within =
        channel.protocol.is_tls() && matches!(error, AskError::NotHttp(_) | AskError::NotHttp2(_));
    Some(match (spoken, channel.protocol) {
        (Spoken::Http2, Protocol::Http1Tls) if is_within => {
            "the server speaks HTTP/2 over TLS, and no HTTP/1.1: add --h2".to_owned()
        }
        (Spoken::Http1, Protocol::H2) if is_within => {
            "the server speaks HTTP/1.1 over TLS, and no HTTP/2: leave out --h2".to_owned()
        }
        (Spoken::Tls, Protocol::Http1) => format!("the port speaks TLS: {BEGIN_HTTPS}"),
        (Spoken::Tls, Protocol::H2c) => {
            format!("the port speaks TLS: {BEGIN_HTTPS}, with --h2 in place of --h2c")
        }
        (Spoken::Http1, Protocol::Http1Tls) => format!("the port speaks HTTP without TLS: {BEGIN_HTTP}"),
        (Spoken::Http1, Protocol::H2) => {
            format!("the port speaks HTTP/1.1 without TLS: {BEGIN_HTTP}, and leave out --h2")
        }
        (Spoken::Http1, Protocol::H2c) => {
            "the port speaks HTTP/1.1, and no HTTP/2: leave out --h2c".to_owned()
        }
        (Spoken::Http2, Protocol::Http1) => "the port speaks HTTP/2, and no HTTP/1.1: add --h2c".to_owned(),
        (Spoken::Http2, Protocol::Http1Tls | Protocol::H2) => {
            format!("the port speaks HTTP/2 without TLS: {BEGIN_HTTP}, with --h2c")
        }
        // The port does speak the requested protocol, so there is another cause.
        (Spoken::Tls, Protocol::Http1Tls | Protocol::H2)
        | (Spoken::Http1, Protocol::Http1)
        | (Spoken::Http2, Protocol::H2c) => return None,
    })
}

/// The ClientHello of a client that accepts any certificate.
fn hello() -> Result<Vec<u8>, AskError> {
    let options = TlsOptions {
        trust: TlsTrust::Anything,
        server_name: "localhost".to_owned(),
        alpn: None,
        resume: false,
        offer: TlsOffer::Usual,
        version: TlsVersion::Tls13,
        certificate: None,
    };
    let client = TlsClient::new(options)?;
    client_hello(client.config(), client.server_name())
}

fn first_bytes(endpoint: &Endpoint, question: &[u8], deadline: Deadline) -> Result<Vec<u8>, AskError> {
    let mut connection = ClientConnection::open(endpoint, deadline)?;
    connection.send(question, deadline)?;
    let mut first = Vec::new();
    connection.receive(&mut first, deadline)?;
    Ok(first)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
    };

    use super::*;
    use crate::{certificate::Certificates, client::front};

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A server that sends these bytes to each client after its request.
    fn saying(words: &'static [u8]) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = listener.local_addr().unwrap().into();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _asked = stream.read(&mut [0; 4096]);
                let _gone = stream.write_all(words);
            }
        });
        endpoint
    }

    #[test]
    fn a_port_is_known_by_its_first_bytes() {
        let settings = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
        for (words, spoken) in [
            (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], Some(Spoken::Http1)),
            (settings, Some(Spoken::Http2)),
            (b"\x15\x03\x03\x00\x02\x02\x28", Some(Spoken::Tls)),
            (b"SSH-2.0-x\r\n", None),
            (b"", None),
        ] {
            assert_eq!(Spoken::there(&saying(words), PATIENCE), spoken, "{}", words.escape_ascii());
        }
        let folder = tempfile::tempdir().unwrap();
        let certificates = Certificates::make(folder.path()).unwrap();
        let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
        let secured = front::before(upstream.local_addr().unwrap(), &certificates, &[]);
        assert_eq!(Spoken::there(&secured.into(), PATIENCE), Some(Spoken::Tls));
    }
}
