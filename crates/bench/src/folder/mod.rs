//! The run folder: `run.json`, `journal.ndjson`, `histograms/ROW/block-NNN.hgrm-v2`, `services/NAME/`. It
//! holds everything that tables need, so it can be copied, compared and read again.
//!
//! The journal is appended to and flushed to disk record by record: a killed run loses at most the slice in
//! flight. A record is complete or absent: each line has a checksum, and a failed write is truncated. Every
//! other file that Tare reads again contains its checksum: see [`tare_host::seal`].
//!
//! The writer of the journal holds a lock, which the kernel releases however the writer ends. So a run in
//! progress differs from one that was cut off, and cannot be resumed meanwhile.

pub mod about;
mod loads;
mod read;
pub mod series;

pub use read::{RunHead, is_readable, other_format, read, read_header, why_none};

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tare_service::catalogue::file_name;

use serde::{Deserialize, Serialize};

use crate::{
    plan::Plan,
    record::{Journal, Record},
};
use tare_base::whole;
use tare_host::{
    environment::Environment,
    foreign,
    seal::{self, BrokenSeal},
    secrets,
};

/// The version of the run folder's format: `major.minor`.
pub const FORMAT: &str = "2.4";

/// Limit for every file except the journal, because run folders may come from untrusted sources.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`] of the program that wrote it.
    pub format: String,
    pub tare: String,
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    pub plan: Plan,
    pub environment: Environment,
}

impl Header {
    /// The head of a new run by this version of Tare.
    pub fn new(tare: &str, began: String, plan: Plan, environment: Environment) -> Header {
        Header { format: FORMAT.to_owned(), tare: tare.to_owned(), began, plan, environment }
    }
}

/// Reasons why a run folder cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: there is no such folder", path.display())]
    NoFolder { path: PathBuf },
    #[error("{}: not a run folder (it has no readable \"run.json\"): {reason}", path.display())]
    NotARun { path: PathBuf, reason: String },
    #[error("{}: {reason}", path.display())]
    Series { path: PathBuf, reason: String },
    #[error("{}: the run folder has {}", path.display(), other_format(found))]
    Format { path: PathBuf, found: String },
    #[error("{}: contains a run already; choose another folder", path.display())]
    HasRun { path: PathBuf },
    #[error("{}: {BrokenSeal}", path.display())]
    Broken { path: PathBuf },
    /// Another process writes into it.
    #[error("{}: another tare is measuring into it; wait until it has ended, or stop it", path.display())]
    Busy { path: PathBuf },
    /// A symbolic link in the folder, as an untrusted repository may contain.
    #[error("{}: is a symbolic link, and a run is written into its own folder alone: remove it", path.display())]
    Link { path: PathBuf },
}

/// A folder that no other Tare process writes into until this is dropped.
#[derive(Debug)]
pub struct Reserved {
    _lock: File,
}

/// Refuses symbolic links inside the folder, because writes through them land elsewhere. The folder itself
/// may be one, since the user named it, and may contain other things, which a run does not touch.
fn refuse_links(folder: &Path) -> Result<(), FolderError> {
    const FOLDERS: [&str; 3] = ["contracts", "histograms", "services"];
    let at = |source| FolderError::Io { path: folder.to_owned(), source };
    let all =
        |folder: &Path| fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(at);
    let mut entries = all(folder)?;
    entries
        .retain(|entry| entry.path().is_symlink() || FOLDERS.iter().any(|name| entry.file_name() == *name));
    while let Some(entry) = entries.pop() {
        let kind = entry.file_type().map_err(at)?;
        if kind.is_symlink() {
            return Err(FolderError::Link { path: entry.path() });
        }
        if kind.is_dir() {
            entries.extend(all(&entry.path())?);
        }
    }
    Ok(())
}

/// Creates the folder of a new run and reserves it, because builds write there before the journal exists.
///
/// # Errors
/// If it holds a run, another process has reserved it, or the file system refuses.
pub fn reserve(path: &Path) -> Result<Reserved, FolderError> {
    let at = |source| FolderError::Io { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(at)?;
    refuse_links(path)?;
    let folder = File::open(path).map_err(at)?;
    lock(&folder, path)?;
    match path.join("run.json").exists() {
        true => Err(FolderError::HasRun { path: path.to_owned() }),
        false => Ok(Reserved { _lock: folder }),
    }
}

/// A reader that tests the lock holds it for microseconds; a lock that lasts longer is a writer's.
const LOOK_MAX: Duration = Duration::from_millis(500);

/// A run folder that is being written.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    journal: File,
    /// Length of its complete lines.
    bytes: u64,
    /// It ends with a partial line that could not be removed.
    is_torn: bool,
}

#[derive(Debug, Clone)]
pub struct StoredRun {
    pub header: Header,
    pub records: Vec<Record>,
    pub damage: Vec<String>,
    /// Another process was still writing when the folder was read.
    pub in_progress: bool,
}

impl StoredRun {
    /// A run that has not begun, or that is followed record by record.
    pub fn beginning(header: &Header) -> StoredRun {
        StoredRun { header: header.clone(), records: Vec::new(), damage: Vec::new(), in_progress: true }
    }

    /// Adds a record, and applies it to the plan.
    pub fn push(&mut self, record: Record) {
        self.header.plan.learn(&record);
        self.records.push(record);
    }
}

impl RunFolder {
    /// Writes the head and opens the journal. Refuses a folder that already holds a run.
    ///
    /// # Errors
    /// If it holds a run, or the file system refuses.
    pub fn create(path: &Path, header: &Header) -> Result<RunFolder, FolderError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| FolderError::Io { path, source }
        };
        fs::create_dir_all(path).map_err(at(path))?;
        let place = path.join("run.json");
        document(header).and_then(|text| whole::write_new(&place, text)).map_err(at(&place))?;
        let journal = journal_path(path);
        let file = OpenOptions::new().create_new(true).append(true).open(&journal).map_err(at(&journal))?;
        // A new file has no other writer; readers hold the lock only briefly.
        let _ = file.lock();
        sync_folder(path).map_err(at(path))?;
        Ok(RunFolder { path: path.to_owned(), journal: file, bytes: 0, is_torn: false })
    }

    /// Reopens the journal of a run that was cut off, to continue after the records of `run`. Removes an
    /// incomplete record. Refuses a run that another process has resumed since.
    ///
    /// # Errors
    /// If another Tare process writes or has written into it, if it has another format, or if the file system
    /// refuses.
    pub fn reopen(path: &Path, run: &StoredRun) -> Result<RunFolder, FolderError> {
        if read::is_newer(&run.header.format) {
            let (path, found) = (path.to_owned(), run.header.format.clone());
            return Err(FolderError::Format { path, found });
        }
        refuse_links(path)?;
        let journal = journal_path(path);
        let at = |source| FolderError::Io { path: journal.clone(), source };
        let file = OpenOptions::new().create(true).append(true).open(&journal).map_err(at)?;
        lock(&file, path)?;
        let bytes = fs::read(&journal).map_err(at)?;
        if read::records(&bytes[..], &run.header.plan).map_err(at)?.0.len() != run.records.len() {
            return Err(FolderError::Busy { path: path.to_owned() });
        }
        let bytes = whole(&bytes) as u64;
        file.set_len(bytes).map_err(at)?;
        Ok(RunFolder { path: path.to_owned(), journal: file, bytes, is_torn: false })
    }

    /// Removes a partially written record.
    fn take_back(&mut self) {
        self.is_torn = self.journal.set_len(self.bytes).is_err();
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Journal for RunFolder {
    fn append(&mut self, record: &Record) -> io::Result<()> {
        if self.is_torn {
            return Err(io::Error::other(
                "the journal ends with a part of a record that cannot be taken back",
            ));
        }
        let mut line = seal::LINE.seal(&*secrets::redact(&serde_json::to_string(record)?));
        line.push(b'\n');
        let written = self.journal.write_all(&line).and_then(|()| self.journal.sync_data());
        match &written {
            Ok(()) => self.bytes += line.len() as u64,
            Err(_) => self.take_back(),
        }
        written
    }
}

/// Replaces the head of a run atomically.
///
/// # Errors
/// If the file system refuses.
pub fn replace_header(run: &Path, header: &Header) -> Result<(), FolderError> {
    let place = run.join("run.json");
    let written = document(header).and_then(|text| whole::write(&place, text));
    written.map_err(|source| FolderError::Io { path: place, source })
}

/// The content of a file: JSON without known secrets, with its checksum.
fn document(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    Ok(seal::DOCUMENT.seal(&*secrets::redact(&text)))
}

/// After a power cut a new file is only found again if its folder was synced too.
fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // Some file systems cannot sync folders.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

pub fn journal_path(run: &Path) -> PathBuf {
    run.join("journal.ndjson")
}

/// Whether a process writes into it now; `false` if unknown.
pub fn is_being_written(run: &Path) -> bool {
    let journal = foreign::open(&journal_path(run));
    journal.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// A file system without locks does not prevent a measurement.
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

/// The folder for a row's output, logs and transcripts.
pub fn service_folder(run: &Path, label: &str) -> PathBuf {
    run.join("services").join(file_name(label))
}

/// The file for a latency histogram. `point` is the rate of an open loop, `None` for closed loops.
pub fn histogram_path(run: &Path, label: &str, block: usize, point: Option<&str>) -> PathBuf {
    let point = point.map(|point| format!("-at-{}", file_name(point))).unwrap_or_default();
    run.join("histograms").join(file_name(label)).join(format!("block-{block:03}{point}.hgrm-v2"))
}

/// Length of the complete lines of a journal.
pub fn whole(journal: &[u8]) -> usize {
    journal.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        record::{Block, EndedRun, Ending, Failed, Pilot, Started, StoppedService},
        sample::Sample,
        sample_agents::DiscardedSlice,
    };
    use proptest::prelude::*;

    fn ended(reason: Ending) -> Record {
        Record::Ended(EndedRun { reason, elapsed_ns: 5 })
    }

    fn failed(row: usize, reason: &str) -> Record {
        Record::Failed(Failed { block: 0, row, reason: reason.to_owned() })
    }

    fn failed_in(block: usize, reason: &str) -> Record {
        Record::Failed(Failed { block, row: 0, reason: reason.to_owned() })
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        use std::os::unix::fs::symlink;
        let (run, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for way in ["journal.ndjson", "services", "services/shop/stderr.log", "histograms/shop"] {
            let link = run.path().join(way);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(elsewhere.path(), &link).unwrap();
            let refused = reserve(run.path()).unwrap_err();
            assert!(matches!(&refused, FolderError::Link { path } if *path == link), "{way}: {refused}");
            fs::remove_file(&link).unwrap();
            let _there_may_be_none = fs::remove_dir_all(run.path().join("services"));
        }
        fs::create_dir_all(run.path().join("node_modules/.bin")).unwrap();
        symlink("../a/cli.js", run.path().join("node_modules/.bin/a")).unwrap();
        reserve(run.path()).expect("links in folders of others are theirs");
    }

    fn any_record() -> impl Strategy<Value = Record> {
        prop_oneof![
            any::<u64>().prop_map(|start_ns| Record::Pilot(Pilot { start_ns, ..Pilot::default() })),
            prop::collection::vec(0..9_usize, 0..4)
                .prop_map(|order| Record::Block(Block { order, ..Block::default() })),
            any::<usize>().prop_map(|block| Record::Started(Started { block, ..Started::default() })),
            (any::<f64>(), any::<u64>()).prop_filter_map("finite", |(rate, sent)| {
                let mut sample = Sample::default();
                (sample.load.offered_per_second, sample.load.sent) = (Some(rate), sent);
                rate.is_finite().then(|| Record::Sample(Box::new(sample)))
            }),
            any::<(bool, bool)>().prop_map(|(is_closed, is_lost)| {
                Record::Discarded(DiscardedSlice { is_closed, is_lost, ..DiscardedSlice::default() })
            }),
            any::<Option<u64>>().prop_map(|rss_bytes_peak| {
                Record::Stopped(StoppedService { rss_bytes_peak, ..StoppedService::default() })
            }),
            // Reasons with hidden characters change when read: see `read/tests.rs`.
            ".*".prop_map(|reason| failed(1, &foreign::visible(&reason))),
            Just(ended(Ending::Complete)),
        ]
    }

    /// Makes the places of all records distinct.
    fn of_row(row: usize, record: Record) -> Record {
        match record {
            Record::Pilot(pilot) => Record::Pilot(Pilot { row, ..pilot }),
            Record::Block(block) => Record::Block(Block { block: row, ..block }),
            Record::Started(started) => Record::Started(Started { row, ..started }),
            Record::Sample(sample) => Record::Sample(Box::new(Sample { row, ..*sample })),
            Record::Discarded(slice) => Record::Discarded(DiscardedSlice { row, ..slice }),
            Record::Stopped(stopped) => Record::Stopped(StoppedService { row, ..stopped }),
            Record::Failed(failed) => Record::Failed(Failed { row, ..failed }),
            Record::Ended(ended) => Record::Ended(ended),
        }
    }

    proptest! {
        #[test]
        fn a_journal_that_was_cut_anywhere_gives_its_whole_records(
            records in prop::collection::vec(any_record(), 0..8),
            share in 0.0..=1.0_f64,
        ) {
            let records: Vec<Record> = (0..).zip(records).map(|(row, record)| of_row(row, record)).collect();
            let (mut bytes, mut ends) = (Vec::new(), Vec::new());
            for record in &records {
                bytes.extend(serde_json::to_vec(record).unwrap());
                bytes.push(b'\n');
                ends.push(bytes.len());
            }
            let cut = (bytes.len() as f64 * share) as usize;
            let (read, damage) = read::records_within(&bytes[..cut], (usize::MAX, usize::MAX)).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let mut expected = records[..whole].to_vec();
            // Only the last of consecutive ends counts.
            expected.dedup();
            prop_assert_eq!(&read, &expected);
            prop_assert_eq!(damage.is_empty(), cut == 0 || ends.contains(&cut));
        }
    }

    #[test]
    fn a_run_goes_on_while_it_has_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let plan = crate::fixture::compared().plan;
        let header = Header::new("0.1.0", String::new(), plan, Environment::default());
        let mut journal = RunFolder::create(path, &header).unwrap();
        let interrupted = ended(Ending::Interrupted);
        let failed = failed(0, "b");
        let told = || {
            let kept = read(path).unwrap();
            (kept.in_progress, crate::record::ending(&kept.records).is_some())
        };
        assert_eq!(told(), (true, false));
        journal.append(&interrupted).unwrap();
        assert_eq!(told(), (true, true), "its writer is only about to go");
        // Another process has resumed it.
        journal.append(&failed).unwrap();
        assert_eq!(told(), (true, false));
        journal.journal.write_all(b"{\"kind\":").unwrap();
        assert_eq!(read(path).unwrap().damage, Vec::<String>::new(), "a line that is being written");
        drop(journal);
        assert_eq!(told(), (false, false));
        assert_eq!(read(path).unwrap().damage.len(), 1);
    }

    #[test]
    fn every_line_is_sealed_and_one_that_was_changed_is_left_out_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut journal = RunFolder::create(path, &kept(0).header).unwrap();
        let records: Vec<Record> =
            [(0, "one"), (1, "two"), (2, "three")].map(|(block, reason)| failed_in(block, reason)).to_vec();
        records.iter().for_each(|record| journal.append(record).unwrap());
        drop(journal);
        let found = read(path).unwrap();
        assert_eq!((&found.records, found.damage), (&records, Vec::<String>::new()));
        let text = fs::read_to_string(journal_path(path)).unwrap();
        fs::write(journal_path(path), text.replace("two", "twu")).unwrap();
        let found = read(path).unwrap();
        assert_eq!(found.records, [records[0].clone(), records[2].clone()]);
        let told = "journal.ndjson: line 2: left out: its checksum is wrong: it was changed after it was written; take it from a copy, or \
             measure again";
        assert_eq!(found.damage, [told]);
    }

    #[test]
    fn a_head_has_its_checksum_in_itself_and_one_that_was_changed_is_refused_and_not_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        drop(RunFolder::create(path, &kept(0).header).unwrap());
        let head = fs::read_to_string(path.join("run.json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&head).unwrap();
        assert_eq!(value["crc32"].as_str().map(str::len), Some(8));
        assert_eq!(read(path).unwrap().damage, [""; 0]);
        let mut other = kept(0).header;
        other.tare = "0.2.0".to_owned();
        replace_header(path, &other).unwrap();
        assert_eq!(read(path).unwrap().header.tare, "0.2.0", "one that was replaced has its own");
        fs::write(path.join("run.json"), head.replace("\"tare\": \"\"", "\"tare\": \"4\"")).unwrap();
        let refused = read(path).unwrap_err();
        assert!(matches!(refused, FolderError::Broken { .. }), "{refused}");
        // A user who edits the file removes the checksum.
        let unsealed = seal::DOCUMENT.unseal(head.as_bytes()).unwrap();
        fs::write(
            path.join("run.json"),
            String::from_utf8_lossy(&unsealed).replace("\"tare\": \"\"", "\"tare\": \"4\""),
        )
        .unwrap();
        assert_eq!(read(path).unwrap().header.tare, "4");
    }

    #[test]
    fn a_run_of_an_older_minor_format_is_read_and_resumed_without_a_word() {
        let folder = tempfile::tempdir().unwrap();
        let mut older = kept(0);
        older.header.format = "2.0".to_owned();
        drop(RunFolder::create(folder.path(), &older.header).unwrap());
        let line = serde_json::to_string(&failed(0, "b")).unwrap() + "\n";
        fs::write(journal_path(folder.path()), &line).unwrap();
        let found = read(folder.path()).unwrap();
        assert_eq!((found.records.len(), found.damage.len()), (1, 0));
        RunFolder::reopen(folder.path(), &found).unwrap().append(&failed_in(1, "c")).unwrap();
        let found = read(folder.path()).unwrap();
        assert_eq!((found.records.len(), found.damage.len()), (2, 0));
        older.header.format = "2.9".to_owned();
        let refused = RunFolder::reopen(folder.path(), &older).unwrap_err();
        assert!(matches!(refused, FolderError::Format { .. }), "{refused}");
    }

    #[test]
    fn after_a_part_of_a_record_that_cannot_be_taken_back_nothing_is_written() {
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut journal = RunFolder { path: "a".into(), journal: full, bytes: 0, is_torn: false };
        assert_eq!(journal.append(&failed(0, "a")).unwrap_err().kind(), io::ErrorKind::StorageFull);
        journal.journal = tempfile::tempfile().unwrap();
        assert!(journal.append(&failed(0, "b")).unwrap_err().to_string().contains("part of a record"));
        assert_eq!(journal.journal.metadata().unwrap().len(), 0);
    }

    fn kept(records: usize) -> StoredRun {
        let environment = Environment::default();
        let header = Header {
            format: FORMAT.to_owned(),
            tare: String::new(),
            began: String::new(),
            plan: crate::fixture::plan(&["a"]),
            environment,
        };
        let record = failed(0, "b");
        StoredRun { header, records: vec![record; records], damage: Vec::new(), in_progress: false }
    }

    #[test]
    fn a_folder_is_reserved_once_and_not_where_there_is_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let first = reserve(&path).unwrap();
        let refused = reserve(&path).unwrap_err();
        assert!(matches!(refused, FolderError::Busy { .. }), "{refused}");
        drop(RunFolder::create(&path, &kept(0).header).unwrap());
        drop(first);
        let refused = reserve(&path).unwrap_err();
        assert!(matches!(refused, FolderError::HasRun { .. }), "{refused}");
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
        // It was read before the other process wrote, so its next record has been measured already.
        let refused = RunFolder::reopen(folder.path(), &kept(0)).unwrap_err();
        assert!(matches!(refused, FolderError::Busy { .. }), "{refused}");
        let second = RunFolder::reopen(folder.path(), &kept(1)).unwrap();
        assert!(is_being_written(folder.path()));
        drop(second);
    }
}
