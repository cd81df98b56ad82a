//! Locates a repository by its files alone. A link is followed only if both ends refer to each other.

use std::{
    fs, io,
    io::Read,
    path::{Component, Path, PathBuf},
};

use super::GitError;

/// HEAD is `ref: refs/heads/...`, or the name of a commit.
const HEAD_BYTES_MAX: u64 = 4096;

#[derive(Debug)]
pub(super) struct GitPlace {
    /// The work tree.
    pub top: PathBuf,
    /// The folder of this work tree's own files: HEAD and the index.
    pub own: PathBuf,
    /// The folder shared by all work trees of the repository: objects and references.
    pub common: PathBuf,
    /// The content of HEAD.
    pub head: String,
}

impl GitPlace {
    pub(super) fn around(folder: &Path) -> Result<GitPlace, GitError> {
        let none = || GitError::NoRepository(folder.to_owned());
        let folder = folder.canonicalize().map_err(|_| none())?;
        let is_marked = |folder: &&Path| fs::symlink_metadata(folder.join(".git")).is_ok();
        let top = folder.ancestors().find(is_marked).ok_or_else(none)?;
        let mark = top.join(".git");
        let kind =
            fs::symlink_metadata(&mark).map_err(|source| GitError::Io { path: mark.clone(), source })?;
        if kind.is_dir() {
            return GitPlace::new(top, &mark, &mark);
        }
        if !kind.is_file() {
            return Err(GitError::Odd { path: mark, reason: "it is neither a folder nor a file" });
        }
        GitPlace::linked(top, &mark)
    }

    /// Follows the file `.git` of a work tree or a submodule.
    fn linked(top: &Path, mark: &Path) -> Result<GitPlace, GitError> {
        let text = read_short(mark)?;
        let named = text.strip_prefix("gitdir:").map(str::trim);
        let named = named.ok_or(GitError::Odd { path: mark.to_owned(), reason: "it names no repository" })?;
        let to = top.join(named);
        let elsewhere = || GitError::LeadsElsewhere { link: mark.to_owned(), to: to.clone() };
        let own = to.canonicalize().map_err(|_| elsewhere())?;
        if own.join("commondir").is_file() {
            let common = own
                .join(read_short(&own.join("commondir"))?.trim())
                .canonicalize()
                .map_err(|_| elsewhere())?;
            let back = PathBuf::from(read_short(&own.join("gitdir"))?.trim());
            let is_known = own.parent() == Some(&common.join("worktrees"))
                && own.join(back).canonicalize().is_ok_and(|back| back == *mark);
            return if is_known { GitPlace::new(top, &own, &common) } else { Err(elsewhere()) };
        }
        // The repository of a submodule lies inside that of its parent.
        let is_of = |above: &Path| {
            above.join(".git/modules").canonicalize().is_ok_and(|modules| own.starts_with(modules))
        };
        match top.ancestors().skip(1).any(is_of) {
            true => GitPlace::new(top, &own, &own),
            false => Err(elsewhere()),
        }
    }

    pub(super) fn submodule(&self, name: &str, top: &Path) -> Option<GitPlace> {
        let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let own = self.common.join("modules").join(name);
        let found = || is_plain.then(|| GitPlace::new(top, &own, &own).ok()).flatten();
        own.join("HEAD").is_file().then(found).flatten()
    }

    fn new(top: &Path, own: &Path, common: &Path) -> Result<GitPlace, GitError> {
        for name in ["alternates", "http-alternates"] {
            let path = common.join("objects/info").join(name);
            if fs::symlink_metadata(&path).is_ok() {
                return Err(GitError::Alternates(path));
            }
        }
        let head = read_short(&own.join("HEAD"))?;
        Ok(GitPlace { top: top.to_owned(), own: own.to_owned(), common: common.to_owned(), head })
    }
}

/// Reads a small regular file: a pipe or a device may never end.
fn read_short(path: &Path) -> Result<String, GitError> {
    let unreadable = |source| GitError::Io { path: path.to_owned(), source };
    if !fs::symlink_metadata(path).map_err(unreadable)?.is_file() {
        return Err(GitError::Odd { path: path.to_owned(), reason: "it is no regular file" });
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    let read = file.take(HEAD_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error: io::Error| unreadable(error))?;
    Ok(text)
}
