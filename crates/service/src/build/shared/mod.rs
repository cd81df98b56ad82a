//! Crates of registries that Cargo compiles once for several services: `TARE_HOME/shared/KEY/`.
//!
//! `target` is the target folder of all builds with one key: a repository, a compiler, and variables. A command locks `lock`
//! while its step runs. What a service compiles of its own is removed before and after the step, so that no build can
//! take the code of another version for its own: Cargo compares times of files, and copies have new ones. Products are
//! copied into the build's folder. The file `building` is there during a step; if a step begins and finds it, the last one was
//! killed, or the machine lost power, and the folder is emptied.
//!
//! Only services of one repository share, since a build script can write into the folder. A revision shares nothing.

mod own;
mod wrapper;

use std::{
    ffi::OsStr,
    fs::{self, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::SystemTime,
};

use super::{SharedCost, content};
use crate::{
    catalogue::Service,
    lock::{self, Lock},
    survey::{self, CacheItem},
};
use own::OwnPackages;

const TARGET: &str = "target";
const BUILDING: &str = "building";
const LOCK: &str = "lock";
/// The extension of a folder that is being removed.
const REMOVED: &str = "removed";
const KEY_DIGITS: usize = 16;
/// What the folder is for, in words.
const NOTE: &str = "for.txt";
/// The variable by which Cargo finds its target folder.
const TARGET_VARIABLE: &str = "CARGO_TARGET_DIR";

/// A folder that grows beyond this is emptied: it then has crates of many older lock files.
const BYTES_MAX: u64 = 4 << 30;

/// All shared folders.
#[derive(Debug, Clone)]
pub(super) struct SharedFolders(PathBuf);

/// One shared folder, locked for one step of one service.
#[derive(Debug)]
pub(super) struct SharedFolder {
    folder: PathBuf,
    own: OwnPackages,
    /// Where the service is built.
    place: PathBuf,
    _lock: Lock,
}

impl SharedFolders {
    pub(super) fn new(home: &Path) -> SharedFolders {
        SharedFolders(home.join("shared"))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Waits for the folder of `service`, and prepares it. Absent if the service must not share, or has no lock file that
    /// says what is its own.
    pub(super) fn take(
        &self,
        service: &Service,
        toolchain: &str,
        interrupt: &AtomicBool,
    ) -> io::Result<Option<SharedFolder>> {
        let Some(own) = OwnPackages::find(&service.place, service.tree()) else { return Ok(None) };
        if service.apart.is_some() {
            return Ok(None);
        }
        let root = repository(service);
        let mut key = content::Content::of_toolchain(toolchain);
        key.put(b"cargo").put(root.as_os_str().as_encoded_bytes());
        key.put_environment();
        fs::create_dir_all(&self.0)?;
        let folder = self.0.canonicalize()?.join(&key.finish()[..KEY_DIGITS]);
        let lock = lock::wait(interrupt, || lock_alone(&folder))?;
        let note = format!("{}\n{}\n", root.display(), toolchain.trim());
        fs::write(folder.join(NOTE), note)?;
        let _when_it_was_used_is_for_pruning = lock.mark_used();
        Ok(Some(SharedFolder { folder, own, place: service.place.to_path_buf(), _lock: lock }))
    }

    /// Each folder. It is removed if it was last used before `before`, and is not in use.
    pub(super) fn survey(&self, before: Option<SystemTime>) -> io::Result<Vec<CacheItem>> {
        survey::folders(&self.0)?.iter().map(|folder| survey(folder, before)).collect()
    }
}

/// Locks a folder that a prune may remove meanwhile, with its lock.
fn lock_alone(folder: &Path) -> Result<Lock, TryLockError> {
    let path = folder.join(LOCK);
    let open = || {
        fs::create_dir_all(folder)?;
        Lock::open(&path)
    };
    let lock = open().map_err(TryLockError::Error)?;
    lock.try_alone()?;
    if lock.is_at(&path) { Ok(lock) } else { Err(TryLockError::WouldBlock) }
}

fn survey(folder: &Path, before: Option<SystemTime>) -> io::Result<CacheItem> {
    let bytes = survey::bytes(folder, |_| true)?;
    let path = folder.to_owned();
    let is_left = folder.extension() == Some(OsStr::new(REMOVED));
    // Looking must create nothing, and use nothing.
    let lock = Lock::open_to_share(&folder.join(LOCK)).ok();
    let used = lock.as_ref().map_or_else(|| fs::metadata(folder)?.modified(), Lock::used)?;
    let is_old = before.is_some_and(|before| is_left || used <= before);
    if !is_old || !lock.as_ref().is_none_or(|lock| lock.is_had_alone().unwrap_or(false)) {
        return Ok(CacheItem { path, bytes, used, removed: false });
    }
    // After the rename no step finds a folder of which some files are missing.
    let aside = folder.with_extension(REMOVED);
    if !is_left {
        fs::rename(folder, &aside)?;
    }
    fs::remove_dir_all(&aside)?;
    Ok(CacheItem { path, bytes, used, removed: true })
}

/// The folder above LANGUAGE/NAME in which the services of one repository lie; for another service its own folder.
fn repository(service: &Service) -> PathBuf {
    let folder = &service.folder;
    let language = folder.parent().filter(|above| above.file_name() == Some(OsStr::new(&service.language)));
    let root = language.and_then(Path::parent).unwrap_or(folder);
    root.canonicalize().unwrap_or_else(|_| root.to_owned())
}

/// The variables of a step that shares nothing: Cargo builds in the service's own folder, whatever the user's variables say.
pub(super) fn variables_alone(place: &Path) -> Vec<(String, String)> {
    vec![(TARGET_VARIABLE.to_owned(), place.join(TARGET).display().to_string())]
}

impl SharedFolder {
    fn target(&self) -> PathBuf {
        self.folder.join(TARGET)
    }

    /// Makes it ready for a step, and returns the variables of the step.
    pub(super) fn begin(&self) -> io::Result<Vec<(String, String)>> {
        self.begin_below(BYTES_MAX)
    }

    fn begin_below(&self, bytes_max: u64) -> io::Result<Vec<(String, String)>> {
        let (mark, target) = (self.folder.join(BUILDING), self.target());
        fs::create_dir_all(&target)?;
        if mark.exists() || survey::bytes(&target, |_| true)? > bytes_max {
            self.empty()?;
        }
        fs::write(&mark, "")?;
        self.remove_own()?;
        let mut variables = wrapper::write(&self.folder, &self.own.names)?;
        variables.push((TARGET_VARIABLE.to_owned(), target.display().to_string()));
        Ok(variables)
    }

    /// Removes all compiled crates.
    pub(super) fn empty(&self) -> io::Result<()> {
        fs::remove_dir_all(self.target())?;
        fs::create_dir_all(self.target())
    }

    /// Copies the products of a step that succeeded into the build's folder, and leaves the crates of registries alone.
    pub(super) fn finish(&self) -> io::Result<()> {
        for units in units(&self.target())? {
            let within = units.strip_prefix(self.target()).unwrap_or(&units).to_owned();
            for product in products(&units)? {
                let to = self.place.join(TARGET).join(&within);
                fs::create_dir_all(&to)?;
                // A copy, not a link: a later step must not change what is measured.
                fs::copy(&product, to.join(product.file_name().unwrap_or_default()))?;
            }
        }
        self.leave()
    }

    /// Leaves the folder to the next step; also after a step that failed.
    pub(super) fn leave(&self) -> io::Result<()> {
        self.remove_own()?;
        fs::remove_file(self.folder.join(BUILDING))
    }

    /// What a step of this CPU time spent on crates of registries. Absent if nothing of the service's own was compiled.
    pub(super) fn cost(&self, cpu_seconds: f64) -> io::Result<Option<SharedCost>> {
        let compiled = wrapper::read(&self.folder)?;
        let cost = |own: f64| SharedCost {
            // Its own is measured in ticks too, so it may be a tick more than all.
            cpu_seconds: (cpu_seconds - own).max(0.0),
            crates: compiled.crates,
        };
        Ok(compiled.own_cpu_seconds.map(cost))
    }

    /// Removes what the service compiles of its own, and products of whatever was built last.
    fn remove_own(&self) -> io::Result<()> {
        for units in units(&self.target())? {
            products(&units)?.iter().try_for_each(fs::remove_file)?;
            self.own.remove(&units)?;
        }
        Ok(())
    }
}

/// The folders of profiles in a target folder: `release`, or `TRIPLE/release`.
fn units(target: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in survey::folders(target)? {
        match is_of_profile(&folder) {
            true => found.push(folder),
            false => {
                found.extend(survey::folders(&folder)?.into_iter().filter(|folder| is_of_profile(folder)))
            }
        }
    }
    Ok(found)
}

fn is_of_profile(folder: &Path) -> bool {
    folder.join("deps").is_dir() || folder.join(".cargo-lock").exists()
}

/// Programs and libraries of a profile: the files beside its folders, without lists of what they were made from.
fn products(units: &Path) -> io::Result<Vec<PathBuf>> {
    let is_product = |path: &PathBuf| {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        path.is_file() && !is_hidden && path.extension() != Some(OsStr::new("d"))
    };
    let paths = fs::read_dir(units)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    Ok(paths.into_iter().filter(is_product).collect())
}

#[cfg(test)]
mod tests;
