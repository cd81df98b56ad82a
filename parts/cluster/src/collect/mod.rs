//! The collector: it checks the bundles of a batch that have arrived. Each is checked once, and a damaged one
//! is replaced by the next complete one of the same job. It can be stopped at any time and restarted, even
//! twice at the same time: each step is a rename that does not replace, or the writing of a whole file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_base::whole;
use tare_host::foreign;

use crate::{
    batch::{Batch, BatchError},
    bundle::{Bundle, BundleError, BundleHead, rename_new},
    job::PlannedJob,
};

/// The file in a rejected bundle with the reason.
const REASON: &str = "rejected.txt";
/// The size limit of a mark, which has some hundred bytes.
const MARK_BYTES_MAX: u64 = 1 << 16;

/// The state of a batch.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// The jobs with a bundle, in the order of the list.
    pub jobs: Vec<CollectedJob>,
    pub rejected: Vec<RejectedBundle>,
    /// The jobs without a complete bundle.
    pub missing: Vec<PlannedJob>,
}

#[derive(Debug, Clone)]
pub struct CollectedJob {
    pub bundle: BundleHead,
    pub run: PathBuf,
    /// Whether it was checked only now.
    pub is_new: bool,
    /// Complete bundles of other attempts of the job, which are never merged.
    pub later: Vec<PathBuf>,
}

/// A bundle that was found damaged, now or before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedBundle {
    pub path: PathBuf,
    pub reason: String,
}

/// Marks that the bundle with this digest was checked.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    digest: String,
}

/// Checks new bundles. `recompute` gets a run folder, and fails if its figures do not follow from its
/// records.
///
/// # Errors
/// The file system refuses. A damaged bundle is no error.
pub fn collect(
    batch: &Batch,
    recompute: &dyn Fn(&Path) -> Result<(), String>,
) -> Result<Collected, BatchError> {
    let mut collected = Collected::default();
    for job in &batch.list.jobs {
        match of_job(batch, job, recompute)? {
            Some(found) => collected.jobs.push(found),
            None => collected.missing.push(job.clone()),
        }
        let reason = |path: &Path| {
            let bytes = foreign::read(&path.join(REASON), MARK_BYTES_MAX).unwrap_or_default();
            foreign::quotable(String::from_utf8_lossy(&bytes).trim())
        };
        let rejected = batch.aside("rejected", job).into_iter();
        collected.rejected.extend(rejected.map(|(_, path)| RejectedBundle { reason: reason(&path), path }));
    }
    Ok(collected)
}

/// The first complete bundle of a job.
fn of_job(
    batch: &Batch,
    job: &PlannedJob,
    recompute: &dyn Fn(&Path) -> Result<(), String>,
) -> Result<Option<CollectedJob>, BatchError> {
    let folder = batch.bundle_folder(job);
    loop {
        if !folder.exists() && !promote(batch, job)? {
            return Ok(None);
        }
        let reason = match Bundle::open(&folder).and_then(|bundle| checked(batch, job, bundle, recompute)) {
            Ok(found) => return Ok(Some(found)),
            Err(BundleError::Damaged { reason, .. }) => reason,
            Err(BundleError::Io { path, source }) if is_of_bundle(&source) => {
                format!("{}: {source}", path.display())
            }
            Err(BundleError::Io { path, source }) => return Err(BatchError::Io { path, source }),
        };
        reject(batch, job, &folder, &reason)?;
    }
}

/// Whether the bundle is at fault, as for a missing or special file, and not the file system.
fn is_of_bundle(error: &io::Error) -> bool {
    [io::ErrorKind::NotFound, io::ErrorKind::InvalidData, io::ErrorKind::InvalidInput].contains(&error.kind())
}

fn checked(
    batch: &Batch,
    job: &PlannedJob,
    bundle: Bundle,
    recompute: &dyn Fn(&Path) -> Result<(), String>,
) -> Result<CollectedJob, BundleError> {
    let path = batch.checked_path(job);
    let mark = foreign::read(&path, MARK_BYTES_MAX).ok().and_then(|bytes| foreign::json::<Mark>(&bytes).ok());
    let is_new = mark.is_none_or(|mark| mark.digest != bundle.digest);
    if is_new {
        bundle.check(job)?;
        let damaged = |reason: String| BundleError::Damaged { path: bundle.folder.clone(), reason };
        is_of_seed(&bundle, job).and_then(|()| recompute(&bundle.run())).map_err(damaged)?;
        let at = |source| BundleError::Io { path: path.clone(), source };
        let text = serde_json::to_string(&Mark { digest: bundle.digest.clone() })
            .map_err(|error| at(error.into()))?;
        whole::write(&path, text + "\n").map_err(at)?;
    }
    let later = batch.aside("later", job).into_iter().map(|(_, path)| path).collect();
    Ok(CollectedJob { run: bundle.run(), is_new, later, bundle: bundle.head })
}

/// Checks that the run is the one that the job requires.
fn is_of_seed(bundle: &Bundle, job: &PlannedJob) -> Result<(), String> {
    let header = tare_bench::folder::read_header(&bundle.run()).map_err(|error| error.to_string())?;
    match header.plan.seed == job.seed {
        true => Ok(()),
        false => Err(format!("its run has seed {}, and the job has seed {}", header.plan.seed, job.seed)),
    }
}

/// Moves the first of the later bundles into the free place.
fn promote(batch: &Batch, job: &PlannedJob) -> Result<bool, BatchError> {
    let Some((_, path)) = batch.aside("later", job).into_iter().next() else { return Ok(false) };
    match rename_new(&path, &batch.bundle_folder(job)) {
        Ok(()) => Ok(true),
        // Another collector was faster.
        Err(_) if batch.has_bundle(job) => Ok(true),
        Err(source) => Err(BatchError::Io { path, source }),
    }
}

fn reject(batch: &Batch, job: &PlannedJob, folder: &Path, reason: &str) -> Result<(), BatchError> {
    let attempt = Bundle::open(folder).map_or_else(|_| "unreadable".to_owned(), |bundle| bundle.head.attempt);
    let is_name = attempt.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    let attempt = if is_name { attempt } else { "unreadable".to_owned() };
    // The next bundle has to be checked again.
    let _there_may_be_none = fs::remove_file(batch.checked_path(job));
    let _it_is_printed_too = fs::write(folder.join(REASON), format!("{reason}\n"));
    let places = (0..1000).map(|number| match number {
        0 => batch.rejected_folder(job, &attempt),
        number => batch.rejected_folder(job, &format!("{attempt}.{number}")),
    });
    let free = places.into_iter().find(|place| !place.exists());
    let place = free.unwrap_or_else(|| batch.rejected_folder(job, &attempt));
    match rename_new(folder, &place) {
        Err(source) if folder.exists() => Err(BatchError::Io { path: folder.to_owned(), source }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
