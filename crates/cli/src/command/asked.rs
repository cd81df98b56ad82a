//! `--get` and `--post`: without a written contract, Tare learns one from the first service.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use anyhow::{Context, anyhow, ensure};
use tare_base::whole;
use tare_bench::folder::FILE_BYTES_MAX;
use tare_contract::{Contract, NotFixed, fixed_response};
use tare_host::{seal, signals};
use tare_load::Protocol;
use tare_service::{
    build::Site,
    catalogue::{Row, Service, Style, file_name},
    learn::{self, LearnContext, LearnError, LearnRequest, Learned, Redirect},
    settings::ServiceSettings,
    workspace::{Published, Workspace},
};

use super::{
    running,
    sent::{self, Header, NO_PLACEHOLDERS},
    target::unanswered::Asker,
    turn,
};
use crate::{command::start::StartOptions, output::paint, workspace};

/// The folder of learned contracts in a run folder.
const CONTRACTS: &str = "contracts";

/// What is asked of services without a contract.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AskedOptions {
    /// Ask for this path by GET [default for a command: `/`; for a URL: its path]. The right answer is learned by asking the
    /// first service before anything is measured. May be given several times
    #[arg(long, value_name = "PATH", help_heading = "Requests")]
    get: Vec<String>,
    /// Send the `--data` after it to this path by POST. May be given several times
    #[arg(long, value_name = "PATH", help_heading = "Requests")]
    post: Vec<String>,
    /// The body of a `--post`, or `@FILE`, or `@-` for standard input: one for each, in their order. Its Content-Type is that of JSON
    /// if it is an object or an array of it, or else of a form, unless you give one with `-H`
    #[arg(long, value_name = "TEXT|@FILE", help_heading = "Requests", requires = "post")]
    data: Vec<String>,
    /// Header of all these requests, such as "Accept: */*"; as in curl "Name:" removes it and "Name;" sends it empty
    #[arg(short = 'H', long = "header", value_name = "HEADER", help_heading = "Requests", value_parser = sent::header)]
    headers: Vec<Header>,
    /// Send `{{` as it is. Without this, placeholders vary path, headers and body: `{{number:1-1000}}`, `{{label}}`
    #[arg(long, help_heading = "Requests")]
    no_placeholders: bool,
}

impl AskedOptions {
    pub(crate) fn is_empty(&self) -> bool {
        self.get.is_empty() && self.post.is_empty()
    }

    pub(crate) fn of_path(self, path: &str) -> AskedOptions {
        AskedOptions { get: vec![path.to_owned()], ..self }
    }

    /// Sets the paths to GET, and the paths and bodies to POST.
    pub(crate) fn enter(&mut self, get: Vec<String>, post: Vec<(String, String)>) {
        self.get = get;
        (self.post, self.data) = post.into_iter().unzip();
    }

    /// The requests, or `GET /` if none is given.
    pub(crate) fn or_root(&self) -> anyhow::Result<Vec<LearnRequest>> {
        match self.is_empty() {
            true => Ok(vec![self.question("GET", "/", None)?]),
            false => self.questions(),
        }
    }

    fn questions(&self) -> anyhow::Result<Vec<LearnRequest>> {
        ensure!(
            self.post.len() == self.data.len(),
            "--post: {} paths and {} bodies: give one --data after each --post",
            self.post.len(),
            self.data.len()
        );
        let get = self.get.iter().map(|path| self.question("GET", path, None).context("--get"));
        let post = self.post.iter().zip(&self.data);
        let post = post.map(|(path, data)| {
            let body = text_of(data).context("--data")?;
            self.question("POST", path, Some(body)).context("--post")
        });
        get.chain(post).collect()
    }

    fn question(&self, method: &str, path: &str, body: Option<String>) -> anyhow::Result<LearnRequest> {
        let mut question = LearnRequest::new(method, &sent::path(path)?, body);
        for Header { name, value } in &self.headers {
            ensure!(
                self.headers.iter().filter(|other| other.name.eq_ignore_ascii_case(name)).count() == 1,
                "-H: the header {name} is given twice"
            );
            question.headers.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
            question.headers.extend(value.clone().map(|value| (name.clone(), value)));
        }
        if self.no_placeholders {
            return Ok(question.literal());
        }
        question.check_placeholders().context(NO_PLACEHOLDERS)?;
        Ok(question)
    }

    /// The requests, if a contract must be learned; `contract` is the one that the user named.
    pub(crate) fn of(
        &self,
        rows: &[Row],
        contract: Option<&str>,
    ) -> anyhow::Result<Option<Vec<LearnRequest>>> {
        ensure!(
            self.is_empty() || contract.is_none(),
            "--contract, --get: a contract says what is asked for: use one of them"
        );
        ensure!(
            (self.headers.is_empty() && !self.no_placeholders) || contract.is_none(),
            "-H, --no-placeholders: a contract says what is sent: leave them out"
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
                Some(vec![self.question("GET", of_url.unwrap_or("/"), None)?])
            }
            true => {
                ensure!(
                    self.headers.is_empty() && !self.no_placeholders,
                    "-H, --no-placeholders: the contracts of the services say what is sent: name a request by --get or --post"
                );
                None
            }
        })
    }
}

/// The body as text: a contract file cannot hold other bytes.
fn text_of(data: &str) -> anyhow::Result<String> {
    String::from_utf8(sent::body(data)?).ok().with_context(|| {
        format!("{data} is no UTF-8 text, which is all that can be sent here: `tare load` sends any bytes")
    })
}

/// Learns a contract for `asked` from the first of `rows` that is not the raw socket. All rows then serve it.
/// The contract is stored in the run folder.
pub(crate) fn learn_for_run(
    workspace: &mut Workspace,
    rows: &mut [Row],
    asked: &[LearnRequest],
    start: &mut StartOptions,
    service_settings: &ServiceSettings,
    name: &str,
) -> anyhow::Result<()> {
    if rows.iter().any(|row| row.service.style == Style::RawSocket) && asked.len() > 1 {
        return Err(no_raw_socket(&NotFixed::Requests(asked.len()), &teacher(rows)?.label));
    }
    if start.dry_run {
        rows.iter_mut().for_each(|row| row.service.contracts = vec![learn::NAME.to_owned()]);
        return Ok(());
    }
    wait_for_others(rows, service_settings, start.no_wait)?;
    let run = start.out.clone().unwrap_or_else(|| workspace.new_run(name, jiff::Timestamp::now()));
    let learned = learn(workspace, rows, asked, service_settings, &run)?;
    give(workspace, rows, &learned.contract, &keep(&run, &learned)?)?;
    start.out = Some(run);
    Ok(())
}

/// Waits for other measurements: learning would disturb them, and learned answers must be compared while
/// fresh.
fn wait_for_others(rows: &[Row], service_settings: &ServiceSettings, no_wait: bool) -> anyhow::Result<()> {
    let cpus = running::pinning(rows, service_settings.threads, 1).all();
    let interrupt = signals::listen()?;
    let taken = turn::take(&cpus, no_wait, &interrupt, |text| tare_host::message!("{text}"));
    ensure!(
        taken.is_ok() || !interrupt.load(Ordering::Relaxed),
        "undecided: interrupted while it waited, before anything was measured; nothing is stored"
    );
    taken.map(drop)
}

/// The place and requests of the OpenAPI document of the first service besides the raw socket, if any.
pub(crate) fn published(
    workspace: &Workspace,
    rows: &[Row],
    service_settings: &ServiceSettings,
    folder: &Path,
) -> anyhow::Result<Option<Published>> {
    let Some(readers) = workspace.readers else {
        tare_host::message!(
            "an OpenAPI document of the service is not looked for: this build of Tare has no reader of it"
        );
        return Ok(None);
    };
    let ask = |service: &Service, ground: &LearnContext| Ok((readers.published)(service, ground)?);
    of_built(workspace, teacher(rows)?, service_settings, folder, ask)
}

fn teacher(rows: &[Row]) -> anyhow::Result<&Row> {
    let is_own = |row: &&Row| row.service.style != Style::RawSocket;
    rows.iter().find(is_own).context("there is no service to learn the answers from")
}

/// The result of `ask` for the service of `row`, after building it.
fn of_built<T>(
    workspace: &Workspace,
    row: &Row,
    service_settings: &ServiceSettings,
    folder: &Path,
    ask: impl FnOnce(&Service, &LearnContext) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let supervisor = workspace::supervisor(workspace, [&row.service])?;
    let interrupt = signals::listen()?;
    let site = Site::new(&supervisor, &interrupt);
    let built = workspace.builder().build(&row.service, &site, false)?;
    let folder = folder.join("services").join(file_name(&row.label));
    let ground = LearnContext { supervisor: &supervisor, service_settings, folder: &folder };
    // Answers are the same in every protocol, but a running server only speaks that of its URL.
    let service = match &row.service.running {
        Some(_) => row.service.at(built.place),
        None => row.service.asked_in(Protocol::Http1).at(built.place),
    };
    ask(&service, &ground).with_context(|| row.label.clone())
}

/// A contract from the first service besides the raw socket. Prints a line per request to stderr.
pub(crate) fn learn(
    workspace: &Workspace,
    rows: &[Row],
    asked: &[LearnRequest],
    service_settings: &ServiceSettings,
    folder: &Path,
) -> anyhow::Result<Learned> {
    let row = teacher(rows)?;
    let ask = |service: &Service, ground: &LearnContext| {
        learn::learn(service, asked, ground).map_err(|error| unanswered_by(service, error))
    };
    let learned = of_built(workspace, row, service_settings, folder, ask)?;
    tell(&learned);
    if row.service.running.is_some() {
        tare_host::message!("learned from one process: what a fresh start would change is not known");
    }
    Ok(learned)
}

/// For a server that is already running, explains the error in terms of its options.
fn unanswered_by(service: &Service, error: LearnError) -> anyhow::Error {
    match (&service.running, error) {
        (Some(running), LearnError::Unanswered { asked, source }) => {
            let endpoint = running.server.address();
            anyhow!(Asker::Other.reason(&asked.to_string(), endpoint, &service.channel(), &source))
        }
        (_, error) => error.into(),
    }
}

/// Prints a line for each learned request to stderr.
pub(crate) fn tell(learned: &Learned) {
    for (asked, required) in &learned.required {
        tare_host::message!("{asked}: {required}");
    }
    for (asked, Redirect { status, location }) in &learned.redirects {
        let to = location.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
        tare_host::message!(
            "{} {asked} is answered with {status}: this asks for a redirect{to}; name the path that it leads to, unless the \
             redirect is meant",
            paint("33", "warning:")
        );
    }
}

/// The path of the learned contract in a run folder.
pub(crate) fn learned_path(run: &Path) -> PathBuf {
    let path = run.join(CONTRACTS).join(format!("{}.toml", learn::NAME));
    std::path::absolute(&path).unwrap_or(path)
}

/// Writes the contract into the run folder and returns its path.
fn keep(run: &Path, learned: &Learned) -> anyhow::Result<PathBuf> {
    let path = learned_path(run);
    let written = fs::create_dir_all(run.join(CONTRACTS))
        .and_then(|()| whole::write(&path, seal::LAST_LINE.seal(&learned.text)));
    written.with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Declares the contract for all rows, and gives its path to the raw socket.
fn give(workspace: &mut Workspace, rows: &mut [Row], contract: &Contract, path: &Path) -> anyhow::Result<()> {
    let teacher = teacher(rows)?.label.clone();
    for row in rows {
        if row.service.style == Style::RawSocket {
            fixed_response(contract).map_err(|why| no_raw_socket(&why, &teacher))?;
            let words = vec!["--contract".to_owned(), path.display().to_string()];
            row.service.run.arguments.insert(contract.name.clone(), words);
        }
        row.service.contracts = vec![contract.name.clone()];
    }
    workspace.contracts.insert(contract.name.clone(), contract.clone());
    Ok(())
}

fn no_raw_socket(why: &NotFixed, teacher: &str) -> anyhow::Error {
    anyhow!(
        "the raw socket sends one fixed response, and {why}: ask for one path, or relate to another service, as by `tare run \
         --reference '{teacher}'`"
    )
}

/// Declares the contract that a stored run learned, if there is one.
pub(crate) fn give_stored(workspace: &mut Workspace, rows: &mut [Row], run: &Path) -> anyhow::Result<()> {
    let path = learned_path(run);
    if !path.is_file() {
        return Ok(());
    }
    let bytes = seal::LAST_LINE.read(&path, FILE_BYTES_MAX).with_context(|| path.display().to_string())?;
    let contract = Contract::parse(&String::from_utf8_lossy(&bytes), &path)?;
    give(workspace, rows, &contract, &path)
}
