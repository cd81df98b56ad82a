//! What a campaign knows of itself: from the records of a part that was cut off, and from then on.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    plan::Plan,
    record::{Pilot, Record},
};

/// Where a campaign stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// Blocks that have begun. One that was cut off is not taken up again: its processes are dead, and what was measured
    /// of it counts as far as its rounds are whole.
    pub blocks: usize,
    /// Rows that have failed.
    pub out: BTreeSet<usize>,
    /// How long each row is warmed up, where a pilot said so.
    pub warm_up_ns: BTreeMap<usize, u64>,
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
                    past.warm_up_ns.extend(row(&pilot.row).map(|row| (row, warm_up_ns(plan, pilot))));
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

/// How long a service is warmed up after this pilot: until it was steady, and the longest time where it never was.
pub fn warm_up_ns(plan: &Plan, pilot: &Pilot) -> u64 {
    let longest = plan.warm_up_ns_max.unwrap_or(plan.warm_up_ns);
    pilot.steady_after_ns.unwrap_or(longest).clamp(plan.warm_up_ns, longest.max(plan.warm_up_ns))
}
