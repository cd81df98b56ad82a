//! Names of protocols in files and rows.

use serde::Deserialize;
use tare_load::Protocol;

/// A version of HTTP in files; TLS has a separate key.
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

/// The protocols that the two keys of a file describe.
pub fn spoken(versions: &[HttpVersion], tls: bool) -> impl Iterator<Item = Protocol> {
    let of = move |version: &HttpVersion| match version {
        HttpVersion::Http1 if tls => vec![Protocol::Http1, Protocol::Http1Tls],
        HttpVersion::Http1 => vec![Protocol::Http1],
        HttpVersion::H2 => vec![Protocol::H2],
        HttpVersion::H2c => vec![Protocol::H2c],
    };
    versions.iter().flat_map(of)
}

/// An error in one of the two keys.
#[derive(Debug, PartialEq, Eq)]
pub struct KeyMistake {
    pub key: &'static str,
    pub reason: String,
}

/// Checks that `protocols` and `tls` are consistent.
///
/// # Errors
/// The mistake, with the key that has it.
pub fn check(versions: &[HttpVersion], tls: bool) -> Result<(), KeyMistake> {
    let wrong = |key, reason: &str| Err(KeyMistake { key, reason: reason.to_owned() });
    if versions.is_empty() {
        return wrong("protocols", "at least one protocol is needed, such as \"http/1.1\"");
    }
    for (place, version) in versions.iter().enumerate() {
        if versions[..place].contains(version) {
            return wrong("protocols", &format!("\"{}\" stands twice", <&str>::from(version)));
        }
    }
    if versions.contains(&HttpVersion::H2) && !tls {
        return wrong("protocols", "\"h2\" runs over TLS: say tls = true");
    }
    if tls && versions == [HttpVersion::H2c] {
        return wrong("tls", "\"h2c\" alone does not run over TLS: leave tls out");
    }
    Ok(())
}

/// The word in files, and the suffix of a row's name: `hyper+h2`.
pub fn word(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http1 => "http/1.1",
        Protocol::Http1Tls => "tls",
        Protocol::H2 => "h2",
        Protocol::H2c => "h2c",
    }
}

/// The protocol with this word.
pub fn of_word(wanted: &str) -> Option<Protocol> {
    Protocol::ALL.into_iter().find(|protocol| word(*protocol) == wanted)
}

/// Splits a row's name into base and protocol: `hyper+h2` is `hyper` in h2.
pub fn split(name: &str) -> (&str, Option<Protocol>) {
    let ending = name.rsplit_once('+').and_then(|(begin, word)| Some((begin, of_word(word)?)));
    match ending {
        Some((begin, protocol)) if protocol != Protocol::Http1 => (begin, Some(protocol)),
        _ => (name, None),
    }
}

/// The suffix of a row's name; empty for plain HTTP/1.1.
pub fn ending(protocol: Protocol) -> String {
    match protocol {
        Protocol::Http1 => String::new(),
        protocol => format!("+{}", word(protocol)),
    }
}

/// For serde: omits the default.
pub fn is_plain(protocol: &Protocol) -> bool {
    *protocol == Protocol::Http1
}

/// For serde: writes a protocol as its word.
pub mod as_word {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use tare_load::Protocol;

    const WORDS: &[&str] = &["http/1.1", "tls", "h2", "h2c"];

    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<S: Serializer>(protocol: &Protocol, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(super::word(*protocol))
    }

    /// # Errors
    /// The value is not a protocol's word.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Protocol, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::of_word(&text).ok_or_else(|| D::Error::unknown_variant(&text, WORDS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_has_a_word_of_its_own() {
        for protocol in Protocol::ALL {
            assert_eq!(of_word(word(protocol)), Some(protocol));
        }
        assert_eq!(of_word("http/2"), None);
    }

    #[test]
    fn the_name_of_a_row_ends_with_its_protocol() {
        for protocol in Protocol::ALL {
            let name = format!("a+b{}", ending(protocol));
            assert_eq!(split(&name), ("a+b", Some(protocol).filter(|found| *found != Protocol::Http1)));
        }
        for plain in ["hyper", "hyper+http/1.1", "mux+0a1b2c3d", "hyper+h2@2"] {
            assert_eq!(split(plain), (plain, None));
        }
    }
}
