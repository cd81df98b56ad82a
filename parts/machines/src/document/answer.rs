//! The answer in a sentence or two.

use tare_analysis::figures::{parts, percent};
use tare_base::units::several;
use tare_report::{document::Unit, gather::words::Headline};

use crate::{Agreement, Merged, OverMachines, PooledRatio, PooledRow, RatioMetric};

/// The most rows in a sentence.
const NAMED_MAX: usize = 4;
/// The most classes in a sentence.
const CLASSES_MAX: usize = 4;

pub(super) fn answer(merged: &Merged) -> Headline {
    let rows = &merged.loads[0].rows;
    let count = merged.counted().count();
    let metrics = RatioMetric::ALL.into_iter();
    let has = |metric: &RatioMetric| rows.iter().any(|row| row.of(*metric).all.figure().is_some());
    let Some(metric) = metrics.clone().find(has) else {
        let why =
            if count == 0 { "every machine is left out" } else { "no service has a ratio to the reference" };
        return format!("Nothing can be said: {why}.").into();
    };
    let reference = merged.runs[0].run.plan().reference();
    let known: Vec<&PooledRow> = rows.iter().filter(|row| row.of(metric).all.figure().is_some()).collect();
    let mut named: Vec<String> = known
        .iter()
        .take(NAMED_MAX)
        .enumerate()
        .map(|(place, row)| figure(row, metric, (place == 0).then_some(reference)))
        .collect();
    if known.len() > NAMED_MAX {
        named.push(format!("and {} more", known.len() - NAMED_MAX));
    }
    let said = match (count, known.as_slice()) {
        (1, _) => "Nothing is pooled: one machine counts.".to_owned(),
        (_, [only]) => format!("Over {} {}.", several(count, "machine"), short(only, metric, reference)),
        (_, [first, ..]) => {
            let of = several(known.len(), "service");
            format!("Over {}, of {of}, {}.", several(count, "machine"), short(first, metric, reference))
        }
        (_, []) => String::new(),
    };
    let separator = if count > 1 && merged.classes().len() > 1 { "; " } else { ", " };
    let named = named.join(separator);
    let mut answer = match count {
        1 => format!("Nothing is pooled: one machine counts. There {named}"),
        _ => format!("Over {}: {named}", several(count, "machine")),
    };
    answer.push('.');
    answer += &differ(merged, metric, known.len());
    answer += &left_out(merged);
    Headline::new(said, answer)
}

/// `axum has 64.1% of raw-socket's throughput`.
fn short(row: &PooledRow, metric: RatioMetric, reference: &str) -> String {
    let value = row.of(metric).all.figure().map_or(String::new(), |found| percent(found.value));
    format!("{} has {value} of {reference}'s {}", row.label, metric.name())
}

/// `axum has 64.1% of raw-socket's throughput (58.0 to 70.3%; aarch64 61.0%, x86_64 66.2%)`; the first figure
/// names its quantity.
fn figure(row: &PooledRow, metric: RatioMetric, reference: Option<&str>) -> String {
    let ratio = row.of(metric);
    let of = reference.map_or(String::new(), |reference| format!(" of {reference}'s {}", metric.name()));
    let value = ratio.all.figure().map_or(String::new(), |found| percent(found.value));
    let inside = [interval(ratio), machines(ratio), classes(ratio)];
    let inside: Vec<String> = inside.into_iter().flatten().collect();
    let inside = if inside.is_empty() { String::new() } else { format!(" ({})", inside.join("; ")) };
    format!("{} has {value}{of}{inside}", row.label)
}

/// The interval over machines; `None` for one machine.
fn interval(ratio: &PooledRatio) -> Option<String> {
    let (low, high) = ratio.all.mean()?.interval()?;
    let (digits, unit) = parts::percent(low);
    let low = if unit == "%" { digits } else { percent(low) };
    Some(format!("{low} to {}", percent(high)))
}

/// The number of machines, if some do not count.
fn machines(ratio: &PooledRatio) -> Option<String> {
    let (known, all) = (ratio.all.machines(), ratio.each.len());
    (known < all && known > 1).then(|| format!("on {known} of {all} machines"))
}

fn classes(ratio: &PooledRatio) -> Option<String> {
    let several = 2..=CLASSES_MAX;
    let of = |(class, found): &(String, OverMachines)| {
        Some(format!("{class} {}", Unit::Share.show(found.figure()?.value)))
    };
    let named: Vec<String> = ratio.classes.iter().filter_map(of).collect();
    several.contains(&named.len()).then(|| named.join(", "))
}

fn differ(merged: &Merged, metric: RatioMetric, known: usize) -> String {
    let rows = merged.loads[0].rows.iter();
    let count = rows.filter(|row| matches!(row.of(metric).agreement, Agreement::Differ { .. })).count();
    match (count, known) {
        (0, _) => String::new(),
        (1, 1) => " Machines differ in it.".to_owned(),
        _ => format!(" Machines differ in {count} of {}.", several(known, "service")),
    }
}

fn left_out(merged: &Merged) -> String {
    match merged.machines.len() - merged.counted().count() {
        0 => String::new(),
        1 => " 1 machine is left out, with its reason.".to_owned(),
        count => format!(" {count} machines are left out, each with its reason."),
    }
}
