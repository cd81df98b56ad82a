//! The repository of a command, and the processes that it starts there.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::Context;
use clap::builder::TypedValueParser;
use tare_bench::folder::series;
use tare_host::process::{Isolation, Notices, Supervisor, sweep};
use tare_service::{
    build::Store,
    catalogue::{Broken, Row, Service},
    workspace::{self, PackedCatalogue, Readers, Root, Workspace},
};

use crate::{exit::Outcome, output::paint, trust};

/// Services, contracts, experiments and published figures, packed by `build.rs`.
pub(crate) static CATALOGUE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/catalogue.tar.gz"));

/// Options that every command has.
#[derive(Debug, clap::Args)]
pub(crate) struct Global {
    /// The repository to work in, which has a `tare.toml` [default: the nearest one upwards, or the current folder]
    #[arg(long, global = true, env = "TARE_ROOT", value_name = "DIR", help_heading = "Folders", value_parser = folder())]
    root: Option<PathBuf>,
    /// Also the services, contracts and experiments of this folder: a repository with a `tare.toml`, or a folder of services
    /// (LANGUAGE/NAME/service.toml) [default: those of Tare, which `tare catalogue` writes out]
    #[arg(long, global = true, env = "TARE_CATALOGUE", value_name = "DIR", help_heading = "Folders", value_parser = folder())]
    catalogue: Option<PathBuf>,
    /// The cache of builds, which all repositories share [default: $XDG_CACHE_HOME/tare, or ~/.cache/tare]
    #[arg(long, global = true, env = "TARE_HOME", value_name = "DIR", help_heading = "Folders", value_parser = folder())]
    home: Option<PathBuf>,
    /// Run the commands of repositories that `tare trust` does not list, without asking
    #[arg(long = "trust", global = true, env = "TARE_TRUST", help_heading = "Folders", action = clap::ArgAction::SetTrue)]
    #[arg(value_parser = clap::builder::FalseyValueParser::new())]
    trusts_all: bool,
    /// Not an option: the catalogue of this program, which is unpacked once.
    #[arg(skip)]
    packed: OnceLock<PackedCatalogue>,
    /// Not an option: what a part brings.
    #[arg(skip)]
    pub(crate) readers: Option<Readers>,
}

/// A parser for which an empty variable counts as unset.
fn folder() -> impl TypedValueParser<Value = PathBuf> {
    clap::builder::OsStringValueParser::new().map(PathBuf::from)
}

fn named(folder: Option<&PathBuf>) -> Option<&Path> {
    folder.map(PathBuf::as_path).filter(|folder| !folder.as_os_str().is_empty())
}

impl Global {
    pub(crate) fn find(&self) -> anyhow::Result<Root> {
        let root = Root::find(named(self.root.as_ref()))?;
        Ok(match named(self.catalogue.as_ref()) {
            Some(folder) => root.with_catalogue(folder)?,
            None => {
                let packed = self.packed.get_or_init(|| PackedCatalogue::new(CATALOGUE, &self.home(&root)));
                root.with_bundle(packed.clone())?
            }
        })
    }

    /// The catalogue of this program.
    pub(crate) fn bundle(&self) -> anyhow::Result<PackedCatalogue> {
        let cache = self.cache()?;
        Ok(self.packed.get_or_init(|| PackedCatalogue::new(CATALOGUE, &cache)).clone())
    }

    /// The folder of the cache. The repository need not be valid.
    pub(crate) fn cache(&self) -> anyhow::Result<PathBuf> {
        let here = || std::env::current_dir().context("the current folder cannot be found");
        let root = named(self.root.as_ref()).map_or_else(here, |root| Ok(root.to_owned()))?;
        let root = root.ancestors().find(|folder| folder.join("tare.toml").is_file()).unwrap_or(&root);
        Ok(workspace::home(named(self.home.as_ref()), root))
    }

    pub(crate) fn store(&self) -> anyhow::Result<Store> {
        Ok(Store::new(&self.cache()?))
    }

    fn home(&self, root: &Root) -> PathBuf {
        workspace::home(named(self.home.as_ref()), &root.folder)
    }

    /// The options, except the repository, for another process that works elsewhere.
    pub(crate) fn words(&self) -> Vec<String> {
        let folders = [("--catalogue", &self.catalogue), ("--home", &self.home)];
        let given =
            folders.into_iter().filter_map(|(option, folder)| Some((option, named(folder.as_ref())?)));
        let absolute = |folder: &Path| std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let folders =
            given.flat_map(|(option, folder)| [option.to_owned(), absolute(folder).display().to_string()]);
        folders.chain(self.trusts_all.then(|| "--trust".to_owned())).collect()
    }

    /// The newest run of the repository: names of run folders begin with the time.
    pub(crate) fn newest_run(&self) -> anyhow::Result<PathBuf> {
        let runs = self.find()?.runs();
        let no_runs = || format!("{}: no runs yet", runs.display());
        let entries = std::fs::read_dir(&runs).with_context(no_runs)?;
        let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let newest = folders.filter(|path| path.join("run.json").exists() || series::is_one(path)).max();
        newest.with_context(no_runs)
    }

    pub(crate) fn open(&self) -> anyhow::Result<Workspace> {
        self.open_at(&self.find()?)
    }

    /// The same for another repository than that of the current folder.
    pub(crate) fn open_at(&self, root: &Root) -> anyhow::Result<Workspace> {
        let mut workspace = Workspace::open(root, &program()?, &self.home(root))?;
        workspace.trusts_all = self.trusts_all;
        workspace.readers = self.readers;
        Ok(workspace)
    }

    /// Opens the repository, with the external services that `words` name.
    pub(crate) fn open_with(&self, words: &[String]) -> anyhow::Result<Workspace> {
        let mut workspace = self.open()?;
        workspace.adopt(words.iter().flat_map(|word| workspace::split(word)))?;
        Ok(workspace)
    }
}

/// The rows that `words` name, or all. Prints a line for each service whose manifest is wrong.
pub(crate) fn select(workspace: &Workspace, words: &[String]) -> anyhow::Result<Vec<Row>> {
    let rows = workspace.select(words)?;
    print_broken(workspace);
    Ok(rows)
}

/// Prints which services are left out because their manifests are wrong.
pub(crate) fn print_broken(workspace: &Workspace) {
    if let Some(why) = &workspace.not_unpacked {
        tare_host::message!("{} the services of Tare: {why}", paint("33", "left out"));
    }
    for Broken { name, error } in &workspace.catalogue.broken {
        tare_host::message!("{} {name}: {error}", paint("33", "left out"));
    }
}

/// The outcome of a command for `words`: if all services were meant, a wrong manifest is not success.
pub(crate) fn outcome_of_all(workspace: &Workspace, words: &[String], outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Fine if words.is_empty() && !workspace.catalogue.broken.is_empty() => Outcome::SetUp,
        outcome => outcome,
    }
}

/// This program, as a path that another process can start.
pub(crate) fn program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot find the program's own file")
}

/// Prepares to start services, for every command that does: only allowed commands run, leftovers of a killed
/// run are ended, and a watchdog outlives this process.
pub(crate) fn supervisor<'s>(
    workspace: &Workspace,
    services: impl IntoIterator<Item = &'s Service>,
) -> anyhow::Result<Supervisor> {
    trust::ask(workspace, services)?;
    let isolation = Isolation::detect();
    let swept = sweep(&isolation);
    if !swept.pids.is_empty() {
        tare_host::message!(
            "note: ended {} processes that an earlier run of tare had left",
            swept.pids.len()
        );
    }
    Ok(Supervisor::start(&program()?, isolation)?.telling(Notices::to(|why| tare_host::message!("{why}"))))
}
