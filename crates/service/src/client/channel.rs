//! How a client speaks to a server: in which protocol, and by which certificates.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, ServerName},
};
use tare_load::{Protocol, TlsClient, TlsError, TlsOffer, TlsOptions, TlsVersion, Trust};

use crate::certificate::Certificates;

/// In which protocol, and by which certificates. By default plain HTTP/1.1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Channel {
    pub protocol: Protocol,
    pub trusts: Trusts,
}

/// Whose certificates a client trusts.
#[derive(Debug, Clone, Default)]
pub enum Trusts {
    /// It asks nothing over TLS.
    #[default]
    Nothing,
    /// Those of the run.
    Run(Arc<Certificates>),
    /// Those that this client accepts, of a server that has its own.
    Own(Arc<TlsClient>),
}

impl Channel {
    /// The settings of a TLS client that offers the protocol and no other; absent without TLS.
    pub fn tls(&self) -> Option<Arc<ClientConfig>> {
        let alpn = self.protocol.alpn()?;
        match &self.trusts {
            Trusts::Nothing => None,
            Trusts::Run(certificates) => Some(certificates.client(&[alpn])),
            Trusts::Own(client) => Some(client.config()),
        }
    }

    /// Those of the run, which its services show.
    pub(crate) fn certificates(&self) -> Option<&Arc<Certificates>> {
        match &self.trusts {
            Trusts::Run(certificates) => Some(certificates),
            Trusts::Nothing | Trusts::Own(_) => None,
        }
    }

    /// Of the run: the authority that a client of its services must trust, and the name that it asks for. Absent without TLS.
    pub fn trusted(&self) -> Option<(&CertificateDer<'static>, &'static str)> {
        match &self.trusts {
            Trusts::Run(certificates) if self.protocol.is_tls() => {
                Some((certificates.authority(), certificates.server_name()))
            }
            Trusts::Run(_) | Trusts::Own(_) | Trusts::Nothing => None,
        }
    }

    /// How a load speaks TLS: as everything that speaks TLS 1.3 can, so that all services are asked for the same. Absent without TLS.
    ///
    /// # Errors
    /// The authority of the run cannot be used.
    pub fn client_of_load(&self, resumes: bool) -> Result<Option<Arc<TlsClient>>, TlsError> {
        let certificates = match &self.trusts {
            Trusts::Own(client) => return Ok(Some(Arc::clone(client))),
            Trusts::Run(certificates) if self.protocol.is_tls() => certificates,
            Trusts::Run(_) | Trusts::Nothing => return Ok(None),
        };
        let options = TlsOptions {
            trust: Trust::Authorities(vec![certificates.authority().clone()]),
            server_name: certificates.server_name().to_owned(),
            alpn: self.protocol.alpn(),
            resume: resumes,
            offer: TlsOffer::One,
            version: TlsVersion::Tls13,
            certificate: None,
        };
        Ok(Some(Arc::new(TlsClient::new(options)?)))
    }

    /// What the certificate of the server must be for: its name where a client asks for that. That of a run is for 127.0.0.1,
    /// at whichever address its services are asked.
    pub(crate) fn server_name(&self) -> ServerName<'static> {
        match &self.trusts {
            Trusts::Own(client) => client.server_name(),
            Trusts::Run(_) | Trusts::Nothing => ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST)),
        }
    }

    /// What is unusual about its TLS, in words: two loads that differ in it are different ones.
    pub fn unusual_tls(&self) -> Option<String> {
        let Trusts::Own(client) = &self.trusts else { return None };
        let version = (client.version() == TlsVersion::Tls12).then_some("TLS 1.2");
        let certificate = client.has_certificate().then_some("a client certificate");
        let words: Vec<&str> = version.into_iter().chain(certificate).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The scheme of its URLs.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.protocol.is_tls() { "https" } else { "http" }
    }
}

impl From<Option<Arc<Certificates>>> for Trusts {
    fn from(certificates: Option<Arc<Certificates>>) -> Trusts {
        certificates.map_or(Trusts::Nothing, Trusts::Run)
    }
}

/// By identity: each run makes its own, and nothing else tells them apart.
impl PartialEq for Trusts {
    fn eq(&self, other: &Trusts) -> bool {
        match (self, other) {
            (Trusts::Nothing, Trusts::Nothing) => true,
            (Trusts::Run(one), Trusts::Run(other)) => Arc::ptr_eq(one, other),
            (Trusts::Own(one), Trusts::Own(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}
