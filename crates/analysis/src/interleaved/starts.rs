//! Starts: the time until services are steady, whether they were warm, and how many blocks a process lasted.

use std::collections::BTreeMap;

use tare_stats::DEFAULT_CONFIDENCE;

use crate::findings::{RowIssue, RunIssue};

use super::blocks::{Block, Blocks};
use tare_bench::{
    folder::StoredRun,
    record::{Pilot, Record},
    sample::{Failures, RequestCost, Sample},
};

/// The pilot of a row.
pub(super) fn pilot(records: &[Record], row: usize) -> Option<&Pilot> {
    records.iter().find_map(|record| match record {
        Record::Pilot(pilot) if pilot.row == row => Some(pilot),
        _ => None,
    })
}

/// A pilot is informative if more than this share of its windows was undisturbed.
const SOUND_SHARE_MIN: f64 = 0.5;

/// A service that is never steady is a finding. A short or mostly disturbed pilot does not prove it.
pub(super) fn unsteady(pilot: &Pilot) -> Option<RowIssue> {
    let seconds = |windows: usize| windows as f64 * pilot.window_ns as f64 / 1e9;
    let windows = pilot.answered.len();
    let load_seconds = seconds(windows);
    let is_sound = (windows - pilot.discarded.min(windows)) as f64 >= SOUND_SHARE_MIN * windows as f64;
    let is_unsteady = pilot.steady_after_ns.is_none() && !pilot.was_cut_short();
    is_unsteady.then(|| match is_sound {
        true => RowIssue::NeverSteady { load_seconds },
        false => RowIssue::SteadyUnknown { load_seconds, taken_seconds: seconds(pilot.discarded) },
    })
}

/// Rows with an unknown warm-up, because their pilots were limited to less time than necessary.
pub(super) fn cut_short(stored: &StoredRun) -> Option<RunIssue> {
    let pilots = stored.records.iter().filter_map(|record| match record {
        Record::Pilot(pilot) if pilot.was_cut_short() => Some(pilot),
        _ => None,
    });
    let pilots: Vec<&Pilot> = pilots.collect();
    let needed_ns = Pilot::WINDOWS_MIN as u64 * pilots.first()?.window_ns;
    let rows = pilots.iter().map(|pilot| stored.header.plan.rows[pilot.row].label.clone()).collect();
    Some(RunIssue::PilotsCutShort { rows, needed_seconds: needed_ns as f64 / 1e9 })
}

/// Requests of a row that failed during warm-ups, including the pilot's.
pub(super) fn failed_in_warm_up(records: &[Record], row: usize) -> Option<RowIssue> {
    let of = |record: &Record| match record {
        Record::Pilot(pilot) if pilot.row == row => Some(pilot.failed_in_warm_up),
        Record::Stopped(stopped) if stopped.row == row => Some(stopped.failed_in_warm_up),
        _ => None,
    };
    let each: Vec<Failures> = records.iter().filter_map(of).filter(|failed| failed.total() > 0).collect();
    let mut by_class = BTreeMap::new();
    for (class, count) in each.iter().flat_map(Failures::iter) {
        *by_class.entry(class.to_string()).or_default() += count;
    }
    let failed = by_class.values().sum();
    (failed > 0).then_some(RowIssue::FailedInWarmUp { failed, by_class, processes: each.len() })
}

/// If the first slices of a process cost at least 5% more than its last, it was still warming up.
const WARMING_SHARE_MIN: f64 = 0.05;

/// The blocks show whether a service was warm, even if a pilot was wrong or missing.
pub(super) fn warming(blocks: &Blocks) -> Option<RowIssue> {
    let fresh = blocks.iter().filter(|(number, block)| block.process == **number);
    let falls: Vec<f64> = fresh.filter_map(|(_, block)| fall(block)).collect();
    let found = tare_stats::interval(&falls, DEFAULT_CONFIDENCE).ok()?;
    let interval = found.interval?;
    let more_share = found.point.abs().exp_m1();
    if (interval.low..=interval.high).contains(&0.0) || more_share <= WARMING_SHARE_MIN {
        return None;
    }
    Some(match found.point > 0.0 {
        true => RowIssue::StillWarming { more_share },
        false => RowIssue::Rising { more_share },
    })
}

/// Log ratio of the cost per request between the first and second half of a block's slices.
fn fall(block: &Block) -> Option<f64> {
    let (first, second) = block.slices.split_at(block.slices.len() / 2);
    let cost = |slices: &[&Sample]| {
        slices.iter().map(|slice| slice.cost()).sum::<Option<RequestCost>>()?.per_request()
    };
    Some((cost(first)? / cost(second)?).ln())
}

/// Number of processes that the blocks were measured on.
pub(super) fn count(blocks: &Blocks) -> usize {
    let mut processes: Vec<usize> = blocks.values().map(|block| block.process).collect();
    processes.dedup();
    processes.len()
}

/// Log cost per request relative to the reference in the same round: slice by slice, per process.
pub(super) fn courses(blocks: &Blocks, reference: &Blocks) -> Vec<Vec<f64>> {
    let mut courses: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (number, block) in blocks {
        let beside = reference.get(number).map_or(&[][..], |beside| &beside.slices);
        let cost = |slice: &Sample| slice.cost()?.per_request();
        let cost_beside = |round: usize| cost(beside.iter().find(|other| other.round == round)?);
        let ratio = |slice: &&Sample| Some((cost(slice)? / cost_beside(slice.round)?).ln());
        courses.entry(block.process).or_default().extend(block.slices.iter().filter_map(ratio));
    }
    courses.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        findings::Finding,
        interleaved::{compute, tests::kept_with},
    };
    use tare_bench::{fixture, record::Started, sample::Failure};

    /// The findings of this kind about a row.
    fn found(stored: &StoredRun, label: &str, code: &str) -> Vec<Finding> {
        let report = compute(stored);
        let row = report.rows.iter().find(|row| row.label == label).unwrap();
        row.findings.iter().filter(|found| found.code() == code).cloned().collect()
    }

    fn with_pilots(windows: usize) -> StoredRun {
        let mut stored = kept_with(&[("raw-socket", 1.0), ("jit", 0.5)], 8);
        let pilot =
            |row| Pilot { row, window_ns: 100_000_000, answered: vec![900; windows], ..Pilot::default() };
        stored.records.splice(0..0, (0..2).map(|row| Record::Pilot(pilot(row))));
        stored
    }

    #[test]
    fn a_service_whose_pilot_was_cut_short_is_not_said_to_be_unsteady() {
        let short = with_pilots(Pilot::WINDOWS_MIN - 1);
        assert_eq!(found(&short, "jit", "never-steady"), []);
        let rows = vec!["raw-socket".to_owned(), "jit".to_owned()];
        let expected = Finding::of_run(RunIssue::PilotsCutShort { rows, needed_seconds: 1.2 });
        assert!(compute(&short).findings.contains(&expected));
        let long = with_pilots(Pilot::WINDOWS_MIN);
        assert_eq!(found(&long, "jit", "never-steady").len(), 1);
        assert_eq!(cut_short(&long), None);
    }

    #[test]
    fn a_service_that_fails_only_while_it_is_warmed_up_is_named() {
        let mut stored = kept_with(&[("raw-socket", 1.0), ("drops", 0.5)], 8);
        let failed = |count| [(Failure::ClosedBeforeResponse, count)].into_iter().collect::<Failures>();
        let pilot = |row, failed| Record::Pilot(Pilot { row, failed_in_warm_up: failed, ..Pilot::default() });
        stored.records.splice(0..0, [pilot(0, failed(0)), pilot(1, failed(64))]);
        assert_eq!(found(&stored, "raw-socket", "failed-in-warm-up"), []);
        let named = found(&stored, "drops", "failed-in-warm-up");
        let words = "64 requests had no right answer in the warm-up of 1 start (closed-before-response 64)";
        assert!(named.len() == 1 && named[0].to_string().contains(words), "{named:?}");
    }

    /// A cost that grows with the age of a process, such as a list that is searched.
    #[test]
    fn a_service_whose_cost_rises_within_its_blocks_is_named() {
        let mut stored = kept_with(&[("raw-socket", 1.0), ("list", 0.5)], 8);
        for record in &mut stored.records {
            if let Record::Sample(slice) = record
                && (slice.row, slice.round) == (1, 1)
            {
                slice.host.server_cpu_ns = slice.host.server_cpu_ns * 5 / 4;
            }
        }
        let rising = found(&stored, "list", "rising");
        let is_a_quarter = |issue: &RowIssue| matches!(issue, RowIssue::Rising { more_share } if (more_share - 0.25).abs() < 1e-3);
        assert!(rising.len() == 1 && rising[0].row_issue().is_some_and(is_a_quarter), "{rising:?}");
        assert_eq!(found(&stored, "raw-socket", "rising"), []);
    }

    /// A process of three blocks with eight slices each, whose cost halves from its 13th slice on.
    #[test]
    fn a_level_change_of_a_kept_process_is_a_finding_of_its_row_alone() {
        let mut stored = kept_with(&[("raw-socket", 1.0), ("jit", 0.5)], 3);
        let eight = |record: &Record| match record {
            Record::Sample(slice) => {
                (0..4).map(|part| Record::Sample(Box::new(part_of(slice, part)))).collect()
            }
            _ => vec![record.clone()],
        };
        let started =
            (0..2).map(|row| Record::Started(Started { block: 0, row, start_up_ns: Some(3_000_000) }));
        stored.records = started.chain(stored.records.iter().flat_map(eight)).collect();
        stored.header.plan = fixture::at_points(stored.header.plan, |point| point.rounds = 8);
        assert_eq!(found(&stored, "raw-socket", "cost-step"), []);
        let steps = found(&stored, "jit", "cost-step");
        let part = " after 12 of the 24 slices of a process, in 1 of 1 starts";
        assert!(steps.len() == 1 && steps[0].to_string().contains(part), "{steps:?}");
    }

    fn part_of(slice: &Sample, part: usize) -> Sample {
        let mut slice = slice.clone();
        slice.round = slice.round * 4 + part;
        let wobble = (slice.block * 31 + slice.round * 17 + slice.row * 7) % 13;
        slice.host.server_cpu_ns += 100_000 * wobble as u64;
        if slice.row == 1 && slice.block * 8 + slice.round < 12 {
            slice.host.server_cpu_ns *= 2;
        }
        slice
    }
}
