//! The rules: each looks at one row, at the runs of one server, or at all rows of a test.

use std::collections::BTreeMap;

use crate::{
    doubt::{About, Audit, Doubt, Finding},
    published::{Published, Row, Statistic},
};

/// What three printed digits, and windows that do not begin and end at the same instant, may make of an identity.
const ROUNDING: f64 = 0.05;
/// A mean latency that explains less than this share of the connections leaves something out.
const EXPLAINED_MIN: f64 = 0.9;
/// CPU time is read at other instants than those at which a load begins and ends.
const CPU_ROUNDING: f64 = 0.01;
/// Of requests: fewer that failed change no rate that is printed with three digits.
const FAILED_SHARE: f64 = 0.001;
/// Rows this near to the fastest of their test share its end.
const NEAR_THE_TOP: f64 = 0.9;
/// A server that used less of its CPUs was not at its limit.
const BUSY: f64 = 0.9;
/// Fewer rows at the same rate may be chance.
const CROWD: usize = 10;
/// Two runs of one server that differ by more make a rank of either worthless.
const RUNS_APART: f64 = 1.1;
/// From here on a quantile is one of the tail.
const TAIL: f64 = 0.9;

/// All doubts about what was published.
pub fn audit(published: &Published) -> Audit {
    let rows = published.rows.iter().enumerate();
    let of_rows = rows.flat_map(|(place, row)| of_row(row).into_iter().map(move |doubt| (place, doubt)));
    let mut of_rows: Vec<(usize, Doubt)> = of_rows.chain(idle_at_the_top(published)).collect();
    of_rows.extend(runs_that_differ(published));
    of_rows.sort_by_key(|(place, doubt)| (*place, doubt.rule()));
    let of_rows = of_rows.into_iter().map(|(place, doubt)| Finding { about: About::Row(place), doubt });
    let of_tests = published.tests().into_iter().flat_map(|test| {
        let doubts = [shared_ceiling(published, test), no_spread(published, test)];
        doubts.into_iter().flatten().map(|doubt| Finding { about: About::Test(test.to_owned()), doubt })
    });
    Audit { findings: of_rows.chain(of_tests).collect() }
}

/// A rule that looks at one row.
type OfARow = fn(&Row) -> Option<Doubt>;

const OF_A_ROW: [OfARow; 8] = [
    below_zero,
    out_of_order,
    mean_as_quantile,
    mislabelled,
    in_flight,
    more_cpu,
    other_rate,
    failures_counted,
];

fn of_row(row: &Row) -> Vec<Doubt> {
    OF_A_ROW.iter().filter_map(|rule| rule(row)).collect()
}

fn below_zero(row: &Row) -> Option<Doubt> {
    let mean = row.latency.ns_mean.map(|ns| (Statistic::Mean, ns));
    let stated = row.latency.in_order().into_iter().chain(mean);
    let (what, ns) = stated.into_iter().find(|(_, ns)| *ns < 0.0)?;
    Some(Doubt::BelowZero { what, ns })
}

/// The first pair. What is below zero is another rule's.
fn out_of_order(row: &Row) -> Option<Doubt> {
    let stated: Vec<_> = row.latency.in_order().into_iter().filter(|(_, ns)| *ns >= 0.0).collect();
    let fall = stated.windows(2).find(|pair| pair[0].1 > pair[1].1).map(|pair| (pair[0], pair[1]));
    let mean = row.latency.ns_mean.filter(|ns| *ns >= 0.0).map(|ns| (Statistic::Mean, ns));
    let end = |wanted: Statistic| stated.iter().copied().find(|(what, _)| *what == wanted);
    let above = mean.zip(end(Statistic::Maximum)).filter(|(mean, max)| mean.1 > max.1);
    let below = end(Statistic::Minimum).zip(mean).filter(|(min, mean)| min.1 > mean.1);
    let (less, more) = fall.or(above).or(below)?;
    Some(Doubt::OutOfOrder { less, more })
}

/// To the last digit that was published, and not where all requests took the same.
fn mean_as_quantile(row: &Row) -> Option<Doubt> {
    let mean = row.latency.ns_mean.filter(|ns| *ns > 0.0 && row.latency.ns_max != Some(*ns))?;
    let is_it = |(probability, ns): &&(f64, f64)| *probability >= TAIL && *ns == mean;
    let (probability, ns) = *row.latency.quantiles_ns.iter().find(is_it)?;
    Some(Doubt::QuantileIsMean { probability, ns })
}

/// Only the source itself can say so: a p95 looks like any p99.
fn mislabelled(row: &Row) -> Option<Doubt> {
    let label = row.mislabelled?;
    let (_, ns) = *row.latency.quantiles_ns.iter().find(|(probability, _)| *probability == label.is)?;
    Some(Doubt::QuantileMislabelled { label, ns })
}

/// Little's law. Where the clients pause, or connections are opened under way, fewer requests than connections are no surprise.
fn in_flight(row: &Row) -> Option<Doubt> {
    let slots = row.load.slots.filter(|slots| *slots > 0.0)?;
    let in_flight = row.per_second? * row.latency.ns_mean.filter(|ns| *ns > 0.0)? / 1e9;
    if in_flight > slots * (1.0 + ROUNDING) {
        return Some(Doubt::TooManyInFlight { in_flight, slots });
    }
    let slots = row.load.under_way.unwrap_or(slots);
    let is_explained = row.load.thinks || row.load.reconnects || in_flight >= slots * EXPLAINED_MIN;
    (!is_explained).then_some(Doubt::TooFewInFlight { in_flight, slots })
}

fn more_cpu(row: &Row) -> Option<Doubt> {
    let (used, cpus) = row.cpus_used.zip(row.cpus)?;
    (used > cpus * (1.0 + CPU_ROUNDING)).then_some(Doubt::MoreCpu { used, cpus })
}

fn other_rate(row: &Row) -> Option<Doubt> {
    let (per_second, counted_per_second) = (row.per_second?, counted(row)?);
    let ratio = per_second / counted_per_second;
    let agrees = (1.0 - ROUNDING..=1.0 + ROUNDING).contains(&ratio);
    // A rate of what succeeded alone is right too.
    let without = row.failed.map(|failed| counted_per_second - failed / row.elapsed_s.unwrap_or(1.0));
    let agrees_without = without.is_some_and(|counted| (per_second / counted - 1.0).abs() <= ROUNDING);
    (!agrees && !agrees_without).then_some(Doubt::OtherRate { per_second, counted_per_second })
}

fn failures_counted(row: &Row) -> Option<Doubt> {
    let (failed, requests) = (row.failed?, row.requests.filter(|requests| *requests > 0.0)?);
    if failed <= requests * FAILED_SHARE {
        return None;
    }
    let with = counted(row)?;
    let without = with * (1.0 - (failed / requests).min(1.0));
    let stated = row.per_second?;
    let are_counted = (stated - with).abs() < (stated - without).abs();
    are_counted.then_some(Doubt::FailuresCounted { failed, requests })
}

/// Requests a second by the counts.
fn counted(row: &Row) -> Option<f64> {
    let elapsed_s = row.elapsed_s.filter(|elapsed_s| *elapsed_s > 0.0)?;
    row.requests.filter(|requests| *requests > 0.0).map(|requests| requests / elapsed_s)
}

/// The fastest row of a test, and those near to it. A single row is at no top.
fn idle_at_the_top(published: &Published) -> Vec<(usize, Doubt)> {
    let at_the_top = published.tests().into_iter().flat_map(|test| top_of(published, test));
    let idle = at_the_top.filter_map(|place| {
        let (used, cpus) = published.rows[place].cpus_used.zip(published.rows[place].cpus)?;
        (used < cpus * BUSY).then_some((place, Doubt::IdleAtTheTop { used, cpus }))
    });
    idle.collect()
}

/// The places of the rows near to the fastest one, if there is more than one row.
fn top_of(published: &Published, test: &str) -> Vec<usize> {
    let rows = published.of_test(test);
    let rate = |place: &usize| published.rows[*place].per_second.unwrap_or(0.0);
    let most = rows.iter().map(rate).fold(0.0, f64::max);
    if rows.len() < 2 || most <= 0.0 {
        return Vec::new();
    }
    rows.into_iter().filter(|place| rate(place) >= most * NEAR_THE_TOP).collect()
}

fn shared_ceiling(published: &Published, test: &str) -> Option<Doubt> {
    let top = top_of(published, test);
    let is_unknown = |place: &usize| published.rows[*place].cpus_used.is_none();
    let per_second_max = top.iter().filter_map(|place| published.rows[*place].per_second).fold(0.0, f64::max);
    let of = published.of_test(test).len();
    (top.len() >= CROWD && top.iter().all(is_unknown)).then_some(Doubt::SharedCeiling {
        rows: top.len(),
        of,
        per_second_max,
    })
}

/// Rows that are the same server under the same load, at the first of them.
fn runs_that_differ(published: &Published) -> Vec<(usize, Doubt)> {
    let mut runs: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (place, row) in published.rows.iter().enumerate().filter(|(_, row)| !row.has_interval) {
        runs.entry((&row.test, &row.name)).or_default().push(place);
    }
    let differ = runs.into_values().filter_map(|places| {
        let rates: Vec<f64> = places.iter().filter_map(|place| published.rows[*place].per_second).collect();
        let per_second_min = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let per_second_max = rates.iter().copied().fold(0.0, f64::max);
        (rates.len() > 1 && per_second_max > per_second_min * RUNS_APART)
            .then_some((places[0], Doubt::RunsDiffer { runs: rates.len(), per_second_min, per_second_max }))
    });
    differ.collect()
}

fn no_spread(published: &Published, test: &str) -> Option<Doubt> {
    let rows = published.of_test(test);
    let mut names: Vec<&str> = rows.iter().map(|place| published.rows[*place].name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let is_ranked = names.len() > 1 && names.len() == rows.len();
    let has_none = rows.iter().all(|place| !published.rows[*place].has_interval);
    (is_ranked && has_none).then_some(Doubt::NoSpread { rows: rows.len() })
}

#[cfg(test)]
mod tests;
