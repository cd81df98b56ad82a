//! Makes documents from run folders: one module per kind of run, and a file per section.

mod calls;
mod capacity;
pub mod columns;
mod comparison;
mod curves;
mod damage;
mod environment;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod footprint;
pub mod history;
mod interim;
mod interleaved;
pub mod merged;
pub mod profiles;
mod sequential;
mod settings;
pub mod why;
pub mod words;

use std::path::{Path, PathBuf};

use tare_analysis::{
    analysis::{Analysis, Answer},
    findings::Finding,
};
use tare_base::spelling::suggestion;
use tare_bench::{
    folder::{self, FolderError, Header, RunHead, StoredRun, series},
    plan::Until,
};

pub use interim::{Interim, interim};
use merged::MergeError;

use crate::{
    Document,
    document::{FORMAT, Kind, Section, Status},
    kept,
};

/// Why a folder cannot be reported.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// It cannot be read, or is no run folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The folder is not a run folder, for a known reason.
    #[error("{}: not a run folder: {reason}", path.display())]
    NotARun { path: PathBuf, reason: String },
    /// The rows of such a run have no reference, or are compared with published figures.
    #[error("{what} has no reference to choose")]
    NoReference { what: &'static str },
    /// The run has no such row.
    #[error("the run has no row \"{row}\"{nearest}")]
    NoRow {
        row: String,
        /// The nearest existing name, in words.
        nearest: String,
    },
    /// The runs in a folder that is marked as merged cannot be merged.
    #[error("{}: {source}", path.display())]
    Merge { path: PathBuf, source: MergeError },
    /// The folder is a series with an unreadable list.
    #[error(
        "{}: is a series of experiments of which series.json cannot be read ({reason}); each has a report of its own: {}",
        path.display(),
        damage::listed(members)
    )]
    Series {
        path: PathBuf,
        /// Why there is no report.
        reason: String,
        members: Vec<PathBuf>,
    },
}

/// The document of the run in this folder, with another reference than the run's own; for a comparison, the
/// table of both.
///
/// # Errors
/// The errors of [`gather`], and if the run has no such row, or compares nothing with a row.
pub fn related(run: &Path, row: &str) -> Result<Document, GatherError> {
    let no_rows = |what| Err(GatherError::NoReference { what });
    if series::is_one(run) {
        return no_rows("each experiment of a series");
    }
    if merged::is_one(run) {
        return no_rows("an experiment over machines");
    }
    let mut kept = folder::read(run)?;
    if kept.header.plan.is_sequential() {
        return no_rows("a published experiment");
    }
    if kept.header.plan.slo().is_some() {
        return no_rows("a search for capacity");
    }
    let labels = || kept.header.plan.rows.iter().map(|row| row.label.as_str());
    if !labels().any(|label| label == row) {
        return Err(GatherError::NoRow { row: row.to_owned(), nearest: suggestion(row, labels()) });
    }
    kept.header.plan.reference = Some(row.to_owned());
    // The question of a gate concerns its own reference.
    let document = document_of(Analysis::without_gate(&kept), &kept, run);
    Ok(damage::gathered(document, kept.damage))
}

/// The report of the run in this folder, of any kind. Damaged parts, or parts newer than this program, are
/// shown as far as they can be read, and the document says what is missing.
///
/// # Errors
/// If it is no run folder, or cannot be read at all.
pub fn gather(run: &Path) -> Result<Document, GatherError> {
    if series::is_one(run) {
        return sequential::series(run).map_err(|error| damage::of_a_series(run, error));
    }
    let head = match RunHead::read(run) {
        Ok(head) => head,
        Err(error) => return damage::without_a_head(run, error),
    };
    if !folder::is_readable(&head.format) {
        return Ok(damage::head_only(run, &head, damage::unknown(&head)));
    }
    match folder::read(run) {
        Ok(mut stored) => {
            let document = compared_with_kept(document(&stored, run), &stored, run);
            stored.damage.extend(damage::about(run));
            Ok(damage::gathered(document, stored.damage))
        }
        Err(FolderError::NotARun { reason, .. }) => {
            Ok(damage::head_only(run, &head, format!("run.json cannot be understood: {reason}")))
        }
        Err(error) => Err(error.into()),
    }
}

fn document(stored: &StoredRun, run: &Path) -> Document {
    document_of(Analysis::of(stored), stored, run)
}

fn document_of(analysis: Analysis, stored: &StoredRun, run: &Path) -> Document {
    let Analysis { answer, checks, status, .. } = analysis;
    let document = match (&stored.header.plan.until, answer) {
        (_, Answer::Claims(report)) => sequential::document(stored, &report, run),
        (Until::Search(slo), Answer::Capacity(report)) => capacity::document(slo, stored, &report, run),
        (_, Answer::Comparison(found, loads)) => comparison::document(&found, &loads, stored, run),
        (_, Answer::Tables(loads)) => interleaved::document(stored, &loads, run),
        (_, Answer::Capacity(_)) => unreachable!("only a search asks for a capacity"),
    };
    let mut document = Document { checks, status, ..document };
    document.sections.sort_by_key(Section::level);
    document
}

/// The common parts of every run's document. The analysis determines its status and checks.
fn of_run(kind: Kind, run: &StoredRun, findings: &[Finding]) -> Document {
    let Header { plan, began, .. } = &run.header;
    Document {
        format: FORMAT,
        kind,
        title: plan.title.clone(),
        question: plan.question.clone(),
        answer: String::new(),
        basis: String::new(),
        began: began.clone(),
        status: Status::Unknown,
        damage: run.damage.clone(),
        cautions: words::cautions(findings),
        notes: words::notes(findings),
        facts: Vec::new(),
        checks: Vec::new(),
        sections: Vec::new(),
    }
}

/// Adds a note if the report that was stored at the end of the run has other figures, because another Tare
/// computed it. A damaged or unfinished run has other figures anyway, and says so.
fn compared_with_kept(mut document: Document, kept: &StoredRun, run: &Path) -> Document {
    if kept.in_progress || !kept.damage.is_empty() {
        return document;
    }
    // An interrupted run has no such file.
    if let Ok(Some(what)) = kept::difference(run, &document) {
        let tare = &kept.header.tare;
        let note = format!(
            "computed from the records; the report that tare {tare} stored has other figures: {what}"
        );
        document.notes.insert(0, note);
    }
    document
}

#[cfg(test)]
pub(crate) mod tests;
