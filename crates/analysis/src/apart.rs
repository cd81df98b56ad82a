//! Whether a row lies above or below the geometric mean of others, in common blocks. With one other row this
//! is a plain comparison. With two different rows it shows which one the row resembles: below the mean if
//! like the cheaper, above if like the costlier, and undecided in between.

use tare_bench::{
    folder::StoredRun,
    plan::until::{AgainstMean, Until, planned},
    record::{Ending, ending},
};

use crate::{
    estimate::UnitEstimate,
    interleaved::{self, RowState},
    series,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideOfMean {
    Above,
    Below,
}

/// The result for a row.
#[derive(Debug, Clone, PartialEq)]
pub enum PositionFound {
    /// The interval of the row divided by the mean of the others excludes 1.
    Side(SideOfMean),
    /// The interval contains 1, or there are too few blocks for one.
    Neither,
    /// A row has no figures.
    Failed { label: String, reason: String },
}

/// A row among others.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    pub found: PositionFound,
    /// The row divided by each of the others; absent without a common block.
    pub against: Vec<Option<UnitEstimate>>,
    /// Blocks that all rows have.
    pub blocks: usize,
}

/// The position in a run with [`Until::Apart`]; absent for other runs.
pub fn compute(stored: &StoredRun) -> Option<Position> {
    let Until::Apart(asked) = &stored.header.plan.until else { return None };
    let looks = planned(&asked.looks, asked.alpha);
    let of_all = log_ratios(stored, asked, &asked.others);
    let looks = match ending(&stored.records) {
        Some((Ending::BudgetSpent, _)) => looks.ended(of_all.len()),
        _ => looks,
    };
    let estimate =
        |log_ratios: &[f64]| looks.estimate(log_ratios).ok().map(|found| UnitEstimate::exp(&found));
    let against = asked.others.iter().map(|other| log_ratios(stored, asked, std::slice::from_ref(other)));
    Some(Position {
        found: failed(stored).unwrap_or_else(|| side(estimate(&of_all))),
        against: against.map(|log_ratios| estimate(&log_ratios)).collect(),
        blocks: of_all.len(),
    })
}

fn side(ratio: Option<UnitEstimate>) -> PositionFound {
    match ratio.and_then(|ratio| ratio.interval()) {
        Some((low, _)) if low > 1.0 => PositionFound::Side(SideOfMean::Above),
        Some((_, high)) if high < 1.0 => PositionFound::Side(SideOfMean::Below),
        _ => PositionFound::Neither,
    }
}

/// The first row without figures, for any reason.
fn failed(stored: &StoredRun) -> Option<PositionFound> {
    let report = interleaved::compute(stored);
    let failed =
        report.rows.iter().find(|row| !matches!(row.state, RowState::Measured | RowState::Unmeasured))?;
    let reason = failed.state.reason().unwrap_or_default();
    Some(PositionFound::Failed { label: failed.label.clone(), reason })
}

/// One log ratio per block that all rows have.
fn log_ratios(stored: &StoredRun, asked: &AgainstMean, others: &[String]) -> Vec<f64> {
    let of = |label: &String| series::of(&stored.header.plan, &stored.records, label, asked.metric);
    let others: Vec<_> = others.iter().map(of).collect();
    let value = |(block, value): (&usize, &f64)| {
        let logs: Vec<f64> =
            others.iter().map(|other| Some(other.get(block)?.ln())).collect::<Option<_>>()?;
        Some(value.ln() - logs.iter().sum::<f64>() / logs.len() as f64)
    };
    of(&asked.subject).iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::{
        fixture,
        plan::{Plan, until::looks},
        record::{Failed, Record},
    };

    /// The result for twelve blocks of rows with these rates; the last one is the subject.
    fn found(rates: &[f64]) -> PositionFound {
        compute(&kept(rates, 12)).unwrap().found
    }

    fn kept(rates: &[f64], blocks: usize) -> StoredRun {
        let labels = &["a", "b", "c"][..rates.len()];
        let (subject, others) = labels.split_last().unwrap();
        let until = Until::Apart(AgainstMean {
            subject: (*subject).to_owned(),
            others: others.iter().map(ToString::to_string).collect(),
            metric: tare_bench::metric::Metric::Cpu,
            looks: looks(40),
            alpha: 0.01,
        });
        let mut header = fixture::compared();
        header.plan = Plan { until, ..fixture::plan(labels) };
        let records = (0..blocks).flat_map(|block| fixture::block(block, rates)).collect();
        StoredRun { header, records, damage: Vec::new(), in_progress: true }
    }

    fn side(found: &PositionFound) -> Option<SideOfMean> {
        match found {
            PositionFound::Side(side) => Some(*side),
            _ => None,
        }
    }

    #[test]
    fn a_row_is_like_one_of_two_or_between_them() {
        // Rate is the inverse of cost: b costs 11% more than a.
        assert_eq!(side(&found(&[1.0, 0.9, 0.9])), Some(SideOfMean::Above), "like the dearer");
        assert_eq!(side(&found(&[1.0, 0.9, 1.0])), Some(SideOfMean::Below), "like the cheaper");
        assert_eq!(side(&found(&[1.0, 0.9, 0.9_f64.sqrt()])), None, "between them");
        assert_eq!((side(&found(&[1.0, 0.9])), side(&found(&[1.0, 1.0]))), (Some(SideOfMean::Above), None));
    }

    #[test]
    fn before_the_first_look_nothing_is_found() {
        let early = compute(&kept(&[1.0, 0.5], 11)).unwrap();
        assert_eq!((early.found, early.blocks, early.against.len()), (PositionFound::Neither, 11, 1));
        assert!((early.against[0].unwrap().value - 2.0).abs() < 0.05, "{:?}", early.against);
        assert_eq!(compute(&StoredRun { header: fixture::compared(), ..kept(&[1.0, 0.5], 1) }), None);
    }

    #[test]
    fn a_row_that_failed_is_named() {
        let mut run = kept(&[1.0, 0.5], 12);
        run.records.push(Record::Failed(Failed { block: 12, row: 1, reason: "was killed".to_owned() }));
        let Some(PositionFound::Failed { label, reason }) = compute(&run).map(|position| position.found)
        else {
            panic!("not failed")
        };
        assert_eq!((label.as_str(), reason.as_str()), ("b", "block 13: was killed"));
    }
}
