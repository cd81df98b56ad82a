//! In which protocols a service can be asked, and why not in the others.

use serde::Deserialize;
use tare_load::Protocol;

use super::{Service, Style};
use crate::{client::Channel, document::DocumentError, protocol};

/// A version of HTTP, as a manifest lists what the framework serves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, strum::IntoStaticStr)]
pub enum HttpVersion {
    #[serde(rename = "http/1.1")]
    #[strum(serialize = "http/1.1")]
    Http1,
    /// Over TLS, by ALPN.
    #[serde(rename = "h2")]
    #[strum(serialize = "h2")]
    H2,
    /// Without TLS, by prior knowledge.
    #[serde(rename = "h2c")]
    #[strum(serialize = "h2c")]
    H2c,
}

/// `[[not-offered]]`: why a protocol is missing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotOffered {
    #[serde(with = "protocol::as_word")]
    pub protocol: Protocol,
    pub why: String,
}

/// What a manifest without the key `protocols` means.
pub(super) fn plain() -> Vec<HttpVersion> {
    vec![HttpVersion::Http1]
}

impl Service {
    /// The same service, asked in `protocol`.
    #[must_use]
    pub fn asked_in(&self, protocol: Protocol) -> Service {
        Service { protocol, ..self.clone() }
    }

    /// The word for it in the protocol in which it is asked: `restinio:timers+h2`.
    pub fn word(&self) -> String {
        self.id.clone() + &protocol::ending(self.protocol)
    }

    /// How a client speaks to it.
    pub fn channel(&self) -> Channel {
        Channel { protocol: self.protocol, certificates: self.certificates.clone() }
    }

    /// How it differs from the service of its folder that is asked in plain HTTP/1.1, if it does.
    pub fn difference(&self) -> Option<String> {
        let protocol = (self.protocol != Protocol::Http1).then(|| self.protocol.to_string());
        match (&self.title, protocol) {
            (Some(title), Some(protocol)) => Some(format!("{title}, {protocol}")),
            (title, protocol) => title.clone().or(protocol),
        }
    }

    pub fn offers(&self, protocol: Protocol) -> bool {
        let serves = |version| self.protocols.contains(&version);
        match protocol {
            // What has no manifest, a command or a server that runs already, is asked as every server can be.
            Protocol::Http1 => self.protocols.is_empty() || serves(HttpVersion::Http1),
            Protocol::Http1Tls => self.tls && serves(HttpVersion::Http1),
            Protocol::H2 => self.tls && serves(HttpVersion::H2),
            Protocol::H2c => serves(HttpVersion::H2c),
        }
    }

    /// Why it cannot be asked in the protocol of its row; absent if it can.
    pub fn why_not_asked(&self) -> Option<String> {
        self.why_not(self.protocol)
    }

    /// Why it cannot be asked in `protocol`; absent if it can.
    pub fn why_not(&self, protocol: Protocol) -> Option<String> {
        if self.offers(protocol) {
            return None;
        }
        if matches!(self.style, Style::Own | Style::Running) {
            return Some(format!("{protocol} is asked of services that declare it in a service.toml"));
        }
        let reason = self.not_offered.iter().find(|other| other.protocol == protocol);
        Some(match reason {
            Some(reason) => reason.why.clone(),
            None => format!("{protocol} is not offered by the framework"),
        })
    }
}

/// What is wrong with these keys of a manifest.
pub(super) fn check(
    manifest: &Service,
    wrong: impl Fn(&str, String) -> DocumentError,
) -> Result<(), DocumentError> {
    if manifest.protocols.is_empty() {
        return Err(wrong(
            "protocols",
            "a service needs at least one protocol, such as \"http/1.1\"".to_owned(),
        ));
    }
    for (place, version) in manifest.protocols.iter().enumerate() {
        if manifest.protocols[..place].contains(version) {
            return Err(wrong("protocols", format!("\"{}\" stands twice", <&str>::from(version))));
        }
    }
    if manifest.protocols.contains(&HttpVersion::H2) && !manifest.tls {
        return Err(wrong("protocols", "\"h2\" runs over TLS: say tls = true".to_owned()));
    }
    if manifest.tls && manifest.protocols == [HttpVersion::H2c] {
        return Err(wrong("tls", "\"h2c\" alone does not run over TLS: leave tls out".to_owned()));
    }
    for (place, reason) in manifest.not_offered.iter().enumerate() {
        let word = protocol::word(reason.protocol);
        if manifest.offers(reason.protocol) {
            return Err(wrong("not-offered", format!("\"{word}\" is offered: it needs no reason why not")));
        }
        if manifest.not_offered[..place].iter().any(|other| other.protocol == reason.protocol) {
            return Err(wrong("not-offered", format!("\"{word}\" has two reasons: give one")));
        }
    }
    Ok(())
}

/// All of them: the built-in raw socket.
pub(super) fn all() -> Vec<HttpVersion> {
    vec![HttpVersion::Http1, HttpVersion::H2, HttpVersion::H2c]
}
