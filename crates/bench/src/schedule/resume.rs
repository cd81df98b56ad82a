//! Progress of a run: read from the records of a part that was cut off, and updated from then on.

use std::collections::{BTreeMap, BTreeSet};

use super::{Noise, StartCost};
use crate::{
    plan::Plan,
    record::{ChosenBlocks, Pilot, Record},
};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ResumeState {
    /// Blocks that have begun. A block that was cut off counts as far as its complete rounds.
    pub blocks: usize,
    pub out: BTreeSet<usize>,
    /// Cost of a start of each row that had a pilot.
    pub starts: BTreeMap<usize, StartCost>,
    /// Variation of the pilots' windows.
    pub noise: Noise,
    /// The division chosen after the pilots.
    pub chosen: Option<ChosenBlocks>,
    /// Time before the first block.
    pub pilots_ns: u64,
    /// Time of the run up to the last record that has it, plus the loads after that record.
    pub elapsed_ns: u64,
}

impl ResumeState {
    /// Reads records in their order.
    pub(super) fn of(plan: &Plan, records: &[Record]) -> ResumeState {
        let mut past = ResumeState::default();
        for record in records {
            match record {
                Record::Pilot(pilot) => past.learn(plan, pilot),
                Record::Block(block) => {
                    past.blocks = block.block + 1;
                    past.chosen = block.chosen;
                    past.elapsed_ns = block.elapsed_ns;
                    past.pilots_ns = if block.block == 0 { block.elapsed_ns } else { past.pilots_ns };
                }
                Record::Failed(failed) => drop(past.out.insert(failed.row)),
                Record::Ended(ended) => past.elapsed_ns = ended.elapsed_ns,
                Record::Sample(sample) => past.elapsed_ns += sample.load.elapsed_ns,
                Record::Started(_) | Record::Stopped(_) | Record::Discarded(_) => {}
            }
        }
        past
    }

    pub(super) fn learn(&mut self, plan: &Plan, pilot: &Pilot) {
        self.starts.insert(pilot.row, StartCost::of(plan, pilot));
        self.noise.add(pilot);
    }
}
