//! The trees that were taken out: `TARE_HOME/revisions/COMMIT/NUMBER/`, shared by all clones of a user.
//!
//! Each is compared with its commit whenever it is used, since a service that runs in it may write into it, and whoever can write
//! there could replace what is measured. One that differs is taken out anew; while another command uses it, under the next number.

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
};

/// Locked by who takes out or removes.
const TAKING: &str = "taking";

#[derive(Debug, Clone)]
pub struct Shelf(PathBuf);

/// A tree below its commit.
struct TakenTree {
    root: PathBuf,
    /// Shared by all that use the tree.
    in_use: PathBuf,
    /// The work tree that it was last taken out for.
    origin: PathBuf,
}

impl Shelf {
    /// Below `home`, which need not exist.
    pub fn new(home: &Path) -> Shelf {
        Shelf(home.join("revisions"))
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The top of the tree of `commit`, which stays as it is as long as the value lives.
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
            tare_host::whole::write(&taken.origin, repository.top.as_os_str().as_encoded_bytes())
                .map_err(io)?;
            lease.try_shared().map_err(io::Error::from).map_err(io)?;
            let _when_it_was_used_is_for_pruning = lease.mark_used();
            return Ok(Place::leased(taken.root, lease));
        }
        unreachable!("some number is free")
    }

    /// Makes the folder, unless it would lie in the repository at `top`. The path is its real one.
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

    /// The folder of the work tree that a folder on the shelf was taken out for; absent if it lies elsewhere.
    pub fn origin(&self, folder: &Path) -> Option<PathBuf> {
        let shelf = self.0.canonicalize().ok()?;
        let mut parts = folder.strip_prefix(&shelf).ok()?.components();
        let (commit, number) = (parts.next()?, parts.next()?);
        let taken = TakenTree::new(&shelf.join(commit), number.as_os_str().to_str()?.parse().ok()?);
        let top = fs::read_to_string(taken.origin).ok()?;
        Some(Path::new(top.trim_end_matches('\n')).join(parts.as_path()))
    }

    /// Removes trees that are not in use and were last used before `before`: how many, and how many are left.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn prune(&self, before: SystemTime) -> io::Result<[usize; 2]> {
        let mut counts = [0, 0];
        if !self.0.is_dir() {
            return Ok(counts);
        }
        for commit in fs::read_dir(&self.0)? {
            let folder = commit?.path();
            // What a killed `tare init` left.
            if folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"checkout-")) {
                if fs::metadata(&folder)?.modified()? <= before {
                    fs::remove_dir_all(&folder)?;
                }
                continue;
            }
            let _taking = taking(&folder)?;
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let Some(number) = path.is_dir().then(|| path.file_name()?.to_str()?.parse().ok()).flatten()
                else {
                    continue;
                };
                let taken = TakenTree::new(&folder, number);
                let lease = Lock::open(&taken.in_use)?;
                let is_old = lease.used()? <= before && lease.is_had_alone()?;
                counts[usize::from(!is_old)] += 1;
                if is_old {
                    fs::remove_dir_all(&taken.root)?;
                }
            }
        }
        Ok(counts)
    }
}

fn taking(folder: &Path) -> io::Result<Lock> {
    let lock = Lock::open(&folder.join(TAKING))?;
    // It is held for as long as files are written.
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

    /// Whole or not at all: written beside and renamed, and compared, as what the disk kept is what counts.
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
