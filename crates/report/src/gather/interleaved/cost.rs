//! The cost of a request, and the throughput.

use tare_analysis::{
    estimate::Estimate,
    interleaved::{Report, RowReport, State},
};

use super::ratios::{self, cpu_ratio, throughput_ratio};
use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::{columns::Columns, words::span},
};

const LEAD: &str = "CPU time per request against throughput, both related to the reference. To the right is faster, below is \
                    cheaper; what is dear and fast uses more CPUs, what is cheap and slow waits.";

pub(crate) fn section(report: &Report) -> Section {
    let reference = report.reference.as_str();
    let has = |row: &&RowReport| {
        row.state == State::Measured && row.requests_per_second.is_some() && row.cpu_ns_per_request.is_some()
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
        .facet("language", "language", |row| row.language.clone())
        .and(ratios::cpu(of, reference))
        .and(ratios::throughput(of, reference))
        .count("blocks", "blocks", |row| row.blocks)
}

fn alt(rows: &[&RowReport], reference: &str, are_related: bool) -> String {
    let spans = |unit: Unit, value: &dyn Fn(&RowReport) -> Option<f64>| {
        span(unit, rows.iter().filter_map(|row| Some((row.label.as_str(), value(row)?)))).unwrap_or_default()
    };
    let of = |found: Option<Estimate>| found.map(|found| found.value);
    if are_related {
        let rates = spans(Unit::Share, &|row| of(throughput_ratio(row, reference)));
        let costs = spans(Unit::Times, &|row| of(cpu_ratio(row, reference)));
        return format!("Throughput related to {reference}: {rates}; CPU per request: {costs}.");
    }
    let rates = spans(Unit::PerSecond, &|row| Some(row.requests_per_second?.value));
    let costs = spans(Unit::Nanoseconds, &|row| Some(row.cpu_ns_per_request?.value));
    format!("Requests a second: {rates}; CPU per request: {costs}.")
}
