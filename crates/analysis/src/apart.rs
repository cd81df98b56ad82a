//! Whether a row lies above or below the geometric mean of others, in blocks that all of them have. Related to one row it is a plain
//! comparison. Related to two that differ it shows which of them the row is like: one that is like the cheaper lies below, one that
//! is like the dearer above, and one between them lies on neither side.

use tare_bench::{
    folder::StoredRun,
    plan::until::{Apart, Until, planned},
    record::{Ending, ending},
};

use crate::{
    estimate::Estimate,
    interleaved::{self, State},
    series,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideOfMean {
    Above,
    Below,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum PositionFound {
    /// The interval of the row, as a multiple of the mean of the others, leaves out 1.
    Side(SideOfMean),
    /// The interval holds 1, or there are too few blocks for one.
    Neither,
    /// A row has no figures.
    Failed { label: String, reason: String },
}

/// A row among others.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    pub found: PositionFound,
    /// The row as a multiple of each of the others; absent without a block that both have.
    pub against: Vec<Option<Estimate>>,
    /// Blocks that all have.
    pub blocks: usize,
}

/// Of a run that asks this; absent of others.
pub fn compute(kept: &StoredRun) -> Option<Position> {
    let Until::Apart(asked) = &kept.header.plan.until else { return None };
    let looks = planned(&asked.looks, asked.alpha);
    let of_all = log_ratios(kept, asked, &asked.others);
    let looks = match ending(&kept.records) {
        Some((Ending::BudgetSpent, _)) => looks.ended(of_all.len()),
        _ => looks,
    };
    let estimate = |log_ratios: &[f64]| looks.estimate(log_ratios).ok().map(|found| Estimate::exp(&found));
    let against = asked.others.iter().map(|other| log_ratios(kept, asked, std::slice::from_ref(other)));
    Some(Position {
        found: failed(kept).unwrap_or_else(|| side(estimate(&of_all))),
        against: against.map(|log_ratios| estimate(&log_ratios)).collect(),
        blocks: of_all.len(),
    })
}

fn side(ratio: Option<Estimate>) -> PositionFound {
    match ratio.and_then(|ratio| ratio.interval()) {
        Some((low, _)) if low > 1.0 => PositionFound::Side(SideOfMean::Above),
        Some((_, high)) if high < 1.0 => PositionFound::Side(SideOfMean::Below),
        _ => PositionFound::Neither,
    }
}

/// The first row that has no figures, for whatever reason.
fn failed(kept: &StoredRun) -> Option<PositionFound> {
    let report = interleaved::compute(kept);
    let failed = report.rows.iter().find(|row| !matches!(row.state, State::Measured | State::Unmeasured))?;
    let reason = failed.state.reason().unwrap_or_default();
    Some(PositionFound::Failed { label: failed.label.clone(), reason })
}

/// One value a block, in the blocks that all have.
fn log_ratios(kept: &StoredRun, asked: &Apart, others: &[String]) -> Vec<f64> {
    let of = |label: &String| series::of(&kept.header.plan, &kept.records, label, asked.metric);
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

    /// Twelve blocks of these rows, whose rates are these; the last is the subject.
    fn found(rates: &[f64]) -> PositionFound {
        compute(&kept(rates, 12)).unwrap().found
    }

    fn kept(rates: &[f64], blocks: usize) -> StoredRun {
        let labels = &["a", "b", "c"][..rates.len()];
        let (subject, others) = labels.split_last().unwrap();
        let until = Until::Apart(Apart {
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
        // The rate is the inverse of the cost: b costs 11% more than a.
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
