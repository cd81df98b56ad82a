//! The folder of a batch, which all machines share: its jobs, and all that they leave.
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
use tare_host::{foreign, whole};
use tare_service::document::DocumentError;

use crate::{attempt::Attempts, engine_name::EngineName, job::PlannedJob, job_list::JobList};

/// The version of what lies in the folder: `major.minor`.
pub(crate) const FORMAT: &str = "1.0";
/// Nothing that is read here is larger.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The names of folders begin with it into which bundles are written that arrive over the network.
pub(crate) const ARRIVING: &str = "arriving-";

/// The places of the jobs that an engine was given.
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
    #[error("{}: another `tare collect --listen` receives its bundles", path.display())]
    Listening { path: PathBuf },
    #[error("{}: the batch has no token: submit it with --push", path.display())]
    NoToken { path: PathBuf },
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("the jobs cannot be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// How the instrument is tested on a machine before it measures there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Selftest {
    None,
    Quick,
    Full,
    /// These trials alone, in the short form.
    Only(Vec<String>),
}

/// `batch.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchHead {
    /// The version of what lies in the folder.
    pub format: String,
    /// The version of Tare that submitted it.
    pub tare: String,
    /// When it was submitted first, RFC 3339, UTC.
    pub submitted: String,
    pub engine: EngineName,
    /// The command `tare`, as a node finds it.
    pub program: PathBuf,
    /// The repository, as a node finds it.
    pub root: PathBuf,
    /// Words that each command on a node is given, such as `--trust`.
    pub globals: Vec<String>,
    pub selftest: Selftest,
    /// A certificate of a machine is good for this long.
    pub certificate_days: u32,
    /// The collector that jobs push their bundles to; absent if they share this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<String>,
}

impl BatchHead {
    /// Of a new batch.
    pub const FORMAT: &str = FORMAT;
}

/// A batch, and where it lies.
#[derive(Debug, Clone)]
pub struct Batch {
    pub folder: PathBuf,
    pub head: BatchHead,
    pub list: JobList,
}

/// Nothing else submits or cancels jobs of the batch until this is dropped.
#[derive(Debug)]
pub struct BatchLock {
    _file: File,
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BatchError {
    let path = path.to_owned();
    move |source| BatchError::Io { path, source }
}

impl Batch {
    /// The batch of these jobs below `store`. One that is there already is opened, and is submitted as `head` says from now on.
    ///
    /// # Errors
    /// The file system refuses, or what is there is no batch.
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
        // The list first: a batch with a head is whole.
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

    /// The folders within it, which may be there.
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

    /// Reads a batch.
    ///
    /// # Errors
    /// The folder is none, is of another format, or its jobs cannot be read.
    pub fn open(folder: &Path) -> Result<Batch, BatchError> {
        /// Another format may have other keys.
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

    /// Its name, which engines know it by.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// A file system without locks is no reason not to submit: engines are asked what they have already.
    ///
    /// # Errors
    /// Another process has the lock, or the file system refuses.
    pub fn lock(&self) -> Result<BatchLock, BatchError> {
        let path = self.folder.join("lock");
        let file = File::create(&path).map_err(at(&path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(BatchError::Busy { path: self.folder.clone() }),
            Err(TryLockError::Error(_)) | Ok(()) => Ok(BatchLock { _file: file }),
        }
    }

    /// For the process that receives bundles over the network. What one before it left unfinished is removed.
    ///
    /// # Errors
    /// Another process has the lock, or the file system refuses.
    pub fn lock_for_listening(&self) -> Result<BatchLock, BatchError> {
        let path = self.folder.join("listening");
        let file = File::create(&path).map_err(at(&path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(BatchError::Listening { path: self.folder.clone() });
            }
            // Without locks another one may be receiving: what it writes is not touched.
            Err(TryLockError::Error(_)) => {}
            Ok(()) => drop(self.sweep_those(|name| name.starts_with(ARRIVING))?),
        }
        Ok(BatchLock { _file: file })
    }

    fn token_path(&self) -> PathBuf {
        self.folder.join("token")
    }

    /// The secret that its jobs and their collector share. It is made if there is none yet.
    ///
    /// # Errors
    /// It can neither be read nor written.
    pub fn make_token(&self) -> Result<Token, BatchError> {
        match self.token() {
            Err(BatchError::NoToken { .. }) => Ok(Token::create(&self.token_path())?),
            found => found,
        }
    }

    /// The same, of a batch that has one.
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

    /// Whether a bundle of the job has arrived. It is whole, but may be damaged.
    pub fn has_bundle(&self, job: &PlannedJob) -> bool {
        self.bundle_folder(job).is_dir()
    }

    /// Where bundles are written that are not whole yet.
    pub fn incoming(&self) -> PathBuf {
        self.folder.join("incoming")
    }

    /// For a whole bundle of this attempt, which came after another one.
    pub(crate) fn later_folder(&self, job: &PlannedJob, attempt: &str) -> PathBuf {
        self.folder.join("later").join(format!("{}.{attempt}", job.name()))
    }

    pub(crate) fn rejected_folder(&self, job: &PlannedJob, attempt: &str) -> PathBuf {
        self.folder.join("rejected").join(format!("{}.{attempt}", job.name()))
    }

    /// The bundles of a job in `later` or `rejected`, by the names of their attempts.
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

    /// The places of the jobs that an engine was given, as far as that was stored.
    pub(crate) fn submitted(&self) -> BTreeSet<usize> {
        let bytes = foreign::read(&self.folder.join(SUBMITTED), FILE_BYTES_MAX).unwrap_or_default();
        foreign::json(&bytes).unwrap_or_default()
    }

    /// Stores that an engine was given these jobs. Under the lock of the batch.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn add_submitted(&self, positions: &[usize]) -> Result<(), BatchError> {
        let mut all = self.submitted();
        all.extend(positions);
        let path = self.folder.join(SUBMITTED);
        whole::write(&path, serde_json::to_string(&all)? + "\n").map_err(at(&path))
    }

    /// Removes what attempts left that did not end. Bundles, attempts and logs stay.
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
