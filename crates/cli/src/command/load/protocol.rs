//! The protocol of a load, and its number of streams.

use std::sync::Arc;

use anyhow::{bail, ensure};
use tare_load::{Protocol, TlsClient};

use super::{url::Url, words};
use crate::command::target::spoken::SpokenOptions;

/// More streams than servers allow, and than a generator needs.
const STREAMS_MAX: u64 = 10_000;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct ProtocolArgs {
    #[command(flatten)]
    pub spoken: SpokenOptions,
    /// Requests at a time on each connection of HTTP/2, each on a stream of its own: -c 8 -m 32 has 256 at a time [default: 1]
    #[arg(short = 'm', long, value_name = "N", value_parser = words::streams)]
    pub streams: Option<u64>,
    /// Resume TLS sessions, as browsers do: connections after the first ones, such as those of --requests-per-connection. Without
    /// this each connection has a full handshake
    #[arg(long)]
    pub resume: bool,
}

/// A protocol and its settings.
#[derive(Debug, Clone)]
pub(crate) struct Spoken {
    pub protocol: Protocol,
    pub streams: usize,
    pub tls: Option<Arc<TlsClient>>,
}

impl ProtocolArgs {
    /// The protocol for the server of this URL.
    pub(crate) fn spoken(&self, url: &Url) -> anyhow::Result<Spoken> {
        let protocol = self.spoken.protocol(url)?;
        self.spoken.ensure_of_use(protocol.is_tls())?;
        ensure!(
            self.streams.is_none() || protocol.is_http2(),
            "--streams needs HTTP/2: add --h2 or --h2c, or use --pipeline for several requests at a time of HTTP/1.1"
        );
        if self.resume && !protocol.is_tls() {
            bail!("--resume needs TLS: begin the URL with https://");
        }
        let streams = self.streams.unwrap_or(1);
        ensure!(streams <= STREAMS_MAX, "--streams {streams} is too much: give at most {STREAMS_MAX}");
        let tls = self.spoken.tls(url, protocol, self.resume)?;
        Ok(Spoken { protocol, streams: streams as usize, tls })
    }
}
