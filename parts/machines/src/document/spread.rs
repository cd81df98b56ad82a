//! Whether and how much machines differ, and the influence of each single machine.

use tare_analysis::estimate::UnitEstimate;
use tare_bench::metric::Metric;
use tare_report::{
    document::{Section, Unit},
    gather::columns::{Columns, four_digits},
};

use super::ratios::{METRICS, agreement};
use crate::{Merged, OverMachines, PooledLoad, PooledRatio, PooledRow};

/// A service and a metric.
struct SpreadLine<'a> {
    row: &'a PooledRow,
    ratio: &'a PooledRatio,
}

fn lines(load: &PooledLoad) -> impl Iterator<Item = SpreadLine<'_>> {
    let of = |row| METRICS.map(|(metric, ..)| SpreadLine { row, ratio: row.of(metric) });
    load.rows.iter().flat_map(of)
}

/// `None` with fewer than two machines.
pub(super) fn heterogeneity(merged: &Merged, load: &PooledLoad) -> Option<Section> {
    if merged.counted().count() < 2 {
        return None;
    }
    let found = |line: &SpreadLine| line.ratio.all.pooled().and_then(|found| found.heterogeneity()).copied();
    let i_squared = move |line: &SpreadLine| {
        let found = found(line)?;
        let [low, high] = found.i_squared_interval;
        Some(UnitEstimate { low: Some(low), high: Some(high), ..UnitEstimate::known(found.i_squared) })
    };
    let tau = move |line: &SpreadLine| Some(found(line)?.tau().exp_m1());
    let end = |line: &SpreadLine, end: usize| Some(line.ratio.all.prediction()?[end]);
    let columns = Columns::new()
        .facet("row", "Service", |line: &SpreadLine| line.row.label.clone())
        .facet("metric", "Metric", |line| line.ratio.metric.name())
        .facet("agreement", "Machines differ", |line| agreement(line.ratio.agreement))
        .count("machines", "Machines", |line| line.ratio.all.machines())
        .share("tau", "From machine to machine", tau)
        .help(
            "Standard deviation of the true ratios of machines (tau, by Paule and Mandel), as a factor: at 5% a machine typically has \
             5% more or less than the mean",
        )
        .estimate(Unit::Share, "i_squared", "I squared", i_squared)
        .help(
            "Which share of the variance of the machines' figures is one of machines, and not of their errors; its interval by the \
             Q-profile. It grows with the length of the runs, so it is no measure of how much machines differ",
        )
        .number("q", "Q", move |line| found(line).map(|found| four_digits(found.q)))
        .help("Cochran's Q: about one less than there are machines where they do not differ")
        .add(Unit::Probability, "p", "p", move |line| found(line).map(|found| found.p))
        .help("Of \"machines do not differ\", by Welch's test, for this line alone")
        .add(Unit::Probability, "p_adjusted", "p, adjusted", |line| line.ratio.agreement.p())
        .help("The same over all services, metrics and loads (Holm): what \"Machines differ\" goes by")
        .share("another_low", "Another machine from", move |line| end(line, 0))
        .help("Prediction interval of 95%; it takes three machines")
        .share("another_high", "Another machine to", move |line| end(line, 1));
    let lead = "Whether machines differ by more than their own errors explain, and how much. Where they do, the mean is of machines that \
                are not alike, and the interval for another machine says more than that of the mean.";
    let table = columns.table("How much machines differ", lines(load));
    Some(Section::new("heterogeneity", "How machines differ", lead, table))
}

/// The mean without a machine.
struct OmittedLine {
    row: String,
    metric: Metric,
    machine: String,
    without: UnitEstimate,
    all: f64,
}

/// `None` with fewer than three machines.
pub(super) fn without(merged: &Merged, load: &PooledLoad) -> Option<Section> {
    let of_line = |line: SpreadLine<'_>| {
        let (row, metric) = (line.row.label.clone(), line.ratio.metric.metric());
        let all = line.ratio.all.mean().map_or(f64::NAN, |found| found.value);
        let name = |place: usize| merged.machines[place].name.clone();
        let each = OverMachines::without(&line.ratio.all).into_iter();
        let omitted = |(place, without): (usize, UnitEstimate)| OmittedLine {
            row: row.clone(),
            metric,
            machine: name(place),
            without,
            all,
        };
        each.map(omitted).collect::<Vec<_>>()
    };
    let found: Vec<OmittedLine> = lines(load).flat_map(of_line).collect();
    if found.is_empty() {
        return None;
    }
    let columns = Columns::new()
        .facet("row", "Service", |line: &OmittedLine| line.row.clone())
        .facet("metric", "Metric", |line| line.metric.name())
        .text("machine", "Without", |line| line.machine.clone())
        .estimate(Unit::Share, "of_reference", "Of reference", |line| Some(line.without))
        .help("The mean over the other machines")
        .add(Unit::Change, "change", "Change of the mean", |line| line.without.value / line.all)
        .help("By how much the mean changes: where it changes much, one machine decides it");
    let lead = "The mean without each machine in turn. A mean that changes much without one of them is that machine's.";
    Some(Section::new(
        "leave-one-out",
        "Without each machine",
        lead,
        columns.table("Means without a machine", found),
    ))
}
