//! What a row is of the reference on one machine. This is all that is known beyond a machine: nothing but a run, related to the
//! reference of its own blocks, makes one.

use std::collections::BTreeMap;

use tare_bench::metric::Metric;
use tare_stats::{
    Contrast, DEFAULT_CONFIDENCE, Prior,
    meta::{self, Finding, Pooled},
};

use crate::{estimate::Estimate, history::run::NamedRun};

/// What is related to the reference. Memory is not, and latency is that of one machine's clock and load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RatioMetric {
    Throughput,
    Cpu,
}

/// A row of one machine as a multiple of the reference there, over all runs of that machine that count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineRatio {
    /// Of the logarithm.
    finding: Finding,
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
    /// With its own interval.
    pub fn estimate(&self) -> Estimate {
        let alone = meta::pool(&[self.finding], DEFAULT_CONFIDENCE);
        alone.map_or_else(
            |_| Estimate::known(self.finding.estimate.exp()),
            |alone| Estimate { n: self.blocks, ..ratio(&alone) },
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
pub(super) fn ratio(of: &Pooled) -> Estimate {
    let mean = of.mean();
    Estimate {
        value: mean.point.exp(),
        low: Some(mean.interval.low.exp()),
        high: Some(mean.interval.high.exp()),
        confidence_attained: Some(mean.interval.attained),
        n: of.heterogeneity().map_or(1, |found| found.machines),
    }
}

/// Pools ratios of machines; nothing else can be pooled. `None` of none.
pub(super) fn pool(ratios: &[&MachineRatio]) -> Option<Pooled> {
    let findings: Vec<Finding> = ratios.iter().map(|ratio| ratio.finding).collect();
    meta::pool(&findings, DEFAULT_CONFIDENCE).ok()
}

/// What the rows of a run are of its reference.
#[derive(Debug)]
pub(super) struct RunRatios {
    throughput: Rows,
    cpu: Rows,
}

/// By label: a ratio, or why there is none.
type Rows = BTreeMap<String, Result<RunRatio, String>>;

/// A row of one run.
#[derive(Debug, Clone, Copy)]
struct RunRatio {
    finding: Finding,
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

/// A row of each machine, by the runs that it is given of it: in words why there is none.
pub(super) fn of_machines(
    machines: &[Vec<&RunRatios>],
    label: &str,
    metric: RatioMetric,
) -> Vec<Result<MachineRatio, String>> {
    let each: Vec<Result<Vec<RunRatio>, String>> =
        machines.iter().map(|runs| of_machine(runs, label, metric)).collect();
    let known: Vec<Vec<Finding>> =
        each.iter().flatten().map(|runs| runs.iter().map(|run| run.finding).collect()).collect();
    let mut combined = meta::of_machines(&known).unwrap_or_default().into_iter();
    let joined = |runs: Result<Vec<RunRatio>, String>| {
        let runs = runs?;
        let finding = combined.next().ok_or_else(|| "there is no standard error".to_owned())?;
        Ok(MachineRatio { finding, blocks: runs.iter().map(|run| run.units).sum(), runs: runs.len() })
    };
    each.into_iter().map(joined).collect()
}

/// Of the runs that say something of the row; an error is the first reason of those that do not, if none does.
fn of_machine(runs: &[&RunRatios], label: &str, metric: RatioMetric) -> Result<Vec<RunRatio>, String> {
    let each: Vec<Result<RunRatio, String>> = runs.iter().map(|run| run.row(label, metric)).collect();
    let reason = each.iter().find_map(|found| found.as_ref().err().cloned());
    let known: Vec<RunRatio> = each.into_iter().flatten().collect();
    match known.is_empty() {
        true => Err(reason.unwrap_or_else(|| "no run of it counts".to_owned())),
        false => Ok(known),
    }
}

/// As the table of the run has them: the noise of each row is judged by that of all, but for a run with looks.
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
        let finding = Finding { estimate: own.point, error: own.error(), freedom: Some(own.freedom()) };
        Ok(RunRatio { finding, units })
    };
    all.into_iter().map(|(label, found)| (label, ratio(found))).collect()
}
