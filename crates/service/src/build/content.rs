//! The content hash that decides whether a service is built again.

use std::{fs, io, path::Path};

use ignore::WalkBuilder;

/// BLAKE3 over the folder's files (without what git ignores) and over what the toolchain says of itself. A service
/// that builds nothing has no files to hash.
pub fn hash(folder: &Path, nothing_to_build: bool, toolchain: &str) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    put(&mut hasher, toolchain.as_bytes());
    if !nothing_to_build {
        for path in files(folder)? {
            let name = path.strip_prefix(folder).unwrap_or(&path);
            put(&mut hasher, name.as_os_str().as_encoded_bytes());
            put(&mut hasher, &fs::read(&path)?);
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Length first, so that no two lists of parts can look alike.
fn put(hasher: &mut blake3::Hasher, part: &[u8]) {
    hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
}

/// The sources: every file in the folder that git does not ignore.
pub(super) fn files(folder: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    let mut found = Vec::new();
    for entry in WalkBuilder::new(folder).hidden(false).require_git(false).build() {
        let entry = entry.map_err(io::Error::other)?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            found.push(entry.into_path());
        }
    }
    found.sort();
    Ok(found)
}
