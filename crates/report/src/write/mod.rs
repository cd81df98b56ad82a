//! A document in formats for people and programs. The writers know nothing about the content, and write no
//! files: they return text or bytes, with names if there are several.

pub mod csv;
pub mod exports;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod hgrm;
pub mod html;
pub mod json;
pub mod junit;
mod layout;
pub mod markdown;
pub mod text;

/// The most rows of a table for people; formats for programs have longer ones.
const ROWS_MAX: usize = 50;

use tare_analysis::verdict::Question;
use tare_base::spelling::suggestion;

use crate::document::{Document, Fact, Kind, Section, Status, Table, Verdict};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name in the folder of the format.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Why a document cannot be written in a format.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("the report has no section \"{id}\"{nearest}")]
    Section {
        id: String,
        /// The nearest existing id, in words.
        nearest: String,
    },
    /// The section has no table, for this reason.
    #[error("the section \"{id}\" has no table{why}")]
    NoTable { id: String, why: String },
    /// The library of the format reported an error.
    #[error("cannot write the section \"{section}\" as {form}: {reason}")]
    Form { section: String, form: &'static str, reason: String },
}

/// The section of this id.
///
/// # Errors
/// If there is none; the error names the nearest.
pub fn section<'d>(document: &'d Document, id: &str) -> Result<&'d Section, WriteError> {
    document.sections.iter().find(|section| section.id == id).ok_or_else(|| WriteError::Section {
        id: id.to_owned(),
        nearest: suggestion(id, document.sections.iter().map(|section| section.id.as_str())),
    })
}

/// The table of the section of this id.
///
/// # Errors
/// If there is no such section, or it has no table.
pub fn table<'d>(document: &'d Document, id: &str) -> Result<&'d Table, WriteError> {
    let section = section(document, id)?;
    let why = || section.notes.iter().map(|note| format!(": {note}")).collect();
    section.table.as_ref().ok_or_else(|| WriteError::NoTable { id: id.to_owned(), why: why() })
}

pub fn tables(document: &Document) -> impl Iterator<Item = (&Section, &Table)> {
    document.sections.iter().filter_map(|section| Some((section, section.table.as_ref()?)))
}

/// The question behind the checks of a document.
fn question(kind: Kind) -> Question {
    match kind {
        Kind::Comparison | Kind::Capacity | Kind::Machines => Question::Gate,
        Kind::Interleaved | Kind::Sequential | Kind::History | Kind::Audit => Question::Row,
    }
}

/// The facts of a document for readers of text, with the results of the checks first.
fn facts(document: &Document) -> Vec<Fact> {
    let checks = checks(document);
    // The answer of a comparison is its verdict.
    let is_told = !checks.is_empty() && document.kind != Kind::Comparison;
    let checks = is_told.then(|| Fact::new("Checks", checks).brief());
    checks.into_iter().chain(document.facts.iter().cloned()).collect()
}

/// `11 measured, 1 failed`; empty without checks.
fn checks(document: &Document) -> String {
    Verdict::tally(document.checks.iter().map(|check| check.verdict), question(document.kind))
}

/// A note for a run that is not complete.
fn status(status: Status) -> Option<&'static str> {
    match status {
        Status::Complete => None,
        Status::Interrupted => Some("Interrupted: what is here was measured until then."),
        Status::Running => Some("Still running: what is here was measured so far."),
        Status::CutOff => Some("Cut off: what is here was measured until then."),
        Status::Unknown => Some("It is not known whether the run came to its end."),
    }
}

/// Text without hidden characters. Contents of run folders are clean; names of files are not.
fn visible(text: &str) -> String {
    tare_host::foreign::visible(text).into_owned()
}
pub mod runs;
