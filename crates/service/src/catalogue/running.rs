//! What stands in the place of a command where a service runs already.

use tare_host::process::Server;

use crate::client::Channel;

/// A server that Tare did not start, and that it does not stop.
#[derive(Debug, Clone)]
pub struct Running {
    pub server: Server,
    /// What requests name as their `Host`.
    pub host: String,
    /// The path that its URL has, `/` if none.
    pub path: String,
    /// How it is asked, which its URL says.
    pub channel: Channel,
}
