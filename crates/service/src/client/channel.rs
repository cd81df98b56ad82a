//! How a client speaks to a server: in which protocol, and by which certificates.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use rustls::{ClientConfig, pki_types::ServerName};
use tare_load::{Endpoint, Protocol, TlsClient, TlsError, TlsOffer, TlsOptions, Trust};

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

    /// How a load speaks TLS: as everything that speaks TLS 1.3 can, so that all services are asked for the same. Absent without TLS.
    ///
    /// # Errors
    /// The authority of the run cannot be used.
    pub fn client_of_load(&self, resumes: bool) -> Result<Option<Arc<TlsClient>>, TlsError> {
        if self.client.is_some() || !self.protocol.is_tls() {
            return Ok(self.client.clone());
        }
        let Some(certificates) = &self.certificates else { return Ok(None) };
        let options = TlsOptions {
            trust: Trust::Authorities(vec![certificates.authority().clone()]),
            server_name: certificates.server_name().to_owned(),
            alpn: self.protocol.alpn(),
            resume: resumes,
            offer: TlsOffer::One,
        };
        Ok(Some(Arc::new(TlsClient::new(options)?)))
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
