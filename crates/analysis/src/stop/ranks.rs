//! The stopping rule for all pairs of ranked rows: each is separated, or equivalent within delta.

use std::collections::BTreeSet;

use tare_stats::{log_ratios, ranking::rank};

use crate::{interleaved, series};
use tare_bench::{
    folder::{Header, StoredRun},
    metric::Metric,
    plan::until::{RanksGoal, planned},
    record::Record,
    schedule::StopRule,
};

/// Ends a run once every pair of ranked rows is decided, by the metric of the table.
#[derive(Debug)]
pub(super) struct RanksRule {
    kept: StoredRun,
    ranks: RanksGoal,
    blocks: usize,
}

/// The progress of the pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PairwiseStatus {
    /// Blocks of the latest look.
    pub look: Option<usize>,
    pub separated: BTreeSet<(String, String)>,
    /// Pairs that differ by less than delta.
    pub equal: BTreeSet<(String, String)>,
    pub open: BTreeSet<(String, String)>,
}

impl PairwiseStatus {
    /// Whether no pair is undecided; a single row has none.
    pub(crate) fn is_clear(&self) -> bool {
        self.open.is_empty()
    }
}

impl RanksRule {
    /// For a run with this head, which asks for `ranks`.
    pub(crate) fn new(header: &Header, ranks: &RanksGoal) -> RanksRule {
        RanksRule { kept: StoredRun::beginning(header), ranks: ranks.clone(), blocks: 0 }
    }

    /// The status of each pair at the looks reached. Separations persist, because each look has its share of
    /// the error probability.
    pub(crate) fn status(&self) -> PairwiseStatus {
        let (labels, by) = self.ranked();
        let values = self.values(&labels, by);
        let mut status = PairwiseStatus {
            look: None,
            separated: BTreeSet::new(),
            equal: BTreeSet::new(),
            open: pairs(&labels),
        };
        let blocks = values.first().map_or(0, Vec::len);
        let separate = planned(&self.ranks.looks, self.ranks.alpha);
        // Each pair has its share of the error probability, so that all statements hold simultaneously.
        let equal = planned(&self.ranks.looks, self.ranks.alpha / status.open.len().max(1) as f64);
        for look in separate.all().iter().filter(|look| look.n <= blocks) {
            status.look = Some(look.n);
            let so_far: Vec<&[f64]> = values.iter().map(|values| &values[..look.n]).collect();
            let ranking = rank(&so_far, by.better(), look.spent);
            for pair in ranking.iter().flat_map(|ranking| &ranking.pairs) {
                let name = (labels[pair.a].clone(), labels[pair.b].clone());
                if pair.separated {
                    status.separated.insert(name.clone());
                }
                if self.is_equal_within_delta(&equal, so_far[pair.a], so_far[pair.b]) {
                    status.equal.insert(name);
                }
            }
        }
        let PairwiseStatus { separated, equal, open, .. } = &mut status;
        open.retain(|pair| !separated.contains(pair) && !equal.contains(pair));
        status
    }

    /// Two one-sided tests at once: the interval lies within delta.
    fn is_equal_within_delta(&self, looks: &tare_stats::Looks, one: &[f64], other: &[f64]) -> bool {
        let found = log_ratios(one, other).and_then(|diffs| looks.estimate(&diffs));
        let bound = self.ranks.delta.ln_1p();
        let interval = found.ok().and_then(|found| found.interval);
        interval.is_some_and(|interval| -bound < interval.low && interval.high < bound)
    }

    /// The rows ranked by the table of the records so far, in the order of the plan, and the metric.
    fn ranked(&self) -> (Vec<String>, Metric) {
        let Some(ranks) = interleaved::compute(&self.kept).ranks else {
            return (Vec::new(), self.ranks.metric);
        };
        let is_ranked = |label: &&String| ranks.rows.iter().any(|place| place.row == **label);
        let labels = self.kept.header.plan.rows.iter().map(|row| &row.label);
        (labels.filter(is_ranked).cloned().collect(), ranks.by)
    }

    /// Values of each row in common blocks.
    fn values(&self, labels: &[String], by: Metric) -> Vec<Vec<f64>> {
        let of = |label: &String| series::of(&self.kept.header.plan, &self.kept.records, label, by);
        let all: Vec<_> = labels.iter().map(of).collect();
        let common = |block: &&usize| all.iter().all(|row| row.contains_key(*block));
        let blocks: Vec<usize> =
            all.first().map(|row| row.keys().filter(common).copied().collect()).unwrap_or_default();
        all.iter().map(|row| blocks.iter().map(|block| row[block]).collect()).collect()
    }
}

fn pairs(labels: &[String]) -> BTreeSet<(String, String)> {
    let after =
        |index: usize| labels[index + 1..].iter().map(move |other| (labels[index].clone(), other.clone()));
    (0..labels.len()).flat_map(after).collect()
}

impl StopRule for RanksRule {
    fn on_record(&mut self, record: &Record) {
        self.blocks += usize::from(matches!(record, Record::Block(_)));
        // The first load decides.
        let records = record.at_load(&self.kept.header.plan, 0);
        self.kept.records.extend(records);
    }

    fn is_decided(&mut self) -> bool {
        self.ranks.looks.contains(&self.blocks) && self.status().is_clear()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::{
        fixture,
        plan::{
            Until,
            until::{ALPHA, looks},
        },
        record::Failed,
    };

    /// The rule for a reference, which is in no pair, and three services.
    fn stop_rule(metric: Metric) -> RanksRule {
        let ranks = RanksGoal { metric, delta: 0.03, looks: looks(40), alpha: ALPHA };
        let mut header = fixture::compared();
        header.plan = fixture::plan(&["reference", "a", "b", "c"]);
        header.plan.until = Until::Ranks(ranks.clone());
        RanksRule::new(&header, &ranks)
    }

    fn after(blocks: usize, levels: [f64; 3]) -> (RanksRule, Option<usize>) {
        let mut stop_rule = stop_rule(Metric::Throughput);
        let levels = [[1.0].as_slice(), &levels].concat();
        let decided = (1..=blocks).find(|blocks| {
            fixture::block(blocks - 1, &levels).iter().for_each(|record| stop_rule.on_record(record));
            stop_rule.is_decided()
        });
        (stop_rule, decided)
    }

    fn fail(stop_rule: &mut RanksRule, row: usize) {
        stop_rule.on_record(&Record::Failed(Failed { block: 15, row, reason: "was killed".to_owned() }));
    }

    fn count(status: &PairwiseStatus) -> usize {
        status.separated.len() + status.equal.len() + status.open.len()
    }

    #[test]
    fn it_ends_where_every_pair_is_clear() {
        let (stop_rule, decided) = after(40, [1.0, 1.0, 0.5]);
        assert_eq!(decided, Some(12));
        let status = stop_rule.status();
        assert_eq!((status.separated.len(), status.equal.len(), status.look), (2, 1, Some(12)));
        assert!(status.equal.contains(&("a".to_owned(), "b".to_owned())));
    }

    #[test]
    fn a_pair_that_is_about_delta_apart_is_neither() {
        let (stop_rule, decided) = after(39, [1.0, 0.97, 0.5]);
        assert!(decided.is_some(), "a difference this near to delta is separated: {:?}", stop_rule.status());
        let (stop_rule, decided) = after(11, [1.0, 1.0, 0.5]);
        assert_eq!((decided, stop_rule.status().look, stop_rule.status().open.len()), (None, None, 3));
    }

    #[test]
    fn a_row_that_failed_is_no_pair() {
        let (mut stop_rule, _) = after(15, [1.0, 1.0, 0.5]);
        assert_eq!(count(&stop_rule.status()), 3);
        fail(&mut stop_rule, 3);
        assert_eq!(count(&stop_rule.status()), 1);
    }

    /// The reference is ranked only if fewer than two other rows are left.
    #[test]
    fn the_reference_is_no_pair() {
        let names = |stop_rule: &RanksRule| stop_rule.ranked().0;
        let (mut stop_rule, _) = after(15, [1.0, 1.0, 0.5]);
        assert_eq!(names(&stop_rule), ["a", "b", "c"]);
        fail(&mut stop_rule, 3);
        assert_eq!(names(&stop_rule), ["a", "b"]);
        fail(&mut stop_rule, 1);
        assert_eq!(names(&stop_rule), ["reference", "b"]);
    }

    /// The last look of a run and its table have the same rows, metric and separated pairs.
    #[test]
    fn the_end_of_a_run_and_its_table_agree() {
        for levels in [[1.0, 0.96, 0.5], [1.0, 1.0, 1.0], [0.9, 0.8, 0.7]] {
            for metric in [Metric::Cpu, Metric::Throughput] {
                let mut stop_rule = stop_rule(metric);
                let levels = [[1.0].as_slice(), &levels].concat();
                for block in 0..12 {
                    fixture::block(block, &levels).iter().for_each(|record| stop_rule.on_record(record));
                }
                let (status, table) =
                    (stop_rule.status(), interleaved::compute(&stop_rule.kept).ranks.unwrap());
                assert_eq!((table.by, table.rows.len()), (metric, 3));
                for (one, other) in pairs(&["a", "b", "c"].map(str::to_owned)) {
                    let is_separated = status.separated.contains(&(one.clone(), other.clone()));
                    assert_eq!(
                        is_separated,
                        table.are_separated(&one, &other),
                        "{one}, {other} at {levels:?}"
                    );
                }
            }
        }
    }
}
