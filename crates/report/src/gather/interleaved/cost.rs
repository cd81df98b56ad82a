//! The cost of a request and the throughput, each with its ratio to the reference: columns for every table that has them,
//! and the sections of both and of the cost at equal rates.

use tare_analysis::{
    estimate::UnitEstimate,
    interleaved::{CostAtRate, Report, RowReport, RowState},
};

use super::parts;
use crate::{
    document::{Chart, Column, LAST, Scale, Section, Shape, Unit},
    gather::{
        columns::{Columns, beside},
        words::span,
    },
};

const LEAD: &str = "CPU time per request against throughput, both related to the reference. To the right is faster, below is \
                    cheaper. Top right: fast by using more CPUs. Bottom left: waiting.";

const EQUAL_RATE_LEAD: &str = "CPU time per request in open loops, at rates that are the same for all services. A service that is not \
                    saturated is woken for most of its requests, and pays for that; one that is saturated finds them waiting.";

pub(crate) fn section(report: &Report) -> Section {
    let reference = report.reference.as_str();
    let has = |row: &&RowReport| {
        row.state == RowState::Measured
            && row.requests_per_second.is_some()
            && row.cpu_ns_per_request.is_some()
    };
    let rows: Vec<&RowReport> = report.rows.iter().filter(has).collect();
    if rows.is_empty() {
        return Section::without("cost", "Cost and throughput", LEAD)
            .note("no row has both a throughput and a CPU time per request");
    }
    let are_related = rows.iter().any(|row| row.ratio.is_some() && row.cpu_ratio.is_some());
    let (x, y) = match are_related {
        true => ("throughput_ratio", "cpu_ratio"),
        false => ("requests_per_second", "cpu_ns_per_request"),
    };
    let chart = Chart::new(Shape::Points, x, y, &alt(&rows, reference, are_related))
        .scales(Scale::Log, Scale::Log)
        .series("label")
        .title("CPU per request against throughput")
        .n("blocks");
    let table = columns(reference).table("Services by throughput and CPU per request", rows);
    Section::new("cost", "Cost and throughput", LEAD, table).chart(chart)
}

fn columns<'a>(reference: &'a str) -> Columns<'a, &'a RowReport> {
    let of = |row: &&'a RowReport| *row;
    Columns::new()
        .text("label", "service", |row: &&RowReport| row.label.clone())
        .language(|row| row.language.clone())
        .and(cpu(of, reference))
        .and(throughput(of, reference))
        .count("blocks", "blocks", |row| row.blocks)
}

fn alt(rows: &[&RowReport], reference: &str, are_related: bool) -> String {
    let spans = |unit: Unit, value: &dyn Fn(&RowReport) -> Option<f64>| {
        span(unit, rows.iter().filter_map(|row| Some((row.label.as_str(), value(row)?)))).unwrap_or_default()
    };
    let of = |found: Option<UnitEstimate>| found.map(|found| found.value);
    if are_related {
        let rates = spans(Unit::Share, &|row| of(row.throughput_of(reference)));
        let costs = spans(Unit::Times, &|row| of(row.cost_of(reference)));
        return format!("Throughput related to {reference}: {rates}; CPU per request: {costs}.");
    }
    let rates = spans(Unit::PerSecond, &|row| Some(row.requests_per_second?.value));
    let costs = spans(Unit::Nanoseconds, &|row| Some(row.cpu_ns_per_request?.value));
    format!("Requests a second: {rates}; CPU per request: {costs}.")
}

/// Requests per second, and their ratio.
pub(crate) fn throughput<'a, T>(
    row: impl Fn(&T) -> &'a RowReport + Copy + 'a,
    reference: &'a str,
) -> Columns<'a, T> {
    Columns::new()
        .estimate(Unit::PerSecond, "requests_per_second", "req/s", move |of| row(of).requests_per_second)
        .with(|column| beside(column, 80))
        .help("right answers a second; the mean of the blocks, with a 95% interval")
        .bounded(
            Unit::Share,
            "throughput_ratio",
            "throughput",
            move |of| row(of).throughput_of(reference),
            move |of| row(of).throughput_bound,
        )
        .with(|column| column.priority(75).interval_priority(30))
        .help(
            "throughput related to the reference's in the same block, with a 95% interval; of their capacities at least (≥) or at \
             most (≤) that much where one of them was not saturated",
        )
        .share("throughput_ratio_if_busy", "if both were busy", move |of| row(of).ratio_if_busy)
        .priority(28)
        .help("the ratio if the CPUs of both had been busy all the time, by how busy they were; it has no interval")
}

/// CPU time per answer, and its ratio.
pub(crate) fn cpu<'a, T>(
    row: impl Fn(&T) -> &'a RowReport + Copy + 'a,
    reference: &'a str,
) -> Columns<'a, T> {
    Columns::new()
        .estimate(Unit::Times, "cpu_ratio", "CPU of reference", move |of| row(of).cost_of(reference))
        .with(|column: Column| column.interval_priority(85))
        .help("CPU per request related to the reference's in the same block, with a 95% interval")
        .estimate(Unit::Nanoseconds, "cpu_ns_per_request", "CPU/request", move |of| row(of).cpu_ns_per_request)
        .with(|column| column.interval_priority(LAST))
        .help("CPU time of the service's processes for each answer; the mean of the blocks, with a 95% interval")
}

/// The ratio of the cost at the first rate that is the same for all. It is in the data only, because a
/// section of its own shows it.
pub(crate) fn cpu_at_rate<'a, T>(row: impl Fn(&T) -> &'a RowReport + Copy + 'a) -> Columns<'a, T> {
    Columns::new()
        .estimate(Unit::Times, "cpu_ratio_at_rate", "CPU at equal rate", move |of| {
            row(of).cost_at_rates.first()?.cpu_ratio
        })
        .help("CPU per request related to the reference's, both at the same rate and not saturated")
        .all_hidden()
}

pub(crate) fn at_equal_rate(report: &Report) -> Section {
    let all = report.rows.iter().flat_map(|row| row.cost_at_rates.iter().map(move |cost| (row, cost)));
    let all: Vec<(&RowReport, &CostAtRate)> = all.collect();
    if all.is_empty() {
        return Section::without("equal-rate", "Cost at equal rates", EQUAL_RATE_LEAD).note(
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
        EQUAL_RATE_LEAD,
        columns_at_rate(report).table("CPU per request at equal rates", all),
    )
    .chart(chart)
}

fn columns_at_rate<'a>(report: &Report) -> Columns<'a, (&'a RowReport, &'a CostAtRate)> {
    Columns::new()
        .text("label", "service", |(row, _): &(&RowReport, &CostAtRate)| row.label.clone())
        .facet("rate", "rate", |(_, cost)| cost.rate.clone())
        .estimate(Unit::Nanoseconds, "cpu_ns_at_rate", "CPU/request", |(_, cost)| {
            Some(cost.cpu_ns_per_request)
        })
        .help("CPU time of the service's processes for each answer, at that rate")
        .and(parts::at_rate(report, |(_, cost): &(&RowReport, &CostAtRate)| cost.backing_cpu_ns_per_request))
        .estimate(Unit::Times, "cpu_ratio_at_rate", "of reference", |(_, cost)| {
            // That of the reference is 1 without an interval.
            cost.cpu_ratio.or(Some(UnitEstimate::known(1.0)))
        })
        .help("related to the reference's at the same rate in the same block, with a 95% interval")
        .estimate(Unit::Nanoseconds, "cpu_ns_per_request", "saturated", |(row, _)| row.cpu_ns_per_request)
        .help("CPU time for each answer when it is saturated, for comparison")
        .count("blocks", "blocks", |(row, _)| row.blocks)
}
