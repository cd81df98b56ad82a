//! The folder of a batch, which all machines share: its jobs, and the files they leave.
//!
//! ```text
//! batch.json          which engine runs it, and how
//! jobs.ndjson         its jobs; the place of a job in it is what engines know the job by
//! submitted.json      the places of the jobs that the engine was given
//! job.sh              what the engine was given last, if it takes scripts
//! incoming/           bundles that are being written
//! bundles/JOB/        the first whole bundle of each job
//! later/JOB.ATTEMPT/  whole bundles that came after it, and are never merged
//! rejected/JOB.ATTEMPT/  bundles that the collector found to be damaged
//! attempts/JOB/       what each attempt to run a job wrote of itself
//! checked/JOB.json    that the collector has checked the bundle of a job
//! logs/               what the engine wrote of each attempt
//! token               only if jobs push their bundles: the secret that they and the collector share
//! ```

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_agent::{Token, TokenError};
use tare_base::document::DocumentError;
use tare_base::whole;
use tare_host::foreign;

use crate::{attempt::Attempts, engine_name::EngineName, job::PlannedJob, job_list::JobList};

/// The version of the folder's format: `major.minor`.
pub(crate) const FORMAT: &str = "1.0";
/// The size limit of files read here.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The prefix of folders for bundles that arrive over the network.
pub(crate) const ARRIVING: &str = "arriving-";

/// The positions of the submitted jobs.
const SUBMITTED: &str = "submitted.json";

/// Why a batch cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: not the folder of a batch (it has no readable \"batch.json\"): {reason}", path.display())]
    NotABatch { path: PathBuf, reason: String },
    #[error("{}: the batch has format \"{found}\", and this tare reads \"{FORMAT}\"", path.display())]
    Format { path: PathBuf, found: String },
    #[error(transparent)]
    Jobs(#[from] DocumentError),
    #[error("{}: another tare is submitting or cancelling it; wait until it has ended", path.display())]
    Busy { path: PathBuf },
    #[error("{}: another `tare cluster collect --listen` receives its bundles", path.display())]
    Listening { path: PathBuf },
    #[error("{}: the batch has no token: submit it with --push", path.display())]
    NoToken { path: PathBuf },
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("the jobs cannot be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// How the instrument is tested on a machine before its first measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selftest {
    None,
    Quick,
    Full,
    /// Only these trials, in their short form.
    Only(Vec<String>),
}

/// The content of `batch.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchHead {
    /// The version of the folder's format.
    pub format: String,
    /// The version of Tare that submitted the batch.
    pub tare: String,
    /// The time of the first submission, RFC 3339, UTC.
    pub submitted: String,
    pub engine: EngineName,
    /// The path of the command `tare` on a node.
    pub program: PathBuf,
    /// The path of the repository on a node.
    pub root: PathBuf,
    /// Options of each command on a node, such as `--trust`.
    pub globals: Vec<String>,
    pub selftest: Selftest,
    /// How many days a certificate of a machine is valid.
    pub certificate_days: u32,
    /// The collector that jobs push their bundles to; `None` if they share this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<String>,
}

impl BatchHead {
    /// The format version of a new batch.
    pub const FORMAT: &str = FORMAT;
}

#[derive(Debug, Clone)]
pub struct Batch {
    pub folder: PathBuf,
    pub head: BatchHead,
    pub list: JobList,
}

/// A lock: while it exists, no other process submits or cancels jobs of the batch.
#[derive(Debug)]
pub struct BatchLock {
    _file: File,
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BatchError {
    let path = path.to_owned();
    move |source| BatchError::Io { path, source }
}

impl Batch {
    /// Makes the batch of these jobs below `store`, or opens an existing one. From now on it is submitted
    /// with the settings in `head`.
    ///
    /// # Errors
    /// The file system refuses, or the folder exists and is no batch.
    pub fn make(store: &Path, list: JobList, head: BatchHead) -> Result<Batch, BatchError> {
        fs::create_dir_all(store).map_err(at(store))?;
        let store = store.canonicalize().map_err(at(store))?;
        let folder = store.join(list.batch_name());
        let before = match folder.join("batch.json").exists() {
            true => Some(Batch::open(&folder)?),
            false => None,
        };
        let head =
            BatchHead { submitted: before.map_or(head.submitted, |before| before.head.submitted), ..head };
        let batch = Batch { folder, head, list };
        batch.make_folders()?;
        // Write the list first: a batch that has a head is complete.
        let files = [
            ("jobs.ndjson", batch.list.text()?),
            ("batch.json", serde_json::to_string_pretty(&batch.head)? + "\n"),
        ];
        for (name, text) in files {
            let path = batch.folder.join(name);
            whole::write(&path, text).map_err(at(&path))?;
        }
        Ok(batch)
    }

    /// Makes the subfolders, which may exist.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn make_folders(&self) -> Result<(), BatchError> {
        for name in ["incoming", "bundles", "later", "rejected", "attempts", "checked", "logs"] {
            let folder = self.folder.join(name);
            fs::create_dir_all(&folder).map_err(at(&folder))?;
        }
        Ok(())
    }

    /// Opens a batch.
    ///
    /// # Errors
    /// The folder is no batch, has another format, or its jobs cannot be read.
    pub fn open(folder: &Path) -> Result<Batch, BatchError> {
        /// The version only, because another format may have other keys.
        #[derive(Deserialize)]
        struct BatchVersion {
            format: String,
        }
        let no_batch = |reason: String| BatchError::NotABatch { path: folder.to_owned(), reason };
        let bytes = foreign::read(&folder.join("batch.json"), FILE_BYTES_MAX)
            .map_err(|error| no_batch(error.to_string()))?;
        let BatchVersion { format } = foreign::json(&bytes).map_err(|error| no_batch(error.to_string()))?;
        if format.split('.').next() != FORMAT.split('.').next() {
            return Err(BatchError::Format { path: folder.to_owned(), found: format });
        }
        let head: BatchHead = serde_json::from_slice(&bytes).map_err(|error| no_batch(error.to_string()))?;
        let list = JobList::load(&folder.join("jobs.ndjson"))?;
        let folder = folder.canonicalize().map_err(at(folder))?;
        Ok(Batch { folder, head, list })
    }

    /// The name by which engines identify the batch.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Locks the batch. A file system without locks does not prevent it: engines know what was submitted.
    ///
    /// # Errors
    /// Another process holds the lock, or the file system refuses.
    pub fn lock(&self) -> Result<BatchLock, BatchError> {
        let path = self.folder.join("lock");
        let file = File::create(&path).map_err(at(&path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(BatchError::Busy { path: self.folder.clone() }),
            Err(TryLockError::Error(_)) | Ok(()) => Ok(BatchLock { _file: file }),
        }
    }

    /// Locks the batch for the process that receives bundles over the network. Incomplete bundles of an
    /// earlier process are removed.
    ///
    /// # Errors
    /// Another process holds the lock, or the file system refuses.
    pub fn lock_for_listening(&self) -> Result<BatchLock, BatchError> {
        let path = self.folder.join("listening");
        let file = File::create(&path).map_err(at(&path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(BatchError::Listening { path: self.folder.clone() });
            }
            // Without locks another process may be receiving, so its files are not touched.
            Err(TryLockError::Error(_)) => {}
            Ok(()) => drop(self.sweep_those(|name| name.starts_with(ARRIVING))?),
        }
        Ok(BatchLock { _file: file })
    }

    fn token_path(&self) -> PathBuf {
        self.folder.join("token")
    }

    /// The secret shared by its jobs and their collector; it is made if there is none yet.
    ///
    /// # Errors
    /// It can neither be read nor written.
    pub fn make_token(&self) -> Result<Token, BatchError> {
        match self.token() {
            Err(BatchError::NoToken { .. }) => Ok(Token::create(&self.token_path())?),
            found => found,
        }
    }

    /// The secret of a batch that has one.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn token(&self) -> Result<Token, BatchError> {
        let path = self.token_path();
        match path.exists() {
            true => Ok(Token::read(&path)?),
            false => Err(BatchError::NoToken { path: self.folder.clone() }),
        }
    }

    pub fn bundle_folder(&self, job: &PlannedJob) -> PathBuf {
        self.folder.join("bundles").join(job.name())
    }

    /// Whether a bundle of the job has arrived. It is complete, but may be damaged.
    pub fn has_bundle(&self, job: &PlannedJob) -> bool {
        self.bundle_folder(job).is_dir()
    }

    /// The folder for incomplete bundles.
    pub fn incoming(&self) -> PathBuf {
        self.folder.join("incoming")
    }

    /// The folder for a complete bundle of this attempt that arrived after another one.
    pub(crate) fn later_folder(&self, job: &PlannedJob, attempt: &str) -> PathBuf {
        self.folder.join("later").join(format!("{}.{attempt}", job.name()))
    }

    pub(crate) fn rejected_folder(&self, job: &PlannedJob, attempt: &str) -> PathBuf {
        self.folder.join("rejected").join(format!("{}.{attempt}", job.name()))
    }

    /// The bundles of a job in `later` or `rejected`, by attempt.
    pub(crate) fn aside(&self, place: &str, job: &PlannedJob) -> Vec<(String, PathBuf)> {
        let start = format!("{}.", job.name());
        let entries = fs::read_dir(self.folder.join(place)).into_iter().flatten().flatten();
        let mut found: Vec<(String, PathBuf)> = entries
            .filter_map(|entry| {
                Some((entry.file_name().to_str()?.strip_prefix(&start)?.to_owned(), entry.path()))
            })
            .collect();
        found.sort();
        found
    }

    pub(crate) fn checked_path(&self, job: &PlannedJob) -> PathBuf {
        self.folder.join("checked").join(format!("{}.json", job.name()))
    }

    pub fn attempts(&self, job: &PlannedJob) -> Attempts {
        Attempts::new(self.folder.join("attempts").join(job.name()))
    }

    pub fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    /// The positions of the submitted jobs, as far as they were stored.
    pub(crate) fn submitted(&self) -> BTreeSet<usize> {
        let bytes = foreign::read(&self.folder.join(SUBMITTED), FILE_BYTES_MAX).unwrap_or_default();
        foreign::json(&bytes).unwrap_or_default()
    }

    /// Stores that these jobs were submitted. The caller must hold the lock of the batch.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn add_submitted(&self, positions: &[usize]) -> Result<(), BatchError> {
        let mut all = self.submitted();
        all.extend(positions);
        let path = self.folder.join(SUBMITTED);
        whole::write(&path, serde_json::to_string(&all)? + "\n").map_err(at(&path))
    }

    /// Removes incomplete bundles of unfinished attempts. Bundles, attempts and logs stay.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn sweep(&self) -> Result<usize, BatchError> {
        self.sweep_those(|_| true)
    }

    fn sweep_those(&self, is_left: impl Fn(&str) -> bool) -> Result<usize, BatchError> {
        let incoming = self.incoming();
        let entries = fs::read_dir(&incoming).map_err(at(&incoming))?;
        let mut removed = 0;
        let left = entries.flatten().filter(|entry| is_left(&entry.file_name().to_string_lossy()));
        for path in left.map(|entry| entry.path()) {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(at(&path)(error)),
                _ => removed += 1,
            }
        }
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::batch;

    #[test]
    fn a_batch_is_found_again_by_its_jobs() {
        let store = tempfile::tempdir().unwrap();
        let first = batch(store.path(), 2);
        first.add_submitted(&[0, 2]).unwrap();
        let later = BatchHead {
            submitted: "2027-01-01T00:00:00Z".to_owned(),
            certificate_days: 1,
            ..first.head.clone()
        };
        let again = Batch::make(store.path(), first.list.clone(), later).unwrap();
        assert_eq!((&again.folder, &again.head.submitted), (&first.folder, &first.head.submitted));
        assert_eq!(
            Batch::open(&first.folder).unwrap().head.certificate_days,
            1,
            "it is submitted as was asked for last"
        );
        again.add_submitted(&[3]).unwrap();
        assert_eq!(again.submitted().into_iter().collect::<Vec<_>>(), [0, 2, 3]);
        assert_ne!(batch(store.path(), 3).folder, first.folder, "other jobs are another batch");
    }

    #[test]
    fn one_at_a_time_submits() {
        let store = tempfile::tempdir().unwrap();
        let batch = batch(store.path(), 1);
        let lock = batch.lock().unwrap();
        let busy = batch.lock().unwrap_err().to_string();
        assert!(busy.contains("another tare is submitting or cancelling it"), "{busy}");
        drop(lock);
        batch.lock().unwrap();
    }

    #[test]
    fn what_is_no_batch_is_refused_with_a_reason() {
        let store = tempfile::tempdir().unwrap();
        let batch = batch(store.path(), 1);
        let error = || {
            let error = Batch::open(&batch.folder).unwrap_err().to_string();
            error.replace(&batch.folder.display().to_string(), "BATCH")
        };
        let head = batch.folder.join("batch.json");
        let text = fs::read_to_string(&head).unwrap();
        fs::write(&head, text.replacen("\"1.0\"", "\"2.0\"", 1)).unwrap();
        insta::assert_snapshot!(error(), @r#"BATCH: the batch has format "2.0", and this tare reads "1.0""#);
        fs::write(&head, text.replacen("\"slurm\"", "\"nomad\"", 1)).unwrap();
        assert!(error().contains("unknown variant `nomad`"), "{}", error());
        fs::write(&head, "").unwrap();
        assert!(error().contains("not the folder of a batch"), "{}", error());
        fs::write(&head, &text).unwrap();
        fs::write(batch.folder.join("jobs.ndjson"), "{}\n").unwrap();
        insta::assert_snapshot!(error(), @r#"BATCH/jobs.ndjson:1: is no head of a job list: missing field "format""#);
    }
}
