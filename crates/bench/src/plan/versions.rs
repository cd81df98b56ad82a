//! The plans of questions about rows that are measured in the same blocks: does one cost more than another, which of two is a third
//! like, and what does each of many versions cost? What the rows are, and how they are loaded, is in the plan already.

use std::time::Duration;

use super::{
    Order, Plan, Until,
    until::{ALPHA, Apart, Gate, Metric, looks},
};
use crate::record::{Block, ChosenBlocks, Record};

/// However small the budget is, there are looks after this many blocks: fewer have no interval worth its name.
const LOOKS_BLOCKS_MIN: usize = 4;

impl Plan {
    /// The plan until it is decided whether the second row costs more than the first by `delta` or more. A third row is the second
    /// once more.
    #[must_use]
    pub fn until_compared(self, delta: f64, metrics: Vec<Metric>) -> Plan {
        let candidate = self.rows[1].label.clone();
        let again = self.rows.get(2).map(|row| row.label.clone());
        let looks = looks(self.blocks().max);
        // Whose twin it is follows from the gate, and how many blocks fit from the twin.
        let plan =
            Plan { until: Until::Gate(Gate { candidate, delta, metrics, looks, alpha: ALPHA }), ..self };
        match again {
            Some(again) => plan.with_twin(&again),
            None => plan,
        }
    }

    /// The plan until the last row is found above or below the others, with this error probability.
    #[must_use]
    pub fn until_apart(self, metric: Metric, alpha: f64) -> Plan {
        let mut others: Vec<String> = self.rows.iter().map(|row| row.label.clone()).collect();
        let subject = others.pop().unwrap_or_default();
        let looks = looks(self.blocks().max);
        Plan { until: Until::Apart(Apart { subject, others, metric, looks, alpha }), ..self }
    }

    /// The plan of a history: its rows are versions, oldest first, and its budget ends it.
    #[must_use]
    pub fn of_versions(self) -> Plan {
        Plan { until: Until::Budget, are_versions: true, ..self }
    }

    /// Whether a comparison is over before it begins, since one side of it takes no part.
    pub fn has_nothing_to_compare(&self) -> bool {
        let compares = matches!(self.until, Until::Gate(_) | Until::Apart(_));
        compares && self.rows.iter().any(|row| row.excluded.is_some())
    }

    /// The same with a budget that bounds the whole run, and with looks at as many blocks as are expected to fit into it. How many do
    /// is known after the pilots: see [`Plan::learn`].
    #[must_use]
    pub fn bounded_with_looks(self, budget: Duration) -> Plan {
        let plan = self.bounded(budget);
        let fit = plan.blocks_looked_at(plan.blocks_expected());
        Plan { until: plan.until.clone().with_blocks_max(fit), ..plan }
    }

    /// Whether its looks, and so its most blocks, are chosen once the pilots have shown what a block takes.
    pub(crate) fn chooses_looks(&self) -> bool {
        self.blocks().is_bound && matches!(self.until, Until::Gate(_) | Until::Apart(_))
    }

    /// The most blocks of a run that has room for `fit`.
    pub(super) fn blocks_looked_at(&self, fit: usize) -> usize {
        let most = self.blocks().max;
        fit.clamp(LOOKS_BLOCKS_MIN.min(most), most)
    }

    /// Takes in what the run has chosen since it was planned, if the record has it: the most blocks, and the looks at them.
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
