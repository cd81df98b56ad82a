//! `tare serve`: stored runs and runs in progress, in a browser on this machine. It only reads run folders:
//! it starts nothing and contacts no measuring process.

mod accept;
mod follow;
mod guard;
mod pages;
mod progress;
mod routes;
mod shelf;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use anyhow::{Context, ensure};
use tare_host::{process, signals};
use tokio::net::{TcpListener, UnixStream};

use crate::{exit::Outcome, output::print, workspace::Global};
use routes::App;
use shelf::Folders;

/// Show stored runs and runs in progress in a browser
///
/// Listens on 127.0.0.1 only, until Ctrl-C. It runs at idle priority: it takes CPU time only when nothing else wants it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare serve                 prints the address to open; lists the runs in `.tare/runs/` and `record/`
  tare serve --port 0        any free port
  tare serve --runs DIR      the runs in another folder")]
pub(crate) struct Args {
    /// TCP port on 127.0.0.1; 0 for any free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Show the runs in this folder [default: `.tare/runs/` and `record/`]
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let folders = Folders::new(folders(global, args)?);
    // Before a second thread starts: threads inherit the priority.
    if let Err(error) = process::run_when_idle() {
        tare_host::message!("cannot run at idle priority ({error}): do not use this while you measure");
    }
    let stop = signals::listen_by_socket()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .context("cannot start a runtime")?;
    let ended = runtime.block_on(serve(args.port, folders, stop));
    // Do not wait for threads that read a folder.
    runtime.shutdown_background();
    ended?;
    signals::forget();
    Ok(Outcome::Fine)
}

fn folders(global: &Global, args: &Args) -> anyhow::Result<Vec<PathBuf>> {
    match &args.runs {
        Some(runs) => {
            ensure!(runs.is_dir(), "--runs: {}: no such folder", runs.display());
            Ok(vec![runs.clone()])
        }
        None => Ok(global.find()?.run_folders()),
    }
}

/// Serves until a signal arrives.
async fn serve(port: u16, folders: Folders, stop: std::os::unix::net::UnixStream) -> anyhow::Result<()> {
    stop.set_nonblocking(true).context("cannot listen for signals")?;
    let stop = UnixStream::from_std(stop).context("cannot listen for signals")?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}; choose another port with --port, or any free one with --port 0")
    })?;
    let address = listener.local_addr().context("cannot tell the address")?;
    print(&format!("http://{address}/\n"))?;
    tokio::select! {
        ended = accept::serve(listener, App::new(folders, address.port()).router()) => ended.context("cannot serve"),
        stopped = stop.readable() => stopped.context("cannot listen for signals"),
    }
}
