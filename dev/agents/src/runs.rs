//! One run of either arm: agents, a controller, and the printed histogram.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::Deserializer;
use tempfile::TempDir;

use crate::compare::Run;
use crate::{Args, queue};

const READY: Duration = Duration::from_secs(10);
/// A port outside of the kernel's range for clients.
const PORT: u16 = 9_870;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arm {
    One,
    Several,
}

/// A program that ends when this value is dropped.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// A command that the kernel kills when this program ends.
fn leashed(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// Starts the server of the arguments: a program, or a thread of this one.
fn serve(args: &Args, tare: &Path) -> anyhow::Result<Option<Started>> {
    if let Some(mean) = args.service_time {
        queue::serve(PORT, mean, args.seed).with_context(|| format!("port {PORT}"))?;
        return Ok(None);
    }
    let mut command = match args.server_cpu {
        None => leashed(tare),
        Some(cpu) => {
            let mut command = leashed(Path::new("taskset"));
            command.args(["-c", &cpu.to_string()]).arg(tare);
            command
        }
    };
    command.args(["raw-socket", "--port", &PORT.to_string()]);
    Ok(Some(Started(command.spawn()?)))
}

/// The server, the token, and the settings of each run.
pub(crate) struct Ground<'a> {
    args: &'a Args,
    tare: PathBuf,
    folder: TempDir,
    url: String,
    _server: Option<Started>,
}

impl<'a> Ground<'a> {
    pub(crate) fn new(args: &'a Args) -> anyhow::Result<Ground<'a>> {
        let tare = args.tare.canonicalize().with_context(|| format!("no {}", args.tare.display()))?;
        let folder = tempfile::tempdir()?;
        let made =
            Command::new(&tare).args(["agent", "--new-token"]).arg(folder.path().join("token")).status()?;
        ensure!(made.success(), "no token could be made");
        let (url, server) = match &args.url {
            Some(url) => (url.clone(), None),
            None => (format!("http://127.0.0.1:{PORT}/"), serve(args, &tare)?),
        };
        let ground = Ground { args, tare, folder, url, _server: server };
        if args.url.is_none() {
            let end = Instant::now() + READY;
            while TcpStream::connect(("127.0.0.1", PORT)).is_err() {
                ensure!(Instant::now() < end, "the server does not listen");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(ground)
    }

    fn token(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    /// An agent that listens, and its address.
    fn agent(&self) -> anyhow::Result<(Started, String)> {
        let mut command = leashed(&self.tare);
        command.args(["agent", "--token-file"]).arg(self.token());
        if let Some(cpus) = &self.args.agent_cpus {
            command.args(["--cpus", cpus]);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take().context("its output")?;
        let started = Started(child);
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address =
            line.trim().strip_prefix("listening on ").context("an agent does not listen")?.to_owned();
        Ok((started, address))
    }

    pub(crate) fn run(&self, arm: Arm, seed: u64) -> anyhow::Result<Run> {
        let Args { rate, connections, duration, agents, plain, more, .. } = self.args;
        let count = match arm {
            Arm::Several => *agents,
            Arm::One if *plain => 0,
            Arm::One => 1,
        };
        let agents = (0..count).map(|_| self.agent()).collect::<anyhow::Result<Vec<_>>>()?;
        let mut command = leashed(&self.tare);
        command.args(["load", "--json", "--quiet", "--arrivals", "poisson", "--warm-up", "500ms"]);
        command.args(["-R", &rate.to_string(), "-c", &connections.to_string(), "--seed", &seed.to_string()]);
        command.args(["-d", &format!("{}ms", duration.as_millis())]);
        if !agents.is_empty() {
            let addresses: Vec<&str> = agents.iter().map(|(_, address)| address.as_str()).collect();
            command.args(["--agents", &addresses.join(","), "--token-file"]).arg(self.token());
        }
        let output = command.args(more).arg(&self.url).stderr(Stdio::inherit()).output()?;
        if !matches!(output.status.code(), Some(0 | 4)) {
            bail!("{arm:?}: {}", output.status);
        }
        let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let encoded = document["latency"]["hdr_v2_base64"].as_str().context("no latencies")?;
        let histogram: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut std::io::Cursor::new(STANDARD.decode(encoded)?))
            .map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let counts = histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
        Ok(Run::new(counts, document["verdict"].as_str().unwrap_or_default()))
    }
}
