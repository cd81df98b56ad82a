//! Each second of the load: how steady the answers came, and where they stopped.

use std::collections::BTreeSet;

use tare_bench::{
    run::record::Record,
    sample::{Outcome, Second},
};

use super::{
    super::{
        fields::{field, table},
        lay::{column, quiet, text},
    },
    Entry, Grid,
};
use crate::document::{Chart, Scale, Section, Shape, Unit};

/// What is left of a load is no rate to be read beside those of whole seconds.
const SHORT_NS: u64 = 500_000_000;

/// One second of one cell.
#[derive(Clone)]
struct At<'a> {
    entry: Entry<'a>,
    name: String,
    /// From the first request to its end.
    until_ns: u64,
    second: Second,
}

/// The round in the middle of each cell; of one that hung the first of those.
pub(crate) fn section(grid: &Grid) -> Option<Section> {
    let mut rows = Vec::new();
    for entry in grid.entries(|_| true) {
        let name = match grid.has_loads() {
            true => format!("{}, {}", entry.label(), entry.load()),
            false => entry.label().to_owned(),
        };
        let mut until_ns = 0;
        for second in seconds(grid, &entry) {
            until_ns += second.ns;
            rows.push(At { entry, name: name.clone(), until_ns, second: *second });
        }
    }
    let longest = rows.iter().max_by_key(|at| at.second.latency_ns_max)?;
    let per_second =
        |at: &At| (at.second.ns > 0).then(|| at.second.answered as f64 * 1e9 / at.second.ns as f64);
    let ns = Unit::Nanoseconds;
    let fields = vec![
        field(text("cell", "cell").hidden(), |at: &At| at.name.clone()),
        field(text("load", "load").facet(), |at: &At| at.entry.load()),
        field(text("label", "service").facet(), |at: &At| at.entry.label().to_owned()),
        field(column("until_ns", "until", ns), |at: &At| at.until_ns),
        field(column("requests_per_second", "answers/s", Unit::PerSecond), per_second),
        field(column("latency_ns_max", "longest", ns), |at: &At| at.second.latency_ns_max),
        field(
            column("is_short", "short", Unit::Flag)
                .help("The rest of a load: less than half a second.")
                .hidden(),
            |at: &At| at.second.ns < SHORT_NS,
        ),
    ];
    let cells = rows.iter().map(|at| at.name.as_str()).collect::<BTreeSet<_>>().len();
    let alt = format!(
        "{cells} cells second by second; the longest answer took {}, of {}.",
        ns.show(longest.second.latency_ns_max as f64),
        longest.name
    );
    let lead = "Second by second, of the round in the middle: a service that pauses has seconds of few answers and long ones. The \
                last of a load may be short, and is not joined to the others.";
    let shown = quiet(table("Seconds of each cell", fields, rows.iter().cloned()));
    let chart = |title: &str, y: &str, scale: Scale| Chart {
        title: title.to_owned(),
        first: Some(8),
        apart: Some("is_short".to_owned()),
        ..Chart::new(Shape::Lines, "until_ns", y, &alt).series("cell").scales(Scale::Linear, scale)
    };
    let section = Section::new("seconds", "Second by second", lead, shown);
    let section = section.chart(chart("Answers a second", "requests_per_second", Scale::Linear));
    Some(section.chart(chart("The longest answer of each second", "latency_ns_max", Scale::Log)))
}

fn seconds<'a>(grid: &'a Grid, entry: &Entry<'a>) -> &'a [Second] {
    if let Some(figures) = entry.figures() {
        return &figures.seconds;
    }
    let mut samples = grid.kept.records.iter().filter_map(|record| match record {
        Record::Sample(sample) => Some(sample),
        _ => None,
    });
    let hung = samples.find(|sample| {
        let is_here = entry.cell.is_some_and(|cell| cell.row == sample.row)
            && grid.plan.points[sample.point] == entry.point.point;
        is_here && matches!(sample.outcome, Outcome::Hung(_))
    });
    hung.map_or(&[], |sample| &sample.load.seconds)
}
