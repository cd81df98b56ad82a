//! A build-cache entry: what is recorded of a good build. One that cannot be read means "build again", never an error.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{Built, Cost};

/// What a good build leaves behind beside its products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The content hash that it was made from.
    pub content: String,
    /// The version that it reported then.
    pub version: String,
    pub cost: Cost,
    /// Where it runs. Products contain this path, so that a cache which was moved is of no use.
    pub folder: PathBuf,
}

impl Entry {
    pub(super) fn of(built: &Built) -> Entry {
        let Built { version, cost, content, place, .. } = built.clone();
        Entry { content, version, cost, folder: place.to_path_buf() }
    }

    /// Whole or not at all: written beside and renamed.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let beside = path.with_extension("json.new");
        fs::write(&beside, serde_json::to_string_pretty(self)?)?;
        fs::rename(beside, path)
    }

    pub(super) fn read(path: &Path) -> Option<Entry> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }
}
