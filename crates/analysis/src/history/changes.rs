//! Where the level of a row changed in a history of runs.

use tare_bench::metric::Metric;
use tare_stats::change_points;

use super::{effects::DECIDES, scope::RunSet};

/// Error probability of the changes of one row and metric.
const ALPHA: f64 = 0.05;

#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub row: String,
    pub metric: Metric,
    /// Place of the first run of the new level.
    pub run: usize,
    pub ratio: f64,
    pub before: usize,
    pub after: usize,
    /// Whether the run before it had the same build.
    pub same_build: bool,
    pub p: f64,
}

/// Fewest runs in which a change can show.
pub fn needed() -> usize {
    change_points::least_n(ALPHA).unwrap_or(change_points::EXACT_MAX)
}

/// All changes, row by row. Runs of two machines are no history.
pub fn changes(scope: &RunSet) -> Vec<Change> {
    if !scope.is_one_machine || scope.runs.len() < needed() {
        return Vec::new();
    }
    let all = scope.labels().into_iter().flat_map(|row| DECIDES.map(|metric| of(scope, &row, metric)));
    all.flatten().collect()
}

/// What a run says is the middle of its log ratios.
fn of(scope: &RunSet, label: &str, metric: Metric) -> Vec<Change> {
    let samples = (0..scope.runs.len()).map(|run| (run, scope.ratios(run, label, metric)));
    let levels =
        samples.filter_map(|(run, sample)| Some((run, tare_stats::hodges_lehmann(&sample.ok()?.units()))));
    let (runs, history): (Vec<usize>, Vec<f64>) = levels.unzip();
    let found = change_points::changes(&history, ALPHA).unwrap_or_default();
    let end = |index: usize| found.get(index).map_or(history.len(), |change| change.at);
    let build = |at: usize| scope.runs[runs[at]].build(label);
    let change = |(index, change): (usize, &change_points::Change)| Change {
        row: label.to_owned(),
        metric,
        run: runs[change.at],
        ratio: change.shift.exp(),
        before: change.at - index.checked_sub(1).map_or(0, end),
        after: end(index + 1) - change.at,
        same_build: build(change.at).is_some_and(|now| build(change.at - 1) == Some(now)),
        p: change.p,
    };
    found.iter().enumerate().map(change).collect()
}
