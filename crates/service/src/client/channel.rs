//! How a client speaks to a server: in which protocol, and by which certificates.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use rustls::{ClientConfig, pki_types::ServerName};
use tare_load::{Endpoint, Protocol, TlsClient};

use crate::certificate::Certificates;

/// In which protocol, and by which certificates. By default plain HTTP/1.1.
#[derive(Debug, Clone, Default)]
pub struct Channel {
    pub protocol: Protocol,
    /// Of a run in which anything is asked over TLS.
    pub certificates: Option<Arc<Certificates>>,
    /// Of a server with certificates of its own, in place of those of a run.
    pub client: Option<Arc<TlsClient>>,
}

impl Channel {
    /// The settings of a TLS client that offers the protocol and no other; absent without TLS.
    pub fn tls(&self) -> Option<Arc<ClientConfig>> {
        let alpn = self.protocol.alpn()?;
        if let Some(client) = &self.client {
            return Some(client.config());
        }
        self.certificates.as_ref().map(|certificates| certificates.client(&[alpn]))
    }

    /// What the certificate of the server must be for: its address, or its name where a client asks for that. A Unix socket is
    /// of this machine.
    pub(crate) fn server_name(&self, endpoint: &Endpoint) -> ServerName<'static> {
        match (&self.client, endpoint) {
            (Some(client), _) => client.server_name(),
            (None, Endpoint::Tcp(address)) => ServerName::from(address.ip()),
            (None, Endpoint::Unix(_)) => ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST)),
        }
    }

    /// The scheme of its URLs.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.protocol.is_tls() { "https" } else { "http" }
    }
}

impl PartialEq for Channel {
    fn eq(&self, other: &Channel) -> bool {
        let files = |channel: &Channel| {
            (channel.certificates.as_ref().map(Arc::as_ptr), channel.client.as_ref().map(Arc::as_ptr))
        };
        self.protocol == other.protocol && files(self) == files(other)
    }
}
