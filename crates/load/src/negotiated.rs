//! The results of TLS handshakes. They belong to the description of a load, because they decide its cost.

use std::fmt;
use std::ops::AddAssign;

use rustls::HandshakeKind;
use rustls::client::UnbufferedClientConnection;
use serde::{Deserialize, Serialize};

use crate::tls_error::TlsError;

/// What client and server agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Negotiated {
    /// The version, such as `TLSv1.3`.
    pub version: String,
    /// The cipher suite as RFC 8446 names it, such as `TLS_AES_128_GCM_SHA256`.
    pub suite: String,
    /// The group of the key exchange, such as `X25519MLKEM768`. A resumed handshake also performs one.
    pub group: Option<String>,
    /// The protocol that was chosen by ALPN.
    pub alpn: Option<String>,
    /// Whether the client has a certificate, for a server that asks for one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub client_certificate: bool,
}

impl Negotiated {
    /// What a connection agreed on, after its handshake.
    pub(crate) fn of(connection: &UnbufferedClientConnection, client_certificate: bool) -> Negotiated {
        let suite = connection.negotiated_cipher_suite();
        let group = connection.negotiated_key_exchange_group();
        Negotiated {
            version: connection
                .protocol_version()
                .and_then(|version| version.as_str())
                .unwrap_or("unknown")
                .replace('_', "."),
            suite: suite
                .and_then(|suite| suite.suite().as_str())
                .unwrap_or("unknown")
                .replacen("TLS13_", "TLS_", 1),
            group: group.and_then(|group| group.name().as_str()).map(str::to_owned),
            alpn: connection.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()),
            client_certificate,
        }
    }
}

/// As in "TLSv1.3, TLS_AES_128_GCM_SHA256, X25519, h2".
impl fmt::Display for Negotiated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.version, self.suite)?;
        [&self.group, &self.alpn].into_iter().flatten().try_for_each(|word| write!(f, ", {word}"))?;
        if self.client_certificate { f.write_str(", with a client certificate") } else { Ok(()) }
    }
}

/// The handshakes of many connections.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Handshakes {
    /// Full handshakes.
    pub full: u64,
    /// Handshakes that resumed an earlier session.
    pub resumed: u64,
    /// Each result, with the number of handshakes. More than one entry means that connections differ.
    pub negotiated: Vec<(Negotiated, u64)>,
    /// The last failure.
    pub last_error: Option<TlsError>,
}

impl Handshakes {
    pub(crate) fn succeeded(&mut self, kind: HandshakeKind, agreed: Negotiated) {
        match kind {
            HandshakeKind::Resumed => self.resumed += 1,
            HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest => self.full += 1,
        }
        self.add(agreed, 1);
    }

    pub(crate) fn failed(&mut self, error: TlsError) {
        self.last_error = Some(error);
    }

    fn add(&mut self, agreed: Negotiated, count: u64) {
        match self.negotiated.iter_mut().find(|(known, _)| *known == agreed) {
            Some((_, known)) => *known += count,
            None => self.negotiated.push((agreed, count)),
        }
    }
}

impl AddAssign<&Handshakes> for Handshakes {
    fn add_assign(&mut self, other: &Handshakes) {
        self.full += other.full;
        self.resumed += other.resumed;
        for (agreed, count) in &other.negotiated {
            self.add(agreed.clone(), *count);
        }
        if other.last_error.is_some() {
            self.last_error.clone_from(&other.last_error);
        }
    }
}
