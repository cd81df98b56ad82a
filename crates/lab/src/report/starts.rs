//! How the services were started: how long each takes to be steady under load, and for how many blocks a process lasted.

use super::{RowReport, State, compute::Blocks};
use crate::run::record::{Pilot, Record};

/// The pilot of a row.
pub(super) fn pilot<'a>(records: &'a [Record], label: &str) -> Option<&'a Pilot> {
    records.iter().find_map(|record| match record {
        Record::Pilot(pilot) if pilot.row == label => Some(pilot),
        _ => None,
    })
}

/// That a service never settles is a property of it, and a reader of its figures must know.
pub(super) fn unsteady(pilot: &Pilot) -> Option<String> {
    let seconds = pilot.answered.len() as f64 * pilot.window_ns as f64 / 1e9;
    pilot
        .steady_after_ns
        .is_none()
        .then(|| format!("no steady state: its CPU per request still changed after {seconds:.0} s of load"))
}

/// How many processes the blocks were measured on.
pub(super) fn count(blocks: &Blocks) -> usize {
    let mut processes: Vec<usize> = blocks.values().map(|block| block.process).collect();
    processes.dedup();
    processes.len()
}

/// For the foot of the table: whose intervals count starts and not blocks.
pub(super) fn note<'a>(rows: impl Iterator<Item = &'a RowReport>) -> Option<String> {
    let lasting = rows.filter(|row| row.state == State::Measured && row.starts < row.blocks);
    let each: Vec<String> =
        lasting.map(|row| format!("{} ({} in {} blocks)", row.label, row.starts, row.blocks)).collect();
    (!each.is_empty()).then(|| {
        format!(
            "slow to warm up, so a process was kept for several blocks: {}; their intervals count starts (Student's t), not \
             blocks",
            each.join(", ")
        )
    })
}
