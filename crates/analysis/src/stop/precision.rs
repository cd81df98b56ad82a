//! The stopping rule for precise figures. It looks at the width of intervals, not at figures.

use tare_bench::{
    folder::{Header, StoredRun},
    plan::until::Precision,
    record::Record,
    schedule::StopRule,
};

use crate::interleaved::{self, Report};

/// Ends a run after the first block with a sufficiently small mean half width, once it has its fewest blocks.
#[derive(Debug)]
pub(super) struct PrecisionRule {
    kept: StoredRun,
    precision: Precision,
    blocks: usize,
}

impl PrecisionRule {
    pub(super) fn new(header: &Header, precision: Precision) -> PrecisionRule {
        PrecisionRule { kept: StoredRun::beginning(header), precision, blocks: 0 }
    }
}

impl StopRule for PrecisionRule {
    fn on_record(&mut self, record: &Record) {
        self.blocks += usize::from(matches!(record, Record::Block(_)));
        // The first load decides.
        self.kept.records.extend(record.clone().at_load(&self.kept.header.plan, 0));
    }

    fn is_decided(&mut self) -> bool {
        let plan = &self.kept.header.plan;
        self.blocks >= plan.blocks().min * plan.groups()
            && mean_half_width(&interleaved::compute(&self.kept))
                .is_some_and(|half| half <= self.precision.half_width)
    }
}

/// Mean half width of CPU time per request relative to the reference, as a share over all rows that have it.
/// Absent if a row has no interval yet, or none has a figure.
pub(crate) fn mean_half_width(report: &Report) -> Option<f64> {
    let estimates = report.rows.iter().filter_map(|row| row.cpu_ratio);
    let halves = estimates.map(|found| found.interval().map(|(low, high)| (high / low).sqrt() - 1.0));
    let halves: Vec<f64> = halves.collect::<Option<_>>()?;
    (!halves.is_empty()).then(|| halves.iter().sum::<f64>() / halves.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::{
        fixture::{self, in_blocks},
        plan::Until,
    };

    fn ends_after(half_width: f64) -> Option<usize> {
        let mut header = fixture::compared();
        let precision = Precision { half_width };
        header.plan.until = Until::Precision(precision);
        header.plan = in_blocks(header.plan, |blocks| blocks.min = 7);
        let mut rule = PrecisionRule::new(&header, precision);
        (1..=40).find(|blocks| {
            fixture::block(blocks - 1, &[1.0, 0.8]).iter().for_each(|record| rule.on_record(record));
            rule.is_decided()
        })
    }

    #[test]
    fn it_ends_when_intervals_are_narrow_and_not_before_the_fewest_blocks() {
        assert_eq!(ends_after(0.05), Some(7));
        let (later, never) = (ends_after(0.002).unwrap(), ends_after(0.000_01));
        assert!((8..40).contains(&later), "{later}");
        assert_eq!(never, None);
    }
}
