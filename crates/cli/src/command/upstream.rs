//! `tare upstream`, hidden: the server behind a gateway, in a process of its own.

use std::path::PathBuf;
use std::time::Duration;

use tare_service::backing::upstream_server;

use crate::exit::Outcome;

/// The server behind a gateway: rows of a table after a delay. Started by tare, not by people
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file with the rows
    rows: PathBuf,
    delay_ms: u64,
    #[arg(long, env = "PORT")]
    port: u16,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    upstream_server::serve(&args.rows, Duration::from_millis(args.delay_ms), args.port)?;
    Ok(Outcome::Fine)
}
