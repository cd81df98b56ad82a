//! What a run of several loads tells besides the table of its first one: a curve over connections, and a table for each other load.

use tare_analysis::{
    loads::{AtLoad, ToFirst},
    report::{RowReport, State},
};
use tare_bench::run::folder::Kept;

use super::{answer::answer, slices, tiers, validity};
use crate::{
    document::{Chart, Document, Scale, Section, Shape, Unit},
    gather::{
        fields::{Field, between, field, span, table},
        lay::{column, quiet, state, text},
    },
};

const LEAD: &str = "The same services under each load of the run, measured in the same blocks. A line that falls loses more to the \
                    reference as connections are added; a gap is a load under which the service has no valid figure.";

/// A service under a load.
struct Point<'a> {
    connections: usize,
    row: &'a RowReport,
    to_first: ToFirst,
}

/// Adds what is reported of several loads to the document of the first one; nothing if there is one.
pub(crate) fn enter(document: &mut Document, loads: &[AtLoad], kept: &Kept) {
    let [first, others @ ..] = loads else { return };
    if others.is_empty() {
        return;
    }
    let all: Vec<String> = loads.iter().map(|at| at.load.connections.to_string()).collect();
    let all = all.join(", ");
    for fact in document.facts.iter_mut().filter(|fact| fact.label == "Load") {
        fact.text = format!("{} connections, interleaved; the first: {}", all, fact.text);
    }
    document.answer = format!("At {}: {}", first.load.label(), document.answer);
    let place = document.sections.iter().position(|section| section.id == "tiers").unwrap_or(0);
    if let Some(section) = document.sections.get_mut(place) {
        *section = of_load(std::mem::replace(section, Section::without("", "", "")), first, "");
    }
    let tables = others.iter().map(|at| {
        let section = tiers::section(&kept.at_load(at.place), &at.report);
        let lead =
            format!("The same services in the same blocks, under another load. {}", answer(&at.report));
        Section { lead, ..of_load(section, at, &suffix(at)).brief() }
    });
    let new: Vec<Section> = std::iter::once(curve(loads).brief()).chain(tables).collect();
    document.sections.splice(place + 1..place + 1, new);
    document.sections.extend(others.iter().flat_map(|at| behind(at, kept)));
}

/// What the table of another load is made of.
fn behind(at: &AtLoad, kept: &Kept) -> impl Iterator<Item = Section> {
    let kept = kept.at_load(at.place);
    let sections = [slices::section(&kept, &at.report), validity::section(&kept, &at.report)];
    let told = sections.into_iter().filter(|section| section.table.is_some());
    told.map(|section| of_load(section, at, &suffix(at)))
}

fn suffix(at: &AtLoad) -> String {
    format!("-{}", at.load.connections)
}

/// With the load in its heading, and in its name.
fn of_load(section: Section, at: &AtLoad, suffix: &str) -> Section {
    let title = format!("{}, {}", section.title, at.load.label());
    Section { id: section.id + suffix, title, ..section }
}

/// Every service under every load.
fn curve(loads: &[AtLoad]) -> Section {
    let reference = loads[0].report.reference.as_str();
    let points = points(loads);
    let charts = charts(&points, reference);
    let shown = quiet(table("Services by connections", fields(reference, loads[0].load.connections), points));
    let section = Section::new("loads", "Connections", LEAD, shown);
    charts.into_iter().fold(section, Section::chart)
}

/// The services in the order of the first table, each with all its loads, from few connections to many.
fn points(loads: &[AtLoad]) -> Vec<Point<'_>> {
    let services = loads[0].report.rows.iter().map(|row| row.label.as_str());
    services.flat_map(|label| of_service(loads, label)).collect()
}

fn of_service<'a>(loads: &'a [AtLoad], label: &str) -> Vec<Point<'a>> {
    let point = |at: &'a AtLoad| {
        let row = at.report.rows.iter().find(|row| row.label == label)?;
        let to_first = at.to_first.get(label).copied().unwrap_or_default();
        Some(Point { connections: at.load.connections, row, to_first })
    };
    let mut points: Vec<Point> = loads.iter().filter_map(point).collect();
    points.sort_by_key(|point| point.connections);
    points
}

fn fields<'a>(reference: &'a str, first: usize) -> Vec<Field<'a, Point<'a>>> {
    let per_request = "CPU time of the service's processes for each answer; the median of the blocks";
    let mut fields = vec![
        field(text("label", "service").facet(), |point: &Point| point.row.label.clone()),
        field(column("connections", "connections", Unit::Count), |point: &Point| point.connections),
        field(column("requests_per_second", "req/s", Unit::PerSecond), |point: &Point| {
            point.row.requests_per_second
        }),
    ];
    let ratio = column("throughput_ratio", "of reference", Unit::Share).help(
        "throughput related to the reference's under the same load in the same block, with a 95% interval",
    );
    fields.extend(between(ratio, move |point: &Point| tiers::throughput(point.row, reference)));
    let cpu = column("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds).help(per_request);
    fields.push(field(cpu, |point: &Point| point.row.cpu_ns_per_request));
    let ratio = column("cpu_ratio", "CPU of reference", Unit::Times)
        .help("CPU per request related to the reference's under the same load in the same block, with a 95% interval");
    fields.extend(between(ratio, move |point: &Point| tiers::cpu(point.row, reference)));
    fields.extend(to_first(first));
    fields.push(field(column("latency_ns_p99", "p99", Unit::Nanoseconds), |point: &Point| {
        point.row.latency_ns_p99
    }));
    fields.push(field(column("blocks", "blocks", Unit::Count), |point: &Point| point.row.blocks));
    fields.push(field(text("state", "state").facet(), |point: &Point| state(&point.row.state)));
    fields
}

/// How a service changes as connections are added: related to itself, and not to the reference, which changes too.
fn to_first<'a>(first: usize) -> impl Iterator<Item = Field<'a, Point<'a>>> {
    let of = |metric: &str| {
        format!(
            "{metric} related to that of the same service at {first} connections in the same block, with a 95% interval"
        )
    };
    let throughput = column("throughput_to_first", &format!("of itself at {first}"), Unit::Share);
    let cpu = column("cpu_to_first", &format!("CPU of itself at {first}"), Unit::Times);
    let throughput = between(throughput.help(&of("throughput")), |point: &Point| point.to_first.throughput);
    let cpu = between(cpu.help(&of("CPU per request")), |point: &Point| point.to_first.cpu);
    throughput.into_iter().chain(cpu)
}

/// A line for each service.
fn charts(points: &[Point], reference: &str) -> Vec<Chart> {
    type Figure<'f> = &'f dyn Fn(&RowReport) -> Option<f64>;
    let line = |key: &str, title: &str, unit: Unit, figure: Figure| {
        let measured = points.iter().filter(|point| point.row.state == State::Measured);
        let found: Vec<(String, f64)> = measured
            .filter_map(|point| {
                let name = format!("{} at {}", point.row.label, point.connections);
                Some((name, figure(point.row)?))
            })
            .collect();
        let span = span(unit, found.iter().map(|(name, value)| (name.as_str(), *value)))?;
        let alt = format!("{title} by connections: {span}.");
        let chart = Chart::new(Shape::Lines, "connections", key, &alt).series("label");
        let chart = chart.scales(Scale::Log, Scale::Linear);
        Some(Chart { n: Some("blocks".to_owned()), title: title.to_owned(), ..chart })
    };
    let charts = [
        line("throughput_ratio", "Throughput of the reference's", Unit::Share, &|row| {
            tiers::throughput(row, reference).map(|found| found.value)
        }),
        line("requests_per_second", "Requests a second", Unit::PerSecond, &|row| row.requests_per_second),
        line("cpu_ns_per_request", "CPU per request", Unit::Nanoseconds, &|row| row.cpu_ns_per_request),
    ];
    charts.into_iter().flatten().collect()
}
