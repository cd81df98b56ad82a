//! The contents of requests and answers, except bundles.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tare_host::foreign;

use super::route::is_batch;
use crate::{
    batch::{Batch, BatchHead},
    bundle::Committed,
    job::PlannedJob,
    job_list::JobList,
};

/// The version of the protocol: `major.minor`.
const FORMAT: &str = "1.0";

/// The description of a job, which otherwise is in the folder of its batch.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    format: String,
    batch: String,
    head: BatchHead,
    /// The job list, reduced to this job.
    list: String,
    has_bundle: bool,
}

/// The parsed description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignedJob {
    pub batch: String,
    pub head: BatchHead,
    /// The list with this job only.
    pub list: JobList,
    pub has_bundle: bool,
}

impl AssignedJob {
    pub(super) fn of(batch: &Batch, job: &PlannedJob) -> AssignedJob {
        AssignedJob {
            batch: batch.name(),
            head: batch.head.clone(),
            list: JobList { head: batch.list.head.clone(), jobs: vec![job.clone()] },
            has_bundle: batch.has_bundle(job),
        }
    }

    /// The description as text.
    ///
    /// # Errors
    /// None is known: it contains only texts and numbers.
    pub fn text(&self) -> serde_json::Result<String> {
        let AssignedJob { batch, head, list, has_bundle } = self.clone();
        let list = list.text()?;
        serde_json::to_string(&Description { format: FORMAT.to_owned(), batch, head, list, has_bundle })
    }

    /// Parses a received description.
    ///
    /// # Errors
    /// It is no description, or one that this Tare cannot read.
    pub fn parse(bytes: &[u8]) -> Result<AssignedJob, String> {
        /// The version only, because another format may have other keys.
        #[derive(Deserialize)]
        struct DescriptionVersion {
            format: String,
        }
        let DescriptionVersion { format } = foreign::json(bytes).map_err(|error| error.to_string())?;
        if format.split('.').next() != FORMAT.split('.').next() {
            return Err(format!("it speaks format {format:?}, and this tare reads \"{FORMAT}\""));
        }
        let Description { batch, head, list, has_bundle, .. } =
            serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if !is_batch(&batch) {
            return Err(format!("{batch:?} is no name of a batch"));
        }
        let list = JobList::parse(Path::new("its job list"), &list).map_err(|error| error.to_string())?;
        match list.jobs.len() {
            1 => Ok(AssignedJob { batch, head, list, has_bundle }),
            jobs => Err(format!("it gives {jobs} jobs in place of one")),
        }
    }
}

/// The answer to a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub committed: Committed,
}

/// The answer to a request that fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    pub error: String,
}

/// Why a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// It is no request of this protocol.
    Unreadable,
    WrongToken,
    /// There is no such job, or no such certificate.
    NotFound,
    /// Another bundle of the same attempt has arrived.
    Conflict,
    TooLarge,
    /// The received bytes differ from those sent.
    Damaged,
    /// There are too many requests at the same time.
    Busy,
    /// The folder of the batch cannot be written.
    Store,
}

impl RefusalKind {
    pub const ALL: [RefusalKind; 8] = [
        RefusalKind::Unreadable,
        RefusalKind::WrongToken,
        RefusalKind::NotFound,
        RefusalKind::Conflict,
        RefusalKind::TooLarge,
        RefusalKind::Damaged,
        RefusalKind::Busy,
        RefusalKind::Store,
    ];

    pub fn status(self) -> u16 {
        match self {
            RefusalKind::Unreadable => 400,
            RefusalKind::WrongToken => 401,
            RefusalKind::NotFound => 404,
            RefusalKind::Conflict => 409,
            RefusalKind::TooLarge => 413,
            RefusalKind::Damaged => 422,
            RefusalKind::Busy => 503,
            RefusalKind::Store => 507,
        }
    }

    pub fn of_status(status: u16) -> Option<RefusalKind> {
        RefusalKind::ALL.into_iter().find(|kind| kind.status() == status)
    }

    /// Whether a later retry may succeed. Damage may come from the network, and a collector with a wrong
    /// token may be replaced by the right one.
    pub fn is_passing(self) -> bool {
        matches!(
            self,
            RefusalKind::WrongToken | RefusalKind::Damaged | RefusalKind::Busy | RefusalKind::Store
        )
    }
}

/// A request that fails, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    pub kind: RefusalKind,
    pub reason: String,
}

impl Refusal {
    pub fn new(kind: RefusalKind, reason: impl Into<String>) -> Refusal {
        Refusal { kind, reason: reason.into() }
    }

    pub fn body(&self) -> Vec<u8> {
        let refused = Refused { error: self.reason.clone() };
        serde_json::to_vec(&refused).unwrap_or_default()
    }
}
