//! A bundle: the output of one job. It is written to a temporary folder, flushed to disk and renamed. So
//! there is either no bundle or a complete one, however the writer ends. A rename never replaces, so the
//! first complete bundle of a job stays. Each file has a hash, which reveals damage by a file system.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use serde::{Deserialize, Serialize};
use tare_host::{foreign, seal};

use crate::{
    batch::{ARRIVING, Batch},
    job::PlannedJob,
    received::{Received, SharedCpus},
};

/// The version of `bundle.json`: `major.minor`.
const FORMAT: &str = "1.0";
/// The head, which is written last.
pub(crate) const HEAD: &str = "bundle.json";
/// The run folder within a bundle.
const RUN: &str = "run";
/// The size limit of a head, which has room for the hashes of a hundred thousand files.
pub(crate) const HEAD_BYTES_MAX: u64 = 64 << 20;
const CHUNK_BYTES: usize = 1 << 20;

/// Why a bundle cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// The path within the bundle, with slashes.
    pub path: String,
    pub bytes: u64,
    blake3: String,
}

/// The content of `bundle.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BundleHead {
    /// The version of the file.
    pub format: String,
    pub tare: String,
    pub batch: String,
    pub job: PlannedJob,
    pub attempt: String,
    pub node: String,
    /// The start time in RFC 3339, UTC, by the clock of the node.
    pub began: String,
    pub ended: String,
    /// The exit status of the measuring command.
    pub status: i32,
    pub received: Received,
    /// Which CPUs the job shared with others.
    pub shared: Vec<SharedCpus>,
    /// Whether the instrument found every known fault on this machine; `None` if it was not tested.
    pub is_certified: Option<bool>,
    #[serde(default)]
    files: Vec<StoredFile>,
}

impl BundleHead {
    /// The head for an attempt with these times.
    pub fn new(
        batch: &Batch,
        job: &PlannedJob,
        attempt: (&str, &str),
        began: String,
        ended: String,
    ) -> BundleHead {
        BundleHead {
            format: FORMAT.to_owned(),
            tare: batch.head.tare.clone(),
            batch: batch.name(),
            job: job.clone(),
            attempt: attempt.0.to_owned(),
            node: attempt.1.to_owned(),
            began,
            ended,
            status: 0,
            received: Received::default(),
            shared: Vec::new(),
            is_certified: None,
            files: Vec::new(),
        }
    }
}

impl BundleHead {
    /// Parses a head.
    ///
    /// # Errors
    /// The bytes are no head of a bundle, or one of another format.
    pub fn parse(bytes: &[u8]) -> Result<BundleHead, String> {
        let bytes = seal::DOCUMENT.unseal(bytes).map_err(|error| error.to_string())?;
        let head: BundleHead = foreign::json(&bytes).map_err(|error| error.to_string())?;
        match head.format.split('.').next() == FORMAT.split('.').next() {
            true => Ok(head),
            false => {
                Err(format!("the bundle has format {:?}, and this tare reads \"{FORMAT}\"", head.format))
            }
        }
    }

    /// Its files except the head, in the order in which they were written.
    pub fn files(&self) -> &[StoredFile] {
        &self.files
    }

    /// Notes for readers of its figures.
    pub fn findings(&self) -> Vec<String> {
        let certified = match self.is_certified {
            Some(true) => None,
            Some(false) => Some("the instrument missed a known fault on this machine".to_owned()),
            None => Some("the instrument was not tested on this machine".to_owned()),
        };
        let status =
            (self.status != 0).then(|| format!("its command ended with exit status {}", self.status));
        self.shared.iter().map(SharedCpus::text).chain(certified).chain(status).collect()
    }
}

/// Where a bundle was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Committed {
    /// It became the bundle of its job.
    First,
    /// The job had a bundle, so this one is kept aside.
    Later,
    /// The same bundle was there before, because the answer to an earlier push was lost.
    AlreadyHere,
}

/// A bundle being written. Dropping it removes it.
#[derive(Debug)]
pub struct Staging<'b> {
    batch: &'b Batch,
    job: &'b PlannedJob,
    attempt: String,
    folder: PathBuf,
    files: Vec<StoredFile>,
}

pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> BundleError {
    let path = path.to_owned();
    move |source| BundleError::Io { path, source }
}

impl<'b> Staging<'b> {
    /// Starts a bundle of this attempt, and removes an incomplete one with the same name.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn new(batch: &'b Batch, job: &'b PlannedJob, attempt: &str) -> Result<Staging<'b>, BundleError> {
        Staging::in_folder(format!("{}.{attempt}", job.name()), (batch, job), attempt)
    }

    /// Starts a bundle that arrives over the network. The same one may arrive twice at the same time, so each
    /// has a folder of its own.
    ///
    /// # Errors
    /// The file system refuses.
    pub(crate) fn arriving(
        of: (&'b Batch, &'b PlannedJob),
        attempt: &str,
        number: u64,
    ) -> Result<Staging<'b>, BundleError> {
        let own = std::process::id();
        Staging::in_folder(format!("{ARRIVING}{}.{attempt}.{own}.{number}", of.1.name()), of, attempt)
    }

    fn in_folder(
        name: String,
        (batch, job): (&'b Batch, &'b PlannedJob),
        attempt: &str,
    ) -> Result<Staging<'b>, BundleError> {
        let folder = batch.incoming().join(name);
        let _it_was_cut_off = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        Ok(Staging { batch, job, attempt: attempt.to_owned(), folder, files: Vec::new() })
    }

    /// The temporary folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds a file of this name.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn add_file(&mut self, name: &str, bytes: &[u8]) -> Result<(), BundleError> {
        self.copy(&mut &bytes[..], name.to_owned())
    }

    /// Copies a run folder, except links and special files.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn add_run(&mut self, run: &Path) -> Result<(), BundleError> {
        self.add_folder(run, RUN)
    }

    fn add_folder(&mut self, from: &Path, name: &str) -> Result<(), BundleError> {
        let to = self.folder.join(name);
        fs::create_dir_all(&to).map_err(at(&to))?;
        for entry in fs::read_dir(from).map_err(at(from))? {
            let entry = entry.map_err(at(from))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(at(&path))?;
            // Tare writes no file with such a name.
            let Some(name) = entry.file_name().to_str().map(|own| format!("{name}/{own}")) else { continue };
            if kind.is_dir() {
                self.add_folder(&path, &name)?;
            } else if kind.is_file() {
                self.copy(&mut foreign::open(&path).map_err(at(&path))?, name)?;
            }
        }
        sync_folder(&to).map_err(at(&to))
    }

    fn copy(&mut self, from: &mut impl Read, path: String) -> Result<(), BundleError> {
        let place = self.folder.join(&path);
        let mut file = File::create_new(&place).map_err(at(&place))?;
        let mut digest = Digest::default();
        let copied = each_chunk(from, |chunk| {
            digest.add(chunk);
            file.write_all(chunk)
        });
        copied.and_then(|()| file.sync_all()).map_err(at(&place))?;
        self.files.push(digest.of(path));
        Ok(())
    }

    /// Puts the bundle in its place, or aside if the job has one.
    ///
    /// # Errors
    /// The file system refuses; then there is no bundle of this attempt.
    pub fn commit(mut self, head: BundleHead) -> Result<Committed, BundleError> {
        let files = std::mem::take(&mut self.files);
        let text = serde_json::to_string_pretty(&BundleHead { files, ..head });
        let path = self.folder.join(HEAD);
        let text = text.map_err(|error| at(&path)(error.into()))? + "\n";
        self.write_head(&seal::DOCUMENT.seal(text))?;
        self.put_in_place()
    }

    /// Writes the last file of a bundle.
    pub(crate) fn write_head(&self, bytes: &[u8]) -> Result<(), BundleError> {
        let path = self.folder.join(HEAD);
        let written = File::create_new(&path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.and_then(|()| sync_folder(&self.folder)).map_err(at(&path))
    }

    /// Puts a bundle that has its head in its place.
    pub(crate) fn put_in_place(&self) -> Result<Committed, BundleError> {
        let own = self.batch.bundle_folder(self.job);
        let later = self.batch.later_folder(self.job, &self.attempt);
        let digest = Bundle::open(&self.folder)?.digest;
        for (place, committed) in [(&own, Committed::First), (&later, Committed::Later)] {
            if self.put(place)? {
                return Ok(committed);
            }
            if Bundle::open(place).is_ok_and(|there| there.digest == digest) {
                return Ok(Committed::AlreadyHere);
            }
        }
        Err(at(&later)(ErrorKind::AlreadyExists.into()))
    }

    /// Returns false if another bundle is there.
    fn put(&self, place: &Path) -> Result<bool, BundleError> {
        let renamed = rename_new(&self.folder, place);
        let parent = place.parent().unwrap_or(place);
        match renamed {
            Ok(()) => sync_folder(parent).map_err(at(parent)).map(|()| true),
            // On a network file system, a rename may succeed and be reported as failed.
            Err(_) if self.is_at(place) => Ok(true),
            Err(error)
                if [ErrorKind::AlreadyExists, ErrorKind::DirectoryNotEmpty].contains(&error.kind()) =>
            {
                Ok(false)
            }
            Err(error) => Err(at(place)(error)),
        }
    }

    fn is_at(&self, place: &Path) -> bool {
        !self.folder.exists() && Bundle::open(place).is_ok_and(|bundle| bundle.head.attempt == self.attempt)
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        let _what_is_left_is_swept = fs::remove_dir_all(&self.folder);
    }
}

/// Renames a folder, and fails if the target exists.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // For a file system without this operation. A rename never replaces a folder with contents.
        Err(Errno::INVAL | Errno::NOSYS) => fs::rename(from, to),
        renamed => Ok(renamed?),
    }
}

/// Flushes the folder, so that a new name in it survives a power cut.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // The file system does not support it.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

fn each_chunk(from: &mut impl Read, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(bytes) => each(&chunk[..bytes])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[derive(Default)]
struct Digest {
    hasher: blake3::Hasher,
    bytes: u64,
}

impl Digest {
    fn add(&mut self, chunk: &[u8]) {
        self.hasher.update(chunk);
        self.bytes += chunk.len() as u64;
    }

    fn of(self, path: String) -> StoredFile {
        StoredFile { path, bytes: self.bytes, blake3: self.hasher.finalize().to_hex().to_string() }
    }
}

/// A complete bundle, in its place or aside.
#[derive(Debug, Clone)]
pub struct Bundle {
    pub folder: PathBuf,
    pub head: BundleHead,
    /// The hash of its head, which covers all of its files.
    pub digest: String,
}

impl Bundle {
    /// Opens a bundle and reads its head.
    ///
    /// # Errors
    /// There is none, or it has another format.
    pub fn open(folder: &Path) -> Result<Bundle, BundleError> {
        let path = folder.join(HEAD);
        let damaged = |reason: String| BundleError::Damaged { path: path.clone(), reason };
        let bytes = foreign::read(&path, HEAD_BYTES_MAX).map_err(at(&path))?;
        let head = BundleHead::parse(&bytes).map_err(damaged)?;
        Ok(Bundle { folder: folder.to_owned(), digest: blake3::hash(&bytes).to_hex().to_string(), head })
    }

    /// Checks that the bundle belongs to this job, and that no file has changed since it was written.
    ///
    /// # Errors
    /// It belongs to another job, or a file differs, is missing, or is unexpected.
    pub fn check(&self, job: &PlannedJob) -> Result<(), BundleError> {
        let damaged = |reason: String| BundleError::Damaged { path: self.folder.clone(), reason };
        if self.head.job != *job {
            return Err(damaged(format!(
                "it is the bundle of job {}, and not of job {}",
                self.head.job.id, job.id
            )));
        }
        for file in &self.head.files {
            let found = self.digest_of(&file.path)?;
            if found != *file {
                let (path, before, now) = (&file.path, file.bytes, found.bytes);
                return Err(damaged(format!(
                    "{path:?} is not as it was written: it had {before} bytes, and has {now} bytes with other content"
                )));
            }
        }
        let count = count_files(&self.folder).map_err(at(&self.folder))?;
        match count == self.head.files.len() + 1 {
            true => Ok(()),
            false => {
                Err(damaged(format!("it has {count} files, and {} were written", self.head.files.len() + 1)))
            }
        }
    }

    fn digest_of(&self, path: &str) -> Result<StoredFile, BundleError> {
        let is_below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        let place = self.folder.join(path);
        if !is_below {
            return Err(at(&place)(io::Error::new(
                ErrorKind::InvalidInput,
                "a path that leads out of the bundle",
            )));
        }
        let mut digest = Digest::default();
        let read = foreign::open(&place).and_then(|mut file| {
            each_chunk(&mut file, |chunk| {
                digest.add(chunk);
                Ok(())
            })
        });
        read.map_err(at(&place))?;
        Ok(digest.of(path.to_owned()))
    }

    /// Its run folder, which is valid for every command that reads runs.
    pub fn run(&self) -> PathBuf {
        self.folder.join(RUN)
    }
}

/// Counts everything except folders.
fn count_files(folder: &Path) -> io::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        count += match entry.file_type()?.is_dir() {
            true => count_files(&entry.path())?,
            false => 1,
        };
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
