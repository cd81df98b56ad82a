//! The run folder: `run.json`, `journal.ndjson`, `histograms/ROW/block-NNN.hgrm-v2`, `services/NAME/`. Everything a
//! table is made of is in it, so that it can be copied, compared and read again. The journal is appended to and
//! flushed to the disk record by record: a run that is killed loses at most the slice in flight.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{campaign::Journal, environment::Environment, plan::Plan, record::Record};

/// The version of the run folder's format: `major.minor`.
pub const FORMAT: &str = "1.0";

/// `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`] of the program that wrote it.
    pub format: String,
    /// Version of Tare.
    pub tare: String,
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    /// What was to be done.
    pub plan: Plan,
    /// Where it was done.
    pub environment: Environment,
}

/// Why a run folder cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not a run folder.
    #[error("{}: not a run folder (it has no readable \"run.json\"): {reason}", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Another version of the format.
    #[error("{}: the run folder has format \"{found}\", and this tare reads \"{FORMAT}\"", path.display())]
    Format {
        /// The folder.
        path: PathBuf,
        /// The version found.
        found: String,
    },
}

/// A run folder that is being written.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    journal: File,
}

/// A run folder that was read.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The head.
    pub header: Header,
    /// All whole records, in order.
    pub records: Vec<Record>,
    /// What could not be read.
    pub damage: Vec<String>,
}

impl RunFolder {
    /// Writes the head and opens the journal. A folder that holds a run already is never written into.
    pub fn create(path: &Path, header: &Header) -> Result<RunFolder, FolderError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| FolderError::Io { path, source }
        };
        fs::create_dir_all(path).map_err(at(path))?;
        let head = path.join("run.json");
        let text = serde_json::to_string_pretty(header).map_err(|error| at(&head)(error.into()))?;
        let mut file = File::create_new(&head).map_err(at(&head))?;
        file.write_all((text + "\n").as_bytes()).and_then(|()| file.sync_all()).map_err(at(&head))?;
        let journal = path.join("journal.ndjson");
        let file = OpenOptions::new().create_new(true).append(true).open(&journal).map_err(at(&journal))?;
        Ok(RunFolder { path: path.to_owned(), journal: file })
    }

    /// Opens the journal of a run that was cut off, to go on with it. What was written of a record that is not whole is
    /// taken back: it was never kept.
    pub fn reopen(path: &Path) -> Result<RunFolder, FolderError> {
        let journal = path.join("journal.ndjson");
        let open = || {
            let file = OpenOptions::new().create(true).append(true).open(&journal)?;
            let bytes = fs::read(&journal)?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            file.set_len(whole as u64)?;
            Ok(file)
        };
        let journal = open().map_err(|source| FolderError::Io { path: journal.clone(), source })?;
        Ok(RunFolder { path: path.to_owned(), journal })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Journal for RunFolder {
    fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.journal.write_all(&line)?;
        self.journal.sync_data()
    }
}

/// Where a row's output, logs and transcripts go.
pub fn service_folder(run: &Path, label: &str) -> PathBuf {
    run.join("services").join(file_name(label))
}

/// Where a row's latency histogram of one block goes.
/// `point` is the rate of an open loop, none for the closed ones.
pub fn histogram_path(run: &Path, label: &str, block: usize, point: Option<&str>) -> PathBuf {
    let point = point.map(|point| format!("-at-{}", file_name(point))).unwrap_or_default();
    run.join("histograms").join(file_name(label)).join(format!("block-{block:03}{point}.hgrm-v2"))
}

/// Labels hold `:` and `@`, which some file systems and shells dislike.
pub fn file_name(label: &str) -> String {
    label.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '+' }).collect()
}

/// Reads a run folder. A journal that was cut off or damaged gives the records that are whole, and says what is not.
pub fn read(path: &Path) -> Result<Kept, FolderError> {
    let header = read_header(path)?;
    let journal = path.join("journal.ndjson");
    let bytes = match fs::read(&journal) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(FolderError::Io { path: journal, source }),
    };
    let (records, damage) = read_records(&bytes);
    Ok(Kept { header, records, damage })
}

fn read_header(path: &Path) -> Result<Header, FolderError> {
    let not_a_run = |reason: String| FolderError::NotARun { path: path.to_owned(), reason };
    let text = fs::read_to_string(path.join("run.json")).map_err(|error| not_a_run(error.to_string()))?;
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| not_a_run(error.to_string()))?;
    match value.get("format").and_then(|format| format.as_str()) {
        Some(FORMAT) => serde_json::from_value(value).map_err(|error| not_a_run(error.to_string())),
        Some(found) => Err(FolderError::Format { path: path.to_owned(), found: found.to_owned() }),
        None => Err(not_a_run("no \"format\"".to_owned())),
    }
}

fn read_records(bytes: &[u8]) -> (Vec<Record>, Vec<String>) {
    let (mut records, mut damage) = (Vec::new(), Vec::new());
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    for (index, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
        match serde_json::from_slice(line) {
            Ok(record) => records.push(record),
            Err(_) if line.is_empty() => {}
            Err(error) => damage.push(format!("journal.ndjson:{}: left out: {error}", index + 1)),
        }
    }
    if whole < bytes.len() {
        damage.push(
            "journal.ndjson: the last line is not whole: the run was cut off while it wrote".to_owned(),
        );
    }
    (records, damage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::record::Ending;

    #[test]
    fn a_journal_that_was_cut_anywhere_gives_its_whole_records() {
        let records = [
            Record::Block { block: 0, order: vec!["a".to_owned()], elapsed_ns: 0 },
            Record::Failed { block: 0, row: "a".to_owned(), reason: "b\nc".to_owned() },
            Record::Ended { reason: Ending::Interrupted, elapsed_ns: 5 },
        ];
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for record in &records {
            bytes.extend(serde_json::to_vec(record).unwrap());
            bytes.push(b'\n');
            ends.push(bytes.len());
        }
        for cut in 0..=bytes.len() {
            let (read, damage) = read_records(&bytes[..cut]);
            let whole = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(read, records[..whole]);
            assert_eq!(damage.is_empty(), cut == 0 || ends.contains(&cut));
        }
    }

    #[test]
    fn a_damaged_line_is_left_out_and_named() {
        let good =
            serde_json::to_string(&Record::Ended { reason: Ending::BlocksMax, elapsed_ns: 1 }).unwrap();
        let (records, damage) = read_records(format!("{{\"kind\":\"slize\"}}\n{good}\n").as_bytes());
        assert_eq!(records.len(), 1);
        assert!(damage[0].starts_with("journal.ndjson:1: left out: unknown variant"), "{damage:?}");
    }

    #[test]
    fn folders_that_are_no_runs_are_refused_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let error = || read(folder.path()).unwrap_err().to_string();
        assert!(error().contains("not a run folder"));
        fs::write(folder.path().join("run.json"), "{\"format\":\"9.0\"}").unwrap();
        assert!(error().contains("has format \"9.0\", and this tare reads \"1.0\""));
        fs::write(folder.path().join("run.json"), "{\"format\":\"1.0\"}").unwrap();
        assert!(error().contains("missing field"));
    }
}
