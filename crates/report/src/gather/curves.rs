//! Curves of latency by percentile, from the histograms of an interleaved run or the quantiles of a
//! sequential one.

use super::columns::Columns;
use crate::document::{Chart, Scale, Shape, Table, Unit};

/// A percentile of a service under a load.
pub(crate) struct Percentile<'a> {
    pub(crate) label: &'a str,
    pub(crate) load: String,
    /// From 0 to 1.
    pub(crate) percentile: f64,
    pub(crate) latency_ns: f64,
    pub(crate) published_ns: Option<f64>,
    /// The number of answers in the curve.
    pub(crate) answers: u64,
    /// Whether some requests were never answered; `None` if a note says so.
    pub(crate) at_least: Option<bool>,
}

pub(crate) fn table(steps: Vec<Percentile>) -> Table {
    let ratio = |step: &Percentile| Some(step.latency_ns / step.published_ns.filter(|ns| *ns > 0.0)?);
    let columns = Columns::new()
        .facet("label", "service", |step: &Percentile| step.label.to_owned())
        .facet("load", "load", |step| step.load.clone())
        .add(Unit::Percentile, "percentile", "percentile", |step| step.percentile)
        .ns("latency_ns", "latency", |step| step.latency_ns)
        .ns("latency_ns_published", "published", |step| step.published_ns)
        .add(Unit::Times, "latency_of_published", "here / published", ratio)
        .count("answers", "answers", |step| step.answers)
        .flag("at_least", "lower bound", |step| step.at_least)
        .help("Some requests were never answered.")
        .hidden();
    columns.table("Latency by percentile", steps)
}

/// The number of curves with a colour at first: a reader hardly distinguishes more.
pub(crate) const COLOURED: usize = 4;

/// A chart with a curve per service under that load.
pub(crate) fn chart(title: &str, y: &str, load: &str, alt: &str) -> Chart {
    Chart::new(Shape::Lines, "percentile", y, alt)
        .scales(Scale::Percentile, Scale::Log)
        .title(title)
        .n("answers")
        .only("load", load)
        .series("label")
        .among_grey(COLOURED)
}
