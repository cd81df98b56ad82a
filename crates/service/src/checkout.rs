//! The files that a CI server would have: those of HEAD, or those that would be committed.

use std::path::{Path, PathBuf};

use crate::{
    build,
    catalogue::Place,
    git::{GitError, Repository},
    revisions::{RevisionError, Shelf, checked_out, take_out},
};

/// A folder as in a clean checkout of its repository, without ignored files.
#[derive(Debug)]
pub struct Checkout {
    /// The folder's path in the checkout.
    pub folder: PathBuf,
    /// Whether it is HEAD, not a copy of uncommitted files.
    pub is_head: bool,
    _files: Files,
}

#[derive(Debug)]
enum Files {
    Taken { _place: Place },
    Copied { _folder: tempfile::TempDir },
}

impl Checkout {
    /// HEAD, if all changes are committed. Otherwise, or without a repository, a copy of all files that git
    /// does not ignore. The copy is beside `shelf`, so that it is not inside the folder's surroundings.
    ///
    /// # Errors
    /// The repository has an unusual layout, or its files cannot be written.
    pub fn of(folder: &Path, shelf: &Shelf) -> Result<Checkout, RevisionError> {
        if checked_out(folder).is_ok_and(|(_, has_changed)| !has_changed) {
            match take_out(folder, "HEAD", shelf, None) {
                Ok(revision) => {
                    let folder = revision.place.to_path_buf();
                    return Ok(Checkout {
                        folder,
                        is_head: true,
                        _files: Files::Taken { _place: revision.place },
                    });
                }
                // The folder is not in any commit yet.
                Err(RevisionError::NoFile { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let (top, path) = match Repository::around(folder) {
            Ok(repository) => (repository.top, repository.path),
            Err(GitError::NoRepository(_)) => (folder.to_owned(), PathBuf::new()),
            Err(error) => return Err(error.into()),
        };
        let beside = shelf.made_outside(&top)?;
        let io = |source| RevisionError::Io { path: beside.clone(), source };
        let copy = tempfile::Builder::new().prefix("checkout-").tempdir_in(&beside).map_err(io)?;
        build::copy_sources(&top, copy.path()).map_err(io)?;
        Ok(Checkout {
            folder: copy.path().join(path),
            is_head: false,
            _files: Files::Copied { _folder: copy },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::git::fixture::git;

    #[test]
    fn what_git_ignores_is_not_there() {
        let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |name: &str, text: &str| {
            let path = root.path().join("shop").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("server.py", "one");
        write(".venv/bin/uvicorn", "");
        write(".gitignore", ".venv\n");
        let shelf = Shelf::new(home.path());
        let look = || {
            let checkout = Checkout::of(&root.path().join("shop"), &shelf).unwrap();
            assert!(!checkout.folder.join(".venv").exists() && !checkout.folder.starts_with(root.path()));
            (checkout.is_head, fs::read_to_string(checkout.folder.join("server.py")).unwrap())
        };
        assert_eq!(look(), (false, "one".to_owned()), "no repository");
        let git = |words: &[&str]| git(root.path(), words);
        git(&["init", "--quiet"]);
        assert_eq!(look(), (false, "one".to_owned()), "no commit");
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "one"]);
        assert_eq!(look(), (true, "one".to_owned()));
        let new = root.path().join("new");
        fs::create_dir(&new).unwrap();
        fs::write(new.join("server.py"), "new").unwrap();
        let checkout = Checkout::of(&new, &shelf).unwrap();
        assert!(
            !checkout.is_head && checkout.folder.join("server.py").is_file(),
            "a folder that is in no commit"
        );
        drop(checkout);
        write("server.py", "two");
        assert_eq!(look(), (false, "two".to_owned()), "a change that is in no commit");
        let left = fs::read_dir(shelf.folder()).unwrap().flatten();
        assert_eq!(
            left.filter(|entry| entry.file_name().to_string_lossy().starts_with("checkout-")).count(),
            0
        );
    }
}
