//! A run with several loads: a curve over connections, and a table for each load other than the first.

use tare_analysis::{
    interleaved::{RowReport, RowState},
    loads::{AtLoad, ToFirst},
};
use tare_bench::folder::StoredRun;

use super::{answer::answer, cost, ranks, slices, validity};
use crate::{
    document::{Chart, Document, Scale, Section, Shape, Unit},
    gather::{
        columns::{Columns, state},
        words::{Headline, span},
    },
};

const LEAD: &str = "The same services under each load of the run, measured in the same blocks. A line that falls loses more to the \
                    reference as connections are added; a gap is a load under which the service has no valid figure.";

struct UnderLoad<'a> {
    connections: usize,
    row: &'a RowReport,
    to_first: ToFirst,
}

/// Adds the sections about several loads to the document of the first one; nothing for a single load.
pub(crate) fn enter(document: &mut Document, loads: &[AtLoad], stored: &StoredRun) {
    let [first, others @ ..] = loads else { return };
    if others.is_empty() {
        return;
    }
    let all: Vec<String> = loads.iter().map(|at| at.load.connections.to_string()).collect();
    let all = all.join(", ");
    for fact in document.facts.iter_mut().filter(|fact| fact.label == "Load") {
        fact.text = format!("{} connections, interleaved; the first: {}", all, fact.text);
    }
    let place = document.sections.iter().position(|section| section.id == "ranks").unwrap_or(0);
    if let Some(section) = document.sections.get_mut(place) {
        *section = of_load(std::mem::take(section), first, "");
    }
    let tables = others.iter().map(|at| {
        let section = ranks::section(&stored.at_load(at.place), &at.report);
        let said = answer(&at.report).headline.said;
        let lead = format!("The same services in the same blocks, under another load. {said}");
        Section { lead, ..of_load(section, at, &suffix(at)).brief() }
    });
    let new: Vec<Section> = std::iter::once(curve(loads).brief()).chain(tables).collect();
    document.sections.splice(place + 1..place + 1, new);
    document.sections.extend(others.iter().flat_map(|at| behind(at, stored)));
}

/// The answer with a mention of its load, which is the first of several.
pub(crate) fn answer_at(loads: &[AtLoad], answer: Headline) -> Headline {
    match loads {
        [first, _, ..] => Headline { said: format!("At {}: {}", first.load.label(), answer.said), ..answer },
        _ => answer,
    }
}

fn behind(at: &AtLoad, stored: &StoredRun) -> impl Iterator<Item = Section> {
    let stored = stored.at_load(at.place);
    let sections = [slices::section(&stored, &at.report), validity::section(&stored, &at.report)];
    let told = sections.into_iter().filter(|section| section.table.is_some());
    told.map(|section| of_load(section, at, &suffix(at)))
}

fn suffix(at: &AtLoad) -> String {
    format!("-{}", at.load.connections)
}

/// Adds the load to the heading and the id of a section.
fn of_load(section: Section, at: &AtLoad, suffix: &str) -> Section {
    let title = format!("{}, {}", section.title, at.load.label());
    Section { id: section.id + suffix, title, ..section }
}

/// Every service under every load.
fn curve(loads: &[AtLoad]) -> Section {
    let reference = loads[0].report.reference.as_str();
    let points = points(loads);
    let charts = charts(&points, reference);
    let table = columns(reference, loads[0].load.connections).table("Services by connections", points);
    Section { charts, ..Section::new("loads", "Connections", LEAD, table) }
}

/// The services in the order of the first table, each with all its loads, from few connections to many.
fn points(loads: &[AtLoad]) -> Vec<UnderLoad<'_>> {
    let services = loads[0].report.rows.iter().map(|row| row.label.as_str());
    services.flat_map(|label| of_service(loads, label)).collect()
}

fn of_service<'a>(loads: &'a [AtLoad], label: &str) -> Vec<UnderLoad<'a>> {
    let point = |at: &'a AtLoad| {
        let row = at.report.rows.iter().find(|row| row.label == label)?;
        let to_first = at.to_first.get(label).copied().unwrap_or_default();
        Some(UnderLoad { connections: at.load.connections, row, to_first })
    };
    let mut points: Vec<UnderLoad> = loads.iter().filter_map(point).collect();
    points.sort_by_key(|point| point.connections);
    points
}

fn columns<'a>(reference: &'a str, first: usize) -> Columns<'a, UnderLoad<'a>> {
    let of = |at: &UnderLoad<'a>| at.row;
    Columns::new()
        .facet("label", "service", |at: &UnderLoad| at.row.label.clone())
        .count("connections", "connections", |at| at.connections)
        .and(cost::cpu(of, reference))
        .and(cost::throughput(of, reference))
        .and(to_first(first))
        .estimate(Unit::Nanoseconds, "latency_ns_p99", "p99", |at| at.row.latency_ns_p99)
        .count("blocks", "blocks", |at| at.row.blocks)
        .facet("state", "state", |at| state(at.row.verdict()))
}

/// The change of a service as connections are added. Not relative to the reference, which changes too.
fn to_first<'a>(first: usize) -> Columns<'a, UnderLoad<'a>> {
    let help = |metric: &str| {
        format!(
            "{metric} related to that of the same service at {first} connections in the same block, with a 95% interval"
        )
    };
    let title = format!("of itself at {first}");
    Columns::new()
        .estimate(Unit::Share, "throughput_to_first", &title, |at: &UnderLoad| at.to_first.throughput)
        .help(&help("throughput"))
        .estimate(Unit::Times, "cpu_to_first", &format!("CPU {title}"), |at| at.to_first.cpu)
        .help(&help("CPU per request"))
}

/// One line per service.
fn charts(points: &[UnderLoad], reference: &str) -> Vec<Chart> {
    let line = |key: &str, title: &str, unit: Unit, figure: &dyn Fn(&RowReport) -> Option<f64>| {
        let measured = points.iter().filter(|at| at.row.state == RowState::Measured);
        let named =
            |at: &UnderLoad| Some((format!("{} at {}", at.row.label, at.connections), figure(at.row)?));
        let found: Vec<(String, f64)> = measured.filter_map(named).collect();
        let span = span(unit, found.iter().map(|(name, value)| (name.as_str(), *value)))?;
        let alt = format!("{title} by connections: {span}.");
        let chart = Chart::new(Shape::Lines, "connections", key, &alt).series("label");
        Some(chart.scales(Scale::Log, Scale::Linear).title(title).n("blocks"))
    };
    let ratio = |row: &RowReport| Some(row.throughput_of(reference)?.value);
    let charts = [
        line("throughput_ratio", "Throughput of the reference's", Unit::Share, &ratio),
        line("requests_per_second", "Requests a second", Unit::PerSecond, &|row| {
            Some(row.requests_per_second?.value)
        }),
        line("cpu_ns_per_request", "CPU per request", Unit::Nanoseconds, &|row| {
            Some(row.cpu_ns_per_request?.value)
        }),
    ];
    charts.into_iter().flatten().collect()
}
