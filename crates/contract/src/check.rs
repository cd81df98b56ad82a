//! The checks that a contract may require: their names, and a table of what each does and proves. `verify`
//! in the crate `service` implements them.

use serde::{Deserialize, Serialize};
use strum::VariantArray;
use tare_load::Protocol;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckLevel {
    /// A failure fails the service.
    Require,
    /// A failure is reported with the service's row.
    Warn,
    /// The check is not run.
    Skip,
}

/// A check of `verify`, in the order of execution. Tables give the first failure as the reason, so causes
/// come before consequences: a service that closes every connection also answers no second request on it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CheckId {
    Response,
    Fresh,
    Fragments,
    RequestForms,
    KeepAlive,
    Pipelined,
    ConnectionClose,
    #[serde(rename = "http-1-0")]
    #[strum(to_string = "http-1-0")]
    Http10,
    Head,
    NotFound,
    WrongMethod,
    BadInput,
    Date,
    Tls,
    Alpn,
    H2cOnly,
    H2Settings,
    H2Headers,
    H2Authority,
    H2Streams,
    H2Trailers,
    Backing,
    Alive,
    H2Goaway,
    End,
}

/// The texts of a check or a stage, for `tare verify --explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckText {
    pub name: &'static str,
    pub does: &'static str,
    pub proves: &'static str,
}

impl CheckId {
    /// All checks, in the order of execution.
    pub const ALL: &[CheckId] = CheckId::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it applies to a service in `protocol`.
    pub fn concerns(self, protocol: Protocol) -> bool {
        match self {
            CheckId::Tls | CheckId::Alpn => protocol.is_tls(),
            CheckId::H2cOnly => protocol == Protocol::H2c,
            CheckId::H2Settings
            | CheckId::H2Headers
            | CheckId::H2Authority
            | CheckId::H2Streams
            | CheckId::H2Trailers
            | CheckId::H2Goaway => protocol.is_http2(),
            _ => true,
        }
    }

    /// Whether it tests a feature that HTTP/2 does not have.
    pub fn is_of_http1(self) -> bool {
        matches!(
            self,
            CheckId::Fragments
                | CheckId::RequestForms
                | CheckId::Pipelined
                | CheckId::ConnectionClose
                | CheckId::Http10
        )
    }

    /// The default level. Honest frameworks differ in HTTP/1.0, HEAD, trailers and the end of an HTTP/2
    /// connection.
    pub(super) fn usual_level(self) -> CheckLevel {
        match self {
            CheckId::Http10 | CheckId::Head | CheckId::H2Trailers | CheckId::H2Goaway => CheckLevel::Warn,
            _ => CheckLevel::Require,
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<CheckId> {
        CheckId::ALL.iter().copied().find(|check| check.name() == name)
    }

    pub fn text(self) -> CheckText {
        let (does, proves) = match self {
            CheckId::Response => (
                "sends every request of the contract once, each on its own connection",
                "status, content type, headers, length and body are what the contract says",
            ),
            CheckId::Fresh => (
                "sends every request that has placeholders many times, each time filled anew; labels of 1 to 24 characters",
                "the answer is made from the request: it is neither cached nor cut to one length",
            ),
            CheckId::Fragments => (
                "sends every request cut in two at each place where parsers stumble, and once byte by byte",
                "the service waits for the end of the request, however TCP cuts it",
            ),
            CheckId::RequestForms => (
                "sends every request of the load without blanks after the colons, with header names in lower case and in \
                 capitals, with a head of 8,000 bytes, chunked and with a body of 1,000,000 bytes; each in one write and cut",
                "it is answered alike in each of these forms; too long a head or body may be refused as such",
            ),
            CheckId::KeepAlive => (
                "sends 1,100 requests one after the other on one connection (after 5 s no more than 200)",
                "the connection is kept, so that a load measures requests and not connections",
            ),
            CheckId::Pipelined => (
                "sends two requests in one write, different ones where the contract has them",
                "both are answered, in the order in which they were sent",
            ),
            CheckId::ConnectionClose => (
                "sends every request of the load with `Connection: close`",
                "it is answered, and then the service closes the connection, without a reset",
            ),
            CheckId::Http10 => (
                "sends every request of the load as HTTP/1.0 without `Connection`",
                "it is answered unchunked, and then the service closes the connection",
            ),
            CheckId::Head => (
                "sends every GET of the load as HEAD",
                "the status is that of GET, no body follows, and a Content-Length is that of GET",
            ),
            CheckId::NotFound => (
                "asks for random paths: at the root, below and beside every path of the contract, and for its parent",
                "what the contract does not know is answered with 404: there is a router, and it looks at whole paths",
            ),
            CheckId::WrongMethod => (
                "sends to every path of the contract the methods of its other paths, and one that it does not know",
                "it is answered with 405 or 404: the router looks at the method",
            ),
            CheckId::BadInput => (
                "sends every [[bad]] request of the contract, then a right one",
                "wrong input is answered with 4xx, and the service works on",
            ),
            CheckId::Date => (
                "asks twice, more than a second apart, and compares the `Date` headers, if there are any",
                "a Date that is sent is valid, moves, and is that of this machine's clock: the head is not a constant",
            ),
            CheckId::Backing => (
                "under a contract with a database, or with a server behind the service: sends each request three times, and counts",
                "an answer takes the queries, rows and requests that the contract says, and what it says is stored is there",
            ),
            CheckId::Alive => (
                "sends the first request again after all other checks",
                "nothing that was sent broke the service",
            ),
            CheckId::End => (
                "sends SIGTERM after all other checks",
                "it ends within 3 s with status 0 or 143, or by the signal itself, and leaves nothing behind",
            ),
            _ => self.text_of_tls_or_http2(),
        };
        CheckText { name: self.name(), does, proves }
    }

    /// Texts of the checks that apply to TLS or HTTP/2.
    fn text_of_tls_or_http2(self) -> (&'static str, &'static str) {
        match self {
            CheckId::Tls => (
                "of a service that is asked over TLS: speaks TLS 1.3, and begins a handshake of TLS 1.2",
                "TLS 1.3 works, with the certificate that the service was given; whether TLS 1.2 works too is noted",
            ),
            CheckId::Alpn => (
                "of a service that is asked over TLS: connects once for each list of protocols that a client may offer by ALPN: h2 \
                 and http/1.1, http/1.1 alone, and none",
                "asked in h2 it chooses h2; asked in HTTP/1.1 it answers a client that offers http/1.1 alone or nothing; what else it \
                 chooses is noted",
            ),
            CheckId::H2cOnly => (
                "of a service that is asked in h2c: sends a request of HTTP/1.1",
                "it is refused: the port speaks HTTP/2 and nothing else",
            ),
            CheckId::H2Settings => (
                "of a service that is asked in HTTP/2: sends the preface with SETTINGS",
                "the service sends its own SETTINGS first, and acknowledges those of the client",
            ),
            CheckId::H2Headers => (
                "of a service that is asked in HTTP/2: looks at the frames of an answer",
                "header names are in lower case, none is about one connection, and `:status` comes first",
            ),
            CheckId::H2Authority => (
                "of a service that is asked in HTTP/2: sends a request that names the host by `:authority` alone",
                "it is answered rightly",
            ),
            CheckId::H2Streams => (
                "of a service that is asked in HTTP/2: sends a second request while the first waits for its body",
                "the second is answered at once, and the first once its body came",
            ),
            CheckId::H2Trailers => (
                "of a service that is asked in HTTP/2: sends a request with a trailer",
                "it is answered as without",
            ),
            CheckId::H2Goaway => (
                "of a service that is asked in HTTP/2: keeps a connection open while the service is sent SIGTERM",
                "the connection ends by GOAWAY or in order, not by a reset",
            ),
            _ => ("", ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_uses_the_names_of_the_table() {
        for check in CheckId::ALL {
            assert_eq!(serde_json::to_value(check).unwrap(), serde_json::json!(check.name()));
            assert_eq!(CheckId::from_name(check.name()), Some(*check));
        }
    }

    #[test]
    fn the_list_is_in_the_order_of_the_enum() {
        assert!(CheckId::ALL.is_sorted());
    }

    #[test]
    fn every_check_says_what_it_does_and_proves() {
        for text in CheckId::ALL.iter().map(|check| check.text()) {
            assert!(!text.does.is_empty() && !text.proves.is_empty(), "{}", text.name);
        }
    }
}
