//! `tare serve`: kept runs, and the ones that go on, in a browser on this machine. It reads run folders as everybody may; it
//! neither talks to a process that measures nor starts anything.

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
use tare_host::process;
use tokio::net::{TcpListener, UnixStream};

use crate::{exit::Outcome, output::print, workspace::Global};
use routes::App;
use shelf::Folders;
use tare_host::signals;

/// Show the runs in a browser: those that are kept, and those that go on while they do
///
/// It listens on 127.0.0.1 only, ends on Ctrl-C, and takes CPU time that nobody else wants.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// TCP port on 127.0.0.1; 0 for any that is free
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Show the runs in this folder, instead of `runs/` and `record/`
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
}

pub fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let folders = Folders::new(folders(global, args)?);
    // Before there is a second thread: all that are started from here on are as idle as this one.
    if let Err(error) = process::run_when_idle() {
        eprintln!("cannot give way to other processes ({error}): do not look while you measure");
    }
    let stop = signals::listen_by_socket()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .context("cannot start a runtime")?;
    let ended = runtime.block_on(serve(args.port, folders, stop));
    // Who reads a folder just now is not waited for.
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
        None => global.find().map(|root| tare_service::workspace::run_folders(&root)),
    }
}

/// Until a signal comes.
async fn serve(port: u16, folders: Folders, stop: std::os::unix::net::UnixStream) -> anyhow::Result<()> {
    stop.set_nonblocking(true).context("cannot listen for signals")?;
    let stop = UnixStream::from_std(stop).context("cannot listen for signals")?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}; name another port by --port, or --port 0 for any that is free")
    })?;
    let address = listener.local_addr().context("cannot tell the address")?;
    print(&format!("http://{address}/\n"))?;
    tokio::select! {
        ended = axum::serve(listener, App::new(folders, address.port()).router()).into_future() => {
            ended.context("cannot serve")
        }
        stopped = stop.readable() => stopped.context("cannot listen for signals"),
    }
}
