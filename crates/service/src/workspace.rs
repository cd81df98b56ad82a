//! A checkout: where the contracts and services are, and what is in them.

use std::{
    collections::BTreeMap,
    env, io,
    path::{Path, PathBuf},
};

use crate::{
    build::{Builder, Store},
    catalogue::{self, Catalogue, RawSocket, Row, SelectError},
    contract::{self, Contract, ContractError},
    document::DocumentError,
};

#[derive(Debug)]
pub struct Workspace {
    pub root: PathBuf,
    pub contracts: BTreeMap<String, Contract>,
    /// The services of the checkout, and those outside of it that were asked for.
    pub catalogue: Catalogue,
    /// Of the services outside: what the user wrote, and their ids.
    adopted: BTreeMap<String, String>,
    home: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("{}: has no \"services\" and \"contracts\" folders", .0.display())]
    NoCheckout(PathBuf),
    #[error("no \"services\" and \"contracts\" folders in {} or above it; choose a checkout with --root", .0.display())]
    NotFound(PathBuf),
    #[error("unknown contract \"{0}\"{1}")]
    UnknownContract(String, String),
    #[error("{}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Contract(#[from] ContractError),
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Select(#[from] SelectError),
}

impl Workspace {
    /// Reads the checkout at `root`; `program` is started as the raw-socket server; builds are cached below `home`.
    ///
    /// # Errors
    /// A contract is wrong, or a folder cannot be listed. A wrong manifest is no error: it is in `catalogue.broken`.
    pub fn open(root: &Path, program: &Path, home: &Path) -> Result<Workspace, WorkspaceError> {
        let contracts = Contract::load_all(&root.join("contracts"))?;
        let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
        let fixed = contracts.values().filter(|contract| contract::fixed_response(contract).is_some());
        let raw_socket = RawSocket {
            program: program.to_owned(),
            contracts: fixed.map(|contract| contract.name.clone()).collect(),
        };
        let catalogue = Catalogue::load(root, &names, raw_socket)?;
        let (root, home) = (root.to_owned(), home.to_owned());
        Ok(Workspace { root, contracts, catalogue, adopted: BTreeMap::new(), home })
    }

    /// # Errors
    /// There is no contract of this name.
    pub fn contract(&self, name: &str) -> Result<&Contract, WorkspaceError> {
        self.contracts.get(name).ok_or_else(|| {
            let nearest = tare_host::spelling::suggestion(name, self.contracts.keys().map(String::as_str));
            WorkspaceError::UnknownContract(name.to_owned(), nearest)
        })
    }

    /// Takes in the services outside of the checkout that `words` name: a word with a slash is a folder.
    ///
    /// # Errors
    /// There is no such folder, or its manifest is wrong.
    pub fn adopt<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) -> Result<(), DocumentError> {
        let names: Vec<&str> = self.contracts.keys().map(String::as_str).collect();
        for word in words.into_iter().map(str::trim).filter(|word| word.contains('/')) {
            let id = self.catalogue.adopt(word, &names)?;
            self.adopted.insert(word.to_owned(), id);
        }
        Ok(())
    }

    /// The rows that `words` name. A service outside of the checkout keeps the name that the user wrote.
    ///
    /// # Errors
    /// A word names no service or group, or one service twice.
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

    /// The rows that `words` name, which may be lists; every row by default.
    ///
    /// # Errors
    /// As [`Workspace::rows`].
    pub fn select(&self, words: &[String]) -> Result<Vec<Row>, SelectError> {
        let rows = self.rows(words.iter().flat_map(|word| word.split(',')))?;
        if rows.is_empty() { catalogue::select(&self.catalogue, ["all"]) } else { Ok(rows) }
    }

    /// A folder for a run that starts now; its name begins with the time, so that names sort by age.
    pub fn new_run(&self, experiment: &str, began: jiff::Timestamp) -> PathBuf {
        self.root.join("runs").join(format!("{}-{experiment}", began.strftime("%Y%m%dT%H%M%S%.3fZ")))
    }

    pub fn builder(&self) -> Builder {
        Builder::new(&self.root, self.store())
    }

    pub fn store(&self) -> Store {
        Store::new(&self.home)
    }
}

/// Where a checkout has runs: those of its user, and those that it comes with.
pub fn run_folders(root: &Path) -> Vec<PathBuf> {
    ["runs", "record"].map(|name| root.join(name)).to_vec()
}

/// The checkout at `given`; by default the nearest one upwards from the current folder.
///
/// # Errors
/// No such folder holds `services` and `contracts`, or it cannot be read.
pub fn find(given: Option<&Path>) -> Result<PathBuf, WorkspaceError> {
    let is_root = |folder: &Path| folder.join("services").is_dir() && folder.join("contracts").is_dir();
    let folder = |path: &Path, source| WorkspaceError::Folder { path: path.to_owned(), source };
    if let Some(root) = given {
        return match is_root(root) {
            true => root.canonicalize().map_err(|error| folder(root, error)),
            false => Err(WorkspaceError::NoCheckout(root.to_owned())),
        };
    }
    let here = env::current_dir().map_err(|error| folder(Path::new("."), error))?;
    let root = here.ancestors().find(|folder| is_root(folder)).map(Path::to_owned);
    root.ok_or(WorkspaceError::NotFound(here))
}

/// Where builds are cached for all checkouts: `given` or `TARE_HOME`, or a folder where caches lie.
pub fn home(given: Option<&Path>, root: &Path) -> PathBuf {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let given = given.map(Path::to_owned).or_else(|| variable("TARE_HOME"));
    let home = first_home(given, variable("XDG_CACHE_HOME"), variable("HOME"), root);
    std::path::absolute(&home).unwrap_or(home)
}

/// Without any of them it is the checkout's own.
fn first_home(given: Option<PathBuf>, cache: Option<PathBuf>, user: Option<PathBuf>, root: &Path) -> PathBuf {
    // The specification of these folders ignores relative ones.
    let cache = cache.filter(|path| path.is_absolute()).or(user.map(|home| home.join(".cache")));
    given.or(cache.map(|cache| cache.join("tare"))).unwrap_or_else(|| root.join(".tare").join("home"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_cached_where_the_user_says_or_caches_lie() {
        let path = |text: &str| Some(PathBuf::from(text)).filter(|_| !text.is_empty());
        for (given, cache, user, wanted) in [
            ("/mine", "/cache", "/users/me", "/mine"),
            ("", "/cache", "/users/me", "/cache/tare"),
            ("", "cache", "/users/me", "/users/me/.cache/tare"),
            ("", "", "/users/me", "/users/me/.cache/tare"),
            ("", "", "", "/checkout/.tare/home"),
        ] {
            let found = first_home(path(given), path(cache), path(user), Path::new("/checkout"));
            assert_eq!(found, Path::new(wanted));
        }
    }

    fn checkout() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for name in ["services", "contracts", "deep/er"] {
            std::fs::create_dir_all(root.path().join(name)).unwrap();
        }
        root
    }

    #[test]
    fn a_checkout_has_services_and_contracts() {
        let root = checkout();
        assert_eq!(find(Some(root.path())).unwrap(), root.path().canonicalize().unwrap());
        let error = find(Some(&root.path().join("deep"))).unwrap_err().to_string();
        assert!(error.ends_with("has no \"services\" and \"contracts\" folders"), "{error}");
    }

    #[test]
    fn an_empty_checkout_has_the_raw_socket_and_no_contract() {
        let root = checkout();
        let workspace = Workspace::open(root.path(), Path::new("tare"), Path::new("/home")).unwrap();
        let labels: Vec<String> = workspace.select(&[]).unwrap().into_iter().map(|row| row.label).collect();
        assert_eq!(labels, ["raw-socket"]);
        assert_eq!(workspace.contract("hello").unwrap_err().to_string(), "unknown contract \"hello\"");
        let error = workspace.select(&["raw-scoket,x".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "unknown service \"raw-scoket\"; did you mean \"raw-socket\"?");
    }

    #[test]
    fn a_contract_that_is_wrong_is_an_error_of_the_checkout() {
        let root = checkout();
        std::fs::write(root.path().join("contracts/a.toml"), "format = \"9.9\"\n").unwrap();
        let error = Workspace::open(root.path(), Path::new("tare"), Path::new("/home")).unwrap_err();
        assert!(matches!(error, WorkspaceError::Contract(_)), "{error}");
    }

    #[test]
    fn folders_of_runs_sort_by_age() {
        let root = checkout();
        let workspace = Workspace::open(root.path(), Path::new("tare"), Path::new("/home")).unwrap();
        let at = |ms| workspace.new_run("hello", jiff::Timestamp::from_millisecond(ms).unwrap());
        assert!(at(999) < at(1_000) && at(1_000) < at(1_001), "to the millisecond");
        assert_eq!(at(1).file_name().unwrap(), "19700101T000000.001Z-hello");
        assert_eq!(run_folders(root.path())[0], at(1).parent().unwrap());
    }
}
