//! The ratio of any two rows over common blocks, computed like the ratio to the reference.

use tare_bench::{folder::StoredRun, metric::Metric};

use super::{
    Ranks, RatioBound, Report, RowReport,
    blocks::Blocks,
    relation::related,
    row::{TableRow, measured},
};
use crate::estimate::UnitEstimate;

/// The first row divided by the second. The inverse has its ends swapped.
#[derive(Debug, Clone, PartialEq)]
pub struct PairRatios {
    pub first: String,
    pub second: String,
    /// Absent if one of them has no CPU time.
    pub cpu: Option<UnitEstimate>,
    /// That of service and database; absent if one of them has none.
    pub total_cpu: Option<UnitEstimate>,
    /// Absent if either throughput is invalid, or neither was saturated.
    pub throughput: Option<UnitEstimate>,
    pub throughput_bound: RatioBound,
    /// Number of common blocks.
    pub blocks: usize,
    /// Whether the data separate them: ranked rows among all pairs, others as a single pair.
    pub separated: Option<bool>,
    /// The largest difference not excluded, as a share of the lesser, by an interval that holds for all
    /// pairs. Known for adjacent rows that are not separated.
    pub differ_most: Option<f64>,
}

/// All pairs of measured rows under the first load, in the order of the table. In a pair with the reference
/// it is the second, so that the ratio equals the table's.
pub fn pair_ratios(stored: &StoredRun, report: &Report) -> Vec<PairRatios> {
    // The twin is in no pair, but contributes to the noise estimate.
    let rows = measured(stored, report.rows.iter().chain(report.twin.as_ref().map(|twin| &twin.row)));
    let in_pairs = rows.len() - rows.iter().filter(|one| stored.header.plan.is_twin(&one.row.label)).count();
    let is_reference = |place: usize| rows[place].row.label == report.reference;
    let seconds = (0..in_pairs).flat_map(|second| {
        let of_second = OfSecond::of(&rows, second, stored);
        let firsts = (0..in_pairs).filter(move |first| match (is_reference(*first), is_reference(second)) {
            (false, true) => true,
            (true, _) => false,
            _ => *first < second,
        });
        firsts.map(|first| of_second.pair(&rows, [first, second], report)).collect::<Vec<PairRatios>>()
    });
    let mut pairs: Vec<PairRatios> = seconds.collect();
    let place = |label: &str| rows.iter().position(|one| one.row.label == label);
    pairs.sort_by_key(|pair| {
        let places = [place(&pair.first), place(&pair.second)];
        [places.iter().min().copied(), places.iter().max().copied()]
    });
    pairs
}

/// Each row divided by one of them.
struct OfSecond {
    cpu: Vec<Option<UnitEstimate>>,
    total_cpu: Vec<Option<UnitEstimate>>,
    throughput: Vec<Option<UnitEstimate>>,
}

impl OfSecond {
    fn of(rows: &[TableRow], second: usize, stored: &StoredRun) -> OfSecond {
        let looks = stored.header.plan.until.planned();
        let others = rows.iter().enumerate();
        let others: Vec<Option<&Blocks>> =
            others.map(|(place, one)| (place != second).then_some(&one.blocks)).collect();
        let of = |metric| {
            let found = related(&others, &rows[second].blocks, metric, looks.as_ref());
            found.iter().map(|found| found.as_ref().map(UnitEstimate::from)).collect()
        };
        OfSecond {
            cpu: of(Metric::Cpu),
            total_cpu: of(Metric::CpuWithDatabase),
            throughput: of(Metric::Throughput),
        }
    }

    /// References are not ranked, so pairs with them are decided by their own interval.
    fn are_separated(&self, ranks: &Ranks, [one, other]: [&String; 2], first: usize) -> bool {
        if [one, other].iter().all(|label| ranks.place(label).is_some()) {
            return ranks.are_separated(one, other);
        }
        let by = match ranks.by {
            Metric::Throughput => &self.throughput,
            Metric::CpuWithDatabase => &self.total_cpu,
            _ => &self.cpu,
        };
        by[first].as_ref().is_some_and(UnitEstimate::is_apart)
    }

    fn pair(&self, rows: &[TableRow], [first, second]: [usize; 2], report: &Report) -> PairRatios {
        let [one, other] = [&rows[first], &rows[second]];
        let both = |has: fn(&RowReport) -> bool| has(one.row) && has(other.row);
        let bound = RatioBound::of(one.row.unsaturated(), other.row.unsaturated())
            .filter(|_| both(|row| row.requests_per_second.is_some()) && self.throughput[first].is_some());
        let ranks = report.ranks.as_ref().filter(|ranks| ranks.are_known());
        let labels = [&one.row.label, &other.row.label];
        let adjacent = ranks.into_iter().flat_map(|ranks| &ranks.not_separated);
        let adjacent = adjacent.filter(|pair| labels.contains(&&pair.row) && labels.contains(&&pair.next));
        PairRatios {
            first: one.row.label.clone(),
            second: other.row.label.clone(),
            cpu: self.cpu[first].filter(|_| both(|row| row.cpu_ns_per_request.is_some())),
            total_cpu: self.total_cpu[first].filter(|_| both(|row| row.database().is_some())),
            throughput: bound.and(self.throughput[first]),
            throughput_bound: bound.unwrap_or_default(),
            blocks: one.blocks.keys().filter(|number| other.blocks.contains_key(number)).count(),
            separated: ranks.map(|ranks| self.are_separated(ranks, labels, first)),
            differ_most: adjacent.filter_map(|pair| pair.differ_most).next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{compute, tests::kept_with};
    use super::*;

    fn found(blocks: usize) -> (Report, Vec<PairRatios>) {
        let stored = kept_with(&[("raw-socket", 1.0), ("half", 0.5), ("third", 0.33)], blocks);
        let report = compute(&stored);
        let pairs = pair_ratios(&stored, &report);
        (report, pairs)
    }

    fn labels(pairs: &[PairRatios]) -> Vec<[&str; 2]> {
        pairs.iter().map(|pair| [pair.first.as_str(), pair.second.as_str()]).collect()
    }

    #[test]
    fn each_pair_is_there_once_and_the_reference_is_the_second() {
        let (_, pairs) = found(8);
        assert_eq!(labels(&pairs), [["half", "raw-socket"], ["third", "raw-socket"], ["half", "third"]]);
        assert!(pairs.iter().all(|pair| pair.blocks == 8 && pair.separated == Some(true)), "{pairs:?}");
    }

    #[test]
    fn of_the_reference_they_are_the_figures_of_the_table() {
        let (report, pairs) = found(8);
        for pair in pairs.iter().filter(|pair| pair.second == "raw-socket") {
            let row = report.rows.iter().find(|row| row.label == pair.first).unwrap();
            assert_eq!((pair.cpu, pair.throughput), (row.cpu_ratio, row.ratio));
            assert!(pair.cpu.unwrap().low.is_some());
        }
    }

    #[test]
    fn two_services_are_related_to_each_other() {
        let (_, pairs) = found(8);
        let throughput = pairs[2].throughput.unwrap();
        assert!((throughput.value / (0.5 / 0.33) - 1.0).abs() < 0.03, "{throughput:?}");
        let (low, high) = throughput.interval().unwrap();
        assert!(low < throughput.value && throughput.value < high, "{throughput:?}");
    }

    #[test]
    fn a_throughput_that_is_not_valid_has_no_ratio() {
        let stored = kept_with(&[("raw-socket", 1.0), ("half", 0.5)], 8);
        let mut report = compute(&stored);
        report.rows.iter_mut().for_each(|row| row.requests_per_second = None);
        let pairs = pair_ratios(&stored, &report);
        assert_eq!(pairs[0].throughput, None);
        assert!(pairs[0].cpu.is_some());
    }
}
