//! All rows against each other, until every pair is separated or proved to be equal within delta.

use std::collections::BTreeSet;

use tare_stats::{log_ratios, ranking::rank};

use crate::series;
use tare_bench::{
    plan::{
        Plan,
        until::{Ranks, planned},
    },
    record::Record,
    schedule::StopRule,
};

/// Ends a run once every pair of rows is decided.
#[derive(Debug)]
pub(super) struct RanksRule {
    plan: Plan,
    ranks: Ranks,
    records: Vec<Record>,
    blocks: usize,
}

/// How far the pairs are.
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
    /// No pair is left; a single row has none.
    pub(crate) fn is_clear(&self) -> bool {
        self.open.is_empty()
    }
}

impl RanksRule {
    /// For this plan, which asks for `ranks`.
    pub(crate) fn new(plan: &Plan, ranks: &Ranks) -> RanksRule {
        RanksRule { plan: plan.clone(), ranks: ranks.clone(), records: Vec::new(), blocks: 0 }
    }

    /// The status of each pair at the looks that the records have reached. A pair that an earlier look has separated stays
    /// separated: each look has its share of the error.
    pub(crate) fn status(&self) -> PairwiseStatus {
        let labels = self.labels();
        let values = self.values(&labels);
        let mut status = PairwiseStatus {
            look: None,
            separated: BTreeSet::new(),
            equal: BTreeSet::new(),
            open: pairs(&labels),
        };
        let blocks = values.first().map_or(0, Vec::len);
        let separate = planned(&self.ranks.looks, self.ranks.alpha);
        // Each pair has its share of the error, so that all statements hold together.
        let equal = planned(&self.ranks.looks, self.ranks.alpha / status.open.len().max(1) as f64);
        for look in separate.all().iter().filter(|look| look.n <= blocks) {
            status.look = Some(look.n);
            let so_far: Vec<&[f64]> = values.iter().map(|values| &values[..look.n]).collect();
            let ranking = rank(&so_far, self.ranks.metric.better(), look.spent);
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

    /// Both one-sided tests at once: the interval lies within delta.
    fn is_equal_within_delta(&self, looks: &tare_stats::Looks, one: &[f64], other: &[f64]) -> bool {
        let found = log_ratios(one, other).and_then(|diffs| looks.estimate(&diffs));
        let bound = self.ranks.delta.ln_1p();
        let interval = found.ok().and_then(|found| found.interval);
        interval.is_some_and(|interval| -bound < interval.low && interval.high < bound)
    }

    /// Rows that take part and have not failed.
    fn labels(&self) -> Vec<String> {
        let failed = |place: usize| {
            self.records.iter().any(|record| matches!(record, Record::Failed(failed) if failed.row == place))
        };
        let rows = self.plan.rows.iter().enumerate();
        let left = rows.filter(|(place, row)| {
            row.excluded.is_none() && !self.plan.is_twin(&row.label) && !failed(*place)
        });
        left.map(|(_, row)| row.label.clone()).collect()
    }

    /// Of each row, in the blocks that all of them have.
    fn values(&self, labels: &[String]) -> Vec<Vec<f64>> {
        let of = |label: &String| series::of(&self.plan, &self.records, label, self.ranks.metric);
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
        self.records.extend(record.at_load(&self.plan, 0));
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
        plan::until::{ALPHA, Metric, looks},
        record::Failed,
    };

    fn stop_rule() -> RanksRule {
        let ranks = Ranks { metric: Metric::Throughput, delta: 0.03, looks: looks(40), alpha: ALPHA };
        RanksRule::new(&fixture::plan(&["a", "b", "c"]), &ranks)
    }

    fn after(blocks: usize, levels: &[f64]) -> (RanksRule, Option<usize>) {
        let mut stop_rule = stop_rule();
        let decided = (1..=blocks).find(|blocks| {
            fixture::block(blocks - 1, levels).iter().for_each(|record| stop_rule.on_record(record));
            stop_rule.is_decided()
        });
        (stop_rule, decided)
    }

    #[test]
    fn it_ends_where_every_pair_is_clear() {
        let (stop_rule, decided) = after(40, &[1.0, 1.0, 0.5]);
        assert_eq!(decided, Some(12));
        let status = stop_rule.status();
        assert_eq!((status.separated.len(), status.equal.len(), status.look), (2, 1, Some(12)));
        assert!(status.equal.contains(&("a".to_owned(), "b".to_owned())));
    }

    #[test]
    fn a_pair_that_is_about_delta_apart_is_neither() {
        let (stop_rule, decided) = after(39, &[1.0, 0.97, 0.5]);
        assert!(decided.is_some(), "a difference this near to delta is separated: {:?}", stop_rule.status());
        let (stop_rule, decided) = after(11, &[1.0, 1.0, 0.5]);
        assert_eq!((decided, stop_rule.status().look, stop_rule.status().open.len()), (None, None, 3));
    }

    #[test]
    fn a_row_that_failed_is_no_pair() {
        let (mut stop_rule, _) = after(15, &[1.0, 1.0, 0.5]);
        stop_rule.on_record(&Record::Failed(Failed { block: 15, row: 2, reason: "was killed".to_owned() }));
        let status = stop_rule.status();
        assert_eq!((status.separated.len() + status.equal.len() + status.open.len()), 1);
    }
}
