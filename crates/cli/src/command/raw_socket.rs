//! `tare raw-socket`: the built-in server that every service is compared with.

use std::path::Path;

use anyhow::Context;
use tare_service::{
    contract::{self, Contract},
    raw_socket::{self, faults::Fault},
};

use crate::{exit::Outcome, output::print, workspace::Global};
use tare_host::signals;

/// Start the built-in server: one fixed response from a raw socket, without an HTTP framework
///
/// It does as little as a server can: one read and one write per request. Services are compared with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare raw-socket --port 8080                     answers every request on 127.0.0.1:8080
  tare raw-socket --port 8080 --contract bare     with the response of another contract")]
pub(crate) struct Args {
    /// TCP port on 127.0.0.1
    #[arg(long, env = "PORT", required_unless_present = "version", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Threads, each with its own epoll
    #[arg(long, env = "THREADS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// The contract whose response is sent, a name or the path of a file; it must have only one
    #[arg(long, default_value = "hello")]
    contract: String,
    /// Serve with a known fault, for `tare selftest`: slower=3%, stall=200ms/1s, caches, drops=1%, ...
    #[arg(long, hide = true, value_name = "FAULT")]
    misbehave: Option<Fault>,
    /// Print the version
    #[arg(long)]
    version: bool,
}

pub(crate) fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if args.version {
        print(concat!(env!("CARGO_PKG_VERSION"), "\n"))?;
        return Ok(Outcome::Fine);
    }
    let contract = contract(global, &args.contract)?;
    let response = contract::fixed_response(&contract).with_context(|| {
        format!(
            "contract \"{}\" has no single fixed response, and the raw socket can send no other",
            contract.name
        )
    })?;
    let port = args.port.context("no port")?;
    let stop = signals::listen()?;
    let threads = args.threads.into();
    match &args.misbehave {
        None => raw_socket::serve(port, threads, &response, &stop),
        Some(fault) => raw_socket::serve_with_fault(port, threads, &response, fault, &stop),
    }
    .with_context(|| format!("cannot serve on 127.0.0.1:{port}"))?;
    signals::forget();
    Ok(Outcome::Fine)
}

/// By its name, or in the file of this path.
fn contract(global: &Global, word: &str) -> anyhow::Result<Contract> {
    match word.contains('/') {
        true => Ok(Contract::load(Path::new(word))?),
        false => Ok(global.open()?.contract(word)?.clone()),
    }
}
