//! What a gate asks of a campaign: that each row has figures, and that they are its own.

use tare_analysis::report::{Report, RowReport, State, figures};
use tare_bench::run::plan::Exclusion;

use crate::document::{Check, Verdict};

/// One check a row.
pub fn checks(report: &Report) -> Vec<Check> {
    report.rows.iter().map(|row| Check::new(&row.label, verdict(row), text(row))).collect()
}

fn verdict(row: &RowReport) -> Verdict {
    match &row.state {
        State::Measured if row.throughput_doubt.is_some() => Verdict::Invalid,
        State::Measured => Verdict::Passed,
        State::Invalid(_) => Verdict::Invalid,
        State::Failed(_) => Verdict::Failed,
        State::Excluded(excluded) => of_exclusion(excluded.why),
        State::Unmeasured => Verdict::Inconclusive,
    }
}

/// Of a row that takes no part in a run.
pub fn of_exclusion(why: Exclusion) -> Verdict {
    match why {
        Exclusion::NotOnThisMachine | Exclusion::AnotherContract => Verdict::LeftOut,
        Exclusion::NotBuilt | Exclusion::AgainstItsContract => Verdict::Failed,
    }
}

fn text(row: &RowReport) -> String {
    if let Some(reason) = row.state.reason() {
        return format!("{}: {reason}", row.state.word());
    }
    if let Some(doubt) = &row.throughput_doubt {
        return doubt.clone();
    }
    let rate = row.requests_per_second.map_or("-".to_owned(), figures::rate);
    let errors: u64 = row.failed.values().sum();
    format!("{rate} requests/s over {} blocks, {errors} errors", row.blocks)
}
