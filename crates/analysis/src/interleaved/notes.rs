//! Findings about a whole run.

use tare_stats::{Looks, contrast::LEAST_STARTS};

use super::rounds::Rounds;
use crate::{
    agents,
    findings::{RunIssue, RunningRow},
};
use tare_bench::{
    folder::StoredRun,
    plan::{Plan, PlannedRow, Until},
    record::{Ending, Record, ending},
};
use tare_host::cpus::Pinning;

/// Larger shares of the measured CPUs for others are a finding.
const FOREIGN_SHARE: f64 = 0.05;

/// The share of the measured CPUs that others took, over all slices.
pub(super) fn interference_share(plan: &Plan, records: &[Record]) -> Option<f64> {
    let slices = records.iter().filter_map(Record::sample);
    // Rows may have CPUs of their own.
    let cpus: Vec<u64> = (0..plan.rows.len()).map(|row| plan.pinning_of(row).all().len() as u64).collect();
    let taken = slices.filter_map(|slice| {
        let cpus = cpus.get(slice.row).copied().unwrap_or(1);
        Some((slice.host.foreign_cpu_ns?, slice.load.elapsed_ns * cpus))
    });
    share_of(taken)
}

/// The share of the measured CPUs that others took, from pairs of their CPU time and the elapsed time.
pub(crate) fn share_taken(pinning: &Pinning, taken: impl IntoIterator<Item = (i64, u64)>) -> Option<f64> {
    let cpus = pinning.all().len() as u64;
    share_of(taken.into_iter().map(|(ns, elapsed_ns)| (ns, elapsed_ns * cpus)))
}

/// The share from pairs of others' CPU time and available CPU time.
fn share_of(taken: impl IntoIterator<Item = (i64, u64)>) -> Option<f64> {
    let (mut taken_ns, mut all_ns) = (0.0, 0.0);
    for (ns, of_ns) in taken {
        taken_ns += ns as f64;
        all_ns += of_ns as f64;
    }
    (all_ns > 0.0).then(|| (taken_ns / all_ns).max(0.0))
}

/// A noisy host: others took much of the measured CPUs over a whole run.
pub(crate) fn noisy_host(share: Option<f64>) -> Option<RunIssue> {
    share.filter(|share| *share > FOREIGN_SHARE).map(|share| RunIssue::NoisyHost { share })
}

/// Parts of the folder that cannot be read.
pub(crate) fn damaged(damage: &[String]) -> impl Iterator<Item = RunIssue> {
    damage.iter().map(|what| RunIssue::Damaged { what: what.clone() })
}

/// Servers that Tare did not start.
pub(crate) fn already_running(plan: &Plan) -> Option<RunIssue> {
    let row = |row: &PlannedRow| Some(RunningRow { row: row.label.clone(), server: row.running.clone()? });
    let rows: Vec<RunningRow> = plan.rows.iter().filter_map(row).collect();
    (!rows.is_empty()).then_some(RunIssue::AlreadyRunning { rows })
}

/// A run without an end.
pub(crate) fn unfinished(stored: &StoredRun) -> Option<RunIssue> {
    ending(&stored.records).is_none().then_some(RunIssue::Unfinished { in_progress: stored.in_progress })
}

/// All findings of a run, the most severe first.
pub(super) fn of_run(
    stored: &StoredRun,
    rounds: &Rounds,
    interference: Option<f64>,
    reference_blocks: usize,
    looks: Option<&Looks>,
) -> Vec<RunIssue> {
    let plan = &stored.header.plan;
    let mut issues: Vec<RunIssue> = damaged(&stored.damage).collect();
    issues.extend(noisy_host(interference));
    issues.extend((!plan.pinning.apart()).then_some(RunIssue::SharedCpus));
    issues.extend(already_running(plan));
    issues.extend(unfinished(stored));
    let least = match looks {
        Some(looks) => looks.first().map(|look| look.n),
        None => Some(LEAST_STARTS),
    };
    let needed = least.filter(|needed| (1..*needed).contains(&reference_blocks));
    issues.extend(needed.map(|needed| RunIssue::TooFewBlocks { blocks: reference_blocks, needed }));
    issues.extend(looked_at(stored, looks));
    issues.extend(agents::discarded(stored).map(RunIssue::SlicesDiscarded));
    issues.extend(agents::unequal(stored).map(RunIssue::UnequalAgents));
    issues.extend(rounds.issues(plan, reference_blocks));
    issues
}

fn looked_at(stored: &StoredRun, looks: Option<&Looks>) -> Option<RunIssue> {
    let is_decided =
        |record: &Record| matches!(record, Record::Ended(ended) if ended.reason == Ending::Decided);
    match looks {
        Some(looks) => {
            Some(RunIssue::InterimAnalyses { blocks: looks.all().iter().map(|look| look.n).collect() })
        }
        // The width of an interval hardly depends on its position, so these looks do no harm.
        None if matches!(stored.header.plan.until, Until::Precision(_)) => None,
        None => stored.records.iter().any(is_decided).then_some(RunIssue::UnplannedLooks),
    }
}
