//! How far a run has come: read from the records of a part that was cut off, and kept up to date from then on.

use std::collections::{BTreeMap, BTreeSet};

use super::{Noise, StartCost};
use crate::{
    plan::Plan,
    record::{ChosenBlocks, Pilot, Record},
};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ResumeState {
    /// Blocks that have begun. One that was cut off is not taken up again: its processes are dead, and what was measured
    /// of it counts as far as its rounds are whole.
    pub blocks: usize,
    pub out: BTreeSet<usize>,
    /// What a start of each row takes, where a pilot said so.
    pub starts: BTreeMap<usize, StartCost>,
    /// How much the windows of the pilots differ.
    pub noise: Noise,
    /// What the run chose after its pilots.
    pub chosen: Option<ChosenBlocks>,
    /// Time that passed before the first block.
    pub pilots_ns: u64,
    /// Time that the run took, up to the last record that has it; of a part that was killed after that, the time of its loads.
    pub elapsed_ns: u64,
}

impl ResumeState {
    /// Read from records in their order.
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
