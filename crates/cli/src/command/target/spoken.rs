//! The protocol and the certificates of a server: TLS by the scheme of its URL, HTTP/2 by an option, both as
//! in curl. All commands that take a URL have these options.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow, bail, ensure};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tare_load::{
    ClientCertificate, Protocol, TlsClient, TlsError, TlsOffer, TlsOptions, TlsTrust, TlsVersion,
};
use tare_service::client::{Channel, Trusts};

use super::url::{Scheme, Url};

pub(super) const HEADING: &str = "Protocol";

#[derive(Debug, Default, clap::Args)]
pub(crate) struct SpokenOptions {
    /// Speak HTTP/2 over TLS, chosen by ALPN; the URL begins with https://
    #[arg(long, alias = "http2", conflicts_with = "h2c", help_heading = HEADING)]
    h2: bool,
    /// Speak HTTP/2 without TLS, with prior knowledge; the URL begins with http://
    #[arg(long, alias = "http2-prior-knowledge", help_heading = HEADING)]
    h2c: bool,
    /// Trust the certificate authorities in this PEM file, and not those of the system
    #[arg(long, value_name = "FILE", conflicts_with = "insecure", help_heading = HEADING)]
    pub cacert: Option<PathBuf>,
    /// Accept any certificate: the connection is encrypted, but the server may be any that answers there
    #[arg(short = 'k', long, help_heading = HEADING)]
    pub insecure: bool,
    /// Show this certificate to a server that asks for one: a PEM file with the certificate of the client first, and behind it those
    /// of the authorities between
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    cert: Option<PathBuf>,
    /// The private key of --cert, a PEM file that is not encrypted [default: the file of --cert]
    #[arg(long, value_name = "FILE", requires = "cert", help_heading = HEADING)]
    key: Option<PathBuf>,
    /// The newest version of TLS to speak, which is the only one that is offered: 1.3, or 1.2 for a server that has no other
    /// [default: 1.3]
    #[arg(long, value_name = "VERSION", value_enum, help_heading = HEADING)]
    pub tls_max: Option<MaxTls>,
}

/// What stands behind `--tls-max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MaxTls {
    /// For a server that speaks nothing newer
    #[value(name = "1.2")]
    Tls12,
    /// As every command speaks it
    #[value(name = "1.3")]
    Tls13,
}

impl SpokenOptions {
    /// The name of one of the given options.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let of_http2 = [(self.h2, "--h2"), (self.h2c, "--h2c")];
        of_http2.into_iter().chain(self.of_tls()).find_map(|(is_given, option)| is_given.then_some(option))
    }

    fn of_tls(&self) -> [(bool, &'static str); 4] {
        [
            (self.cacert.is_some(), "--cacert"),
            (self.insecure, "--insecure"),
            (self.cert.is_some(), "--cert"),
            (self.tls_max.is_some(), "--tls-max"),
        ]
    }

    pub(crate) fn protocol(&self, url: &Url) -> anyhow::Result<Protocol> {
        Ok(match (url.scheme, self.h2, self.h2c) {
            (Scheme::Http, false, false) => Protocol::Http1,
            (Scheme::Https, false, false) => Protocol::Http1Tls,
            (Scheme::Https, true, _) => Protocol::H2,
            (Scheme::Http, _, true) => Protocol::H2c,
            (Scheme::Http, true, _) => {
                bail!(
                    "--h2 is HTTP/2 over TLS: begin the URL with https://, or use --h2c for HTTP/2 without TLS"
                )
            }
            (Scheme::Https, _, true) => {
                bail!(
                    "--h2c is HTTP/2 without TLS: begin the URL with http://, or use --h2 for HTTP/2 over TLS"
                )
            }
        })
    }

    /// Fails if an option has no effect: TLS options need an https URL.
    pub(crate) fn ensure_of_use(&self, has_tls: bool) -> anyhow::Result<()> {
        match self.of_tls().into_iter().find(|(is_given, _)| *is_given && !has_tls) {
            Some((_, option)) => bail!("{option} needs TLS: begin the URL with https://"),
            None => Ok(()),
        }
    }

    /// A TLS client for the server of this URL, if it uses TLS.
    pub(crate) fn tls(
        &self,
        url: &Url,
        protocol: Protocol,
        resume: bool,
    ) -> anyhow::Result<Option<Arc<TlsClient>>> {
        if !protocol.is_tls() {
            return Ok(None);
        }
        let options = TlsOptions {
            trust: self.trust()?,
            server_name: url.host.clone(),
            alpn: protocol.alpn(),
            resume,
            offer: TlsOffer::Usual,
            version: match self.tls_max {
                Some(MaxTls::Tls12) => TlsVersion::Tls12,
                Some(MaxTls::Tls13) | None => TlsVersion::Tls13,
            },
            certificate: self.cert.as_deref().map(|path| self.certificate(path)).transpose()?,
        };
        Ok(Some(Arc::new(TlsClient::new(options).map_err(|error| match &error {
            TlsError::Identity(_) => anyhow!(error).context(self.files_of_identity()),
            _ => error.into(),
        })?)))
    }

    pub(crate) fn channel(&self, url: &Url) -> anyhow::Result<Channel> {
        let protocol = self.protocol(url)?;
        let trusts = self.tls(url, protocol, false)?.map_or(Trusts::Nothing, Trusts::Own);
        Ok(Channel { protocol, trusts })
    }

    fn files_of_identity(&self) -> String {
        let files = [("--cert", &self.cert), ("--key", &self.key)];
        let given = files.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
        given.map(|(option, path)| format!("{option} {}", path.display())).collect::<Vec<_>>().join(", ")
    }

    fn certificate(&self, path: &Path) -> anyhow::Result<ClientCertificate> {
        let chain = certificates("--cert", path)?;
        ensure!(!chain.is_empty(), "--cert: {} has no certificate in PEM", path.display());
        let (option, key_path) = match &self.key {
            Some(key) => ("--key", key.as_path()),
            None => ("--cert", path),
        };
        let key = PrivateKeyDer::from_pem_file(key_path).with_context(|| {
            format!("{option}: {} has no private key in PEM that is not encrypted", key_path.display())
        })?;
        Ok(ClientCertificate { chain, key: Arc::new(key) })
    }

    fn trust(&self) -> anyhow::Result<TlsTrust> {
        if self.insecure {
            return Ok(TlsTrust::Anything);
        }
        let authorities = match &self.cacert {
            None => rustls_native_certs::load_native_certs().certs,
            Some(path) => certificates("--cacert", path)?,
        };
        ensure!(
            !authorities.is_empty(),
            "no certificate authority is known{}: give one by --cacert FILE, or accept any certificate by -k",
            if self.cacert.is_some() { " in that file" } else { " on this machine" }
        );
        Ok(TlsTrust::Authorities(authorities))
    }
}

/// The certificates in a PEM file, which may be empty.
pub(crate) fn certificates(option: &str, path: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    read.with_context(|| format!("{option}: {} cannot be read as PEM", path.display()))
}
