//! Damaged folders: messages about them, and the parts that can still be shown.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tare_bench::folder::{
    FolderError, RunHead,
    about::{About, AboutError},
    is_being_written, other_format, why_none,
};

use super::GatherError;
use crate::document::{Document, FORMAT, Fact, Kind, Status};

/// Paths as the end of a sentence.
pub(crate) fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| format!("\"{}\"", path.display())).collect();
    if names.is_empty() { "it holds none yet".to_owned() } else { names.join(", ") }
}

/// Lists each damage once, and only as damage: the code for a kind of run may also have added it as a note.
pub(crate) fn gathered(mut document: Document, mut found: Vec<String>) -> Document {
    found.extend(document.sections.iter().flat_map(|section| section.damage.iter().cloned()));
    for sentence in found {
        if !document.damage.contains(&sentence) {
            document.damage.push(sentence);
        }
    }
    let damage = &document.damage;
    document.notes.retain(|note| !damage.contains(note));
    document
}

/// The error without its path, for a sentence that already contains it.
pub(crate) fn reason(error: FolderError) -> String {
    match error {
        FolderError::NotARun { reason, .. } | FolderError::Series { reason, .. } => reason,
        error => error.to_string(),
    }
}

/// A message if the facts stored beside the figures cannot be read.
pub(crate) fn about(run: &Path) -> Option<String> {
    let reason = match About::read(run).err()? {
        AboutError::Content { source, .. } => source.to_string(),
        AboutError::Io { source, .. } => source.to_string(),
        AboutError::Format { format, .. } => format!("it has {}", other_format(&format)),
    };
    Some(format!("about.json cannot be read, and with it command and footprint: {reason}"))
}

/// Why this program cannot read a run beyond its head.
pub(crate) fn unknown(head: &RunHead) -> String {
    let what = format!("has {}", other_format(&head.format));
    let wrote = head.text(&["tare"]).map(|version| format!(" ({version})")).unwrap_or_default();
    format!("run.json {what}: its figures are not shown; use the tare that wrote it{wrote}")
}

/// A folder without a readable head: not a run, or a run that cannot be reported.
pub(crate) fn without_a_head(run: &Path, error: FolderError) -> Result<Document, GatherError> {
    match why_none(run) {
        Some(reason) => Err(GatherError::NotARun { path: run.to_owned(), reason }),
        None => Err(error.into()),
    }
}

/// A folder of run folders with an unreadable list.
pub(crate) fn of_a_series(run: &Path, error: FolderError) -> GatherError {
    let entries = fs::read_dir(run).into_iter().flatten().filter_map(Result::ok);
    let mut members: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join("run.json").is_file()).collect();
    members.sort();
    GatherError::Series { path: run.to_owned(), reason: reason(error), members }
}

/// The report of a run whose plan or records this program cannot read: only its head.
pub(crate) fn head_only(run: &Path, head: &RunHead, reason: String) -> Document {
    let text = |keys: &[&str]| head.text(keys).map(ToOwned::to_owned);
    let name = run.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (title, question) = (text(&["plan", "title"]), text(&["plan", "question"]));
    let seed = head.value.pointer("/plan/seed").map(|seed| Fact::code("Seed", seed.to_string()));
    let tare = text(&["tare"]).map(|tare| Fact::new("Tare", tare));
    Document {
        format: FORMAT,
        kind: if text(&["plan", "order"]).as_deref() == Some("sequential") {
            Kind::Sequential
        } else {
            Kind::Interleaved
        },
        title: title.unwrap_or(name),
        question: question.unwrap_or_default(),
        answer: "The records of this run cannot be read.".to_owned(),
        basis: String::new(),
        began: text(&["began"]).unwrap_or_default(),
        status: if is_being_written(run) { Status::Running } else { Status::Unknown },
        damage: vec![reason],
        cautions: Vec::new(),
        notes: Vec::new(),
        facts: seed.into_iter().chain(tare).collect(),
        checks: Vec::new(),
        sections: Vec::new(),
    }
}
