//! The commands that the user has allowed to run on this machine, for each repository.
//!
//! The files of a repository say which commands build, start and ask about its services. Whoever clones one may want to look at it
//! first, so each command is asked for once. A pull may bring others: those are asked for again, beside what they replace. The list
//! lies beside the cache of builds.
//!
//! A folder is known by its path and its inode: what is cloned later in its place is asked for again, and a repository that brings
//! a list of its own cannot allow itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_host::whole;

use crate::catalogue::{GitSource, Service};

const FILE: &str = "trust.json";
const VERSION: u32 = 1;

/// A command that the files of a repository name, with all that decides what it does but the files that it reads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamedCommand {
    /// Where it runs, below the folder that is allowed.
    pub folder: PathBuf,
    pub purpose: Purpose,
    pub words: Vec<String>,
    /// The variables that the files set for it.
    pub env: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// It finds out whether the machine has what is needed.
    Require,
    /// git fetches what is built from.
    Fetch,
    Build,
    /// It prints the version of what was built.
    Version,
    Start,
}

/// Commands that are not allowed, for one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustQuestion {
    pub folder: PathBuf,
    pub new: BTreeSet<NamedCommand>,
    /// Allowed commands of the same purpose and folder that are named no longer: what the new ones replace.
    pub gone: BTreeSet<NamedCommand>,
}

#[derive(Debug)]
pub struct Trust {
    file: PathBuf,
    folders: BTreeMap<PathBuf, Allowed>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Allowed {
    inode: u64,
    commands: BTreeSet<NamedCommand>,
}

#[derive(Default, Serialize, Deserialize)]
struct Document {
    version: u32,
    folders: BTreeMap<PathBuf, Allowed>,
}

impl NamedCommand {
    /// All that is run for `service`, whose files lie at `folder` below the folder that is allowed. What the user typed is no
    /// command of a file, and a server that runs already is not started.
    pub fn all(service: &Service, folder: &Path) -> BTreeSet<NamedCommand> {
        if service.typed || service.running.is_some() {
            return BTreeSet::new();
        }
        let named = |purpose: Purpose, words: Vec<String>, env: &BTreeMap<String, String>| NamedCommand {
            folder: folder.to_owned(),
            purpose,
            words,
            env: env.clone(),
        };
        let none = BTreeMap::new();
        let env = &service.run.env;
        let required =
            service.requires.iter().map(|required| named(Purpose::Require, required.command.clone(), &none));
        let fetched =
            service.sources.iter().map(|source| named(Purpose::Fetch, GitSource::command(source), &none));
        let built = service.build.iter().map(|step| named(Purpose::Build, step.command.clone(), &none));
        let version = named(Purpose::Version, service.version.command.clone(), env);
        let start =
            |arguments: &[String]| named(Purpose::Start, [&service.run.command, arguments].concat(), env);
        let plain = start(&[]);
        let with_arguments = service.run.arguments.values().map(|arguments| start(arguments));
        let all = required.chain(fetched).chain(built).chain([version, plain]).chain(with_arguments);
        all.filter(|command| !command.words.is_empty()).collect()
    }

    /// The same command of a folder that lies at `way` below the one that is allowed.
    fn below(&self, way: &Path) -> NamedCommand {
        NamedCommand { folder: way.join(&self.folder), ..self.clone() }
    }
}

impl Trust {
    /// A list that cannot be read is an empty one: then the user is asked again.
    pub(super) fn read(home: &Path) -> Trust {
        let file = home.join(FILE);
        let read = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Document>(&bytes).ok());
        let document = read.filter(|document| document.version == VERSION).unwrap_or_default();
        Trust { folders: document.folders, file }
    }

    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.keys().map(PathBuf::as_path)
    }

    /// What the user must be asked before `commands` run for `folder`; absent if all are allowed, for it or for a folder above it.
    pub fn asks(&self, folder: &Path, commands: BTreeSet<NamedCommand>) -> Option<TrustQuestion> {
        let folder = resolved(folder);
        let allowed: Vec<(&Path, &Allowed)> =
            folder.ancestors().filter_map(|above| Some((above, self.of(above)?))).collect();
        let is_allowed = |command: &NamedCommand| {
            allowed.iter().any(|(above, allowed)| {
                let way = folder.strip_prefix(above).unwrap_or(Path::new(""));
                allowed.commands.contains(&command.below(way))
            })
        };
        let new: BTreeSet<NamedCommand> =
            commands.iter().filter(|command| !is_allowed(command)).cloned().collect();
        let replaces = |old: &&NamedCommand| {
            !commands.contains(old)
                && new.iter().any(|new| (&new.folder, new.purpose) == (&old.folder, old.purpose))
        };
        let gone =
            self.of(&folder).map(|allowed| allowed.commands.iter().filter(replaces).cloned().collect());
        (!new.is_empty()).then(|| TrustQuestion { gone: gone.unwrap_or_default(), folder, new })
    }

    /// What is allowed for a folder, if it is still the folder that the user looked at.
    fn of(&self, folder: &Path) -> Option<&Allowed> {
        self.folders.get(folder).filter(|allowed| inode_of(folder).is_ok_and(|now| now == allowed.inode))
    }

    /// # Errors
    /// There is no such folder, or the list cannot be written.
    pub fn allow(&mut self, folder: &Path, commands: BTreeSet<NamedCommand>) -> io::Result<()> {
        let folder = folder.canonicalize()?;
        if folder.to_str().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no place in a list"));
        }
        let inode = inode_of(&folder)?;
        let allowed = self.folders.entry(folder).or_default();
        if allowed.inode != inode {
            *allowed = Allowed { inode, commands: BTreeSet::new() };
        }
        allowed.commands.extend(commands);
        self.write()
    }

    /// Whether it was one of them.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn remove(&mut self, folder: &Path) -> io::Result<bool> {
        // It may be gone since, and is then known by its name alone.
        let was_there = [&resolved(folder), folder].map(|name| self.folders.remove(name).is_some());
        self.write().map(|()| was_there.contains(&true))
    }

    fn write(&mut self) -> io::Result<()> {
        let home = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(home)?;
        let document = Document { version: VERSION, folders: std::mem::take(&mut self.folders) };
        let text = serde_json::to_vec_pretty(&document);
        self.folders = document.folders;
        whole::write(&self.file, text?)
    }
}

fn inode_of(folder: &Path) -> io::Result<u64> {
    fs::metadata(folder).map(|folder| folder.ino())
}

fn resolved(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(folder: &str, words: &str) -> NamedCommand {
        NamedCommand {
            folder: PathBuf::from(folder),
            purpose: Purpose::Start,
            words: words.split(' ').map(str::to_owned).collect(),
            env: BTreeMap::new(),
        }
    }

    fn one(folder: &str, words: &str) -> BTreeSet<NamedCommand> {
        BTreeSet::from([command(folder, words)])
    }

    #[test]
    fn commands_are_allowed_for_a_folder_and_what_is_below_it_until_it_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let (shop, other) = (root.path().join("shop"), root.path().join("shopping"));
        for folder in [&shop.join("services/go"), &other] {
            fs::create_dir_all(folder).unwrap();
        }
        let list = || Trust::read(&home.path().join("not/yet/there"));
        let is_allowed = |folder: &Path, within: &str| list().asks(folder, one(within, "./serve")).is_none();
        assert!(!is_allowed(&shop, "services/go"));
        list().allow(&shop.join("."), one("services/go", "./serve")).unwrap();
        assert!(is_allowed(&shop, "services/go") && is_allowed(&shop.join("services/go"), ""));
        assert!(!is_allowed(&shop, "") && !is_allowed(&other, "services/go") && !is_allowed(root.path(), ""));
        assert_eq!(list().folders().count(), 1);
        assert!(list().remove(&shop).unwrap());
        assert!(!list().remove(&shop).unwrap());
        assert!(!is_allowed(&shop, "services/go"));
    }

    #[test]
    fn what_changed_is_asked_for_beside_what_it_replaces() {
        let (home, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut trust = Trust::read(home.path());
        trust.allow(root.path(), [one("", "./old"), one("other", "./other")].concat_sets()).unwrap();
        let asked = trust.asks(root.path(), one("", "./new")).unwrap();
        assert_eq!((asked.new, asked.gone), (one("", "./new"), one("", "./old")));
        let mut with_env = command("", "./old");
        with_env.env.insert("LD_PRELOAD".to_owned(), "./evil.so".to_owned());
        assert!(trust.asks(root.path(), BTreeSet::from([with_env])).is_some(), "a variable counts");
        let mut as_build = command("", "./old");
        as_build.purpose = Purpose::Build;
        assert!(trust.asks(root.path(), BTreeSet::from([as_build])).is_some(), "what it is for counts");
        assert!(trust.asks(root.path(), one("", "./old")).is_none());
        trust.allow(root.path(), one("", "./new")).unwrap();
        assert!(trust.asks(root.path(), one("", "./old")).is_none(), "both were looked at");
    }

    trait Union {
        fn concat_sets(self) -> BTreeSet<NamedCommand>;
    }

    impl<const N: usize> Union for [BTreeSet<NamedCommand>; N] {
        fn concat_sets(self) -> BTreeSet<NamedCommand> {
            self.into_iter().flatten().collect()
        }
    }

    #[test]
    fn a_link_is_what_it_leads_to_and_an_unreadable_list_is_empty() {
        let home = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        std::os::unix::fs::symlink(root.path().join("a"), root.path().join("b")).unwrap();
        let mut trust = Trust::read(home.path());
        trust.allow(&root.path().join("b"), one("", "x")).unwrap();
        assert!(trust.asks(&root.path().join("a"), one("", "x")).is_none());
        assert!(trust.asks(&root.path().join("b"), one("", "x")).is_none(), "by the link too");
        assert_eq!(trust.folders().next().unwrap(), root.path().join("a").canonicalize().unwrap());
        trust.allow(&root.path().join("nowhere"), one("", "x")).unwrap_err();
        for text in [&b"\xff\n"[..], b"{}", b"{\"version\":2,\"folders\":{}}", b"1 /\n"] {
            fs::write(home.path().join(FILE), text).unwrap();
            assert_eq!(Trust::read(home.path()).folders().count(), 0);
        }
    }

    #[test]
    fn what_takes_the_place_of_a_folder_is_another_one() {
        let home = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let (shop, other) = (root.path().join("shop"), root.path().join("other"));
        fs::create_dir(&shop).unwrap();
        fs::create_dir(&other).unwrap();
        let mut trust = Trust::read(home.path());
        trust.allow(&shop, one("", "x")).unwrap();
        fs::rename(&shop, root.path().join("elsewhere")).unwrap();
        fs::rename(&other, &shop).unwrap();
        assert!(trust.asks(&shop, one("", "x")).is_some());
        trust.allow(&shop, one("", "y")).unwrap();
        assert!(trust.asks(&shop, one("", "x")).is_some(), "what was allowed for the other is forgotten");
    }
}
