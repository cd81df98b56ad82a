//! Checked-out trees: `TARE_HOME/revisions/COMMIT/NUMBER/`, shared by all clones of a user.
//!
//! Each use compares the tree with its commit: a service running in it may write into it, and could replace
//! what is measured. A changed tree is checked out again; if another command uses it, under the next number.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::SystemTime,
};

use super::{RevisionError, Tree};
use crate::{
    catalogue::Place,
    git::Repository,
    lock::{self, Lock},
    survey::{self, CacheItem},
};

/// The lock for checking out and removing.
const TAKING: &str = "taking";

#[derive(Debug, Clone)]
pub struct Shelf(PathBuf);

/// A tree in its commit's folder.
struct TakenTree {
    root: PathBuf,
    /// The lock shared by all users of the tree.
    in_use: PathBuf,
    /// A file with the work tree that it was last checked out for.
    origin: PathBuf,
}

impl Shelf {
    /// The trees below `home`, which need not exist.
    pub fn new(home: &Path) -> Shelf {
        Shelf(home.join("revisions"))
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The top of the tree of `commit`. It is not changed while the returned value exists.
    pub(super) fn take(&self, repository: &Repository, commit: &str) -> Result<Place, RevisionError> {
        let shelf = self.made_outside(&repository.top)?;
        let tree = Tree::read(repository, commit)?;
        let folder = shelf.join(commit);
        let io = |source| RevisionError::Io { path: folder.clone(), source };
        fs::create_dir_all(&folder).map_err(io)?;
        let _taking = taking(&folder).map_err(io)?;
        for number in 1_u32.. {
            let taken = TakenTree::new(&folder, number);
            let lease = Lock::open(&taken.in_use).map_err(io)?;
            let is_right = taken.root.is_dir() && tree.compare(&taken.root).map_err(io)?.is_none();
            if !is_right {
                if !lease.is_had_alone().map_err(io)? {
                    continue;
                }
                taken.fill(&tree, repository)?;
            }
            tare_base::whole::write(&taken.origin, repository.top.as_os_str().as_encoded_bytes())
                .map_err(io)?;
            lease.try_shared().map_err(io::Error::from).map_err(io)?;
            let _when_it_was_used_is_for_pruning = lease.mark_used();
            return Ok(Place::leased(taken.root, lease));
        }
        unreachable!("some number is free")
    }

    /// Creates the folder and returns its real path, unless it would be inside the repository at `top`.
    pub(crate) fn made_outside(&self, top: &Path) -> Result<PathBuf, RevisionError> {
        let real = |path: &Path| {
            let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
            there.map_or_else(
                || path.to_owned(),
                |(above, real)| real.join(path.strip_prefix(above).unwrap_or(path)),
            )
        };
        let (shelf, repository) = (real(&self.0), real(top));
        if shelf.starts_with(&repository) {
            return Err(RevisionError::ShelfInside { shelf, repository });
        }
        fs::create_dir_all(&shelf).map_err(|source| RevisionError::Io { path: shelf.clone(), source })?;
        Ok(shelf)
    }

    /// The work tree's folder that a folder on the shelf comes from; absent if it is not on the shelf.
    pub fn origin(&self, folder: &Path) -> Option<PathBuf> {
        let shelf = self.0.canonicalize().ok()?;
        let mut parts = folder.strip_prefix(&shelf).ok()?.components();
        let (commit, number) = (parts.next()?, parts.next()?);
        let taken = TakenTree::new(&shelf.join(commit), number.as_os_str().to_str()?.parse().ok()?);
        let top = fs::read_to_string(taken.origin).ok()?;
        Some(Path::new(top.trim_end_matches('\n')).join(parts.as_path()))
    }

    /// Each tree. Unused ones last used before `before` are removed.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn survey(&self, before: Option<SystemTime>) -> io::Result<Vec<CacheItem>> {
        let mut found = Vec::new();
        for folder in survey::folders(&self.0)? {
            // A leftover of a killed `tare init`.
            if folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"checkout-")) {
                let kept = survey::seen(folder)?;
                let removed = before.is_some_and(|before| kept.used <= before);
                if removed {
                    fs::remove_dir_all(&kept.path)?;
                }
                found.push(CacheItem { removed, ..kept });
                continue;
            }
            let _taking = before.map(|_| taking(&folder)).transpose()?;
            for path in survey::folders(&folder)? {
                let number = path.file_name().and_then(|name| name.to_str()?.parse().ok());
                if let Some(number) = number {
                    found.push(TakenTree::new(&folder, number).survey(before)?);
                }
            }
        }
        Ok(found)
    }
}

fn taking(folder: &Path) -> io::Result<Lock> {
    let lock = Lock::open(&folder.join(TAKING))?;
    // The lock is held while files are written.
    lock::wait(&AtomicBool::new(false), || lock.try_alone())?;
    Ok(lock)
}

impl TakenTree {
    fn new(folder: &Path, number: u32) -> TakenTree {
        let beside = |what: &str| folder.join(format!("{number}.{what}"));
        TakenTree {
            root: folder.join(number.to_string()),
            in_use: beside("in-use"),
            origin: beside("origin"),
        }
    }

    fn survey(&self, before: Option<SystemTime>) -> io::Result<CacheItem> {
        let kept = survey::seen(self.root.clone())?;
        let used = fs::metadata(&self.in_use).and_then(|found| found.modified()).unwrap_or(kept.used);
        let kept = CacheItem { used, ..kept };
        if before.is_none_or(|before| used > before) || !Lock::open(&self.in_use)?.is_had_alone()? {
            return Ok(kept);
        }
        fs::remove_dir_all(&self.root)?;
        Ok(CacheItem { removed: true, ..kept })
    }

    /// Written beside, compared as stored on disk, and renamed: a tree is complete or missing.
    fn fill(&self, tree: &Tree, repository: &Repository) -> Result<(), RevisionError> {
        let io = |source| RevisionError::Io { path: self.root.clone(), source };
        let beside = self.root.with_extension("new");
        for old in [&beside, &self.root] {
            match fs::remove_dir_all(old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
                _ => {}
            }
        }
        fs::create_dir(&beside).map_err(io)?;
        tree.write(repository, &beside)?;
        match tree.compare(&beside).map_err(io)? {
            None => fs::rename(&beside, &self.root).map_err(io),
            Some(difference) => Err(RevisionError::NotAsCommitted { path: beside.join(difference.0) }),
        }
    }
}
