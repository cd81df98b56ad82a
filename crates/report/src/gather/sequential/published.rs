//! The published table with our figures: a row per service and load, in the published columns.

use std::collections::BTreeSet;

use tare_analysis::{
    estimate::UnitEstimate,
    sequential::{PUBLISHED, messages_published},
};
use tare_bench::{
    experiment::Layout,
    figures::{self, Seconds},
    plan::LoadSpec,
    sample::{Distribution, Failure, LoadResult},
};

use super::{
    Experiment, ServiceAt,
    matrix::{Crossing, MARKS, Matrix},
};
use crate::{
    document::{Chart, Column, Scale, Section, Sentences, Shape, Table, Unit, Value},
    gather::{columns::Columns, words::span},
};

type Cells<'a> = Columns<'a, ServiceAt<'a>>;

const MS: f64 = 1e6;

/// The table; for batches, matrices first. Empty if only a sweep was measured.
pub(crate) fn sections(run: &Experiment) -> Vec<Section> {
    let cells = run.cells(|part| part == PUBLISHED || run.is_of_batches());
    let Some(first) = cells.first() else { return Vec::new() };
    let lead = match run.report.layout {
        Layout::Makespan => {
            "Time for each message of a producer, from the first request to the last reply: the published makespans divided \
             by their number of messages, so that a shorter run can be read beside them."
                .to_owned()
        }
        _ => format!("Here: {}. Published: {}.", first.point.point.describe(), run.report.published.load),
    };
    let table = columns(run, &cells).table("Figures measured here beside the published ones", cells.clone());
    let table = without_dull(table, run.plan.rounds());
    let charts = charts(run.report.layout, &table);
    let notes = notes(run, &cells);
    let section = Section::new("published", "Published figures and ours", &lead, table);
    let section = Section { charts, notes: notes.clone(), ..section };
    match run.is_of_batches() {
        true => matrices(&cells, &lead, notes).into_iter().chain([section]).collect(),
        false => vec![section.brief()],
    }
}

fn columns<'a>(run: &Experiment<'a>, cells: &[ServiceAt<'a>]) -> Cells<'a> {
    let language = |cell: &ServiceAt| cell.row.language.clone();
    let mut columns: Cells =
        Columns::new().text("label", "service", |cell: &ServiceAt| cell.row.label.clone());
    if cells.iter().any(|cell| language(cell) != language(&cells[0])) {
        columns = columns.language(language);
    }
    columns = columns.text("published_as", "published as", |cell| cell.row.published.clone());
    if run.is_of_batches() {
        // The names of batches differ only in case, and each load has a row.
        columns = columns.hidden();
    }
    let own = match run.report.layout {
        Layout::Makespan => batches(),
        Layout::Percent => percentages(run),
        Layout::Latency => latencies(),
        Layout::Percentiles => requests(),
        Layout::Sessions => sessions(),
    };
    columns.and(own).and(last(run.is_of_batches()))
}

/// Hides columns with the same value in every row.
fn without_dull(mut table: Table, rounds: usize) -> Table {
    let is_dull = |key: &str, number: f64| number == 0.0 || (key == "rounds" && number as usize == rounds);
    for key in ["failures", "rounds"] {
        let is_dull = table.values(key).all(|value| value.number().is_none_or(|number| is_dull(key, number)));
        if let Some(place) = table.place(key) {
            table.columns[place].hidden |= is_dull;
        }
    }
    table
}

/// Remarks that would be repeated in many rows.
fn notes(run: &Experiment, cells: &[ServiceAt]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let standing = cells.iter().filter(|_| run.is_of_batches());
    for note in standing.filter_map(|cell| Some(format!("{}: {}", cell.label(), cell.standing()?))) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let mut bound = cells.iter().filter_map(|cell| Some((cell.label(), cell.cell?.load_bound.as_ref()?)));
    if let Some((label, reason)) = bound.next() {
        let others: Vec<&str> = bound.map(|(label, _)| label).collect();
        let others =
            if others.is_empty() { String::new() } else { format!("; so are {}", others.join(", ")) };
        notes.push(format!("{label} is {reason}{others}"));
    }
    notes
}

/// Loads by services: the time per message, and its ratio to the published one.
fn matrices(cells: &[ServiceAt], lead: &str, notes: Vec<String>) -> Vec<Section> {
    let crossings = |value: fn(&ServiceAt) -> Option<f64>| -> Vec<Crossing> {
        let figure = |cell: &ServiceAt| value(cell).map_or_else(|| without_figure(cell), Value::from);
        cells.iter().map(|cell| (cell.load(), cell.label().to_owned(), figure(cell))).collect()
    };
    let matrix = |caption, unit, least_is_best| Matrix {
        caption,
        lines: ["load", "load"],
        across: "service",
        unit,
        least_is_best,
    };
    let here = crossings(|cell| message_ns(cell).map(|found| found.value));
    let here = matrix("Time for a message", Unit::Nanoseconds, Some(true)).table(&here);
    let here = Section::new("messages", "Time for a message, here", lead, here).note(MARKS);
    let here = notes.into_iter().chain(unfinished(cells)).fold(here, Section::note);
    let ratios = crossings(|cell| Some(message_ns(cell)?.value / published_message_ns(cell)?));
    let is_published = ratios.iter().any(|(.., ratio)| ratio.number().is_some());
    let ratios = matrix("Time for a message, here / published", Unit::Times, None).table(&ratios);
    let lead = "Machines and versions differ: what is alike for all services is the machine.";
    let ratios = Section::new("messages-of-published", "Time for a message, here / published", lead, ratios);
    [Some(here), is_published.then_some(ratios)].into_iter().flatten().map(Section::brief).collect()
}

fn without_figure(cell: &ServiceAt) -> Value {
    if cell.cell.is_some_and(|cell| cell.hung.is_some()) { Value::Never } else { Value::None }
}

/// Cells without a figure of services that took part, such as `a: stuck at N=1000, t=0 ms, local, C=4: no
/// answer for 7 s`. For several loads it has the reason of the first.
fn unfinished(cells: &[ServiceAt]) -> Vec<String> {
    let mut found: Vec<(String, Vec<String>, Option<Sentences>)> = Vec::new();
    let without = cells.iter().filter(|cell| cell.row.excluded.is_none() && message_ns(cell).is_none());
    for cell in without {
        let what = format!("{}: {}", cell.label(), cell.state());
        match found.iter_mut().find(|(known, ..)| *known == what) {
            Some((_, loads, _)) => loads.push(cell.load()),
            None => found.push((what, vec![cell.load()], cell.own_remarks())),
        }
    }
    let all = cells.iter().map(ServiceAt::load).collect::<BTreeSet<_>>().len();
    let note = |(what, loads, reason): (String, Vec<String>, Option<Sentences>)| {
        let reason = reason.map(|reason| format!(": {}", reason.text())).unwrap_or_default();
        let loads = if loads.len() == all && all > 1 { "every load".to_owned() } else { loads.join("; ") };
        format!("{what} at {loads}{reason}")
    };
    found.into_iter().map(note).collect()
}

/// The last columns of every layout.
fn last<'a>(is_of_batches: bool) -> Cells<'a> {
    Columns::new()
        .ns("cpu_ns_per_request", "CPU/request", ServiceAt::cpu_ns_per_request)
        .count("failures", "failures", ServiceAt::failures)
        .count("rounds", "rounds", ServiceAt::rounds)
        .text("version", "version", |cell| cell.row.version.clone())
        .facet("state", "state", ServiceAt::state)
        .text("remarks", "remarks", if is_of_batches { ServiceAt::own_remarks } else { ServiceAt::remarks })
}

/// The measured figure, the published one, and their ratio.
fn beside<'a>(
    unit: Unit,
    key: &str,
    title: &str,
    here: impl Fn(&ServiceAt<'a>) -> Option<UnitEstimate> + Copy + 'a,
    there: impl Fn(&ServiceAt<'a>) -> Option<f64> + Copy + 'a,
) -> Cells<'a> {
    let ratio = move |cell: &ServiceAt<'a>| Some(here(cell)?.over(there(cell).filter(|value| *value > 0.0)?));
    Columns::new()
        .estimate(unit, key, title, here)
        .add(unit, &format!("{key}_published"), &format!("{title}, published"), there)
        .estimate(Unit::Times, &format!("{key}_of_published"), &format!("{title}, here / published"), ratio)
        .help("Machines and versions differ: what is alike for all services is the machine.")
}

/// The measured figure of the middle round and the published one; their ratio is in the data only.
fn also<'a>(
    unit: Unit,
    key: &str,
    title: &str,
    here: fn(&LoadResult) -> Option<f64>,
    there: fn(&figures::PublishedRow) -> Option<f64>,
) -> Cells<'a> {
    let own = move |cell: &ServiceAt| cell.figures().and_then(here);
    let theirs = move |cell: &ServiceAt| cell.published().and_then(there);
    let ratio = move |cell: &ServiceAt| Some(own(cell)? / theirs(cell).filter(|value| *value > 0.0)?);
    Columns::new()
        .add(unit, key, title, own)
        .add(unit, &format!("{key}_published"), &format!("{title}, published"), theirs)
        .add(Unit::Times, &format!("{key}_of_published"), &format!("{title}, here / published"), ratio)
        .hidden()
}

fn throughput<'a>(there: fn(&figures::PublishedRow) -> Option<f64>) -> Cells<'a> {
    let published = move |cell: &ServiceAt| cell.published().and_then(there);
    beside(Unit::PerSecond, "requests_per_second", "req/s", |cell| cell.cell?.per_second, published)
}

fn percentages<'a>(run: &Experiment<'a>) -> Cells<'a> {
    let reference = run.plan.reference.as_deref().unwrap_or("the reference");
    let published = |cell: &ServiceAt| Some(cell.published()?.percent? / 100.0);
    let title = format!("of {reference}");
    let ratio = beside(Unit::Share, "throughput_ratio", &title, |cell| cell.cell?.of_reference, published);
    throughput(|row| row.value).and(ratio.of_first().with(Column::bar))
}

const NS: Unit = Unit::Nanoseconds;

fn latencies<'a>() -> Cells<'a> {
    throughput(|row| row.value)
        .and(also(
            NS,
            "latency_ns_mean",
            "mean latency",
            |of| mean(&of.latency),
            |row| ms(row.latency_ms?.avg),
        ))
        .and(
            also(
                NS,
                "latency_ns_stdev",
                "deviation",
                |of| stdev(&of.latency),
                |row| ms(row.latency_ms?.stdev),
            )
            .all_hidden(),
        )
        .and(also(NS, "latency_ns_max", "longest", |of| at(&of.latency, 1.0), |row| ms(row.latency_ms?.max)))
        .and(answered())
}

fn requests<'a>() -> Cells<'a> {
    let is_bound =
        |cell: &ServiceAt| Some(cell.cell.filter(|cell| cell.per_second.is_some())?.load_bound.is_some());
    throughput(|row| row.rps)
        .flag("load_bound", "load-bound", is_bound)
        .help("The load was at its own ceiling: the rate says nothing of the service.")
        .and(also(NS, "latency_ns_p50", "median", |of| at(&of.latency, 0.5), |row| ms(row.median?)))
        .and(also(NS, "latency_ns_mean", "mean", |of| mean(&of.latency), |row| ms(row.avg?)).all_hidden())
        .and(also(NS, "latency_ns_max", "longest", |of| at(&of.latency, 1.0), |row| ms(row.max?)))
        .and(answered())
}

fn answered<'a>() -> Cells<'a> {
    let published = |row: &figures::PublishedRow| Some(row.requests? as f64);
    also(Unit::Count, "requests", "requests", |of| Some(of.answered as f64), published).all_hidden()
}

fn sessions<'a>() -> Cells<'a> {
    let count = Unit::Count;
    let each = |of: &LoadResult| (of.connects > 0).then(|| of.answered as f64 / of.connects as f64);
    let time = |of: &LoadResult| mean(of.connection_time.as_ref()?);
    let deviation = |of: &LoadResult| stdev(of.connection_time.as_ref()?);
    let published_time = |row: &figures::PublishedRow| ms(row.connection_time_ms?.avg);
    let published_deviation = |row: &figures::PublishedRow| ms(row.connection_time_ms?.stddev);
    let connections = |of: &LoadResult| Some(of.connects as f64);
    let published_connections = |row: &figures::PublishedRow| Some(row.connections? as f64);
    let resets = |of: &LoadResult| Some(resets(of) as f64);
    let published_resets = |row: &figures::PublishedRow| Some(row.connections_reset? as f64);
    let (took, published_took) = (
        |of: &LoadResult| Some(of.elapsed_ns as f64),
        |row: &figures::PublishedRow| Some(row.test_seconds? * 1e9),
    );
    throughput(|row| row.value)
        .and(also(Unit::Number, "replies_per_connection", "replies a connection", each, |row| {
            row.replies_per_connection
        }))
        .and(also(NS, "connection_ns_mean", "mean connection time", time, published_time))
        .and(also(NS, "connection_ns_stdev", "deviation", deviation, published_deviation).all_hidden())
        .and(also(count, "connections", "connections", connections, published_connections).all_hidden())
        .and(also(count, "connections_reset", "reset", resets, published_resets))
        .and(also(NS, "elapsed_ns", "took", took, published_took).all_hidden())
}

/// httperf's counter of resets.
fn resets(load: &LoadResult) -> u64 {
    let kinds = [Failure::Reset, Failure::ClosedBeforeResponse, Failure::ClosedMidResponse];
    kinds.into_iter().map(|kind| load.failed.get(kind) + load.connection_failed.get(kind)).sum()
}

fn messages(cell: &ServiceAt) -> Option<f64> {
    match cell.point.point.load {
        LoadSpec::Batch { messages, .. } => Some(messages as f64),
        _ => None,
    }
}

fn message_ns(cell: &ServiceAt) -> Option<UnitEstimate> {
    Some(cell.cell?.makespan_ns?.over(messages(cell)?))
}

fn published_seconds<'a>(cell: &ServiceAt<'a>) -> Option<&'a Seconds> {
    cell.report.published_seconds(&cell.point.point, cell.row)
}

fn published_makespan_ns(cell: &ServiceAt) -> Option<f64> {
    match published_seconds(cell)? {
        Seconds::Took(seconds) => Some(seconds * 1e9),
        Seconds::Never(_) => None,
    }
}

fn published_message_ns(cell: &ServiceAt) -> Option<f64> {
    Some(published_makespan_ns(cell)? / messages_published(&cell.point.point)? as f64)
}

fn batches<'a>() -> Cells<'a> {
    let link = |cell: &ServiceAt| {
        cell.point.point.link.as_ref().map_or("local".to_owned(), |link| link.name.clone())
    };
    let never = |cell: &ServiceAt| match published_seconds(cell)? {
        Seconds::Never(mark) => Some(mark.clone()),
        Seconds::Took(_) => None,
    };
    let load = Columns::new()
        .count("messages_published", "N", |cell: &ServiceAt| messages_published(&cell.point.point))
        .count("messages", "messages", messages)
        .ns("delay_ns", "t", |cell| cell.point.point.service_settings.delay_ms * 1_000_000)
        .text("link", "link", link)
        .count("threads", "C", |cell| cell.point.point.service_settings.threads);
    let makespan = Columns::new()
        .estimate(NS, "makespan_ns", "makespan", |cell: &ServiceAt| cell.cell?.makespan_ns)
        .ns("makespan_ns_published", "makespan, published", published_makespan_ns);
    Columns::new()
        .facet("load", "load", ServiceAt::load)
        .and(load.all_hidden())
        .and(beside(NS, "message_ns", "a message", message_ns, published_message_ns))
        .text("published_never", "published as stuck", never)
        .hidden()
        .and(makespan.all_hidden())
}

fn ms(value: f64) -> Option<f64> {
    Some(value * MS)
}

fn at(spread: &Distribution, probability: f64) -> Option<f64> {
    spread.ns_at(probability).map(|ns| ns as f64)
}

fn mean(spread: &Distribution) -> Option<f64> {
    (spread.count > 0).then_some(spread.ns_mean)
}

fn stdev(spread: &Distribution) -> Option<f64> {
    (spread.count > 1).then_some(spread.ns_stdev)
}

/// The published figure of each service beside the measured one; for batches, a point per load and service.
fn charts(layout: Layout, table: &Table) -> Vec<Chart> {
    let chart = match layout {
        Layout::Makespan => of_loads(table),
        Layout::Percent => beside_published(table, "throughput_ratio", Unit::Share, "share of the reference"),
        _ => beside_published(table, "requests_per_second", Unit::PerSecond, "requests a second"),
    };
    chart.into_iter().map(|chart| chart.n("rounds")).collect()
}

fn of_loads(table: &Table) -> Option<Chart> {
    let range = range(table, "message_ns", Unit::Nanoseconds)?;
    let alt =
        format!("A line of points for each load, a point for each service: time for a message {range}.");
    let chart = Chart::new(Shape::Points, "message_ns", "load", &alt).series("label").title("Here");
    Some(chart.scales(Scale::Log, Scale::Names))
}

/// `None` if the load instead of the services determines the figures.
fn beside_published(table: &Table, key: &str, unit: Unit, what: &str) -> Option<Chart> {
    let is_bound = table.values("load_bound").any(|value| *value == Value::Flag(true));
    let here = range(table, key, unit).filter(|_| !is_bound)?;
    let published = format!("{key}_published");
    let numbers = |key: &str| table.values(key).filter_map(Value::number).collect::<Vec<f64>>();
    let (title, printed) = match self::range(table, &published, unit) {
        Some(printed) => ("Published (hollow) and here (filled)", format!("; published {printed}")),
        None => ("Here", String::new()),
    };
    let alt = format!("A line for each service, the greatest first: {what} {here}{printed}.");
    let all: Vec<f64> = numbers(key).into_iter().chain(numbers(&published)).collect();
    let (least, most) = all.iter().fold((f64::MAX, 0.0), |(least, most), at| (at.min(least), at.max(most)));
    let scale = if most > least * WIDE { Scale::Log } else { Scale::Linear };
    let chart = Chart::new(Shape::Points, key, "label", &alt).scales(scale, Scale::Names).title(title);
    Some(Chart { against: Some(published), ..chart })
}

/// The ratio from which services would overlap on a linear axis.
const WIDE: f64 = 100.0;

/// `from 1.02 ms (restinio) to 40.2 ms (cpp-httplib)`.
fn range(table: &Table, key: &str, unit: Unit) -> Option<String> {
    let named = table.values("label").zip(table.values(key));
    span(unit, named.filter_map(|(name, value)| Some((name.text()?, value.number()?))))
}
