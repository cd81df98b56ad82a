//! The folders whose commands the user has allowed to run on this machine.
//!
//! The files of a repository say which commands build, start and ask about its services. Whoever clones one may want to look at it
//! first, so each is asked for once. The list lies beside the cache of builds; a folder covers what is below it.
//!
//! A folder is known by its path and its inode: what is cloned later in its place is asked for again, and a repository that brings
//! a list of its own cannot allow itself.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use tare_host::whole;

/// An inode and an absolute path a line.
const FILE: &str = "trusted";

#[derive(Debug)]
pub struct Trust {
    file: PathBuf,
    folders: BTreeMap<PathBuf, u64>,
}

impl Trust {
    /// A list that cannot be read is an empty one: then the user is asked again.
    pub(super) fn read(home: &Path) -> Trust {
        let file = home.join(FILE);
        let text = fs::read_to_string(&file).unwrap_or_default();
        Trust { folders: text.lines().filter_map(entry).collect(), file }
    }

    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.keys().map(PathBuf::as_path)
    }

    /// Whether it is one of them, or below one.
    pub fn covers(&self, folder: &Path) -> bool {
        let is_listed = |above: &Path| {
            let listed = self.folders.get(above);
            listed.is_some_and(|inode| inode_of(above).is_ok_and(|now| now == *inode))
        };
        resolved(folder).ancestors().any(is_listed)
    }

    /// # Errors
    /// There is no such folder, the list cannot be written, or the path has a line break in it.
    pub fn add(&mut self, folder: &Path) -> io::Result<()> {
        let folder = folder.canonicalize()?;
        if folder.to_str().is_none_or(|text| text.contains('\n')) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no place in a list"));
        }
        let inode = inode_of(&folder)?;
        self.folders.insert(folder, inode);
        self.write()
    }

    /// Whether it was one of them.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn remove(&mut self, folder: &Path) -> io::Result<bool> {
        // It may be gone since, and is then known by its name alone.
        let was_there = [&resolved(folder), folder].map(|name| self.folders.remove(name).is_some());
        self.write().map(|()| was_there.contains(&true))
    }

    fn write(&self) -> io::Result<()> {
        let home = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(home)?;
        let line = |(folder, inode): (&PathBuf, &u64)| format!("{inode} {}\n", folder.display());
        whole::write(&self.file, self.folders.iter().map(line).collect::<String>())
    }
}

fn entry(line: &str) -> Option<(PathBuf, u64)> {
    let (inode, folder) = line.split_once(' ')?;
    let folder = PathBuf::from(folder);
    folder.is_absolute().then_some((folder, inode.parse().ok()?))
}

fn inode_of(folder: &Path) -> io::Result<u64> {
    fs::metadata(folder).map(|folder| folder.ino())
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
        let broken = root.path().join("a\nb");
        fs::create_dir(&broken).unwrap();
        trust.add(&broken).unwrap_err();
        trust.add(&root.path().join("nowhere")).unwrap_err();
        fs::write(home.path().join(FILE), b"\xff\n").unwrap();
        assert_eq!(Trust::read(home.path()).folders().count(), 0);
        fs::write(home.path().join(FILE), "1 relative\n\nx /\n/\n").unwrap();
        assert_eq!(Trust::read(home.path()).folders().count(), 0);
    }

    #[test]
    fn what_takes_the_place_of_a_folder_is_another_one() {
        let home = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let (shop, other) = (root.path().join("shop"), root.path().join("other"));
        fs::create_dir(&shop).unwrap();
        fs::create_dir(&other).unwrap();
        let mut trust = Trust::read(home.path());
        trust.add(&shop).unwrap();
        fs::rename(&shop, root.path().join("elsewhere")).unwrap();
        fs::rename(&other, &shop).unwrap();
        assert!(!trust.covers(&shop));
        // A list that came with a repository knows its path at the most.
        fs::write(home.path().join(FILE), format!("1 {}\n", shop.canonicalize().unwrap().display())).unwrap();
        assert!(!Trust::read(home.path()).covers(&shop));
    }
}
