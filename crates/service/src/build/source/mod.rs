//! Sources that a manifest names: a commit of a git repository, fetched once for all checkouts of a user, and
//! copied into the folder in which a service is built.
//!
//! The cache is `TARE_HOME/sources/TREE/`, named by the hash of the commit's tree. Its `repository` contains
//! the commit; it is put there by a rename after its tree was verified. An unfinished fetch has a number as
//! its name: it is never used, and the next fetch removes it. A process locks `TREE.lock` to fetch, check out
//! or remove.

mod git;
mod licence;
mod recognise;

use std::{
    fs::{self, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::SystemTime,
};

pub use licence::{Laid, LicenceFile};

use super::{BuildCost, BuildError, Site, SourceError};
use crate::{
    catalogue::{GitSource, Service},
    lock::{self, Lock},
    survey::{self, CacheItem},
};
use git::{Failed, Git, Spent, Within};

const REPOSITORY: &str = "repository";
/// Keeps file contents as in the tree, whatever a repository's attributes or a user's filters say.
const ATTRIBUTES: &str = "* -text -ident -filter -working-tree-encoding -export-ignore -export-subst\n";

/// The cache of sources.
#[derive(Debug, Clone)]
pub(super) struct SourceCache {
    folder: PathBuf,
}

impl SourceCache {
    pub(super) fn new(home: &Path) -> SourceCache {
        SourceCache { folder: home.join("sources") }
    }

    /// Copies all sources of `service` into its folder, and adds the effort to `cost`.
    pub(super) fn lay(
        &self,
        service: &Service,
        log: &Path,
        site: &Site<'_>,
        cost: &mut BuildCost,
    ) -> Result<Vec<Laid>, BuildError> {
        let mut git = Git { service: &service.name, log, site, spent: Spent::default() };
        let laid =
            service.sources.iter().map(|source| self.lay_one(source, service, &mut git, cost)).collect();
        cost.seconds += git.spent.time.as_secs_f64();
        cost.cpu_seconds += git.spent.cpu.as_secs_f64();
        laid
    }

    fn lay_one(
        &self,
        source: &GitSource,
        service: &Service,
        git: &mut Git<'_>,
        cost: &mut BuildCost,
    ) -> Result<Laid, BuildError> {
        let into = service.place.join(&source.into);
        let is_taken = !git::is_free_of_links(&service.place, &source.into) || has_something(&into);
        if is_taken {
            return Err(SourceError::Taken { into: source.into.clone() }.into());
        }
        let no_cache = |error: io::Error| self.no_cache(error);
        let slot = self.slot(&source.tree);
        let lock = slot.reserve(git.site.interrupt).map_err(no_cache)?;
        let has_it = slot.repository().is_dir() && slot.tree_of(source, git).is_ok();
        if !has_it {
            let (fetched, bytes) = git.site.network.alone(|| slot.fetch(source, git));
            cost.download_bytes = cost.download_bytes.zip(bytes).map(|(earlier, now)| earlier + now);
            fetched.map_err(|error| match error {
                Unfetched::Cache(error) => self.no_cache(error),
                Unfetched::Build(error) => error,
            })?;
        }
        // A read-only cache still serves sources; only the time of use is not recorded.
        let _ = lock.mark_used();
        fs::create_dir_all(&into).map_err(no_cache)?;
        slot.take_out(source, &into, git)?;
        for patch in &source.patch {
            apply(patch, source, service, &into, &slot, git)?;
        }
        Ok(Laid::found(source, &into))
    }

    /// Each source. Those last used before `before` are removed, and unfinished fetches with them.
    pub(super) fn survey(
        &self,
        before: Option<SystemTime>,
        interrupt: &AtomicBool,
    ) -> io::Result<Vec<CacheItem>> {
        let folders = survey::folders(&self.folder)?.into_iter();
        let slots = folders.map(|folder| SourceSlot { lock: folder.with_extension("lock"), folder });
        match before {
            None => slots.map(|slot| slot.seen()).collect(),
            Some(before) => slots.map(|slot| slot.prune(before, interrupt)).collect(),
        }
    }

    fn slot(&self, tree: &str) -> SourceSlot {
        let folder = self.folder.join(tree);
        SourceSlot { lock: folder.with_extension("lock"), folder }
    }

    fn no_cache(&self, source: io::Error) -> BuildError {
        match source.kind() {
            io::ErrorKind::Interrupted => BuildError::Interrupted,
            _ => BuildError::Store { path: self.folder.clone(), source },
        }
    }
}

/// The cached source of one tree. Its lock file is beside the folder and outlives it.
struct SourceSlot {
    folder: PathBuf,
    lock: PathBuf,
}

/// Why the fetch failed: the cache cannot be written, or any other error.
enum Unfetched {
    Cache(io::Error),
    Build(BuildError),
}

impl From<io::Error> for Unfetched {
    fn from(error: io::Error) -> Unfetched {
        Unfetched::Cache(error)
    }
}

impl SourceSlot {
    fn repository(&self) -> PathBuf {
        self.folder.join(REPOSITORY)
    }

    fn reserve(&self, interrupt: &AtomicBool) -> io::Result<Lock> {
        fs::create_dir_all(&self.folder)?;
        lock::wait(interrupt, || {
            let lock = Lock::open(&self.lock).map_err(TryLockError::Error)?;
            lock.try_alone().map(|()| lock)
        })
    }

    fn seen(&self) -> io::Result<CacheItem> {
        let path = self.folder.clone();
        let used = fs::metadata(&self.lock).or_else(|_| fs::metadata(&path))?.modified()?;
        Ok(CacheItem { bytes: survey::bytes(&path, |_| true)?, path, used, removed: false })
    }

    fn prune(&self, before: SystemTime, interrupt: &AtomicBool) -> io::Result<CacheItem> {
        let _lock = self.reserve(interrupt)?;
        self.sweep()?;
        let kept = self.seen()?;
        if kept.used > before && self.repository().is_dir() {
            return Ok(kept);
        }
        fs::remove_dir_all(&self.folder)?;
        Ok(CacheItem { removed: true, ..kept })
    }

    /// Removes unfinished repositories. One that cannot be removed, because a process of a killed build still
    /// writes to it, stays until the next time.
    fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name != REPOSITORY) {
                let _ = fs::remove_dir_all(&path);
            }
        }
        Ok(())
    }

    /// An unused name in the folder.
    fn attempt(&self) -> PathBuf {
        let mut numbers = (1_u32..).map(|number| self.folder.join(number.to_string()));
        numbers.find(|path| !path.exists()).unwrap_or_else(|| self.folder.join("0"))
    }

    /// Fetches a repository with the commit and the named tree.
    fn fetch(&self, source: &GitSource, git: &mut Git<'_>) -> Result<(), Unfetched> {
        self.sweep()?;
        let attempt = self.attempt();
        fs::create_dir(&attempt)?;
        let fetched = fetch_into(&attempt, source, git).map_err(Unfetched::Build);
        let placed = fetched.and_then(|()| {
            // The old repository may have another commit of the same tree.
            let repository = self.repository();
            if repository.exists() {
                fs::remove_dir_all(&repository)?;
            }
            fs::rename(&attempt, repository).map_err(Unfetched::Cache)
        });
        if placed.is_err() {
            let _ = fs::remove_dir_all(&attempt);
        }
        placed
    }

    /// Succeeds if the commit exists and has the named tree.
    fn tree_of(&self, source: &GitSource, git: &mut Git<'_>) -> Result<(), BuildError> {
        check_tree(&self.repository(), source, git)
    }

    /// Writes every file of the tree, unchanged, into `into`.
    fn take_out(&self, source: &GitSource, into: &Path, git: &mut Git<'_>) -> Result<(), BuildError> {
        let repository = self.repository();
        let index = self.folder.join("index");
        let within = Within { repository: &repository, tree: into, index: &index };
        let done = run(git, &["read-tree", &source.tree], within)
            .and_then(|_| run(git, &["checkout-index", "--all", "--force"], within));
        let _ = fs::remove_file(&index);
        done.map(drop)
    }
}

fn fetch_into(attempt: &Path, source: &GitSource, git: &mut Git<'_>) -> Result<(), BuildError> {
    let within = Within { repository: attempt, tree: attempt, index: &attempt.join("index") };
    // Not `--bare`: git refuses that if a work tree is named, as in every command here.
    run(git, &["init", "--quiet", "--template="], within)?;
    let info = attempt.join("info");
    let written = fs::create_dir_all(&info).and_then(|()| fs::write(info.join("attributes"), ATTRIBUTES));
    written.map_err(|error| BuildError::Store { path: attempt.to_owned(), source: error })?;
    let fetch = ["fetch", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
    let exactly = [&fetch[..], &["--depth=1", &source.git, &source.commit]].concat();
    if let Err(failed) = git.run(&exactly, within) {
        let said = match failed {
            Failed::Build(error) => return Err(error),
            Failed::Said(said) => said,
        };
        if is_unreachable(&said) {
            return Err(unreachable(source, said, git.log));
        }
        // Some servers serve only commits that a branch or a tag names.
        let everything = [&fetch[..], &[&source.git, "+refs/*:refs/*"]].concat();
        git.run(&everything, within).map_err(|failed| match failed {
            Failed::Build(error) => error,
            Failed::Said(said) if is_unreachable(&said) => unreachable(source, said, git.log),
            Failed::Said(said) => {
                let (git, commit, log) = (source.git.clone(), source.commit.clone(), git.log.to_owned());
                SourceError::NotGiven { git, commit, said, log }.into()
            }
        })?;
    }
    check_tree(attempt, source, git)
}

/// Recognises, in messages of git and curl, errors for which a retry is useless and may take minutes.
fn is_unreachable(said: &str) -> bool {
    const SAYINGS: [&str; 9] = [
        "Could not resolve",
        "Couldn't connect",
        "Failed to connect",
        "unable to connect",
        "Connection refused",
        "Connection timed out",
        "does not appear to be a git repository",
        "Could not read from remote",
        "repository not found",
    ];
    let lower = said.to_lowercase();
    SAYINGS.iter().any(|saying| lower.contains(&saying.to_lowercase()))
}

fn unreachable(source: &GitSource, said: String, log: &Path) -> BuildError {
    SourceError::Unreachable { git: source.git.clone(), said, log: log.to_owned() }.into()
}

fn check_tree(repository: &Path, source: &GitSource, git: &mut Git<'_>) -> Result<(), BuildError> {
    let within = Within { repository, tree: repository, index: &repository.join("index") };
    let name = format!("{}^{{tree}}", source.commit);
    let found = match git.run(&["rev-parse", "--verify", "--end-of-options", &name], within) {
        Ok(said) => said.lines().next_back().unwrap_or_default().trim().to_owned(),
        Err(Failed::Build(error)) => return Err(error),
        Err(Failed::Said(_)) => {
            let (git, commit, log) = (source.git.clone(), source.commit.clone(), git.log.to_owned());
            return Err(SourceError::NoCommit { git, commit, log }.into());
        }
    };
    if found == source.tree {
        return Ok(());
    }
    let GitSource { git, commit, tree, .. } = source.clone();
    Err(SourceError::OtherTree { git, commit, tree, found }.into())
}

fn apply(
    patch: &Path,
    source: &GitSource,
    service: &Service,
    into: &Path,
    slot: &SourceSlot,
    git: &mut Git<'_>,
) -> Result<(), BuildError> {
    let file = service.place.join(patch);
    let repository = slot.repository();
    let within = Within { repository: &repository, tree: into, index: &slot.folder.join("index") };
    git.run(&["apply", &file.to_string_lossy()], within).map(drop).map_err(|failed| match failed {
        Failed::Build(error) => error,
        Failed::Said(said) => {
            let (git, log) = (source.git.clone(), git.log.to_owned());
            SourceError::Patch { patch: patch.to_owned(), git, said, log }.into()
        }
    })
}

fn run(git: &mut Git<'_>, words: &[&str], within: Within<'_>) -> Result<String, BuildError> {
    git.run(words, within).map_err(|failed| match failed {
        Failed::Build(error) => error,
        Failed::Said(said) => {
            SourceError::Git { words: words.join(" "), said, log: git.log.to_owned() }.into()
        }
    })
}

/// Whether the path is more than an empty folder, which a tree has in place of a submodule.
fn has_something(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => fs::symlink_metadata(path).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_cannot_be_reached_is_not_asked_twice() {
        let unreachable = [
            "unable to access 'https://example.org/a/': Could not resolve host: example.org",
            "unable to access 'https://example.org/a/': Could not resolve proxy: proxy",
            "unable to access 'https://127.0.0.1:1/': Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect",
            "unable to connect to 127.0.0.1:",
            "ssh: connect to host example.org port 22: Connection timed out",
            "'/srv/a' does not appear to be a git repository",
        ];
        for said in unreachable {
            assert!(is_unreachable(said), "{said}");
        }
        let refused = [
            "Server does not allow request for unadvertised object 1111111111111111111111111111111111111111",
            "remote error: upload-pack: not our ref 1111111111111111111111111111111111111111",
            "dumb http transport does not support shallow capabilities",
        ];
        for said in refused {
            assert!(!is_unreachable(said), "{said}");
        }
    }
}
