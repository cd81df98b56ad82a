//! One metric of two rows, paired by block.

use tare_stats::{Contrast, Warning, log_ratios};

use super::{
    Figure,
    decide::{Gated, LogRatios},
};
use crate::{
    estimate::UnitEstimate,
    findings::{Finding, Issue, RowIssue, Scope},
    series,
};
use tare_bench::{
    folder::StoredRun,
    plan::{
        Plan,
        until::{Gate, Metric},
    },
    record::{Record, StoppedService},
};

/// One metric of two rows, in the blocks that both have.
pub(super) struct Both {
    pub metric: Metric,
    pub baseline: Vec<f64>,
    pub candidate: Vec<f64>,
    pub doubts: Vec<Finding>,
}

pub(super) fn both(
    stored: &StoredRun,
    metric: Metric,
    [baseline, candidate]: [&str; 2],
    mut doubts: Vec<Finding>,
) -> Both {
    let of = |label: &str| series::of(&stored.header.plan, &stored.records, label, metric);
    let pair = Scope::Pair(candidate.to_owned(), baseline.to_owned());
    let of_pair = |issue| Finding { scope: pair.clone(), issue: Issue::Row(issue) };
    if metric == Metric::P99 {
        let labels = [baseline, candidate].into_iter();
        let few = labels.filter_map(|label| Some((label, series::too_few_for_p99(stored, label)?)));
        doubts.extend(few.map(|(label, issue)| Finding::of_row(label, issue)));
    }
    let (baseline, candidate) = series::paired(&of(baseline), &of(candidate));
    if metric == Metric::P99 && some_unanswered(&stored.records) {
        doubts.push(of_pair(RowIssue::LowerBounds));
    }
    if baseline.is_empty() {
        doubts.push(of_pair(RowIssue::NotMeasured));
    }
    Both { metric, baseline, candidate, doubts }
}

fn some_unanswered(records: &[Record]) -> bool {
    let at_least = |stopped: &StoppedService| {
        stopped.latency_at(1).or(stopped.latency_at(0)).is_some_and(|latency| latency.at_least)
    };
    records.iter().any(|record| matches!(record, Record::Stopped(stopped) if at_least(stopped)))
}

/// A figure with findings is shown but does not decide.
pub(super) fn series_of(gate: &Gate, both: &Both) -> LogRatios {
    let log_ratios = log_ratios(&both.candidate, &both.baseline).unwrap_or_default();
    let decides = gate.metrics.contains(&both.metric) && both.doubts.is_empty();
    LogRatios { metric: both.metric, decides, log_ratios }
}

/// The geometric mean. The quotient of both rows' means equals the ratio, which is paired by block.
fn level(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = values.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect();
    Contrast::of_values(&logs).ok().map(|found| found.point.exp())
}

pub(super) fn figure(
    plan: &Plan,
    gate: &Gate,
    both: Both,
    series: &LogRatios,
    gated: Option<Gated>,
) -> Figure {
    let used = gated.as_ref().map_or(0, |gated| gated.estimate.n);
    let level = |values: &[f64]| level(&values[..used]);
    let estimate = gated.as_ref().map(|gated| &gated.estimate);
    // The verdict already reports too few blocks.
    let own = |warning: &&Warning| !matches!(warning, Warning::TooFewBlocks { .. });
    let warnings = estimate.iter().flat_map(|found| &found.warnings).filter(own);
    let point = plan.rates().next();
    let name = match (both.metric, point) {
        (Metric::P99, Some((_, rate))) => format!("p99 at {}", rate.label()),
        (metric, _) => metric.name().to_owned(),
    };
    Figure {
        metric: both.metric,
        name,
        decides: series.decides,
        baseline: level(&both.baseline),
        candidate: level(&both.candidate),
        ratio: estimate.map(UnitEstimate::from),
        confidence: 1.0 - gate.looks_at(both.metric).alpha(),
        bound: gated.as_ref().map_or(1.0, |gated| gated.gate.bound),
        verdict: gated.as_ref().filter(|_| series.decides).map(|gated| gated.verdict),
        regression_most: gated.as_ref().and_then(|gated| gated.gate.regression_most),
        warnings: warnings.copied().collect(),
        doubts: both.doubts,
    }
}
