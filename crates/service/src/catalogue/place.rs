//! Where the commands of a service run: its own folder, or the copy that it was built in; and the revision that it is of.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::lock::Lock;

/// What a row is made again of, if it is a service at a revision: its tree and its packages may be gone by then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionOf {
    /// The id of the service in the work tree.
    pub service: String,
    /// Where it lies there.
    pub folder: PathBuf,
    /// The full name of the commit; absent for the work tree itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The command that builds it, if the user said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// A folder that is not removed by another Tare as long as this value or a clone of it lives.
#[derive(Debug, Clone, Default)]
pub struct Place {
    folder: PathBuf,
    /// Holds a shared lock, where the folder is one of the cache of builds.
    lease: Option<Arc<Lock>>,
}

impl Place {
    pub fn new(folder: PathBuf) -> Place {
        Place { folder, lease: None }
    }

    pub(crate) fn leased(folder: PathBuf, lease: Lock) -> Place {
        Place { folder, lease: Some(Arc::new(lease)) }
    }

    /// A folder below it, which stays as long.
    pub(crate) fn below(&self, path: &Path) -> Place {
        // A path that ends with a slash is another text.
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
