//! Where the commands of a service run: its own folder, or the copy that it was built in.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::lock::Lock;

/// A folder that is not removed by another Tare as long as this value or a clone of it lives.
#[derive(Debug, Clone)]
pub struct Place {
    folder: PathBuf,
    /// Holds a shared lock, where the folder is one of the cache of builds.
    _lease: Option<Arc<Lock>>,
}

impl Place {
    pub fn new(folder: PathBuf) -> Place {
        Place { folder, _lease: None }
    }

    pub(crate) fn leased(folder: PathBuf, lease: Lock) -> Place {
        Place { folder, _lease: Some(Arc::new(lease)) }
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
