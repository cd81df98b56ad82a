//! Each row over all machines, and within each machine class.

use std::borrow::Cow;

use tare_stats::{holm, meta::Pooled};

use super::{
    Machine, MergedRun,
    ratio::{self, MachineRatio, RatioMetric, RunRatios},
};
use tare_analysis::{
    estimate::UnitEstimate,
    history::{
        comparable::{self, Difference, DifferenceWeight},
        run::NamedRun,
    },
};

/// A difference between machines is reported up to this p-value, adjusted for all rows and metrics.
pub(crate) const ALPHA: f64 = 0.05;

/// The ratios to the reference under one load.
#[derive(Debug)]
pub struct PooledLoad {
    /// Name of the load.
    pub label: String,
    /// Sorted by increasing cost; rows without figures last.
    pub rows: Vec<PooledRow>,
}

/// A row over machines.
#[derive(Debug)]
pub struct PooledRow {
    pub label: String,
    pub version: Option<String>,
    pub throughput: PooledRatio,
    pub cpu: PooledRatio,
}

/// A row over machines, by one metric.
#[derive(Debug)]
pub struct PooledRatio {
    pub metric: RatioMetric,
    /// Result or reason for each counted machine, by its index.
    pub each: Vec<(usize, Result<MachineRatio, String>)>,
    pub all: OverMachines,
    pub agreement: Agreement,
    /// Results within each machine class that has this row.
    pub classes: Vec<(String, OverMachines)>,
}

/// The pooled result of a row.
#[derive(Debug, Clone)]
pub enum OverMachines {
    /// Nothing is pooled, for this reason.
    Nothing(String),
    /// A result over the machines below.
    Pooled {
        /// By the number of machines.
        pooled: Pooled,
        /// Their indices, in the order of the leave-one-out means.
        machines: Vec<usize>,
    },
}

/// Whether machines differ in a row, beyond their own errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Agreement {
    /// There are fewer than two machines.
    NotKnown,
    /// The data do not show a difference, which does not prove equality.
    NotShown { p: f64 },
    /// They differ. p is adjusted for all rows and metrics.
    Differ { p: f64 },
}

impl OverMachines {
    /// The mean of machines with its interval, if there are several machines.
    pub fn mean(&self) -> Option<UnitEstimate> {
        match self {
            OverMachines::Nothing(_) | OverMachines::Pooled { pooled: Pooled::One(_), .. } => None,
            OverMachines::Pooled { pooled, .. } => Some(ratio::ratio(pooled)),
        }
    }

    /// The mean, or the result of a single machine.
    pub fn figure(&self) -> Option<UnitEstimate> {
        match self {
            OverMachines::Nothing(_) => None,
            OverMachines::Pooled { pooled, .. } => Some(ratio::ratio(pooled)),
        }
    }

    pub fn machines(&self) -> usize {
        match self {
            OverMachines::Nothing(_) => 0,
            OverMachines::Pooled { machines, .. } => machines.len(),
        }
    }

    pub fn pooled(&self) -> Option<&Pooled> {
        match self {
            OverMachines::Nothing(_) => None,
            OverMachines::Pooled { pooled, .. } => Some(pooled),
        }
    }

    /// Prediction interval for another machine; needs at least three.
    pub fn prediction(&self) -> Option<[f64; 2]> {
        match self.pooled()? {
            Pooled::Many(all) => Some([all.prediction.low.exp(), all.prediction.high.exp()]),
            Pooled::One(_) | Pooled::Two(..) => None,
        }
    }

    /// Leave-one-out means; need at least three machines.
    pub fn without(&self) -> Vec<(usize, UnitEstimate)> {
        let OverMachines::Pooled { pooled: Pooled::Many(all), machines } = self else { return Vec::new() };
        let estimate = |mean: &tare_stats::meta::Mean| UnitEstimate {
            value: mean.point.exp(),
            low: Some(mean.interval.low.exp()),
            high: Some(mean.interval.high.exp()),
            confidence_attained: Some(mean.interval.attained),
            n: machines.len() - 1,
        };
        machines.iter().copied().zip(all.without.iter().map(estimate)).collect()
    }
}

impl Agreement {
    pub fn word(self) -> &'static str {
        match self {
            Agreement::NotKnown => "not known",
            Agreement::NotShown { .. } => "not shown",
            Agreement::Differ { .. } => "differ",
        }
    }

    pub fn p(self) -> Option<f64> {
        match self {
            Agreement::NotKnown => None,
            Agreement::NotShown { p } | Agreement::Differ { p } => Some(p),
        }
    }
}

impl PooledRow {
    pub fn of(&self, metric: RatioMetric) -> &PooledRatio {
        match metric {
            RatioMetric::Throughput => &self.throughput,
            RatioMetric::Cpu => &self.cpu,
        }
    }
}

/// The classes of the counted runs, in order.
pub(super) fn classes(machines: &[Machine], runs: &[MergedRun]) -> Vec<String> {
    let counted = machines.iter().flat_map(|machine| &machine.counted);
    let mut classes: Vec<String> = counted.map(|run| runs[*run].class.clone()).collect();
    classes.sort();
    classes.dedup();
    classes
}

/// All loads of the experiment.
pub(super) fn loads(machines: &[Machine], runs: &[MergedRun]) -> Vec<PooledLoad> {
    let Some(first) = runs.first() else { return Vec::new() };
    let loads = first.run.plan().loads();
    let labels = loads.iter().map(|load| load.label());
    let mut found: Vec<PooledLoad> =
        labels.enumerate().map(|(place, label)| at_load(machines, runs, place, label)).collect();
    adjust(&mut found);
    found
}

fn at_load(machines: &[Machine], runs: &[MergedRun], load: usize, label: String) -> PooledLoad {
    let at: Vec<Cow<NamedRun>> = runs.iter().map(|merged| merged.run.at_load(load)).collect();
    let at: Vec<&NamedRun> = at.iter().map(|run| &**run).collect();
    let ratios = at.iter().map(|run| RunRatios::of(run)).collect();
    let scope = RunsAtLoad { machines, runs, at, ratios };
    let plan = runs[0].run.plan();
    let is_pooled = |label: &&str| *label != plan.reference() && !plan.is_twin(label);
    let labels = plan.rows.iter().map(|row| row.label.as_str()).filter(is_pooled);
    let mut rows: Vec<PooledRow> = labels.map(|label| scope.row(label)).collect();
    rows.sort_by(|one, other| order(one).total_cmp(&order(other)).then_with(|| one.label.cmp(&other.label)));
    PooledLoad { label, rows }
}

/// Sorts by cost, like the table of one run; rows without a cost by throughput.
fn order(row: &PooledRow) -> f64 {
    let of = |ratio: &PooledRatio| ratio.all.figure().map(|found| found.value);
    of(&row.cpu).or_else(|| of(&row.throughput).map(f64::recip)).unwrap_or(f64::INFINITY)
}

/// The runs under one load.
struct RunsAtLoad<'a> {
    machines: &'a [Machine],
    runs: &'a [MergedRun],
    at: Vec<&'a NamedRun>,
    ratios: Vec<RunRatios>,
}

impl RunsAtLoad<'_> {
    fn row(&self, label: &str) -> PooledRow {
        let version = self.at.iter().find_map(|run| run.planned(label)?.version.clone());
        let [throughput, cpu] = RatioMetric::ALL.map(|metric| self.ratio(label, metric));
        PooledRow { label: label.to_owned(), version, throughput, cpu }
    }

    fn ratio(&self, label: &str, metric: RatioMetric) -> PooledRatio {
        let each = self.each(label, metric, |_| true);
        let of_class = |class: String| {
            let own = self.each(label, metric, |run| self.runs[run].class == class);
            let found = self.pooled(metric, &own, |run| self.runs[run].class == class);
            (class, found)
        };
        let classes = classes(self.machines, self.runs).into_iter().map(of_class);
        PooledRatio {
            metric,
            all: self.pooled(metric, &each, |_| true),
            agreement: Agreement::NotKnown,
            classes: classes.filter(|(_, found)| found.machines() > 0).collect(),
            each,
        }
    }

    /// Results of machines from their selected runs; machines without such a run are skipped.
    fn each(
        &self,
        label: &str,
        metric: RatioMetric,
        is_asked: impl Fn(usize) -> bool,
    ) -> Vec<(usize, Result<MachineRatio, String>)> {
        let asked = |machine: &Machine| {
            let runs = machine.counted.iter().filter(|run| is_asked(**run));
            runs.map(|run| &self.ratios[*run]).collect::<Vec<&RunRatios>>()
        };
        let (places, runs): (Vec<usize>, Vec<Vec<&RunRatios>>) =
            self.machines.iter().map(asked).enumerate().filter(|(_, runs)| !runs.is_empty()).unzip();
        places.into_iter().zip(ratio::of_machines(&runs, label, metric)).collect()
    }

    fn pooled(
        &self,
        metric: RatioMetric,
        each: &[(usize, Result<MachineRatio, String>)],
        is_asked: impl Fn(usize) -> bool,
    ) -> OverMachines {
        let known = each.iter().filter_map(|(machine, found)| Some((*machine, found.as_ref().ok()?)));
        let (machines, ratios): (Vec<usize>, Vec<&MachineRatio>) = known.unzip();
        if let Some(reason) = self.not_comparable(metric, &machines, is_asked) {
            return OverMachines::Nothing(reason);
        }
        match ratio::pool(&ratios) {
            Some(pooled) => OverMachines::Pooled { pooled, machines },
            None => OverMachines::Nothing(why_not(each)),
        }
    }

    /// Why a metric is not comparable between these machines: CPU time was counted in two ways.
    fn not_comparable(
        &self,
        metric: RatioMetric,
        machines: &[usize],
        is_asked: impl Fn(usize) -> bool,
    ) -> Option<String> {
        let places = machines.iter().flat_map(|machine| &self.machines[*machine].counted);
        let runs: Vec<&NamedRun> = places.filter(|run| is_asked(**run)).map(|run| self.at[*run]).collect();
        let is_other =
            |one: &Difference| one.weight == DifferenceWeight::Metric(metric.metric()) && !one.is_same;
        let found = comparable::compare_all(&runs).into_iter().find(is_other)?;
        let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
        Some(format!("not measured in one way: {}", found.text_with(&names)))
    }
}

fn why_not(each: &[(usize, Result<MachineRatio, String>)]) -> String {
    let reason = each.iter().find_map(|(_, found)| found.as_ref().err());
    reason.cloned().unwrap_or_else(|| "no machine counts".to_owned())
}

/// Holm's adjustment over all rows, metrics and loads, because many tests find some difference by chance.
fn adjust(loads: &mut [PooledLoad]) {
    let mut all: Vec<&mut PooledRatio> = loads
        .iter_mut()
        .flat_map(|load| &mut load.rows)
        .flat_map(|row| [&mut row.throughput, &mut row.cpu])
        .collect();
    let p = |ratio: &PooledRatio| Some(ratio.all.pooled()?.heterogeneity()?.p);
    let asked: Vec<usize> = (0..all.len()).filter(|place| p(all[*place]).is_some()).collect();
    let each: Vec<f64> = asked.iter().filter_map(|place| p(all[*place])).collect();
    for (place, p) in asked.into_iter().zip(holm::adjust(&each)) {
        all[place].agreement = if p <= ALPHA { Agreement::Differ { p } } else { Agreement::NotShown { p } };
    }
}
