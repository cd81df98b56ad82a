//! The slices in the order of time: what was measured, and what of it was left out.

use std::collections::BTreeMap;

use tare_analysis::report::{
    Report,
    slices::{Fate, Weighed, slices},
};
use tare_bench::run::{folder::Kept, record::Record};

use crate::{
    document::{Chart, Column, Section, Shape, Table, Unit},
    gather::fields::{Field, field, six_digits, span, spare, table},
};

const LEAD: &str = "Every slice in the order of time. In a round each service has one slice; a round in which the machine did \
                    something else is left out for all of them, and drawn apart.";
/// The load of slices in a closed loop, as in the curves of latency.
const CLOSED: &str = "closed loop";
/// Series that are drawn at first: more lines cross too often to be followed.
const FIRST: usize = 4;

/// A slice, and when its block began.
struct Entry<'a> {
    weighed: Weighed<'a>,
    label: &'a str,
    load: String,
    block_began_ns: Option<u64>,
}

pub(crate) fn section<'a>(kept: &'a Kept, report: &Report) -> Section {
    let places = report.rows.iter().enumerate().map(|(place, row)| (row.label.as_str(), place));
    let places: BTreeMap<&str, usize> = places.collect();
    let begins = begins(&kept.records);
    let plan = &kept.header.plan;
    let load = |weighed: &Weighed| match weighed.slice.point {
        0 => CLOSED.to_owned(),
        open => plan
            .latency
            .as_ref()
            .map_or(String::new(), |latency| format!("at {}", latency.points[open - 1].label())),
    };
    let entry = |weighed: Weighed<'a>| Entry {
        block_began_ns: None,
        label: &plan.rows[weighed.slice.row].label,
        load: load(&weighed),
        weighed,
    };
    let mut entries: Vec<Entry> = slices(kept).into_iter().map(entry).collect();
    for entry in &mut entries {
        entry.block_began_ns = begins.get(&entry.weighed.slice.block).copied();
    }
    entries.sort_by_key(|entry| places.get(entry.label).copied());
    if entries.is_empty() {
        return Section::without("slices", "Slices", LEAD).note("no slice was measured");
    }
    let cpus = kept.header.plan.pinning.all().len();
    let charts = charts(&entries, cpus);
    let table = spare(entries_table(entries, cpus), &["block_began_ns", "interference_share", "why"]);
    let mut section = Section::new("slices", "Slices", LEAD, table);
    section.charts = charts;
    section
}

/// When each block began, where that was kept: an older run has no such times.
fn begins(records: &[Record]) -> BTreeMap<usize, u64> {
    let begins = records.iter().filter_map(|record| match record {
        Record::Block(block) => Some((block.block, block.elapsed_ns)),
        _ => None,
    });
    let begins: BTreeMap<usize, u64> = begins.collect();
    if begins.len() > 1 && begins.values().all(|ns| *ns == 0) { BTreeMap::new() } else { begins }
}

fn entries_table(entries: Vec<Entry>, cpus: usize) -> Table {
    let number = Column::new;
    let mut fields: Vec<Field<Entry>> = vec![
        field(number("label", "service", Unit::Text).facet(), |entry: &Entry| entry.label.to_owned()),
        field(number("load", "load", Unit::Text).facet(), |entry: &Entry| entry.load.clone()),
        field(number("run_round", "round of the run", Unit::Count), |entry: &Entry| entry.weighed.round + 1),
        field(number("block", "block", Unit::Count), |entry: &Entry| entry.weighed.slice.block + 1),
        field(number("round", "round of the block", Unit::Count), |entry: &Entry| {
            entry.weighed.slice.round + 1
        }),
        field(number("block_began_ns", "block began", Unit::Nanoseconds).hidden(), |entry: &Entry| {
            entry.block_began_ns
        }),
    ];
    fields.extend([
        field(number("requests_per_second", "req/s", Unit::PerSecond), |entry: &Entry| {
            entry.weighed.requests_per_second().map(six_digits)
        }),
        field(number("cpu_ns_per_request", "CPU/request", Unit::Nanoseconds), |entry: &Entry| {
            entry.weighed.cpu_ns_per_request().map(six_digits)
        }),
        field(number("latency_ns_p99", "p99", Unit::Nanoseconds), |entry: &Entry| {
            let load = &entry.weighed.slice.load;
            load.latency.ns_at(0.99).filter(|_| load.answered > 0)
        }),
        field(
            number("interference_share", "others", Unit::Share)
                .help(
                    "of the measured CPUs; idle time is counted in ticks of 10 ms: of a short slice it is coarse, and may be \
                     more than there was",
                ),
            move |entry: &Entry| entry.weighed.foreign_cpu_share(cpus).map(six_digits),
        ),
        field(number("is_left_out", "left out", Unit::Flag).facet(), |entry: &Entry| {
            entry.weighed.fate != Fate::Counts
        }),
        field(number("why", "why", Unit::Text), why),
    ]);
    table("Slices in the order of time", fields, entries)
}

fn why(entry: &Entry) -> Option<String> {
    let own = entry.weighed.disturbance.map(|disturbance| disturbance.text());
    match (entry.weighed.fate, own) {
        (Fate::Counts, None) => None,
        (Fate::Counts, Some(own)) => Some(format!("{own}, as in most rounds of its block")),
        (Fate::Dropped, Some(own)) => Some(own.to_owned()),
        (Fate::Dropped, None) => Some("another slice of its round was disturbed".to_owned()),
        (Fate::Cut, _) => Some("its round is not whole".to_owned()),
    }
}

fn charts(entries: &[Entry], cpus: usize) -> Vec<Chart> {
    let closed = || entries.iter().filter(|entry| !entry.weighed.slice.is_open());
    let all = closed().count();
    let left_out = closed().filter(|entry| entry.weighed.fate != Fate::Counts).count();
    type Figure<'a> = &'a dyn Fn(&Weighed) -> Option<f64>;
    let chart = |key: &str, title: &str, unit: Unit, value: Figure| {
        let figures = closed().filter_map(|entry| Some((entry.label, value(&entry.weighed)?)));
        let alt = format!("{title}: {}; {left_out} of {all} slices are left out.", span(unit, figures)?);
        let chart = Chart::new(Shape::Lines, "run_round", key, &alt).series("label");
        Some(Chart {
            title: title.to_owned(),
            apart: Some("is_left_out".to_owned()),
            only: Some(["load".to_owned(), CLOSED.to_owned()]),
            first: Some(FIRST),
            ..chart
        })
    };
    let charts = [
        chart("requests_per_second", "Requests a second", Unit::PerSecond, &|weighed| {
            weighed.requests_per_second()
        }),
        chart("cpu_ns_per_request", "CPU per request", Unit::Nanoseconds, &|weighed| {
            weighed.cpu_ns_per_request()
        }),
        chart("interference_share", "Taken by others", Unit::Share, &|weighed| {
            weighed.foreign_cpu_share(cpus)
        }),
    ];
    charts.into_iter().flatten().collect()
}
