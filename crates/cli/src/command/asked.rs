//! `--get` and `--post`: without a written contract, one is learned from the first service.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use tare_bench::folder::FILE_BYTES_MAX;
use tare_host::{seal, signals, whole};
use tare_load::Protocol;
use tare_service::{
    build::Site,
    catalogue::{Row, Service, Style, file_name},
    contract::{Contract, fixed_response},
    learn::{self, Ground, Learned, Question},
    record,
    settings::ServiceSettings,
    workspace::Workspace,
};

use super::running;
use crate::{command::start::StartOptions, workspace};

/// Where a run folder has the contracts that were learned for it.
const CONTRACTS: &str = "contracts";

/// What is asked of services without a contract.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct AskedOptions {
    /// Ask for this path by GET [default for a command: `/`; for a URL: its path]. The right answer is learned by asking the
    /// first service before anything is measured. May be given several times
    #[arg(long, value_name = "PATH", help_heading = "Requests")]
    get: Vec<String>,
    /// Send the `--data` after it to this path by POST. May be given several times
    #[arg(long, value_name = "PATH", help_heading = "Requests")]
    post: Vec<String>,
    /// The body of a `--post`, JSON or a form: one for each, in their order
    #[arg(long, value_name = "BODY", help_heading = "Requests", requires = "post")]
    data: Vec<String>,
}

impl AskedOptions {
    pub(crate) fn is_empty(&self) -> bool {
        self.get.is_empty() && self.post.is_empty()
    }

    /// Asks for this path.
    pub(crate) fn of_path(path: &str) -> AskedOptions {
        AskedOptions { get: vec![path.to_owned()], ..AskedOptions::default() }
    }

    /// Asks for these paths, and sends these bodies to these.
    pub(crate) fn enter(&mut self, get: Vec<String>, post: Vec<(String, String)>) {
        self.get = get;
        (self.post, self.data) = post.into_iter().unzip();
    }

    /// The requests, or `GET /` if none is given.
    pub(crate) fn or_root(&self) -> anyhow::Result<Vec<Question>> {
        match self.is_empty() {
            true => Ok(vec![question("GET", "/", None)?]),
            false => self.questions(),
        }
    }

    fn questions(&self) -> anyhow::Result<Vec<Question>> {
        ensure!(
            self.post.len() == self.data.len(),
            "--post: {} paths and {} bodies: give one --data after each --post",
            self.post.len(),
            self.data.len()
        );
        let get = self.get.iter().map(|path| question("GET", path, None));
        let post = self.post.iter().zip(&self.data).map(|(path, body)| question("POST", path, Some(body)));
        get.chain(post).collect()
    }

    /// The requests, if there is a contract to learn; `contract` is the one that the user named.
    pub(crate) fn of(&self, rows: &[Row], contract: Option<&str>) -> anyhow::Result<Option<Vec<Question>>> {
        ensure!(
            self.is_empty() || contract.is_none(),
            "--contract, --get: a contract says what is asked for: use one of them"
        );
        let asked = self.questions()?;
        let of_url = running::path(rows)?;
        if let Some(path) = of_url {
            ensure!(asked.is_empty(), "--get, --post say what is asked for: leave {path} out of the URL");
            ensure!(contract.is_none(), "--contract sets the paths: leave {path} out of the URL");
        }
        let has_no_manifest = |row: &Row| matches!(row.service.style, Style::Own | Style::Running);
        let is_bare = |row: &Row| has_no_manifest(row) && row.service.contracts.is_empty();
        Ok(match asked.is_empty() {
            false => Some(asked),
            true if contract.is_none() && rows.iter().any(is_bare) => {
                Some(vec![question("GET", of_url.unwrap_or("/"), None)?])
            }
            true => None,
        })
    }
}

fn question(method: &str, path: &str, body: Option<&String>) -> anyhow::Result<Question> {
    ensure!(path.starts_with('/'), "\"{path}\" is not a path: begin it with a slash");
    Ok(Question::new(method, path, body.cloned()))
}

/// Learns what is `asked` from the first of `rows` that is not the raw socket; all rows then serve this contract. It is
/// stored in the folder of the run, which is fixed by it.
pub(crate) fn learn_for_run(
    workspace: &mut Workspace,
    rows: &mut [Row],
    asked: &[Question],
    start: &mut StartOptions,
    service_settings: &ServiceSettings,
    name: &str,
) -> anyhow::Result<()> {
    if start.dry_run {
        rows.iter_mut().for_each(|row| row.service.contracts = vec![learn::NAME.to_owned()]);
        return Ok(());
    }
    let run = start.out.clone().unwrap_or_else(|| workspace.new_run(name, jiff::Timestamp::now()));
    let learned = learn(workspace, rows, asked, service_settings, &run)?;
    give(workspace, rows, &learned.contract, &keep(&run, &learned)?)?;
    start.out = Some(run);
    Ok(())
}

/// Where the first service besides the raw socket has an OpenAPI document of itself, and what that says can be asked for.
pub(crate) fn published(
    workspace: &Workspace,
    rows: &[Row],
    service_settings: &ServiceSettings,
    folder: &Path,
) -> anyhow::Result<Option<(&'static str, Vec<Question>)>> {
    let ask = |service: &Service, ground: &Ground| Ok(record::published::of_service(service, ground)?);
    of_built(workspace, teacher(rows)?, service_settings, folder, ask)
}

fn teacher(rows: &[Row]) -> anyhow::Result<&Row> {
    let is_own = |row: &&Row| row.service.style != Style::RawSocket;
    rows.iter().find(is_own).context("there is no service to learn the answers from")
}

/// What `ask` finds out from the service of `row`, once it is built.
fn of_built<T>(
    workspace: &Workspace,
    row: &Row,
    service_settings: &ServiceSettings,
    folder: &Path,
    ask: impl FnOnce(&Service, &Ground) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let supervisor = workspace::supervisor(workspace, [&row.service])?;
    let interrupt = signals::listen()?;
    let site = Site::new(&supervisor, &interrupt);
    let built = workspace.builder().build(&row.service, &site, false)?;
    let folder = folder.join("services").join(file_name(&row.label));
    let ground = Ground { supervisor: &supervisor, service_settings, folder: &folder };
    // Answers are the same in each protocol.
    ask(&row.service.asked_in(Protocol::Http1).at(built.place), &ground).with_context(|| row.label.clone())
}

/// The contract that the first service besides the raw socket honours, and a line for each request on standard error.
pub(crate) fn learn(
    workspace: &Workspace,
    rows: &[Row],
    asked: &[Question],
    service_settings: &ServiceSettings,
    folder: &Path,
) -> anyhow::Result<Learned> {
    let row = teacher(rows)?;
    let ask = |service: &Service, ground: &Ground| Ok(learn::learn(service, asked, ground)?);
    let learned = of_built(workspace, row, service_settings, folder, ask)?;
    for (asked, required) in &learned.required {
        tare_host::tell!("{asked}: {required}");
    }
    if row.service.running.is_some() {
        tare_host::tell!(
            "learned from two answers of one process: what a fresh start would change is not known"
        );
    }
    Ok(learned)
}

/// Where a run has the contract that it learned.
pub(crate) fn learned_path(run: &Path) -> PathBuf {
    let path = run.join(CONTRACTS).join(format!("{}.toml", learn::NAME));
    std::path::absolute(&path).unwrap_or(path)
}

/// In the folder of the run; gives back its path.
fn keep(run: &Path, learned: &Learned) -> anyhow::Result<PathBuf> {
    let path = learned_path(run);
    let written = fs::create_dir_all(run.join(CONTRACTS))
        .and_then(|()| whole::write(&path, seal::LAST_LINE.seal(&learned.text)));
    written.with_context(|| path.display().to_string())?;
    Ok(path)
}

/// All rows declare the contract, and the raw socket gets its path.
fn give(workspace: &mut Workspace, rows: &mut [Row], contract: &Contract, path: &Path) -> anyhow::Result<()> {
    for row in rows {
        if row.service.style == Style::RawSocket {
            ensure!(
                fixed_response(contract).is_some(),
                "the raw socket sends one fixed response: ask for one path, or choose another --reference"
            );
            let words = vec!["--contract".to_owned(), path.display().to_string()];
            row.service.run.arguments.insert(contract.name.clone(), words);
        }
        row.service.contracts = vec![contract.name.clone()];
    }
    workspace.contracts.insert(contract.name.clone(), contract.clone());
    Ok(())
}

/// The contract that a stored run has learned, if it has one.
pub(crate) fn give_stored(workspace: &mut Workspace, rows: &mut [Row], run: &Path) -> anyhow::Result<()> {
    let path = learned_path(run);
    if !path.is_file() {
        return Ok(());
    }
    let bytes = seal::LAST_LINE.read(&path, FILE_BYTES_MAX).with_context(|| path.display().to_string())?;
    let contract = Contract::parse(&String::from_utf8_lossy(&bytes), &path)?;
    give(workspace, rows, &contract, &path)
}
