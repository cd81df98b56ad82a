//! Atomic writes of folders: a folder is written under another name and flushed, and one rename exchanges it
//! with the old one. A killed writer leaves the old folder, and its own part for the next writer to remove.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};

/// Suffix of folders that are still being written.
const END: &str = ".new";

/// Why a folder cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WholeFolderError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Another process writes it.
    #[error("{}: another process writes it now", place.display())]
    Busy { place: PathBuf },
    #[error("{}: something is mounted there, which cannot be replaced; name a folder in it", place.display())]
    Mounted { place: PathBuf },
}

/// A folder that is being written. If it is dropped before [`WholeFolder::put`], its files are removed.
#[derive(Debug)]
pub struct WholeFolder {
    place: PathBuf,
    beside: PathBuf,
    /// Locks of the old and the new folder: they keep other writers away.
    _locks: Vec<File>,
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> WholeFolderError {
    let path = path.to_owned();
    move |source| WholeFolderError::Io { path, source }
}

impl WholeFolder {
    /// Begins to write the folder at `place`.
    ///
    /// # Errors
    /// Another process writes it, or the file system refuses.
    pub fn begin(place: &Path) -> Result<WholeFolder, WholeFolderError> {
        // If `place` is a link, its target is replaced, not the link.
        let absolute = place.canonicalize().or_else(|_| std::path::absolute(place)).map_err(at(place))?;
        let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return Err(WholeFolderError::Mounted { place: absolute });
        };
        fs::create_dir_all(parent).map_err(at(parent))?;
        let mut locks = Vec::new();
        if absolute.exists() {
            locks.push(lock(&absolute, place)?);
        }
        let start = format!(".{}.", name.to_string_lossy());
        remove_left_behind(parent, &start);
        let beside = parent.join(format!("{start}{}{END}", std::process::id()));
        // An existing folder of this name belongs to another user, so it is not used.
        fs::create_dir(&beside).map_err(at(&beside))?;
        let mut begun = WholeFolder { place: absolute, beside, _locks: locks };
        begun._locks.push(lock(&begun.beside, place)?);
        Ok(begun)
    }

    /// The folder in which to write the files.
    pub fn path(&self) -> &Path {
        &self.beside
    }

    /// Keeps a file of the existing folder. It is hard-linked if possible, else copied.
    ///
    /// # Errors
    /// The file does not exist, or the file system refuses.
    pub fn keep(&self, name: &Path) -> Result<(), WholeFolderError> {
        let (from, to) = (self.place.join(name), self.beside.join(name));
        let parent = to.parent().unwrap_or(&self.beside);
        fs::create_dir_all(parent).map_err(at(parent))?;
        let kind = from.symlink_metadata().map_err(at(&from))?.file_type();
        let kept = match kind.is_symlink() {
            true => fs::read_link(&from).and_then(|target| symlink(target, &to)),
            false => fs::hard_link(&from, &to).or_else(|error| match kind.is_file() {
                true => fs::copy(&from, &to).map(drop),
                false => Err(error),
            }),
        };
        kept.map_err(at(&from))
    }

    /// Keeps all existing files that are not the writer's own, such as a `.git` or a `CNAME`.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn keep_others(&self, is_own: impl Fn(&Path) -> bool) -> Result<(), WholeFolderError> {
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let here = self.place.join(&folder);
            let entries = match fs::read_dir(&here) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(at(&here))?,
            };
            if entries.is_empty() {
                let empty = self.beside.join(&folder);
                fs::create_dir_all(&empty).map_err(at(&empty))?;
            }
            for entry in entries {
                let name = folder.join(entry.file_name());
                if entry.file_type().map_err(at(&here))?.is_dir() {
                    folders.push(name);
                } else if !is_own(&name) && self.beside.join(&name).symlink_metadata().is_err() {
                    self.keep(&name)?;
                }
            }
        }
        Ok(())
    }

    /// Flushes the folder and puts it in the place of the existing one.
    ///
    /// # Errors
    /// The file system refuses; the existing folder is unchanged.
    pub fn put(self) -> Result<(), WholeFolderError> {
        let written = File::open(&self.beside).map_err(at(&self.beside))?;
        rustix::fs::syncfs(&written).map_err(|error| at(&self.beside)(error.into()))?;
        let how = match self.place.metadata() {
            Ok(there) => {
                fs::set_permissions(&self.beside, there.permissions()).map_err(at(&self.beside))?;
                RenameFlags::EXCHANGE
            }
            Err(_) => RenameFlags::NOREPLACE,
        };
        match renameat_with(CWD, &self.beside, CWD, &self.place, how) {
            Err(Errno::BUSY | Errno::XDEV) => Err(WholeFolderError::Mounted { place: self.place.clone() }),
            // This file system cannot exchange folders: for an instant there is none at the place.
            Err(Errno::INVAL | Errno::NOSYS) => self.put_in_two_steps().map_err(at(&self.place)),
            put => put.map_err(|error| at(&self.place)(error.into())),
        }
    }

    fn put_in_two_steps(&self) -> io::Result<()> {
        if !self.place.exists() {
            return fs::rename(&self.beside, &self.place);
        }
        let before = self.beside.with_extension("before");
        fs::rename(&self.place, &before)?;
        fs::rename(&self.beside, &self.place).inspect_err(|_| {
            let _there_is_no_other_way = fs::rename(&before, &self.place);
        })?;
        fs::rename(&before, &self.beside)
    }
}

impl Drop for WholeFolder {
    /// Removes the unfinished or the replaced folder.
    fn drop(&mut self) {
        let _the_next_writer_removes_it = fs::remove_dir_all(&self.beside);
    }
}

fn lock(folder: &Path, place: &Path) -> Result<File, WholeFolderError> {
    let file = File::open(folder).map_err(at(folder))?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(WholeFolderError::Busy { place: place.to_owned() }),
        // A file system without locks is no reason to fail.
        Err(fs::TryLockError::Error(_)) | Ok(()) => Ok(file),
    }
}

/// Removes unfinished folders of killed writers: no process holds their locks.
fn remove_left_behind(parent: &Path, start: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let writer = name.to_str().and_then(|name| name.strip_prefix(start)?.strip_suffix(END));
        let is_left = writer.is_some_and(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()))
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_left && let Ok(_lock) = lock(&entry.path(), parent) {
            let _it_does_no_harm = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn text(path: PathBuf) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn what_is_not_put_in_its_place_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("site");
        let half = WholeFolder::begin(&place).unwrap();
        fs::write(half.path().join("index.html"), "half").unwrap();
        drop(half);
        assert_eq!(names(folder.path()), [""; 0], "absent");
        let first = WholeFolder::begin(&place).unwrap();
        fs::write(first.path().join("index.html"), "one").unwrap();
        first.put().unwrap();
        let half = WholeFolder::begin(&place).unwrap();
        fs::write(half.path().join("index.html"), "half").unwrap();
        assert_eq!(text(place.join("index.html")), "one", "while it is written");
        drop(half);
        assert_eq!(
            (text(place.join("index.html")), names(folder.path())),
            ("one".to_owned(), vec!["site".to_owned()])
        );
    }

    #[test]
    fn what_is_put_takes_over_what_it_kept_and_nothing_else_of_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("site");
        for (name, text) in
            [("page", "old"), ("same", "same"), ("CNAME", "example.org"), ("git/HEAD", "main")]
        {
            fs::create_dir_all(place.join(name).parent().unwrap()).unwrap();
            fs::write(place.join(name), text).unwrap();
        }
        fs::create_dir(place.join("empty")).unwrap();
        symlink("CNAME", place.join("link")).unwrap();
        let new = WholeFolder::begin(&place).unwrap();
        new.keep(Path::new("same")).unwrap();
        new.keep_others(|name| [Path::new("page"), Path::new("same")].contains(&name)).unwrap();
        fs::write(new.path().join("other"), "new").unwrap();
        new.put().unwrap();
        assert_eq!(names(&place), ["CNAME", "empty", "git", "link", "other", "same"]);
        assert_eq!(text(place.join("git/HEAD")), "main");
        assert_eq!(fs::read_link(place.join("link")).unwrap(), Path::new("CNAME"));
        assert_eq!(names(folder.path()), ["site"]);
    }

    #[test]
    fn a_folder_has_one_writer_and_the_next_one_removes_what_a_killed_one_left() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("site");
        fs::create_dir(&place).unwrap();
        for left in [".site.4194305.new", ".site.mine.new", ".other.7.new"] {
            fs::create_dir(folder.path().join(left)).unwrap();
        }
        let first = WholeFolder::begin(&place).unwrap();
        let refused = WholeFolder::begin(&place).unwrap_err();
        assert!(matches!(refused, WholeFolderError::Busy { .. }), "{refused}");
        assert!(first.path().exists(), "that of a living writer stays");
        first.put().unwrap();
        assert_eq!(names(folder.path()), [".other.7.new", ".site.mine.new", "site"]);
    }

    #[test]
    fn where_folders_cannot_be_exchanged_they_are_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("site");
        for text_of in ["one", "two"] {
            let new = WholeFolder::begin(&place).unwrap();
            fs::write(new.path().join("page"), text_of).unwrap();
            new.put_in_two_steps().unwrap();
            drop(new);
            assert_eq!(
                (text(place.join("page")), names(folder.path())),
                (text_of.to_owned(), vec!["site".to_owned()])
            );
        }
    }
}
