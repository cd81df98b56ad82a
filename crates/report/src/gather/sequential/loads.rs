//! Loads that were not published, because the published ones cannot decide, and the sweep that chose one.

use tare_analysis::{
    figures::{rate, time},
    sequential::{PUBLISHED, SWEEP, pauses},
};
use tare_bench::plan::LoadSpec;

use super::{
    Experiment, ServiceAt,
    matrix::{MARKS, Matrix},
};
use crate::{
    document::{Chart, Scale, Section, Shape, Unit, Value},
    gather::{columns::Columns, words::capital},
};

/// One section for each part of the file that was not published.
pub(crate) fn sections(run: &Experiment) -> Vec<Section> {
    let is_own = |part: &&str| *part != PUBLISHED && *part != SWEEP && !run.is_of_batches();
    run.parts().into_iter().filter(is_own).filter_map(|part| section(run, part)).collect()
}

fn section(run: &Experiment, part: &str) -> Option<Section> {
    let cells = run.cells(|name| name == part);
    let point = &cells.first()?.point.point;
    let id = format!("load-{}", part.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
    let lead = format!("Not published: {}.", point.describe());
    let table = columns().table(&format!("Services, {part}"), cells.clone());
    let section = Section::new(&id, &capital(part), &lead, table);
    let chart = match (most(&cells, per_second), point.load) {
        (None, _) => return Some(section),
        (Some(_), LoadSpec::Open { .. }) => {
            let (longest, cell) = most(&cells, |cell| Some(cell.quantile(0.99)? as f64))?;
            let (longest, label) = (time(longest), cell.label());
            let alt = format!("The 99th percentile of each service; the longest is {longest} of {label}.");
            Chart::new(Shape::Bars, "latency_ns_p99", "label", &alt)
        }
        (Some((best, cell)), _) => {
            let (best, label) = (rate(best), cell.label());
            let alt =
                format!("CPU time of a request against requests a second; {label} answers most, {best}/s.");
            let chart = Chart::new(Shape::Points, "requests_per_second", "cpu_ns_per_request", &alt);
            chart.series("label").scales(Scale::Log, Scale::Log)
        }
    };
    Some(section.chart(chart.n("rounds")))
}

fn per_second(cell: &ServiceAt) -> Option<f64> {
    Some(cell.cell?.per_second?.value)
}

fn most<'c, 'a>(
    cells: &'c [ServiceAt<'a>],
    of: fn(&ServiceAt) -> Option<f64>,
) -> Option<(f64, &'c ServiceAt<'a>)> {
    cells.iter().filter_map(|cell| Some((of(cell)?, cell))).max_by(|a, b| a.0.total_cmp(&b.0))
}

fn columns<'a>() -> Columns<'a, ServiceAt<'a>> {
    Columns::new()
        .text("label", "service", |cell: &ServiceAt| cell.label().to_owned())
        .estimate(Unit::PerSecond, "requests_per_second", "req/s", |cell| cell.cell?.per_second)
        .ns("cpu_ns_per_request", "CPU/request", ServiceAt::cpu_ns_per_request)
        .ns("latency_ns_p50", "p50", |cell| cell.quantile(0.5))
        .ns("latency_ns_p99", "p99", |cell| cell.quantile(0.99))
        .ns("latency_ns_p999", "p99.9", |cell| cell.quantile(0.999))
        .ns("latency_ns_max", "longest", |cell| cell.quantile(1.0))
        .count("seconds_with_a_pause", "seconds with a pause", |cell| cell.figures().map(pauses))
        .help("Some answer of that second took more than ten times as long as the median one.")
        .count("seconds", "of seconds", |cell| Some(cell.figures()?.seconds.len()))
        .count("failures", "failures", ServiceAt::failures)
        .count("rounds", "rounds", ServiceAt::rounds)
        .facet("state", "state", ServiceAt::state)
        .text("remarks", "remarks", ServiceAt::own_remarks)
}

/// The sweep over connections and threads of the generator: as a matrix of throughput, and with all figures.
pub(crate) fn sweep(run: &Experiment) -> Vec<Section> {
    let cells = run.cells(|part| part == SWEEP);
    let Some((most, best)) = most(&cells, per_second) else { return Vec::new() };
    let lead =
        "Requests a second by connections and threads of the generator: how the authors chose their load.";
    let (connections, threads) = size(best);
    let alt = format!(
        "A line for each number of threads; most is {}/s with {connections} connections and {threads} threads.",
        rate(most)
    );
    let chart = Chart::new(Shape::Lines, "connections", "requests_per_second", &alt);
    let columns = Columns::new()
        .text("label", "service", |cell: &ServiceAt| cell.label().to_owned())
        .count("connections", "connections", |cell| size(cell).0)
        .facet("generator_threads", "generator threads", |cell| size(cell).1.to_string())
        .estimate(Unit::PerSecond, "requests_per_second", "req/s", |cell| cell.cell?.per_second)
        .count("rounds", "rounds", ServiceAt::rounds)
        .text("remarks", "remarks", ServiceAt::own_remarks);
    let caption = "Requests a second by connections and generator threads";
    let matrix = Section::new("threads", "Threads by connections", lead, matrix(caption, &cells)).note(MARKS);
    let section = Section::new("sweep", "Sweep", lead, columns.table(caption, cells.clone()));
    vec![matrix.brief(), section.chart(chart.series("generator_threads").n("rounds"))]
}

/// The numbers of connections and of generator threads.
fn size(cell: &ServiceAt) -> (usize, usize) {
    let size = cell.point.point.load.connections();
    (size.total, size.threads)
}

/// One row per number of threads; with several services, one for each of them too.
fn matrix(caption: &str, cells: &[ServiceAt]) -> crate::document::Table {
    let is_one = cells.iter().all(|cell| cell.label() == cells[0].label());
    let line = |cell: &ServiceAt| match (is_one, size(cell).1) {
        (true, threads) => threads.to_string(),
        (false, threads) => format!("{}, {threads}", cell.label()),
    };
    let of = |cell: &ServiceAt| {
        (
            line(cell),
            format!("{} connections", size(cell).0),
            per_second(cell).map_or(Value::None, Value::from),
        )
    };
    let crossings: Vec<_> = cells.iter().map(of).collect();
    let lines = ["generator_threads", "generator threads"];
    Matrix { caption, lines, across: "connections", unit: Unit::PerSecond, least_is_best: Some(false) }
        .table(&crossings)
}
