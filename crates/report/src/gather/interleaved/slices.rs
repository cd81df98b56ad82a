//! The slices in order of time, including dropped ones.

use std::collections::BTreeMap;

use tare_analysis::interleaved::{
    Report,
    slices::{ClassifiedSlice, Disposition, slices},
};
use tare_bench::{folder::StoredRun, plan::Plan, record::Record};

use crate::{
    document::{Chart, Section, Shape, Unit},
    gather::{
        columns::{Columns, six_digits},
        words::span,
    },
};

const LEAD: &str = "Every slice in the order of time. In a round each service has one slice; a round in which the machine did \
                    something else is left out for all of them, and drawn apart.";

/// The load of closed-loop slices, named as in the curves of latency.
pub(crate) const CLOSED: &str = "closed loop";

/// The number of series that are drawn at first: more lines cross too often.
const FIRST: usize = 4;

/// A slice, with the start of its block.
struct TimedSlice<'a> {
    classified: ClassifiedSlice<'a>,
    label: &'a str,
    load: String,
    block_began_ns: Option<u64>,
    /// CPUs of the service and of the generator.
    cpus: usize,
}

impl TimedSlice<'_> {
    fn interference_share(&self) -> Option<f64> {
        self.classified.interference_share(self.cpus)
    }
}

pub(crate) fn section<'a>(kept: &'a StoredRun, report: &Report) -> Section {
    let plan = &kept.header.plan;
    let begins = begins(&kept.records);
    let timed = |classified: ClassifiedSlice<'a>| {
        let slice = classified.slice;
        let label = plan.rows[slice.row].label.as_str();
        let block_began_ns = begins.get(&slice.block).copied();
        let cpus = plan.pinning_of(slice.row).all().len();
        TimedSlice { label, load: load(plan, slice.point), block_began_ns, cpus, classified }
    };
    let mut entries: Vec<TimedSlice> = slices(kept).into_iter().map(timed).collect();
    let places = report.rows.iter().enumerate().map(|(place, row)| (row.label.as_str(), place));
    let places: BTreeMap<&str, usize> = places.collect();
    // The twin has no rank.
    entries.sort_by_key(|entry| places.get(entry.label).copied().unwrap_or(usize::MAX));
    if entries.is_empty() {
        return Section::without("slices", "Slices", LEAD).note("no slice was measured");
    }
    let charts = charts(&entries);
    let table = columns().table("Slices in the order of time", entries);
    Section { charts, ..Section::new("slices", "Slices", LEAD, table) }
}

fn load(plan: &Plan, point: usize) -> String {
    match point {
        0 => CLOSED.to_owned(),
        open => format!("at {}", plan.points[open].part),
    }
}

/// When each block began, if that was stored; older runs did not store it.
fn begins(records: &[Record]) -> BTreeMap<usize, u64> {
    let begins = records.iter().filter_map(|record| match record {
        Record::Block(block) => Some((block.block, block.elapsed_ns)),
        _ => None,
    });
    let begins: BTreeMap<usize, u64> = begins.collect();
    if begins.len() > 1 && begins.values().all(|ns| *ns == 0) { BTreeMap::new() } else { begins }
}

fn columns<'a>() -> Columns<'a, TimedSlice<'a>> {
    Columns::new()
        .facet("label", "service", |entry: &TimedSlice| entry.label.to_owned())
        .facet("load", "load", |entry| entry.load.clone())
        .count("run_round", "round of the run", |entry| entry.classified.round + 1)
        .count("block", "block", |entry| entry.classified.slice.block + 1)
        .count("round", "round of the block", |entry| entry.classified.slice.round + 1)
        .ns("block_began_ns", "block began", |entry| entry.block_began_ns)
        .hidden()
        .rate("requests_per_second", "req/s", |entry| entry.classified.requests_per_second().map(six_digits))
        .ns("cpu_ns_per_request", "CPU/request", |entry| entry.classified.cpu_ns_per_request().map(six_digits))
        .ns("latency_ns_p99", "p99", |entry| {
            let slice = entry.classified.slice;
            let is_delayed = slice.host.ballast.is_some() && !slice.is_open();
            slice.load.latency.ns_at(0.99).filter(|_| slice.load.answered > 0 && !is_delayed)
        })
        .share("interference_share", "others", |entry| {
            entry.interference_share().map(six_digits)
        })
        .help(
            "of the measured CPUs; idle time is counted in ticks of 10 ms: of a short slice it is coarse, and may be more than \
             there was",
        )
        .flag("is_left_out", "left out", |entry| entry.classified.disposition != Disposition::Counts)
        .with(|column| column.facet())
        .text("why", "why", why)
}

fn why(entry: &TimedSlice) -> Option<String> {
    let own = entry.classified.disturbance.map(|disturbance| disturbance.text());
    match (entry.classified.disposition, own) {
        (Disposition::Counts, None) => None,
        (Disposition::Counts, Some(own)) => Some(format!("{own}, as in most rounds of its block")),
        (Disposition::Dropped, Some(own)) => Some(own.to_owned()),
        (Disposition::Dropped, None) => Some("another slice of its round was disturbed".to_owned()),
        (Disposition::Unpaired, _) => Some("another slice of its round has no figures".to_owned()),
        (Disposition::Cut, _) => Some("its round is not whole".to_owned()),
    }
}

fn charts(entries: &[TimedSlice]) -> Vec<Chart> {
    let closed = || entries.iter().filter(|entry| !entry.classified.slice.is_open());
    let all = closed().count();
    let left_out = closed().filter(|entry| entry.classified.disposition != Disposition::Counts).count();
    let chart = |key: &str, title: &str, unit: Unit, value: &dyn Fn(&TimedSlice) -> Option<f64>| {
        let figures = closed().filter_map(|entry| Some((entry.label, value(entry)?)));
        let alt = format!("{title}: {}; {left_out} of {all} slices are left out.", span(unit, figures)?);
        let chart = Chart::new(Shape::Lines, "run_round", key, &alt).title(title).series("label");
        Some(chart.apart("is_left_out").only("load", CLOSED).first(FIRST))
    };
    let (ns, share) = (Unit::Nanoseconds, Unit::Share);
    let charts = [
        chart("requests_per_second", "Requests a second", Unit::PerSecond, &|of| {
            of.classified.requests_per_second()
        }),
        chart("cpu_ns_per_request", "CPU per request", ns, &|of| of.classified.cpu_ns_per_request()),
        chart("interference_share", "Taken by others", share, &|of| of.interference_share()),
    ];
    charts.into_iter().flatten().collect()
}
