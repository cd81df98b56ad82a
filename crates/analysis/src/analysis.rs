//! A stored run in, all that follows from it out: one function for every kind of run. What prints a run, stores it or ends
//! with its exit status calls this, so that they agree.

use std::path::Path;

use tare_bench::{
    grid::plan::GridPlan,
    run::folder::{self, FolderError, Kept, Kind},
    slo::SloPlan,
};

use crate::{
    capacity::{self, SloReport},
    checks::{self, Check},
    comparison::{self, Comparison},
    loads::{self, AtLoad},
    published,
    status::Status,
    verdict::Verdict,
};

/// What a run folder holds.
#[derive(Debug, Clone)]
pub enum StoredRun {
    /// Slices of all rows in blocks.
    Interleaved(Kept),
    /// The same, its rates set by searches.
    Search(SloPlan, Kept),
    /// One load after another.
    Sequential(Kept<GridPlan>),
}

/// All that follows from a run.
#[derive(Debug, Clone)]
pub struct Analysis {
    pub answer: Answer,
    pub status: Status,
    /// What a gate asks of the run.
    pub checks: Vec<Check>,
    /// All checks together.
    pub verdict: Verdict,
}

/// What a run was asked.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one of it for a run")]
pub enum Answer {
    /// How services stand to each other: a table for each load.
    Tables(Vec<AtLoad>),
    /// Whether a candidate is worse than a baseline. The table of both stands behind it, one for each load.
    Comparison(Comparison, Vec<AtLoad>),
    /// Which rates hold an SLO.
    Capacity(SloReport),
    /// Whether published claims hold.
    Claims(published::Report),
}

impl StoredRun {
    /// The run in this folder.
    ///
    /// # Errors
    /// If it is no run folder, has another format, or cannot be read.
    pub fn read(run: &Path) -> Result<StoredRun, FolderError> {
        if folder::kind(run)? == Kind::Grid {
            return Ok(StoredRun::Sequential(folder::read(run)?));
        }
        let kept = folder::read(run)?;
        Ok(match SloPlan::read(run)? {
            Some(slo) => StoredRun::Search(slo, kept),
            None => StoredRun::Interleaved(kept),
        })
    }
}

impl Analysis {
    /// Of this run, as far as it came.
    pub fn of(run: &StoredRun) -> Analysis {
        match run {
            StoredRun::Interleaved(kept) => {
                let (first, loads) = (kept.at_load(0), loads::compute(kept));
                let status = Status::of(loads[0].report.ending, kept.goes_on);
                match comparison::compute(&first) {
                    Some(found) => {
                        let checks = checks::of_comparison(&found);
                        Analysis::new(Answer::Comparison(found, loads), status, checks)
                    }
                    None => {
                        let checks = loads::checks(&loads);
                        Analysis::new(Answer::Tables(loads), status, checks)
                    }
                }
            }
            StoredRun::Search(slo, kept) => {
                let report = capacity::compute(slo, kept);
                let status = Status::of(report.ending, kept.goes_on);
                let checks = checks::of_capacity(&report);
                Analysis::new(Answer::Capacity(report), status, checks)
            }
            StoredRun::Sequential(kept) => {
                let report = published::compute(kept);
                let status = Status::of(report.ending, kept.goes_on);
                let checks = checks::of_published(&report);
                Analysis::new(Answer::Claims(report), status, checks)
            }
        }
    }

    fn new(answer: Answer, status: Status, mut checks: Vec<Check>) -> Analysis {
        checks.extend(checks::of_status(status));
        let verdict = checks::verdict(&checks);
        Analysis { answer, status, checks, verdict }
    }
}
