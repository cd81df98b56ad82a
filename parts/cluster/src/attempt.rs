//! The record that each attempt to run a job writes. An interrupted attempt has no end. A job with such an
//! attempt and no bundle is reported as missing, with the last record.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tare_base::whole;
use tare_host::foreign;

/// The size limit of a record.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The current phase of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Starting,
    Selftest,
    Measuring,
    Storing,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptOutcome {
    /// Its bundle is the one that counts for the job.
    Committed,
    /// Its bundle arrived after that of another attempt.
    KeptAside,
    /// The job had a bundle before the attempt began.
    NotNeeded,
    Failed {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The name given by the engine, unique among the attempts of the job.
    pub attempt: String,
    pub node: String,
    /// The start time in RFC 3339, UTC, by the clock of the node.
    pub began: String,
    pub phase: Phase,
    /// The time when the phase began.
    pub since: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AttemptOutcome>,
}

impl AttemptRecord {
    /// Parses a record.
    ///
    /// # Errors
    /// The bytes are no record.
    pub fn parse(bytes: &[u8]) -> Result<AttemptRecord, String> {
        foreign::json(bytes).map_err(|error| error.to_string())
    }
}

impl Phase {
    pub fn text(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Selftest => "testing the instrument",
            Phase::Measuring => "measuring",
            Phase::Storing => "storing",
        }
    }
}

/// The attempts of one job: one file each, which is rewritten as a whole.
#[derive(Debug, Clone)]
pub struct Attempts {
    folder: PathBuf,
}

impl Attempts {
    pub(crate) fn new(folder: PathBuf) -> Attempts {
        Attempts { folder }
    }

    /// Stores the record of an attempt.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn store(&self, record: &AttemptRecord) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(format!("{}.json", record.attempt));
        whole::write(&path, serde_json::to_string_pretty(record)? + "\n")
    }

    /// All attempts, the oldest first. An unreadable record is left out: records only serve messages.
    pub fn all(&self) -> Vec<AttemptRecord> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let is_whole = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
        let mut all: Vec<AttemptRecord> = paths.filter(is_whole).filter_map(|path| read(&path)).collect();
        all.sort_by(|one, other| (&one.began, &one.attempt).cmp(&(&other.began, &other.attempt)));
        all
    }
}

fn read(path: &Path) -> Option<AttemptRecord> {
    AttemptRecord::parse(&foreign::read(path, FILE_BYTES_MAX).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_listed_in_the_order_in_which_they_began() {
        let folder = tempfile::tempdir().unwrap();
        let attempts = Attempts::new(folder.path().join("job"));
        assert_eq!(attempts.all(), []);
        let record = |attempt: &str, began: &str| AttemptRecord {
            attempt: attempt.to_owned(),
            node: "n1".to_owned(),
            began: began.to_owned(),
            phase: Phase::Starting,
            since: began.to_owned(),
            outcome: None,
        };
        let mut second = record("9.0", "2026-01-02T03:04:06Z");
        attempts.store(&second).unwrap();
        attempts.store(&record("10.0", "2026-01-02T03:04:05Z")).unwrap();
        second.outcome = Some(AttemptOutcome::Failed { reason: "no room".to_owned() });
        attempts.store(&second).unwrap();
        fs::write(folder.path().join("job/torn.json"), "{").unwrap();
        assert_eq!(attempts.all(), [record("10.0", "2026-01-02T03:04:05Z"), second]);
    }
}
