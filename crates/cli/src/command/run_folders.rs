//! Run folders in a folder, each with its name on the command line and in URLs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tare_bench::folder::series;

/// Separates the name of a series from that of a run in it. It occurs in no path.
const OF_SERIES: char = ':';

/// A run and its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub name: String,
    pub path: PathBuf,
}

impl Place {
    /// The run itself, or the runs of a series.
    pub(crate) fn open(self) -> Vec<Place> {
        if !series::is_one(&self.path) {
            return vec![self];
        }
        let members = folders_in(&self.path).into_iter();
        members.map(|run| Place { name: format!("{}{OF_SERIES}{}", self.name, run.name), ..run }).collect()
    }
}

/// The folders in `folder`, except hidden ones and links: nothing outside of it is shown.
pub(crate) fn folders_in(folder: &Path) -> Vec<Place> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let named = folders
        .filter_map(|entry| Some(Place { name: entry.file_name().into_string().ok()?, path: entry.path() }));
    named.filter(|place| !place.name.starts_with('.')).collect()
}
