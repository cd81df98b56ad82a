//! `tare raw-socket`: the raw-socket server that every service is related to.

use anyhow::Context;
use tare_service::{
    contract,
    raw_socket::{self, misbehave::Fault},
};

use crate::{exit::Outcome, workspace::Global};
use tare_host::signals;

/// Serve one fixed response from a raw socket: what every service is weighed against
#[derive(Debug, clap::Args)]
pub struct Args {
    /// TCP port on 127.0.0.1
    #[arg(long, env = "PORT", required_unless_present = "version", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Threads, each with its own epoll
    #[arg(long, env = "THREADS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// The contract whose one response is sent
    #[arg(long, default_value = "hello")]
    contract: String,
    /// Serve with a known fault, for `tare selftest`: slower=3%, stall=200ms/1s, caches, drops=1%, ...
    #[arg(long, hide = true, value_name = "FAULT")]
    misbehave: Option<Fault>,
    /// Print the version and nothing else
    #[arg(long, exclusive = true)]
    version: bool,
}

pub fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if args.version {
        println!("{}", env!("CARGO_PKG_VERSION"));
        return Ok(Outcome::Fine);
    }
    let workspace = global.open()?;
    let contract = workspace.contract(&args.contract)?;
    let response = contract::fixed_response(contract).with_context(|| {
        format!(
            "contract \"{}\" has no single fixed response, and a raw_socket sends nothing else",
            contract.name
        )
    })?;
    let port = args.port.context("no port")?;
    let stop = signals::listen()?;
    let threads = args.threads.into();
    match &args.misbehave {
        None => raw_socket::serve(port, threads, &response, &stop),
        Some(fault) => raw_socket::serve_wrongly(port, threads, &response, fault, &stop),
    }
    .with_context(|| format!("cannot serve on 127.0.0.1:{port}"))?;
    signals::forget();
    Ok(Outcome::Fine)
}
