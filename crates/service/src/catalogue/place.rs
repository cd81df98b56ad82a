//! Where the commands of a service run: its own folder, or its built copy. Also the revision of a service.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::lock::Lock;

/// Data to recreate a row of a service at a revision, after its tree and packages may be gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionOf {
    /// The id of the service in the work tree.
    pub service: String,
    /// The service's folder in the work tree.
    pub folder: PathBuf,
    /// The full name of the commit; absent for the work tree itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The build command, if the user gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// A folder that no other Tare removes while this value or a clone exists.
#[derive(Debug, Clone, Default)]
pub struct Place {
    folder: PathBuf,
    /// A shared lock, if the folder is in the cache of builds.
    lease: Option<Arc<Lock>>,
}

impl Place {
    pub fn new(folder: PathBuf) -> Place {
        Place { folder, lease: None }
    }

    pub(crate) fn leased(folder: PathBuf, lease: Lock) -> Place {
        Place { folder, lease: Some(Arc::new(lease)) }
    }

    /// A folder below this one, under the same lock.
    pub(crate) fn below(&self, path: &Path) -> Place {
        // An appended empty path would add a slash.
        let folder = if path.as_os_str().is_empty() { self.folder.clone() } else { self.folder.join(path) };
        Place { folder, lease: self.lease.clone() }
    }
}

impl Deref for Place {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.folder
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        self.folder == other.folder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_leased_until_its_last_clone_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in-use");
        let lease = Lock::open(&path).unwrap();
        lease.try_shared().unwrap();
        let place = Place::leased(folder.path().to_owned(), lease);
        let clone = place.clone();
        assert_eq!(
            (&place, place.join("x")),
            (&Place::new(folder.path().to_owned()), folder.path().join("x"))
        );
        let is_free = || Lock::open(&path).unwrap().is_had_alone().unwrap();
        drop(place);
        assert!(!is_free());
        drop(clone);
        assert!(is_free());
    }
}
