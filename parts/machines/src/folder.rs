//! A folder of merged bundles. `merge.json` marks it, and its runs are below it, so that it can be copied
//! with everything its report needs.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};
use tare_base::whole;
use tare_bench::folder::{FORMAT, Header, read_header};
use tare_report::gather::merged::NAME;

use crate::bundle::runs_in;

/// The content of that file.
#[derive(Debug, Serialize, Deserialize)]
struct MergeHead {
    /// The format version of the run folders.
    format: String,
    title: String,
}

/// Marks a folder.
///
/// # Errors
/// If the file system refuses.
pub fn mark(folder: &Path, title: &str) -> io::Result<()> {
    let head = MergeHead { format: FORMAT.to_owned(), title: title.to_owned() };
    whole::write(&folder.join(NAME), serde_json::to_string_pretty(&head)? + "\n")
}

/// The head of its first run, which all runs share except for machine and seed.
pub fn header(folder: &Path) -> Option<Header> {
    runs_in(folder).iter().find_map(|run| read_header(run).ok())
}
