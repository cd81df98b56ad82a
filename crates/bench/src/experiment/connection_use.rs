//! How a load uses its connections: concurrent requests, and requests in all.

use serde::{Deserialize, Serialize};
use tare_load::Protocol;

/// Default: one request at a time on a persistent connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionUse {
    /// Concurrent HTTP/2 streams per connection. HTTP/1.1 has one connection per stream, so that both
    /// protocols have the same number of requests in flight.
    pub streams: usize,
    /// Requests after which a connection is replaced, with a new handshake.
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

    /// The number of connections, in this protocol, for a number of concurrent requests.
    pub fn connections(&self, requests: usize, protocol: Protocol) -> usize {
        if protocol.is_http2() { (requests / self.streams).max(1) } else { requests }
    }

    /// A suffix after the number of connections; empty for the default use.
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
