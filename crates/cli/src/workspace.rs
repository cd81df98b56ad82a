//! Where the contracts and services are, and what is in them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use tare_host::process::{Isolation, Supervisor, sweep};
use tare_service::{
    build::Builder,
    catalogue::{self, Broken, Catalogue, RawSocket, Row, SelectError},
    contract::{self, Contract},
};

use crate::{exit::Outcome, output::paint};

/// Options that every command has.
#[derive(Debug, clap::Args)]
pub struct Global {
    /// The folder that holds `services/` and `contracts/`; found upwards from here where it is not given
    #[arg(long, global = true, env = "TARE_ROOT", value_name = "DIR")]
    root: Option<PathBuf>,
}

/// Everything that a checkout holds.
#[derive(Debug)]
pub struct Workspace {
    /// Where it is.
    pub root: PathBuf,
    /// By name.
    pub contracts: BTreeMap<String, Contract>,
    /// Every service, and those that lie elsewhere and were asked for.
    pub catalogue: Catalogue,
    /// The words that named those, with their ids.
    adopted: BTreeMap<String, String>,
}

impl Workspace {
    /// Finds and reads it.
    pub fn open(global: &Global) -> anyhow::Result<Workspace> {
        let root = global.find()?;
        let contracts = Contract::load_all(&root.join("contracts"))?;
        let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
        let fixed = contracts.values().filter(|contract| contract::fixed_response(contract).is_some());
        let reference = RawSocket {
            program: program()?,
            contracts: fixed.map(|contract| contract.name.clone()).collect(),
        };
        let catalogue = Catalogue::load(&root, &names, reference)?;
        Ok(Workspace { root, contracts, catalogue, adopted: BTreeMap::new() })
    }

    /// The contract of this name.
    pub fn contract(&self, name: &str) -> anyhow::Result<&Contract> {
        self.contracts.get(name).with_context(|| {
            let nearest = tare_host::spelling::suggestion(name, self.contracts.keys().map(String::as_str));
            format!("unknown contract \"{name}\"{nearest}")
        })
    }

    /// The same, with the services that lie elsewhere and that `words` name.
    pub fn open_with(global: &Global, words: &[String]) -> anyhow::Result<Workspace> {
        let mut workspace = Workspace::open(global)?;
        workspace.adopt(words.iter().flat_map(|word| word.split(',')))?;
        Ok(workspace)
    }

    /// Takes in the services that lie elsewhere and that `words` name: what has a slash is a folder.
    pub fn adopt<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) -> anyhow::Result<()> {
        let names: Vec<&str> = self.contracts.keys().map(String::as_str).collect();
        for word in words.into_iter().map(str::trim).filter(|word| word.contains('/')) {
            let id = self.catalogue.adopt(word, &names)?;
            self.adopted.insert(word.to_owned(), id);
        }
        Ok(())
    }

    /// The rows that `words` name. One that lies elsewhere is called as it was named.
    pub fn rows<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Result<Vec<Row>, SelectError> {
        let words: Vec<&str> = words.into_iter().map(str::trim).collect();
        let id = |word: &&'w str| self.adopted.get(*word).map_or(*word, String::as_str);
        let mut rows = catalogue::select(&self.catalogue, words.iter().map(id))?;
        for row in rows.iter_mut().filter(|row| row.label.contains('/')) {
            let word = words.iter().find(|word| self.adopted.get(**word) == Some(&row.label));
            row.label = word.map_or_else(|| row.label.clone(), ToString::to_string);
        }
        Ok(rows)
    }

    /// The rows that `words` name; all of them where there are none.
    pub fn select(&self, words: &[String]) -> anyhow::Result<Vec<Row>> {
        let words = words.iter().flat_map(|word| word.split(','));
        let rows = self.rows(words)?;
        let rows = if rows.is_empty() { catalogue::select(&self.catalogue, ["all"])? } else { rows };
        self.tell_broken();
        Ok(rows)
    }

    /// Says which services cannot be had because their manifests are wrong.
    pub fn tell_broken(&self) {
        for Broken { name, error } in &self.catalogue.broken {
            anstream::eprintln!("{} {name}: {error}", paint("33", "left out"));
        }
    }

    /// How a command ends that did what it was asked for `words`: where that is everything, a service whose manifest is
    /// wrong is not as it should be.
    pub fn outcome_of_all(&self, words: &[String], outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Fine if words.is_empty() && !self.catalogue.broken.is_empty() => Outcome::SetUp,
            outcome => outcome,
        }
    }

    /// A folder for a run that begins now; its name begins with the time, so that names sort by age.
    pub fn new_run(&self, experiment: &str, began: jiff::Timestamp) -> PathBuf {
        self.root.join("runs").join(format!("{}-{experiment}", began.strftime("%Y%m%dT%H%M%S%.3fZ")))
    }

    /// Where builds are recorded.
    pub fn builder(&self) -> Builder {
        Builder::new(&self.root)
    }
}

/// Where runs are kept in a checkout: those of its user, and those that it comes with.
pub fn run_folders(root: &Path) -> Vec<PathBuf> {
    ["runs", "record"].map(|name| root.join(name)).to_vec()
}

impl Global {
    /// The folder given, or the nearest one upwards that looks like a checkout.
    pub fn find(&self) -> anyhow::Result<PathBuf> {
        let is_root = |folder: &Path| folder.join("services").is_dir() && folder.join("contracts").is_dir();
        if let Some(root) = &self.root {
            if !is_root(root) {
                bail!("{}: has no \"services\" and \"contracts\" folders", root.display());
            }
            return root.canonicalize().with_context(|| root.display().to_string());
        }
        let here = std::env::current_dir().context("cannot tell the current folder")?;
        here.ancestors().find(|folder| is_root(folder)).map(Path::to_owned).with_context(|| {
            format!(
                "no \"services\" and \"contracts\" folders in {} or above it; name one by --root",
                here.display()
            )
        })
    }
}

/// This program, as a path that another process can start.
pub fn program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot find the program's own file")
}

/// Whoever starts services starts here: leftovers of a killed run are cleared, and a keeper outlives this process.
pub fn supervisor() -> anyhow::Result<Supervisor> {
    let isolation = Isolation::detect();
    let swept = sweep(&isolation);
    if !swept.pids.is_empty() {
        eprintln!("note: killed {} process(es) that an earlier tare had left", swept.pids.len());
    }
    Ok(Supervisor::start(&program()?, isolation)?)
}

/// A seed that nobody could have known: it is printed and kept, so that a run can be repeated.
pub fn draw_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Below 2^53, so that every reader of JSON keeps it whole.
    RandomState::new().build_hasher().finish() >> 11
}
