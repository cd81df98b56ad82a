//! Variation between runs of one build, which an interval from two runs cannot include.

use tare_bench::metric::Metric;
use tare_stats::two_level;

use super::{effects::DECIDES, scope::RunSet};

/// Standard deviations of a row's ratios, over the runs of its last build.
#[derive(Debug)]
pub struct HistorySpread {
    pub row: String,
    pub metric: Metric,
    /// In addition to the variation of their blocks.
    pub between_runs: f64,
    pub between_blocks: f64,
    pub runs: usize,
}

/// The variation of each row and deciding metric with at least two runs of one build.
pub fn spreads(runs: &RunSet) -> Vec<HistorySpread> {
    let each = runs.labels().into_iter().flat_map(|row| DECIDES.map(|metric| (row.clone(), metric)));
    each.filter_map(|(row, metric)| spread(runs, row, metric)).collect()
}

fn spread(set: &RunSet, row: String, metric: Metric) -> Option<HistorySpread> {
    let last = (0..set.runs.len()).rev().find(|run| set.ratios(*run, &row, metric).is_ok())?;
    let is_same = |run: &usize| {
        set.runs[*run].build(&row) == set.runs[last].build(&row) && set.machine(*run) == set.machine(last)
    };
    let same = (0..set.runs.len()).filter(is_same);
    let units: Vec<Vec<f64>> =
        same.filter_map(|run| Some(set.ratios(run, &row, metric).ok()?.units())).collect();
    let found = two_level::variance(&units).ok()?;
    let (between_runs, between_blocks) = (found.start.sqrt(), found.slice.sqrt());
    Some(HistorySpread { row, metric, between_runs, between_blocks, runs: units.len() })
}
