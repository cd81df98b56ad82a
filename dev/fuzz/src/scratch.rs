//! A folder for readers that read files: one per thread, in memory if the machine has such a file system.

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

pub(crate) fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = SCRATCH.with(|scratch| scratch.path().join(name));
    fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be written to");
    fs::write(&path, content).expect("the folder can be written to");
    path
}

/// The folder that is a number of levels above a file.
pub(crate) fn above(path: &Path, levels: usize) -> &Path {
    path.ancestors().nth(levels).expect("it is that deep")
}
