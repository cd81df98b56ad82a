//! Reads run folders leniently: unknown fields of a newer minor format and damaged lines are omitted and
//! named, and the rest is read. Another major format is refused.

mod places;

use std::{
    collections::HashSet,
    fs,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tare_host::{
    foreign,
    seal::{self, BrokenSeal},
};

use crate::{
    plan::{Order, Plan, Until},
    record::Place,
};

use self::places::ByReason;
use super::{FILE_BYTES_MAX, FORMAT, FolderError, Header, Record, StoredRun, is_being_written, journal_path};

/// The content of `run.json`, in any format.
#[derive(Debug, Clone)]
pub struct RunHead {
    pub value: Value,
    pub format: String,
}

/// Damage: a record with a row or a point that does not exist.
const FOREIGN: &str = "it names a row or a point that the plan does not have";
const TORN: &str = "journal.ndjson: the last line is not whole: the run was cut off while it wrote";
const TOO_LONG: &str = "it is longer than any record";
/// Records have some hundreds of bytes, and those that quote a service some thousands.
const LINE_BYTES_MAX: u64 = 16 << 20;
const REPEATED: &str = "it repeats a record that is there already";

impl RunHead {
    /// Reads the head of this folder, in any format.
    ///
    /// # Errors
    /// If `run.json` is missing, was changed, is not JSON, or has no format.
    pub fn read(path: &Path) -> Result<RunHead, FolderError> {
        let not_a_run = |reason: String| FolderError::NotARun { path: path.to_owned(), reason };
        if !path.exists() {
            return Err(FolderError::NoFolder { path: path.to_owned() });
        }
        let head = foreign::read(&path.join("run.json"), FILE_BYTES_MAX);
        let head = head.map_err(|error| not_a_run(error.to_string()))?;
        let broken = |_: BrokenSeal| FolderError::Broken { path: path.join("run.json") };
        let head = seal::DOCUMENT.unseal(&head).map_err(broken)?;
        let value = foreign::json_value(&head).map_err(|error| not_a_run(error.to_string()))?;
        let format = value.get("format").and_then(Value::as_str).map(ToOwned::to_owned);
        Ok(RunHead { format: format.ok_or_else(|| not_a_run("no \"format\"".to_owned()))?, value })
    }

    /// The order of its samples; absent if this program does not know it.
    pub fn order(&self) -> Option<Order> {
        self.of_plan("order")
    }

    /// Its stopping rule; absent if this program does not know it.
    pub fn until(&self) -> Option<Until> {
        self.of_plan("until")
    }

    fn of_plan<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        is_readable(&self.format).then_some(())?;
        serde_json::from_value(self.value.get("plan")?.get(key)?.clone()).ok()
    }

    /// The text at these nested keys.
    pub fn text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().try_fold(&self.value, |value, key| value.get(key))?.as_str()
    }

    fn into_header(self, path: &Path) -> Result<(Header, Vec<String>), FolderError> {
        let not_a_run = |reason: String| FolderError::NotARun { path: path.to_owned(), reason };
        if !is_readable(&self.format) {
            return Err(FolderError::Format { path: path.to_owned(), found: self.format });
        }
        let (header, damage) = known::<Header>("run.json", &self.format, self.value).map_err(not_a_run)?;
        header.plan.check().map_err(not_a_run)?;
        Ok((header, damage))
    }
}

/// Reads a run folder.
///
/// # Errors
/// If its head cannot be read or understood, or has another major format.
pub fn read(path: &Path) -> Result<StoredRun, FolderError> {
    let (mut header, mut damage) = RunHead::read(path)?.into_header(path)?;
    if !journal_path(path).exists() {
        damage.push("journal.ndjson is missing: nothing that was measured is left".to_owned());
    }
    let (records, of_journal, in_progress) = read_journal(path, &header.plan)?;
    damage.extend(of_journal);
    records.iter().for_each(|record| header.plan.learn(record));
    Ok(StoredRun { header, records, damage, in_progress })
}

/// Reads only the head.
///
/// # Errors
/// If it cannot be read or understood, or has another major format.
pub fn read_header(path: &Path) -> Result<Header, FolderError> {
    Ok(RunHead::read(path)?.into_header(path)?.0)
}

/// The records of the journal, its damage, and whether it was still being written.
fn read_journal(path: &Path, plan: &Plan) -> Result<(Vec<Record>, Vec<String>, bool), FolderError> {
    // Tested before reading, so that a run that ends in between is complete.
    let in_progress = is_being_written(path);
    let journal = journal_path(path);
    let (records, mut damage) =
        match foreign::open(&journal).and_then(|file| records(BufReader::new(file), plan)) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
            Err(source) => return Err(FolderError::Io { path: journal, source }),
        };
    if in_progress {
        // An unfinished line of a run in progress is no damage.
        damage.retain(|sentence| sentence != TORN);
    }
    Ok((records, damage, in_progress))
}

/// Whether this program reads this format, which needs the same major version.
pub fn is_readable(format: &str) -> bool {
    major(format) == major(FORMAT)
}

fn major(format: &str) -> Option<&str> {
    format.split('.').next()
}

/// How a format differs from [`FORMAT`]: newer and older formats need different advice.
pub fn other_format(found: &str) -> String {
    let age = match version(found).zip(version(FORMAT)) {
        Some((found, own)) if found > own => "newer than",
        Some((found, own)) if found < own => "older than",
        _ => return format!("format \"{found}\", and this tare reads \"{FORMAT}\""),
    };
    format!("format \"{found}\", {age} \"{FORMAT}\", which this tare reads")
}

fn version(format: &str) -> Option<(u32, u32)> {
    let (major, minor) = format.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether the format may have fields that this program does not know, as newer ones do.
pub(super) fn is_newer(format: &str) -> bool {
    version(format).is_none_or(|found| Some(found) > version(FORMAT))
}

/// The value of a head, and the fields that this program omits.
pub(super) fn known<T: DeserializeOwned>(
    file: &str,
    format: &str,
    value: Value,
) -> Result<(T, Vec<String>), String> {
    let mut unknown: Vec<String> = Vec::new();
    let found = serde_ignored::deserialize(value, |path| unknown.push(format!("\"{path}\"")))
        .map_err(|error: serde_json::Error| error.to_string())?;
    let mut damage = Vec::new();
    if is_newer(format) {
        let other = other_format(format);
        damage.push(format!("{file} has {other}: what this tare does not know of it is not shown"));
    }
    if !unknown.is_empty() {
        let plural = if unknown.len() == 1 { "" } else { "s" };
        damage.push(format!("{file}: unknown field{plural} {}: left out", unknown.join(", ")));
    }
    Ok((found, damage))
}

/// Records, and the damage with one sentence per reason. Memory is bounded by distinct records.
pub(super) fn records(journal: impl BufRead, plan: &Plan) -> io::Result<(Vec<Record>, Vec<String>)> {
    records_within(journal, (plan.rows.len(), plan.points.len()))
}

pub(super) fn records_within(
    mut journal: impl BufRead,
    (rows, points): (usize, usize),
) -> io::Result<(Vec<Record>, Vec<String>)> {
    let mut reading = Reading::default();
    let (mut line, mut number, mut is_torn) = (Vec::new(), 0, false);
    loop {
        line.clear();
        number += 1;
        let taken = journal.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if taken == 0 {
            break;
        }
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            is_torn = (taken as u64) < LINE_BYTES_MAX;
            if is_torn {
                break;
            }
            journal.skip_until(b'\n')?;
            reading.left_out.add(TOO_LONG.to_owned(), number);
            continue;
        }
        if !line.is_empty() {
            reading.add(&line, number, (rows, points));
        }
    }
    let mut damage = reading.damage();
    if is_torn {
        damage.push(TORN.to_owned());
    }
    Ok((reading.records, damage))
}

/// The state of reading.
#[derive(Default)]
struct Reading {
    records: Vec<Record>,
    /// Places of the records. Duplicates would count twice in every figure.
    places: HashSet<Place>,
    left_out: ByReason,
    unknown: ByReason,
}

impl Reading {
    fn add(&mut self, line: &[u8], number: usize, within: (usize, usize)) {
        match self.record(line, number, within) {
            Ok(record) => self.keep(record),
            Err(reason) => self.left_out.add(reason, number),
        }
    }

    /// The record of a line, or the reason for omitting it.
    fn record(
        &mut self,
        line: &[u8],
        number: usize,
        (rows, points): (usize, usize),
    ) -> Result<Record, String> {
        let line = seal::LINE.unseal(line).map_err(|error| error.to_string())?;
        // Enums and options are `?` in a path.
        let name = |path: serde_ignored::Path| self.unknown.add(path.to_string().replace("?.", ""), number);
        let record = record(&line, name).map_err(|error| without_place(&error))?;
        if !record.is_within(rows, points) {
            return Err(FOREIGN.to_owned());
        }
        match record.place() {
            Some(place) if !self.places.insert(place) => Err(REPEATED.to_owned()),
            _ => Ok(record),
        }
    }

    /// Adds a record. Of two consecutive ends the later one counts.
    fn keep(&mut self, record: Record) {
        let is_end = |record: &Record| matches!(record, Record::Ended(_));
        if is_end(&record) && self.records.last().is_some_and(is_end) {
            self.records.pop();
        }
        self.records.push(record);
    }

    fn damage(&self) -> Vec<String> {
        let lost = self.left_out.iter().map(|(reason, lines)| match reason {
            Some(reason) => format!("journal.ndjson: {lines}: left out: {reason}"),
            None => format!("journal.ndjson: {lines}: left out for other reasons"),
        });
        let named = self.unknown.iter().map(|(name, lines)| match name {
            Some(name) => format!("journal.ndjson: {lines}: the unknown field \"{name}\" was left out"),
            None => format!("journal.ndjson: {lines}: other unknown fields were left out"),
        });
        lost.chain(named).collect()
    }
}

/// The record of one line; `name` receives its unknown fields.
fn record(line: &[u8], name: impl FnMut(serde_ignored::Path)) -> serde_json::Result<Record> {
    match foreign::hides_something(line) {
        true => serde_ignored::deserialize(foreign::json_value(line)?, name),
        false => serde_ignored::deserialize(&mut serde_json::Deserializer::from_slice(line), name),
    }
}

/// Removes serde_json's line and column, which are meaningless within a single line.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or(text.clone(), ToOwned::to_owned)
}

/// Why a folder cannot be a run at all.
pub fn why_none(path: &Path) -> Option<String> {
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if path.is_file() {
        let parent = path.parent().filter(|parent| parent.join("run.json").is_file());
        let fix = parent.map(|parent| format!(": name its folder, \"{}\"", parent.display()));
        return Some(format!("it is a file, and a run is a folder{}", fix.unwrap_or_default()));
    }
    if !path.exists() {
        return Some("there is no such folder".to_owned());
    }
    is_empty().then(|| "the folder is empty".to_owned())
}

#[cfg(test)]
mod tests;
