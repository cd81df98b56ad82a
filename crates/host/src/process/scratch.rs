//! Temporary folders of a process, in memory if there is room. They are removed with their owner, however it
//! ends. The watchdog removes those of a Tare that died, and the sweep those of a Tare that died together
//! with its watchdog.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::naming;
use super::scratch_folder::{IN_MEMORY, remove};
use super::watchdog::{Watchdog, WatchdogError};

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    watchdog: Watchdog,
}

/// Why there is no such folder.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    #[error(transparent)]
    Watchdog(#[from] WatchdogError),
    #[error("cannot make a folder for temporary files in {parent:?}: {source}")]
    Make { parent: PathBuf, source: io::Error },
}

impl Scratch {
    /// A new folder with room for this number of bytes: in memory if it fits, else in the temporary folder.
    ///
    /// # Errors
    /// It cannot be made, or there is no watchdog.
    pub fn make(watchdog: &Watchdog, bytes: u64) -> Result<Scratch, ScratchError> {
        let parent = [PathBuf::from(IN_MEMORY)].into_iter().find(|parent| has_room(parent, bytes));
        let parent = parent.unwrap_or_else(std::env::temp_dir);
        let path = parent.join(naming::new_name());
        let watchdog = watchdog.clone();
        watchdog.add_scratch(&path)?;
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|source| ScratchError::Make { parent, source })?;
        Ok(Scratch { path, watchdog })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
        self.watchdog.delete_scratch(&self.path);
    }
}

fn has_room(folder: &Path, bytes: u64) -> bool {
    let is_writable = fs::metadata(folder).is_ok_and(|folder| folder.permissions().mode() & 0o002 != 0);
    let free = rustix::fs::statvfs(folder).map_or(0, |space| space.f_bavail.saturating_mul(space.f_frsize));
    is_writable && free >= bytes
}
