//! The valid figures of a run for other tools. Every format is written from them.

mod gather;
mod measure;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use tare_analysis::{estimate::UnitEstimate, status::Status};
use tare_bench::{
    folder::{self, FolderError, about::About, series},
    plan::Plan,
};

pub use measure::{ExportedMeasure, MEASURES, Quantity};

/// Why a run has no exports.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Durations of batches and of sessions, which other tools cannot represent.
    #[error(
        "{}: a published experiment has no figures for other tools; --format csv and parquet have its tables",
        run.display()
    )]
    Published { run: PathBuf },
    /// No row is valid.
    #[error("{}: nothing to export{}", run.display(), listed(left_out))]
    Nothing { run: PathBuf, left_out: Vec<LeftOut> },
}

/// The valid figures of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// The name of its folder.
    pub run: String,
    pub title: String,
    /// The start time in RFC 3339, UTC.
    pub began: String,
    pub status: Status,
    /// The commit of the repository in which it was measured, if it was one.
    pub commit: Option<String>,
    /// The model of the machine's CPU; empty if unknown.
    pub cpu: String,
    /// The subjects, in the order of the tables.
    pub subjects: Vec<ExportSubject>,
    pub left_out: Vec<LeftOut>,
    /// Parts of the folder that could not be read, a sentence each.
    pub damage: Vec<String>,
}

/// A service under a load, with figures.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportSubject {
    pub service: String,
    pub version: Option<String>,
    pub contract: String,
    /// The load, if the run had several: `256 connections`, `5000/s`; for a capacity, the SLO.
    pub load: Option<String>,
    /// The THREADS of the service.
    pub threads: usize,
    pub levels: Vec<Level>,
    pub blocks: BTreeMap<usize, BlockLevels>,
}

/// A measure, and its value over all blocks or starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    pub measure: &'static ExportedMeasure,
    /// The value, which is finite.
    pub estimate: UnitEstimate,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockLevels {
    pub answers: u64,
    /// The values, which are finite and above 0.
    pub values: Vec<(&'static ExportedMeasure, f64)>,
}

/// A row without figures, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub row: String,
    pub reason: String,
}

impl Exported {
    /// The valid figures of the run in this folder.
    ///
    /// # Errors
    /// If the folder cannot be read, has a kind without exports, or has no valid row.
    pub fn read(run: &Path) -> Result<Exported, ExportError> {
        if series::is_one(run) {
            return Err(ExportError::Published { run: run.to_owned() });
        }
        let stored = folder::read(run)?;
        let (subjects, status, left_out) =
            gather::gathered(&stored).ok_or_else(|| ExportError::Published { run: run.to_owned() })?;
        if subjects.is_empty() {
            return Err(ExportError::Nothing { run: run.to_owned(), left_out });
        }
        // The run is complete without this file.
        let about = About::read(run).ok().flatten();
        let Plan { title, .. } = stored.header.plan;
        Ok(Exported {
            run: name(run),
            title,
            began: stored.header.began,
            status,
            commit: about.and_then(|about| about.revision).map(|revision| revision.commit),
            cpu: stored.header.environment.cpu,
            subjects,
            left_out,
            damage: stored.damage,
        })
    }
}

/// The name of a folder, whatever the form of its path.
fn name(run: &Path) -> String {
    let whole = run.canonicalize().unwrap_or_else(|_| run.to_owned());
    whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl ExportSubject {
    /// The name, such as `axum hello` or `axum hello at 5000/s`.
    pub(crate) fn name(&self) -> String {
        let load = self.load.iter().map(|load| format!(" at {load}"));
        load.fold(format!("{} {}", self.service, self.contract), |name, load| name + &load)
    }
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.row, self.reason)
    }
}

fn listed(left_out: &[LeftOut]) -> String {
    left_out.iter().map(|left_out| format!("; {left_out}")).collect()
}
