//! Git revisions of a service's folder, each taken out of the repository into a folder of its own. The work tree and
//! the index of the user are neither read nor touched.
//!
//! All of the repository is taken out, not only the service: a service that belongs to a framework's own repository is
//! built from what lies around it. (`git worktree` would do so too, and leave its mark in the repository.)

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A service's folder as it was at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// As the user wrote it.
    pub name: String,
    /// The full name of its commit.
    pub commit: String,
    /// Where the service's folder lies now.
    pub folder: PathBuf,
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
    #[error("`git {command}` failed in {}: {said}", folder.display())]
    Git { command: String, folder: PathBuf, said: String },
    #[error(
        "revision \"{revision}\" has no \"{path}\": until it is there, compare the command itself, such as 'node server.js' \
         --revisions {revision}..HEAD --get /"
    )]
    NoFile { revision: String, path: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The branch that others are merged into, such as `origin/main`; absent if there is no repository, or it does not say.
pub fn default_branch(folder: &Path) -> Option<String> {
    let of_remote = || git(folder, &["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]).ok();
    let is_there = |name: &&str| git(folder, &["rev-parse", "--quiet", "--verify", name]).is_ok();
    let usual =
        || ["origin/main", "origin/master", "main", "master"].into_iter().find(is_there).map(str::to_owned);
    of_remote().map(|name| name.trim().to_owned()).or_else(usual)
}

/// The two ends of `main..HEAD`; one that is left out is HEAD, as in git. Of `main...HEAD` the baseline is the commit where
/// the two parted, in the repository around `folder`.
///
/// # Errors
/// The text has no `..`, an end that git would take for an option, or ends that never parted.
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

/// The commit where two revisions parted.
fn parting(folder: &Path, one: &str, other: &str) -> Result<String, RevisionError> {
    for end in [one, other] {
        commit(folder, end)?;
    }
    git(folder, &["merge-base", one, other])
}

/// The full name of the commit that `name` means.
fn commit(folder: &Path, name: &str) -> Result<String, RevisionError> {
    let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")];
    git(folder, &words).map_err(|error| match error {
        RevisionError::Git { said, .. } if said.is_empty() => RevisionError::NoRevision(name.to_owned()),
        error => error,
    })
}

/// A commit, as a list of commits shows it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Commit {
    /// Its full name.
    pub name: String,
    pub subject: String,
}

/// The commits from `good` to `bad`, both included, along the first parents of `bad`: a branch that was merged is one of them.
///
/// # Errors
/// git does not know a revision, or `good` does not come before `bad`.
pub fn between(folder: &Path, good: &str, bad: &str) -> Result<Vec<Commit>, RevisionError> {
    let [first, last] = [commit(folder, good)?, commit(folder, bad)?];
    if first == last || git(folder, &["merge-base", "--is-ancestor", &first, &last]).is_err() {
        return Err(RevisionError::Order { good: good.to_owned(), bad: bad.to_owned() });
    }
    let range = format!("{first}..{last}");
    let later = git(
        folder,
        &["log", "--first-parent", "--topo-order", "--reverse", "--format=%H %s", "--end-of-options", &range],
    )?;
    let good = git(folder, &["log", "-1", "--format=%H %s", "--end-of-options", &first])?;
    let commit = |line: &str| {
        let (name, subject) = line.split_once(' ').unwrap_or((line, ""));
        Commit { name: name.to_owned(), subject: subject.to_owned() }
    };
    Ok(good.lines().chain(later.lines()).map(commit).collect())
}

/// The commit that is checked out around `folder`, and whether files that git knows have changed since.
///
/// # Errors
/// The folder is in no repository, or the repository has no commit.
pub fn checked_out(folder: &Path) -> Result<(String, bool), RevisionError> {
    let commit = git(folder, &["rev-parse", "--verify", "HEAD"])?;
    let changes = git(folder, &["status", "--porcelain", "--untracked-files=no"])?;
    Ok((commit, !changes.is_empty()))
}

/// Where a forge shows `folder` as it is in a commit, by the remote "origin"; absent if no such forge is known.
pub fn shown_at(folder: &Path, commit: &str) -> Option<String> {
    let remote = git(folder, &["remote", "get-url", "origin"]).ok()?;
    let path = git(folder, &["rev-parse", "--show-prefix"]).ok()?;
    forge_address(&remote, commit, path.trim_end_matches('/'))
}

/// Who pushes there, and by which token, is no part of the address.
fn forge_address(remote: &str, commit: &str, path: &str) -> Option<String> {
    let without_scheme =
        ["https://", "http://", "ssh://"].iter().find_map(|scheme| remote.strip_prefix(scheme));
    let place = without_scheme.unwrap_or(remote);
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let (host, repository) = place.split_once(if without_scheme.is_some() { '/' } else { ':' })?;
    let repository = repository.trim_end_matches('/').trim_end_matches(".git");
    let before = match host {
        "github.com" => "tree",
        "gitlab.com" => "-/tree",
        "codeberg.org" => "src/commit",
        _ => return None,
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./+".contains(letter);
    let address = format!("{repository}/{before}/{commit}/{path}");
    address.chars().all(is_plain).then(|| format!("https://{host}/{address}"))
}

/// Takes the repository around `service`, a folder in it, out at revision `name`, below `into`; what was taken out
/// before is taken as it is, with what has been built in it. The revision must have the file `needed` in the folder.
///
/// # Errors
/// git does not know the revision, the revision does not have the file, or its files cannot be written.
pub fn take_out(
    service: &Path,
    name: &str,
    into: &Path,
    needed: Option<&str>,
) -> Result<Revision, RevisionError> {
    let ask = |words: &[&str]| git(service, words);
    let commit = commit(service, name)?;
    let top = PathBuf::from(ask(&["rev-parse", "--show-toplevel"])?);
    let path = ask(&["rev-parse", "--show-prefix"])?.trim_end_matches('/').to_owned();
    let root = into.join(&commit);
    if !root.is_dir() {
        extract(&top, &commit, &root)?;
    }
    let folder = root.join(&path);
    let missing = needed.filter(|file| !folder.join(file).is_file());
    let missing = missing.or_else(|| (!folder.is_dir()).then_some(""));
    match missing {
        None => Ok(Revision { name: name.to_owned(), commit, folder }),
        Some(file) => {
            let path = Path::new(&path).join(file).display().to_string();
            Err(RevisionError::NoFile { revision: name.to_owned(), path })
        }
    }
}

/// Whole or not at all: taken out beside and renamed. Who comes second finds it there.
fn extract(top: &Path, commit: &str, root: &Path) -> Result<(), RevisionError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| RevisionError::Io { path, source }
    };
    let beside = root.with_extension(format!("{}.new", std::process::id()));
    fs::create_dir_all(&beside).map_err(at(&beside))?;
    let archive = beside.with_extension("tar");
    let written = git(top, &["archive", "--format=tar", "--output", &archive.to_string_lossy(), commit]);
    let unpacked = written.and_then(|_| {
        let tar =
            Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&beside).stdin(Stdio::null()).output();
        let tar = tar.map_err(at(Path::new("tar")))?;
        let said = String::from_utf8_lossy(&tar.stderr).into_owned();
        tar.status.success().then_some(()).ok_or_else(|| at(&beside)(io::Error::other(said)))
    });
    let _ = fs::remove_file(&archive);
    let placed = unpacked.and_then(|()| match fs::rename(&beside, root) {
        Err(_) if root.is_dir() => Ok(()),
        renamed => renamed.map_err(at(root)),
    });
    let _ = fs::remove_dir_all(&beside);
    placed
}

fn git(folder: &Path, words: &[&str]) -> Result<String, RevisionError> {
    let failed =
        |said: String| RevisionError::Git { command: words.join(" "), folder: folder.to_owned(), said };
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(words.iter().map(OsStr::new)).stdin(Stdio::null());
    // A hook's git would answer for another repository than the folder's.
    for steering in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(steering);
    }
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(failed(said.lines().last().unwrap_or_default().trim().to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forge_shows_a_folder_at_a_commit_and_no_token() {
        let at = |remote: &str| forge_address(remote, "abc", "services/rust/axum");
        let github = Some("https://github.com/o/r/tree/abc/services/rust/axum".to_owned());
        assert_eq!(at("git@github.com:o/r.git"), github);
        assert_eq!(at("https://user:token@github.com/o/r.git"), github);
        assert_eq!(at("ssh://git@github.com/o/r"), github);
        let gitlab = Some("https://gitlab.com/g/s/r/-/tree/abc/services/rust/axum".to_owned());
        assert_eq!(at("https://gitlab.com/g/s/r/"), gitlab);
        for unknown in ["/srv/git/r.git", "https://example.org/o/r.git", "git@github.com:o/r\"><b>", ""] {
            assert_eq!(at(unknown), None, "{unknown}");
        }
    }

    /// A repository with two commits of `a/b`, and a change that is in none.
    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let git = |words: &[&str]| {
            let user = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
            super::git(root.path(), &[&user, words].concat()).unwrap()
        };
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
        let take = |name: &str| take_out(&service, name, into.path(), Some("service.toml"));
        let (old, new) = (take("main~1").unwrap(), take("HEAD").unwrap());
        assert_eq!((text(&old.folder), text(&new.folder)), ("first".to_owned(), "second".to_owned()));
        assert!(new.folder.join("../../around").is_file(), "what lies around it is there");
        assert_eq!((old.commit.len(), new.folder), (40, into.path().join(&new.commit).join("a/b")));
        assert_eq!(text(&service), "in no commit");
        assert_eq!(take("main~1").unwrap(), old);
        assert_eq!(fs::read_dir(into.path()).unwrap().count(), 2, "nothing else is left");

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
        let first = commit(repository.path(), "main~1").unwrap();
        assert_eq!(ends("main~1...main"), Some(format!("{first} main")), "where they part");
    }
}
