//! The collector's side: it handles requests, using the folder of a batch. It knows no sockets.

use std::sync::atomic::{AtomicU64, Ordering};

use tare_host::foreign;

use super::{
    MESSAGE_BYTES_MAX,
    message::{Accepted, AssignedJob, Refusal, RefusalKind},
    proof::{self, Asked, PushKey},
    receive::{Announced, of_store, receive},
    route::{PushRoute, is_batch},
};
use crate::{
    attempt::{AttemptOutcome, AttemptRecord, Phase},
    batch::{Batch, BatchError},
    bundle::{Bundle, BundleHead, Committed},
    certificates::{CertificateFolder, StoredCertificate},
    job::PlannedJob,
};

/// Receives bundles for a batch.
#[derive(Debug)]
pub struct CollectorDesk {
    pub batch: Batch,
    key: PushKey,
    /// The size limit of a bundle.
    bytes_max: u64,
    arrived: AtomicU64,
}

/// A request as received.
#[derive(Debug, Clone, Copy)]
pub struct Presented<'a> {
    pub verb: &'a str,
    pub path: &'a str,
    pub nonce: &'a str,
    pub digest: &'a str,
    pub proof: &'a str,
}

impl CollectorDesk {
    /// # Errors
    /// The batch has no token.
    pub fn new(batch: Batch, bytes_max: u64) -> Result<CollectorDesk, BatchError> {
        let key = PushKey::of(&batch.token()?);
        let name = batch.name();
        if !is_batch(&name) {
            let reason = format!("{name:?} is no name of a batch: rename the folder");
            return Err(BatchError::NotABatch { path: batch.folder, reason });
        }
        Ok(CollectorDesk { batch, key, bytes_max, arrived: AtomicU64::new(0) })
    }

    /// Authenticates a request before anything else is examined.
    ///
    /// # Errors
    /// It is no valid request, or not one of a job of the batch.
    pub fn admit(&self, presented: Presented) -> Result<Asked, Refusal> {
        let Presented { verb, path, nonce, digest, proof } = presented;
        let unreadable = || {
            Refusal::new(
                RefusalKind::Unreadable,
                "this is a collector of tare: it answers jobs of its batch only",
            )
        };
        let route = PushRoute::parse(verb, path).ok_or_else(unreadable)?;
        let asked = Asked::received(route, nonce, digest).ok_or_else(unreadable)?;
        match asked.is_proof(&self.key, proof) {
            true => Ok(asked),
            false => {
                Err(Refusal::new(RefusalKind::WrongToken, "the job does not have the token of this batch"))
            }
        }
    }

    /// The proof that an answer comes from this collector.
    pub fn proof_of_answer(&self, asked: &Asked, status: u16, body: &[u8]) -> String {
        asked.proof_of_answer(&self.key, status, body)
    }

    /// Handles any request except a bundle.
    ///
    /// # Errors
    /// The request fails.
    pub fn answer(&self, asked: &Asked, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        if body.len() > MESSAGE_BYTES_MAX {
            return Err(Refusal::new(RefusalKind::TooLarge, "no message has that size"));
        }
        if proof::digest(body) != asked.digest {
            return Err(Refusal::new(RefusalKind::Damaged, "it is not what was sent"));
        }
        match &asked.route {
            PushRoute::Job { position } => {
                let text = AssignedJob::of(&self.batch, self.job(*position)?).text();
                text.map(String::into_bytes).map_err(|error| of_store(&error.into()))
            }
            PushRoute::Attempt { position, attempt } => self.attempt(self.job(*position)?, attempt, body),
            PushRoute::ReadCertificate { name } => {
                let found = CertificateFolder::of(&self.batch).get_stored(name);
                let none = || Refusal::new(RefusalKind::NotFound, "there is no such certificate");
                serde_json::to_vec(&found.ok_or_else(none)?).map_err(|error| of_store(&error.into()))
            }
            PushRoute::Certificate { name } => self.certificate(name, body),
            PushRoute::Bundle { .. } => {
                Err(Refusal::new(RefusalKind::Unreadable, "a bundle is more than a message"))
            }
        }
    }

    fn job(&self, position: usize) -> Result<&PlannedJob, Refusal> {
        let none =
            || Refusal::new(RefusalKind::NotFound, format!("the batch has no job in place {position}"));
        self.batch.list.jobs.get(position).ok_or_else(none)
    }

    fn attempt(&self, job: &PlannedJob, attempt: &str, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let record = AttemptRecord::parse(body).map_err(unreadable)?;
        if record.attempt != attempt {
            return Err(unreadable("it is another attempt".to_owned()));
        }
        self.batch.attempts(job).store(&record).map_err(|error| of_store(&error))?;
        Ok(b"{}".to_vec())
    }

    fn certificate(&self, name: &str, body: &[u8]) -> Result<Vec<u8>, Refusal> {
        let stored = StoredCertificate::parse(body).map_err(unreadable)?;
        if stored.machine.hash() != name {
            return Err(unreadable("it is that of another machine".to_owned()));
        }
        let put = CertificateFolder::of(&self.batch).put(&stored.machine, stored.certificate);
        put.map_err(|error| of_store(&error))?;
        Ok(b"{}".to_vec())
    }

    /// Whether this bundle has already arrived, so that it need not be sent. Reads the disk.
    ///
    /// # Errors
    /// It belongs to no job, or is too large.
    pub fn is_here(&self, asked: &Asked, bytes: u64) -> Result<bool, Refusal> {
        let PushRoute::Bundle { position, attempt } = &asked.route else { return Ok(false) };
        let job = self.job(*position)?;
        if bytes > self.bytes_max {
            let bytes_max = self.bytes_max;
            return Err(super::unpack::UnpackError::TooLarge { bytes, bytes_max }.into());
        }
        let places = [self.batch.bundle_folder(job), self.batch.later_folder(job, attempt)];
        Ok(places.iter().any(|place| Bundle::open(place).is_ok_and(|there| there.digest == asked.digest)))
    }

    /// Receives a bundle; it must be complete when `chunks` end. Uses the disk as long as chunks arrive.
    ///
    /// # Errors
    /// It is damaged, differs from the announced one, or cannot be stored. Then nothing of it is left.
    pub fn receive<B: AsRef<[u8]>>(
        &self,
        asked: &Asked,
        chunks: impl Iterator<Item = B>,
    ) -> Result<Committed, Refusal> {
        let PushRoute::Bundle { position, attempt } = &asked.route else {
            return Err(unreadable("it is no bundle".to_owned()));
        };
        let job = self.job(*position)?;
        let announced =
            Announced { batch: &self.batch, job, attempt, digest: &asked.digest, bytes_max: self.bytes_max };
        let number = self.arrived.fetch_add(1, Ordering::Relaxed);
        let (committed, head) = receive(announced, number, chunks)?;
        // The bundle counts even if this record cannot be stored.
        if let Some(record) = record(head, committed) {
            let _it_is_only_shown = self.batch.attempts(job).store(&record);
        }
        Ok(committed)
    }

    /// The answer to a bundle that has arrived.
    pub fn accepted(committed: Committed) -> Vec<u8> {
        serde_json::to_vec(&Accepted { committed }).unwrap_or_default()
    }
}

/// The record that an attempt would write itself, but it may end before it gets the answer. `None` if it was
/// written before.
fn record(head: BundleHead, committed: Committed) -> Option<AttemptRecord> {
    let outcome = match committed {
        Committed::First => AttemptOutcome::Committed,
        Committed::Later => AttemptOutcome::KeptAside,
        Committed::AlreadyHere => return None,
    };
    Some(AttemptRecord {
        attempt: head.attempt,
        node: head.node,
        began: head.began,
        phase: Phase::Storing,
        since: head.ended,
        outcome: Some(outcome),
    })
}

fn unreadable(reason: String) -> Refusal {
    Refusal::new(RefusalKind::Unreadable, foreign::quotable(&reason))
}
