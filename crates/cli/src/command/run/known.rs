//! What stored runs say of a run before it is made: how much its slices and starts will spread.

use std::path::Path;

use tare_analysis::{
    expected::{Expected, blocks_needed},
    figures::percent,
    interleaved::spread,
};
use tare_bench::{
    folder::{self, Header},
    plan::Plan,
};
use tare_host::environment::Environment;

/// Stored runs that are read, newest first.
const RUNS_MAX: usize = 5;

/// The plan as its slices are chosen: by the newest stored run of the same experiment and load on a machine like this one, or by
/// the default.
pub(super) fn with_spread(plan: Plan, runs: &Path) -> Plan {
    let Some(default) = plan.blocks().spread else { return plan };
    let here = Environment::read(None);
    let found = newest(runs, &plan.experiment).find_map(|run| {
        let kept = folder::read(&run).ok().filter(|kept| is_alike(&kept.header, &plan, &here))?;
        spread(&kept)
    });
    plan.with_spread(found.unwrap_or(default))
}

/// Folders of runs of this experiment: their names end with it.
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
    let machine = |environment: &Environment| (environment.cpu.clone(), environment.cpus);
    !stored.plan.is_sequential()
        && of(&stored.plan) == of(plan)
        && machine(&stored.environment) == machine(here)
}

/// What the run is expected to show, in words; absent if nothing is related to a reference.
pub(super) fn expected(plan: &Plan) -> Option<String> {
    let expected = Expected::of(plan)?;
    let source = match expected.of_blocks {
        0 => "by the spread of twelve services on another machine, as no run of this experiment and machine is stored".to_owned(),
        blocks => format!("by the spread of the newest stored run ({blocks} blocks)"),
    };
    let Expected { half_width, found_alone, found_among_all, pairs, .. } = expected;
    Some(format!(
        "expected    half intervals of {} of CPU time per request (95%), {source}\n            two rows are separated in 8 of 10 \
         runs if they differ by {} as a pair alone, by {} among {pairs} pairs\n",
        percent(half_width),
        percent(found_alone),
        percent(found_among_all),
    ))
}

/// How many blocks a precision takes, in words; absent if none is asked for.
pub(super) fn needed(plan: &Plan) -> Option<String> {
    let most = plan.blocks_expected();
    Some(match blocks_needed(plan)? {
        Some(blocks) => format!("precision   expected after about {blocks} blocks\n"),
        None => format!("precision   not expected within the budget, which has room for {most} blocks\n"),
    })
}
