//! Run folders that are not as this program writes them: of a newer minor format, with fields that it does not know, or
//! damaged. For reports, which show what can be shown and say what cannot. Who goes on with a run, or repeats its table to
//! the digit, reads strictly.

use std::{collections::BTreeMap, fs, path::Path};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    FORMAT, FolderError, Kept, Kind, Planned, lines, other_format, read_journal,
    series::{self, SeriesHead},
};

/// What `run.json` holds, whatever it is.
#[derive(Debug, Clone)]
pub struct Head {
    /// As it was read.
    pub value: Value,
    /// The version that it says it has.
    pub format: String,
}

/// What a reader is told of places, before "and so many more".
const PLACES_MAX: usize = 3;

impl Head {
    /// Of this folder. No format at all is no head of a run.
    pub fn read(path: &Path) -> Result<Head, FolderError> {
        let value = super::read_json(path)?;
        let format = value.get("format").and_then(Value::as_str).map(ToOwned::to_owned);
        let none = || FolderError::NotARun { path: path.to_owned(), reason: "no \"format\"".to_owned() };
        Ok(Head { format: format.ok_or_else(none)?, value })
    }

    /// What it is the head of; absent if this program knows no such kind, or not this major version.
    pub fn kind(&self) -> Option<Kind> {
        let kind = self.value.get("kind").cloned();
        (major(&self.format) == major(FORMAT)).then_some(())?;
        kind.map_or(Some(Kind::default()), |kind| serde_json::from_value(kind).ok())
    }

    /// The text at these keys, one within the other.
    pub fn text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().try_fold(&self.value, |value, key| value.get(key))?.as_str()
    }
}

/// Reads what this program knows of a run of its own major format; what it does not know is left out and named.
pub fn read<P: Planned>(path: &Path, head: &Head) -> Result<Kept<P, P::Record>, FolderError> {
    let mut damage = Vec::new();
    if head.format != FORMAT {
        let other = other_format(&head.format);
        damage.push(format!("run.json has {other}: what this tare does not know of it is not shown"));
    }
    let not_a_run = |reason: String| FolderError::NotARun { path: path.to_owned(), reason };
    let (header, unknown) = known::<super::Header<P>>(&head.value).map_err(not_a_run)?;
    header.plan.check().map_err(not_a_run)?;
    if !unknown.is_empty() {
        damage.push(format!("run.json: {}: left out", fields(&unknown)));
    }
    let journal = path.join("journal.ndjson");
    if !journal.exists() {
        damage.push("journal.ndjson is missing: nothing that was measured is left".to_owned());
    }
    let (journal, goes_on) = read_journal(path)?;
    let (records, of_journal) = read_records(&journal);
    damage.extend(of_journal);
    Ok(Kept { header, records, damage, goes_on })
}

/// The head of a series, as far as this program knows it, and what it does not: names that are paths are left out.
pub fn series(folder: &Path) -> Result<(SeriesHead, Vec<String>), FolderError> {
    let path = series::head_path(folder);
    let wrong = |reason: String| FolderError::Series { path: path.clone(), reason };
    let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let (mut head, unknown) = known::<SeriesHead>(&value).map_err(wrong)?;
    let mut damage = Vec::new();
    if head.format != FORMAT {
        let other = other_format(&head.format);
        if major(&head.format) != major(FORMAT) {
            return Err(wrong(format!("has {other}")));
        }
        damage.push(format!("series.json has {other}: what this tare does not know of it is not shown"));
    }
    if !unknown.is_empty() {
        damage.push(format!("series.json: {}: left out", fields(&unknown)));
    }
    let refused = head.members.iter().filter_map(|name| series::why_no_name(name));
    damage.extend(refused.map(|reason| format!("series.json {reason}: left out")));
    head.members.retain(|name| series::why_no_name(name).is_none());
    Ok((head, damage))
}

fn major(format: &str) -> Option<&str> {
    format.split('.').next()
}

/// Names of fields, and how often each was met.
type Unknown = BTreeMap<String, usize>;

fn fields(unknown: &Unknown) -> String {
    let names: Vec<String> = unknown.keys().map(|name| format!("\"{name}\"")).collect();
    format!("unknown field{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
}

/// A value without the fields that `T` does not know; these by name.
fn known<T: DeserializeOwned>(value: &Value) -> Result<(T, Unknown), String> {
    let mut value = value.clone();
    let mut unknown = Unknown::new();
    loop {
        let error = match T::deserialize(&value) {
            Ok(found) => return Ok((found, unknown)),
            Err(error) => error.to_string(),
        };
        let Some(name) = unknown_field(&error) else { return Err(error) };
        let taken = take_out::<T>(&mut value, &name);
        if taken == 0 {
            return Err(error);
        }
        *unknown.entry(name).or_default() += taken;
    }
}

/// The name in serde's words for a field that a type denies: it tells no place.
fn unknown_field(error: &str) -> Option<String> {
    let name = error.strip_prefix("unknown field `")?;
    Some(name.split_once('`')?.0.to_owned())
}

/// Takes a field out of where it is not known, and leaves it where it is: the same name may be known elsewhere. Says from
/// how many places.
fn take_out<T: DeserializeOwned>(value: &mut Value, name: &str) -> usize {
    let mut shapes = Vec::new();
    shapes_with(value, name, &mut Vec::new(), &mut shapes);
    let is_denied = |value: &Value| {
        T::deserialize(value)
            .err()
            .is_some_and(|error| unknown_field(&error.to_string()).as_deref() == Some(name))
    };
    for shape in &shapes {
        let mut without = value.clone();
        let taken = remove(&mut without, shape, name);
        if !is_denied(&without) && !is_missing::<T>(&without, name) {
            *value = without;
            return taken;
        }
    }
    // In several places at once.
    shapes.iter().map(|shape| remove(value, shape, name)).sum()
}

fn is_missing<T: DeserializeOwned>(value: &Value, name: &str) -> bool {
    T::deserialize(value).err().is_some_and(|error| error.to_string() == format!("missing field `{name}`"))
}

/// The places of objects with this field, as keys from the top; all items of an array are one place.
fn shapes_with(value: &Value, name: &str, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(object) => {
            if object.contains_key(name) && !found.contains(at) {
                found.push(at.clone());
            }
            for (key, value) in object {
                at.push(key.clone());
                shapes_with(value, name, at, found);
                at.pop();
            }
        }
        Value::Array(items) => items.iter().for_each(|item| shapes_with(item, name, at, found)),
        _ => {}
    }
}

/// Removes a field from all objects of a shape; says from how many.
fn remove(value: &mut Value, shape: &[String], name: &str) -> usize {
    match (value, shape.split_first()) {
        (Value::Array(items), _) => items.iter_mut().map(|item| remove(item, shape, name)).sum(),
        (Value::Object(object), None) => usize::from(object.shift_remove(name).is_some()),
        (Value::Object(object), Some((key, rest))) => {
            object.get_mut(key).map_or(0, |value| remove(value, rest, name))
        }
        _ => 0,
    }
}

/// Records, and what could not be read, a sentence for each reason rather than for each line.
fn read_records<R: DeserializeOwned>(bytes: &[u8]) -> (Vec<R>, Vec<String>) {
    let mut records = Vec::new();
    let mut unknown: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut left_out: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (whole, mut damage) = lines(bytes);
    for (number, line) in whole {
        let read = match serde_json::from_slice::<R>(line) {
            Ok(record) => Ok(record),
            Err(error) => again(line, error.to_string()).map(|(record, fields)| {
                fields.into_keys().for_each(|name| unknown.entry(name).or_default().push(number));
                record
            }),
        };
        match read {
            Ok(record) => records.push(record),
            Err(reason) => left_out.entry(without_place(&reason)).or_default().push(number),
        }
    }
    let named = unknown.iter().map(|(name, numbers)| {
        format!("journal.ndjson: {}: the unknown field \"{name}\" was left out", places(numbers))
    });
    let lost = left_out
        .iter()
        .map(|(reason, numbers)| format!("journal.ndjson: {}: left out: {reason}", places(numbers)));
    let all: Vec<String> = lost.chain(named).collect();
    damage.splice(0..0, all);
    (records, damage)
}

/// A line that could not be read for this reason, without the fields that are not known.
fn again<R: DeserializeOwned>(line: &[u8], error: String) -> Result<(R, Unknown), String> {
    let value: Value = serde_json::from_slice(line).map_err(|_| error)?;
    known(&value)
}

/// Within a line of its own, the line and column that serde_json adds say nothing.
fn without_place(reason: &str) -> String {
    reason.split_once(" at line ").map_or(reason, |(reason, _)| reason).to_owned()
}

/// `lines 3, 7, 9 and 40 more`.
fn places(numbers: &[usize]) -> String {
    let first: Vec<String> = numbers.iter().take(PLACES_MAX).map(usize::to_string).collect();
    let more = match numbers.len().saturating_sub(PLACES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("line{} {}{more}", if numbers.len() == 1 { "" } else { "s" }, first.join(", "))
}

/// Whether a folder can be one of a run at all, so that one says what it is instead of what it lacks.
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
