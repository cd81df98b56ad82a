//! How a load uses its connections: how many requests at a time, and how many in all.

use serde::{Deserialize, Serialize};

/// By default one request at a time, and the connection is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionUse {
    /// Streams at a time on a connection of HTTP/2. A connection of HTTP/1.1 has one request at a time.
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

    /// Behind the number of connections; nothing if they are used as usual.
    pub fn describe(&self) -> String {
        let streams = match self.streams {
            1 => String::new(),
            number => format!(", {number} streams each over HTTP/2"),
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
        assert_eq!(ConnectionUse::default().describe(), "");
        let each = ConnectionUse { streams: 8, requests: Some(1), resumes: true };
        assert_eq!(each.describe(), ", 8 streams each over HTTP/2, one request each, TLS sessions resumed");
        assert_eq!(serde_json::from_str::<ConnectionUse>("{}").unwrap(), ConnectionUse::default());
    }
}
