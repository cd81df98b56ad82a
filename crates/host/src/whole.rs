//! Files that are written whole or not at all, however the writer ends: beside their place first, flushed to the disk, then
//! renamed. A file that is cut short cannot be read.

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

/// How the names end of files that are not whole yet.
const END: &str = ".new";

/// Writes a file in the place of what is there.
///
/// # Errors
/// If the file system refuses; what was there is still there.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    put(path, bytes.as_ref(), RenameFlags::empty())
}

/// Writes a file where there is none.
///
/// # Errors
/// If there is one, or if the file system refuses.
pub fn write_new(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    put(path, bytes.as_ref(), RenameFlags::NOREPLACE)
}

fn put(path: &Path, bytes: &[u8], how: RenameFlags) -> io::Result<()> {
    let beside = beside(path)?;
    remove_left_behind(&beside);
    let put = File::create(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| rename(&beside, path, how));
    if put.is_err() {
        let _what_there_is_of_it_is_of_no_use = fs::remove_file(&beside);
    }
    put
}

/// Two processes that write the same file write beside it under two names.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?.to_string_lossy();
    Ok(path.with_file_name(format!(".{name}.{}{END}", std::process::id())))
}

/// What writers of the same file left that were killed in the middle of it. That of one that still runs stays.
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
        // A file system that cannot refuse to replace by itself.
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
        let full = || std::os::unix::fs::symlink("/dev/full", beside(&path).unwrap()).unwrap();
        full();
        assert_eq!(write_new(&path, "one").unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(files(), 0);
        write_new(&path, "one").unwrap();
        assert_eq!(write_new(&path, "two").unwrap_err().kind(), ErrorKind::AlreadyExists);
        full();
        write(&path, "three").unwrap_err();
        assert_eq!((fs::read(&path).unwrap(), files()), (b"one".to_vec(), 1));
        write(&path, "three").unwrap();
        assert_eq!((fs::read(&path).unwrap(), files()), (b"three".to_vec(), 1));
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
