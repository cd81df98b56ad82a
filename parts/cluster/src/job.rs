//! One job: its measurement, its class of machines, its seed; and its identifier, which is derived from them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::list_head::ListHead;

const DIGITS: usize = 16;

/// The identifier of a job: the same for the same work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct JobId(String);

/// A whole run on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedJob {
    pub id: JobId,
    /// The name of its class of machines.
    pub class: String,
    /// The seed of the order of rows and of the values in requests.
    pub seed: u64,
    /// The compared commits, oldest first; empty if the services are measured as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<String>,
}

impl PlannedJob {
    pub(crate) fn new(head: &ListHead, class: &str, seed: u64, revisions: &[String]) -> PlannedJob {
        let id = JobId::of(&[
            "tare job 1",
            &head.content,
            head.service.as_deref().unwrap_or_default(),
            class,
            &seed.to_string(),
            &list(&head.options),
            &list(revisions),
        ]);
        PlannedJob { id, class: class.to_owned(), seed, revisions: revisions.to_vec() }
    }

    /// Whether its identifier matches its content.
    pub(crate) fn is_intact(&self, head: &ListHead) -> bool {
        *self == PlannedJob::new(head, &self.class, self.seed, &self.revisions)
    }

    /// The name of its folders: unique within a batch, and readable.
    pub fn name(&self) -> String {
        format!("{}-{}", self.class, self.id)
    }

    /// The arguments of the command `tare` that measures it.
    pub fn words(&self, head: &ListHead) -> Vec<String> {
        let what = match &head.service {
            Some(service) => [vec!["history".to_owned(), service.clone()], self.revisions.clone()].concat(),
            None => vec!["run".to_owned(), head.experiment.clone()],
        };
        let seed = ["--seed".to_owned(), self.seed.to_string()];
        [&what[..], &head.options, &seed].concat()
    }
}

/// Encodes a list unambiguously.
fn list(words: &[String]) -> String {
    words.iter().map(|word| format!("{}:{word}", word.len())).collect()
}

impl JobId {
    fn of(parts: &[&str]) -> JobId {
        JobId(short_hash(parts))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The hash of a file, which is part of a job's identity.
pub fn content(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The beginning of the hash over texts, in digits that are valid in file names.
pub(crate) fn short_hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..DIGITS].to_owned()
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Validated, because it becomes part of a path.
impl TryFrom<String> for JobId {
    type Error = String;

    fn try_from(text: String) -> Result<JobId, String> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match text.len() == DIGITS && text.bytes().all(is_digit) {
            true => Ok(JobId(text)),
            false => Err(format!(
                "{text:?} is no identifier of a job: it must have {DIGITS} digits of 0 to 9 and a to f"
            )),
        }
    }
}
