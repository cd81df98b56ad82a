//! In which protocol a server is loaded: TLS by the scheme of its URL, HTTP/2 by an option, in the words of curl and h2load.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context, bail, ensure};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use tare_load::{Protocol, TlsClient, TlsOffer, TlsOptions, Trust};

use super::{
    url::{Scheme, Url},
    words,
};

/// More streams than servers allow, and than a generator needs.
const STREAMS_MAX: u64 = 10_000;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct ProtocolArgs {
    /// Speak HTTP/2 over TLS, chosen by ALPN; the URL begins with https://
    #[arg(long, alias = "http2", conflicts_with_all = ["h2c", "pipeline", "requests_per_connection", "connections_total"])]
    pub h2: bool,
    /// Speak HTTP/2 without TLS, with prior knowledge; the URL begins with http://
    #[arg(
        long,
        alias = "http2-prior-knowledge",
        conflicts_with_all = ["pipeline", "requests_per_connection", "connections_total"]
    )]
    pub h2c: bool,
    /// Requests at a time on each connection of HTTP/2, each on a stream of its own: -c 8 -m 32 has 256 at a time [default: 1]
    #[arg(short = 'm', long, value_name = "N", value_parser = words::streams)]
    pub streams: Option<u64>,
    /// Trust the certificate authorities in this PEM file, and not those of the system
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub cacert: Option<PathBuf>,
    /// Accept any certificate: the connection is encrypted, but the server may be any that answers there
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Resume TLS sessions, as browsers do: connections after the first ones, such as those of --requests-per-connection. Without
    /// this each connection has a full handshake
    #[arg(long)]
    pub resume: bool,
}

/// A protocol, and what it takes.
#[derive(Debug, Clone)]
pub(super) struct Spoken {
    pub protocol: Protocol,
    pub streams: usize,
    pub tls: Option<Arc<TlsClient>>,
}

impl ProtocolArgs {
    /// For the server of this URL.
    pub(super) fn spoken(&self, url: &Url) -> anyhow::Result<Spoken> {
        let protocol = match (url.scheme, self.h2, self.h2c) {
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
        };
        self.ensure_of_use(protocol)?;
        let streams = self.streams.unwrap_or(1);
        ensure!(streams <= STREAMS_MAX, "--streams {streams} is too much: give at most {STREAMS_MAX}");
        let tls = protocol.is_tls().then(|| self.tls(url, protocol)).transpose()?;
        Ok(Spoken { protocol, streams: streams as usize, tls })
    }

    /// No option is without effect.
    fn ensure_of_use(&self, protocol: Protocol) -> anyhow::Result<()> {
        ensure!(
            self.streams.is_none() || protocol.is_http2(),
            "--streams needs HTTP/2: add --h2 or --h2c, or use --pipeline for several requests at a time of HTTP/1.1"
        );
        let of_tls =
            [(self.cacert.is_some(), "--cacert"), (self.insecure, "--insecure"), (self.resume, "--resume")];
        match of_tls.iter().find(|(is_given, _)| *is_given && !protocol.is_tls()) {
            Some((_, option)) => bail!("{option} needs TLS: begin the URL with https://"),
            None => Ok(()),
        }
    }

    fn tls(&self, url: &Url, protocol: Protocol) -> anyhow::Result<Arc<TlsClient>> {
        let options = TlsOptions {
            trust: self.trust()?,
            server_name: url.host.clone(),
            alpn: protocol.alpn(),
            resume: self.resume,
            offer: TlsOffer::Usual,
        };
        Ok(Arc::new(TlsClient::new(options)?))
    }

    fn trust(&self) -> anyhow::Result<Trust> {
        if self.insecure {
            return Ok(Trust::Anything);
        }
        let authorities = match &self.cacert {
            None => rustls_native_certs::load_native_certs().certs,
            Some(path) => {
                let name = path.display();
                let read =
                    CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
                read.with_context(|| format!("--cacert: {name} cannot be read as PEM"))?
            }
        };
        ensure!(
            !authorities.is_empty(),
            "no certificate authority is known{}: give one by --cacert FILE, or accept any certificate by -k",
            if self.cacert.is_some() { " in that file" } else { " on this machine" }
        );
        Ok(Trust::Authorities(authorities))
    }
}
