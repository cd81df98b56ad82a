//! The checks that a contract may require: their names, and in one table what each does and proves.
//! How a check is made is defined in `verify`.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// A failure fails the service.
    #[default]
    Require,
    /// A failure is reported beside the service's row.
    Warn,
    /// The check is not made.
    Skip,
}

/// One of the checks of `verify`, in the order in which they are made. The first that fails is the reason that a table
/// gives, so a cause comes before its consequence: a service that closes every connection answers no second request on it either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckId {
    Response,
    Fresh,
    Fragments,
    KeepAlive,
    Pipelined,
    ConnectionClose,
    #[serde(rename = "http-1-0")]
    Http10,
    Head,
    NotFound,
    WrongMethod,
    BadInput,
    Date,
    Alive,
}

/// A check in words, for `tare verify --explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckText {
    pub name: &'static str,
    pub does: &'static str,
    pub proves: &'static str,
}

impl CheckId {
    /// All checks, in the order in which they are made.
    pub const ALL: [CheckId; 13] = [
        CheckId::Response,
        CheckId::Fresh,
        CheckId::Fragments,
        CheckId::KeepAlive,
        CheckId::Pipelined,
        CheckId::ConnectionClose,
        CheckId::Http10,
        CheckId::Head,
        CheckId::NotFound,
        CheckId::WrongMethod,
        CheckId::BadInput,
        CheckId::Date,
        CheckId::Alive,
    ];

    pub fn name(self) -> &'static str {
        self.text().name
    }

    pub(crate) fn from_name(name: &str) -> Option<CheckId> {
        CheckId::ALL.into_iter().find(|check| check.name() == name)
    }

    pub fn text(self) -> CheckText {
        TEXTS[self as usize]
    }
}

/// Of each check, in the order of [`CheckId::ALL`].
const TEXTS: [CheckText; CheckId::ALL.len()] = [
    CheckText {
        name: "response",
        does: "sends every request of the contract once, each on its own connection",
        proves: "status, content type, headers, length and body are what the contract says",
    },
    CheckText {
        name: "fresh",
        does: "sends every request that has placeholders many times, each time filled anew; labels of 1 to 24 characters",
        proves: "the answer is made from the request: it is neither cached nor cut to one length",
    },
    CheckText {
        name: "fragments",
        does: "sends every request cut in two at each place where parsers stumble, and once byte by byte",
        proves: "the service waits for the end of the request, however TCP cuts it",
    },
    CheckText {
        name: "keep-alive",
        does: "sends 200 requests one after the other on one connection",
        proves: "the connection is kept, so that a load measures requests and not connections",
    },
    CheckText {
        name: "pipelined",
        does: "sends two requests in one write, different ones where the contract has them",
        proves: "both are answered, in the order in which they were sent",
    },
    CheckText {
        name: "connection-close",
        does: "sends every request of the load with `Connection: close`",
        proves: "it is answered, and then the service closes the connection, without a reset",
    },
    CheckText {
        name: "http-1-0",
        does: "sends every request of the load as HTTP/1.0 without `Connection`",
        proves: "it is answered unchunked, and then the service closes the connection",
    },
    CheckText {
        name: "head",
        does: "sends every GET of the load as HEAD",
        proves: "the status is that of GET, no body follows, and a Content-Length is that of GET",
    },
    CheckText {
        name: "not-found",
        does: "asks for two random paths",
        proves: "what the contract does not know is answered with 404: there is a router",
    },
    CheckText {
        name: "wrong-method",
        does: "sends a method that the contract does not know to every path of the load",
        proves: "it is answered with 405 or 404: the router looks at the method",
    },
    CheckText {
        name: "bad-input",
        does: "sends every [[bad]] request of the contract, then a right one",
        proves: "wrong input is answered with 4xx, and the service works on",
    },
    CheckText {
        name: "date",
        does: "asks twice, more than a second apart, and compares the `Date` headers, if there are any",
        proves: "a Date that is sent is valid and moves: the head of the answer is not a constant",
    },
    CheckText {
        name: "alive",
        does: "sends the first request again after all other checks",
        proves: "nothing that was sent broke the service",
    },
];

impl fmt::Display for CheckId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serde_uses_the_names_of_the_table() {
        for check in CheckId::ALL {
            assert_eq!(serde_json::to_value(check).unwrap(), serde_json::json!(check.name()));
            assert_eq!(CheckId::from_name(check.name()), Some(check));
        }
    }

    #[test]
    fn the_list_is_in_the_order_of_the_enum() {
        assert!(CheckId::ALL.is_sorted());
    }
}
