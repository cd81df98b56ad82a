//! Level changes of a row in a history of runs.

use tare_bench::metric::Metric;
use tare_stats::change_points;

use super::{effects::DECIDES, scope::RunSet};

/// Probability of any false change, over all rows and metrics of a report.
const ALPHA: f64 = 0.05;

#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub row: String,
    pub metric: Metric,
    /// Index of the first run of the new level.
    pub run: usize,
    pub ratio: f64,
    pub before: usize,
    pub after: usize,
    /// Whether the run before it had the same build.
    pub same_build: bool,
    pub p: f64,
}

/// Fewest runs that can show a change, for this number of rows and metrics.
pub fn needed(scope: &RunSet) -> usize {
    let asked = histories(scope).len().max(1) as f64;
    change_points::least_n(ALPHA / asked).unwrap_or(change_points::EXACT_MAX)
}

/// All changes, row by row. Runs on several machines have none.
pub fn changes(scope: &RunSet) -> Vec<Change> {
    if !scope.is_one_machine {
        return Vec::new();
    }
    let histories = histories(scope);
    let levels: Vec<&[f64]> = histories.iter().map(|one| one.levels.as_slice()).collect();
    let found = change_points::changes_of_all(&levels, ALPHA).unwrap_or_default();
    histories.iter().zip(&found).flat_map(|(one, found)| one.changes(scope, found)).collect()
}

/// One row and metric over runs: the centre of its log ratios.
struct LevelHistory {
    row: String,
    metric: Metric,
    runs: Vec<usize>,
    levels: Vec<f64>,
}

fn histories(scope: &RunSet) -> Vec<LevelHistory> {
    let each = scope.labels().into_iter().flat_map(|row| DECIDES.map(|metric| (row.clone(), metric)));
    let of = |(row, metric): (String, Metric)| {
        let samples = (0..scope.runs.len()).map(|run| (run, scope.ratios(run, &row, metric)));
        let levels = samples
            .filter_map(|(run, sample)| Some((run, tare_stats::hodges_lehmann(&sample.ok()?.units()))));
        let (runs, levels): (Vec<usize>, Vec<f64>) = levels.unzip();
        LevelHistory { row, metric, runs, levels }
    };
    each.map(of).filter(|history| history.runs.len() > 1).collect()
}

impl LevelHistory {
    fn changes(&self, scope: &RunSet, found: &[change_points::LevelChange]) -> Vec<Change> {
        let end = |index: usize| found.get(index).map_or(self.levels.len(), |change| change.at);
        let build = |at: usize| scope.runs[self.runs[at]].build(&self.row);
        let change = |(index, change): (usize, &change_points::LevelChange)| Change {
            row: self.row.clone(),
            metric: self.metric,
            run: self.runs[change.at],
            ratio: change.shift.exp(),
            before: change.at - index.checked_sub(1).map_or(0, end),
            after: end(index + 1) - change.at,
            same_build: build(change.at).is_some_and(|now| build(change.at - 1) == Some(now)),
            p: change.p,
        };
        found.iter().enumerate().map(change).collect()
    }
}
