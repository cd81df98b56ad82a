//! `tare record`: writes a contract from a server's answers, an OpenAPI document or a HAR file.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, ensure};
use tare_base::Endpoint;
use tare_base::document::decoded;
use tare_import::record::{self, Material, Recorded, Wish};
use tare_service::{client::Channel, learn::LearnTarget};

use crate::command::{
    asked::{self, AskedOptions},
    target::{
        self,
        socket::SocketOptions,
        spoken::SpokenOptions,
        url::{self, Url},
    },
    words,
};
use crate::{
    exit::Outcome,
    output::{paint, print, write_file},
};

/// The default name of a contract that is written to standard output.
const NAME: &str = "recorded";
/// Write a contract from the answers of a server, an OpenAPI document or a HAR file
///
/// A server is asked four times for everything. A URL without a path is asked what its own OpenAPI document says, if it has one, else
/// `/`. What all its answers have in common is required; a value that changed has a
/// wildcard of its type. What could not be carried over is listed on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare record http://127.0.0.1:3000/items/1 --out shop.toml            what a server answers
  tare record http://127.0.0.1:3000 --get /a --get /b --out shop.toml   the same for several paths
  tare record openapi.yaml --out shop.toml                             what a document says
  tare record openapi.yaml --server http://127.0.0.1:3000              its requests, and what a server answers
  tare record session.har --writes                                     what a browser recorded, with its POST requests

Name the file in `contracts` of tare.toml, then: tare verify SERVICE

Exit codes: 0 a contract was written, 1 usage error, or nothing could be recorded.")]
pub(crate) struct Args {
    /// The URL of a server, an OpenAPI document of version 3 (YAML or JSON), or a HAR file
    source: String,
    #[command(flatten)]
    asked: AskedOptions,
    /// Ask this server for the right answers, in place of what the document or file says
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Also record requests that may change data: POST, PUT, PATCH and DELETE. A server is sent each of them four times
    #[arg(long)]
    writes: bool,
    #[command(flatten)]
    spoken: SpokenOptions,
    #[command(flatten)]
    socket: SocketOptions,
    /// Allow asking this host, which is not this machine. It must be yours
    #[arg(long, value_name = "HOST")]
    i_may_load: Option<String>,
    /// Time limit of an answer, from the connection to its last byte
    #[arg(long, value_name = "TIME", value_parser = words::duration, default_value = "10s")]
    timeout: Duration,
    /// The contract's name [default: that of --out, or `recorded`]
    #[arg(long)]
    name: Option<String>,
    /// Write to this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let name = name(args)?;
    let (source, server) = match args.source.contains("://") {
        true => of_url(args)?,
        false => of_file(args)?,
    };
    let server = server.as_ref().map(Reached::server);
    // Requests given on the command line are intended.
    let writes = args.writes || !args.asked.is_empty();
    let recorded = record::record(source, &Wish { name: &name, writes, server });
    let Recorded { learned, left_out } = recorded.with_context(|| args.source.clone())?;
    asked::tell(&learned);
    for why in &left_out {
        tare_host::message!("{} {why}", paint("33", "not recorded:"));
    }
    match &args.out {
        Some(path) => write_file(path, learned.text.as_bytes())?,
        None => print(&learned.text)?,
    }
    Ok(Outcome::Fine)
}

impl Args {
    /// The server of a URL, which is on this machine or may be loaded.
    fn reach(&self, word: &str) -> anyhow::Result<Reached> {
        let url = url::parse(word)?;
        let channel = self.spoken.channel(&url)?;
        self.spoken.ensure_of_use(channel.protocol.is_tls())?;
        let endpoints = target::endpoints(&url, self.socket.of_one()?, self.i_may_load.as_deref())?;
        let endpoint = target::reachable(&endpoints, self.timeout)?;
        target::ensure_secured(word, &endpoint, &channel, self.timeout)?;
        Ok(Reached { endpoint, url, channel, patience: self.timeout })
    }
}

/// A server that may be asked.
struct Reached {
    endpoint: Endpoint,
    url: Url,
    channel: Channel,
    patience: Duration,
}

impl Reached {
    fn server(&self) -> LearnTarget<'_> {
        let Reached { endpoint, url, channel, patience } = self;
        LearnTarget { endpoint, host: &url.authority, channel, patience: *patience }
    }
}

/// The contract's name, which is by default that of its file.
fn name(args: &Args) -> anyhow::Result<String> {
    let stem = args.out.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    if let (Some(stem), Some(name)) = (&stem, &args.name) {
        ensure!(stem == name, "--name, --out: a contract \"{name}\" must be in a file {name}.toml");
    }
    let is_toml = args.out.as_deref().is_none_or(|path| path.extension().is_some_and(|end| end == "toml"));
    ensure!(is_toml, "--out: a contract is a file NAME.toml");
    Ok(stem.or_else(|| args.name.clone()).unwrap_or_else(|| NAME.to_owned()))
}

fn of_url(args: &Args) -> anyhow::Result<(Material, Option<Reached>)> {
    ensure!(args.server.is_none(), "--server: the URL is the server already");
    let reached = args.reach(&args.source)?;
    let url = &reached.url;
    if args.asked.is_empty() && url.path == "/" {
        let found = record::published::of_server(&reached.server());
        let found = found.with_context(|| format!("{}: `--get /` asks for that path alone", args.source))?;
        if let Some((place, material)) = found {
            tare_host::message!(
                "the OpenAPI document at {place} says what to ask; `--get /` records that path alone"
            );
            return Ok((material, Some(reached)));
        }
    }
    let title = format!("recorded from {}", url.origin());
    let asked = match args.asked.is_empty() {
        true => args.asked.clone().of_path(&url.path).or_root()?,
        false => {
            ensure!(
                url.path == "/",
                "--get, --post say what is asked for: leave {} out of the URL",
                url.path
            );
            args.asked.or_root()?
        }
    };
    Ok((Material::of_questions(title, asked), Some(reached)))
}

fn of_file(args: &Args) -> anyhow::Result<(Material, Option<Reached>)> {
    let asks_nothing = args.asked.is_empty();
    ensure!(asks_nothing, "--get, --post: the file {} says what is asked for", args.source);
    let bytes = std::fs::read(&args.source)
        .with_context(|| format!("{} cannot be read; a URL begins with http://", args.source))?;
    let text = decoded(&bytes).with_context(|| args.source.clone())?;
    let source = Material::read(&text).with_context(|| args.source.clone())?;
    let server = args.server.as_deref().map(|url| args.reach(url));
    Ok((source, server.transpose()?))
}
