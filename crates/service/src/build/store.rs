//! The cache of builds: `TARE_HOME/builds/CONTENT/`, shared by all checkouts of a user.
//!
//! A service is built and run in its copy, since products contain absolute paths. `NUMBER/` is the copy of
//! one attempt with its products. `entry.json`, written last, names the valid attempt, so an interrupted
//! attempt is never used and a new one touches no files in use. A command locks `building` to build or
//! remove; every user of a build shares a lock on `in-use`.

use std::{
    fs::{self, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::SystemTime,
};

use super::{Entry, shared::SharedFolders, source::SourceCache};
use crate::{
    catalogue::Place,
    lock::{self, Lock},
    revisions::Shelf,
    survey::{self, CacheItem, CacheKind},
};

const ENTRY: &str = "entry.json";
const BUILDING: &str = "building";
const IN_USE: &str = "in-use";

#[derive(Debug, Clone)]
pub struct Store {
    home: PathBuf,
    folder: PathBuf,
    sources: SourceCache,
    shared: SharedFolders,
    shelf: Shelf,
}

/// The folder of one content hash.
#[derive(Debug)]
struct Slot(PathBuf);

/// A slot reserved for one build while this value exists.
#[derive(Debug)]
pub(super) struct Reserved {
    slot: Slot,
    _building: Lock,
}

impl Store {
    /// The folders in the cache that builds and revisions fill.
    pub const FOLDERS: [&str; 4] = survey::OF_BUILDS;

    /// The cache below `home`, which need not exist.
    pub fn new(home: &Path) -> Store {
        let (folder, home) = (home.join("builds"), home.to_owned());
        let (sources, shared) = (SourceCache::new(&home), SharedFolders::new(&home));
        Store { folder, sources, shared, shelf: Shelf::new(&home), home }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The cache itself, whose parts are folders in it.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Crates compiled once for several builds.
    pub(super) fn shared(&self) -> &SharedFolders {
        &self.shared
    }

    /// Sources fetched once for all builds.
    pub(super) fn sources(&self) -> &SourceCache {
        &self.sources
    }

    /// The finished build of `content`. It is not removed while the returned place exists.
    pub(super) fn find(&self, content: &str) -> Option<(Entry, Place)> {
        self.slot(content).find()
    }

    /// Whether a finished build of these files exists, by any toolchain.
    pub(super) fn has_files(&self, files: &str) -> bool {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let of_slot = |slot: fs::DirEntry| Entry::read(&slot.path().join(ENTRY));
        entries.filter_map(of_slot).any(|entry| entry.is_of(files))
    }

    /// Waits until no other command builds `content`. An interrupt ends the wait as [`io::ErrorKind::Interrupted`].
    pub(super) fn reserve(&self, content: &str, interrupt: &AtomicBool) -> io::Result<Reserved> {
        let slot = self.slot(content);
        fs::create_dir_all(&self.folder)?;
        // Pruning also locks the store, so it removes no slot while its lock is opened here.
        let building = lock::wait(interrupt, || {
            let store = Lock::open(&self.folder.join("lock")).map_err(TryLockError::Error)?;
            store.try_shared()?;
            slot.lock_building()
        })?;
        Ok(Reserved { slot, _building: building })
    }

    /// All that the cache has. What was last used before `before` is removed, unless it is in use or of a kind that is kept.
    /// Without `before` nothing is changed.
    ///
    /// # Errors
    /// The cache cannot be read or changed, or an interrupt ([`io::ErrorKind::Interrupted`]).
    pub fn survey(
        &self,
        before: Option<SystemTime>,
        interrupt: &AtomicBool,
    ) -> io::Result<Vec<(CacheKind, CacheItem)>> {
        let mut found = Vec::new();
        let mut add = |kind, kept: Vec<CacheItem>| found.extend(kept.into_iter().map(|kept| (kind, kept)));
        add(CacheKind::Builds, self.survey_builds(before, interrupt)?);
        add(CacheKind::SharedCrates, self.shared.survey(before)?);
        add(CacheKind::Sources, self.sources.survey(before, interrupt)?);
        add(CacheKind::Revisions, self.shelf.survey(before)?);
        found.extend(survey::others(&self.home, before)?);
        Ok(found)
    }

    fn survey_builds(
        &self,
        before: Option<SystemTime>,
        interrupt: &AtomicBool,
    ) -> io::Result<Vec<CacheItem>> {
        let slots = survey::folders(&self.folder)?;
        let Some(before) = before.filter(|_| !slots.is_empty()) else {
            return slots.into_iter().map(|slot| Slot(slot).seen()).collect();
        };
        let store = Lock::open(&self.folder.join("lock"))?;
        lock::wait(interrupt, || store.try_alone())?;
        slots.into_iter().map(|slot| Slot(slot).prune(before)).collect()
    }

    /// Uses the real path, as build products contain it.
    fn slot(&self, content: &str) -> Slot {
        let folder = self.folder.canonicalize();
        Slot(folder.unwrap_or_else(|_| self.folder.clone()).join(content))
    }
}

impl Slot {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn lock_building(&self) -> Result<Lock, TryLockError> {
        let open = || {
            fs::create_dir_all(&self.0)?;
            Lock::open(&self.path(BUILDING))
        };
        let building = open().map_err(TryLockError::Error)?;
        building.try_alone()?;
        Ok(building)
    }

    /// The entry, if it is complete, was built at this path and is not being removed.
    fn find(&self) -> Option<(Entry, Place)> {
        let lease = Lock::open_to_share(&self.path(IN_USE)).ok()?;
        lease.try_shared().ok()?;
        let entry = Entry::read(&self.path(ENTRY))?;
        let is_here = entry.folder.starts_with(&self.0) && entry.folder.is_dir();
        // A read-only cache still serves builds; only the time of use is not recorded.
        let _ = lease.mark_used();
        let place = Place::leased(entry.folder.clone(), lease);
        is_here.then_some((entry, place))
    }

    /// Removes invalid attempts, unless a build of this slot is in use. An attempt that cannot be removed,
    /// because a process of a killed build still writes to it, stays until the next sweep.
    fn sweep(&self) -> io::Result<()> {
        let in_use = Lock::open(&self.path(IN_USE))?;
        if !in_use.is_had_alone()? {
            return Ok(());
        }
        let counts = Entry::read(&self.path(ENTRY)).map(|entry| entry.folder);
        for (_, attempt) in self.attempts()? {
            if !counts.as_ref().is_some_and(|folder| folder.starts_with(&attempt)) {
                let _ = fs::remove_dir_all(attempt);
            }
        }
        Ok(())
    }

    fn attempts(&self) -> io::Result<Vec<(u32, PathBuf)>> {
        let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
        let entries = fs::read_dir(&self.0)?.map(|entry| entry.map(|entry| entry.path()));
        let paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
        Ok(paths.into_iter().filter_map(|path| Some((number(&path)?, path))).collect())
    }

    fn seen(&self) -> io::Result<CacheItem> {
        let path = self.0.clone();
        let used = fs::metadata(self.path(IN_USE)).or_else(|_| fs::metadata(&path))?.modified()?;
        Ok(CacheItem { bytes: survey::bytes(&path, |_| true)?, path, used, removed: false })
    }

    fn prune(&self, before: SystemTime) -> io::Result<CacheItem> {
        let building = Lock::open(&self.path(BUILDING))?;
        let is_idle = building.is_had_alone()?;
        if is_idle {
            self.sweep()?;
        }
        let in_use = Lock::open(&self.path(IN_USE))?;
        let kept = self.seen()?;
        if !is_idle || kept.used > before || !in_use.is_had_alone()? {
            return Ok(kept);
        }
        // The entry goes first: an interrupted removal then leaves no incomplete build.
        let _ = fs::remove_file(self.path(ENTRY));
        fs::remove_dir_all(&self.0)?;
        Ok(CacheItem { removed: true, ..kept })
    }
}

impl Reserved {
    /// A build finished before, or while this process waited for the lock.
    pub(super) fn find(&self) -> Option<(Entry, Place)> {
        self.slot.find()
    }

    /// A new folder for an attempt; invalid attempts are removed.
    pub(super) fn begin(&self) -> io::Result<PathBuf> {
        self.slot.sweep()?;
        let last = self.slot.attempts()?.into_iter().map(|(number, _)| number).max();
        let attempt = self.slot.path(&(last.unwrap_or(0) + 1).to_string());
        fs::create_dir(&attempt)?;
        Ok(attempt)
    }

    /// Makes `entry` the valid one.
    pub(super) fn finish(&self, entry: &Entry) -> io::Result<Place> {
        entry.write(&self.slot.path(ENTRY))?;
        self.slot.sweep()?;
        let found = self.slot.find().ok_or_else(|| io::Error::other("the entry is gone"))?;
        Ok(found.1)
    }
}
