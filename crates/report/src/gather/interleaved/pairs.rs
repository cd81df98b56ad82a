//! Pairs of services: the data for a page that compares any two.

use tare_analysis::{
    estimate::UnitEstimate,
    interleaved::{PairRatios, pair_ratios},
    loads::AtLoad,
};
use tare_bench::folder::StoredRun;

use crate::{
    document::{Section, Unit},
    gather::columns::{Columns, four_digits},
};

const LEAD: &str = "What the first of two services is of the second, paired by the blocks in which both were measured. Each interval \
                    is of its pair alone. Two ranked services are separated with all ranked pairs allowed for; a reference and \
                    another service as a pair alone.";

/// The pairs of the main table's load; `None` without two services with figures.
pub(super) fn section(first: &StoredRun, at: &AtLoad, has_others: bool) -> Option<Section> {
    let pairs = pair_ratios(first, &at.report);
    if pairs.is_empty() {
        return None;
    }
    let by = at.report.ranks.as_ref().filter(|ranks| ranks.are_known()).map(|ranks| ranks.by.to_string());
    let has_database = pairs.iter().any(|pair| pair.total_cpu.is_some());
    let table = columns(by, has_database).table("Pairs of services", pairs);
    let section = Section::new("pairs", "Any two services", LEAD, table);
    Some(match has_others {
        true => section.note(format!("at {}", at.load.label())),
        false => section,
    })
}

/// Rounded, because there are thousands of rows, and a reader sees three digits.
fn brief(estimate: Option<UnitEstimate>) -> Option<UnitEstimate> {
    let UnitEstimate { value, low, high, .. } = estimate?;
    let [low, high] = [low, high].map(|end| end.map(four_digits));
    Some(UnitEstimate { value: four_digits(value), low, high, ..estimate? })
}

/// The ratio of both together, in a run with a database.
fn total<'a>() -> Columns<'a, PairRatios> {
    Columns::new()
        .estimate(Unit::Times, "total_cpu_ratio", "service + database of second", |pair: &PairRatios| {
            brief(pair.total_cpu)
        })
        .help("CPU time of service and database for each answer, of the first related to the second's in the same block")
}

fn columns<'a>(by: Option<String>, has_database: bool) -> Columns<'a, PairRatios> {
    Columns::new()
        .text("first", "first", |pair: &PairRatios| pair.first.clone())
        .text("second", "second", |pair| pair.second.clone())
        .and(if has_database { total() } else { Columns::new() })
        .estimate(Unit::Times, "cpu_ratio", "CPU of second", |pair| brief(pair.cpu))
        .help("CPU per request of the first related to the second's in the same block, with a 95% interval")
        .bounded(
            Unit::Times,
            "throughput_ratio",
            "throughput of second",
            |pair| brief(pair.throughput),
            |pair| pair.throughput_bound,
        )
        .help("throughput of the first related to the second's in the same block, with a 95% interval; absent if one is not valid")
        .count("blocks", "blocks", |pair| pair.blocks)
        .help("blocks in which both were measured")
        .flag("separated", "separated", |pair| pair.separated)
        .help("whether the data separate them: with 95% for all ranked pairs together, or for a pair with a reference alone")
        .text("separated_by", "separated by", move |_| by.clone())
        .hidden()
        .share("differ_most", "differ by less than", |pair| pair.differ_most)
        .hidden()
}
