//! Whether runs belong to one experiment: only machine and seed may differ.

use tare_bench::plan::PlannedRow;

use super::{MergeError, RunBundle};
use tare_analysis::history::{
    comparable::{self, Difference, DifferenceWeight},
    run::NamedRun,
};

/// The common values of the runs, and the harmless differences.
///
/// # Errors
/// If a difference makes them different experiments.
pub(super) fn agreement(bundles: &[RunBundle]) -> Result<Vec<Difference>, MergeError> {
    let runs: Vec<&NamedRun> = bundles.iter().map(|bundle| &bundle.run).collect();
    let mut all = comparable::compare_all(&runs);
    // Two compared runs may differ in these, but runs of one experiment may not.
    for one in all.iter_mut().filter(|one| ["experiment", "ended by"].contains(&one.what)) {
        one.weight = DifferenceWeight::Forbids;
    }
    all.extend(asked(&runs));
    all.sort_by_key(|one| std::cmp::Reverse(one.weight));
    let forbids = |one: &&Difference| one.weight == DifferenceWeight::Forbids && !one.is_same;
    let mut reasons: Vec<String> = all.iter().filter(forbids).map(|one| text(one, &runs)).collect();
    if reasons.is_empty() {
        return Ok(all);
    }
    let places = runs.iter().enumerate().map(|(place, run)| format!("#{} is {}", place + 1, run.place));
    reasons.push(format!("({})", places.collect::<Vec<_>>().join(", ")));
    Err(MergeError::Differ { reasons })
}

/// The value of each run, by the numbers in the error text.
fn text(difference: &Difference, runs: &[&NamedRun]) -> String {
    let names: Vec<String> = (1..=runs.len()).map(|number| format!("#{number}")).collect();
    difference.text_with(&names)
}

/// Values that may differ between compared runs, but not between pooled runs.
fn asked(runs: &[&NamedRun]) -> Vec<Difference> {
    let of = |what: &'static str, value: fn(&NamedRun) -> String| {
        Difference::new(what, DifferenceWeight::Forbids, runs.iter().map(|run| value(run)).collect())
    };
    let mut all = vec![
        of("loads", loads),
        of("services", |run| joined(run.plan().rows.iter().map(|row| row.label.clone()))),
        of("second name of the reference", |run| {
            run.plan().twin.clone().unwrap_or_else(|| "none".to_owned())
        }),
    ];
    all.extend(rows(runs));
    all
}

fn loads(run: &NamedRun) -> String {
    let labels = run.plan().loads().into_iter().map(|load| load.label());
    let rates = run.plan().rates().map(|(_, rate)| rate.label());
    labels.chain(rates).collect::<Vec<_>>().join(", ")
}

fn joined(labels: impl Iterator<Item = String>) -> String {
    let mut labels: Vec<String> = labels.collect();
    labels.sort();
    labels.join(", ")
}

/// Rows with different programs in some runs. Builds may differ, because machines have different compilers.
fn rows(runs: &[&NamedRun]) -> Vec<Difference> {
    let mut labels: Vec<&str> =
        runs.iter().flat_map(|run| &run.plan().rows).map(|row| row.label.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    let of_label = |label: &str| {
        let value = |run: &&NamedRun| program(run.planned(label));
        let values: Vec<String> = runs.iter().map(value).collect();
        let found = Difference::new("version of a service", DifferenceWeight::Forbids, values);
        let named = found.values.iter().map(|value| format!("{label}: {value}")).collect();
        (!found.is_same).then_some(Difference { values: named, ..found })
    };
    let differing: Vec<Difference> = labels.into_iter().filter_map(of_label).collect();
    match differing.is_empty() {
        true => vec![Difference::new(
            "versions of services",
            DifferenceWeight::Forbids,
            vec!["the same".to_owned(); runs.len()],
        )],
        false => differing,
    }
}

/// The program of a row; unknown if it took no part on a machine.
fn program(row: Option<&PlannedRow>) -> String {
    let Some((row, version)) = row.and_then(|row| Some((row, row.version.as_ref()?))) else {
        return comparable::NOT_KNOWN.to_owned();
    };
    let threads = row.threads.map(|threads| format!(", THREADS={threads}")).unwrap_or_default();
    let settings: Vec<String> = row.settings.iter().map(|setting| format!(", {setting:?}")).collect();
    format!("{} {version} ({}{threads}{})", row.service, row.protocol, settings.concat())
}
