//! Git revisions of a service's folder, each checked out into its own folder. The user's work tree and index
//! are neither read nor changed.
//!
//! The whole repository is checked out, not only the service: a framework's own service is built from files
//! around it. (`git worktree` would also do so, but would change the repository.)

mod forge;
mod hash;
mod lfs;
mod shelf;
mod tree;

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    catalogue::Place,
    git::{GitError, Repository},
};
use forge::Shown;
pub use shelf::Shelf;
use tree::Tree;

/// A service's folder at a revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// The revision as the user wrote it.
    pub name: String,
    /// The full name of its commit.
    pub commit: String,
    /// The top of the checked-out repository.
    pub root: PathBuf,
    /// The service's folder below it; its files stay while this value exists.
    pub place: Place,
}

#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    #[error(
        "expected two revisions as BASELINE..CANDIDATE, or BASELINE...CANDIDATE for the commit where they part, got \"{0}\""
    )]
    Range(String),
    #[error(
        "there is no revision \"{0}\" in this clone; a clone of CI is often shallow: fetch all of the history, such as by \
         fetch-depth: 0 of actions/checkout"
    )]
    NoRevision(String),
    #[error(
        "\"{good}\" does not come before \"{bad}\": name the older revision first, and one that the other was made from"
    )]
    Order { good: String, bad: String },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("commit {commit} is not what its hash says: the repository is damaged; `git fsck` says where")]
    FalseHash { commit: String },
    #[error("commit {commit} has a file \"{}\", which leads out of its folder: it is not taken out", path.display())]
    Unsafe { commit: String, path: PathBuf },
    #[error(
        "commit {commit} has a submodule at \"{}\" whose commit is not in this clone: `git submodule update --init` of that \
         revision fetches it",
        path.display()
    )]
    NoSubmodule { commit: String, path: PathBuf },
    #[error(
        "commit {commit} keeps \"{}\" in Git LFS, and the file is not in this clone: `git lfs fetch origin {commit}` fetches it",
        path.display()
    )]
    NoLargeFile { commit: String, path: PathBuf },
    #[error(
        "{} lies in the repository {}: a revision that is taken out there would find what lies around it, such as node_modules; \
         name another folder by --home or TARE_HOME",
        shelf.display(), repository.display()
    )]
    ShelfInside { shelf: PathBuf, repository: PathBuf },
    #[error(
        "revision \"{revision}\" has no \"{path}\": until it is there, compare the command itself, such as 'node server.js' \
         --revisions {revision}..HEAD --get /"
    )]
    NoFile { revision: String, path: String },
    #[error("{}: was written as its commit has it, and reads otherwise: the disk or another process changed it", path.display())]
    NotAsCommitted { path: PathBuf },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The branch that others merge into, such as `origin/main`; absent if it is not known.
pub fn default_branch(folder: &Path) -> Option<String> {
    let repository = Repository::around(folder).ok()?;
    let of_remote =
        || repository.ask(&["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]).ok();
    let is_there = |name: &&str| repository.ask(&["rev-parse", "--quiet", "--verify", name]).is_ok();
    let usual =
        || ["origin/main", "origin/master", "main", "master"].into_iter().find(is_there).map(str::to_owned);
    of_remote().or_else(usual)
}

/// The two ends of `main..HEAD`; as in git, a missing end is HEAD. For `main...HEAD` the baseline is the
/// merge base, in the repository around `folder`.
///
/// # Errors
/// The text has no `..`, an end looks like an option to git, or there is no merge base.
pub fn range(text: &str, folder: &Path) -> Result<[String; 2], RevisionError> {
    let wrong = || RevisionError::Range(text.to_owned());
    let (baseline, rest) = text.split_once("..").filter(|_| text != "..").ok_or_else(wrong)?;
    let parted = rest.starts_with('.');
    let candidate = rest.strip_prefix('.').unwrap_or(rest);
    if candidate.starts_with('.') || [baseline, candidate].iter().any(|end| end.starts_with('-')) {
        return Err(wrong());
    }
    let or_head = |end: &str| if end.is_empty() { "HEAD".to_owned() } else { end.to_owned() };
    let [baseline, candidate] = [or_head(baseline), or_head(candidate)];
    match parted {
        true => Ok([parting(folder, &baseline, &candidate)?, candidate]),
        false => Ok([baseline, candidate]),
    }
}

/// The merge base of two revisions.
fn parting(folder: &Path, one: &str, other: &str) -> Result<String, RevisionError> {
    let repository = Repository::around(folder)?;
    for end in [one, other] {
        commit(&repository, end)?;
    }
    Ok(repository.ask(&["merge-base", one, other])?)
}

/// The full hash of the commit that `name` means.
fn commit(repository: &Repository, name: &str) -> Result<String, RevisionError> {
    let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
    repository.ask(&words).map_err(|error| match error {
        GitError::Failed { said, .. } if said.is_empty() => RevisionError::NoRevision(name.to_owned()),
        error => error.into(),
    })
}

/// A commit in a list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Commit {
    /// Its full name.
    pub name: String,
    pub subject: String,
}

/// The commits from `good` to `bad`, both included, along first parents: a merged branch counts once.
///
/// # Errors
/// git does not know a revision, or `good` is not an ancestor of `bad`.
pub fn between(folder: &Path, good: &str, bad: &str) -> Result<Vec<Commit>, RevisionError> {
    let repository = Repository::around(folder)?;
    let [first, last] = [commit(&repository, good)?, commit(&repository, bad)?];
    if first == last || repository.ask(&["merge-base", "--is-ancestor", &first, &last]).is_err() {
        return Err(RevisionError::Order { good: good.to_owned(), bad: bad.to_owned() });
    }
    let range = format!("{first}..{last}");
    let later = repository.ask(&[
        "log",
        "--first-parent",
        "--topo-order",
        "--reverse",
        "--format=%H %s",
        "--end-of-options",
        &range,
    ])?;
    let good = repository.ask(&["log", "-1", "--format=%H %s", "--end-of-options", &first])?;
    let commit = |line: &str| {
        let (name, subject) = line.split_once(' ').unwrap_or((line, ""));
        Commit { name: name.to_owned(), subject: subject.to_owned() }
    };
    Ok(good.lines().chain(later.lines()).map(commit).collect())
}

/// The commit checked out around `folder`, and whether tracked files have changed since. Submodules are
/// ignored: git would read each one's configuration.
///
/// # Errors
/// The folder is in no repository, or the repository has no commit.
pub fn checked_out(folder: &Path) -> Result<(String, bool), RevisionError> {
    let repository = Repository::around(folder)?;
    let commit = repository.ask(&["rev-parse", "--verify", "HEAD"])?;
    let changes =
        repository.ask(&["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"])?;
    Ok((commit, !changes.is_empty()))
}

/// The forge's address of a folder of the repository at `url`; absent if the forge is unknown.
pub fn folder_at(url: &str, commit: &str, folder: &str) -> Option<String> {
    let address = forge::address(url, commit, folder, Shown::Folder)?;
    Some(address.trim_end_matches('/').to_owned())
}

/// The forge's address of `folder` at a commit, from the remote "origin"; absent if the forge is unknown.
pub fn shown_at(folder: &Path, commit: &str) -> Option<String> {
    let repository = Repository::around(folder).ok()?;
    forge::address(repository.remote.as_deref()?, commit, &repository.path.to_string_lossy(), Shown::Folder)
}

/// The forge's addresses of files below `folder` at a commit; a file with an unusual name has none. Absent if there is
/// no remote.
pub fn files_shown_at(folder: &Path, commit: &str) -> Option<impl Fn(&str) -> Option<String>> {
    let repository = Repository::around(folder).ok()?;
    let remote = repository.remote.clone()?;
    Some(move |file: &str| {
        let path = repository.path.join(file);
        forge::address(&remote, commit, &path.to_string_lossy(), Shown::File)
    })
}

/// Checks out revision `name` of the repository around `service` onto `shelf`. An earlier checkout is reused
/// if it still equals the commit. The folder must contain the file `needed`.
///
/// # Errors
/// git does not know the revision, it lacks the file, this clone lacks some of its files, or they cannot be
/// written.
pub fn take_out(
    service: &Path,
    name: &str,
    shelf: &Shelf,
    needed: Option<&str>,
) -> Result<Revision, RevisionError> {
    let repository = Repository::around(service)?;
    let commit = commit(&repository, name)?;
    let top = shelf.take(&repository, &commit)?;
    let place = top.below(&repository.path);
    let missing = needed.filter(|file| !place.join(file).is_file());
    let missing = missing.or_else(|| (!place.is_dir()).then_some(""));
    match missing {
        None => Ok(Revision { name: name.to_owned(), commit, root: top.to_path_buf(), place }),
        Some(file) => {
            let path = repository.path.join(file).display().to_string();
            Err(RevisionError::NoFile { revision: name.to_owned(), path })
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::git::fixture::git;

    /// A repository with two commits of `a/b`, and an uncommitted change.
    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let git = |words: &[&str]| git(root.path(), words);
        git(&["init", "--quiet", "--initial-branch=main"]);
        file("around", "one");
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "nothing yet"]);
        for text in ["first", "second"] {
            file("a/b/service.toml", text);
            git(&["add", "."]);
            git(&["commit", "--quiet", "-m", text]);
        }
        file("a/b/service.toml", "in no commit");
        root
    }

    #[test]
    fn each_revision_is_a_folder_and_the_work_tree_stays_as_it_is() {
        let (root, into) = (repository(), tempfile::tempdir().unwrap());
        let service = root.path().join("a/b");
        let text = |folder: &Path| fs::read_to_string(folder.join("service.toml")).unwrap();
        let shelf = Shelf::new(into.path());
        let take = |name: &str| take_out(&service, name, &shelf, Some("service.toml"));
        let (old, new) = (take("main~1").unwrap(), take("HEAD").unwrap());
        assert_eq!((text(&old.place), text(&new.place)), ("first".to_owned(), "second".to_owned()));
        assert!(new.place.join("../../around").is_file(), "what lies around it is there");
        assert_eq!((old.commit.len(), &*new.place), (40, &*new.root.join("a/b")));
        assert_eq!(text(&service), "in no commit");
        assert_eq!(take("main~1").unwrap(), old);
        assert_eq!(fs::read_dir(shelf.folder()).unwrap().count(), 2, "nothing else is left");

        let error = |name: &str| take(name).unwrap_err().to_string();
        let missing = "revision \"main~2\" has no \"a/b/service.toml\": ";
        assert!(error("main~2").starts_with(missing), "{}", error("main~2"));
        assert!(
            error("mian").starts_with("there is no revision \"mian\" in this clone"),
            "{}",
            error("mian")
        );
    }

    #[test]
    fn a_range_has_two_ends() {
        let repository = repository();
        let ends = |text: &str| range(text, repository.path()).ok().map(|[a, b]| format!("{a} {b}"));
        assert_eq!(ends("main..HEAD").as_deref(), Some("main HEAD"));
        assert_eq!(ends("v1.2..").as_deref(), Some("v1.2 HEAD"));
        assert_eq!(ends("..topic/x").as_deref(), Some("HEAD topic/x"));
        assert_eq!([ends("main"), ends(".."), ends("a....b"), ends("--x..b")], [None, None, None, None]);
        let first = commit(&Repository::around(repository.path()).unwrap(), "main~1").unwrap();
        assert_eq!(ends("main~1...main"), Some(format!("{first} main")), "where they part");
    }
}
