//! Whole runs on the simulated machine, from a plan to the content of a run folder.

use tare_analysis::stop::PlannedRule;
use tare_bench::{
    experiment::Experiment,
    fixture::{self, Memory, Unwatched},
    folder::{Header, StoredRun},
    plan::{Excluded, Exclusion, Plan, PlannedRow},
    record::{EndedRun, Ending, Record},
    schedule::{self, Parts},
};
use tare_host::{cpus::Pinning, environment::Environment};
use tare_service::catalogue;

use crate::machine::Machine;

/// A plan of this number of blocks over `rows`; the first is the reference.
pub fn plan(rows: &[&str], blocks: usize, seed: u64) -> Plan {
    let plan = fixture::at_points(fixture::plan(rows), |point| point.rounds = 8);
    let plan = fixture::in_blocks(plan, |of| (of.min, of.max, of.budget_ns) = (blocks, blocks, 0));
    Plan { seed, ..plan }
}

/// The plan of `compare`, `bisect` and `history` before they add their question: the default comparison, over
/// simulated rows. The first is the reference, and `NAME@again` is the twin of `NAME`.
pub fn of_versions(rows: &[&str], seed: u64) -> Plan {
    of_experiment(Experiment::of_versions(), rows, seed)
}

/// The same with few slices and at most this number of blocks, for hundreds of runs; like a custom
/// `--experiment`.
pub fn of_short_versions(rows: &[&str], blocks: usize, seed: u64) -> Plan {
    let mut experiment = Experiment::of_versions();
    let schedule = &mut experiment.schedule;
    (schedule.blocks_min, schedule.blocks_max) = (blocks.min(schedule.blocks_min), blocks);
    schedule.slices_per_block = Some(2);
    of_experiment(experiment, rows, seed)
}

fn of_experiment(mut experiment: Experiment, rows: &[&str], seed: u64) -> Plan {
    rows[0].clone_into(&mut experiment.reference);
    let pinning = Pinning { server: vec![0], generator: vec![1] };
    let none: [catalogue::Row; 0] = [];
    let plan = Plan::interleaved(&experiment, &none, seed, pinning);
    let mut plan = fixture::at_points(plan, |point| point.rows = (0..rows.len()).collect());
    let row = |label: &&str| PlannedRow {
        service: label.trim_end_matches("@again").to_owned(),
        ..fixture::row(label)
    };
    plan.rows = rows.iter().map(row).collect();
    plan
}

/// The plan with a row excluded for this reason.
pub fn without(mut plan: Plan, row: usize, why: Exclusion) -> Plan {
    plan.rows[row].excluded = Some(Excluded { why, reason: "it ended before it was ready".to_owned() });
    plan
}

/// A whole run, as read from its folder.
pub fn run(plan: &Plan, machine: &mut Machine) -> StoredRun {
    let environment = Environment::default();
    let header = Header::new("0.1.0", "2026-01-01T00:00:00Z".to_owned(), plan.clone(), environment);
    resume(&StoredRun { header, records: Vec::new(), damage: Vec::new(), in_progress: false }, machine)
}

/// Continues a stored run to its end.
pub fn resume(stored: &StoredRun, machine: &mut Machine) -> StoredRun {
    let header = stored.header.clone();
    let mut journal = Memory(stored.records.clone());
    if header.plan.has_nothing_to_compare() {
        journal.0.push(Record::Ended(EndedRun { reason: Ending::NothingLeft, elapsed_ns: 0 }));
    } else {
        let stop_rule = &mut PlannedRule::of(&header);
        let parts = Parts { executor: machine, journal: &mut journal, watch: &mut Unwatched, stop_rule };
        schedule::run(&header.plan, parts, &stored.records).expect("memory does not fail");
    }
    let mut kept = StoredRun::beginning(&header);
    journal.0.into_iter().for_each(|record| kept.push(record));
    StoredRun { in_progress: false, ..kept }
}

/// The run as if killed before the first record for which `from` holds.
pub fn cut(run: &StoredRun, from: impl Fn(&Record) -> bool) -> StoredRun {
    let end = run.records.iter().position(from).expect("it has such a record");
    StoredRun { records: run.records[..end].to_vec(), ..run.clone() }
}

/// Whether a record begins this block.
pub fn begins(block: usize) -> impl Fn(&Record) -> bool {
    move |record| matches!(record, Record::Block(found) if found.block == block)
}
