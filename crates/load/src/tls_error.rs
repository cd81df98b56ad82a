//! Why TLS fails: the error in words, and the cause if the user can change it.

use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, OtherError, PeerIncompatible};

/// Why a connection over TLS failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TlsError {
    /// The handshake failed: the certificate is not trusted, nothing is agreed on, or the server refuses.
    #[error("the TLS handshake failed: {}", of_handshake(.0))]
    Handshake(#[from] Error),
    /// The server's bytes are not TLS.
    #[error("{}", other_protocol(.got))]
    NotTls {
        /// Its first bytes.
        got: Vec<u8>,
    },
    /// The connection was closed before the handshake was complete.
    #[error("the connection was closed during the TLS handshake, without an alert that says why")]
    ClosedInHandshake,
    /// The handshake sends more bytes than any server does.
    #[error("the TLS handshake is longer than {bytes_max} bytes")]
    HandshakeTooLong {
        /// The most bytes that are accepted.
        bytes_max: usize,
    },
    /// The peer did not choose the protocol that was offered by ALPN.
    #[error("the server did not choose \"{wanted}\" by ALPN, but {}", chosen.as_deref().unwrap_or("nothing"))]
    Alpn {
        /// The offered protocol.
        wanted: String,
        /// The chosen protocol.
        chosen: Option<String>,
    },
    /// A record is longer than TLS allows.
    #[error("a TLS record of {bytes} bytes, longer than TLS allows")]
    RecordTooLong {
        /// Its length.
        bytes: usize,
    },
    /// A record was changed in transit, or was not encrypted with the keys of the connection.
    #[error("a TLS record that cannot be decrypted")]
    Undecryptable,
    /// A record or message that is not allowed after a handshake.
    #[error("a TLS {what} of type {kind}")]
    Unexpected {
        /// A record or a handshake message.
        what: &'static str,
        /// Its type.
        kind: u8,
    },
    /// The peer ended the connection with an alert.
    #[error("{}", of_alert(AlertDescription::from(*.0)))]
    Alert(u8),
    /// The server requests key updates again and again, and does not read the replies.
    #[error("the server asks for TLS key updates again and again, and does not read the answers")]
    KeyUpdates,
    /// A certificate authority is no valid certificate.
    #[error("a certificate authority that cannot be used: {0}")]
    Roots(String),
    /// The client's certificate cannot be used.
    #[error("a client certificate that cannot be used: {0}")]
    Identity(String),
    /// The name is not valid in a certificate.
    #[error("\"{0}\" is neither a host name nor an IP address")]
    Name(String),
}

/// The cause of a failed connection, as far as the user can change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsObstacle {
    /// The port speaks no TLS, as its first bytes show.
    NotTls,
    /// The connection was closed without any bytes: perhaps the port speaks no TLS.
    Silence,
    /// The server speaks none of the offered versions.
    Version,
    /// No common version, no common cipher or a missing certificate: the alert is the same for all of them.
    Unclear,
    /// The server speaks none of the offered protocols.
    Protocol,
    /// The server requires a client certificate.
    NoClientCertificate,
    /// The server does not accept the client's certificate.
    ClientCertificate,
    /// The server's certificate has expired or is not valid yet.
    Date,
    /// The server's certificate is for other names.
    Name,
    /// The server has no certificate for the requested name.
    UnknownName,
    /// The server's certificate was issued by an authority that is not trusted.
    Authority,
    /// The server's certificate is self-signed.
    SelfSigned,
    /// Any other problem of the server's certificate.
    Certificate,
    /// Any other cause.
    Other,
}

/// Why a certificate without any other error is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Distrusted {
    #[error("is signed by itself, and is not trusted")]
    SelfSigned,
    #[error("is issued by {}, which is no authority that is trusted", issuer.as_deref().unwrap_or("an authority without a name"))]
    Issuer { issuer: Option<String> },
}

impl From<Distrusted> for Error {
    fn from(reason: Distrusted) -> Error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(std::sync::Arc::new(reason))))
    }
}

impl TlsError {
    /// The error for the first bytes of a server, if they are not TLS (RFC 8446, 5.1): an unknown record type
    /// or version.
    #[must_use]
    pub fn of_first_bytes(bytes: &[u8]) -> Option<TlsError> {
        let is_tls = match bytes {
            [] => true,
            [kind] => (20..=23).contains(kind),
            [kind, version, ..] => (20..=23).contains(kind) && *version == 3,
        };
        (!is_tls).then(|| TlsError::NotTls { got: bytes[..bytes.len().min(SHOWN_BYTES)].to_vec() })
    }

    /// The cause of the failure.
    #[must_use]
    pub fn obstacle(&self) -> TlsObstacle {
        match self {
            TlsError::NotTls { .. } => TlsObstacle::NotTls,
            TlsError::ClosedInHandshake => TlsObstacle::Silence,
            TlsError::Alpn { .. } | TlsError::Handshake(Error::NoApplicationProtocol) => {
                TlsObstacle::Protocol
            }
            TlsError::Handshake(Error::AlertReceived(alert)) => by_alert(*alert),
            TlsError::Alert(alert) => by_alert(AlertDescription::from(*alert)),
            TlsError::Handshake(Error::PeerIncompatible(why)) if is_about_versions(why) => {
                TlsObstacle::Version
            }
            TlsError::Handshake(Error::InvalidCertificate(error)) => by_certificate(error),
            _ => TlsObstacle::Other,
        }
    }
}

/// The number of first bytes that are shown.
const SHOWN_BYTES: usize = 64;

fn other_protocol(got: &[u8]) -> String {
    let shown = got.split(|byte| *byte == b'\r' || *byte == b'\n').next().unwrap_or_default().escape_ascii();
    match got {
        [b'H', b'T', b'T', b'P', b'/', ..] => {
            format!("the server speaks plain HTTP on this port, and no TLS: it sent `{shown}`")
        }
        [0, _, _, 4, ..] => "the server speaks HTTP/2 without TLS on this port: it sent SETTINGS".to_owned(),
        _ => format!("the server speaks no TLS on this port: it sent `{shown}`"),
    }
}

fn of_handshake(error: &Error) -> String {
    match error {
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::InvalidCertificate(error) => {
            format!("the certificate of the server {}", of_certificate(error))
        }
        Error::PeerIncompatible(why) if is_about_versions(why) => {
            "the server chose a version of TLS that was not offered".to_owned()
        }
        error => error.to_string(),
    }
}

fn is_about_versions(why: &PeerIncompatible) -> bool {
    matches!(
        why,
        PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::SupportedVersionsExtensionRequired
    )
}

fn of_certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("has expired: it was valid until {}", date(*not_after))
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            format!("is valid from {} on, and it is {} here", date(*not_before), date(*time))
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
            let names = if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
            format!("is for {names}, and not for {}", expected.to_str())
        }
        CertificateError::Expired => "has expired".to_owned(),
        CertificateError::NotValidYet => "is not valid yet".to_owned(),
        CertificateError::NotValidForName => "is for another name".to_owned(),
        CertificateError::BadSignature => {
            "is not signed with the key of its authority: one that is trusted has its name, and another key"
                .to_owned()
        }
        CertificateError::UnknownIssuer => "is issued by no authority that is trusted".to_owned(),
        CertificateError::Other(other) => match distrusted(other) {
            Some(reason) => reason.to_string(),
            None if is_of_an_authority(other) => "is one of an authority, and not of a server".to_owned(),
            None => format!("is not valid: {other}"),
        },
        other => format!("is not valid: {other}"),
    }
}

/// A date and time, to the minute.
fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let instant = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    instant.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// A certificate name as `webpki` prints it, `DnsName("localhost")`, without its kind.
fn bare(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

fn distrusted(other: &OtherError) -> Option<&Distrusted> {
    other.0.downcast_ref()
}

/// Whether a certificate is refused because it belongs to an authority instead of a server.
pub(crate) fn is_of_an_authority(other: &OtherError) -> bool {
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// An alert as RFC 8446, 6.2 writes it, `certificate_required (116)`, with its meaning.
fn of_alert(alert: AlertDescription) -> String {
    let code = u8::from(alert);
    let name = match alert {
        AlertDescription::UnrecognisedName => "unrecognized_name".to_owned(),
        alert => alert.as_str().map_or_else(|| "of no known name".to_owned(), snake_case),
    };
    let meaning = match by_alert(alert) {
        TlsObstacle::Version => ": it speaks none of the versions of TLS that are offered",
        TlsObstacle::Unclear => {
            ": it has no version and no cipher suite in common with this client, or asks for a client certificate"
        }
        TlsObstacle::Protocol => ": it speaks none of the protocols that are offered by ALPN",
        TlsObstacle::NoClientCertificate => ": it asks for a client certificate, and none was given",
        TlsObstacle::ClientCertificate => ": it does not accept the client certificate, or the lack of one",
        TlsObstacle::UnknownName => ": it knows no server of the name that was asked for",
        _ => "",
    };
    format!("the server ended the connection with the TLS alert {name} ({code}){meaning}")
}

fn by_alert(alert: AlertDescription) -> TlsObstacle {
    match alert {
        AlertDescription::ProtocolVersion => TlsObstacle::Version,
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => TlsObstacle::Unclear,
        AlertDescription::NoApplicationProtocol => TlsObstacle::Protocol,
        AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
            TlsObstacle::NoClientCertificate
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::AccessDenied => TlsObstacle::ClientCertificate,
        AlertDescription::UnrecognisedName => TlsObstacle::UnknownName,
        _ => TlsObstacle::Other,
    }
}

fn by_certificate(error: &CertificateError) -> TlsObstacle {
    match error {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => TlsObstacle::Date,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            TlsObstacle::Name
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsObstacle::Authority,
        CertificateError::Other(other) => match distrusted(other) {
            Some(Distrusted::SelfSigned) => TlsObstacle::SelfSigned,
            Some(Distrusted::Issuer { .. }) => TlsObstacle::Authority,
            None => TlsObstacle::Certificate,
        },
        _ => TlsObstacle::Certificate,
    }
}

/// Converts `CertificateRequired` to `certificate_required`.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    let mut before = 'A';
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
        before = letter;
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::ServerName;

    use super::*;

    fn said(error: Error) -> (String, TlsObstacle) {
        let error = TlsError::from(error);
        (error.to_string(), error.obstacle())
    }

    fn at(seconds: u64) -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(seconds))
    }

    #[test]
    fn an_alert_is_named_as_the_rfc_names_it() {
        let (text, obstacle) = said(Error::AlertReceived(AlertDescription::CertificateRequired));
        assert!(text.contains("certificate_required (116): it asks for a client certificate"), "{text}");
        assert_eq!(obstacle, TlsObstacle::NoClientCertificate);
        for (alert, word, obstacle) in [
            (70, "protocol_version (70)", TlsObstacle::Version),
            (40, "handshake_failure (40)", TlsObstacle::Unclear),
            (120, "no_application_protocol (120)", TlsObstacle::Protocol),
            (48, "unknown_ca (48)", TlsObstacle::ClientCertificate),
            (112, "unrecognized_name (112)", TlsObstacle::UnknownName),
            (80, "internal_error (80)", TlsObstacle::Other),
            (200, "of no known name (200)", TlsObstacle::Other),
        ] {
            let error = TlsError::Alert(alert);
            assert!(error.to_string().contains(word), "{error}");
            assert_eq!(error.obstacle(), obstacle, "{error}");
        }
    }

    #[test]
    fn a_certificate_has_its_dates_and_its_names() {
        let expired = CertificateError::ExpiredContext { time: at(86_400 * 400), not_after: at(86_400) };
        let (text, obstacle) = said(expired.into());
        assert_eq!(
            text,
            "the TLS handshake failed: the certificate of the server has expired: it was valid until 1970-01-02 00:00 UTC"
        );
        assert_eq!(obstacle, TlsObstacle::Date);
        let early = CertificateError::NotValidYetContext { time: at(0), not_before: at(86_400) };
        let (text, _) = said(early.into());
        assert!(
            text.ends_with("is valid from 1970-01-02 00:00 UTC on, and it is 1970-01-01 00:00 UTC here"),
            "{text}"
        );
        let expected = ServerName::try_from("127.0.0.1").unwrap();
        let presented = vec!["DnsName(\"localhost\")".to_owned(), "IpAddress(10.0.0.9)".to_owned()];
        let (text, obstacle) = said(CertificateError::NotValidForNameContext { expected, presented }.into());
        assert!(text.ends_with("is for localhost, 10.0.0.9, and not for 127.0.0.1"), "{text}");
        assert_eq!(obstacle, TlsObstacle::Name);
        let (text, obstacle) = said(Distrusted::SelfSigned.into());
        assert!(
            text.ends_with("the certificate of the server is signed by itself, and is not trusted"),
            "{text}"
        );
        assert_eq!(obstacle, TlsObstacle::SelfSigned);
    }

    #[test]
    fn what_is_no_tls_is_known_by_its_first_bytes() {
        for right in [&b""[..], &[22], &[21, 3], &[22, 3, 3, 0, 9]] {
            assert_eq!(TlsError::of_first_bytes(right), None);
        }
        let said = |bytes: &[u8]| TlsError::of_first_bytes(bytes).unwrap().to_string();
        assert_eq!(
            said(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            "the server speaks plain HTTP on this port, and no TLS: it sent `HTTP/1.1 400 Bad Request`"
        );
        assert!(said(&[0, 0, 6, 4, 0, 0, 0, 0, 0]).contains("HTTP/2 without TLS"));
        assert_eq!(said(b"SSH-2.0-x\r\n"), "the server speaks no TLS on this port: it sent `SSH-2.0-x`");
        assert_eq!(said(&[22, 1]), "the server speaks no TLS on this port: it sent `\\x16\\x01`");
    }
}
