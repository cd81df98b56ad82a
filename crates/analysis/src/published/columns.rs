//! Tables with a line for each service, in the columns of the published ones, and beneath it the published line.

use super::{CellReport, PointReport, Report, RowReport};
use crate::report::{
    figures::{rate, time},
    table::{Cell, left, right},
};
use tare_bench::{
    figures::{ConnectionTime, Latency, Row},
    grid::{
        Layout,
        plan::{PUBLISHED, SWEEP},
    },
    sample::{CpuByMode, Distribution, Failure, LoadResult, Sample},
};

/// A table with its title.
pub struct Table {
    pub title: String,
    pub lines: Vec<Vec<Cell>>,
}

/// One column: what ours says, and what the published line says.
struct Column {
    head: &'static str,
    ours: fn(&Ours) -> Option<String>,
    theirs: fn(&Row) -> Option<String>,
}

/// What a column may ask of our line.
struct Ours<'a> {
    cell: &'a CellReport,
    /// Of the typical round.
    sample: &'a Sample,
}

/// All tables with a line for each service.
pub fn tables(report: &Report) -> Vec<Table> {
    let mut tables = Vec::new();
    let (sweep, rows): (Vec<&PointReport>, Vec<&PointReport>) =
        report.points.iter().partition(|point| point.point.part == SWEEP);
    for point in rows {
        let is_published = point.point.part == PUBLISHED;
        for (title, columns) in layouts(report.layout, is_published) {
            let title =
                if is_published { title.to_owned() } else { format!("{}, not published", point.point.part) };
            let head = format!("{title}: {}", point.point.describe());
            tables.push(Table { title: head, lines: lines(report, point, &columns, is_published) });
        }
    }
    tables.extend((!sweep.is_empty()).then(|| matrix(&sweep)));
    tables
}

/// The columns of each table of a part.
fn layouts(layout: Layout, is_published: bool) -> Vec<(&'static str, Vec<Column>)> {
    match layout {
        _ if !is_published => vec![("", more())],
        Layout::Percent => vec![("requests a second", percent())],
        Layout::Latency => vec![("as wrk prints it", latency())],
        Layout::Percentiles => vec![("requests", requests()), ("percentiles, ms", percentiles())],
        Layout::Sessions => {
            vec![
                ("connections, as httperf prints them", connections()),
                ("replies", replies()),
                ("errors", errors()),
            ]
        }
        Layout::Makespan => Vec::new(),
    }
}

/// A line for each row that takes part, and the published one beneath it.
fn lines(report: &Report, point: &PointReport, columns: &[Column], is_published: bool) -> Vec<Vec<Cell>> {
    let mut head = vec![left("service")];
    head.extend(columns.iter().map(|column| right(column.head)));
    head.iter_mut().for_each(|cell| cell.code = Some("2"));
    let mut lines = vec![head];
    for &place in &point.point.rows {
        let row = &report.rows[place];
        let cell = point.cell(place);
        lines.push(ours(row, cell, columns));
        let published = row.published.as_deref().and_then(|name| report.published.row(name));
        if let Some(published) = published.filter(|_| is_published) {
            let mut line = vec![left(format!("  published: {}", published.service))];
            line.extend(columns.iter().map(|column| right((column.theirs)(published).unwrap_or_default())));
            line.iter_mut().for_each(|cell| cell.code = Some("2"));
            lines.push(line);
        }
    }
    lines
}

fn ours(row: &RowReport, cell: Option<&CellReport>, columns: &[Column]) -> Vec<Cell> {
    let name = match &row.version {
        Some(version) => format!("{} {version}", row.label),
        None => row.label.clone(),
    };
    let mut line = vec![left(name)];
    let typical = cell.and_then(|cell| Some((cell, cell.typical.as_ref()?)));
    line.extend(columns.iter().enumerate().map(|(place, column)| match typical {
        Some((cell, sample)) => right((column.ours)(&Ours { cell, sample }).unwrap_or("-".to_owned())),
        None if place == 0 => right(missing(row, cell)),
        None => right(""),
    }));
    line
}

/// In place of figures: one word, whose reason stands below the table.
pub fn missing(row: &RowReport, cell: Option<&CellReport>) -> &'static str {
    match cell {
        _ if row.excluded.is_some() => "left out",
        Some(cell) if cell.stuck.is_some() => "x",
        Some(cell) if cell.failed.is_some() => "failed",
        _ => "-",
    }
}

/// A line for each number of connections, a column for each number of threads.
fn matrix(points: &[&PointReport]) -> Table {
    let size = |point: &PointReport| point.point.offered.connections();
    let mut threads: Vec<usize> = points.iter().map(|point| size(point).threads).collect();
    let mut totals: Vec<usize> = points.iter().map(|point| size(point).total).collect();
    for axis in [&mut threads, &mut totals] {
        axis.sort_unstable();
        axis.dedup();
    }
    let mut head = vec![left("connections")];
    head.extend(threads.iter().map(|count| right(format!("t = {count}"))));
    let mut lines = vec![head];
    for total in totals {
        let mut line = vec![left(total.to_string())];
        line.extend(threads.iter().map(|&count| {
            let found =
                points.iter().find(|point| (size(point).total, size(point).threads) == (total, count));
            let cell = found.and_then(|point| point.cells.first());
            let value = cell.and_then(|cell| cell.per_second.as_ref()).map(|estimate| rate(estimate.value));
            right(value.unwrap_or_else(|| "-".to_owned()))
        }));
        lines.push(line);
    }
    Table { title: "requests a second by connections and generator threads".to_owned(), lines }
}

fn ms(ns: f64) -> String {
    let ms = ns / 1e6;
    if ms < 10.0 { format!("{ms:.2}") } else { format!("{ms:.0}") }
}

fn quantile_ms(spread: &Distribution, probability: f64) -> Option<String> {
    let bound = if spread.at_least { ">=" } else { "" };
    Some(format!("{bound}{}", ms(spread.ns_at(probability)? as f64)))
}

fn of_interval(interval: Option<(f64, f64)>, show: impl Fn(f64) -> String) -> Option<String> {
    interval.map(|(low, high)| format!("{} .. {}", show(low), show(high)))
}

fn plain(value: Option<f64>) -> Option<String> {
    value.map(|value| format!("{value}"))
}

fn in_percent(ratio: f64) -> String {
    format!("{:.2}%", ratio * 100.0)
}

fn column(
    head: &'static str,
    ours: fn(&Ours) -> Option<String>,
    theirs: fn(&Row) -> Option<String>,
) -> Column {
    Column { head, ours, theirs }
}

/// What was not published has no published line.
fn own(head: &'static str, ours: fn(&Ours) -> Option<String>) -> Column {
    Column { head, ours, theirs: |_| None }
}

fn per_second(head: &'static str, theirs: fn(&Row) -> Option<String>) -> Column {
    column(head, |ours| ours.cell.per_second.map(|estimate| format!("{:.2}", estimate.value)), theirs)
}

fn percent() -> Vec<Column> {
    vec![
        per_second("req/s", |row| row.value.map(|value| format!("{value:.2}"))),
        own("95% interval", |ours| {
            of_interval(ours.cell.per_second?.interval, |value| format!("{value:.0}"))
        }),
        column(
            "of reference",
            |ours| ours.cell.of_reference.map(|estimate| in_percent(estimate.value)),
            |row| row.percent.map(|percent| format!("{percent:.2}%")),
        ),
        own("95% interval", |ours| of_interval(ours.cell.of_reference?.interval, in_percent)),
        own("CPU/req", |ours| ours.cell.cpu_ns_per_request.map(|estimate| time(estimate.value))),
        own("errors", |ours| Some(ours.sample.load.failures().to_string())),
    ]
}

fn latency() -> Vec<Column> {
    fn published(row: &Row, of: fn(&Latency) -> f64) -> Option<String> {
        row.latency_ms.as_ref().map(|latency| format!("{:.2}", of(latency)))
    }
    let at = |head, ours, theirs| column(head, ours, theirs);
    vec![
        per_second("req/s", |row| row.value.map(|value| format!("{value:.2}"))),
        at(
            "avg ms",
            |ours| Some(ms(ours.sample.load.latency.ns_mean)),
            |row| published(row, |latency| latency.avg),
        ),
        at(
            "stdev",
            |ours| Some(ms(ours.sample.load.latency.ns_stdev)),
            |row| published(row, |latency| latency.stdev),
        ),
        at(
            "max",
            |ours| quantile_ms(&ours.sample.load.latency, 1.0),
            |row| published(row, |latency| latency.max),
        ),
        at(
            "+/- stdev",
            |ours| Some(in_percent(ours.sample.load.latency.share_within_stdev)),
            |row| published(row, |latency| latency.within_one_stdev_percent).map(|text| text + "%"),
        ),
        at(
            "50%",
            |ours| quantile_ms(&ours.sample.load.latency, 0.5),
            |row| published(row, |latency| latency.p50),
        ),
        at(
            "75%",
            |ours| quantile_ms(&ours.sample.load.latency, 0.75),
            |row| published(row, |latency| latency.p75),
        ),
        at(
            "90%",
            |ours| quantile_ms(&ours.sample.load.latency, 0.9),
            |row| published(row, |latency| latency.p90),
        ),
        at(
            "99%",
            |ours| quantile_ms(&ours.sample.load.latency, 0.99),
            |row| published(row, |latency| latency.p99),
        ),
        column(
            "requests",
            |ours| Some(ours.sample.load.answered.to_string()),
            |row| row.requests.map(|count| count.to_string()),
        ),
    ]
}

fn requests() -> Vec<Column> {
    vec![
        column(
            "requests",
            |ours| Some(ours.sample.load.answered.to_string()),
            |row| row.requests.map(|count| count.to_string()),
        ),
        column(
            "failures",
            |ours| Some(ours.sample.load.failures().to_string()),
            |row| row.failures.map(|count| count.to_string()),
        ),
        column("avg ms", |ours| Some(ms(ours.sample.load.latency.ns_mean)), |row| plain(row.avg)),
        column("min", |ours| Some(ms(ours.sample.load.latency.ns_min as f64)), |row| plain(row.min)),
        column("max", |ours| quantile_ms(&ours.sample.load.latency, 1.0), |row| plain(row.max)),
        column("median", |ours| quantile_ms(&ours.sample.load.latency, 0.5), |row| plain(row.median)),
        per_second("req/s", |row| row.rps.map(|value| format!("{value:.2}"))),
        own("load-bound", |ours| Some(if ours.cell.load_bound.is_some() { "yes" } else { "no" }.to_owned())),
    ]
}

fn percentiles() -> Vec<Column> {
    fn at(ours: &Ours, probability: f64) -> Option<String> {
        quantile_ms(&ours.sample.load.latency, probability)
    }
    fn theirs(row: &Row, place: usize) -> Option<String> {
        plain(row.at.get(place).copied())
    }
    vec![
        column("50%", |ours| at(ours, 0.5), |row| theirs(row, 0)),
        column("66%", |ours| at(ours, 0.66), |row| theirs(row, 1)),
        column("75%", |ours| at(ours, 0.75), |row| theirs(row, 2)),
        column("80%", |ours| at(ours, 0.8), |row| theirs(row, 3)),
        column("90%", |ours| at(ours, 0.9), |row| theirs(row, 4)),
        column("95%", |ours| at(ours, 0.95), |row| theirs(row, 5)),
        column("98%", |ours| at(ours, 0.98), |row| theirs(row, 6)),
        column("99%", |ours| at(ours, 0.99), |row| theirs(row, 7)),
        column("100%", |ours| at(ours, 1.0), |row| theirs(row, 8)),
    ]
}

fn connections() -> Vec<Column> {
    fn of(ours: &Ours, value: fn(&Distribution) -> f64) -> Option<String> {
        let times = ours.sample.load.connection_time.as_ref()?;
        (times.count > 0).then(|| format!("{:.1}", value(times) / 1e6))
    }
    fn published(row: &Row, of: fn(&ConnectionTime) -> f64) -> Option<String> {
        row.connection_time_ms.as_ref().map(|times| format!("{:.1}", of(times)))
    }
    vec![
        column(
            "connections",
            |ours| Some(ours.sample.load.connects.to_string()),
            |row| row.connections.map(|count| count.to_string()),
        ),
        own("conn/s", |ours| {
            Some(format!(
                "{:.1}",
                ours.sample.load.connects as f64 * 1e9 / ours.sample.load.elapsed_ns.max(1) as f64
            ))
        }),
        column(
            "time min ms",
            |ours| of(ours, |times| times.ns_min as f64),
            |row| published(row, |times| times.min),
        ),
        column("avg", |ours| of(ours, |times| times.ns_mean), |row| published(row, |times| times.avg)),
        column(
            "max",
            |ours| of(ours, |times| times.ns_at(1.0).unwrap_or(0) as f64),
            |row| published(row, |times| times.max),
        ),
        column(
            "median",
            |ours| of(ours, |times| times.ns_at(0.5).unwrap_or(0) as f64),
            |row| published(row, |times| times.median),
        ),
        column("stddev", |ours| of(ours, |times| times.ns_stdev), |row| published(row, |times| times.stddev)),
        column(
            "test s",
            |ours| Some(format!("{:.3}", ours.sample.load.elapsed_ns as f64 / 1e9)),
            |row| row.test_seconds.map(|seconds| format!("{seconds:.3}")),
        ),
    ]
}

fn replies() -> Vec<Column> {
    vec![
        column(
            "replies",
            |ours| Some(ours.sample.load.answered.to_string()),
            |row| row.replies.map(|count| count.to_string()),
        ),
        column(
            "a connection",
            |ours| {
                Some(format!(
                    "{:.1}",
                    ours.sample.load.answered as f64 / ours.sample.load.connects.max(1) as f64
                ))
            },
            |row| row.replies_per_connection.map(|value| format!("{value:.1}")),
        ),
        column(
            "req/s",
            |ours| {
                Some(format!(
                    "{:.1}",
                    ours.sample.load.sent as f64 * 1e9 / ours.sample.load.elapsed_ns.max(1) as f64
                ))
            },
            |row| row.value.map(|value| format!("{value:.1}")),
        ),
        own("replies/s", |ours| {
            Some(format!(
                "{:.1}",
                ours.sample.load.answered as f64 * 1e9 / ours.sample.load.elapsed_ns.max(1) as f64
            ))
        }),
        own("each 5 s min", |ours| five_seconds(ours).map(|rates| format!("{:.0}", rates.0))),
        own("max", |ours| five_seconds(ours).map(|rates| format!("{:.0}", rates.1))),
        own("bytes a reply", |ours| {
            Some(format!(
                "{:.1}",
                ours.sample.load.bytes_received as f64 / ours.sample.load.answered.max(1) as f64
            ))
        }),
        own("service CPU s user", |ours| Some(format!("{:.1}", by_mode(ours)?.user_ns as f64 / 1e9))),
        own("system", |ours| Some(format!("{:.1}", by_mode(ours)?.system_ns as f64 / 1e9))),
        own("generator CPU s", |ours| Some(format!("{:.1}", ours.sample.host.generator_cpu_ns as f64 / 1e9))),
    ]
}

/// The least and the greatest rate of replies over whole periods of 5 s.
fn five_seconds(ours: &Ours) -> Option<(f64, f64)> {
    let periods = ours.sample.load.seconds.chunks_exact(5).map(|seconds| {
        let (answered, ns) =
            seconds.iter().fold((0, 0), |sum, second| (sum.0 + second.answered, sum.1 + second.ns));
        answered as f64 * 1e9 / ns as f64
    });
    let rates: Vec<f64> = periods.collect();
    let least = rates.iter().copied().reduce(f64::min)?;
    Some((least, rates.into_iter().fold(least, f64::max)))
}

/// httperf's classes, of ours.
fn errors() -> Vec<Column> {
    fn of(ours: &Ours, kinds: &[Failure]) -> u64 {
        let load = &ours.sample.load;
        let both = |kind: &Failure| load.failed.get(*kind) + load.connection_failed.get(*kind);
        kinds.iter().map(both).sum()
    }
    fn count(ours: &Ours, kinds: &[Failure]) -> Option<String> {
        Some(of(ours, kinds).to_string())
    }
    vec![
        own("total", |ours| Some(ours.sample.load.failures().to_string())),
        // What is still waited for at the end is of this class too.
        own("client-timo", |ours| {
            Some((of(ours, &[Failure::ResponseTimeout]) + ours.sample.load.in_flight).to_string())
        }),
        own("socket-timo", |ours| count(ours, &[Failure::ConnectTimeout])),
        own("connrefused", |ours| count(ours, &[Failure::Refused])),
        column(
            "connreset",
            |ours| count(ours, &[Failure::Reset, Failure::ClosedBeforeResponse, Failure::ClosedMidResponse]),
            |row| row.connections_reset.map(|count| count.to_string()),
        ),
        own("fd-unavail", |ours| count(ours, &[Failure::NoDescriptors])),
        own("addrunavail", |ours| count(ours, &[Failure::NoPorts])),
        own("other", |ours| {
            count(ours, &[Failure::Malformed, Failure::Mismatch, Failure::Status, Failure::Other])
        }),
    ]
}

/// What the published loads did not ask: the rate at saturation, and how steady the answers come.
fn more() -> Vec<Column> {
    vec![
        per_second("req/s", |_| None),
        own("CPU/req", |ours| ours.cell.cpu_ns_per_request.map(|estimate| time(estimate.value))),
        own("p50 ms", |ours| quantile_ms(&ours.sample.load.latency, 0.5)),
        own("p99", |ours| quantile_ms(&ours.sample.load.latency, 0.99)),
        own("p99.9", |ours| quantile_ms(&ours.sample.load.latency, 0.999)),
        own("max", |ours| quantile_ms(&ours.sample.load.latency, 1.0)),
        own("seconds with a pause", |ours| {
            Some(format!("{} of {}", pauses(&ours.sample.load), ours.sample.load.seconds.len()))
        }),
        own("failures", |ours| Some(ours.sample.load.failures().to_string())),
    ]
}

/// Seconds in which some answer took more than ten times as long as the median one.
pub fn pauses(load: &LoadResult) -> usize {
    let median_ns = load.latency.ns_at(0.5).unwrap_or(u64::MAX);
    let is_pause = |ns: u64| ns > median_ns.saturating_mul(10);
    load.seconds.iter().filter(|second| is_pause(second.latency_ns_max)).count()
}

fn by_mode(ours: &Ours) -> Option<CpuByMode> {
    ours.sample.host.server_cpu_by_mode
}
