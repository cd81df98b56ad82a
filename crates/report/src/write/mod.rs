//! A document in the forms that people and programs read. None of them knows what a document tells of, and none writes a file:
//! they give text or bytes, and names where they are several.

pub mod csv;
pub mod exports;
#[cfg(test)]
pub(crate) mod fixture;
pub mod hgrm;
pub mod html;
pub mod json;
pub mod junit;
mod layout;
pub mod markdown;
pub mod parquet;
pub mod text;

/// Longer tables are no reading: the forms for programs have them.
const ROWS_MAX: usize = 50;

use tare_analysis::verdict::Question;
use tare_host::spelling::suggestion;

use crate::document::{Document, Fact, Kind, Section, Status, Table, Verdict};

/// One of the files that a form consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name in the folder of the form.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Why a document cannot be written in a form.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("the report has no section \"{id}\"{nearest}")]
    Section {
        id: String,
        /// The nearest one that there is, in words.
        nearest: String,
    },
    /// A section says only why it has no table.
    #[error("the section \"{id}\" has no table{why}")]
    NoTable { id: String, why: String },
    /// The library of the form said no.
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

/// The sections that have a table, with it.
fn tables(document: &Document) -> impl Iterator<Item = (&Section, &Table)> {
    document.sections.iter().filter_map(|section| Some((section, section.table.as_ref()?)))
}

/// What the checks of a document ask.
fn question(kind: Kind) -> Question {
    match kind {
        Kind::Comparison | Kind::Capacity | Kind::Machines => Question::Gate,
        Kind::Interleaved | Kind::Sequential | Kind::History | Kind::Audit => Question::Row,
    }
}

/// The facts of a document as a reader of text has them: what became of the checks first.
fn facts(document: &Document) -> Vec<Fact> {
    let checks = checks(document);
    let checks = (!checks.is_empty()).then(|| Fact::new("Checks", checks).brief());
    checks.into_iter().chain(document.facts.iter().cloned()).collect()
}

/// `11 measured, 1 failed`; empty where nothing was asked.
fn checks(document: &Document) -> String {
    Verdict::tally(document.checks.iter().map(|check| check.verdict), question(document.kind))
}

/// What must be said of a run that did not come to its end.
fn status(status: Status) -> Option<&'static str> {
    match status {
        Status::Complete => None,
        Status::Interrupted => Some("Interrupted: what is here was measured until then."),
        Status::Running => Some("Still running: what is here was measured so far."),
        Status::CutOff => Some("Cut off: what is here was measured until then."),
        Status::Unknown => Some("It is not known whether the run came to its end."),
    }
}

/// Text in which nothing is hidden. What comes of a run folder is so already; names of files and folders are not.
fn visible(text: &str) -> String {
    tare_host::foreign::visible(text).into_owned()
}
pub mod runs;
