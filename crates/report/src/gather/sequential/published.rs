//! The published table, ours beside it: a line for each service and load, in the columns that the published one has.

use tare_analysis::estimate::Estimate;
use tare_analysis::published::{PUBLISHED, messages_published};
use tare_bench::{
    figures::{self, Seconds},
    grid::{Layout, plan::Offered},
    sample::{Distribution, Failure, LoadResult},
};

use super::{
    super::{
        fields::{Field, between, field, span, table},
        lay::{column, quiet, text},
    },
    Entry, Grid,
};
use crate::document::{Chart, Column, Scale, Section, Shape, Table, Unit};

type Fields<'a> = Vec<Field<'a, Entry<'a>>>;

const MS: f64 = 1e6;

/// Absent if only a sweep was measured.
pub(crate) fn section(grid: &Grid) -> Option<Section> {
    let entries = grid.entries(|part| part == PUBLISHED || grid.is_of_batches());
    let first = entries.first()?;
    let mut fields: Fields = vec![field(text("label", "service"), |entry: &Entry| entry.label())];
    let languages = |entry: &Entry| entry.planned.planned.language.clone();
    if entries.iter().any(|entry| languages(entry) != languages(first)) {
        fields.push(field(text("language", "language").facet(), languages));
    }
    // Names of batches are the same but for capital letters, and there is a line for each load.
    let published_as = text("published_as", "published as");
    let published_as = if grid.is_of_batches() { published_as.hidden() } else { published_as };
    fields.push(field(published_as, |entry: &Entry| entry.row.published.clone()));
    match grid.report.layout {
        Layout::Makespan => fields.extend(batches(grid)),
        Layout::Percent => fields.extend(percentages(grid)),
        Layout::Latency => fields.extend(latencies()),
        Layout::Percentiles => fields.extend(requests()),
        Layout::Sessions => fields.extend(sessions()),
    }
    fields.extend(last(grid));
    let lead = match grid.report.layout {
        Layout::Makespan => {
            "Time for each message of a producer, from the first request to the last reply: the published makespans divided \
             by their number of messages, so that a shorter run can be read beside them."
                .to_owned()
        }
        _ => format!("Here: {}. Published: {}.", first.point.point.describe(), grid.report.published.load),
    };
    let mut shown =
        quiet(table("Figures measured here beside the published ones", fields, entries.iter().cloned()));
    hide_if_all(&mut shown, "failures", |count| count == 0.0);
    hide_if_all(&mut shown, "rounds", |rounds| rounds == 0.0 || rounds as usize == grid.plan.rounds());
    let charts = charts(grid, &shown);
    let section = Section::new("published", "Published figures and ours", &lead, shown);
    Some(Section { charts, notes: notes(grid, &entries), ..section })
}

/// What says the same in every line stands in the data only.
fn hide_if_all(table: &mut Table, key: &str, is_dull: impl Fn(f64) -> bool) {
    let is_dull = table.values(key).all(|value| value.number().is_none_or(&is_dull));
    if let Some(place) = table.place(key) {
        table.columns[place].hidden |= is_dull;
    }
}

/// What would be repeated in many lines.
fn notes(grid: &Grid, entries: &[Entry]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if grid.is_of_batches() {
        let standing =
            entries.iter().filter_map(|entry| Some(format!("{}: {}", entry.label(), entry.standing()?)));
        for note in standing {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    let mut bound =
        entries.iter().filter_map(|entry| Some((entry.label(), entry.cell?.load_bound.as_ref()?)));
    if let Some((label, reason)) = bound.next() {
        let others: Vec<&str> = bound.map(|(label, _)| label).collect();
        let others =
            if others.is_empty() { String::new() } else { format!("; so are {}", others.join(", ")) };
        notes.push(format!("{label} is {reason}{others}"));
    }
    notes
}

/// What every layout ends with.
fn last<'a>(grid: &Grid) -> Fields<'a> {
    let remarks = if grid.is_of_batches() { Entry::own_remarks } else { Entry::remarks };
    vec![
        field(column("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds), |entry: &Entry| {
            entry.cell?.cpu_ns_per_request.map(|found| found.value)
        }),
        field(column("failures", "failures", Unit::Count), |entry: &Entry| {
            entry.figures().map(LoadResult::failures)
        }),
        field(column("rounds", "rounds", Unit::Count), |entry: &Entry| {
            entry.cell.map_or(0, |cell| cell.rounds)
        }),
        field(text("version", "version"), |entry: &Entry| entry.row.version.clone()),
        field(text("state", "state").facet(), |entry: &Entry| entry.state()),
        field(text("remarks", "remarks"), move |entry: &Entry| remarks(entry)),
    ]
}

/// Here, as published, and the first over the second.
fn beside<'a>(
    column: Column,
    here: impl Fn(&Entry<'a>) -> Option<Estimate> + Clone + 'a,
    there: impl Fn(&Entry<'a>) -> Option<f64> + Clone + 'a,
) -> Fields<'a> {
    let (key, unit, title) = (column.key.clone(), column.unit, column.title.clone());
    let (mine, theirs) = (here.clone(), there.clone());
    let ratio = move |entry: &Entry<'a>| Some(mine(entry)?.over(theirs(entry).filter(|value| *value > 0.0)?));
    let published = Column::new(&format!("{key}_published"), &format!("{title}, published"), unit);
    let over =
        Column::new(&format!("{key}_of_published"), &format!("{title}, here / published"), Unit::Times)
            .help("Machines and versions differ: what is alike for all services is the machine.");
    let mut fields: Fields = between(column, here).into();
    fields.push(field(published, there));
    fields.extend(between(over, ratio));
    fields
}

/// The same of what few ask for: in the data only.
fn in_the_data<'a>(
    key: &str,
    title: &str,
    unit: Unit,
    here: fn(&LoadResult) -> Option<f64>,
    there: fn(&figures::Row) -> Option<f64>,
) -> Fields<'a> {
    let hidden = pair(key, title, unit, (here, there)).into_iter();
    hidden.map(|(column, value)| field(column.hidden(), value)).collect()
}

/// Here and as published, of the round in the middle, with the ratio in the data only.
fn also<'a>(
    key: &str,
    title: &str,
    unit: Unit,
    here: fn(&LoadResult) -> Option<f64>,
    there: fn(&figures::Row) -> Option<f64>,
) -> Fields<'a> {
    pair(key, title, unit, (here, there)).into_iter().map(|(column, value)| field(column, value)).collect()
}

/// What is read of an entry.
type OfEntry<'a> = Box<dyn Fn(&Entry<'a>) -> Option<f64> + 'a>;
/// What is read of our figures, and of a published line.
type Pair = (fn(&LoadResult) -> Option<f64>, fn(&figures::Row) -> Option<f64>);

/// Columns, and what fills them.
fn pair<'a>(key: &str, title: &str, unit: Unit, (here, there): Pair) -> [(Column, OfEntry<'a>); 3] {
    let own = move |entry: &Entry| entry.figures().and_then(here);
    let theirs = move |entry: &Entry| entry.published().and_then(there);
    let ratio = move |entry: &Entry| Some(own(entry)? / theirs(entry).filter(|value| *value > 0.0)?);
    let over = format!("{title}, here / published");
    [
        (column(key, title, unit), Box::new(own)),
        (column(&format!("{key}_published"), &format!("{title}, published"), unit), Box::new(theirs)),
        (column(&format!("{key}_of_published"), &over, Unit::Times).hidden(), Box::new(ratio)),
    ]
}

fn throughput<'a>(there: fn(&figures::Row) -> Option<f64>) -> Fields<'a> {
    beside(
        column("requests_per_second", "req/s", Unit::PerSecond),
        |entry| entry.cell?.per_second,
        move |entry| entry.published().and_then(there),
    )
}

fn percentages<'a>(grid: &Grid<'a>) -> Fields<'a> {
    let reference = grid.plan.reference.as_deref().unwrap_or("the reference");
    let mut fields = throughput(|row| row.value);
    fields.extend(beside(
        column("throughput_ratio", &format!("of {reference}"), Unit::Share).bar(),
        |entry| entry.cell?.of_reference,
        |entry| Some(entry.published()?.percent? / 100.0),
    ));
    fields
}

fn latencies<'a>() -> Fields<'a> {
    let mut fields = throughput(|row| row.value);
    let ns = Unit::Nanoseconds;
    fields.extend(also(
        "latency_ns_mean",
        "mean latency",
        ns,
        |of| mean(&of.latency),
        |row| Some(row.latency_ms?.avg * MS),
    ));
    fields.extend(in_the_data(
        "latency_ns_stdev",
        "deviation",
        ns,
        |of| stdev(&of.latency),
        |row| Some(row.latency_ms?.stdev * MS),
    ));
    fields.extend(also(
        "latency_ns_max",
        "longest",
        ns,
        |of| at(&of.latency, 1.0),
        |row| Some(row.latency_ms?.max * MS),
    ));
    fields.extend(in_the_data(
        "requests",
        "requests",
        Unit::Count,
        |of| Some(of.answered as f64),
        |row| Some(row.requests? as f64),
    ));
    fields
}

fn requests<'a>() -> Fields<'a> {
    let mut fields = throughput(|row| row.rps);
    let ns = Unit::Nanoseconds;
    fields.push(field(
        column("load_bound", "load-bound", Unit::Flag)
            .help("The load was at its own ceiling: the rate says nothing of the service."),
        |entry: &Entry| {
            entry.cell.filter(|cell| cell.per_second.is_some()).map(|cell| cell.load_bound.is_some())
        },
    ));
    fields.extend(also(
        "latency_ns_p50",
        "median",
        ns,
        |of| at(&of.latency, 0.5),
        |row| Some(row.median? * MS),
    ));
    fields.extend(in_the_data(
        "latency_ns_mean",
        "mean",
        ns,
        |of| mean(&of.latency),
        |row| Some(row.avg? * MS),
    ));
    fields.extend(also(
        "latency_ns_max",
        "longest",
        ns,
        |of| at(&of.latency, 1.0),
        |row| Some(row.max? * MS),
    ));
    fields.extend(in_the_data(
        "requests",
        "requests",
        Unit::Count,
        |of| Some(of.answered as f64),
        |row| Some(row.requests? as f64),
    ));
    fields
}

fn sessions<'a>() -> Fields<'a> {
    let ns = Unit::Nanoseconds;
    let each = |of: &LoadResult| (of.connects > 0).then(|| of.answered as f64 / of.connects as f64);
    let mut fields = throughput(|row| row.value);
    fields.extend(also("replies_per_connection", "replies a connection", Unit::Number, each, |row| {
        row.replies_per_connection
    }));
    fields.extend(also(
        "connection_ns_mean",
        "mean connection time",
        ns,
        |of| mean(of.connection_time.as_ref()?),
        |row| Some(row.connection_time_ms?.avg * MS),
    ));
    fields.extend(in_the_data(
        "connection_ns_stdev",
        "deviation",
        ns,
        |of| stdev(of.connection_time.as_ref()?),
        |row| Some(row.connection_time_ms?.stddev * MS),
    ));
    fields.extend(in_the_data(
        "connections",
        "connections",
        Unit::Count,
        |of| Some(of.connects as f64),
        |row| Some(row.connections? as f64),
    ));
    fields.extend(also(
        "connections_reset",
        "reset",
        Unit::Count,
        |of| Some(resets(of) as f64),
        |row| Some(row.connections_reset? as f64),
    ));
    fields.extend(in_the_data(
        "elapsed_ns",
        "took",
        ns,
        |of| Some(of.elapsed_ns as f64),
        |row| Some(row.test_seconds? * 1e9),
    ));
    fields
}

/// What httperf calls a reset.
fn resets(load: &LoadResult) -> u64 {
    let kinds = [Failure::Reset, Failure::ClosedBeforeResponse, Failure::ClosedMidResponse];
    kinds.into_iter().map(|kind| load.failed.get(kind) + load.connection_failed.get(kind)).sum()
}

fn batches<'a>(grid: &Grid<'a>) -> Fields<'a> {
    let report = grid.report;
    let messages = |entry: &Entry| match entry.point.point.offered {
        Offered::Batch { messages, .. } => Some(messages as f64),
        _ => None,
    };
    let makespan = |entry: &Entry| entry.cell?.makespan_ns;
    let published = move |entry: &Entry| match report.published_seconds(&entry.point.point, entry.row)? {
        Seconds::Took(seconds) => Some(seconds * 1e9),
        Seconds::Never(_) => None,
    };
    let link =
        |entry: &Entry| entry.point.point.link.as_ref().map_or("local".to_owned(), |link| link.name.clone());
    let mut fields: Fields = vec![
        field(text("load", "load").facet(), Entry::load),
        field(column("messages_published", "N", Unit::Count).hidden(), |entry: &Entry| {
            messages_published(&entry.point.point)
        }),
        field(column("messages", "messages", Unit::Count).hidden(), messages),
        field(column("delay_ns", "t", Unit::Nanoseconds).hidden(), |entry: &Entry| {
            entry.point.point.service_settings.delay_ms * 1_000_000
        }),
        field(text("link", "link").hidden(), link),
        field(column("threads", "C", Unit::Count).hidden(), |entry: &Entry| {
            entry.point.point.service_settings.threads
        }),
    ];
    fields.extend(beside(
        column("message_ns", "a message", Unit::Nanoseconds),
        move |entry| Some(makespan(entry)?.over(messages(entry)?)),
        move |entry| Some(published(entry)? / messages_published(&entry.point.point)? as f64),
    ));
    fields.push(field(text("published_never", "published as stuck").hidden(), move |entry: &Entry| {
        match report.published_seconds(&entry.point.point, entry.row)? {
            Seconds::Never(mark) => Some(mark.clone()),
            Seconds::Took(_) => None,
        }
    }));
    let hidden = |key: &str, title: &str| column(key, title, Unit::Nanoseconds).hidden();
    fields.extend(between(hidden("makespan_ns", "makespan"), makespan));
    fields.push(field(hidden("makespan_ns_published", "makespan, published"), published));
    fields
}

fn at(spread: &Distribution, probability: f64) -> Option<f64> {
    spread.ns_at(probability).map(|ns| ns as f64)
}

fn mean(spread: &Distribution) -> Option<f64> {
    (spread.count > 0).then_some(spread.ns_mean)
}

fn stdev(spread: &Distribution) -> Option<f64> {
    (spread.count > 0).then_some(spread.ns_stdev)
}

/// Ours as bars, or as points of each load; and published against here, where two services or more have both.
fn charts(grid: &Grid, table: &Table) -> Vec<Chart> {
    let (key, unit, what) = match grid.report.layout {
        Layout::Makespan => ("message_ns", Unit::Nanoseconds, "time for a message"),
        _ => ("requests_per_second", Unit::PerSecond, "requests a second"),
    };
    let mut charts = Vec::new();
    if let Some(range) = range(table, key, unit) {
        charts.push(match grid.report.layout {
            Layout::Makespan => {
                let alt =
                    format!("A line of points for each load, a point for each service: {what} {range}.");
                let chart = Chart::new(Shape::Points, key, "load", &alt).series("label");
                Chart { title: "Here".to_owned(), ..chart.scales(Scale::Log, Scale::Names) }
            }
            Layout::Percent => {
                let shares = self::range(table, "throughput_ratio", Unit::Share).unwrap_or_default();
                let alt = format!("Requests a second as a share of the reference's: {shares}.");
                Chart {
                    title: "Here".to_owned(),
                    ..Chart::new(Shape::Bars, "throughput_ratio", "label", &alt)
                }
            }
            _ => Chart {
                title: "Here".to_owned(),
                ..Chart::new(Shape::Bars, key, "label", &format!("A bar for each service: {what} {range}."))
            },
        });
    }
    let ratio = format!("{key}_of_published");
    if table.values(&ratio).filter(|value| value.number().is_some()).count() > 1 {
        let ratios = self::range(table, &ratio, Unit::Times).unwrap_or_default();
        let alt = format!("Published {what} against those measured here; here / published {ratios}.");
        let chart = Chart::new(Shape::Points, &format!("{key}_published"), key, &alt).series("label");
        charts.push(Chart {
            title: "Published against here".to_owned(),
            ..chart.scales(Scale::Log, Scale::Log)
        });
    }
    charts.into_iter().map(|chart| Chart { n: Some("rounds".to_owned()), ..chart }).collect()
}

/// `from 1.02 ms (restinio) to 40.2 ms (cpp-httplib)`.
fn range(table: &Table, key: &str, unit: Unit) -> Option<String> {
    let named = table.values("label").zip(table.values(key));
    span(unit, named.filter_map(|(name, value)| Some((name.text()?, value.number()?))))
}
