//! Predictions for a run from stored runs: the spread of its slices and starts.

use std::path::Path;

use tare_analysis::{
    capacity,
    expected::{ExpectedShares, blocks_needed},
    figures::percent,
    interleaved::spread,
};
use tare_bench::{
    folder::{self, Header},
    plan::Plan,
    slo::SloPlan,
};
use tare_host::environment::Environment;

/// The number of stored runs that are read, newest first.
const RUNS_MAX: usize = 5;

/// The plan with the spread of the newest stored run of the same experiment and load on a machine like this
/// one, or with the default. It determines the slices.
pub(super) fn with_spread(plan: Plan, runs: &Path) -> Plan {
    let Some(default) = plan.blocks().spread else { return plan };
    let here = Environment::read(None);
    let found = newest(runs, &plan.experiment).find_map(|run| {
        let kept = folder::read(&run).ok().filter(|kept| is_alike(&kept.header, &plan, &here))?;
        spread(&kept)
    });
    plan.with_spread(found.unwrap_or(default))
}

/// The plan of a search with the number of windows of the newest stored search on a machine like this one,
/// discarded windows included.
pub(crate) fn with_windows_taken(plan: Plan, runs: &Path) -> Plan {
    let here = Environment::read(None);
    let taken = newest(runs, &plan.experiment).find_map(|run| {
        let kept = folder::read(&run).ok().filter(|kept| is_same_machine(&kept.header.environment, &here))?;
        capacity::windows_taken(&kept)
    });
    match taken {
        Some(per_window) => plan.with_windows_taken(per_window),
        None => plan,
    }
}

/// The expected number of windows of a search, in words.
pub(super) fn windows(slo: &SloPlan) -> String {
    match slo.windows_expected {
        Some(all) => {
            format!("            {all} are expected in all, as in the newest stored search on this machine\n")
        }
        None => {
            "            how many will be is not known, as no search on this machine is stored\n".to_owned()
        }
    }
}

/// Folders of runs of this experiment, newest first: their names end with its name.
fn newest(runs: &Path, experiment: &str) -> impl Iterator<Item = std::path::PathBuf> {
    let end = format!("-{experiment}");
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.path());
    let mut found: Vec<_> = names.filter(|path| path.to_string_lossy().ends_with(&end)).collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found.into_iter().take(RUNS_MAX)
}

fn is_alike(stored: &Header, plan: &Plan, here: &Environment) -> bool {
    let of = |plan: &Plan| (plan.slice_ns(), plan.load(), plan.contract().to_owned(), plan.reference.clone());
    !stored.plan.is_sequential() && of(&stored.plan) == of(plan) && is_same_machine(&stored.environment, here)
}

fn is_same_machine(one: &Environment, other: &Environment) -> bool {
    (&one.cpu, one.cpus) == (&other.cpu, other.cpus)
}

/// The expected result of the run, in words; `None` if there is no reference.
pub(super) fn expected(plan: &Plan) -> Option<String> {
    let expected = ExpectedShares::of(plan)?;
    let source = match expected.of_blocks {
        0 => "by the spread of twelve services on another machine, as no run of this experiment and machine is stored".to_owned(),
        blocks => format!("by the spread of the newest stored run ({blocks} blocks)"),
    };
    let ExpectedShares { half_width, found_alone, found_among_all, pairs, .. } = expected;
    Some(format!(
        "expected    half intervals of {} of CPU time per request (95%), {source}\n            two rows are separated in 8 of 10 \
         runs if they differ by {} as a pair alone, by {} among {pairs} pairs\n",
        percent(half_width),
        percent(found_alone),
        percent(found_among_all),
    ))
}

/// The number of blocks for a precision, in words; `None` if no precision is requested.
pub(super) fn needed(plan: &Plan) -> Option<String> {
    let most = plan.blocks_expected();
    Some(match blocks_needed(plan)? {
        Some(blocks) => format!("precision   expected after about {blocks} blocks\n"),
        None => format!("precision   not expected within the budget, which has room for {most} blocks\n"),
    })
}
