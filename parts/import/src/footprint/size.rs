//! Sizes of files in bytes.

use std::{collections::HashSet, fs, os::unix::fs::MetadataExt, path::Path};

use ignore::WalkBuilder;

/// The size of a file, through a symbolic link; 0 if it does not exist.
pub(super) fn of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// The size of a file, or of all files below a folder.
pub(super) fn of_any(path: &Path) -> u64 {
    if path.is_dir() { tree(path) } else { of(path) }
}

/// The size of all files below a folder. Hard links count once, symbolic links not at all.
pub(super) fn tree(folder: &Path) -> u64 {
    let mut seen = HashSet::new();
    let files = WalkBuilder::new(folder).standard_filters(false).build().flatten();
    let sizes = files.filter_map(|entry| {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        seen.insert((metadata.dev(), metadata.ino())).then_some(metadata.len())
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_two_names_counts_once_and_a_link_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/.hidden"), "12345").unwrap();
        fs::write(at("file"), "123").unwrap();
        fs::hard_link(at("file"), at("again")).unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        assert_eq!((tree(folder.path()), of(&at("link")), of(&at("none"))), (8, 3, 0));
    }
}
