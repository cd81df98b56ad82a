//! Latency by percentile, here and as published, for the layouts that have it.

use tare_analysis::published::{PUBLISHED, SWEEP};
use tare_bench::{grid::Layout, sample::PROBABILITIES};

use super::{
    super::{
        fields::{field, table},
        lay::{column, quiet, text},
    },
    Entry, Grid,
};
use crate::document::{Chart, Scale, Section, Shape, Unit};

/// One percentile of one service under one load.
#[derive(Clone, Copy)]
struct At<'a> {
    entry: Entry<'a>,
    probability: f64,
    ns: f64,
}

impl At<'_> {
    /// In nanoseconds.
    fn published(&self) -> Option<f64> {
        let row = self.entry.published()?;
        let wrk = row.latency_ms.and_then(|of| match self.probability {
            0.5 => Some(of.p50),
            0.75 => Some(of.p75),
            0.9 => Some(of.p90),
            0.99 => Some(of.p99),
            _ => None,
        });
        let percentiles = &self.entry.report.published.percentiles;
        // A percentage times 0.01 is not always the probability to the last digit.
        let is_it = |percent: &f64| (percent / 100.0 - self.probability).abs() < 1e-9;
        let listed = percentiles.iter().position(is_it).and_then(|place| row.at.get(place).copied());
        wrk.or(listed).map(|ms| ms * 1e6)
    }
}

/// Absent if a layout says nothing of latency.
pub(crate) fn section(grid: &Grid) -> Option<Section> {
    let part = |part: &str| part != SWEEP;
    let has_latency = matches!(grid.report.layout, Layout::Percentiles | Layout::Latency);
    let entries = if has_latency { grid.entries(part) } else { Vec::new() };
    // The longest stands in the tables of its load: on an axis of nines it would be at infinity.
    let known = entries.iter().flat_map(|entry| {
        let finite = PROBABILITIES.iter().filter(|probability| **probability < 1.0);
        finite.filter_map(|&probability| {
            let ns = entry.figures()?.latency.ns_at(probability)? as f64;
            Some(At { entry: *entry, probability, ns })
        })
    });
    let rows: Vec<At> = known.collect();
    let worst = rows.iter().filter(|at| at.probability == 0.99).max_by(|a, b| a.ns.total_cmp(&b.ns))?;
    let ratio = |at: &At| Some(at.ns / at.published().filter(|ns| *ns > 0.0)?);
    let ns = Unit::Nanoseconds;
    let fields = vec![
        field(text("load", "load").facet(), |at: &At| at.entry.load()),
        field(text("label", "service").facet(), |at: &At| at.entry.label().to_owned()),
        field(column("percentile", "percentile", Unit::Percentile), |at: &At| at.probability),
        field(column("latency_ns", "latency", ns), |at: &At| at.ns),
        field(column("latency_ns_published", "published", ns), At::published),
        field(column("latency_of_published", "here / published", Unit::Times), ratio),
        field(column("requests", "requests", Unit::Count).hidden(), |at: &At| {
            at.entry.figures().map(|of| of.latency.count)
        }),
        field(
            column("at_least", "lower bound", Unit::Flag).help("Some requests were never answered.").hidden(),
            |at: &At| at.entry.figures().map(|of| of.latency.at_least),
        ),
    ];
    let alt = format!("the longest p99 of all loads is {} of {}", ns.show(worst.ns), worst.entry.label());
    let shown = quiet(table("Latency by percentile", fields, rows.iter().cloned()));
    let has = |part: &str| rows.iter().any(|at| at.entry.load() == part);
    let has_published = rows.iter().any(|at| at.published().is_some());
    let chart = |title: String, y: &str, part: &str| {
        let chart =
            Chart::new(Shape::Lines, "percentile", y, &format!("{title}: a curve for each service; {alt}."));
        Chart {
            title,
            n: Some("requests".to_owned()),
            only: Some(["load".to_owned(), part.to_owned()]),
            ..chart.series("label").scales(Scale::Percentile, Scale::Log)
        }
    };
    let lead = "From the instant each request was due, of the round in the middle. The longest stands in the tables of the loads.";
    let mut section = Section::new("latency", "Latency", lead, shown);
    if has_published {
        section = section.chart(chart("As published".to_owned(), "latency_ns_published", PUBLISHED));
    }
    let mut parts: Vec<&str> = grid.report.points.iter().map(|point| point.point.part.as_str()).collect();
    parts.dedup();
    for part in parts.into_iter().filter(|part| has(part)) {
        let title = match part {
            PUBLISHED => "Here, under the published load".to_owned(),
            part => format!("Here, {part}"),
        };
        section = section.chart(chart(title, "latency_ns", part));
    }
    Some(section)
}
