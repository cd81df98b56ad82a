//! Run folders in a folder, each with the name by which it is asked for.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tare_bench::folder::series;

/// Between the name of a series and that of a run in it. In no path.
const OF_SERIES: char = ':';

/// A run and the name by which it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub name: String,
    pub path: PathBuf,
}

impl Place {
    /// Itself, or the runs of the series that it is.
    pub(crate) fn open(self) -> Vec<Place> {
        if !series::is_one(&self.path) {
            return vec![self];
        }
        let members = folders_in(&self.path).into_iter();
        members.map(|run| Place { name: format!("{}{OF_SERIES}{}", self.name, run.name), ..run }).collect()
    }
}

/// Not those whose name begins with a dot, and no links that lead elsewhere: only what lies here is shown.
pub(crate) fn folders_in(folder: &Path) -> Vec<Place> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let named = folders
        .filter_map(|entry| Some(Place { name: entry.file_name().into_string().ok()?, path: entry.path() }));
    named.filter(|place| !place.name.starts_with('.')).collect()
}
