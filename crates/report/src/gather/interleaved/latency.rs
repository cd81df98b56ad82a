//! Latency: percentile curves from the stored histograms of a run, and percentiles over the load.

use std::{collections::BTreeMap, path::Path};

use tare_analysis::interleaved::{OpenLatency, Report, RowReport, RowState};
use tare_base::latency::Histogram;
use tare_bench::{
    experiment::Rate,
    folder::{FILE_BYTES_MAX, StoredRun, histogram_path},
    record::Record,
};
use tare_host::seal;

use super::slices::CLOSED;
use crate::{
    document::{Chart, Scale, Section, Shape, Unit},
    gather::{
        columns::Columns,
        curves::{self, Percentile},
        words::span,
    },
};

/// With fewer answers beyond it, a percentile would depend on single requests.
const BEYOND_MIN: f64 = 10.0;

const LEAD: &str = "The time within which a share of the answers came, over all blocks of a row. Each grid line: answers ten times \
                    rarer. A curve ends where fewer than ten answers are beyond.";

/// The histograms of a run, summed over the blocks: by row and load.
pub(crate) struct Curves<'a> {
    found: BTreeMap<(&'a str, String), Histogram>,
    /// Files that the journal lists but that cannot be read, a sentence each.
    pub(crate) damage: Vec<String>,
}

impl<'a> Curves<'a> {
    /// Reads all histograms that the journal lists.
    pub(crate) fn read(kept: &'a StoredRun, run: &Path) -> Curves<'a> {
        // The windows of a search have many rates, so they give no curve.
        let rates = kept.header.plan.rates();
        let points: Vec<Option<String>> =
            rates.map(|(_, rate)| (rate != Rate::Searched).then(|| rate.label())).collect();
        let mut curves = Curves { found: BTreeMap::new(), damage: Vec::new() };
        let (mut files, mut lost) = (0, Vec::new());
        for record in &kept.records {
            let Record::Stopped(stopped) = record else { continue };
            let row = &kept.header.plan.rows[stopped.row];
            let label = row.label.as_str();
            let loads =
                std::iter::once(Some(None)).chain(points.iter().map(|point| point.as_deref().map(Some)));
            let timed = stopped.latency.iter().zip(loads).filter(|(latency, _)| latency.is_some());
            for point in timed.filter_map(|(_, point)| point) {
                files += 1;
                match read(&histogram_path(run, label, stopped.block, point)) {
                    // In a closed loop each answer waits for the ballast of those before it.
                    Ok(_) if point.is_none() && row.ballast_ns.is_some() => {}
                    Ok(histogram) => curves.add(label, point, &histogram),
                    Err(reason) => lost.push((file(run, label, stopped.block, point), reason)),
                }
            }
        }
        if let Some((first, reason)) = lost.first() {
            let of_all = if lost.len() == files { "all".to_owned() } else { format!("{} of", lost.len()) };
            curves.damage.push(format!(
                "{of_all} {files} latency histograms cannot be read; the first: {first}: {reason}"
            ));
        }
        curves
    }

    /// The curves of the rows with figures under one load.
    fn steps<'r>(&self, report: &'r Report, load: &str) -> Vec<Percentile<'r>> {
        let measured = report.rows.iter().filter(|row| row.state == RowState::Measured);
        let found = measured.filter_map(|row| {
            let histogram = self.found.get(&(row.label.as_str(), load.to_owned()))?;
            Some(percentiles(histogram.count()).into_iter().map(|percentile| Percentile {
                label: &row.label,
                load: load.to_owned(),
                percentile,
                latency_ns: histogram.quantile_ns(percentile) as f64,
                published_ns: None,
                answers: histogram.count(),
                at_least: None,
            }))
        });
        found.flatten().collect()
    }

    fn add(&mut self, row: &'a str, point: Option<&str>, histogram: &Histogram) {
        let load = point.map_or(CLOSED.to_owned(), |point| format!("at {point}"));
        self.found.entry((row, load)).or_default().merge(histogram);
    }
}

/// The path within the folder.
fn file(run: &Path, row: &str, block: usize, point: Option<&str>) -> String {
    let path = histogram_path(run, row, block, point);
    path.strip_prefix(run).unwrap_or(&path).display().to_string()
}

fn read(path: &Path) -> Result<Histogram, String> {
    let bytes = seal::LAST_LINE.read(path, FILE_BYTES_MAX).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    })?;
    Histogram::deserialize(&bytes).map_err(|error| error.to_string())
}

/// 0, 10%, .. 90%, then 95%, 99%, 99.5%, 99.9% and so on, as far as this number of answers allows.
fn percentiles(count: u64) -> Vec<f64> {
    let tenths = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9];
    // As quotients, which give the closest floats to 0.95 and 0.99; a difference from 1 does not.
    let nines = (2..=9).flat_map(|nines| {
        let power = 10_f64.powi(nines);
        [(power - 5.0) / power, (power - 1.0) / power]
    });
    let is_supported = |percentile: &f64| count as f64 * (1.0 - percentile) >= BEYOND_MIN;
    tenths
        .into_iter()
        .chain(nines)
        .filter(|percentile| *percentile == 0.0 || is_supported(percentile))
        .collect()
}

pub(crate) fn curves(report: &Report, curves: &Curves) -> Section {
    let mut loads: Vec<&str> = curves.found.keys().map(|(_, load)| load.as_str()).collect();
    loads.sort_by_key(|load| (*load != CLOSED, load.to_owned()));
    loads.dedup();
    let steps: Vec<Percentile> = loads.iter().flat_map(|load| curves.steps(report, load)).collect();
    let damage = curves.damage.clone();
    if steps.is_empty() {
        let none = "no row with figures has a whole block, whose end writes the histograms".to_owned();
        let notes = if damage.is_empty() { vec![none] } else { damage.clone() };
        return Section { notes, damage, ..Section::without("latency", "Latency", LEAD) };
    }
    let charts: Vec<Chart> = loads.iter().filter_map(|load| chart(load, &steps)).collect();
    let section = Section::new("latency", "Latency", LEAD, curves::table(steps));
    with_doubts(Section { charts, notes: damage.clone(), damage, ..section }, report)
}

fn with_doubts(mut section: Section, report: &Report) -> Section {
    let open = || report.rows.iter().flat_map(|row| row.latency_open.iter().map(move |at| (row, at)));
    let named = |text: &dyn Fn(&OpenLatency) -> bool| -> Vec<String> {
        open().filter(|(_, at)| text(at)).map(|(row, at)| format!("{} at {}", row.label, at.point)).collect()
    };
    let censored = named(&|at| at.at_least);
    if !censored.is_empty() {
        section.notes.push(format!(
            "some requests were never answered ({}): these curves are of the answers, and lower bounds of what was waited",
            censored.join(", ")
        ));
    }
    let late = named(&|at| at.doubt.is_some());
    if !late.is_empty() {
        section.notes.push(format!("late: the generator's own lag is in the curves of {}", late.join(", ")));
    }
    section.note("in a closed loop a slow answer delays the next request, so that few are asked while a service is slow")
}

fn chart(load: &str, steps: &[Percentile]) -> Option<Chart> {
    let mine = || steps.iter().filter(|step| step.load == load);
    let latency = |step: &Percentile<'_>| step.latency_ns;
    let p99 = mine().filter(|step| step.percentile == 0.99).map(|step| (step.label, latency(step)));
    let all = mine().map(|step| (step.label, latency(step)));
    let alt = match span(Unit::Nanoseconds, p99) {
        Some(span) => format!("The time within which 99% of the answers came ({load}): {span}."),
        None => format!("Latency ({load}): {}.", span(Unit::Nanoseconds, all)?),
    };
    Some(curves::chart(&format!("Percentiles, {load}"), "latency_ns", load, &alt))
}

const LOAD_LEAD: &str = "Latency in open loops, from the instant at which a request was due, at rates that a service has no say \
                         in. Each figure is over blocks.";

pub(crate) fn against_load(report: &Report) -> Section {
    let points = report.rows.iter().flat_map(|row| {
        let mut points: Vec<&OpenLatency> = row.latency_open.iter().collect();
        points.sort_by(|a, b| a.offered_per_second.total_cmp(&b.offered_per_second));
        points.into_iter().map(move |at| (row, at))
    });
    let points: Vec<(&RowReport, &OpenLatency)> = points.collect();
    if points.is_empty() {
        return Section::without("load", "Latency against load", LOAD_LEAD)
            .note("this run has no open loop: an experiment asks for some with [latency]");
    }
    let sound = points.iter().filter(|(_, at)| at.doubt.is_none());
    let span =
        span(Unit::Nanoseconds, sound.filter_map(|(row, at)| Some((row.label.as_str(), at.p99_ns?.value))));
    let alt = span.map_or("Every figure is in doubt.".to_owned(), |span| {
        format!("The 99th percentile over all loads: {span}.")
    });
    let chart = Chart::new(Shape::Lines, "offered_per_second", "latency_ns_p99", &alt)
        .series("label")
        .scales(Scale::Log, Scale::Log)
        .title("99th percentile against the rate")
        .n("blocks")
        .apart("is_late")
        .among_grey(curves::COLOURED);
    let table = open_columns().table("Latency of open loops", points);
    Section::new("load", "Latency against load", LOAD_LEAD, table).chart(chart)
}

fn open_columns<'a>() -> Columns<'a, (&'a RowReport, &'a OpenLatency)> {
    let ns = Unit::Nanoseconds;
    Columns::new()
        .facet("label", "service", |(row, _): &(&RowReport, &OpenLatency)| row.label.clone())
        .facet("at", "at", |(_, at)| at.point.clone())
        .rate("offered_per_second", "offered", |(_, at)| at.offered_per_second)
        .estimate(ns, "latency_ns_p50", "p50", |(_, at)| at.p50_ns)
        .estimate(ns, "latency_ns_p90", "p90", |(_, at)| at.p90_ns)
        .estimate(ns, "latency_ns_p99", "p99", |(_, at)| at.p99_ns)
        .estimate(ns, "latency_ns_p999", "p99.9", |(_, at)| at.p999_ns)
        .help("absent if no block had as many requests as the percentile takes")
        .ns("lag_ns_p99", "lag p99", |(_, at)| at.lag_ns_p99)
        .help("how late the generator itself was")
        .count("due", "requests due", |(_, at)| at.due)
        .count("blocks", "blocks", |(row, _)| row.blocks)
        .flag("is_at_least", "at least", |(_, at)| at.at_least)
        .help("some were never answered: these are lower bounds")
        .flag("is_late", "late", |(_, at)| at.doubt.is_some())
        .hidden()
        .text("doubt", "doubt", |(_, at)| at.doubt.as_ref().map(ToString::to_string))
}
