//! The change of each row: two runs are compared by their blocks, more runs by runs. Values are first divided
//! by the reference of the same block, because machines vary over time.

use tare_base::units::several;
use tare_bench::metric::Metric;
use tare_stats::{DEFAULT_CONFIDENCE, Estimate, EstimateError, holm, two_sample};

use super::{
    run::{NamedRun, RowRatios},
    scope::RunSet,
};
use crate::{estimate, verdict::Tone};

/// A difference is reported up to this p-value, adjusted for all rows and metrics.
pub(crate) const ALPHA: f64 = 0.05;

/// The deciding metrics; others are only shown.
pub const DECIDES: [Metric; 2] = [Metric::Throughput, Metric::Cpu];

/// One row and one metric, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    pub row: String,
    pub metric: Metric,
    pub before: Side,
    pub after: Side,
    /// The independent unit: `blocks`, `starts`, `runs`.
    pub unit: &'static str,
    pub ratio: Option<estimate::UnitEstimate>,
    /// Adjusted for all rows and deciding metrics; unadjusted for other metrics.
    pub p: Option<f64>,
    /// Whether the build is the same; absent if unknown.
    pub same_build: Option<bool>,
    pub verdict: EffectVerdict,
    /// Why there is no effect, or how to read it.
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Side {
    pub runs: Vec<usize>,
    /// The centre of its ratios to the reference.
    pub of_reference: Option<f64>,
    pub n: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectVerdict {
    /// Higher throughput, or less CPU.
    Better,
    /// Lower throughput, or more CPU.
    Worse,
    /// It differs although the build is the same.
    Moved,
    /// It differs, but no more than equal builds do.
    Within,
    /// The two runs differ. Without knowledge of run-to-run variation this is no evidence about the program.
    Differ,
    /// The data do not show a difference.
    NotShown,
    Beside,
    /// There is no effect, for the stated reason.
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
            (EffectVerdict::Within, _) => "not beyond same builds",
            (EffectVerdict::Differ, _) => "these runs differ",
            (EffectVerdict::NotShown, _) => "not shown",
            (EffectVerdict::Beside, _) => "beside",
            (EffectVerdict::NotCompared, _) => "not compared",
        }
    }

    /// Coloured only if the build changed.
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

/// All rows and metrics of all runs, in the order of the last run's table.
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
    let beyond = beyond(scope, &all);
    adjust(&mut all);
    for (effect, beyond) in all.iter_mut().zip(beyond) {
        effect.verdict = verdict(effect, scope, beyond);
        let is_found = matches!(effect.verdict, EffectVerdict::Better | EffectVerdict::Worse);
        if is_found && effect.same_build == Some(true) && scope.is_one_machine {
            effect.reason = "the build is the same: the last run stands apart from the others".to_owned();
        }
        if let Some(reason) = beyond.reason(effect.verdict) {
            effect.reason = reason;
        }
    }
    all
}

/// Whether an effect exceeds the variation between runs.
#[derive(Debug, Clone, Copy)]
struct Beyond {
    /// Known differences without a change of the program.
    alike: usize,
    /// Whether it exceeds them, at 5% over all tested effects.
    is_greater: bool,
}

impl Beyond {
    fn reason(self, verdict: EffectVerdict) -> Option<String> {
        match verdict {
            EffectVerdict::Differ => {
                Some("one run of each: what two runs of one program differ by is not known".to_owned())
            }
            EffectVerdict::Within => Some(format!(
                "not separated from what did not change and moved all the same ({})",
                several(self.alike, "difference")
            )),
            _ => None,
        }
    }
}

/// One entry per effect, in order. For two runs on one machine, unchanged builds and the reference's twin
/// show the variation between runs. On two machines even an unchanged build differs.
fn beyond(scope: &RunSet, all: &[Effect]) -> Vec<Beyond> {
    let is_known = scope.is_one_machine && !scope.by_runs();
    let alike = DECIDES.map(|metric| if is_known { alike(scope, all, metric) } else { Vec::new() });
    let of = |metric: Metric| DECIDES.iter().position(|one| *one == metric).map(|at| &alike[at]);
    let is_asked = |effect: &Effect| effect.same_build != Some(true) && effect.p.is_some();
    let p = |effect: &Effect| {
        let among = two_sample::among_p(effect.log()?, of(effect.metric)?);
        effect.p.filter(|_| is_asked(effect)).map(|p| p.max(among))
    };
    let each: Vec<Option<f64>> = all.iter().map(p).collect();
    let mut adjusted = holm::adjust(&each.iter().flatten().copied().collect::<Vec<f64>>()).into_iter();
    let known = |effect: &Effect| of(effect.metric).map_or(0, Vec::len);
    let is_greater =
        |p: &Option<f64>| p.is_some().then(|| adjusted.next()).flatten().is_some_and(|p| p <= ALPHA);
    let greater: Vec<bool> = each.iter().map(is_greater).collect();
    all.iter().zip(greater).map(|(effect, is_greater)| Beyond { alike: known(effect), is_greater }).collect()
}

/// Differences between two runs without a program change: rows with the same build, and the reference against
/// its twin within each run. A ratio within one run has half the variance of a difference between two.
fn alike(scope: &RunSet, all: &[Effect], metric: Metric) -> Vec<f64> {
    let same = all.iter().filter(|effect| effect.metric == metric && effect.same_build == Some(true));
    let twin = |run: usize| {
        let plan = scope.runs[run].plan();
        let label = plan.twin_of_reference()?;
        let ratios = scope.ratios(run, label, metric).ok()?;
        Some(std::f64::consts::SQRT_2 * tare_stats::hodges_lehmann(&ratios.units()))
    };
    same.filter_map(Effect::log).chain((0..scope.runs.len()).filter_map(twin)).collect()
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
            found.ratio = Some(estimate::UnitEstimate::exp(&estimate));
        }
        Err(error) => found.reason = error.to_string(),
    }
    found
}

/// The first reason of a run, and the number of further ones.
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

/// Compares the independent units: runs if more than two, else starts of kept processes, else blocks.
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

/// Holm's adjustment over all deciding effects, because many tests find some difference by chance.
fn adjust(all: &mut [Effect]) {
    let asked: Vec<usize> =
        (0..all.len()).filter(|at| DECIDES.contains(&all[*at].metric) && all[*at].p.is_some()).collect();
    let p: Vec<f64> = asked.iter().filter_map(|at| all[*at].p).collect();
    for (at, adjusted) in asked.into_iter().zip(holm::adjust(&p)) {
        all[at].p = Some(adjusted);
    }
}

fn verdict(effect: &Effect, scope: &RunSet, beyond: Beyond) -> EffectVerdict {
    let Some(ratio) = &effect.ratio else { return EffectVerdict::NotCompared };
    if !DECIDES.contains(&effect.metric) {
        return EffectVerdict::Beside;
    }
    if effect.p.is_none_or(|p| p > ALPHA) {
        return EffectVerdict::NotShown;
    }
    let is_higher = (ratio.value > 1.0) == (effect.metric == Metric::Throughput);
    // On two machines a program may differ in its bytes, and in its ratio to the reference.
    match scope.by_runs() {
        false if effect.same_build == Some(true) && scope.is_one_machine => EffectVerdict::Moved,
        false if beyond.alike == 0 => EffectVerdict::Differ,
        false if !beyond.is_greater => EffectVerdict::Within,
        _ if is_higher => EffectVerdict::Better,
        _ => EffectVerdict::Worse,
    }
}

/// The largest change of a row with an unchanged build, and its label.
pub fn floor(all: &[Effect], metric: Metric) -> Option<(f64, String)> {
    let same = all.iter().filter(|effect| effect.metric == metric && effect.same_build == Some(true));
    let moved = same.filter_map(|effect| Some((effect.log()?.abs(), effect.row.clone())));
    moved.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Names of runs, with ranges abbreviated: `#1 .. #3, #5`.
pub fn names(runs: &[NamedRun], places: &[usize]) -> String {
    let stretches = places.chunk_by(|one, next| one + 1 == *next);
    let name = |place: &usize| runs[*place].name.as_str();
    let each = stretches.map(|stretch| match stretch {
        [first, _, .., last] => format!("{} .. {}", name(first), name(last)),
        few => few.iter().map(name).collect::<Vec<_>>().join(", "),
    });
    each.collect::<Vec<_>>().join(", ")
}
