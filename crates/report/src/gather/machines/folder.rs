//! A folder of bundles that were merged: `merge.json` marks it, and the runs are those below it, so that it can be copied with all
//! that its report is made of.

use std::{io, path::Path};

use serde::{Deserialize, Serialize};
use tare_analysis::machines::bundle::runs_in;
use tare_bench::folder::{FORMAT, Header, read_header};
use tare_host::whole;

/// The name of the file that marks one.
pub const NAME: &str = "merge.json";

/// What it holds.
#[derive(Debug, Serialize, Deserialize)]
struct MergeHead {
    /// The format of run folders that it was written with.
    format: String,
    title: String,
}

/// Whether a folder is marked as one.
pub fn is_one(folder: &Path) -> bool {
    folder.join(NAME).is_file() && !folder.join("run.json").exists()
}

/// Marks a folder.
///
/// # Errors
/// If the file system refuses.
pub fn mark(folder: &Path, title: &str) -> io::Result<()> {
    let head = MergeHead { format: FORMAT.to_owned(), title: title.to_owned() };
    whole::write(&folder.join(NAME), serde_json::to_string_pretty(&head)? + "\n")
}

/// The head of the first run in it, which is that of all but for machine and seed.
pub(crate) fn header(folder: &Path) -> Option<Header> {
    runs_in(folder).iter().find_map(|run| read_header(run).ok())
}
