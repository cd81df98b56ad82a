//! The protocol of requests: the version of HTTP, and whether it runs over TLS.

use std::fmt;

use crate::http2::Scheme;

/// The protocol of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// HTTP/1.1 over TCP.
    #[default]
    Http1,
    /// HTTP/1.1 over TLS.
    Http1Tls,
    /// HTTP/2 over TLS, chosen by ALPN.
    H2,
    /// HTTP/2 over TCP, with prior knowledge.
    H2c,
}

impl Protocol {
    /// All protocols, the plainest first.
    pub const ALL: [Protocol; 4] = [Protocol::Http1, Protocol::Http1Tls, Protocol::H2, Protocol::H2c];

    /// The name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Http1 => "http/1.1",
            Protocol::Http1Tls => "http/1.1 over TLS",
            Protocol::H2 => "h2",
            Protocol::H2c => "h2c",
        }
    }

    /// Whether it runs over TLS.
    #[must_use]
    pub fn is_tls(self) -> bool {
        matches!(self, Protocol::Http1Tls | Protocol::H2)
    }

    /// Whether it is HTTP/2.
    #[must_use]
    pub fn is_http2(self) -> bool {
        matches!(self, Protocol::H2 | Protocol::H2c)
    }

    /// The protocol that a client offers by ALPN; `None` without TLS.
    #[must_use]
    pub fn alpn(self) -> Option<&'static [u8]> {
        match self {
            Protocol::Http1 | Protocol::H2c => None,
            Protocol::Http1Tls => Some(b"http/1.1"),
            Protocol::H2 => Some(b"h2"),
        }
    }

    /// The scheme of its requests.
    #[must_use]
    pub fn scheme(self) -> Scheme {
        if self.is_tls() { Scheme::Https } else { Scheme::Http }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
