//! Where the time of a run without blocks went. No row failed, so no row explains it.

use tare_bench::{
    folder::StoredRun,
    record::{Pilot, Record, ending},
};

use crate::{
    findings::{NoBlock, PilotLoad},
    status::Status,
};

/// Absent for runs in progress or cut off, and if a row has a failure as explanation.
pub(crate) fn no_block(stored: &StoredRun, blocks: usize) -> Option<NoBlock> {
    let failed = |record: &Record| matches!(record, Record::Failed(_));
    let (ending, elapsed_ns) = ending(&stored.records)?;
    if blocks > 0 || stored.records.iter().any(failed) {
        return None;
    }
    let began_ns = stored.records.iter().find_map(|record| match record {
        Record::Block(block) => Some(block.elapsed_ns),
        _ => None,
    });
    let pilots = stored.records.iter().filter_map(|record| match record {
        Record::Pilot(pilot) => Some(load_of(&stored.header.plan.rows[pilot.row].label, pilot)),
        _ => None,
    });
    Some(NoBlock {
        elapsed_seconds: elapsed_ns as f64 / 1e9,
        pilots_seconds: began_ns.unwrap_or(elapsed_ns) as f64 / 1e9,
        pilots: pilots.collect(),
        slices: stored.records.iter().filter_map(Record::sample).count(),
        is_interrupted: Status::from(ending) == Status::Interrupted,
    })
}

fn load_of(row: &str, pilot: &Pilot) -> PilotLoad {
    let seconds = |windows: usize| windows as f64 * pilot.window_ns as f64 / 1e9;
    let silent = pilot.answered.iter().filter(|answered| **answered == 0).count();
    PilotLoad {
        row: row.to_owned(),
        load_seconds: seconds(pilot.answered.len()),
        silent_seconds: seconds(silent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        findings::RunIssue,
        interleaved::{compute, tests::kept_with},
    };
    use tare_bench::record::{Block, EndedRun, Ending, Failed, Started};

    /// Two pilots, the second silent for half of its load, then a block with one start.
    fn kept(more: impl IntoIterator<Item = Record>) -> StoredRun {
        let mut stored = kept_with(&[("raw-socket", 1.0), ("shop", 0.5)], 1);
        let pilot = |row, answered: Vec<u64>| {
            Record::Pilot(Pilot { row, window_ns: 100_000_000, answered, ..Pilot::default() })
        };
        stored.records = vec![pilot(0, vec![900; 12]), pilot(1, [vec![900; 20], vec![0; 20]].concat())];
        stored.records.push(Record::Block(Block {
            order: vec![0, 1],
            elapsed_ns: 9_100_000_000,
            ..Block::default()
        }));
        stored.records.push(Record::Started(Started { block: 0, row: 0, ..Started::default() }));
        stored.records.extend(more);
        let ended = EndedRun { reason: Ending::BudgetSpent, elapsed_ns: 14_200_000_000 };
        stored.records.push(Record::Ended(ended));
        stored
    }

    #[test]
    fn a_run_without_a_block_says_where_its_time_went() {
        let report = compute(&kept([]));
        let found = report.findings.iter().find(|found| found.code() == "no-block").unwrap();
        assert!(matches!(found.run_issue(), Some(RunIssue::NoBlock(_))));
        let expected = "no block has a round: of 14.2 s the pilots took 9.1 s (raw-socket 1.2 s of load, shop 4.0 s of load, \
                        in 2.0 s of which it answered nothing), and the starts, warm-ups and 0 slices of the first block \
                        5.1 s: find out why it took so long, or give a longer --budget";
        assert_eq!(found.to_string(), expected);
    }

    /// Its budget was too short, and nothing has to be found out.
    #[test]
    fn services_that_answered_all_the_time_are_not_blamed() {
        let mut stored = kept([]);
        stored.records[1] = stored.records[0].clone();
        let report = compute(&stored);
        let found = report.findings.iter().find(|found| found.code() == "no-block").unwrap().to_string();
        assert!(found.ends_with("of the first block 5.1 s: give a longer --budget"), "{found}");
    }

    #[test]
    fn a_run_that_the_user_ended_is_resumed() {
        let mut stored = kept([]);
        stored.records.pop();
        let ended = EndedRun { reason: Ending::Interrupted, elapsed_ns: 14_200_000_000 };
        stored.records.push(Record::Ended(ended));
        let report = compute(&stored);
        let found = report.findings.iter().find(|found| found.code() == "no-block").unwrap().to_string();
        assert!(found.ends_with("of the first block 5.1 s until it was interrupted: resume it"), "{found}");
        assert!(!found.contains("--budget"), "{found}");
    }

    #[test]
    fn a_row_that_failed_has_its_own_reason() {
        let failed = Failed { block: 0, row: 1, reason: "was killed".to_owned() };
        let report = compute(&kept([Record::Failed(failed)]));
        assert!(report.findings.iter().all(|found| found.code() != "no-block"));
        let whole = compute(&kept_with(&[("raw-socket", 1.0), ("shop", 0.5)], 4));
        assert!(whole.findings.iter().all(|found| found.code() != "no-block"));
    }
}
