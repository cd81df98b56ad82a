//! What a campaign knows of itself: from the records of a part that was cut off, and from then on.

use std::collections::{BTreeMap, BTreeSet};

use super::{plan::Plan, record::Record, starts::Start};

/// Where a campaign stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// Blocks that have begun. One that was cut off is not taken up again: its processes are dead, and what was measured
    /// of it counts as far as its rounds are whole.
    pub blocks: usize,
    /// Rows that have failed.
    pub out: BTreeSet<usize>,
    /// What a start of each row takes, where a pilot said so.
    pub starts: BTreeMap<usize, Start>,
    /// Time that passed before the first block.
    pub pilots_ns: u64,
    /// Time that the campaign took, up to the last record that tells it.
    pub elapsed_ns: u64,
}

impl Past {
    /// Read from records in their order.
    pub fn of(plan: &Plan, records: &[Record]) -> Past {
        let mut past = Past::default();
        let row = |label: &str| plan.rows.iter().position(|row| row.label == label);
        for record in records {
            match record {
                Record::Pilot(pilot) => {
                    past.starts.extend(row(&pilot.row).map(|row| (row, Start::of(plan, pilot))));
                }
                Record::Block { block, elapsed_ns, .. } => {
                    past.blocks = block + 1;
                    past.elapsed_ns = *elapsed_ns;
                    past.pilots_ns = if *block == 0 { *elapsed_ns } else { past.pilots_ns };
                }
                Record::Failed { row: label, .. } => past.out.extend(row(label)),
                Record::Ended { elapsed_ns, .. } => past.elapsed_ns = *elapsed_ns,
                Record::Slice(slice) => past.elapsed_ns += slice.elapsed_ns,
                Record::Started(_) | Record::Stopped(_) => {}
            }
        }
        past
    }
}
