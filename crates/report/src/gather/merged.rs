//! A folder of merged runs, which `merge.json` marks. A part merges and reads them; here is what the core must know of them.

use std::{error::Error, path::Path};

use tare_bench::folder::Header;

use super::{GatherError, gather};
use crate::Document;

/// The name of the marking file.
pub const NAME: &str = "merge.json";

/// Why merged runs cannot be read, as the part says it.
pub type MergeError = Box<dyn Error + Send + Sync>;

/// The reader of such folders, which is in a part.
#[derive(Debug, Clone, Copy)]
pub struct MergedReader {
    /// The report of the runs below a folder.
    pub document: fn(&Path) -> Result<Document, MergeError>,
    /// The head of its first run, which all runs share except for machine and seed.
    pub header: fn(&Path) -> Option<Header>,
}

/// Whether a folder is marked as one.
pub fn is_one(folder: &Path) -> bool {
    folder.join(NAME).is_file() && !folder.join("run.json").exists()
}

impl MergedReader {
    /// The report of the run in this folder, or of the merged runs below it.
    ///
    /// # Errors
    /// The errors of [`gather`], and if the runs cannot be merged or the part is left out.
    pub fn gather(self, folder: &Path) -> Result<Document, GatherError> {
        if !is_one(folder) {
            return gather(folder);
        }
        (self.document)(folder).map_err(|source| GatherError::Merge { path: folder.to_owned(), source })
    }
}
