//! Loads that were not published: what the published ones could not tell, and the sweep that chose one.

use tare_analysis::{
    published::{PUBLISHED, SWEEP, pauses},
    report::figures::{rate, time},
};
use tare_bench::{grid::plan::Offered, sample::LoadResult};

use super::{
    super::{
        fields::{between, field, table},
        lay::{capital, column, quiet, text},
    },
    Entry, Grid,
};
use crate::document::{Chart, Scale, Section, Shape, Unit};

/// One for each part of a file that was not published.
pub(crate) fn sections(grid: &Grid) -> Vec<Section> {
    let mut parts: Vec<&str> = grid.report.points.iter().map(|point| point.point.part.as_str()).collect();
    parts.dedup();
    let own = |part: &&str| *part != PUBLISHED && *part != SWEEP && !grid.is_of_batches();
    parts.into_iter().filter(own).filter_map(|part| section(grid, part)).collect()
}

fn section(grid: &Grid, part: &str) -> Option<Section> {
    let entries = grid.entries(|name| name == part);
    let first = entries.first()?;
    let ns = Unit::Nanoseconds;
    let quantile = |key: &str, title: &str, probability: f64| {
        field(column(key, title, ns), move |entry: &Entry| entry.figures()?.latency.ns_at(probability))
    };
    let mut fields = vec![field(text("label", "service"), |entry: &Entry| entry.label().to_owned())];
    fields.extend(between(column("requests_per_second", "req/s", Unit::PerSecond), |entry: &Entry| {
        entry.cell?.per_second
    }));
    fields.push(field(column("cpu_ns_per_request", "CPU/request", ns), |entry: &Entry| {
        entry.cell?.cpu_ns_per_request.map(|found| found.value)
    }));
    fields.push(quantile("latency_ns_p50", "p50", 0.5));
    fields.push(quantile("latency_ns_p99", "p99", 0.99));
    fields.push(quantile("latency_ns_p999", "p99.9", 0.999));
    fields.push(quantile("latency_ns_max", "longest", 1.0));
    let paused = column("seconds_with_a_pause", "seconds with a pause", Unit::Count)
        .help("Some answer of that second took more than ten times as long as the median one.");
    fields.push(field(paused, |entry: &Entry| entry.figures().map(pauses)));
    fields.push(field(column("seconds", "of seconds", Unit::Count), |entry: &Entry| {
        entry.figures().map(|figures| figures.seconds.len())
    }));
    fields.push(field(column("failures", "failures", Unit::Count), |entry: &Entry| {
        entry.figures().map(LoadResult::failures)
    }));
    fields.push(field(column("rounds", "rounds", Unit::Count), |entry: &Entry| {
        entry.cell.map_or(0, |cell| cell.rounds)
    }));
    fields.push(field(text("state", "state").facet(), |entry: &Entry| entry.state()));
    fields.push(field(text("remarks", "remarks"), Entry::own_remarks));
    let title = capital(part);
    let lead = format!("Not published: {}.", first.point.point.describe());
    let shown = quiet(table(&format!("Services, {part}"), fields, entries.iter().cloned()));
    let rates: Vec<(f64, &str)> =
        entries.iter().filter_map(|entry| Some((entry.cell?.per_second?.value, entry.label()))).collect();
    let id = format!("load-{}", part.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
    let section = Section::new(&id, &title, &lead, shown);
    let Some(best) = rates.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else { return Some(section) };
    let chart = match first.point.point.offered {
        Offered::Open { .. } => {
            let known = entries
                .iter()
                .filter_map(|entry| Some((entry.figures()?.latency.ns_at(0.99)? as f64, entry.label())));
            let worst = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
            let alt = format!(
                "The 99th percentile of each service; the longest is {} of {}.",
                time(worst.0),
                worst.1
            );
            Chart::new(Shape::Bars, "latency_ns_p99", "label", &alt)
        }
        _ => {
            let alt = format!(
                "CPU time of a request against requests a second; {} answers most, {}/s.",
                best.1,
                rate(best.0)
            );
            let chart = Chart::new(Shape::Points, "requests_per_second", "cpu_ns_per_request", &alt);
            chart.series("label").scales(Scale::Log, Scale::Log)
        }
    };
    Some(section.chart(Chart { n: Some("rounds".to_owned()), ..chart }))
}

/// Connections and threads of the generator, and what one service answered.
pub(crate) fn sweep(grid: &Grid) -> Option<Section> {
    let entries = grid.entries(|part| part == SWEEP);
    let best = entries.iter().filter_map(|entry| Some((entry.cell?.per_second?.value, entry)));
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0));
    let size = |entry: &Entry| entry.point.point.offered.connections();
    let mut fields = vec![
        field(text("label", "service"), |entry: &Entry| entry.label().to_owned()),
        field(column("connections", "connections", Unit::Count), |entry: &Entry| size(entry).total),
        field(text("generator_threads", "generator threads").facet(), |entry: &Entry| {
            size(entry).threads.to_string()
        }),
    ];
    fields.extend(between(column("requests_per_second", "req/s", Unit::PerSecond), |entry: &Entry| {
        entry.cell?.per_second
    }));
    fields.push(field(column("rounds", "rounds", Unit::Count), |entry: &Entry| {
        entry.cell.map_or(0, |cell| cell.rounds)
    }));
    fields.push(field(text("remarks", "remarks"), Entry::own_remarks));
    if entries.is_empty() {
        return None;
    }
    let lead =
        "Requests a second by connections and threads of the generator: how the authors chose their load.";
    let shown = quiet(table(
        "Requests a second by connections and generator threads",
        fields,
        entries.iter().cloned(),
    ));
    let section = Section::new("sweep", "Sweep", lead, shown);
    let Some((most, entry)) = best else { return Some(section) };
    let at = size(entry);
    let alt = format!(
        "A line for each number of threads; most is {}/s with {} connections and {} threads.",
        rate(most),
        at.total,
        at.threads
    );
    let chart = Chart::new(Shape::Lines, "connections", "requests_per_second", &alt);
    Some(section.chart(Chart { n: Some("rounds".to_owned()), ..chart.series("generator_threads") }))
}
