//! The run folder: `run.json`, `journal.ndjson`, `histograms/ROW/block-NNN.hgrm-v2`, `services/NAME/`. Everything a
//! table is made of is in it, so that it can be copied, compared and read again. The journal is appended to and
//! flushed to the disk record by record: a run that is killed loses at most the slice in flight.
//!
//! Whoever writes the journal holds a lock on it, which the kernel takes back however the writer ends. So a run that goes on
//! is told from one that was cut off, and nobody goes on with a run that is being measured.

pub mod lenient;
pub mod series;

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tare_service::catalogue::file_name;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    campaign::Journal,
    plan::Plan,
    record::{Record, ending},
};
use tare_host::environment::Environment;

/// The version of the run folder's format: `major.minor`.
pub const FORMAT: &str = "1.0";

/// What a run is a run of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Slices in blocks: [`crate::run::campaign`].
    #[default]
    Campaign,
    /// Cells in rounds: [`crate::grid`].
    Grid,
}

/// A plan that stands in the head of a run folder.
pub trait Planned: DeserializeOwned {
    /// What is wrong with a plan that can be read: whoever uses one may rely on its places.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// What it is a plan of.
    const KIND: Kind;
    /// The lines of its journal.
    type Record: DeserializeOwned;
}

impl Planned for Plan {
    const KIND: Kind = Kind::Campaign;
    type Record = Record;
}

/// `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header<P = Plan> {
    /// [`FORMAT`] of the program that wrote it.
    pub format: String,
    /// What it is the head of.
    #[serde(default, skip_serializing_if = "Kind::is_campaign")]
    pub kind: Kind,
    /// Version of Tare.
    pub tare: String,
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    /// What was to be done.
    pub plan: P,
    /// Where it was done.
    pub environment: Environment,
}

impl Kind {
    fn is_campaign(&self) -> bool {
        *self == Kind::Campaign
    }
}

impl<P: Planned> Header<P> {
    /// The head of a run that begins now, by this version of Tare.
    pub fn new(tare: &str, began: String, plan: P, environment: Environment) -> Header<P> {
        Header { format: FORMAT.to_owned(), kind: P::KIND, tare: tare.to_owned(), began, plan, environment }
    }
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
    /// A run of another kind.
    #[error("{}: is the folder of a {found:?}, and not of a {wanted:?}: `tare show` prints either", path.display())]
    Kind {
        /// The folder.
        path: PathBuf,
        /// What it is.
        found: Kind,
        /// What was wanted.
        wanted: Kind,
    },
    /// Not the folder of a series.
    #[error("{}: {reason}", path.display())]
    Series {
        /// Its head.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Another version of the format.
    #[error("{}: the run folder has {}", path.display(), other_format(found))]
    Format {
        /// The folder.
        path: PathBuf,
        /// The version found.
        found: String,
    },
    /// Somebody else writes into it.
    #[error("{}: another tare is measuring into it; wait until it has ended, or stop it", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
}

/// Who only looks whether a journal is locked holds a lock for microseconds; one that is held for longer is a writer's.
const LOOK_MAX: Duration = Duration::from_millis(500);

/// A run folder that is being written.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    journal: File,
}

/// A run folder that was read.
#[derive(Debug, Clone)]
pub struct Kept<P = Plan, R = Record> {
    /// The head.
    pub header: Header<P>,
    /// All whole records, in order.
    pub records: Vec<R>,
    /// What could not be read.
    pub damage: Vec<String>,
    /// Somebody was writing into it when it was read: there will be more.
    pub goes_on: bool,
}

impl Kept {
    /// What a reader is told of a campaign that has no end.
    pub fn without_end(&self) -> Option<&'static str> {
        match (ending(&self.records), self.goes_on) {
            (Some(_), _) => None,
            (None, true) => Some("the run goes on: what is here was measured so far"),
            (None, false) => Some("the run has no end: it was cut off, or it is still going on"),
        }
    }
}

impl RunFolder {
    /// Writes the head and opens the journal. A folder that holds a run already is never written into.
    pub fn create<P: Serialize>(path: &Path, header: &Header<P>) -> Result<RunFolder, FolderError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| FolderError::Io { path, source }
        };
        fs::create_dir_all(path).map_err(at(path))?;
        let head = path.join("run.json");
        let text = serde_json::to_string_pretty(header).map_err(|error| at(&head)(error.into()))?;
        let mut file = File::create_new(&head).map_err(at(&head))?;
        file.write_all((text + "\n").as_bytes()).and_then(|()| file.sync_all()).map_err(at(&head))?;
        let journal = journal_path(path);
        let file = OpenOptions::new().create_new(true).append(true).open(&journal).map_err(at(&journal))?;
        // Nobody else can be writing a file that is new; whoever only looks is soon gone.
        let _ = file.lock();
        Ok(RunFolder { path: path.to_owned(), journal: file })
    }

    /// Opens the journal of a run that was cut off, to go on with it after what was read of it. What was written of a record
    /// that is not whole is taken back: it was never kept. A run that somebody else has gone on with since then is refused.
    pub fn reopen<P, R: DeserializeOwned>(path: &Path, kept: &Kept<P, R>) -> Result<RunFolder, FolderError> {
        let journal = journal_path(path);
        let at = |source| FolderError::Io { path: journal.clone(), source };
        let file = OpenOptions::new().create(true).append(true).open(&journal).map_err(at)?;
        lock(&file, path)?;
        let bytes = fs::read(&journal).map_err(at)?;
        if read_records::<R>(&bytes).0.len() != kept.records.len() {
            return Err(FolderError::Busy { path: path.to_owned() });
        }
        file.set_len(whole(&bytes) as u64).map_err(at)?;
        Ok(RunFolder { path: path.to_owned(), journal: file })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl<R: Serialize> Journal<R> for RunFolder {
    fn append(&mut self, record: &R) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.journal.write_all(&line)?;
        self.journal.sync_data()
    }
}

/// Where the records are.
pub fn journal_path(run: &Path) -> PathBuf {
    run.join("journal.ndjson")
}

/// Whether somebody measures into it now. False where it cannot be told.
pub fn is_being_written(run: &Path) -> bool {
    let journal = File::open(journal_path(run));
    journal.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// A file system without locks is no reason not to measure.
fn lock(journal: &File, run: &Path) -> Result<(), FolderError> {
    let began = Instant::now();
    while let Err(TryLockError::WouldBlock) = journal.try_lock() {
        if began.elapsed() > LOOK_MAX {
            return Err(FolderError::Busy { path: run.to_owned() });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
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

/// What a run folder is a run of.
pub fn kind(path: &Path) -> Result<Kind, FolderError> {
    let value = read_head(path)?;
    let kind = value.get("kind").cloned().map_or(Ok(Kind::default()), serde_json::from_value);
    kind.map_err(|error| FolderError::NotARun { path: path.to_owned(), reason: error.to_string() })
}

/// Reads a run folder. A journal that was cut off or damaged gives the records that are whole, and says what is not.
pub fn read<P: Planned>(path: &Path) -> Result<Kept<P, P::Record>, FolderError> {
    let header = read_header(path)?;
    let (journal, goes_on) = read_journal(path)?;
    let (records, damage) = read_records(&journal);
    Ok(Kept { header, records, damage, goes_on })
}

/// The bytes of the journal, none where there is no such file, and whether somebody was writing it.
fn read_journal(path: &Path) -> Result<(Vec<u8>, bool), FolderError> {
    // Asked first: a run that ends in between is what its records say.
    let goes_on = is_being_written(path);
    let journal = journal_path(path);
    let mut bytes = match fs::read(&journal) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(FolderError::Io { path: journal, source }),
    };
    if goes_on {
        // A line that is being written now is no damage.
        bytes.truncate(whole(&bytes));
    }
    Ok((bytes, goes_on))
}

/// Reads the head alone.
pub fn read_header<P: Planned>(path: &Path) -> Result<Header<P>, FolderError> {
    let found = kind(path)?;
    if found != P::KIND {
        return Err(FolderError::Kind { path: path.to_owned(), found, wanted: P::KIND });
    }
    let not_a_run = |reason: String| FolderError::NotARun { path: path.to_owned(), reason };
    let header: Header<P> =
        serde_json::from_value(read_head(path)?).map_err(|error| not_a_run(error.to_string()))?;
    header.plan.check().map_err(not_a_run)?;
    Ok(header)
}

/// `run.json`, of a format that this program reads.
fn read_head(path: &Path) -> Result<serde_json::Value, FolderError> {
    let not_a_run = |reason: String| FolderError::NotARun { path: path.to_owned(), reason };
    let value = read_json(path)?;
    match value.get("format").and_then(|format| format.as_str()) {
        Some(FORMAT) => Ok(value),
        Some(found) => Err(FolderError::Format { path: path.to_owned(), found: found.to_owned() }),
        None => Err(not_a_run("no \"format\"".to_owned())),
    }
}

/// What is said of a format that is not [`FORMAT`]: who has an older one needs another Tare than who has a newer one.
pub fn other_format(found: &str) -> String {
    let version = |format: &str| -> Option<(u32, u32)> {
        let (major, minor) = format.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let age = match version(found).zip(version(FORMAT)) {
        Some((found, own)) if found > own => "newer than",
        Some((found, own)) if found < own => "older than",
        _ => return format!("format \"{found}\", and this tare reads \"{FORMAT}\""),
    };
    format!("format \"{found}\", {age} \"{FORMAT}\", which this tare reads")
}

/// `run.json` of any format.
fn read_json(path: &Path) -> Result<serde_json::Value, FolderError> {
    let not_a_run = |reason: String| FolderError::NotARun { path: path.to_owned(), reason };
    let text = fs::read_to_string(path.join("run.json")).map_err(|error| not_a_run(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| not_a_run(error.to_string()))
}

/// How many bytes of a journal are whole lines.
pub fn whole(journal: &[u8]) -> usize {
    journal.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

fn read_records<R: DeserializeOwned>(bytes: &[u8]) -> (Vec<R>, Vec<String>) {
    let mut records = Vec::new();
    let (whole, cut) = lines(bytes);
    let mut damage = Vec::new();
    for (number, line) in whole {
        match serde_json::from_slice(line) {
            Ok(record) => records.push(record),
            Err(error) => damage.push(format!("journal.ndjson:{number}: left out: {error}")),
        }
    }
    damage.extend(cut);
    (records, damage)
}

/// The whole lines of a journal, each with its number, and what is said where the last one is not whole.
fn lines(bytes: &[u8]) -> (impl Iterator<Item = (usize, &[u8])>, Vec<String>) {
    let whole = whole(bytes);
    let lines = bytes[..whole].split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty()).map(|(index, line)| (index + 1, line));
    let cut = "journal.ndjson: the last line is not whole: the run was cut off while it wrote".to_owned();
    (lines, if whole < bytes.len() { vec![cut] } else { Vec::new() })
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
            let (read, damage) = read_records::<Record>(&bytes[..cut]);
            let whole = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(read, records[..whole]);
            assert_eq!(damage.is_empty(), cut == 0 || ends.contains(&cut));
        }
    }

    #[test]
    fn a_damaged_line_is_left_out_and_named() {
        let good =
            serde_json::to_string(&Record::Ended { reason: Ending::BlocksMax, elapsed_ns: 1 }).unwrap();
        let (records, damage) =
            read_records::<Record>(format!("{{\"kind\":\"slize\"}}\n{good}\n").as_bytes());
        assert_eq!(records.len(), 1);
        assert!(damage[0].starts_with("journal.ndjson:1: left out: unknown variant"), "{damage:?}");
    }

    #[test]
    fn a_run_goes_on_while_it_has_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let plan = crate::fixture::compared().plan;
        let header = Header::new("0.1.0", String::new(), plan, Environment::default());
        let mut journal = RunFolder::create(path, &header).unwrap();
        let interrupted = Record::Ended { reason: Ending::Interrupted, elapsed_ns: 5 };
        let failed = Record::Failed { block: 0, row: "a".to_owned(), reason: "b".to_owned() };
        let told = || {
            let kept = read::<Plan>(path).unwrap();
            (kept.goes_on, kept.without_end().map(|told| told.split(':').next().unwrap()))
        };
        assert_eq!(told(), (true, Some("the run goes on")));
        journal.append(&interrupted).unwrap();
        assert_eq!(told(), (true, None), "its writer is only about to go");
        // Somebody goes on with it.
        journal.append(&failed).unwrap();
        assert_eq!(told(), (true, Some("the run goes on")));
        journal.journal.write_all(b"{\"kind\":").unwrap();
        assert_eq!(read::<Plan>(path).unwrap().damage, Vec::<String>::new(), "a line that is being written");
        drop(journal);
        assert_eq!(told(), (false, Some("the run has no end")));
        assert_eq!(read::<Plan>(path).unwrap().damage.len(), 1);
    }

    fn kept(records: usize) -> Kept<(), Record> {
        let environment = Environment::default();
        let header = Header {
            format: FORMAT.to_owned(),
            kind: Kind::Campaign,
            tare: String::new(),
            began: String::new(),
            plan: (),
            environment,
        };
        let record = Record::Failed { block: 0, row: "a".to_owned(), reason: "b".to_owned() };
        Kept { header, records: vec![record; records], damage: Vec::new(), goes_on: false }
    }

    #[test]
    fn a_folder_has_one_writer_and_shows_that_it_has_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_being_written(folder.path()), "there is nothing");
        let mut first = RunFolder::create(folder.path(), &kept(0).header).unwrap();
        assert!(is_being_written(folder.path()));
        let refused = RunFolder::reopen(folder.path(), &kept(0)).unwrap_err();
        assert!(matches!(refused, FolderError::Busy { .. }), "{refused}");
        first.append(&kept(1).records[0]).unwrap();
        drop(first);
        assert!(!is_being_written(folder.path()));
        // Read before the other one wrote: what would come next was measured already.
        let refused = RunFolder::reopen(folder.path(), &kept(0)).unwrap_err();
        assert!(matches!(refused, FolderError::Busy { .. }), "{refused}");
        let second = RunFolder::reopen(folder.path(), &kept(1)).unwrap();
        assert!(is_being_written(folder.path()));
        drop(second);
    }

    #[test]
    fn folders_that_are_no_runs_are_refused_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let error = || read::<Plan>(folder.path()).unwrap_err().to_string();
        assert!(error().contains("not a run folder"));
        fs::write(folder.path().join("run.json"), "{\"format\":\"9.0\"}").unwrap();
        assert!(error().ends_with("has format \"9.0\", newer than \"1.0\", which this tare reads"));
        fs::write(folder.path().join("run.json"), "{\"format\":\"0.10\"}").unwrap();
        assert!(error().ends_with("has format \"0.10\", older than \"1.0\", which this tare reads"));
        fs::write(folder.path().join("run.json"), "{\"format\":\"one\"}").unwrap();
        assert!(error().ends_with("has format \"one\", and this tare reads \"1.0\""));
        fs::write(folder.path().join("run.json"), "{\"format\":\"1.0\"}").unwrap();
        assert!(error().contains("missing field"));
    }
}
