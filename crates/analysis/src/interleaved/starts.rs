//! How the services were started: how long each takes to be steady under load, whether it was warm when it was measured, and
//! for how many blocks a process lasted.

use tare_stats::{DEFAULT_CONFIDENCE, signed_rank};

use crate::findings::{KeptProcesses, RowIssue, RunIssue};

use super::{
    RowReport, State,
    blocks::{Block, Blocks},
};
use tare_bench::{
    metric,
    record::{Pilot, Record},
    sample::Sample,
};

/// The pilot of a row.
pub(super) fn pilot(records: &[Record], row: usize) -> Option<&Pilot> {
    records.iter().find_map(|record| match record {
        Record::Pilot(pilot) if pilot.row == row => Some(pilot),
        _ => None,
    })
}

/// More than this share of a pilot's windows without neighbours says something about the service.
const SOUND_SHARE_MIN: f64 = 0.5;

/// That a service never settles is a property of it, and a reader of its figures must know. It is not known of a pilot in which
/// others took the CPUs for most of the time.
pub(super) fn unsteady(pilot: &Pilot) -> Option<RowIssue> {
    let seconds = |windows: usize| windows as f64 * pilot.window_ns as f64 / 1e9;
    let windows = pilot.answered.len();
    let load_seconds = seconds(windows);
    let is_sound = (windows - pilot.discarded.min(windows)) as f64 >= SOUND_SHARE_MIN * windows as f64;
    pilot.steady_after_ns.is_none().then(|| match is_sound {
        true => RowIssue::NeverSteady { load_seconds },
        false => RowIssue::SteadyUnknown { load_seconds, taken_seconds: seconds(pilot.discarded) },
    })
}

/// From so much more for the first slices of a fresh process than for its last, it was still warming up.
const WARMING_SHARE_MIN: f64 = 0.05;

/// A pilot can be wrong, and an experiment without one knows nothing: the blocks themselves show whether a service was warm.
pub(super) fn warming(blocks: &Blocks) -> Option<RowIssue> {
    let fresh = blocks.iter().filter(|(number, block)| block.process == **number);
    let falls: Vec<f64> = fresh.filter_map(|(_, block)| fall(block)).collect();
    let found = signed_rank::interval(&falls, DEFAULT_CONFIDENCE).ok()?;
    let is_sure = found.interval.is_some_and(|interval| interval.low > 0.0);
    let is_warming = is_sure && found.point > WARMING_SHARE_MIN.ln_1p();
    is_warming.then(|| RowIssue::StillWarming { more_share: found.point.exp_m1() })
}

/// ln of how many times as much a request cost in the first half of a block's slices as in the second.
fn fall(block: &Block) -> Option<f64> {
    let (first, second) = block.slices.split_at(block.slices.len() / 2);
    let cost = |slices: &[&Sample]| {
        let sum = |value: fn(&Sample) -> u64| slices.iter().map(|slice| value(slice)).sum::<u64>() as f64;
        metric::cpu_ns_per_request(sum(|slice| slice.host.server_cpu_ns), sum(|slice| slice.load.answered))
    };
    let fall = (cost(first) / cost(second)).ln();
    fall.is_finite().then_some(fall)
}

/// How many processes the blocks were measured on.
pub(super) fn count(blocks: &Blocks) -> usize {
    let mut processes: Vec<usize> = blocks.values().map(|block| block.process).collect();
    processes.dedup();
    processes.len()
}

/// Whose intervals count starts and not blocks.
pub(super) fn kept<'a>(rows: impl Iterator<Item = &'a RowReport>) -> Option<RunIssue> {
    let lasting = rows.filter(|row| row.state == State::Measured && row.starts < row.blocks);
    let kept =
        |row: &RowReport| KeptProcesses { row: row.label.clone(), starts: row.starts, blocks: row.blocks };
    let rows: Vec<KeptProcesses> = lasting.map(kept).collect();
    (!rows.is_empty()).then_some(RunIssue::ProcessesKept { rows })
}
