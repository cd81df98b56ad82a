//! `tare agent`: one of several generators of a load. `tare load --agents` or `tare run --agents` controls
//! it.

mod service;

use std::{net::TcpListener, path::PathBuf, sync::atomic::AtomicBool, time::Duration};

use anyhow::{Context, bail};
use tare_agent::{
    AgentOptions, Notice, Token,
    serve::{RunEnd, ServeEnd},
};
use tare_base::units::{parse_duration, spell_duration};
use tare_host::{cpus, signals};

use super::agents::{AgentRig, agent_token, machine, version};
use crate::{
    command::load::cpu_list,
    exit::Outcome,
    output::{print, tell_link},
};

/// Send a part of a load that `tare load --agents` or `tare run --agents` controls
///
/// An agent listens for one controller, takes its part of the load, checks every answer, reports, and ends. It ends its load and
/// itself when the controller is gone. Both must have the same token, which is read from a file or from TARE_AGENT_TOKEN, and never
/// crosses the wire. They speak TLS 1.3 and authenticate each other by keys that both derive from the token: no other program can
/// connect, read or change a message.
///
/// An agent loads only servers on its own machine. Another one is loaded only if the agent was started with --target, and the
/// controller with --i-may-load.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare agent --new-token token                                a file with a new token, for its owner alone
  tare agent --token-file token                               listens on 127.0.0.1, on the port that it prints
  tare agent --token-file token --listen 10.0.0.7:7070 --target 10.0.0.9:8080
                                                              on a machine of its own, for that server
  tare agent --token-file token --listen 10.0.0.7:7070 --target 10.0.0.9 --keep
                                                              for a `tare run --agents`, with each port of that machine
  tare agent --token-file token --watch 4711                  reads the CPU time of the service, sends nothing
  tare agent --token-file token --listen 10.0.0.9:7070 -- ./server --port 8080
                                                              starts the service, and ends it with the agent
  tare load --agents 10.0.0.7:7070,10.0.0.8:7070 --token-file token --i-may-load 10.0.0.9 http://10.0.0.9:8080/")]
pub(crate) struct Args {
    /// Address and port to listen on; port 0 lets the kernel choose
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: String,
    /// File with the token [default: the variable TARE_AGENT_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Write a new token to FILE and end
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["token_file", "listen", "target", "watch", "cpus", "keep", "wait", "silence", "service"]
    )]
    new_token: Option<PathBuf>,
    /// The server that may be loaded although it is another machine; HOST without a port permits each port of it, as a `tare run`
    /// needs, whose services have ports of their own. It must be yours
    #[arg(long, value_name = "HOST:PORT|HOST")]
    target: Option<String>,
    /// Send nothing: read the CPU time of this process and of all that it started, which serve on this machine
    #[arg(long, value_name = "PID", conflicts_with_all = ["target", "cpus"], value_parser = clap::value_parser!(u32).range(1..))]
    watch: Option<u32>,
    /// Pin the threads to these CPUs, such as 1 or 0,2-3
    #[arg(long, value_name = "LIST", value_parser = cpu_list)]
    cpus: Option<::std::vec::Vec<usize>>,
    /// Serve one run after the other, until it is stopped
    #[arg(long)]
    keep: bool,
    /// End if no run has begun after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10m", conflicts_with = "keep")]
    wait: Duration,
    /// A controller that says nothing for this time is gone
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    silence: Duration,
    /// Send nothing: start this service, read its CPU time as --watch does, and end it with the agent
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["target", "cpus", "watch"])]
    service: Vec<String>,
    /// Be of another version, for tests
    #[arg(long, hide = true, value_name = "VERSION")]
    as_version: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if let Some(path) = &args.new_token {
        Token::create(path)?;
        tell_link("a new token is in ", path);
        return Ok(Outcome::Fine);
    }
    // Read the token first: without it no port is opened.
    let token = agent_token(args.token_file.as_deref())?;
    let stop = signals::listen()?;
    let listener =
        TcpListener::bind(&args.listen).with_context(|| format!("cannot listen on {}", args.listen))?;
    match args.service.as_slice() {
        [] => serve(args, token, &listener, args.watch, &stop),
        command => service::beside(command, &stop, |pid| serve(args, token, &listener, Some(pid), &stop)),
    }
}

/// Serves as a watcher that reads the CPU time of `watch`, or as a generator.
fn serve(
    args: &Args,
    token: Token,
    listener: &TcpListener,
    watch: Option<u32>,
    stop: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let address = listener.local_addr()?;
    let options = AgentOptions {
        token,
        tare: args.as_version.clone().unwrap_or_else(version),
        target: args.target.clone(),
        watch,
        machine: machine(),
        cpus: cpus::available().len(),
        pinned: args.cpus.clone().unwrap_or_default(),
        keep: args.keep,
        silence: args.silence,
        wait: (!args.keep).then_some(args.wait),
    };
    let rig = AgentRig::new(args.target.clone(), watch, args.cpus.clone().unwrap_or_default());
    print(&format!("listening on {address}\n"))?;
    match tare_agent::serve(listener, &options, &rig, stop, &tell)? {
        ServeEnd::Run(RunEnd::Complete) => Ok(Outcome::Fine),
        ServeEnd::Run(RunEnd::Gone(reason)) => {
            tare_host::message!("the controller is gone ({reason}): the load was ended");
            Ok(Outcome::MeasurementInvalid)
        }
        ServeEnd::Run(RunEnd::Stopped) => Ok(Outcome::MeasurementInvalid),
        ServeEnd::Stopped => {
            if args.keep {
                // A signal is the normal end of an agent, so the exit status does not report it.
                signals::forget();
            }
            Ok(Outcome::Fine)
        }
        ServeEnd::NoRun => {
            bail!("no run began within {}: give it longer by --wait", spell_duration(args.wait))
        }
    }
}

fn tell(notice: Notice) {
    match notice {
        Notice::Begun { peer } => tare_host::message!("a run from {peer}"),
        Notice::Ended { peer, end: RunEnd::Complete } => {
            tare_host::message!("the run from {peer} is complete")
        }
        Notice::Ended { peer, .. } => tare_host::message!("the run from {peer} was cut off"),
        // Print a line only when the count is a power of two.
        Notice::Refused { count, .. } if !count.is_power_of_two() => {}
        Notice::Refused { peer, why, count } => {
            tare_host::message!("refused {peer}: {why} ({count} refused so far)");
        }
    }
}
