//! Writes an adopted service: its manifest, its README, and a copy of the entry.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::{AdoptError, Adopted, context::ENTRY};
use tare_service::workspace::link_on_the_way;

/// Folders that no build uses.
const LEFT_OUT: [&str; 4] = [".git", "node_modules", "target", "__pycache__"];

impl Adopted {
    /// The service's folder below `into`.
    pub fn folder(&self, into: &Path) -> PathBuf {
        into.join(&self.language).join(&self.name)
    }

    /// Writes it to `INTO/LANGUAGE/NAME` and returns that folder. A failed attempt is removed.
    ///
    /// # Errors
    /// The folder exists, or cannot be written.
    pub fn write(&self, into: &Path) -> Result<PathBuf, AdoptError> {
        let folder = self.folder(into);
        if folder.symlink_metadata().is_ok() {
            return Err(AdoptError::Taken { path: folder });
        }
        // An absolute path was named by the user; in a relative one a repository may have placed a link.
        let named = into.is_relative().then(|| link_on_the_way(Path::new(""), into)).flatten();
        if let Some(path) = named {
            return Err(AdoptError::Link { path });
        }
        let written = self.put(&folder);
        written.map_err(|source| {
            let _it_was_not_there = fs::remove_dir_all(&folder);
            AdoptError::Write { path: folder.clone(), source }
        })?;
        Ok(folder)
    }

    fn put(&self, folder: &Path) -> io::Result<()> {
        // The copy may lie inside the copied folder.
        let below = folder.strip_prefix(&self.from).ok().and_then(|path| path.components().next());
        let own = below.map(|first| self.from.join(first));
        let entries = list(&self.from)?.into_iter().filter(|path| Some(path) != own.as_ref());
        fs::create_dir_all(folder.join(ENTRY))?;
        for path in entries {
            copy(&path, &folder.join(ENTRY).join(path.file_name().unwrap_or_default()))?;
        }
        for (from, to) in &self.beyond {
            let to = folder.join(to);
            // A link copied with the entry may lead anywhere.
            if let Some(link) = link_on_the_way(folder, &to) {
                return Err(io::Error::other(format!(
                    "{} is a symbolic link, and is not written through",
                    link.display()
                )));
            }
            fs::create_dir_all(to.parent().unwrap_or(folder))?;
            copy(from, &to)?;
        }
        fs::write(folder.join("README.md"), self.readme())?;
        fs::write(folder.join("service.toml"), self.manifest())
    }
}

fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| {
        path.file_name().is_some_and(|name| !LEFT_OUT.iter().any(|left_out| name == *left_out))
    });
    paths.sort();
    Ok(paths)
}

/// Links stay links; anything that is neither file nor folder is left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let kind = from.symlink_metadata()?.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if kind.is_dir() {
        fs::create_dir_all(to)?;
        for path in list(from)? {
            copy(&path, &to.join(path.file_name().unwrap_or_default()))?;
        }
        return Ok(());
    }
    if kind.is_file() { fs::copy(from, to).map(drop) } else { Ok(()) }
}
