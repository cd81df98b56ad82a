//! The main table of a run in progress, from the records so far. It is computed often, so other sections are
//! omitted.

use tare_analysis::{
    capacity as slo_capacity, comparison as gate,
    findings::{Finding, RunIssue},
    interleaved as blocks, sequential as samples,
};
use tare_bench::{
    folder::StoredRun,
    plan::{Order, Until},
};

use super::{capacity, comparison, interleaved::ranks, sequential};
use crate::document::{Section, Table};

/// The results of a run in progress.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interim {
    /// The table of the first section.
    pub table: Table,
    /// The result of a comparison so far; empty for other runs.
    pub answer: String,
    pub remarks: Vec<String>,
}

/// The interim table of an interleaved experiment, or the services of a sequential one at `point`.
#[must_use]
pub fn interim(stored: &StoredRun, point: usize) -> Interim {
    let scoped = |findings: &[Finding]| findings.iter().map(Finding::scoped).collect::<Vec<_>>();
    let plan = &stored.header.plan;
    match (&plan.order, &plan.until) {
        (Order::Sequential, _) => {
            let table = sequential::at_point(stored, &samples::compute(stored), point);
            Interim { table, ..Interim::default() }
        }
        (_, Until::Search(slo)) => {
            let found = slo_capacity::compute(slo, stored);
            let remarks = found.rows.iter().flat_map(|row| scoped(&row.findings)).collect();
            Interim { remarks, ..of(capacity::section(&found)) }
        }
        (_, Until::Gate(_)) => {
            let Some(found) = gate::compute(stored) else { return Interim::default() };
            let known = found.figures.iter().filter(|figure| figure.ratio.is_some());
            let remarks = known.flat_map(|figure| {
                figure.doubts.iter().map(|doubt| format!("{}: {}", figure.name, doubt.scoped()))
            });
            Interim {
                remarks: remarks.collect(),
                answer: found.reason.clone(),
                ..of(comparison::metrics(&found))
            }
        }
        _ => {
            let found = blocks::compute(stored);
            let is_noisy =
                |finding: &&Finding| matches!(finding.run_issue(), Some(RunIssue::NoisyHost { .. }));
            let noisy = found.findings.iter().filter(is_noisy).map(ToString::to_string);
            let rows = found.rows.iter();
            let of_rows =
                rows.flat_map(|row| row.throughput_finding.iter().chain(&row.findings).map(Finding::scoped));
            Interim { remarks: noisy.chain(of_rows).collect(), ..of(ranks::section(stored, &found)) }
        }
    }
}

fn of(section: Section) -> Interim {
    Interim { table: section.table.unwrap_or_default(), ..Interim::default() }
}
