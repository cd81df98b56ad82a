//! How a client speaks to a server: in which protocol, and by which certificates.

use std::sync::Arc;

use rustls::ClientConfig;
use tare_load::Protocol;

use crate::certificate::Certificates;

/// In which protocol, and by which certificates. By default plain HTTP/1.1.
#[derive(Debug, Clone, Default)]
pub struct Channel {
    pub protocol: Protocol,
    /// Of a run in which anything is asked over TLS.
    pub certificates: Option<Arc<Certificates>>,
}

impl Channel {
    /// The settings of a TLS client that offers the protocol and no other; absent without TLS.
    pub fn tls(&self) -> Option<Arc<ClientConfig>> {
        let alpn = self.protocol.alpn()?;
        self.certificates.as_ref().map(|certificates| certificates.client(&[alpn]))
    }

    /// The scheme of its URLs.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.protocol.is_tls() { "https" } else { "http" }
    }
}

impl PartialEq for Channel {
    fn eq(&self, other: &Channel) -> bool {
        let files = |channel: &Channel| channel.certificates.as_ref().map(Arc::as_ptr);
        self.protocol == other.protocol && files(self) == files(other)
    }
}
