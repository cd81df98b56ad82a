//! `tare raw-socket`: the built-in server that is the reference for every service.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use tare_base::units::parse_duration_with_unit;
use tare_contract::Contract;
use tare_reference::{
    Ballast, RawServer,
    events::{PlantedEvent, RawEvents},
    faults::Fault,
    variables,
};

use crate::{exit::Outcome, output::print, workspace::Global};
use tare_host::signals;

/// Start the built-in server, which sends one fixed answer
///
/// It does as little as a server can: one read and one write per request. Services are compared with it.
/// With a certificate and its key it speaks TLS 1.3 and nothing else on its port. Over HTTP/2 it gives each request the same fixed answer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare raw-socket --port 8080                     answers every request on 127.0.0.1:8080
  tare raw-socket --port 8080 --contract bare     with the response of another contract
  tare raw-socket --port 8080 --protocol h2c      HTTP/2 without TLS
  tare raw-socket --port 8080 --events 100ms      streams of server-sent events, ten a second each
  tare raw-socket --port 8443 --tls-cert cert.pem --tls-key key.pem --protocol h2")]
pub(crate) struct Args {
    /// Address to listen on; 0.0.0.0 stands for all of this machine
    #[arg(long, env = "SERVE_ON", value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST)]
    address: Ipv4Addr,
    /// TCP port
    #[arg(long, env = "PORT", required_unless_present = "version", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Threads, each with its own epoll
    #[arg(long, env = "THREADS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// The contract whose response is sent, a name or the path of a file; it must have only one
    #[arg(long, default_value = "hello")]
    contract: String,
    /// What the port speaks: http/1.1 (over TLS if there is a certificate), h2 (HTTP/2 over TLS, which needs a certificate) or h2c
    /// (HTTP/2 without TLS, with prior knowledge)
    #[arg(long, env = "PROTOCOL", default_value = "http/1.1")]
    protocol: String,
    /// Speak TLS with this certificate: a PEM file, the server's own first if it is a chain
    #[arg(long, env = "TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, a PEM file
    #[arg(long, env = "TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Answer each request by a stream of server-sent events, one at this interval; 0 sends as fast as the client reads. HTTP/1.1
    /// without TLS
    #[arg(
        long, value_name = "INTERVAL", value_parser = parse_duration_with_unit,
        conflicts_with_all = ["contract", "protocol", "tls_cert", "tls_key", "misbehave", "ballast_ns", "threads"]
    )]
    events: Option<Duration>,
    /// Send streams with a known fault: wrong/1500, lost/1500, repeated/1500, late=5ms/100, silent/100, cut/100
    #[arg(long, hide = true, value_name = "FAULT", requires = "events")]
    event_fault: Option<PlantedEvent>,
    /// Serve with a known fault, for `tare selftest`: slower=3%, stall=200ms/1s, caches, drops=1%, ...
    #[arg(long, hide = true, value_name = "FAULT")]
    misbehave: Option<Fault>,
    /// At the end, append to this file what the fault added to requests, as a line of JSON
    #[arg(long, hide = true, value_name = "FILE")]
    added: Option<PathBuf>,
    /// Spin for this number of nanoseconds at each request, as the reference of an experiment does
    #[arg(long, hide = true, value_name = "NS", requires = "ballast_count")]
    ballast_ns: Option<u64>,
    /// Where that is counted
    #[arg(long, hide = true, value_name = "FILE")]
    ballast_count: Option<PathBuf>,
    /// Print the version
    #[arg(long)]
    version: bool,
}

pub(crate) fn run(global: &Global, args: Args) -> anyhow::Result<Outcome> {
    if args.version {
        print(concat!(env!("CARGO_PKG_VERSION"), "\n"))?;
        return Ok(Outcome::Fine);
    }
    if let Some(every) = args.events {
        return stream(&args, every);
    }
    let (version, identity) =
        variables::read(&args.protocol, args.tls_cert.as_deref(), args.tls_key.as_deref())?;
    let contract = contract(global, &args.contract)?;
    let response = tare_contract::fixed_response(&contract)
        .with_context(|| format!("the raw socket cannot serve contract \"{}\"", contract.name))?;
    let port = args.port.context("no port")?;
    let stop = signals::listen()?;
    let ballast = args.ballast_ns.zip(args.ballast_count).map(|(ns, count)| Ballast { ns, count });
    let server = RawServer {
        address: args.address,
        port,
        threads: args.threads.into(),
        response: &response,
        version,
        identity: identity.as_ref(),
        fault: args.misbehave.as_ref(),
        ballast: ballast.as_ref(),
    };
    let added = server.run(&stop).with_context(|| format!("cannot serve on {}:{port}", args.address))?;
    if let Some(file) = &args.added {
        added.append_to(file).with_context(|| file.display().to_string())?;
    }
    signals::forget();
    Ok(Outcome::Fine)
}

/// Serves streams of events.
fn stream(args: &Args, every: Duration) -> anyhow::Result<Outcome> {
    let (address, port) = (args.address, args.port.context("no port")?);
    let stop = signals::listen()?;
    let served = RawEvents { address, port, every, fault: args.event_fault }.run(&stop);
    served.with_context(|| format!("cannot serve on {address}:{port}"))?;
    signals::forget();
    Ok(Outcome::Fine)
}

/// The contract of this name, or in the file at this path. A run names the file, unless the contract is built in: then no workspace is
/// opened, which would be a part of the start-up that it measures.
fn contract(global: &Global, word: &str) -> anyhow::Result<Contract> {
    match Contract::built_in().remove(word) {
        _ if word.contains('/') => Ok(Contract::load(Path::new(word))?),
        Some(contract) => Ok(contract),
        None => Ok(global.open()?.contract(word)?.clone()),
    }
}
