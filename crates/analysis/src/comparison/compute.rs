//! From records to a comparison. The table of the run decides whether the figures of a row are valid.

use super::{
    Comparison, Contender, Figure, TwinComparison,
    decide::{Decision, End, Gated, LogRatios, decide},
    pair::{Both, both, figure, series_of},
};
use crate::{
    figures,
    findings::{Finding, RowIssue, RunIssue},
    interleaved::{self, Report, RowReport, RowState},
    verdict::Verdict,
};
use tare_base::units::several;
use tare_bench::{
    folder::StoredRun,
    plan::{
        Plan,
        until::{Gate, Metric, Until, percent},
    },
    record::Ending,
};

/// The comparison of a run. Its first load decides; a wrong answer under any load ends it.
pub fn compute(whole: &StoredRun) -> Option<Comparison> {
    let has_gate = matches!(whole.header.plan.until, Until::Gate(_));
    has_gate.then(|| of_table(whole, &interleaved::compute(&whole.at_load(0)))).flatten()
}

/// The same with the table of the first load, where that is known.
pub fn of_table(whole: &StoredRun, report: &Report) -> Option<Comparison> {
    let stored = &*whole.at_load(0);
    let plan = &stored.header.plan;
    let Until::Gate(gate) = &plan.until else { return None };
    let row = |label: &str| report.rows.iter().find(|row| row.label == label);
    let (baseline, candidate) = (row(plan.reference())?, row(&gate.candidate)?);
    let pair = [baseline.label.as_str(), candidate.label.as_str()];
    let of = |metric| both(stored, metric, pair, doubts([baseline, candidate], metric));
    let both: Vec<Both> = Metric::COMPARED.map(of).into();
    let series: Vec<LogRatios> = both.iter().map(|both| series_of(gate, both)).collect();
    let blocks = both.iter().map(|both| both.baseline.len()).max().unwrap_or(0);
    let end = if report.ending == Some(Ending::BudgetSpent) { End::OutOfTime } else { End::AtLooks };
    let decision = decide(gate, blocks, end, &series);
    let look = decision.look;
    let again = TwinComparison::of(stored, gate, end, [blocks, look.unwrap_or(blocks)]);
    let none = || without_a_measurement([baseline, candidate], &series, &both);
    let unreliable = || Some((Verdict::Invalid, again.as_ref()?.unreliable(gate, &series)?));
    let (verdict, reason) =
        match wrong_answers(whole, [baseline, candidate]).or_else(none).or_else(unreliable) {
            Some(found) => found,
            None => match interleaved::spent::no_block(stored, blocks) {
                Some(found) => (decision.verdict, RunIssue::NoBlock(found).to_string()),
                None => (decision.verdict, reason(gate, &decision, blocks, &series)),
            },
        };
    let figures = both.into_iter().zip(series).zip(decision.metrics);
    Some(Comparison {
        verdict,
        reason,
        delta: gate.delta,
        candidate: contender(plan, candidate),
        baseline: contender(plan, baseline),
        contract: plan.contract().to_owned(),
        load: report.load.clone(),
        blocks,
        looks: decision.looks,
        look,
        elapsed_ns: report.elapsed_ns,
        ending: report.ending,
        figures: figures.map(|((both, series), gated)| figure(plan, gate, both, &series, gated)).collect(),
        again,
        findings: findings(report, [baseline, candidate], blocks, look),
    })
}

/// Findings in the run's table about a metric of these rows.
fn doubts(rows: [&RowReport; 2], metric: Metric) -> Vec<Finding> {
    match metric {
        Metric::Throughput => rows.iter().filter_map(|row| row.throughput_finding.clone()).collect(),
        _ => Vec::new(),
    }
}

/// The verdict and its reason, if either row answered wrongly.
fn wrong_answers(whole: &StoredRun, rows: [&RowReport; 2]) -> Option<(Verdict, String)> {
    let of = |row: &&RowReport| {
        let place = whole.header.plan.rows.iter().position(|planned| planned.label == row.label)?;
        Some(Finding::of_row(&row.label, interleaved::wrong_answers(whole, place)?).scoped())
    };
    let found: Vec<String> = rows.iter().filter_map(of).collect();
    (!found.is_empty()).then(|| (Verdict::Invalid, found.join("; ")))
}

/// The verdict and its reason, if there is no measurement to compare.
fn without_a_measurement(
    rows: [&RowReport; 2],
    series: &[LogRatios],
    both: &[Both],
) -> Option<(Verdict, String)> {
    if let Some(row) = rows.iter().find(|row| !matches!(row.state, RowState::Measured | RowState::Unmeasured))
    {
        let reason = row.state.reason().unwrap_or_default();
        return Some((row.state.verdict(), format!("{}: {reason}", row.label)));
    }
    let measured = rows.iter().all(|row| row.state == RowState::Measured);
    (measured && !series.iter().any(|series| series.decides)).then(|| {
        let missing = |finding: &&Finding| finding.row_issue().is_some_and(RowIssue::is_of_missing_cpu);
        let missing = rows.iter().flat_map(|row| row.findings.iter().filter(missing));
        let doubts = both.iter().flat_map(|both| &both.doubts).chain(missing);
        let doubts: Vec<String> = doubts.map(Finding::scoped).collect();
        (Verdict::Invalid, format!("nothing that was to decide is valid: {}", doubts.join("; ")))
    })
}

fn reason(
    gate: &Gate,
    Decision { verdict, looks, metrics, .. }: &Decision,
    blocks: usize,
    series: &[LogRatios],
) -> String {
    let delta = percent(gate.delta);
    // Lists the deciding metrics with this verdict, in the given words.
    let with = |wanted: Verdict, words: &dyn Fn(&str, &Gated) -> String| -> String {
        let all = series.iter().zip(metrics).filter(|(series, _)| series.decides);
        let found = all.filter_map(|(series, gated)| Some((series.metric.name(), gated.as_ref()?)));
        let found = found.filter(|(_, gated)| gated.verdict == wanted);
        found.map(|(name, gated)| words(name, gated)).collect::<Vec<_>>().join(" and ")
    };
    let name = |name: &str, _: &Gated| name.to_owned();
    let size = |share: Option<f64>| figures::percent(share.unwrap_or(f64::NAN));
    match verdict {
        Verdict::Pass => {
            format!("a regression of {delta} or more is excluded in {}", with(Verdict::Pass, &name))
        }
        Verdict::Fail => format!("worse by {delta} or more in {}", with(Verdict::Fail, &name)),
        Verdict::Worse => {
            let least = |name: &str, gated: &Gated| {
                format!("by at least {} in {name}", size(gated.gate.regression_least))
            };
            let worse = with(Verdict::Worse, &least);
            format!("worse {worse}; {delta} or more is neither shown nor excluded")
        }
        _ => match looks.first() {
            Some(first) if blocks < *first => {
                format!("the first look is after {}, and nothing is said before it", several(*first, "block"))
            }
            _ => {
                let most = |name: &str, gated: &Gated| match gated.gate.regression_most {
                    Some(_) => name.to_owned(),
                    None => format!("{name} (too few blocks for an interval)"),
                };
                let open = with(Verdict::Inconclusive, &most);
                format!("a regression of {delta} is neither shown nor excluded in {open}")
            }
        },
    }
}

fn contender(plan: &Plan, row: &RowReport) -> Contender {
    let planned = plan.rows.iter().find(|planned| planned.label == row.label);
    Contender {
        label: row.label.clone(),
        title: row.title.clone(),
        version: row.version.clone(),
        content: planned.and_then(|planned| planned.content.clone()),
        sent: row.sent,
        failed: row.failed.clone(),
    }
}

impl Figure {
    /// All findings about a figure, and its warnings if the verdict depends on it.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let warnings = self.warnings.iter().filter(|_| self.decides).map(ToString::to_string);
        self.doubts.iter().map(Finding::scoped).chain(warnings)
    }
}

/// Findings of the table, except those about its own intervals: a comparison has its own statistics.
fn findings(report: &Report, rows: [&RowReport; 2], blocks: usize, look: Option<usize>) -> Vec<Finding> {
    // A comparison also looks at its end, and its verdict reports too few blocks.
    let is_of_the_table = |found: &&Finding| {
        let of_run = found.run_issue();
        matches!(
            of_run,
            Some(RunIssue::InterimAnalyses { .. } | RunIssue::TooFewBlocks { .. } | RunIssue::NoBlock(_))
        )
    };
    let mut findings: Vec<Finding> =
        report.findings.iter().filter(|found| !is_of_the_table(found)).cloned().collect();
    let after = look.filter(|look| *look < blocks);
    let after = after.map(|look| RunIssue::AfterTheLook { look, later: blocks - look });
    findings.extend(after.map(Finding::of_run));
    let is_own = |found: &&Finding| !matches!(found.row_issue(), Some(RowIssue::Sample { .. }));
    let mut of_rows: Vec<Finding> =
        rows.iter().flat_map(|row| &row.findings).filter(is_own).cloned().collect();
    of_rows.sort_by_cached_key(|found| (found.to_string(), found.scope.clone()));
    // A finding about both is listed once.
    of_rows.dedup_by(|found, before| found.issue == before.issue);
    findings.extend(of_rows);
    findings
}
