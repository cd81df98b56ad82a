//! The contracts and services available to a command: those of the repository, built-in ones, and those that
//! the user names.

mod bundle;
mod project;
mod root;
mod trust;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, io,
    path::{Path, PathBuf},
};

use crate::{
    build::{Builder, Outlook, Store},
    catalogue::{self, Catalogue, RawSocket, Row, SelectError, Service, Words},
    footprint::Footprint,
    learn::{LearnContext, LearnError, LearnRequest},
    revisions::Shelf,
};
use tare_base::document::DocumentError;
use tare_contract::{Contract, ContractError};

pub use bundle::{PackedCatalogue, UnpackCatalogueError};
use project::Project;
pub use root::{Root, link_on_the_way};
pub use trust::{NamedCommand, Purpose, Trust, TrustQuestion};

#[derive(Debug)]
pub struct Workspace {
    pub root: PathBuf,
    pub contracts: BTreeMap<String, Contract>,
    /// Files and folders of contracts, except built-in ones.
    pub contract_paths: Vec<PathBuf>,
    /// The file of each contract, except built-in ones.
    contract_files: BTreeMap<String, PathBuf>,
    /// The services of the repository, and requested ones outside it.
    pub catalogue: Catalogue,
    /// For each service outside the repository: the user's word and its id.
    adopted: BTreeMap<String, String>,
    /// The folder for what Tare writes about this repository.
    own: PathBuf,
    home: PathBuf,
    /// Whether there is a `tare.toml`.
    has_project: bool,
    program: PathBuf,
    bundle: Option<PackedCatalogue>,
    /// The folder of the unpacked bundle, if something of it is used.
    unpacked: Option<PathBuf>,
    /// Why the catalogue of this program is not here, where all its services would be.
    pub not_unpacked: Option<String>,
    /// Whether the user allows all commands in files for this one invocation.
    pub trusts_all: bool,
    /// Absent in a build without the part that brings them.
    pub readers: Option<Readers>,
}

/// What a part reads of services.
#[derive(Debug, Clone, Copy)]
pub struct Readers {
    /// All that is visible of services without starting them, in their order.
    pub footprints: fn(&Workspace, &[&Service]) -> Result<Vec<Footprint>, DocumentError>,
    /// The requests of an OpenAPI document that change nothing, or why it has none.
    pub document: fn(&str) -> Result<Vec<LearnRequest>, String>,
    /// Place and requests of the OpenAPI document that a service publishes, if it does. The service is started.
    pub published: fn(&Service, &LearnContext) -> Result<Option<Published>, LearnError>,
}

/// Where a service publishes its OpenAPI document, and the requests of it that change nothing.
pub type Published = (&'static str, Vec<LearnRequest>);

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("{}: has no tare.toml", .0.display())]
    NoRoot(PathBuf),
    #[error("{}: there is no such folder", .0.display())]
    NoFolder(PathBuf),
    #[error(
        "{}: is a symbolic link, and what Tare writes stays in the repository: remove it (a run is stored elsewhere by --out)",
        .0.display()
    )]
    Link(PathBuf),
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
    #[error(transparent)]
    Unpack(#[from] UnpackCatalogueError),
}

impl Workspace {
    /// Opens the workspace at `root`. `program` is the raw-socket server; builds are cached below `home`.
    ///
    /// # Errors
    /// A contract or a service in `tare.toml` is invalid, or a folder cannot be listed. An invalid manifest
    /// is not an error: it is in `catalogue.broken`.
    pub fn open(root: &Root, program: &Path, home: &Path) -> Result<Workspace, WorkspaceError> {
        let folder = root::own_folder(&root.folder, home);
        if let Some(link) = root::link_below(&root.folder, &folder) {
            return Err(WorkspaceError::Link(link));
        }
        let mut workspace = Workspace {
            root: root.folder.clone(),
            contracts: Contract::built_in(),
            contract_paths: Vec::new(),
            contract_files: BTreeMap::new(),
            catalogue: Catalogue::new(&root.folder, RawSocket::default()),
            adopted: BTreeMap::new(),
            own: folder,
            home: home.to_owned(),
            has_project: root.project.is_some(),
            program: program.to_owned(),
            bundle: root.bundle.clone(),
            unpacked: root.unpacked().map(Path::to_owned),
            not_unpacked: root.not_unpacked.clone(),
            trusts_all: false,
            readers: None,
        };
        workspace.offer_raw_socket();
        let own = root.projects().map(|project| workspace.take_contracts(project, |_| true));
        let own = own.collect::<Result<Vec<_>, _>>()?;
        let names: Vec<&str> = workspace.contracts.keys().map(String::as_str).collect();
        for (project, own) in root.projects().zip(&own) {
            project.read_catalogue(&mut workspace.catalogue, &names)?;
            let own: Vec<&str> = own.iter().map(String::as_str).collect();
            let services = project.services(&own, &names)?;
            services.into_iter().try_for_each(|service| workspace.catalogue.add(service))?;
        }
        Ok(workspace)
    }

    /// Adds the contracts of a project whose names are wanted, and returns these names.
    fn take_contracts(
        &mut self,
        project: &Project,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, WorkspaceError> {
        let mut taken = Vec::new();
        for (name, mut contract) in project.contracts()? {
            if is_wanted(&name) {
                contract.enter_secrets(&secret);
                self.contract_files.extend(project.contract_file(&name).map(|file| (name.clone(), file)));
                self.contracts.insert(name.clone(), contract);
                taken.push(name);
            }
        }
        self.contract_paths.extend(project.contract_paths());
        self.offer_raw_socket();
        Ok(taken)
    }

    /// The raw socket serves the contracts that have one fixed response.
    fn offer_raw_socket(&mut self) {
        let fixed =
            self.contracts.values().filter(|contract| tare_contract::fixed_response(contract).is_ok());
        let with_words = fixed.map(|Contract { name, .. }| {
            let word = self.contract_files.get(name).map(|file| file.display().to_string());
            (name.clone(), word.unwrap_or_else(|| name.clone()))
        });
        let contracts = with_words.collect();
        self.catalogue.offer(RawSocket { program: self.program.clone(), contracts });
    }

    /// # Errors
    /// There is no contract with this name.
    pub fn contract(&self, name: &str) -> Result<&Contract, WorkspaceError> {
        self.contracts.get(name).ok_or_else(|| {
            let nearest = tare_base::spelling::suggestion(name, self.contracts.keys().map(String::as_str));
            WorkspaceError::UnknownContract(name.to_owned(), nearest)
        })
    }

    /// Adds services that `words` name but the repository lacks: a word with a space is a command, one with a
    /// slash a folder.
    ///
    /// # Errors
    /// The folder does not exist, or its manifest is invalid.
    pub fn adopt<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) -> Result<(), WorkspaceError> {
        self.take_in(Words::Typed, words)
    }

    /// As [`Workspace::adopt`], for words in a file of the folder `from`. Paths are relative to that folder.
    ///
    /// # Errors
    /// As [`Workspace::adopt`].
    pub fn adopt_from<'w>(
        &mut self,
        from: &Path,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Result<(), WorkspaceError> {
        self.take_in(Words::OfFile(from), words)
    }

    fn take_in<'w>(
        &mut self,
        stands: Words,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Result<(), WorkspaceError> {
        for word in words.into_iter().map(str::trim) {
            self.take_from_bundle(word)?;
            let names: Vec<&str> = self.contracts.keys().map(String::as_str).collect();
            let id = self.catalogue.adopt(word, stands, &names)?;
            self.adopted.insert(word.to_owned(), id);
        }
        Ok(())
    }

    /// Adds what `word` names in the catalogue of this program, if it names nothing here.
    fn take_from_bundle(&mut self, word: &str) -> Result<(), WorkspaceError> {
        let Some(bundle) = self.bundle.as_ref().filter(|_| !self.catalogue.has(word)) else { return Ok(()) };
        let project = bundle.project()?;
        self.unpacked = Some(project.folder().to_owned());
        let new: BTreeSet<String> =
            project.contracts()?.into_keys().filter(|name| !self.contracts.contains_key(name)).collect();
        self.take_contracts(&project, |name| new.contains(name))?;
        let names: Vec<&str> = self.contracts.keys().map(String::as_str).collect();
        let mut beside = Catalogue::new(&self.root, RawSocket::default());
        project.read_catalogue(&mut beside, &names)?;
        self.catalogue.take(word, beside);
        Ok(())
    }

    /// The rows that `words` name. A service outside the repository keeps the user's word as its label.
    ///
    /// # Errors
    /// A word names no service or group, or two words name the same service.
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

    /// The rows that `words` name, which may be lists; default: all rows.
    ///
    /// # Errors
    /// As [`Workspace::rows`].
    pub fn select(&self, words: &[String]) -> Result<Vec<Row>, SelectError> {
        let rows = self.rows(words.iter().flat_map(|word| split(word)))?;
        if rows.is_empty() { catalogue::select(&self.catalogue, ["all"]) } else { Ok(rows) }
    }

    /// The folder of a run that starts now. Its name begins with the time, so that names sort by age.
    pub fn new_run(&self, experiment: &str, began: jiff::Timestamp) -> PathBuf {
        root::make_own(&self.own);
        self.runs().join(format!("{}-{experiment}", began.strftime("%Y%m%dT%H%M%S%.3fZ")))
    }

    pub fn builder(&self) -> Builder {
        root::make_own(&self.own);
        self.builds()
    }

    /// Predicts a build of a service. Writes nothing.
    pub fn outlook(&self, service: &Service) -> Outlook {
        self.builds().outlook(service)
    }

    fn builds(&self) -> Builder {
        Builder::new(&self.own, self.store())
    }

    /// Where runs are stored.
    pub fn runs(&self) -> PathBuf {
        self.own.join("runs")
    }

    /// A folder for what Tare writes about this repository.
    pub fn scratch(&self, name: &str) -> PathBuf {
        root::make_own(&self.own);
        self.own.join(name)
    }

    pub fn store(&self) -> Store {
        Store::new(&self.home)
    }

    pub fn trust(&self) -> Trust {
        Trust::read(&self.home)
    }

    /// The folder of checked-out revisions.
    pub fn shelf(&self) -> Shelf {
        Shelf::new(&self.home)
    }

    /// Whether the catalogue of this program has other services, which are found by their names alone.
    pub fn has_more_by_name(&self) -> bool {
        self.bundle.is_some() && self.unpacked.is_none()
    }

    /// Commands in files for these services that the user has not allowed: grouped for the repository with
    /// its revisions, and for each service outside it.
    pub fn not_allowed<'s>(&self, services: impl IntoIterator<Item = &'s Service>) -> Vec<TrustQuestion> {
        if self.trusts_all {
            return Vec::new();
        }
        let trust = self.trust();
        let named = self.named_commands(services);
        named.into_iter().filter_map(|(folder, commands)| trust.asks(&folder, commands)).collect()
    }

    /// The commands in files for these services, by the folder for which they are allowed.
    pub fn named_commands<'s>(
        &self,
        services: impl IntoIterator<Item = &'s Service>,
    ) -> BTreeMap<PathBuf, BTreeSet<NamedCommand>> {
        let shelf = self.shelf();
        let mut named: BTreeMap<PathBuf, BTreeSet<NamedCommand>> = BTreeMap::new();
        for service in services {
            let folder = shelf.origin(&service.folder).unwrap_or_else(|| service.folder.clone());
            // These files are those that this program brought: they were compared with it.
            if self.unpacked.as_ref().is_some_and(|unpacked| folder.starts_with(unpacked)) {
                continue;
            }
            let is_of_root = self.has_project && folder.starts_with(&self.root);
            let unit = if is_of_root { &self.root } else { &folder };
            let commands = NamedCommand::all(service, folder.strip_prefix(unit).unwrap_or(Path::new("")));
            if !commands.is_empty() {
                named.entry(unit.clone()).or_default().extend(commands);
            }
        }
        named
    }
}

/// Splits a list; a command or a URL is not split.
pub fn split(word: &str) -> Vec<&str> {
    match catalogue::is_one_service(word) {
        true => vec![word],
        false => word.split(',').collect(),
    }
}

/// The value of a variable that a contract sends; from now on all output replaces it.
fn secret(variable: &str) -> Option<String> {
    let value = env::var(variable).ok()?;
    tare_host::secrets::keep(variable, &value);
    Some(value)
}

/// The folder of the build cache: `given`, or `TARE_HOME`, or in the user's cache folder.
pub fn home(given: Option<&Path>, root: &Path) -> PathBuf {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let given = given.map(Path::to_owned).or_else(|| variable("TARE_HOME"));
    let home = first_home(given, variable("XDG_CACHE_HOME"), variable("HOME"), root);
    std::path::absolute(&home).unwrap_or(home)
}

/// If all are missing, the repository's own folder.
fn first_home(given: Option<PathBuf>, cache: Option<PathBuf>, user: Option<PathBuf>, root: &Path) -> PathBuf {
    // The XDG specification says to ignore relative paths.
    let cache = cache.filter(|path| path.is_absolute()).or(user.map(|home| home.join(".cache")));
    given.or(cache.map(|cache| cache.join("tare"))).unwrap_or_else(|| root.join(".tare").join(root::HOME))
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

    fn repository(project: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("tare.toml"), format!("format = \"1.0\"\n{project}")).unwrap();
        root
    }

    fn open(root: &Path) -> Result<Workspace, WorkspaceError> {
        Workspace::open(&Root::find(Some(root))?, Path::new("tare"), Path::new("/home"))
    }

    fn labels(workspace: &Workspace, words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        workspace.select(&words).unwrap().into_iter().map(|row| row.label).collect()
    }

    #[test]
    fn an_empty_repository_has_the_raw_socket_and_the_built_in_contracts() {
        let root = repository("");
        let workspace = open(root.path()).unwrap();
        assert_eq!(labels(&workspace, &[]), ["raw-socket"]);
        assert!(workspace.contract("hello").is_ok());
        let error = workspace.contract("helo").unwrap_err().to_string();
        assert_eq!(error, "unknown contract \"helo\"; did you mean \"hello\"?");
        let error = workspace.select(&["raw-scoket,x".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "unknown service \"raw-scoket\"; did you mean \"raw-socket\"?");
        for word in ["hyper", "group:go"] {
            let error = workspace.select(&[word.to_owned()]).unwrap_err().to_string();
            assert!(error.contains("a service of yours is a command"), "{error}");
        }
    }

    #[test]
    fn a_repository_has_its_own_services_and_takes_in_commands() {
        let root = repository("[service.shop]\ncommand = \"node server.js\"\n");
        let mut workspace = open(root.path()).unwrap();
        let words = ["shop", "go run . -port {port}", "go run . -port {port}@2"];
        workspace.adopt(words).unwrap();
        assert_eq!(labels(&workspace, &words), words);
        assert_eq!(labels(&workspace, &["shop,raw-socket"]), ["shop", "raw-socket"]);
    }

    #[test]
    fn a_service_of_tare_toml_cannot_take_the_name_of_another() {
        let root = repository("[service.raw-socket]\ncommand = \"x\"\n");
        let error = open(root.path()).unwrap_err().to_string();
        assert!(error.ends_with("service \"raw-socket\": this name is taken"), "{error}");
    }

    #[test]
    fn a_contract_that_is_wrong_is_an_error_of_the_repository() {
        let root = repository("contracts = [\"a.toml\"]\n");
        std::fs::write(root.path().join("a.toml"), "format = \"9.9\"\n").unwrap();
        let error = open(root.path()).unwrap_err();
        assert!(matches!(error, WorkspaceError::Contract(_)), "{error}");
    }

    #[test]
    fn folders_of_runs_sort_by_age() {
        let root = repository("");
        let workspace = open(root.path()).unwrap();
        let at = |ms| workspace.new_run("hello", jiff::Timestamp::from_millisecond(ms).unwrap());
        assert!(at(999) < at(1_000) && at(1_000) < at(1_001), "to the millisecond");
        assert_eq!(at(1).file_name().unwrap(), "19700101T000000.001Z-hello");
        assert!(at(1).parent().unwrap().ends_with(".tare/runs"));
    }
}
