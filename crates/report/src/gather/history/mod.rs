//! Run against run, and a history of runs: whether they are comparable, their differences, and where a level
//! changed. `tare-analysis` computes the figures; this module lays them out.

mod answer;
mod tables;

use std::path::{Path, PathBuf};

use tare_analysis::history::{
    changes,
    comparable::{self, Difference, DifferenceWeight},
    effects,
    run::NamedRun,
    scope::RunSet,
};
use tare_bench::folder::about::quoted;

use crate::document::{Document, FORMAT, Fact, Kind, Status};

/// Why runs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("{readable} of the runs can be compared, and it takes two{}", because(left_out))]
    TooFew {
        readable: usize,
        /// Why the other runs were left out, a sentence each.
        left_out: Vec<String>,
    },
    #[error("the runs are not comparable: {}", reasons.join("; "))]
    NotComparable {
        /// The differences, with the value of each run.
        reasons: Vec<String>,
    },
    #[error("\"{place}\" and \"{again}\" are the same run: give two different ones")]
    SameRun { place: String, again: String },
}

fn because(left_out: &[String]) -> String {
    if left_out.is_empty() { String::new() } else { format!(": {}", left_out.join("; ")) }
}

/// Several runs in one document.
#[derive(Debug)]
pub struct History {
    pub document: Document,
    /// The folder of the last run: the second of two, or the newest of several.
    pub last: PathBuf,
}

/// Two runs in the given order, or a history of more by time. Unreadable folders are named and left out.
///
/// # Errors
/// If fewer than two runs can be read, two are the same run, or they measured different things.
pub fn history(runs: &[PathBuf]) -> Result<History, HistoryError> {
    let (mut read, mut left_out) = (Vec::new(), Vec::new());
    for path in runs {
        match NamedRun::read(path) {
            Ok(run) => read.push(run),
            Err(error) => left_out.push(format!("{error}: left out")),
        }
    }
    of_runs(read, left_out)
}

/// The [`history`] of runs that were read.
fn of_runs(mut runs: Vec<NamedRun>, mut damage: Vec<String>) -> Result<History, HistoryError> {
    if runs.len() < 2 {
        return Err(HistoryError::TooFew { readable: runs.len(), left_out: damage });
    }
    if runs.len() > 2 {
        runs.sort_by(|a, b| a.stored.header.began.cmp(&b.stored.header.began));
    }
    refuse_the_same(&runs)?;
    let is_pair = runs.len() == 2;
    for (place, run) in runs.iter_mut().enumerate() {
        run.name = if is_pair { ["A", "B"][place].to_owned() } else { format!("#{}", place + 1) };
    }
    let differences = comparable::compare(&runs);
    refuse_what_differs(&runs, &differences)?;
    for run in &runs {
        damage.extend(run.stored.damage.iter().map(|sentence| format!("{}: {sentence}", run.name)));
    }
    let last = PathBuf::from(&runs[runs.len() - 1].place);
    Ok(History { document: laid_out(&RunSet::new(&runs, &differences), damage), last })
}

fn laid_out(scope: &RunSet, damage: Vec<String>) -> Document {
    let (runs, differences) = (scope.runs, scope.differences);
    let last = &runs[runs.len() - 1];
    let effects = effects::effects(scope);
    let changes = changes::changes(scope);
    let title = match runs.len() {
        2 => format!("Run against run: {}", last.plan().title),
        count => format!("{count} runs: {}", last.plan().title),
    };
    let mut sections = vec![tables::effects(scope, &effects)];
    sections.push(tables::each_run(scope));
    sections.extend(tables::changes(scope, &changes));
    sections.push(tables::comparability(runs, differences));
    sections.push(tables::environments(scope));
    let said = answer::as_far_as_they_went(runs, answer::answer(scope, &effects, &changes));
    Document {
        format: FORMAT,
        kind: Kind::History,
        title,
        question: question(scope),
        answer: said.said,
        basis: said.basis,
        began: last.stored.header.began.clone(),
        status: status(runs),
        damage,
        cautions: Vec::new(),
        notes: answer::notes(scope, differences, &effects),
        facts: facts(runs),
        checks: Vec::new(),
        sections,
    }
}

fn question(scope: &RunSet) -> String {
    match (scope.is_one_machine, scope.runs.len()) {
        (true, 2) => "What differs from A to B?".to_owned(),
        (true, _) => "What changed from run to run?".to_owned(),
        (false, _) => "What differs from machine to machine, related to the reference on each?".to_owned(),
    }
}

/// The status of the least complete run.
fn status(runs: &[NamedRun]) -> Status {
    let all: Vec<Status> = runs.iter().map(NamedRun::status).collect();
    [Status::CutOff, Status::Interrupted, Status::Running]
        .into_iter()
        .find(|status| all.contains(status))
        .unwrap_or(Status::Complete)
}

fn facts(runs: &[NamedRun]) -> Vec<Fact> {
    let last = &runs[runs.len() - 1];
    let environment = &last.stored.header.environment;
    let places: Vec<String> = runs.iter().map(|run| quoted(&run.place)).collect();
    let mut facts = vec![
        Fact::new("Load", last.report.load.as_str()),
        Fact::new("Contract", last.plan().contract()),
        Fact::new("Reference", last.plan().reference()),
        Fact::new("Machine of the last run", format!("{} CPUs ({})", environment.cpus, environment.cpu)),
    ];
    if runs.len() == 2 {
        facts.extend(runs.iter().map(|run| {
            Fact::new(&run.name, format!("{}, began {}", folder_name(&run.place), run.stored.header.began))
        }));
    }
    facts.push(Fact::code("Command", format!("tare report {}", places.join(" "))));
    facts
}

fn folder_name(place: &str) -> &str {
    Path::new(place).file_name().and_then(|name| name.to_str()).unwrap_or(place)
}

fn refuse_the_same(runs: &[NamedRun]) -> Result<(), HistoryError> {
    let is_same = |one: &NamedRun, other: &NamedRun| {
        one.stored.header.began == other.stored.header.began && one.plan().seed == other.plan().seed
    };
    for (place, run) in runs.iter().enumerate() {
        if let Some(again) = runs[place + 1..].iter().find(|other| is_same(run, other)) {
            return Err(HistoryError::SameRun { place: run.place.clone(), again: again.place.clone() });
        }
    }
    Ok(())
}

fn refuse_what_differs(runs: &[NamedRun], differences: &[Difference]) -> Result<(), HistoryError> {
    let forbids = |one: &&Difference| one.weight == DifferenceWeight::Forbids && !one.is_same;
    let mut reasons: Vec<String> = differences.iter().filter(forbids).map(|one| one.text(runs)).collect();
    let scope = RunSet::new(runs, differences);
    let mut machines: Vec<String> = (0..runs.len()).map(|run| scope.machine(run)).collect();
    machines.sort();
    machines.dedup();
    if machines.len() > 2 {
        reasons.push(format!(
            "they are of {} machines, and two can be compared: {}",
            machines.len(),
            machines.join("; ")
        ));
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let places =
        runs.iter().map(|run| format!("{} is {}", run.name, run.place)).collect::<Vec<_>>().join(", ");
    reasons.push(format!("({places})"));
    Err(HistoryError::NotComparable { reasons })
}

#[cfg(test)]
mod tests;
