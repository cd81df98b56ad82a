//! `tare.toml`: marks the root of a repository, version 1.0. Paths are relative to its folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny},
};

use super::WorkspaceError;
use crate::catalogue::{Catalogue, Service, Step, command};
use tare_base::document::{self, DocumentError};
use tare_contract::Contract;

pub(super) const FILE: &str = "tare.toml";
/// The supported version of the format.
const FORMAT: &str = "1.0";
/// Characters that separate services, variants and numbers.
const RESERVED: [char; 6] = [':', '@', ',', '/', '+', ' '];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Project {
    #[serde(rename = "format")]
    _format: String,
    /// A folder of services with manifests: `LANGUAGE/NAME/service.toml`.
    catalogue: Option<PathBuf>,
    /// Contract files, and folders of them.
    #[serde(default)]
    contracts: Vec<PathBuf>,
    /// Experiment files, and folders of them.
    #[serde(default)]
    experiments: Vec<PathBuf>,
    /// Named comparisons, which `tare compare` reads from the text.
    #[serde(default, rename = "gate")]
    _gates: IgnoredAny,
    #[serde(default, rename = "service")]
    services: BTreeMap<String, OwnService>,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    folder: PathBuf,
}

/// `[service.NAME]`: only its command is required.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct OwnService {
    #[serde(deserialize_with = "words")]
    command: Vec<String>,
    #[serde(default)]
    folder: PathBuf,
    /// Default: the contracts of the file.
    contracts: Option<Vec<String>>,
    #[serde(default)]
    build: Vec<Step>,
    #[serde(default, deserialize_with = "tare_base::units::deserialize_some_duration")]
    ready_timeout: Option<Duration>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl Project {
    /// Absent if `folder` has no `tare.toml`.
    pub(super) fn load(folder: &Path) -> Result<Option<Project>, DocumentError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Ok(None);
        }
        Project::parse(folder, &document::read(&path)?).map(Some)
    }

    /// Parses the text of the `tare.toml` in `folder`.
    pub(super) fn parse(folder: &Path, text: &str) -> Result<Project, DocumentError> {
        let project: Project = document::parse(&folder.join(FILE), text, FORMAT)?;
        Ok(Project { text: text.to_owned(), folder: folder.to_owned(), ..project })
    }

    /// Another catalogue: a repository, or a folder of services with manifests.
    pub(super) fn of_catalogue(folder: &Path) -> Result<Project, DocumentError> {
        let own = Project::load(folder)?;
        Ok(own.unwrap_or_else(|| Project {
            catalogue: Some(PathBuf::new()),
            folder: folder.to_owned(),
            ..Project::default()
        }))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file's path and text.
    pub(super) fn document(&self) -> (PathBuf, &str) {
        (self.folder.join(FILE), &self.text)
    }

    /// The experiment files, ordered by name.
    pub(super) fn experiments(&self) -> Vec<PathBuf> {
        let is_toml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
        let files = |path: PathBuf| match path.read_dir() {
            Ok(entries) => {
                let mut files: Vec<PathBuf> =
                    entries.flatten().map(|entry| entry.path()).filter(is_toml).collect();
                files.sort();
                files
            }
            Err(_) => vec![path],
        };
        self.experiments.iter().map(|path| self.folder.join(path)).flat_map(files).collect()
    }

    /// Adds the services of its folder of services.
    pub(super) fn read_catalogue(
        &self,
        into: &mut Catalogue,
        contracts: &[&str],
    ) -> Result<(), DocumentError> {
        match &self.catalogue {
            Some(folder) => into.read(&self.folder.join(folder), contracts),
            None => Ok(()),
        }
    }

    pub(super) fn contract_paths(&self) -> impl Iterator<Item = PathBuf> {
        self.contracts.iter().map(|path| self.folder.join(path))
    }

    /// The file of one of its contracts, which has its name.
    pub(super) fn contract_file(&self, name: &str) -> Option<PathBuf> {
        let file = format!("{name}.toml");
        let mut paths = self.contract_paths();
        paths.find_map(|path| match path.is_dir() {
            true => Some(path.join(&file)).filter(|path| path.is_file()),
            false => Some(path).filter(|path| path.file_name().is_some_and(|name| *name == *file)),
        })
    }

    pub(super) fn contracts(&self) -> Result<BTreeMap<String, Contract>, WorkspaceError> {
        let mut contracts = BTreeMap::new();
        for path in self.contract_paths() {
            match path.is_dir() {
                true => contracts.extend(Contract::load_all(&path)?),
                false => {
                    let contract = Contract::load(&path)?;
                    contracts.insert(contract.name.clone(), contract);
                }
            }
        }
        Ok(contracts)
    }

    /// The services that the file defines. `own` are the names of its contracts, `known` all contract names.
    pub(super) fn services(&self, own: &[&str], known: &[&str]) -> Result<Vec<Service>, DocumentError> {
        self.services.iter().map(|(name, service)| self.service(name, service, own, known)).collect()
    }

    fn service(
        &self,
        name: &str,
        service: &OwnService,
        own: &[&str],
        known: &[&str],
    ) -> Result<Service, DocumentError> {
        let path = self.folder.join(FILE);
        let wrong =
            |needle: &str, message: String| Err(DocumentError::at(&path, &self.text, needle, message));
        if name.is_empty() || name.contains(RESERVED) {
            let message = format!("service \"{name}\": a name has none of : @ , / + and no space");
            return wrong(&format!("[service.{name}"), message);
        }
        let own = || own.iter().map(|name| (*name).to_owned()).collect();
        let contracts: Vec<String> = service.contracts.clone().unwrap_or_else(own);
        if let Some(unknown) = contracts.iter().find(|name| !known.contains(&name.as_str())) {
            let nearest = tare_base::spelling::suggestion(unknown, known.iter().copied());
            return wrong(&format!("\"{unknown}\""), format!("unknown contract \"{unknown}\"{nearest}"));
        }
        let mut made = command::service(name, service.command.clone(), &self.folder.join(&service.folder));
        made.name = name.to_owned();
        made.contracts = contracts;
        made.build.clone_from(&service.build);
        made.steps_elsewhere = true;
        made.run.env.clone_from(&service.env);
        made.run.ready_timeout = service.ready_timeout.unwrap_or(made.run.ready_timeout);
        Ok(made)
    }
}

/// A command: a text for a shell, or a list of words.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a command is a text such as \"node server.js\", or a list of words")]
    enum Command {
        Text(String),
        Words(Vec<String>),
    }
    let words = match Command::deserialize(deserializer)? {
        Command::Text(text) => command::words(&text),
        Command::Words(words) => words,
    };
    match words.is_empty() {
        true => Err(D::Error::custom("a command needs at least the program")),
        false => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> (tempfile::TempDir, Result<Option<Project>, DocumentError>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), text).unwrap();
        let project = Project::load(folder.path());
        (folder, project)
    }

    fn refused(text: &str) -> String {
        let (_folder, project) = project(text);
        let made = project.and_then(|project| project.unwrap().services(&["shop"], &["shop", "hello"]));
        let error = made.unwrap_err().to_string();
        error.split_once("tare.toml:").unwrap().1.to_owned()
    }

    #[test]
    fn a_command_is_enough() {
        let (folder, project) = project("format = \"1.0\"\n[service.shop]\ncommand = \"node server.js\"\n");
        let services = project.unwrap().unwrap().services(&["shop"], &["shop"]).unwrap();
        let [service] = services.as_slice() else { panic!("{services:?}") };
        assert_eq!(
            (service.id.as_str(), service.contracts.as_slice()),
            ("shop", ["shop".to_owned()].as_slice())
        );
        assert_eq!(service.run.command, ["node", "server.js"]);
        assert_eq!(*service.place, *folder.path());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let head = "format = \"1.0\"\n";
        for (text, error) in [
            ("[service.a]\n", "2: missing field \"command\""),
            (
                "[service.a]\ncommand = 3\n",
                "3: a command is a text such as \"node server.js\", or a list of words",
            ),
            ("[service.a]\ncommand = \"\"\n", "3: a command needs at least the program"),
            ("[service.a]\ncomand = \"x\"\n", "3: unknown key \"comand\"; did you mean \"command\"?"),
            (
                "[service.a]\ncommand = \"x\"\ncontracts = [\"shpo\"]\n",
                "4: unknown contract \"shpo\"; did you mean \"shop\"?",
            ),
            (
                "[service.\"a b\"]\ncommand = \"x\"\n",
                "1: service \"a b\": a name has none of : @ , / + and no space",
            ),
        ] {
            assert_eq!(refused(&format!("{head}{text}")), error);
        }
    }
}
