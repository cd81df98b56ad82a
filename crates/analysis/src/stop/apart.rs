//! The stopping rule for a row that is to be found above or below others.

use crate::apart::{self, PositionFound};
use tare_bench::{
    folder::{Header, StoredRun},
    plan::Until,
    record::Record,
    schedule::StopRule,
};

/// Ends a run at the first look that separates, or when a row has failed.
#[derive(Debug)]
pub(super) struct ApartRule {
    kept: StoredRun,
    blocks: usize,
    is_over: bool,
}

impl ApartRule {
    pub(super) fn new(header: &Header) -> ApartRule {
        ApartRule { kept: StoredRun::beginning(header), blocks: 0, is_over: false }
    }
}

impl StopRule for ApartRule {
    fn on_record(&mut self, record: &Record) {
        self.blocks += usize::from(matches!(record, Record::Block(_)));
        let rows = 0..self.kept.header.plan.rows.len();
        let is_wrong = |row| record.answers_of(row).is_some_and(|load| load.wrong_answers() > 0);
        self.is_over |= matches!(record, Record::Failed(_)) || rows.into_iter().any(is_wrong);
        self.kept.push(record.clone());
    }

    fn is_decided(&mut self) -> bool {
        let Until::Apart(asked) = &self.kept.header.plan.until else { return false };
        let is_look = asked.looks.contains(&self.blocks);
        let is_found = || {
            let position = apart::compute(&self.kept);
            position.is_some_and(|position| matches!(position.found, PositionFound::Side(_)))
        };
        self.is_over || (is_look && is_found())
    }
}
