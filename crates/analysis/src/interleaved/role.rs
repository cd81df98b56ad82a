//! Which rows of a run are ranked, and which serve as references.

use tare_bench::plan::{Plan, PlannedRow};
use tare_service::catalogue::Style;

/// The role of a row in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// The run measures its cost: it takes part in the ranking.
    #[default]
    Ranked,
    /// Others are compared with it, or it is similar to such a row: it is listed first, without a rank.
    Reference,
}

/// Fewest rows of a ranking.
const RANKED_MIN: usize = 2;

/// The role of each row, of which these were measured. Without two other rows with figures, references are ranked like all
/// rows. With versions of one service, the first is both the reference and ranked. The twin has none.
pub(super) fn roles(plan: &Plan, measured: &[bool]) -> Vec<Role> {
    let is_twin = |row: &PlannedRow| plan.is_twin(&row.label);
    let is_asked_for =
        |row: &PlannedRow| plan.are_versions || is_asked_for(row.style, &row.label, plan.reference());
    let ranked = plan.rows.iter().zip(measured).filter(|(row, _)| !is_twin(row) && is_asked_for(row));
    let has_references = ranked.filter(|(_, is_measured)| **is_measured).count() >= RANKED_MIN;
    let role = |row: &PlannedRow| match has_references && !is_twin(row) && !is_asked_for(row) {
        true => Role::Reference,
        false => Role::Ranked,
    };
    plan.rows.iter().map(role).collect()
}

pub(super) fn is_asked_for(style: Style, label: &str, reference: &str) -> bool {
    style != Style::RawSocket && label != reference
}

#[cfg(test)]
mod tests {
    use super::super::{Report, compute, tests::kept_with};
    use super::*;
    use tare_bench::{
        folder::StoredRun,
        plan::Plan,
        record::{Failed, Record},
    };

    fn roles(report: &Report) -> Vec<(&str, Role, Option<[usize; 2]>)> {
        report.rows.iter().map(|row| (row.label.as_str(), row.role, row.ranks)).collect()
    }

    fn run(labels: &[(&str, f64)], raw_sockets: &[&str]) -> StoredRun {
        let mut stored = kept_with(labels, 12);
        for row in &mut stored.header.plan.rows {
            let is_raw = raw_sockets.contains(&row.label.as_str());
            row.style = if is_raw { Style::RawSocket } else { Style::Framework };
        }
        stored
    }

    const ROWS: [(&str, f64); 4] = [("raw-socket", 0.9), ("asio", 1.0), ("axum", 0.5), ("hyper", 0.8)];

    #[test]
    fn references_stand_first_and_have_no_rank() {
        let report = compute(&run(&ROWS, &["raw-socket", "asio"]));
        let expected = [
            ("asio", Role::Reference, None),
            ("raw-socket", Role::Reference, None),
            ("hyper", Role::Ranked, Some([1, 1])),
            ("axum", Role::Ranked, Some([2, 2])),
        ];
        assert_eq!(roles(&report), expected);
        let ranks = report.ranks.unwrap();
        assert_eq!((ranks.rows.len(), ranks.extent().as_str()), (2, "1 of 1 pairs"));
    }

    #[test]
    fn the_reference_of_a_run_is_one_whatever_its_style() {
        let mut stored = run(&ROWS, &["raw-socket"]);
        stored.header.plan.reference = Some("hyper".to_owned());
        let report = compute(&stored);
        let references = report.rows.iter().filter(|row| row.role == Role::Reference);
        let references: Vec<&str> = references.map(|row| row.label.as_str()).collect();
        assert_eq!(references, ["raw-socket", "hyper"]);
    }

    #[test]
    fn references_are_ranked_where_nothing_else_can_be() {
        let all = |stored: &StoredRun| compute(stored).rows.iter().all(|row| row.role == Role::Ranked);
        assert!(all(&run(&ROWS, &["raw-socket", "asio", "axum", "hyper"])));
        let one_is_left = run(&ROWS, &["raw-socket", "asio", "axum"]);
        assert!(all(&one_is_left));
        assert_eq!(compute(&one_is_left).ranks.unwrap().rows.len(), 4);
        let mut failed = run(&ROWS, &["raw-socket", "asio"]);
        assert!(!all(&failed));
        failed.records.push(Record::Failed(Failed { block: 12, row: 2, reason: "was killed".to_owned() }));
        assert!(all(&failed));
        let mut versions = run(&ROWS, &[]);
        versions.header.plan = Plan { are_versions: true, ..versions.header.plan };
        assert!(all(&versions));
    }

    /// A reference that failed is listed last, with all rows without figures.
    #[test]
    fn a_reference_without_figures_stands_last() {
        let mut stored = run(&ROWS, &["raw-socket", "asio"]);
        stored.records.push(Record::Failed(Failed { block: 12, row: 1, reason: "was killed".to_owned() }));
        let report = compute(&stored);
        let labels: Vec<&str> = report.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!(labels, ["raw-socket", "hyper", "axum", "asio"]);
    }
}
