//! The folders whose commands the user has allowed to run on this machine.
//!
//! The files of a repository say which commands build, start and ask about its services. Whoever clones one may want to look at it
//! first, so each is asked for once. The list lies beside the cache of builds; a folder covers what is below it.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// One absolute path a line.
const FILE: &str = "trusted";

#[derive(Debug)]
pub struct Trust {
    file: PathBuf,
    folders: BTreeSet<PathBuf>,
}

impl Trust {
    /// A list that cannot be read is an empty one: then the user is asked again.
    pub(super) fn read(home: &Path) -> Trust {
        let file = home.join(FILE);
        let text = fs::read_to_string(&file).unwrap_or_default();
        let folders = text.lines().map(PathBuf::from).filter(|path| path.is_absolute());
        Trust { folders: folders.collect(), file }
    }

    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// Whether it is one of them, or below one.
    pub fn covers(&self, folder: &Path) -> bool {
        let folder = resolved(folder);
        folder.ancestors().any(|above| self.folders.contains(above))
    }

    /// # Errors
    /// The list cannot be written, or the path has a line break in it.
    pub fn add(&mut self, folder: &Path) -> io::Result<()> {
        let folder = resolved(folder);
        if folder.to_str().is_none_or(|text| text.contains('\n')) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no place in a list"));
        }
        self.folders.insert(folder);
        self.write()
    }

    /// Whether it was one of them.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn remove(&mut self, folder: &Path) -> io::Result<bool> {
        // It may be gone since, and is then known by its name alone.
        let was_there = self.folders.remove(&resolved(folder)) | self.folders.remove(folder);
        self.write().map(|()| was_there)
    }

    /// Whole or not at all.
    fn write(&self) -> io::Result<()> {
        let home = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(home)?;
        let text: String = self.folders.iter().map(|folder| format!("{}\n", folder.display())).collect();
        let new = self.file.with_extension(format!("new-{}", std::process::id()));
        fs::write(&new, text)?;
        fs::rename(&new, &self.file)
    }
}

fn resolved(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_covers_what_is_below_it_until_it_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let (shop, other) = (root.path().join("shop"), root.path().join("shopping"));
        for folder in [&shop.join("services/go"), &other] {
            fs::create_dir_all(folder).unwrap();
        }
        let mut trust = Trust::read(&home.path().join("not/yet/there"));
        assert!(!trust.covers(&shop));
        trust.add(&shop.join(".")).unwrap();
        let mut again = Trust::read(&home.path().join("not/yet/there"));
        assert!(again.covers(&shop) && again.covers(&shop.join("services/go")));
        assert!(!again.covers(&other) && !again.covers(root.path()));
        assert_eq!(again.folders().count(), 1);
        assert!(again.remove(&shop).unwrap());
        assert!(!again.remove(&shop).unwrap());
        assert!(!Trust::read(&home.path().join("not/yet/there")).covers(&shop));
    }

    #[test]
    fn a_link_is_what_it_leads_to_and_an_unreadable_list_is_empty() {
        let home = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        std::os::unix::fs::symlink(root.path().join("a"), root.path().join("b")).unwrap();
        let mut trust = Trust::read(home.path());
        trust.add(&root.path().join("b")).unwrap();
        assert!(trust.covers(&root.path().join("a")));
        assert_eq!(trust.folders().next().unwrap(), root.path().join("a").canonicalize().unwrap());
        trust.add(Path::new("/a\nb")).unwrap_err();
        fs::write(home.path().join(FILE), b"\xff\n").unwrap();
        assert_eq!(Trust::read(home.path()).folders().count(), 0);
        fs::write(home.path().join(FILE), "relative\n\n").unwrap();
        assert_eq!(Trust::read(home.path()).folders().count(), 0);
    }
}
