//! The cost of a request at rates that are the same for all services.

use tare_analysis::{
    estimate::Estimate,
    interleaved::{CostAtRate, Report, RowReport},
};

use super::parts;
use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::{columns::Columns, words::span},
};

const LEAD: &str = "CPU time per request in open loops, at rates that are the same for all services. A service that is not \
                    saturated is woken for most of its requests, and pays for that; one that is saturated finds them waiting.";

pub(crate) fn section(report: &Report) -> Section {
    let all = report.rows.iter().flat_map(|row| row.cost_at_rates.iter().map(move |cost| (row, cost)));
    let all: Vec<(&RowReport, &CostAtRate)> = all.collect();
    if all.is_empty() {
        return Section::without("equal-rate", "Cost at equal rates", LEAD).note(
            "this run has no rate that is the same for all: an experiment asks for one with [latency] rate",
        );
    }
    let costs = all.iter().map(|(row, cost)| (row.label.as_str(), cost.cpu_ns_per_request.value));
    let alt = span(Unit::Nanoseconds, costs).unwrap_or_default();
    let chart = Chart::new(
        Shape::Points,
        "label",
        "cpu_ns_at_rate",
        &format!("CPU per request at equal rates: {alt}."),
    )
    .scales(Scale::Names, Scale::Log)
    .series("rate")
    .title("CPU per request at equal rates")
    .n("blocks");
    Section::new(
        "equal-rate",
        "Cost at equal rates",
        LEAD,
        columns(report).table("CPU per request at equal rates", all),
    )
    .chart(chart)
}

fn columns<'a>(report: &Report) -> Columns<'a, (&'a RowReport, &'a CostAtRate)> {
    Columns::new()
        .text("label", "service", |(row, _): &(&RowReport, &CostAtRate)| row.label.clone())
        .facet("rate", "rate", |(_, cost)| cost.rate.clone())
        .estimate(Unit::Nanoseconds, "cpu_ns_at_rate", "CPU/request", |(_, cost)| {
            Some(cost.cpu_ns_per_request)
        })
        .help("CPU time of the service's processes for each answer, at that rate")
        .and(parts::at_rate(report, |(_, cost): &(&RowReport, &CostAtRate)| cost.backing_cpu_ns_per_request))
        .estimate(Unit::Times, "cpu_ratio_at_rate", "of reference", |(_, cost)| Some(ratio(cost)))
        .help("related to the reference's at the same rate in the same block, with a 95% interval")
        .estimate(Unit::Nanoseconds, "cpu_ns_per_request", "saturated", |(row, _)| row.cpu_ns_per_request)
        .help("CPU time for each answer when it is saturated, for comparison")
        .count("blocks", "blocks", |(row, _)| row.blocks)
}

/// The ratio; that of the reference is 1 without an interval.
fn ratio(cost: &CostAtRate) -> Estimate {
    cost.cpu_ratio.unwrap_or_else(|| Estimate::known(1.0))
}
