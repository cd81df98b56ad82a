//! How a load uses its connections: how many requests at a time, and how many in all.

use serde::{Deserialize, Serialize};
use tare_load::Protocol;

/// By default one request at a time, and the connection is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionUse {
    /// How many requests at a time share a connection over HTTP/2, each on a stream of its own. HTTP/1.1 has a connection for each,
    /// so that in both protocols as many requests are on their way.
    pub streams: usize,
    /// Requests after which a connection is closed and another is opened: each then has a handshake of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Whether TLS sessions are resumed.
    pub resumes: bool,
}

impl Default for ConnectionUse {
    fn default() -> ConnectionUse {
        ConnectionUse { streams: 1, requests: None, resumes: false }
    }
}

impl ConnectionUse {
    pub(crate) fn is_usual(&self) -> bool {
        *self == ConnectionUse::default()
    }

    /// How many connections a row in this protocol has, of a number of requests at a time.
    pub fn connections(&self, requests: usize, protocol: Protocol) -> usize {
        if protocol.is_http2() { (requests / self.streams).max(1) } else { requests }
    }

    /// Behind a number of connections; nothing if they are used as usual.
    pub fn describe(&self, connections: usize) -> String {
        let streams = match self.streams {
            1 => String::new(),
            streams => format!(" (over HTTP/2 {} with {streams} streams each)", connections / streams),
        };
        let requests = match self.requests {
            None => String::new(),
            Some(1) => ", one request each".to_owned(),
            Some(number) => format!(", {number} requests each"),
        };
        let resumed = if self.resumes { ", TLS sessions resumed" } else { "" };
        format!("{streams}{requests}{resumed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_unusual_is_said() {
        assert_eq!(ConnectionUse::default().describe(64), "");
        let shared = ConnectionUse { streams: 16, ..ConnectionUse::default() };
        assert_eq!(shared.describe(64), " (over HTTP/2 4 with 16 streams each)");
        assert_eq!(shared.connections(64, Protocol::H2c), 4);
        assert_eq!(shared.connections(64, Protocol::Http1Tls), 64);
        let each = ConnectionUse { streams: 1, requests: Some(1), resumes: true };
        assert_eq!(each.describe(64), ", one request each, TLS sessions resumed");
        assert_eq!(serde_json::from_str::<ConnectionUse>("{}").unwrap(), ConnectionUse::default());
    }
}
