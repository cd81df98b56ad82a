//! The answer in a sentence, and the notes needed to interpret it.

use tare_analysis::{
    figures::{self, percent, up_to},
    history::{
        changes::Change,
        comparable::{Difference, DifferenceWeight},
        effects::{DECIDES, Effect, EffectVerdict, floor},
        run::NamedRun,
        scope::RunSet,
    },
};
use tare_base::units::several;
use tare_bench::metric::Metric;

use crate::{
    document::{Status, Unit},
    gather::words::{Headline, capital, cut_short, with_interval},
};

/// The most names in a sentence.
const NAMED_MAX: usize = 5;

pub(crate) fn answer(scope: &RunSet, all: &[Effect], changes: &[Change]) -> Headline {
    let decides = || all.iter().filter(|effect| DECIDES.contains(&effect.metric));
    let compared: Vec<&Effect> = decides().filter(|effect| effect.ratio.is_some()).collect();
    if compared.is_empty() {
        let reason =
            decides().next().map_or("there is no row but the reference", |effect| effect.reason.as_str());
        return Headline::new("Nothing can be compared.", format!("The reason: {reason}."));
    }
    let rows = count_rows(compared.iter().copied());
    let of = if rows == 1 { "the one service".to_owned() } else { several(rows, "service") };
    let between = between(scope);
    let mut parts = Vec::new();
    for metric in DECIDES {
        for verdict in [EffectVerdict::Worse, EffectVerdict::Better, EffectVerdict::Differ] {
            parts.extend(part(&compared, metric, verdict));
        }
    }
    let mut basis = Vec::new();
    if parts.is_empty() {
        let (said, most) = nothing(&compared);
        parts.push(said);
        basis.push(most);
    }
    let first = parts.remove(0);
    let said = capital(&format!("of {of}{between} {first}.", first = first.said));
    basis.extend(first.named.map(|named| capital(&format!("{}: {named}", first.metric))));
    basis.extend(parts.into_iter().map(|part| capital(&part.whole())));
    let are_theirs =
        |effect: &&Effect| matches!(effect.verdict, EffectVerdict::Moved | EffectVerdict::Within);
    let moved = count_rows(compared.iter().copied().filter(are_theirs));
    if moved > 0 {
        basis.push(format!("{moved} moved as services do whose build is the same"));
    }
    basis.extend(changed(scope, changes));
    Headline::new(said, basis.into_iter().map(|sentence| sentence + ".").collect::<Vec<_>>().join(" "))
}

/// One result of a history: what became of how many services, and their names with figures.
struct Part {
    metric: &'static str,
    said: String,
    named: Option<String>,
}

impl Part {
    fn whole(&self) -> String {
        self.named.iter().fold(self.said.clone(), |said, named| format!("{said}: {named}"))
    }
}

/// An incomplete run decides nothing, and neither does a history that contains it.
pub(crate) fn as_far_as_they_went(runs: &[NamedRun], said: Headline) -> Headline {
    let short = runs.iter().filter(|run| cut_short(run.status()).is_some());
    let names: Vec<&str> = short.map(|run| run.name.as_str()).collect();
    match names.as_slice() {
        [] => said,
        names => {
            let why = format!("Undecided, since {} did not come to an end.", names.join(" and "));
            said.behind(why, "So far: ")
        }
    }
}

/// The text if no change is shown. That is no proof, so it names the largest change that may exist.
fn nothing(compared: &[&Effect]) -> (Part, String) {
    let metrics: Vec<&str> = DECIDES
        .iter()
        .filter(|metric| compared.iter().any(|effect| effect.metric == **metric))
        .map(|metric| metric.name())
        .collect();
    let ends =
        compared.iter().filter_map(|effect| effect.ratio.as_ref()?.low.zip(effect.ratio.as_ref()?.high));
    let most = ends.map(|(low, high)| (1.0 - low).max(high - 1.0)).fold(0.0, f64::max);
    let metrics = metrics.join(" or ");
    let excluded = match most > 0.0 {
        true => format!("A difference of {} is not excluded", up_to(most)),
        false => "Too little was measured for intervals".to_owned(),
    };
    (Part { metric: "", said: format!("none is shown to differ in {metrics}"), named: None }, excluded)
}

/// A text such as `1 level changed: axum +7.2% CPU/request from #7 on`.
fn changed(scope: &RunSet, changes: &[Change]) -> Option<String> {
    let named = changes.iter().map(|change| {
        let by = figures::change(change.ratio);
        format!("{} {by} {} from {} on", change.row, change.metric.name(), scope.runs[change.run].name)
    });
    let levels = several(changes.len(), "level");
    (!changes.is_empty()).then(|| format!("{levels} changed: {}", listed(named, changes.len())))
}

/// Such as `a, b and 2 more`: at most the names that fit into a sentence.
fn listed(named: impl Iterator<Item = String>, count: usize) -> String {
    let named: Vec<String> = named.take(NAMED_MAX).collect();
    let more = count.saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &more
}

fn count_rows<'a>(effects: impl Iterator<Item = &'a Effect>) -> usize {
    let mut rows: Vec<&str> = effects.map(|effect| effect.row.as_str()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.len()
}

fn between(scope: &RunSet) -> String {
    match (scope.is_one_machine, scope.by_runs()) {
        (true, false) => String::new(),
        (false, _) => ", related to the reference on each of two machines,".to_owned(),
        (true, true) => format!(" in {} runs", scope.runs.len()),
    }
}

/// Such as `1 became slower` and `hyper -4.1% (-5.0 .. -3.2%)`.
fn part(compared: &[&Effect], metric: Metric, verdict: EffectVerdict) -> Option<Part> {
    let mut found: Vec<&&Effect> =
        compared.iter().filter(|effect| effect.metric == metric && effect.verdict == verdict).collect();
    let distance = |effect: &Effect| effect.ratio.as_ref().map_or(0.0, |ratio| ratio.value.ln().abs());
    found.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    let word = found.first()?.word();
    let named = listed(found.iter().map(|effect| named(effect)), found.len());
    let said = match verdict {
        EffectVerdict::Differ => format!("the {} of {} differs", metric.name(), found.len()),
        _ => format!("{} became {word}", found.len()),
    };
    Some(Part { metric: metric.name(), said, named: Some(named) })
}

fn named(effect: &Effect) -> String {
    match &effect.ratio {
        Some(ratio) => format!("{} {}", effect.row, with_interval(ratio, Unit::Change)),
        None => effect.row.clone(),
    }
}

/// The notes, the most severe first.
pub(crate) fn notes(scope: &RunSet, differences: &[Difference], all: &[Effect]) -> Vec<String> {
    let mut notes = Vec::new();
    if !scope.is_one_machine {
        notes.push(
            "the runs are of two machines: only ratios to the reference are compared, and a difference is one of machines \
             and builds together"
                .to_owned(),
        );
    }
    if !scope.by_runs() {
        notes.push(
            "one run on each side: how much two runs of one program differ is not known, and not in the intervals; more \
             runs of each would tell"
                .to_owned(),
        );
        let of_one_machine = DECIDES.iter().filter(|_| scope.is_one_machine);
        notes.extend(of_one_machine.filter_map(|metric| same_builds(all, *metric)));
    }
    if scope.references_differ_by_build() {
        notes.push("the reference is of one version and not of one build in all runs".to_owned());
    }
    for (run, status) in scope.runs.iter().map(|run| (run, run.status())) {
        match status {
            Status::Complete => {}
            Status::Running => notes.push(format!("{} goes on: it counts as far as it is", run.name)),
            Status::Interrupted | Status::CutOff | Status::Unknown => {
                notes.push(format!("{} did not end of its own accord: it counts as far as it got", run.name));
            }
        }
    }
    let is_told = |one: &&Difference| one.weight < DifferenceWeight::Machine && !one.is_same;
    notes.extend(differences.iter().filter(is_told).map(|one| format!("differs: {}", one.text(scope.runs))));
    if scope.by_runs() {
        notes.push(
            "each row's last build is compared with the one before it, and where its build never changed the last run with \
             the others"
                .to_owned(),
        );
    }
    notes
}

fn same_builds(all: &[Effect], metric: Metric) -> Option<String> {
    let same = all.iter().filter(|effect| effect.metric == metric && effect.same_build == Some(true));
    let count = same.filter(|effect| effect.ratio.is_some()).count();
    let (most, row) = floor(all, metric)?;
    Some(format!(
        "{count} of the same build in both runs moved by up to {} in {} ({row}): so much comes from the runs themselves",
        percent(most.exp_m1()),
        metric.name()
    ))
}
