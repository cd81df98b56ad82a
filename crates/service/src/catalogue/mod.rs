//! The measurable services: the manifests of all service folders, with variants as rows of their own, and the
//! built-in reference. Starts nothing and builds nothing.

mod absent;
pub(crate) mod command;
mod environment;
mod language;
mod manifest;
mod offered;
mod outside;
mod place;
mod running;
mod select;
mod shares;
mod source;
mod url;

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    time::Duration,
};
use tare_base::spelling::{nearest, suggestion};

pub use absent::Absent;
pub use language::language_name;
pub(crate) use manifest::package_url;
pub use manifest::{
    GitSource, KnownFailure, NotOffered, Requirement, Run, Service, Setting, Step, StepShares, Style,
    ToleratedCheck, Variant, VersionCommand,
};
pub use packageurl::PackageUrl;
pub use place::{Place, RevisionOf};
pub use running::Running;
pub use select::{Row, SelectError, certify, in_each, select};
pub use url::is_url;

use tare_base::document::{self, DocumentError};

/// The name of the built-in reference.
pub const RAW_SOCKET: &str = "raw-socket";

/// The advice for an unknown name that is like no other.
const ADVICE: &str =
    "a service of yours is a command such as 'node server.js', a URL, or a folder such as ./mine";

/// Where words that name services come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Words<'a> {
    /// The command line: typed by the user.
    Typed,
    /// A file in this folder; paths are relative to it.
    OfFile(&'a Path),
}

impl<'a> Words<'a> {
    fn folder(self) -> &'a Path {
        match self {
            Words::Typed => Path::new(""),
            Words::OfFile(folder) => folder,
        }
    }
}

/// The placeholder in a command's word, for programs that do not read `PORT`.
const PORT_PLACEHOLDER: &str = "{port}";

impl Service {
    /// The command that serves `contract`. Most services serve all their contracts at once. An external
    /// program may not, if two contracts want different answers to one request, and the built-in reference
    /// has one response only: these get an argument that names the contract.
    pub(crate) fn command_for(&self, contract: &str, port: u16) -> Vec<String> {
        let arguments = self.run.arguments.get(contract).into_iter().flatten();
        let words = self.run.command.iter().chain(arguments);
        words.map(|word| word.replace(PORT_PLACEHOLDER, &port.to_string())).collect()
    }

    pub fn at(&self, place: Place) -> Service {
        Service { place, ..self.clone() }
    }

    /// Its folder, relative to the root of its build.
    pub(crate) fn within_build_root(&self) -> &Path {
        self.folder.strip_prefix(&self.build_root).unwrap_or(Path::new(""))
    }
}

/// The built-in raw socket, as a service of the catalogue.
#[derive(Debug, Clone, Default)]
pub struct RawSocket {
    /// The executable with the command `raw-socket`.
    pub program: PathBuf,
    /// The contracts that one fixed response can satisfy, each with its file, or its name if it is built in.
    pub contracts: BTreeMap<String, String>,
}

#[derive(Debug)]
pub struct Catalogue {
    /// Ordered by language and name; the raw socket first, each service before its variants.
    pub services: Vec<Service>,
    /// Folders with an invalid manifest. They are not services, but do not affect the others.
    pub broken: Vec<Broken>,
    /// Services of another catalogue, for advice.
    elsewhere: Vec<Service>,
}

#[derive(Debug)]
pub struct Broken {
    pub name: String,
    pub error: DocumentError,
}

impl Catalogue {
    /// A catalogue with only the raw socket, which is started in `folder`.
    pub(crate) fn new(folder: &Path, raw_socket: RawSocket) -> Catalogue {
        Catalogue {
            services: vec![built_in_raw_socket(folder, raw_socket)],
            broken: Vec::new(),
            elsewhere: Vec::new(),
        }
    }

    /// The raw socket, and the services with manifests at `ROOT/services/LANGUAGE/NAME/service.toml`.
    ///
    /// # Errors
    /// `ROOT/services` cannot be listed. An invalid manifest is not an error: it is in `broken`.
    pub fn load(root: &Path, contracts: &[&str], raw_socket: RawSocket) -> Result<Catalogue, DocumentError> {
        let mut catalogue = Catalogue::new(root, raw_socket);
        catalogue.read(&root.join("services"), contracts)?;
        Ok(catalogue)
    }

    /// Adds the services with manifests at `FOLDER/LANGUAGE/NAME/service.toml`. `contracts` are the known names.
    ///
    /// # Errors
    /// The folder cannot be listed. An invalid manifest is not an error: it is in `broken`.
    pub(crate) fn read(&mut self, folder: &Path, contracts: &[&str]) -> Result<(), DocumentError> {
        for path in manifests(folder)? {
            match read_manifest(&path, contracts, &self.services) {
                Ok(services) => self.services.extend(services),
                Err(error) => self.broken.push(Broken { name: name_of(path.parent()), error }),
            }
        }
        Ok(())
    }

    /// The raw socket offers these contracts from now on.
    pub(crate) fn offer(&mut self, raw_socket: RawSocket) {
        if let Some(service) = self.services.iter_mut().find(|service| service.id == RAW_SOCKET) {
            *service = built_in_raw_socket(&service.folder, raw_socket);
        }
    }

    /// Whether `word` names something that is here, or is no name at all.
    pub(crate) fn has(&self, word: &str) -> bool {
        let is_name = !word.is_empty() && !command::is_command(word) && !outside::is_path(word);
        !is_name
            || self.broken.iter().any(|broken| broken.name == base_of(word))
            || select(self, [word]).is_ok()
    }

    /// Takes from another catalogue what `word` names there: a service with its variants, or a group. The names of all
    /// others are known from now on, for advice.
    pub(crate) fn take(&mut self, word: &str, other: Catalogue) {
        let name = base_of(word);
        let of_group: Vec<String> = match name.starts_with("group:") {
            true => select(&other, [name]).into_iter().flatten().map(|row| row.service.id).collect(),
            false => Vec::new(),
        };
        let is_asked = |service: &Service| service.name == name || of_group.contains(&service.id);
        let known: Vec<String> = self.services.iter().map(|service| service.name.clone()).collect();
        let (asked, others): (Vec<Service>, Vec<Service>) = other.services.into_iter().partition(is_asked);
        self.services.extend(asked.into_iter().filter(|service| !known.contains(&service.name)));
        self.elsewhere = others;
    }

    /// # Errors
    /// A service with this id exists.
    pub(crate) fn add(&mut self, service: Service) -> Result<(), SelectError> {
        match self.get(&service.id) {
            Some(_) => Err(SelectError::NameTaken(service.id)),
            None => {
                self.services.push(service);
                Ok(())
            }
        }
    }

    pub fn get(&self, id: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.id == id)
    }

    /// The end of a message about an unknown word: the nearest of the names, which services here and elsewhere have.
    fn hint<'a>(&'a self, word: &str, name: impl Fn(&'a Service) -> &'a str, others: &[&'a str]) -> String {
        let mut here: Vec<&str> = self.services.iter().map(&name).collect();
        here.extend(others);
        here.sort_unstable();
        here.dedup();
        match nearest(word, here.iter().copied().chain(self.elsewhere.iter().map(&name))) {
            Some(name) => format!("; did you mean \"{name}\"?"),
            None => format!("; {ADVICE}; names here are: {}", here.join(", ")),
        }
    }
}

/// The name of the service that a word such as `hyper+h2`, `node-http:cluster` or `axum@2` is about.
fn base_of(word: &str) -> &str {
    match word.starts_with("group:") {
        true => word,
        false => word.split([':', '@', '+']).next().unwrap_or(word),
    }
}

fn manifests(folder: &Path) -> Result<Vec<PathBuf>, DocumentError> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>, DocumentError> {
        let unreadable = |source| DocumentError::Read { path: folder.to_owned(), source };
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .map_err(unreadable)?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.is_dir())
            .collect();
        paths.sort();
        Ok(paths)
    };
    let mut found = Vec::new();
    for language in list(folder)? {
        found.extend(
            list(&language)?.into_iter().map(|path| path.join("service.toml")).filter(|path| path.exists()),
        );
    }
    Ok(found)
}

fn name_of(folder: Option<&Path>) -> String {
    folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads a checkout's service, whose name must equal its folder's and be unique; so must the language.
fn read_manifest(
    path: &Path,
    contracts: &[&str],
    earlier: &[Service],
) -> Result<Vec<Service>, DocumentError> {
    let (text, manifest) = understand(path, contracts)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let wrong = |needle: &str, message: String| Err(DocumentError::at(path, &text, needle, message));
    if manifest.name != name_of(Some(folder)) {
        return wrong(
            "name",
            format!("name \"{}\" is not the folder's: \"{}\"", manifest.name, name_of(Some(folder))),
        );
    }
    if manifest.language != name_of(folder.parent()) {
        let parent = name_of(folder.parent());
        return wrong(
            "language",
            format!("language \"{}\" is not the parent folder's: \"{parent}\"", manifest.language),
        );
    }
    if let Some(other) = earlier.iter().find(|service| service.name == manifest.name) {
        let elsewhere = other.folder.display();
        return wrong(
            "name",
            format!("name \"{}\" is taken by {elsewhere}: names are unique", manifest.name),
        );
    }
    Ok(spread(manifest, folder))
}

/// Validates a manifest, wherever it is.
fn understand(path: &Path, contracts: &[&str]) -> Result<(String, Service), DocumentError> {
    let text = document::read(path)?;
    let manifest: Service = document::parse(path, &text, manifest::FORMAT)?;
    let wrong = |needle: &str, message: String| Err(DocumentError::at(path, &text, needle, message));
    for contract in &manifest.contracts {
        if !contracts.contains(&contract.as_str()) {
            let nearest = suggestion(contract, contracts.iter().copied());
            return wrong(&format!("\"{contract}\""), format!("unknown contract \"{contract}\"{nearest}"));
        }
    }
    for contract in manifest.run.arguments.keys() {
        if !manifest.contracts.contains(contract) {
            let nearest = suggestion(contract, manifest.contracts.iter().map(String::as_str));
            let message =
                format!("arguments for a contract that it does not declare, \"{contract}\"{nearest}");
            return wrong("arguments", message);
        }
    }
    if manifest.run.ready_timeout.is_zero() {
        return wrong(
            "ready-timeout",
            "a service needs some time until its first answer, such as \"10s\"".to_owned(),
        );
    }
    if let Err(error) = spdx::Expression::parse(&manifest.licence) {
        let message = format!(
            "licence \"{}\" is no SPDX expression ({}): write one such as \"MIT OR Apache-2.0\", or \"LicenseRef-NAME\" for \
             a licence without an identifier",
            manifest.licence, error.reason
        );
        return wrong("licence", message);
    }
    offered::check(&manifest, |needle, message| DocumentError::at(path, &text, needle, message))?;
    shares::check(&manifest, |needle, message| DocumentError::at(path, &text, needle, message))?;
    source::check(&manifest, |needle, message| DocumentError::at(path, &text, needle, message))?;
    let root = &manifest.build_root;
    if root.components().any(|part| part != Component::ParentDir) {
        let message = format!("\"{}\" is no folder above the service's, such as \"../..\"", root.display());
        return wrong("build-root", message);
    }
    Ok((text, manifest))
}

/// The service in `folder` and its variants.
fn spread(mut service: Service, folder: &Path) -> Vec<Service> {
    let levels = service.build_root.components().count();
    service.id.clone_from(&service.name);
    service.build_root = folder.ancestors().nth(levels).unwrap_or(folder).to_owned();
    service.folder = folder.to_owned();
    service.place = Place::new(folder.to_owned());
    let variants = std::mem::take(&mut service.variants);
    let mut services = vec![service.clone()];
    services.extend(variants.into_iter().map(|variant| {
        let mut run = service.run.clone();
        run.command = variant.command.unwrap_or(run.command);
        run.env.extend(variant.env);
        run.keeps_connections = variant.keeps_connections.unwrap_or(run.keeps_connections);
        let (id, title) = (format!("{}:{}", service.name, variant.name), Some(variant.title));
        Service { id, title, run, ..service.clone() }
    }));
    services
}

fn built_in_raw_socket(root: &Path, raw_socket: RawSocket) -> Service {
    let tare = raw_socket.program.to_string_lossy().into_owned();
    let argument =
        |(name, word): (&String, &String)| (name.clone(), vec!["--contract".to_owned(), word.clone()]);
    let run = Run {
        command: vec![tare.clone(), "raw-socket".to_owned()],
        arguments: raw_socket.contracts.iter().map(argument).collect(),
        port: None,
        ready_timeout: Duration::from_secs(5),
        env: BTreeMap::new(),
        keeps_connections: true,
    };
    Service {
        id: RAW_SOCKET.to_owned(),
        name: RAW_SOCKET.to_owned(),
        language: "rust".to_owned(),
        framework: "raw socket".to_owned(),
        licence: "Apache-2.0 OR MIT".to_owned(),
        contracts: raw_socket.contracts.into_keys().collect(),
        protocols: offered::all(),
        tls: true,
        style: Style::RawSocket,
        is_built_in: true,
        version: VersionCommand { command: vec![tare, "raw-socket".to_owned(), "--version".to_owned()] },
        run,
        folder: root.to_owned(),
        build_root: root.to_owned(),
        place: Place::new(root.to_owned()),
        typed: true,
        ..Service::default()
    }
}

/// Labels contain `:` and `@`, which some file systems and shells dislike, and may be too long for a file.
pub fn file_name(label: &str) -> String {
    const LENGTH_MAX: usize = 80;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '+' };
    let name: String = label.chars().map(plain).collect();
    match name.len() <= LENGTH_MAX {
        true => name,
        false => format!("{}+{}", &name[..LENGTH_MAX], &blake3::hash(label.as_bytes()).to_hex()[..8]),
    }
}

/// Whether a word is a single service, even if it contains commas.
pub(crate) fn is_one_service(word: &str) -> bool {
    command::is_command(word) || is_url(word)
}

#[cfg(test)]
mod tests;
