//! The ratio of a row to the reference on one machine, which only a run with its own reference can create.

use std::collections::BTreeMap;

use tare_bench::metric::Metric;
use tare_stats::{
    Contrast, DEFAULT_CONFIDENCE, Prior,
    meta::{self, MachineResult, Pooled},
};

use tare_analysis::{estimate::UnitEstimate, history::run::NamedRun};

/// Metrics with a ratio to the reference. Memory has none; latency depends on the machine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RatioMetric {
    Throughput,
    Cpu,
}

/// A row divided by the reference on the same machine, over all counted runs of that machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineRatio {
    /// On the logarithmic scale.
    finding: MachineResult,
    blocks: usize,
    runs: usize,
}

impl RatioMetric {
    pub const ALL: [RatioMetric; 2] = [RatioMetric::Throughput, RatioMetric::Cpu];

    pub fn metric(self) -> Metric {
        match self {
            RatioMetric::Throughput => Metric::Throughput,
            RatioMetric::Cpu => Metric::Cpu,
        }
    }

    pub fn name(self) -> &'static str {
        self.metric().name()
    }
}

impl MachineRatio {
    /// The ratio with this machine's own interval.
    pub fn estimate(&self) -> UnitEstimate {
        let alone = meta::pool(&[self.finding], DEFAULT_CONFIDENCE);
        alone.map_or_else(
            |_| UnitEstimate::known(self.finding.estimate.exp()),
            |alone| UnitEstimate { n: self.blocks, ..ratio(&alone) },
        )
    }

    /// Blocks, or starts if a process was kept for several.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    pub fn runs(&self) -> usize {
        self.runs
    }
}

/// The mean over machines as a ratio.
pub(super) fn ratio(of: &Pooled) -> UnitEstimate {
    let mean = of.mean();
    UnitEstimate {
        value: mean.point.exp(),
        low: Some(mean.interval.low.exp()),
        high: Some(mean.interval.high.exp()),
        confidence_attained: Some(mean.interval.attained),
        n: of.heterogeneity().map_or(1, |found| found.machines),
    }
}

/// Pools ratios of machines. `None` without any.
pub(super) fn pool(ratios: &[&MachineRatio]) -> Option<Pooled> {
    let findings: Vec<MachineResult> = ratios.iter().map(|ratio| ratio.finding).collect();
    meta::pool(&findings, DEFAULT_CONFIDENCE).ok()
}

/// The ratios of a run's rows to its reference.
#[derive(Debug)]
pub(super) struct RunRatios {
    throughput: Rows,
    cpu: Rows,
}

/// By label: the ratio, or why there is none.
type Rows = BTreeMap<String, Result<RunRatio, String>>;

/// A row of one run.
#[derive(Debug, Clone, Copy)]
struct RunRatio {
    finding: MachineResult,
    units: usize,
}

impl RunRatios {
    pub(super) fn of(run: &NamedRun) -> RunRatios {
        let [throughput, cpu] = RatioMetric::ALL.map(|metric| rows(run, metric));
        RunRatios { throughput, cpu }
    }

    fn row(&self, label: &str, metric: RatioMetric) -> Result<RunRatio, String> {
        let rows = match metric {
            RatioMetric::Throughput => &self.throughput,
            RatioMetric::Cpu => &self.cpu,
        };
        rows.get(label).cloned().unwrap_or_else(|| Err("it is no row of the run".to_owned()))
    }
}

/// A row on each machine, from the given runs, or the reason in words.
pub(super) fn of_machines(
    machines: &[Vec<&RunRatios>],
    label: &str,
    metric: RatioMetric,
) -> Vec<Result<MachineRatio, String>> {
    let each: Vec<Result<Vec<RunRatio>, String>> =
        machines.iter().map(|runs| of_machine(runs, label, metric)).collect();
    let known: Vec<Vec<MachineResult>> =
        each.iter().flatten().map(|runs| runs.iter().map(|run| run.finding).collect()).collect();
    let mut combined = meta::of_machines(&known).unwrap_or_default().into_iter();
    let joined = |runs: Result<Vec<RunRatio>, String>| {
        let runs = runs?;
        let finding = combined.next().ok_or_else(|| "there is no standard error".to_owned())?;
        Ok(MachineRatio { finding, blocks: runs.iter().map(|run| run.units).sum(), runs: runs.len() })
    };
    each.into_iter().map(joined).collect()
}

/// The runs with a ratio for the row; if there is none, the first reason.
fn of_machine(runs: &[&RunRatios], label: &str, metric: RatioMetric) -> Result<Vec<RunRatio>, String> {
    let each: Vec<Result<RunRatio, String>> = runs.iter().map(|run| run.row(label, metric)).collect();
    let reason = each.iter().find_map(|found| found.as_ref().err().cloned());
    let known: Vec<RunRatio> = each.into_iter().flatten().collect();
    match known.is_empty() {
        true => Err(reason.unwrap_or_else(|| "no run of it counts".to_owned())),
        false => Ok(known),
    }
}

/// Computed like the table of the run: noise is estimated jointly, except in a run with looks.
fn rows(run: &NamedRun, metric: RatioMetric) -> Rows {
    let reference = run.plan().reference();
    let labels = run.plan().rows.iter().map(|row| row.label.as_str()).filter(|label| *label != reference);
    let contrast = |label: &str| {
        let ratios = run.ratios(label, metric.metric())?;
        let units = ratios.starts.len();
        Ok::<_, String>((Contrast::of(&ratios.starts).map_err(|error| error.to_string())?, units))
    };
    let all: Vec<_> = labels.map(|label| (label.to_owned(), contrast(label))).collect();
    let has_looks = run.plan().until.has_looks();
    let known = all.iter().filter_map(|(_, found)| Some(&found.as_ref().ok()?.0));
    let prior = Prior::of(known).filter(|_| !has_looks);
    let ratio = |found: Result<(Contrast, usize), String>| {
        let (contrast, units) = found?;
        let own = contrast.moderated(prior.as_ref());
        if own.starts < 2 || own.error() <= 0.0 {
            return Err("too little was measured for a standard error".to_owned());
        }
        let finding = MachineResult { estimate: own.point, error: own.error(), freedom: Some(own.freedom()) };
        Ok(RunRatio { finding, units })
    };
    all.into_iter().map(|(label, found)| (label, ratio(found))).collect()
}
