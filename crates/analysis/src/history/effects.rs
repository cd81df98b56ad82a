//! By how much each row differs, before and after: two runs by their blocks, more of them by runs. Everything is related to
//! the reference of the same block first, since the machine of one time is not that of another.

use tare_bench::metric::Metric;
use tare_stats::{DEFAULT_CONFIDENCE, Estimate, EstimateError, holm, two_sample};

use super::{
    run::{NamedRun, RowRatios},
    scope::RunSet,
};
use crate::{estimate, verdict::Tone};

/// A difference is reported if its p-value, adjusted for all that is asked, is at most this.
pub(crate) const ALPHA: f64 = 0.05;

/// What decides; the others stand beside.
pub const DECIDES: [Metric; 2] = [Metric::Throughput, Metric::Cpu];

/// One row and one metric, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    pub row: String,
    pub metric: Metric,
    pub before: Side,
    pub after: Side,
    /// What counts as independent: `blocks`, `starts`, `runs`.
    pub unit: &'static str,
    pub ratio: Option<estimate::Estimate>,
    /// Adjusted for all rows and metrics that decide; as it is for those beside.
    pub p: Option<f64>,
    /// Whether the program is the same; absent if that was not kept.
    pub same_build: Option<bool>,
    pub verdict: EffectVerdict,
    /// Why there is no effect, or what to think of it.
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    pub runs: Vec<usize>,
    /// Of the reference: exp of the middle of its values.
    pub of_reference: Option<f64>,
    pub n: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectVerdict {
    /// Higher throughput, or less CPU.
    Better,
    /// Lower throughput, or more CPU.
    Worse,
    /// It differs, and is the same program.
    Moved,
    /// It differs, by no more than programs that are the same.
    Within,
    /// The data do not tell.
    NotShown,
    Beside,
    /// There is no effect, for a reason.
    NotCompared,
}

impl Effect {
    pub fn word(&self) -> &'static str {
        match (self.verdict, self.metric) {
            (EffectVerdict::Better, Metric::Throughput) => "faster",
            (EffectVerdict::Worse, Metric::Throughput) => "slower",
            (EffectVerdict::Better, _) => "cheaper",
            (EffectVerdict::Worse, _) => "dearer",
            (EffectVerdict::Moved, _) => "moved, same build",
            (EffectVerdict::Within, _) => "no more than same builds",
            (EffectVerdict::NotShown, _) => "not shown",
            (EffectVerdict::Beside, _) => "beside",
            (EffectVerdict::NotCompared, _) => "not compared",
        }
    }

    /// Of a program that is another one; what moved by itself is no news of it.
    pub fn tone(&self) -> Tone {
        match self.verdict {
            EffectVerdict::Better => Tone::Good,
            EffectVerdict::Worse => Tone::Bad,
            _ => Tone::Open,
        }
    }

    fn log(&self) -> Option<f64> {
        Some(self.ratio.as_ref()?.value.ln())
    }
}

/// All rows of all runs, each by all metrics, in the order of the last run's table.
pub fn effects(scope: &RunSet) -> Vec<Effect> {
    let rows = scope.labels();
    let metrics = |row: &str| {
        let is_base = scope.runs.iter().any(|run| run.plan().reference() == row);
        Metric::COMPARED.into_iter().filter(move |metric| !is_base || *metric == Metric::Rss)
    };
    let mut all: Vec<Effect> = rows
        .iter()
        .flat_map(|row| metrics(row).map(|metric| effect(scope, row, metric)).collect::<Vec<_>>())
        .collect();
    adjust(&mut all);
    for effect in &mut all {
        effect.verdict = verdict(effect, scope);
        let is_found = matches!(effect.verdict, EffectVerdict::Better | EffectVerdict::Worse);
        if is_found && effect.same_build == Some(true) && scope.is_one_machine {
            effect.reason = "the build is the same: the last run stands apart from the others".to_owned();
        }
    }
    // On two machines a program that is the same moves all the same: it says nothing of what runs differ by.
    if scope.is_one_machine {
        compare_with_same_builds(&mut all);
    }
    all
}

fn effect(scope: &RunSet, label: &str, metric: Metric) -> Effect {
    let samples: Vec<Result<RowRatios, String>> =
        (0..scope.runs.len()).map(|run| scope.ratios(run, label, metric)).collect();
    let [before, after] = scope.sides(label, &samples);
    let of = |runs: &[usize]| -> Vec<&RowRatios> {
        runs.iter().filter_map(|run| samples[*run].as_ref().ok()).collect()
    };
    let (one, other) = (of(&before), of(&after));
    let mut found = Effect {
        row: label.to_owned(),
        metric,
        same_build: scope.same_build(label, &before, &after),
        before: side(before, &one, metric),
        after: side(after, &other, metric),
        unit: "blocks",
        ratio: None,
        p: None,
        verdict: EffectVerdict::NotCompared,
        reason: String::new(),
    };
    if one.is_empty() || other.is_empty() {
        found.reason = why_not(scope.runs, &samples);
        return found;
    }
    if let Some(reason) = scope.not_compared(metric) {
        found.reason = reason;
        return found;
    }
    match weigh(&one, &other, scope.by_runs()) {
        Ok((unit, estimate, p)) => {
            (found.unit, found.p) = (unit, estimate.interval.is_some().then_some(p));
            found.before.n = units(&one, unit);
            found.after.n = units(&other, unit);
            found.reason = estimate.warnings.first().map(|_| too_few(unit)).unwrap_or_default();
            found.ratio = Some(estimate::Estimate::exp(&estimate));
        }
        Err(error) => found.reason = error.to_string(),
    }
    found
}

/// The first reason that some run gives, and how many more give one.
fn why_not(runs: &[NamedRun], samples: &[Result<RowRatios, String>]) -> String {
    let reasons =
        samples.iter().zip(runs).filter_map(|(sample, run)| Some((sample.as_ref().err()?, &run.name)));
    let mut reasons = reasons.map(|(reason, name)| format!("{name}: {reason}"));
    let Some(first) = reasons.next() else { return "there is no run before it".to_owned() };
    match reasons.count() {
        0 => first,
        1 => format!("{first}; and so one more run"),
        more => format!("{first}; and so {more} more runs"),
    }
}

fn too_few(unit: &str) -> String {
    match unit {
        "blocks" => "too few blocks for an interval: four of each run are the least",
        "starts" => "too few starts for an interval: three of both runs together are the least",
        _ => "too few runs for an interval: three are the least",
    }
    .to_owned()
}

fn units(samples: &[&RowRatios], unit: &str) -> usize {
    match unit {
        "runs" => samples.len(),
        "starts" => samples.iter().map(|sample| sample.starts.len()).sum(),
        _ => samples.iter().map(|sample| sample.blocks().len()).sum(),
    }
}

/// What is independent: runs, where there are more than two; else blocks, or starts where processes were kept.
fn weigh(
    before: &[&RowRatios],
    after: &[&RowRatios],
    by_runs: bool,
) -> Result<(&'static str, Estimate, f64), EstimateError> {
    if by_runs {
        let groups = |samples: &[&RowRatios]| samples.iter().map(|sample| sample.units()).collect::<Vec<_>>();
        let (one, other) = (groups(before), groups(after));
        let estimate = two_sample::between(&one, &other, DEFAULT_CONFIDENCE)?;
        return Ok(("runs", estimate, two_sample::between_p(&one, &other)?));
    }
    let (one, other) = (before[0], after[0]);
    if one.is_shared() || other.is_shared() {
        let estimate = two_sample::between(&one.starts, &other.starts, DEFAULT_CONFIDENCE)?;
        return Ok(("starts", estimate, two_sample::between_p(&one.starts, &other.starts)?));
    }
    let (one, other) = (one.blocks(), other.blocks());
    let estimate = two_sample::shift(&one, &other, DEFAULT_CONFIDENCE)?;
    Ok(("blocks", estimate, two_sample::p_value(&one, &other)?))
}

fn side(runs: Vec<usize>, samples: &[&RowRatios], metric: Metric) -> Side {
    let middles: Vec<f64> =
        samples.iter().map(|sample| tare_stats::hodges_lehmann(&sample.units())).collect();
    let middle = tare_stats::summary::median(&middles).ok();
    let of_reference = middle.map(f64::exp).filter(|_| metric != Metric::Rss);
    Side { runs, of_reference, n: 0 }
}

/// Who asks about many rows finds a difference in some: Holm's adjustment over all that decide.
fn adjust(all: &mut [Effect]) {
    let asked: Vec<usize> =
        (0..all.len()).filter(|at| DECIDES.contains(&all[*at].metric) && all[*at].p.is_some()).collect();
    let p: Vec<f64> = asked.iter().filter_map(|at| all[*at].p).collect();
    for (at, adjusted) in asked.into_iter().zip(holm::adjust(&p)) {
        all[at].p = Some(adjusted);
    }
}

fn verdict(effect: &Effect, scope: &RunSet) -> EffectVerdict {
    let decides = DECIDES.contains(&effect.metric);
    // On two machines a program need not be the same to the byte, nor weigh the same against the reference.
    let has_moved = effect.same_build == Some(true) && scope.is_one_machine && !scope.by_runs();
    match (&effect.ratio, effect.p) {
        (None, _) => EffectVerdict::NotCompared,
        (Some(_), _) if !decides => EffectVerdict::Beside,
        (Some(_), p) if p.is_none_or(|p| p > ALPHA) => EffectVerdict::NotShown,
        (Some(_), _) if has_moved => EffectVerdict::Moved,
        (Some(ratio), _) if (ratio.value > 1.0) == (effect.metric == Metric::Throughput) => {
            EffectVerdict::Better
        }
        (Some(_), _) => EffectVerdict::Worse,
    }
}

/// What programs move by that have not changed is what two runs differ by themselves.
fn compare_with_same_builds(all: &mut [Effect]) {
    for metric in DECIDES {
        let Some((floor, row)) = floor(all, metric) else { continue };
        for effect in all.iter_mut().filter(|effect| effect.metric == metric) {
            let is_found = matches!(effect.verdict, EffectVerdict::Better | EffectVerdict::Worse);
            if is_found && effect.unit != "runs" && effect.log().is_some_and(|log| log.abs() <= floor) {
                effect.verdict = EffectVerdict::Within;
                effect.reason = format!("{row}, which is the same build, moved as much");
            }
        }
    }
}

/// The most that a row moved whose build is the same, and which.
pub fn floor(all: &[Effect], metric: Metric) -> Option<(f64, String)> {
    let same = all.iter().filter(|effect| effect.metric == metric && effect.same_build == Some(true));
    let moved = same.filter_map(|effect| Some((effect.log()?.abs(), effect.row.clone())));
    moved.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Runs by their names, neighbours together: `#1 .. #3, #5`.
pub fn names(runs: &[NamedRun], places: &[usize]) -> String {
    let stretches = places.chunk_by(|one, next| one + 1 == *next);
    let name = |place: &usize| runs[*place].name.as_str();
    let each = stretches.map(|stretch| match stretch {
        [first, _, .., last] => format!("{} .. {}", name(first), name(last)),
        few => few.iter().map(name).collect::<Vec<_>>().join(", "),
    });
    each.collect::<Vec<_>>().join(", ")
}
