//! The twin: the difference that a run finds between two rows of the same program. It is not a row of the
//! table: it has no rank and no share of the pairs' error probability.

use tare_bench::{metric::Metric, plan::Plan};

use super::{RowReport, RowState};
use crate::{estimate::UnitEstimate, findings::RunIssue};

/// The results of the twin.
#[derive(Debug, Clone)]
pub struct Twin {
    pub row: RowReport,
    /// The metric of the estimate: CPU time per request, with that of a database, or throughput if the kernel counted no CPU time.
    pub by: Metric,
    /// The row that it duplicates.
    pub original: String,
    /// The twin divided by the reference: 1 except for chance. Absent if either has no figure, and in a
    /// comparison, where it is the candidate's twin.
    pub estimate: Option<UnitEstimate>,
    /// Whether its interval alone excludes 1, which happens by chance in one of twenty runs.
    pub separated: bool,
}

impl Twin {
    pub(super) fn of(plan: &Plan, row: RowReport) -> Twin {
        let metrics = [Metric::CpuWithDatabase, Metric::Cpu, Metric::Throughput];
        let by = metrics.into_iter().find(|by| row.ratio_by(*by).is_some()).unwrap_or(Metric::Cpu);
        let estimate = row.ratio_by(by);
        let original = plan.original().to_owned();
        let estimate = estimate.filter(|_| plan.is_reference(&original));
        Twin { row, by, original, separated: estimate.is_some_and(|ratio| ratio.is_apart()), estimate }
    }

    /// The smallest difference that is separated between two rows as noisy as the reference, as a single
    /// pair: half of the interval. Absent with too few blocks.
    pub fn resolution(&self) -> Option<f64> {
        let (low, high) = self.estimate?.interval()?;
        Some((high / low).sqrt() - 1.0)
    }

    /// The finding about the twin for readers of the table.
    pub(super) fn issue(&self) -> Option<RunIssue> {
        let (original, twin) = (self.original.clone(), self.row.label.clone());
        match (&self.row.state, self.estimate.filter(|_| self.separated)) {
            (RowState::Measured, Some(UnitEstimate { value, low: Some(low), high: Some(high), .. })) => {
                Some(RunIssue::TwinSeparated { original, twin, by: self.by, value, low, high })
            }
            (RowState::Measured | RowState::Unmeasured, _) => None,
            (state, _) => {
                Some(RunIssue::TwinFailed { original, twin, reason: state.reason().unwrap_or_default() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{compute, tests::kept_with};
    use tare_bench::{
        folder::StoredRun,
        record::{Failed, Record},
    };

    const TWIN: &str = "raw-socket@2";

    /// A run with a twin at this share of the reference's rate.
    fn twinned(share: f64) -> StoredRun {
        let mut kept = kept_with(&[("raw-socket", 1.0), ("half", 0.5), (TWIN, share)], 12);
        kept.header.plan.rows[2].service = "raw-socket".to_owned();
        kept.header.plan.twin = Some(TWIN.to_owned());
        kept
    }

    #[test]
    fn the_twin_is_no_row_of_the_table() {
        let report = compute(&twinned(1.0));
        assert!(report.rows.iter().all(|row| row.label != TWIN));
        assert_eq!(report.ranks.unwrap().rows.len(), 2);
        let twin = report.twin.unwrap();
        assert_eq!((twin.row.label.as_str(), twin.row.blocks, twin.separated), (TWIN, 12, false));
        let (low, high) = twin.estimate.unwrap().interval().unwrap();
        let resolution = twin.resolution().unwrap();
        assert!(low < 1.0 && 1.0 < high && (0.001..0.02).contains(&resolution), "{low} {high} {resolution}");
    }

    #[test]
    fn a_twin_that_is_separated_is_a_finding() {
        let report = compute(&twinned(0.9));
        assert!(report.twin.unwrap().separated);
        let found = report.findings.iter().find(|finding| finding.code() == "twin-separated").unwrap();
        let text = found.to_string();
        assert!(text.contains("raw-socket@2 has 11") && text.contains("one run of twenty"), "{text}");
        assert!(compute(&twinned(1.0)).findings.iter().all(|finding| finding.code() != "twin-separated"));
    }

    #[test]
    fn a_twin_that_failed_is_a_finding_of_the_run() {
        let mut kept = twinned(1.0);
        kept.records.insert(1, Record::Failed(Failed { block: 0, row: 2, reason: "was killed".to_owned() }));
        let report = compute(&kept);
        let found = report.findings.iter().find(|finding| finding.code() == "twin-failed").unwrap();
        assert!(found.to_string().contains("raw-socket@2, has no figures: block 1: was killed"), "{found}");
    }

    #[test]
    fn a_run_without_one_has_none() {
        let mut kept = twinned(1.0);
        kept.header.plan.twin = None;
        let report = compute(&kept);
        assert!(report.twin.is_none() && report.rows.len() == 3);
    }
}
