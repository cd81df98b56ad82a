//! The server behind a gateway: a hidden command of this executable, with the rows of a table and a delay.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use tare_host::process::{self, Launch};

use super::upstream_server::{COUNT_PATH, UpstreamRows};
use super::{BackingError, BackingGround};
use tare_contract::UpstreamTable;

/// The hidden command that runs the server.
const SUBCOMMAND: &str = "upstream";
const READY_WITHIN: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(5);

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub struct Upstream {
    process: process::RunningService,
    address: SocketAddr,
    counted: u64,
}

impl Upstream {
    pub(super) fn start(table: &UpstreamTable, ground: &BackingGround<'_>) -> Result<Upstream, BackingError> {
        let place = |kind: &str| ground.folder.join(format!("{}.upstream.{kind}", ground.stem));
        let rows = place("json");
        let written = serde_json::to_vec(&UpstreamRows::of(table)).map_err(|error| error.to_string());
        written
            .and_then(|bytes| std::fs::write(&rows, bytes).map_err(|error| error.to_string()))
            .map_err(BackingError::Upstream)?;
        let port = process::free_port();
        let launch = Launch {
            name: SUBCOMMAND.to_owned(),
            command: command(ground.supervisor.program(), &rows, table.delay_ms),
            dir: ground.folder.to_owned(),
            env: vec![("PORT".to_owned(), port.to_string())],
            cpus: ground.cpus.to_vec(),
            port: Some(port),
            stdout: place("stderr"),
            stderr: place("stderr"),
            ..Launch::default()
        };
        let process = process::RunningService::start(&launch, ground.supervisor)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        process.wait_ready(READY_WITHIN, || count(address).is_ok())?;
        Ok(Upstream { process, address, counted: 0 })
    }

    pub(super) fn variable(&self) -> (String, String) {
        ("UPSTREAM_URL".to_owned(), format!("http://{}", self.address))
    }

    pub(super) fn process(&self) -> &process::RunningService {
        &self.process
    }

    pub(super) fn take_count(&mut self) -> Result<u64, BackingError> {
        let now = count(self.address).map_err(|error| BackingError::Upstream(error.to_string()))?;
        let before = std::mem::replace(&mut self.counted, now);
        Ok(now.saturating_sub(before))
    }
}

fn command(program: &Path, rows: &Path, delay_ms: u32) -> Vec<String> {
    let [program, rows] = [program, rows].map(|path| path.display().to_string());
    vec![program, SUBCOMMAND.to_owned(), rows, delay_ms.to_string()]
}

/// The number of rows that were requested.
fn count(address: SocketAddr) -> std::io::Result<u64> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {COUNT_PATH} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let last = BufReader::new(stream).lines().last().transpose()?.unwrap_or_default();
    last.trim()
        .parse()
        .map_err(|_| std::io::Error::other(format!("answered {last:?} when it was asked for its count")))
}
