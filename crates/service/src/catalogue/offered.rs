//! The protocols that a service offers, and reasons for missing ones.

use tare_load::Protocol;

use super::{Service, Style};
use crate::client::Channel;
use tare_base::document::DocumentError;
use tare_contract::protocol::{self, HttpVersion};

impl Service {
    /// The same service with requests in `protocol`.
    #[must_use]
    pub fn asked_in(&self, protocol: Protocol) -> Service {
        Service { protocol, ..self.clone() }
    }

    /// Its id with its protocol: `restinio:timers+h2`.
    pub fn word(&self) -> String {
        self.id.clone() + &protocol::ending(self.protocol)
    }

    /// How a client connects to it. A running server has its own certificates.
    pub fn channel(&self) -> Channel {
        let trusts = match &self.running {
            Some(running) => running.channel.trusts.clone(),
            None => self.certificates.clone().into(),
        };
        Channel { protocol: self.protocol, trusts }
    }

    /// How it differs from the plain HTTP/1.1 service of its folder, if it does.
    pub fn difference(&self) -> Option<String> {
        let protocol = (self.protocol != Protocol::Http1).then(|| self.protocol.to_string());
        match (&self.title, protocol) {
            (Some(title), Some(protocol)) => Some(format!("{title}, {protocol}")),
            (title, protocol) => title.clone().or(protocol),
        }
    }

    pub fn offers(&self, protocol: Protocol) -> bool {
        if let Some(running) = &self.running {
            return protocol == running.channel.protocol;
        }
        match self.protocols.as_slice() {
            // A command has no manifest; HTTP/1.1 is assumed.
            [] => protocol == Protocol::Http1,
            versions => protocol::spoken(versions, self.tls).any(|spoken| spoken == protocol),
        }
    }

    /// Why its row's protocol is not available; absent if it is.
    pub fn why_not_asked(&self) -> Option<String> {
        self.why_not(self.protocol)
    }

    /// Why `protocol` is not available; absent if it is.
    pub fn why_not(&self, protocol: Protocol) -> Option<String> {
        if self.offers(protocol) {
            return None;
        }
        if self.running.is_some() {
            return Some(format!(
                "{protocol} is asked of a server that runs already by its URL, and by --h2 or --h2c"
            ));
        }
        if self.style == Style::Own {
            return Some(format!("{protocol} is asked of services that declare it in a service.toml"));
        }
        let reason = self.not_offered.iter().find(|other| other.protocol == protocol);
        Some(match reason {
            Some(reason) => reason.why.clone(),
            None => format!("this service does not offer {protocol}"),
        })
    }
}

/// Validates these keys of a manifest.
pub(super) fn check(
    manifest: &Service,
    wrong: impl Fn(&str, String) -> DocumentError,
) -> Result<(), DocumentError> {
    protocol::check(&manifest.protocols, manifest.tls)
        .map_err(|mistake| wrong(mistake.key, mistake.reason))?;
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

/// All HTTP versions, which the built-in raw socket serves.
pub(super) fn all() -> Vec<HttpVersion> {
    vec![HttpVersion::Http1, HttpVersion::H2, HttpVersion::H2c]
}
