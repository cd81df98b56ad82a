//! The folders services/LANGUAGE/NAME. Knows nothing of what is in them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A service that is already there.
#[derive(Debug)]
pub(crate) struct Service {
    pub language: String,
    pub name: String,
    pub folder: PathBuf,
}

/// Every folder services/LANGUAGE/NAME, with a manifest or not, in the order of their names.
pub(crate) fn all(root: &Path) -> Result<Vec<Service>> {
    let mut found = Vec::new();
    for language in folders(&root.join("services"))? {
        for folder in folders(&language)? {
            found.push(Service { language: file_name(&language), name: file_name(&folder), folder });
        }
    }
    Ok(found)
}

fn folders(top: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(top).with_context(|| format!("cannot read '{}'", top.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    // Tools leave caches in folders of such names.
    let hidden = |path: &PathBuf| file_name(path).starts_with('.');
    let mut folders: Vec<PathBuf> = paths.into_iter().filter(|path| path.is_dir() && !hidden(path)).collect();
    folders.sort();
    Ok(folders)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
