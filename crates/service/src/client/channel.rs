//! How a client connects to a server: its protocol, and the certificates that it trusts.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use rustls::{
    ClientConfig,
    pki_types::{CertificateDer, ServerName},
};
use tare_load::{Protocol, TlsClient, TlsError, TlsOffer, TlsOptions, TlsTrust, TlsVersion};

use crate::certificate::Certificates;

/// Protocol and certificates. Default: plain HTTP/1.1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Channel {
    pub protocol: Protocol,
    pub trusts: Trusts,
}

/// The certificates that a client trusts.
#[derive(Debug, Clone, Default)]
pub enum Trusts {
    /// It does not use TLS.
    #[default]
    Nothing,
    /// The certificates of the run.
    Run(Arc<Certificates>),
    /// The certificates that this client accepts, for a server with its own.
    Own(Arc<TlsClient>),
}

impl Channel {
    /// The settings of a TLS client that offers only this protocol; absent without TLS.
    pub fn tls(&self) -> Option<Arc<ClientConfig>> {
        let alpn = self.protocol.alpn()?;
        match &self.trusts {
            Trusts::Nothing => None,
            Trusts::Run(certificates) => Some(certificates.client(&[alpn])),
            Trusts::Own(client) => Some(client.config()),
        }
    }

    /// The run's certificates, which its services present.
    pub(crate) fn certificates(&self) -> Option<&Arc<Certificates>> {
        match &self.trusts {
            Trusts::Run(certificates) => Some(certificates),
            Trusts::Nothing | Trusts::Own(_) => None,
        }
    }

    /// The run's authority and the server name that clients request. Absent without TLS.
    pub fn trusted(&self) -> Option<(&CertificateDer<'static>, &'static str)> {
        match &self.trusts {
            Trusts::Run(certificates) if self.protocol.is_tls() => {
                Some((certificates.authority(), certificates.server_name()))
            }
            Trusts::Run(_) | Trusts::Own(_) | Trusts::Nothing => None,
        }
    }

    /// The TLS settings of a load: what every TLS 1.3 server supports, for all services. Absent without TLS.
    ///
    /// # Errors
    /// The run's authority cannot be used.
    pub fn client_of_load(&self, resumes: bool) -> Result<Option<Arc<TlsClient>>, TlsError> {
        let certificates = match &self.trusts {
            Trusts::Own(client) => return Ok(Some(Arc::clone(client))),
            Trusts::Run(certificates) if self.protocol.is_tls() => certificates,
            Trusts::Run(_) | Trusts::Nothing => return Ok(None),
        };
        let options = TlsOptions {
            trust: TlsTrust::Authorities(vec![certificates.authority().clone()]),
            server_name: certificates.server_name().to_owned(),
            alpn: self.protocol.alpn(),
            resume: resumes,
            offer: TlsOffer::One,
            version: TlsVersion::Tls13,
            certificate: None,
        };
        Ok(Some(Arc::new(TlsClient::new(options)?)))
    }

    /// The name that the server's certificate must have. For the run's certificates it is 127.0.0.1, whatever
    /// the address of the service.
    pub(crate) fn server_name(&self) -> ServerName<'static> {
        match &self.trusts {
            Trusts::Own(client) => client.server_name(),
            Trusts::Run(_) | Trusts::Nothing => ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST)),
        }
    }

    /// Unusual TLS settings in words: loads that differ in them are not comparable.
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

/// Compares by identity: each run makes its own certificates.
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
