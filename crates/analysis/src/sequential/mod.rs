//! Published benchmarks: their figures and claims, the results of a Tare run, and tables with both. Pure
//! functions of records, except for reading `figures/`.

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
    estimate::UnitEstimate,
    findings::{Finding, RowIssue},
};
pub use check::{CheckReport, CheckedFigure, ClaimReport, Divisor, Nothing};
pub use compute::compute;
pub use evidence::{ClaimOutcome, Judgement, Weakness};
pub use rounds::{Round, invalid};
pub use tare_bench::experiment::{PUBLISHED, SWEEP};
pub use tare_bench::plan::{messages_published, place, point_name};

/// All results of a sequential experiment.
#[derive(Debug, Clone)]
pub struct SequentialReport {
    pub experiment: String,
    pub title: String,
    /// The shape of its table.
    pub layout: tare_bench::experiment::Layout,
    pub published: Figures,
    pub began: String,
    /// The repeated part of the published time, messages and connections.
    pub scale: f64,
    /// Why it ended; absent if it was cut off.
    pub ending: Option<Ending>,
    /// Time of all of its invocations that ended regularly.
    pub elapsed_ns: u64,
    /// Measured cells, and all cells.
    pub cells: (usize, usize),
    /// In the order of the table.
    pub rows: Vec<PlannedRow>,
    /// In the order of the file.
    pub points: Vec<PointReport>,
    /// In the published order.
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
    /// Correct answers per second.
    pub per_second: Option<UnitEstimate>,
    /// Divided by the reference, paired by round.
    pub of_reference: Option<UnitEstimate>,
    /// From the first request to the last answer, in nanoseconds, for loads with a fixed number of requests.
    pub makespan_ns: Option<UnitEstimate>,
    /// CPU time of the service per correct answer, in nanoseconds.
    pub cpu_ns_per_request: Option<UnitEstimate>,
    /// The median round: table values beside the estimates are all from this one.
    pub typical: Option<Sample>,
    /// Why some round did not finish.
    pub hung: Option<String>,
    /// Why some round has no figure.
    pub failed: Option<String>,
    /// The load was at its own ceiling instead of the service's.
    pub load_bound: Option<RowIssue>,
    /// Why rounds are invalid; with fewer than half valid ones there is no rate and no makespan.
    pub invalid: Option<RowIssue>,
    /// Wrong and missing answers, in words.
    pub failures: Option<RowIssue>,
    /// Figures of each finished round, for checks.
    pub by_round: Vec<Round>,
}

impl SequentialReport {
    /// Whether nothing is left to measure.
    pub fn is_complete(&self) -> bool {
        self.ending == Some(Ending::Complete)
    }

    /// The published duration of a row at a point of a batch experiment.
    pub fn published_seconds(&self, of: &Point, row: &PlannedRow) -> Option<&Seconds> {
        let link = of.link.as_ref().map_or(LOCAL, |link| link.name.as_str());
        let (name, messages) = row.published.as_deref().zip(messages_published(of))?;
        self.published.seconds(name, |cell| {
            (cell.n, cell.t_ms, cell.environment.as_str(), cell.threads)
                == (messages, of.service_settings.delay_ms, link, of.service_settings.threads)
        })
    }

    /// Whether a cell was measured but is invalid. Rows with a known failure are exempt.
    pub(crate) fn is_invalid(&self, cell: &CellReport) -> bool {
        self.rows[cell.row].known_failure.is_none() && cell.invalid.is_some() && cell.per_second.is_none()
    }
}

impl PointReport {
    pub fn cell(&self, row: usize) -> Option<&CellReport> {
        self.cells.iter().find(|cell| cell.row == row)
    }
}

/// Seconds with an answer slower than ten times the median.
pub fn pauses(load: &LoadResult) -> usize {
    let median_ns = load.latency.ns_at(0.5).unwrap_or(u64::MAX);
    let is_pause = |ns: u64| ns > median_ns.saturating_mul(10);
    load.seconds.iter().filter(|second| is_pause(second.latency_ns_max)).count()
}
