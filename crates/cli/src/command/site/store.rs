//! The folder of a site: what was written into it before, and what is new.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Mutex,
};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use tare_host::whole;
use tare_report::{
    site::{RunEntry, Settings},
    write::File,
};

use super::find::Stamp;
use crate::workspace;

/// What the last build knew, in the folder of the site.
const STATE: &str = ".tare-site.json";
/// GitHub Pages leaves out what begins with a stroke otherwise.
const NO_JEKYLL: &str = ".nojekyll";

/// A run as it was read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KnownRun {
    pub(super) stamp: Stamp,
    /// Its own files of the site.
    pub(super) files: Vec<String>,
    pub(super) entry: RunEntry,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    /// What pages look like depends on: this program, title and address.
    made_by: String,
    runs: Vec<KnownRun>,
    files: BTreeSet<String>,
}

#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    made_by: String,
    before: BTreeMap<String, KnownRun>,
    files_before: BTreeSet<String>,
    now: Mutex<Now>,
    /// Held as long as it writes.
    _lock: fs::File,
}

#[derive(Debug, Default)]
struct Now {
    files: BTreeSet<String>,
    written: usize,
}

pub(super) struct Counts {
    pub(super) files: usize,
    pub(super) written: usize,
    pub(super) removed: usize,
}

impl Store {
    /// Of a folder that is new, empty, or a site: others hold what is not ours.
    pub(super) fn open(folder: &Path, settings: &Settings) -> anyhow::Result<Store> {
        let at = || folder.display().to_string();
        let state = folder.join(STATE);
        if !state.exists() && fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            bail!("{}: is not empty, and no site of this command; name a new folder", folder.display());
        }
        fs::create_dir_all(folder).with_context(at)?;
        let lock = fs::File::options().create(true).append(true).open(&state).with_context(at)?;
        ensure!(lock.try_lock().is_ok(), "{}: another `tare site` writes it now", folder.display());
        let made_by = made_by(settings)?;
        // One that cannot be read, or that another program wrote, is made anew.
        let read = fs::read(&state).ok().and_then(|bytes| serde_json::from_slice::<State>(&bytes).ok());
        let State { made_by: before, runs, files } = read.unwrap_or_default();
        let runs = if before == made_by { runs } else { Vec::new() };
        let before = runs.into_iter().map(|known| (known.entry.id.clone(), known)).collect();
        let now = Mutex::default();
        Ok(Store { folder: folder.to_owned(), made_by, before, files_before: files, now, _lock: lock })
    }

    /// The run as it was read before, if nothing of it has changed and its files are still there.
    pub(super) fn known(&self, id: &str, stamp: &Stamp) -> Option<KnownRun> {
        let known = self.before.get(id).filter(|known| known.stamp == *stamp)?;
        if !known.files.iter().all(|file| self.folder.join(file).is_file()) {
            return None;
        }
        let mut now = self.now.lock().expect("no thread panics with the lock");
        now.files.extend(known.files.iter().cloned());
        Some(known.clone())
    }

    /// Writes a file, unless it is there already.
    pub(super) fn put(&self, file: &File) -> anyhow::Result<()> {
        let path = self.folder.join(&file.name);
        let is_new = fs::read(&path).map_or(true, |there| there != file.bytes);
        if is_new {
            write(&path, &file.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let mut now = self.now.lock().expect("no thread panics with the lock");
        now.files.insert(file.name.clone());
        now.written += usize::from(is_new);
        Ok(())
    }

    /// Removes what is of no page any more, and remembers the rest. Of a site that is not `whole` nothing is removed.
    pub(super) fn close(&mut self, runs: Vec<KnownRun>, whole: bool) -> anyhow::Result<Counts> {
        let no_jekyll = File { name: NO_JEKYLL.to_owned(), bytes: Vec::new() };
        self.put(&no_jekyll)?;
        let now = self.now.get_mut().expect("no thread panics with the lock");
        let gone: Vec<String> = self.files_before.difference(&now.files).cloned().collect();
        let mut removed = 0;
        for name in gone.iter().filter(|_| whole) {
            removed += usize::from(remove(&self.folder, name)?);
        }
        let files =
            if whole { now.files.clone() } else { now.files.union(&self.files_before).cloned().collect() };
        let counts = Counts { files: now.files.len(), written: now.written, removed };
        let state = State { made_by: self.made_by.clone(), runs, files };
        let path = self.folder.join(STATE);
        // What a power cut takes away must not be known as written.
        fs::File::open(&self.folder)
            .map(|folder| rustix::fs::syncfs(&folder))
            .with_context(|| path.display().to_string())??;
        whole::write(&path, serde_json::to_vec(&state)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(counts)
    }
}

/// Another program, or other settings, make other pages.
fn made_by(settings: &Settings) -> anyhow::Result<String> {
    let program = workspace::program()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(fs::File::open(&program)?).with_context(|| program.display().to_string())?;
    hasher.update(settings.title.as_bytes()).update(&[0]);
    hasher.update(settings.url.as_deref().unwrap_or_default().as_bytes());
    Ok(hasher.finalize().to_hex().to_string())
}

/// Beside its place first, so that whoever reads the site meanwhile sees a page that is whole.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.new"));
    let written = match fs::write(&beside, bytes) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(path.parent().unwrap_or(path))?;
            fs::write(&beside, bytes)
        }
        other => other,
    };
    let put = written.and_then(|()| fs::rename(&beside, path));
    if put.is_err() {
        let _what_there_is_of_it_is_of_no_use = fs::remove_file(&beside);
    }
    put
}

/// A file of an earlier build, and the folders that it leaves empty. A name that leads elsewhere is no file of a site.
fn remove(folder: &Path, name: &str) -> anyhow::Result<bool> {
    let is_inside = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_inside {
        return Ok(false);
    }
    let path = folder.join(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        other => other.with_context(|| format!("cannot remove {}", path.display()))?,
    }
    let mut parent = path.parent();
    while let Some(empty) = parent.filter(|parent| *parent != folder) {
        if fs::remove_dir(empty).is_err() {
            break;
        }
        parent = empty.parent();
    }
    Ok(true)
}
