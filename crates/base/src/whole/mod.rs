//! Atomic writes of files: a file is written under another name, flushed to disk, then renamed. However the
//! writer ends, a reader never sees a truncated file.

mod folder;

pub use folder::{WholeFolder, WholeFolderError};

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};

/// Suffix of files that are still being written.
const END: &str = ".new";

/// Writes a file, replacing an existing one.
///
/// # Errors
/// The file system refuses; an existing file is unchanged.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    put(path, bytes.as_ref(), RenameFlags::empty())
}

/// Writes a new file.
///
/// # Errors
/// The file exists, or the file system refuses.
pub fn write_new(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    put(path, bytes.as_ref(), RenameFlags::NOREPLACE)
}

/// Writes several files, replacing existing ones. All are first written under other names, so that a full
/// disk leaves every file unchanged.
///
/// # Errors
/// The file system refuses one; its path is returned with the reason.
pub fn write_all(files: &[(PathBuf, &[u8])]) -> Result<(), (PathBuf, io::Error)> {
    let mut written = Vec::new();
    for (path, bytes) in files {
        let at = |error| (path.clone(), error);
        written.push((path, fill_beside(path, |file| flushed(file, bytes)).map_err(at)?));
    }
    written.into_iter().try_for_each(|(path, beside)| {
        beside.put(path, RenameFlags::empty()).map_err(|error| (path.clone(), error))
    })
}

fn put(path: &Path, bytes: &[u8], how: RenameFlags) -> io::Result<()> {
    fill_beside(path, |file| flushed(file, bytes))?.put(path, how)
}

fn flushed(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// A file under its temporary name. It is removed when this is dropped.
struct Beside(PathBuf);

impl Beside {
    fn put(self, path: &Path, how: RenameFlags) -> io::Result<()> {
        rename(&self.0, path, how)
    }
}

impl Drop for Beside {
    /// After the rename this name no longer exists.
    fn drop(&mut self) {
        let _what_there_is_of_it_is_of_no_use = fs::remove_file(&self.0);
    }
}

fn fill_beside(path: &Path, fill: impl FnOnce(File) -> io::Result<()>) -> io::Result<Beside> {
    let beside = beside(path)?;
    remove_left_behind(&beside);
    // In a shared folder another user may have placed a link here: it is not followed.
    let file = match File::create_new(&beside) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(&beside)?;
            File::create_new(&beside)?
        }
        created => created?,
    };
    let beside = Beside(beside);
    fill(file).map(|()| beside)
}

/// The temporary name, which contains the PID: two processes that write one file use two names.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?.to_string_lossy();
    Ok(path.with_file_name(format!(".{name}.{}{END}", std::process::id())))
}

/// Removes temporary files of the same file whose writers were killed. Those of live writers stay.
fn remove_left_behind(beside: &Path) {
    let Some((folder, name)) = beside.parent().zip(beside.file_name().and_then(OsStr::to_str)) else {
        return;
    };
    let Some((start, _)) = name.strip_suffix(END).and_then(|name| name.rsplit_once('.')) else { return };
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file_name = entry.file_name();
        let writer = file_name.to_str().and_then(|name| {
            name.strip_prefix(start)?.strip_prefix('.')?.strip_suffix(END)?.parse::<u32>().ok()
        });
        if writer.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            let _it_does_no_harm = fs::remove_file(entry.path());
        }
    }
}

fn rename(from: &Path, to: &Path, how: RenameFlags) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, how) {
        // Some file systems do not support `RENAME_NOREPLACE`.
        Err(Errno::INVAL) if to.exists() => Err(Errno::EXIST.into()),
        Err(Errno::INVAL) => fs::rename(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_stored_whole_is_not_there_and_what_was_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("head.json");
        let files = || fs::read_dir(folder.path()).unwrap().count();
        let full = |mut file: File| file.write_all(b"ha").and(Err(ErrorKind::StorageFull.into()));
        assert_eq!(fill_beside(&path, full).err().unwrap().kind(), ErrorKind::StorageFull);
        assert_eq!(files(), 0);
        write_new(&path, "one").unwrap();
        assert_eq!(write_new(&path, "two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(fill_beside(&path, full).is_err());
        assert_eq!((fs::read(&path).unwrap(), files()), (b"one".to_vec(), 1));
        write(&path, "three").unwrap();
        assert_eq!((fs::read(&path).unwrap(), files()), (b"three".to_vec(), 1));
    }

    #[test]
    fn of_several_files_none_is_written_where_one_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second, none] = ["a", "b", "none/c"].map(|name| folder.path().join(name));
        fs::write(&first, "before").unwrap();
        let (path, error) =
            write_all(&[(first.clone(), b"1"), (none.clone(), b"2"), (second.clone(), b"3")]).unwrap_err();
        assert_eq!((path, error.kind()), (none, ErrorKind::NotFound));
        assert_eq!(fs::read_to_string(&first).unwrap(), "before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        write_all(&[(first.clone(), b"1"), (second.clone(), b"3")]).unwrap();
        assert_eq!([first, second].map(|path| fs::read_to_string(path).unwrap()), ["1", "3"]);
    }

    #[test]
    fn a_link_that_another_user_laid_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("head.json"), folder.path().join("other"));
        fs::write(&other, "of another").unwrap();
        std::os::unix::fs::symlink(&other, beside(&path).unwrap()).unwrap();
        write(&path, "one").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "of another");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert!(path.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn what_a_killed_writer_left_is_removed_and_what_a_living_one_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut killed = std::process::Command::new("true").spawn().unwrap();
        killed.wait().unwrap();
        let own = folder.path().join(".head.json.1.new");
        let others = [".head.json.one.new", ".tail.json.999999999.new", ".head.json.new", "head.json.5.new"];
        fs::write(&own, "half").unwrap();
        others.iter().for_each(|name| fs::write(folder.path().join(name), "half").unwrap());
        let left = folder.path().join(format!(".head.json.{}.new", killed.id()));
        fs::write(&left, "half").unwrap();
        write(&folder.path().join("head.json"), "whole").unwrap();
        assert!(!left.exists() && own.exists());
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
    }
}
