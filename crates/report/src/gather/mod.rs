//! From run folders to documents: one module for each kind of run, and in it a file for each section.

pub mod audit;
mod capacity;
pub(crate) mod columns;
mod comparison;
mod curves;
mod damage;
mod environment;
#[cfg(test)]
pub(crate) mod fixture;
mod footprint;
pub mod history;
mod interim;
mod interleaved;
pub mod machines;
mod sequential;
mod settings;
pub(crate) mod words;

use std::path::{Path, PathBuf};

use tare_analysis::{
    analysis::{Analysis, Answer},
    checks,
    findings::Finding,
    loads,
    machines::MergeError,
};
use tare_bench::{
    folder::{self, FolderError, Head, Header, StoredRun, series},
    plan::Until,
};
use tare_host::spelling::suggestion;

pub use interim::{Interim, interim};

use crate::{
    Document,
    document::{FORMAT, Kind, Status},
    kept,
};

/// Why nothing can be reported of a folder.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// It cannot be read, or is no run folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Not a run folder, and it is plain why.
    #[error("{}: not a run folder: {reason}", path.display())]
    NotARun { path: PathBuf, reason: String },
    /// The rows of such a run are related to nothing, or to what was published.
    #[error("{what} has no reference to choose")]
    NoReference { what: &'static str },
    /// It has no such row.
    #[error("the run has no row \"{row}\"{nearest}")]
    NoRow {
        row: String,
        /// The nearest one that there is, in words.
        nearest: String,
    },
    /// Runs in a folder that was marked as merged cannot be merged.
    #[error("{}: {source}", path.display())]
    Merge { path: PathBuf, source: Box<MergeError> },
    /// A folder of run folders.
    #[error(
        "{}: is a series of experiments of which series.json cannot be read ({reason}); each has a report of its own: {}",
        path.display(),
        damage::listed(members)
    )]
    Series {
        path: PathBuf,
        /// Why it has no report.
        reason: String,
        members: Vec<PathBuf>,
    },
}

/// The document of the run in this folder, its rows related to another one than the run's own; of a comparison the table of both.
///
/// # Errors
/// As [`gather`], and if the run has no such row, or relates nothing to a row.
pub fn related(run: &Path, row: &str) -> Result<Document, GatherError> {
    let no_rows = |what| Err(GatherError::NoReference { what });
    if series::is_one(run) {
        return no_rows("each experiment of a series");
    }
    if machines::folder::is_one(run) {
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
    // Not the analysis: what a comparison asked is of its own reference.
    let loads = loads::compute(&kept);
    let status = Status::of(loads[0].report.ending, kept.in_progress);
    let mut checks = loads::checks(&loads);
    checks.extend(checks::of_status(status));
    let document = Document { checks, status, ..interleaved::document(&kept, &loads, run) };
    Ok(damage::gathered(document, kept.damage))
}

/// What is reported of the run in this folder, whatever kind of run it is. What is damaged, or newer than this program, is
/// shown as far as it can be read, and the document says what is missing.
///
/// # Errors
/// If it is no run folder, or cannot be read at all.
pub fn gather(run: &Path) -> Result<Document, GatherError> {
    if series::is_one(run) {
        return sequential::series(run).map_err(|error| damage::of_a_series(run, error));
    }
    if machines::folder::is_one(run) {
        let merged = machines::machines(&[run.to_owned()]);
        return merged
            .map_err(|source| GatherError::Merge { path: run.to_owned(), source: Box::new(source) });
    }
    let head = match Head::read(run) {
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
    let Analysis { answer, checks, status, .. } = Analysis::of(stored);
    let document = match (&stored.header.plan.until, answer) {
        (_, Answer::Claims(report)) => sequential::document(stored, &report, run),
        (Until::Search(slo), Answer::Capacity(report)) => capacity::document(slo, stored, &report, run),
        (_, Answer::Comparison(found, loads)) => comparison::document(&found, &loads, stored, run),
        (_, Answer::Tables(loads)) => interleaved::document(stored, &loads, run),
        (_, Answer::Capacity(_)) => unreachable!("only a search asks for a capacity"),
    };
    Document { checks, status, ..document }
}

/// What the document of every run has. How far it came and its checks are the analysis's to say.
fn of_run(kind: Kind, run: &StoredRun, findings: &[Finding]) -> Document {
    let Header { plan, began, .. } = &run.header;
    Document {
        format: FORMAT,
        kind,
        title: plan.title.clone(),
        question: plan.question.clone(),
        answer: String::new(),
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

/// With a note if the report that was kept when the run ended has other figures: another Tare computed it. What is damaged
/// or goes on gives other figures anyway, and says so.
fn compared_with_kept(mut document: Document, kept: &StoredRun, run: &Path) -> Document {
    if kept.in_progress || !kept.damage.is_empty() {
        return document;
    }
    // Many a run has no such file: it was cut off.
    if let Ok(Some(what)) = kept::difference(run, &document) {
        let tare = &kept.header.tare;
        let note =
            format!("computed from the records; the report that tare {tare} kept has other figures: {what}");
        document.notes.insert(0, note);
    }
    document
}

#[cfg(test)]
pub(crate) mod tests;
