//! The published benchmarks: what they printed and claimed, what a run of Tare finds of each, and their tables with both. Records
//! in, figures out; pure but for the reading of `figures/`.

mod check;
mod compute;
mod evidence;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod rounds;
pub mod single_round;
mod words;

#[cfg(test)]
mod tests;

use tare_bench::{
    experiment::LOCAL,
    figures::{Figures, Seconds},
    plan::{PlannedRow, Point},
    record::Ending,
    sample::{LoadResult, Sample},
};

use crate::{
    estimate::Estimate,
    findings::{Finding, RowIssue},
};
pub use check::{CheckReport, ClaimReport, Divisor, Found, Nothing};
pub use compute::compute;
pub use evidence::{ClaimOutcome, Judgement, Weakness};
pub use rounds::{Round, invalid};
pub use tare_bench::experiment::{PUBLISHED, SWEEP};
pub use tare_bench::plan::{messages_published, place, point_name};

/// All that is reported of a sequential experiment.
#[derive(Debug, Clone)]
pub struct SequentialReport {
    pub experiment: String,
    pub title: String,
    /// The shape of its table.
    pub layout: tare_bench::experiment::Layout,
    pub published: Figures,
    pub began: String,
    /// The part of the published time, messages and connections that was done.
    pub scale: f64,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    /// Time that its sessions took, as far as they ended of their own accord.
    pub elapsed_ns: u64,
    /// Cells that were measured, and all cells.
    pub cells: (usize, usize),
    /// In the order of the table.
    pub rows: Vec<PlannedRow>,
    /// In the order of the file.
    pub points: Vec<PointReport>,
    /// In the order of the published ones.
    pub claims: Vec<ClaimReport>,
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone)]
pub struct PointReport {
    /// The load and the settings of the services.
    pub point: Point,
    /// In the order of the rows that take part.
    pub cells: Vec<CellReport>,
}

/// One service under one load, over all rounds.
#[derive(Debug, Clone)]
pub struct CellReport {
    pub row: usize,
    pub rounds: usize,
    /// Right answers a second.
    pub per_second: Option<Estimate>,
    /// Relative to the reference, paired by round.
    pub of_reference: Option<Estimate>,
    /// From the first request to the last answer, in nanoseconds; of loads that end by number.
    pub makespan_ns: Option<Estimate>,
    /// CPU time of the service for each right answer, in nanoseconds.
    pub cpu_ns_per_request: Option<Estimate>,
    /// The round that lies in the middle: what a table shows beside the estimates is all from this one.
    pub typical: Option<Sample>,
    /// What happened instead of an end, in any round.
    pub hung: Option<String>,
    /// Why there is no figure, in any round.
    pub failed: Option<String>,
    /// The load was at its own ceiling, not at the service's.
    pub load_bound: Option<RowIssue>,
    /// Why rounds of it are no measurement of the service; with fewer than half of them left it has no rate and no makespan.
    pub invalid: Option<RowIssue>,
    /// Wrong and missing answers, in words.
    pub failures: Option<RowIssue>,
    /// For checks: the figures of each round, those without an end left out.
    pub by_round: Vec<Round>,
}

impl SequentialReport {
    /// Whether nothing is left to measure.
    pub fn is_complete(&self) -> bool {
        self.ending == Some(Ending::Complete)
    }

    /// What was published of a row at a point of a sequential experiment of batches.
    pub fn published_seconds(&self, of: &Point, row: &PlannedRow) -> Option<&Seconds> {
        let link = of.link.as_ref().map_or(LOCAL, |link| link.name.as_str());
        let (name, messages) = row.published.as_deref().zip(messages_published(of))?;
        self.published.seconds(name, |cell| {
            (cell.n, cell.t_ms, cell.environment.as_str(), cell.threads)
                == (messages, of.service_settings.delay_ms, link, of.service_settings.threads)
        })
    }

    /// Whether a cell was measured, and not validly. Of a service that is measured as it was published, though it is wrong,
    /// nothing else was to be expected.
    pub(crate) fn is_invalid(&self, cell: &CellReport) -> bool {
        self.rows[cell.row].known_failure.is_none() && cell.invalid.is_some() && cell.per_second.is_none()
    }
}

impl PointReport {
    pub fn cell(&self, row: usize) -> Option<&CellReport> {
        self.cells.iter().find(|cell| cell.row == row)
    }
}

/// Seconds in which some answer took more than ten times as long as the median one.
pub fn pauses(load: &LoadResult) -> usize {
    let median_ns = load.latency.ns_at(0.5).unwrap_or(u64::MAX);
    let is_pause = |ns: u64| ns > median_ns.saturating_mul(10);
    load.seconds.iter().filter(|second| is_pause(second.latency_ns_max)).count()
}
