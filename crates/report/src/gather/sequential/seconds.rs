//! Each second of the load: how steadily the answers arrived, and where they stopped.

use std::collections::BTreeSet;

use tare_bench::{
    record::Record,
    sample::{SampleOutcome, Second},
};

use super::{Experiment, ServiceAt};
use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::columns::Columns,
};

/// The last part of a load is shown as a rate only if it is at least this long.
const SHORT_NS: u64 = 500_000_000;

/// Loads that are all shorter have no course to show.
const COURSE_NS: u64 = 3_000_000_000;

struct CellSecond<'a> {
    cell: ServiceAt<'a>,
    name: String,
    /// The time from the first request to the end of the interval.
    until_ns: u64,
    second: Second,
}

impl CellSecond<'_> {
    fn per_second(&self) -> Option<f64> {
        let Second { ns, answered, .. } = self.second;
        (ns > 0).then(|| answered as f64 * 1e9 / ns as f64)
    }
}

fn all<'a>(run: &Experiment<'a>) -> Vec<CellSecond<'a>> {
    let mut all = Vec::new();
    for cell in run.cells(|_| true) {
        let name = run.cell_name(cell.label(), &cell.load());
        let mut until_ns = 0;
        for second in seconds(run, &cell) {
            until_ns += second.ns;
            all.push(CellSecond { cell, name: name.clone(), until_ns, second: *second });
        }
    }
    all
}

/// The middle round of each cell; for a hung cell, the first such round. `None` if no cell lasted a few
/// seconds.
pub(crate) fn section(run: &Experiment) -> Option<Section> {
    let rows = all(run);
    let has_course = rows.iter().any(|row| row.until_ns >= COURSE_NS);
    let longest = rows.iter().max_by_key(|row| row.second.latency_ns_max).filter(|_| has_course)?;
    let cells = rows.iter().map(|row| row.name.as_str()).collect::<BTreeSet<_>>().len();
    let alt = format!(
        "{cells} cells second by second; the longest answer took {}, of {}.",
        Unit::Nanoseconds.show(longest.second.latency_ns_max as f64),
        longest.name
    );
    let lead = "Second by second, of the round in the middle: a service that pauses has seconds of few answers and long ones. The \
                last of a load may be short, and is not joined to the others.";
    let chart = |title: &str, y: &str, scale: Scale| {
        let chart = Chart::new(Shape::Lines, "until_ns", y, &alt).title(title).series("cell");
        chart.scales(Scale::Linear, scale).apart("is_short").first(8)
    };
    let columns = Columns::new()
        .text("cell", "cell", |row: &CellSecond| row.name.clone())
        .hidden()
        .facet("load", "load", |row| row.cell.load())
        .facet("label", "service", |row| row.cell.label().to_owned())
        .ns("until_ns", "until", |row| row.until_ns)
        .rate("requests_per_second", "answers/s", CellSecond::per_second)
        .ns("latency_ns_max", "longest", |row| row.second.latency_ns_max)
        .flag("is_short", "short", |row| row.second.ns < SHORT_NS)
        .help("The rest of a load: less than half a second.")
        .hidden();
    let charts = vec![
        chart("Answers a second", "requests_per_second", Scale::Linear),
        chart("The longest answer of each second", "latency_ns_max", Scale::Log),
    ];
    let table = columns.table("Seconds of each cell", rows);
    Some(Section { charts, ..Section::new("seconds", "Second by second", lead, table) })
}

fn seconds<'a>(run: &Experiment<'a>, cell: &ServiceAt<'a>) -> &'a [Second] {
    if let Some(figures) = cell.figures() {
        return &figures.seconds;
    }
    let mut samples = run.stored.records.iter().filter_map(Record::sample);
    let hung = samples.find(|sample| {
        let is_here = cell.cell.is_some_and(|cell| cell.row == sample.row)
            && run.plan.points[sample.point] == cell.point.point;
        is_here && matches!(sample.outcome, SampleOutcome::Hung(_))
    });
    hung.map_or(&[], |sample| &sample.load.seconds)
}
