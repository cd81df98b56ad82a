//! What the cache has: each thing with its size and its last use. Looking changes nothing.

use std::{
    collections::HashSet,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use ignore::WalkBuilder;
use serde::Serialize;

/// One thing in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheItem {
    pub path: PathBuf,
    /// Bytes on disk.
    pub bytes: u64,
    /// When it was last used, or made.
    pub used: SystemTime,
    /// Whether it was removed just now.
    pub removed: bool,
}

/// A kind of what is in the cache, in the order of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Built services.
    Builds,
    /// Crates that Cargo compiled for several services.
    SharedCrates,
    /// Repositories that manifests name.
    Sources,
    /// Trees of git revisions.
    Revisions,
    /// Catalogues that this program or another version of it unpacked.
    Catalogues,
    /// The command as `make bench` and `make build` compiled it, for other clones.
    Commands,
    /// Runs and records of repositories that cannot be written to. They are never removed.
    Records,
    /// What scripts of Tare's own repository keep here, such as toolchains. It is never removed.
    Other,
}

/// The folders of a cache that others than builds fill.
const CATALOGUES: &str = "catalogues";
const COMMANDS: &str = "commands";
const RECORDS: &str = "repositories";
pub(crate) const OF_BUILDS: [&str; 4] = ["builds", "shared", "sources", "revisions"];

/// A command that began this long ago may still read a catalogue or copy a command.
const IN_USE: Duration = Duration::from_secs(24 * 60 * 60);

/// The other folders below `home`: catalogues and commands last used before `before` are removed, and nothing else is.
pub(crate) fn others(home: &Path, before: Option<SystemTime>) -> io::Result<Vec<(CacheKind, CacheItem)>> {
    let mut found = Vec::new();
    for folder in folders(home)? {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match name {
            CATALOGUES => found.extend(removable(CacheKind::Catalogues, &folder, before)?),
            COMMANDS => found.extend(removable(CacheKind::Commands, &folder, before)?),
            RECORDS => found.push((CacheKind::Records, seen(folder)?)),
            name if OF_BUILDS.contains(&name) => {}
            _ => found.push((CacheKind::Other, seen(folder)?)),
        }
    }
    Ok(found)
}

/// Each folder in `folder`, removed if it was last used before `before`.
fn removable(
    kind: CacheKind,
    folder: &Path,
    before: Option<SystemTime>,
) -> io::Result<Vec<(CacheKind, CacheItem)>> {
    let idle = SystemTime::now().checked_sub(IN_USE);
    let look = |path: PathBuf| {
        let kept = seen(path)?;
        let removed =
            before.is_some_and(|before| kept.used <= before && idle.is_some_and(|idle| kept.used <= idle));
        if removed {
            fs::remove_dir_all(&kept.path)?;
        }
        Ok((kind, CacheItem { removed, ..kept }))
    };
    folders(folder)?.into_iter().map(look).collect()
}

pub(crate) fn seen(path: PathBuf) -> io::Result<CacheItem> {
    let (bytes, used) = (bytes(&path, |_| true)?, fs::metadata(&path)?.modified()?);
    Ok(CacheItem { path, bytes, used, removed: false })
}

/// The folders in a folder, which need not exist.
pub(crate) fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

/// Bytes on disk of the files below `folder` that `counts` accepts. Hard links count once.
pub(crate) fn bytes(folder: &Path, counts: impl Fn(&Path) -> bool) -> io::Result<u64> {
    let mut seen = HashSet::new();
    let mut bytes = 0;
    for entry in WalkBuilder::new(folder).standard_filters(false).build() {
        let entry = entry.map_err(io::Error::other)?;
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        if metadata.is_file() && counts(entry.path()) && seen.insert((metadata.dev(), metadata.ino())) {
            bytes += metadata.blocks() * 512;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &Path, name: &str) -> PathBuf {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "x").unwrap();
        file
    }

    #[test]
    fn catalogues_are_removed_once_they_are_old_and_records_and_toolchains_never() {
        let home = tempfile::tempdir().unwrap();
        for name in [
            "catalogues/old/a",
            "catalogues/new/a",
            "commands/x/tare",
            "repositories/x/runs/r",
            "swift/bin/swiftc",
        ] {
            file(home.path(), name);
        }
        file(home.path(), "builds/x/entry.json");
        file(home.path(), "trust.toml");
        let old = fs::File::open(home.path().join("catalogues/old")).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let survey = |before| {
            let mut found = others(home.path(), before).unwrap();
            found.sort_by(|a, b| (a.0, &a.1.path).cmp(&(b.0, &b.1.path)));
            let name = |kept: &CacheItem| kept.path.file_name().unwrap().to_str().unwrap().to_owned();
            found.iter().map(|(kind, kept)| (*kind, name(kept), kept.removed)).collect::<Vec<_>>()
        };
        let line = |kind, name: &str, removed| (kind, name.to_owned(), removed);
        let all = [
            line(CacheKind::Catalogues, "new", false),
            line(CacheKind::Catalogues, "old", false),
            line(CacheKind::Commands, "x", false),
            line(CacheKind::Records, "repositories", false),
            line(CacheKind::Other, "swift", false),
        ];
        assert_eq!(survey(None), all);
        let removed = survey(Some(SystemTime::now() + Duration::from_secs(60)));
        assert_eq!(removed[..2], [all[0].clone(), line(CacheKind::Catalogues, "old", true)]);
        assert_eq!(survey(None), [&all[..1], &all[2..]].concat());
    }
}
