//! Why TLS does not come about, or ends.

/// Why a connection over TLS failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TlsError {
    /// The handshake failed: the certificate is not trusted, nothing is agreed on, or the peer speaks no TLS.
    #[error("the TLS handshake failed: {0}")]
    Handshake(#[from] rustls::Error),
    /// The connection was closed before the handshake was complete.
    #[error("the connection was closed during the TLS handshake")]
    ClosedInHandshake,
    /// The handshake sends more than any server does.
    #[error("the TLS handshake is longer than {bytes_max} bytes")]
    HandshakeTooLong {
        /// The most that is taken.
        bytes_max: usize,
    },
    /// The peer did not choose the protocol that was offered by ALPN.
    #[error("the server did not choose \"{wanted}\" by ALPN, but {}", chosen.as_deref().unwrap_or("nothing"))]
    Alpn {
        /// What was offered.
        wanted: String,
        /// What it chose.
        chosen: Option<String>,
    },
    /// A record is longer than TLS allows.
    #[error("a TLS record of {bytes} bytes, longer than TLS allows")]
    RecordTooLong {
        /// Its length.
        bytes: usize,
    },
    /// A record was changed on its way, or is not encrypted with the keys of the connection.
    #[error("a TLS record that cannot be decrypted")]
    Undecryptable,
    /// A record or a message that has no place after a handshake.
    #[error("a TLS {what} of type {kind}")]
    Unexpected {
        /// A record or a handshake message.
        what: &'static str,
        /// Its type.
        kind: u8,
    },
    /// The peer ended the connection with an alert.
    #[error("the server ended the connection with TLS alert {0}")]
    Alert(u8),
    /// The server asks for new keys again and again, and does not read the answers.
    #[error("the server asks for TLS key updates again and again, and does not read the answers")]
    KeyUpdates,
    /// A certificate authority is no certificate.
    #[error("a certificate authority that cannot be used: {0}")]
    Roots(String),
    /// A name that cannot stand in a certificate.
    #[error("\"{0}\" is neither a host name nor an IP address")]
    Name(String),
}
