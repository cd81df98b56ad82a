//! What a gate asks of a published experiment: the same as of a campaign, that each row has figures. A claim that is refuted is
//! a finding, and a service that gets stuck as it was published to is one too: they stand in their sections, and fail nothing.

use tare_analysis::published::{CellReport, Report};

use crate::{
    document::{Check, Verdict},
    gather::campaign::of_exclusion,
};

/// One check a row.
pub fn checks(report: &Report) -> Vec<Check> {
    let of_row = |(place, row): (usize, &tare_analysis::published::RowReport)| {
        if let Some(excluded) = &row.excluded {
            return Check::new(&row.label, of_exclusion(excluded.why), &excluded.reason);
        }
        let cells = report.points.iter().filter_map(|point| point.cell(place));
        let (verdict, text) = of_cells(report, &cells.collect::<Vec<_>>());
        Check::new(&row.label, verdict, text)
    };
    report.rows.iter().enumerate().map(of_row).collect()
}

fn of_cells(report: &Report, cells: &[&CellReport]) -> (Verdict, String) {
    if let Some(reason) = cells.iter().find_map(|cell| cell.failed.clone()) {
        return (Verdict::Failed, reason);
    }
    if let Some(reason) = cells.iter().find(|cell| report.is_invalid(cell)) {
        return (Verdict::Invalid, reason.trouble.clone().unwrap_or_default());
    }
    let count = |of: fn(&CellReport) -> bool| cells.iter().filter(|cell| of(cell)).count();
    let (measured, stuck) = (count(|cell| cell.rounds > 0), count(|cell| cell.stuck.is_some()));
    let of_all = match cells.len() {
        1 => "measured".to_owned(),
        all => format!("measured under {measured} of {all} loads"),
    };
    match (measured, stuck) {
        (0, 0) => (Verdict::Inconclusive, "not measured yet".to_owned()),
        (_, 0) => (Verdict::Passed, of_all),
        (_, stuck) => (Verdict::Passed, format!("{of_all}; it got stuck under {stuck}, which is a finding")),
    }
}
