//! Plans for questions about rows in common blocks: whether one costs more than another, which of two a third
//! resembles, and what each of many versions costs. The given plan has the rows and their load.

use std::time::Duration;

use super::{
    Order, Plan, Until,
    until::{ALPHA, AgainstMean, Gate, Metric, looks},
};
use crate::record::{Block, ChosenBlocks, Record};

/// A budget always leaves room for this many blocks at the looks, because fewer have no useful interval.
const LOOKS_BLOCKS_MIN: usize = 4;

impl Plan {
    /// Runs until it is decided whether the second row costs `delta` more than the first. A third row is its
    /// twin.
    #[must_use]
    pub fn until_compared(self, delta: f64, metrics: Vec<Metric>) -> Plan {
        let candidate = self.rows[1].label.clone();
        let again = self.rows.get(2).map(|row| row.label.clone());
        let looks = looks(self.blocks().max);
        // The gate determines the row that the twin duplicates, and the twin determines how many blocks fit.
        let plan =
            Plan { until: Until::Gate(Gate { candidate, delta, metrics, looks, alpha: ALPHA }), ..self };
        match again {
            Some(again) => plan.with_twin(&again),
            None => plan,
        }
    }

    /// Runs until the last row is found above or below the others, with this error probability.
    #[must_use]
    pub fn until_apart(self, metric: Metric, alpha: f64) -> Plan {
        let mut others: Vec<String> = self.rows.iter().map(|row| row.label.clone()).collect();
        let subject = others.pop().unwrap_or_default();
        let looks = looks(self.blocks().max);
        Plan { until: Until::Apart(AgainstMean { subject, others, metric, looks, alpha }), ..self }
    }

    /// The plan of a history: rows are versions, oldest first, and the budget ends it.
    #[must_use]
    pub fn of_versions(self) -> Plan {
        Plan { until: Until::Budget, are_versions: true, ..self }
    }

    /// Whether a comparison cannot start, because one of its rows is excluded.
    pub fn has_nothing_to_compare(&self) -> bool {
        let compares = matches!(self.until, Until::Gate(_) | Until::Apart(_));
        compares && self.rows.iter().any(|row| row.excluded.is_some())
    }

    /// Limits the run by a budget, with looks for the expected blocks; pilots correct it: [`Plan::learn`].
    #[must_use]
    pub fn bounded_with_looks(self, budget: Duration) -> Plan {
        let plan = self.bounded(budget);
        let fit = plan.blocks_looked_at(plan.blocks_expected());
        Plan { until: plan.until.clone().with_blocks_max(fit), ..plan }
    }

    /// Whether looks, and so the most blocks, are chosen after the pilots have measured the cost of a block.
    pub(crate) fn chooses_looks(&self) -> bool {
        self.blocks().is_bound && matches!(self.until, Until::Gate(_) | Until::Apart(_))
    }

    /// The most blocks of a run with room for `fit`.
    pub(super) fn blocks_looked_at(&self, fit: usize) -> usize {
        let most = self.blocks().max;
        fit.clamp(LOOKS_BLOCKS_MIN.min(most), most)
    }

    /// Applies what a stored record says was chosen during the run: the most blocks, and their looks.
    pub fn learn(&mut self, record: &Record) {
        let Record::Block(Block { chosen: Some(ChosenBlocks { blocks_max, .. }), .. }) = record else {
            return;
        };
        if let Order::Interleaved(blocks) = &mut self.order
            && blocks.max != *blocks_max
        {
            blocks.max = *blocks_max;
            blocks.min = blocks.min.min(*blocks_max);
            self.until = std::mem::take(&mut self.until).with_blocks_max(*blocks_max);
        }
    }
}
