//! The folders services/LANGUAGE/NAME, regardless of their content.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// An existing service.
#[derive(Debug)]
pub(crate) struct Service {
    pub language: String,
    pub name: String,
    pub folder: PathBuf,
}

/// Every folder services/LANGUAGE/NAME, with or without a manifest, sorted by name.
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
    // Skips hidden folders, such as caches of tools.
    let hidden = |path: &PathBuf| file_name(path).starts_with('.');
    let mut folders: Vec<PathBuf> = paths.into_iter().filter(|path| path.is_dir() && !hidden(path)).collect();
    folders.sort();
    Ok(folders)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
