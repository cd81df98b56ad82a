//! The commands that the user has allowed on this machine, for each repository.
//!
//! The files of a repository contain commands that build, start and inspect its services. A user may want to
//! read them after a clone, so each command needs permission once. New commands, such as after a pull, need
//! it again and are shown with those that they replace. The list is beside the build cache.
//!
//! A folder is identified by path and inode: a later clone in its place needs permission again, and a list
//! inside a repository has no effect.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_base::whole;

use crate::catalogue::{GitSource, Service};

const FILE: &str = "trust.json";
const VERSION: u32 = 1;

/// A command in a repository's files, with all that determines its effect except the files that it reads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NamedCommand {
    /// Where it runs, relative to the allowed folder.
    pub folder: PathBuf,
    pub purpose: Purpose,
    pub words: Vec<String>,
    /// The variables that the files set for it.
    pub env: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Checks whether a requirement is installed.
    Require,
    /// Fetches sources with git.
    Fetch,
    Build,
    /// Prints the version of a build.
    Version,
    Start,
}

/// Commands of one folder that are not allowed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustQuestion {
    pub folder: PathBuf,
    pub new: BTreeSet<NamedCommand>,
    /// Allowed commands of the same purpose and folder that the new ones replace.
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
    /// All commands for `service` in the subfolder `folder` of the allowed folder. Commands typed by the user
    /// do not come from a file, and a running server is not started.
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

    /// The same command, seen from a folder `way` above.
    fn below(&self, way: &Path) -> NamedCommand {
        NamedCommand { folder: way.join(&self.folder), ..self.clone() }
    }
}

impl Trust {
    /// An unreadable list counts as empty: the user is asked again.
    pub(super) fn read(home: &Path) -> Trust {
        let file = home.join(FILE);
        let read = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Document>(&bytes).ok());
        let document = read.filter(|document| document.version == VERSION).unwrap_or_default();
        Trust { folders: document.folders, file }
    }

    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.keys().map(PathBuf::as_path)
    }

    /// The question before `commands` run in `folder`; absent if all are allowed, for it or for a parent.
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

    /// The allowed commands of a folder, if its inode is still the same.
    fn of(&self, folder: &Path) -> Option<&Allowed> {
        self.folders.get(folder).filter(|allowed| inode_of(folder).is_ok_and(|now| now == allowed.inode))
    }

    /// # Errors
    /// The folder does not exist, or the list cannot be written.
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

    /// Removes a folder; returns whether it was in the list.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn remove(&mut self, folder: &Path) -> io::Result<bool> {
        // A deleted folder can only be found by its name.
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
