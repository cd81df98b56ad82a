//! A folder for readers that read files. There is one for each thread, in memory where the machine has such a place.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

thread_local! {
    static SCRATCH: TempDir = in_memory().unwrap_or_else(|| TempDir::new().expect("a temporary folder"));
}

fn in_memory() -> Option<TempDir> {
    TempDir::new_in("/dev/shm").ok()
}

/// The path of a file with this content.
pub(crate) fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = SCRATCH.with(|scratch| scratch.path().join(name));
    fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be written to");
    fs::write(&path, content).expect("the folder can be written to");
    path
}

/// The folder in which a file is, a number of levels up.
pub(crate) fn above(path: &Path, levels: usize) -> &Path {
    path.ancestors().nth(levels).expect("it is that deep")
}
