//! The level of a row: the geometric mean over its blocks, with an interval over its processes. It is
//! adjusted to the reference's level times the ratio, so that displayed figures and ratios agree.

use tare_stats::{Contrast, DEFAULT_CONFIDENCE, two_level};

use super::{
    RowReport,
    blocks::{Block, Blocks},
};
use crate::estimate::Estimate;

/// The level over blocks with a value. With a single process it has no interval.
pub(super) fn level(value: impl Fn(&Block) -> Option<f64>, blocks: &Blocks) -> Option<Estimate> {
    let known = blocks.values().filter_map(|block| Some((value(block).filter(|value| *value > 0.0)?, block)));
    let (logs, processes): (Vec<f64>, Vec<usize>) =
        known.map(|(value, block)| (value.ln(), block.process)).unzip();
    let starts = two_level::by_start(&logs, &processes, &processes).ok()?;
    let found = Estimate::exp(&Contrast::of(&starts).ok()?.estimate(DEFAULT_CONFIDENCE).ok()?);
    // A value that is equal in all blocks is returned without rounding errors of logarithms.
    let mut values = blocks.values().filter_map(&value);
    let first = values.next()?;
    if !values.all(|value| value == first) {
        return Some(found);
    }
    let end = |end: Option<f64>| end.map(|_| first);
    Some(Estimate { value: first, low: end(found.low), high: end(found.high), ..found })
}

/// Adjusts the levels of rows to the blocks of the reference. A row may have fewer blocks than the reference,
/// and an estimated ratio need not equal the ratio of two estimates.
pub(super) fn relate(rows: &mut [(RowReport, Blocks)], reference: &str) {
    let reference = rows.iter().find(|(row, _)| row.label == reference);
    let Some(reference) = reference.map(|(row, _)| row.clone()) else { return };
    let at = |own: Option<Estimate>, of_reference: Option<Estimate>, ratio: Option<Estimate>| {
        let level = of_reference.zip(ratio).map(|(level, ratio)| level.value * ratio.value);
        own.map(|own| level.map_or(own, |level| own.over(own.value / level)))
    };
    for (row, _) in rows {
        row.requests_per_second = at(row.requests_per_second, reference.requests_per_second, row.ratio);
        let own = row.cpu_ns_per_request;
        row.cpu_ns_per_request = at(own, reference.cpu_ns_per_request, row.cpu_ratio);
        let moved = row.cpu_ns_per_request.zip(own).map(|(related, own)| related.value / own.value);
        row.cpu_ns_per_request_with_softirq =
            row.cpu_ns_per_request_with_softirq.zip(moved).map(|(with, moved)| with * moved);
        for cost in &mut row.cost_at_rates {
            let same = reference.cost_at_rates.iter().find(|other| other.rate == cost.rate);
            let level =
                same.zip(cost.cpu_ratio).map(|(same, ratio)| same.cpu_ns_per_request.value * ratio.value);
            let own = cost.cpu_ns_per_request;
            cost.cpu_ns_per_request = level.map_or(own, |level| own.over(own.value / level));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{compute, tests::kept_with};
    use crate::estimate::Estimate;

    #[test]
    fn the_quotient_of_two_levels_is_the_ratio_and_each_has_an_interval() {
        let report = compute(&kept_with(&[("raw-socket", 1.0), ("half", 0.5), ("third", 0.33)], 12));
        let of = |label: &str| report.rows.iter().find(|row| row.label == label).unwrap();
        let reference = of("raw-socket");
        let value = |found: Option<Estimate>| found.unwrap().value;
        for row in [of("half"), of("third")] {
            let pairs = [
                (row.requests_per_second, reference.requests_per_second, row.ratio),
                (row.cpu_ns_per_request, reference.cpu_ns_per_request, row.cpu_ratio),
            ];
            for (own, of_reference, ratio) in pairs {
                let quotient = value(own) / value(of_reference);
                assert!((quotient / value(ratio) - 1.0).abs() < 1e-12, "{}: {quotient}", row.label);
                let (low, high) = own.unwrap().interval().unwrap();
                assert!(low <= value(own) && value(own) <= high);
            }
        }
    }

    #[test]
    fn one_block_has_no_interval() {
        let report = compute(&kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 1));
        let found = report.rows[0].requests_per_second.unwrap();
        assert_eq!((found.interval(), found.n), (None, 1));
    }
}
