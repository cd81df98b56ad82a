//! The folder of a site: what was written before, and what is new. The old one remains until the new one is
//! complete.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Component, Path, PathBuf},
    sync::Mutex,
};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use tare_base::whole::WholeFolder;
use tare_report::write::File;

use tare_site::{RunEntry, SiteSettings};

use super::find::Stamp;
use crate::workspace;

/// The state of the last build, in the folder of the site.
const STATE: &str = ".tare-site.json";
/// Without this file GitHub Pages omits names that begin with an underscore.
const NO_JEKYLL: &str = ".nojekyll";

/// A run as it was last read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KnownRun {
    pub(super) stamp: Stamp,
    /// The files that belong to this run only.
    pub(super) files: Vec<String>,
    pub(super) entry: RunEntry,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    /// Everything else that pages depend on: this program, title and address.
    made_by: String,
    runs: Vec<KnownRun>,
    files: BTreeSet<String>,
}

#[derive(Debug)]
pub(super) struct Store {
    /// The old site, until the new one is complete.
    folder: PathBuf,
    new: WholeFolder,
    made_by: String,
    before: BTreeMap<String, KnownRun>,
    files_before: BTreeSet<String>,
    now: Mutex<Now>,
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
    /// Opens a folder that is new, empty, or a site; other folders are refused.
    pub(super) fn open(folder: &Path, settings: &SiteSettings) -> anyhow::Result<Store> {
        let state = folder.join(STATE);
        if !state.exists() && fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            bail!("{}: is not empty, and no site of this command; name a new folder", folder.display());
        }
        let new = WholeFolder::begin(folder)?;
        let made_by = made_by(settings)?;
        // A state that is unreadable, or written by another program, is ignored.
        let read = fs::read(&state).ok().and_then(|bytes| serde_json::from_slice::<State>(&bytes).ok());
        let State { made_by: before, runs, files } = read.unwrap_or_default();
        let runs = if before == made_by { runs } else { Vec::new() };
        let before = runs.into_iter().map(|known| (known.entry.id.clone(), known)).collect();
        Ok(Store {
            folder: folder.to_owned(),
            new,
            made_by,
            before,
            files_before: files,
            now: Mutex::default(),
        })
    }

    /// The run as it was last read, if it is unchanged and its files exist.
    pub(super) fn known(&self, id: &str, stamp: &Stamp) -> Option<KnownRun> {
        let known = self.before.get(id).filter(|known| known.stamp == *stamp)?;
        if !known.files.iter().all(|file| is_inside(file) && self.new.keep(Path::new(file)).is_ok()) {
            return None;
        }
        let mut now = self.now.lock().expect("no thread panics with the lock");
        now.files.extend(known.files.iter().cloned());
        Some(known.clone())
    }

    /// Reuses a file of the old site whose name says what it contains; false if there is none.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_own = self.files_before.contains(name) && is_inside(name);
        let has = is_own && self.new.keep(Path::new(name)).is_ok();
        if has {
            self.now.lock().expect("no thread panics with the lock").files.insert(name.to_owned());
        }
        has
    }

    /// Writes a file, or reuses an identical one of the old site.
    pub(super) fn put(&self, file: &File) -> anyhow::Result<()> {
        let is_new = fs::read(self.folder.join(&file.name)).map_or(true, |there| there != file.bytes);
        match is_new {
            true => self.write(&file.name, &file.bytes)?,
            false => self.new.keep(Path::new(&file.name))?,
        }
        let mut now = self.now.lock().expect("no thread panics with the lock");
        now.files.insert(file.name.clone());
        now.written += usize::from(is_new);
        Ok(())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.new.path().join(name);
        let parent = path.parent().unwrap_or(&path);
        fs::create_dir_all(parent)
            .and_then(|()| fs::File::create_new(&path)?.write_all(bytes))
            .with_context(|| format!("cannot write {name} of the site"))
    }

    /// Replaces the old site, and keeps files of others in the folder. Obsolete pages are dropped.
    pub(super) fn close(self, runs: Vec<KnownRun>) -> anyhow::Result<Counts> {
        self.put(&File { name: NO_JEKYLL.to_owned(), bytes: Vec::new() })?;
        let Now { files, written } = self.now.into_inner().expect("no thread panics with the lock");
        let gone = self.files_before.difference(&files);
        let removed = gone.filter(|name| is_inside(name) && self.folder.join(name).is_file()).count();
        let counts = Counts { files: files.len(), written, removed };
        let is_own = |name: &Path| {
            let name = name.to_string_lossy();
            name == STATE || files.contains(&*name) || self.files_before.contains(&*name)
        };
        self.new.keep_others(is_own)?;
        let state = State { made_by: self.made_by, runs, files: files.clone() };
        let path = self.new.path().join(STATE);
        fs::write(&path, serde_json::to_vec(&state)?).with_context(|| format!("cannot write {STATE}"))?;
        self.new.put()?;
        Ok(counts)
    }
}

/// Rejects names that lead outside of the site, whatever the state file says.
fn is_inside(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Identifies the program and settings: a change makes all pages anew.
fn made_by(settings: &SiteSettings) -> anyhow::Result<String> {
    let program = workspace::program()?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(fs::File::open(&program)?).with_context(|| program.display().to_string())?;
    hasher.update(settings.title.as_bytes()).update(&[0]);
    hasher.update(settings.url.as_deref().unwrap_or_default().as_bytes()).update(&[0]);
    hasher.update(settings.source_url.as_deref().unwrap_or_default().as_bytes());
    Ok(hasher.finalize().to_hex().to_string())
}
