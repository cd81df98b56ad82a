//! A server that already runs, in place of a command.

use tare_host::process::Server;

use crate::client::Channel;

/// A server that Tare did not start and will not stop.
#[derive(Debug, Clone)]
pub struct Running {
    pub server: Server,
    /// The `Host` header of requests.
    pub host: String,
    /// The path of its URL; default: `/`.
    pub path: String,
    /// The protocol and certificates, from its URL.
    pub channel: Channel,
}
