//! The rules: each examines one row, the runs of one server, or all rows of a test.

use std::collections::BTreeMap;

use crate::{
    doubt::{Audit, AuditFinding, AuditIssue, DoubtSubject},
    published::{AuditRow, CountedRequests, Published, Statistic},
};

/// The relative error of an identity because of three printed digits and windows that do not match exactly.
const ROUNDING: f64 = 0.05;
/// If the mean latency explains less than this share of the connections, something is missing.
const EXPLAINED_MIN: f64 = 0.9;
/// Histograms with three digits, as some tools have, may return neighbouring values for one latency.
const HISTOGRAM: f64 = 0.001;
/// A mean with fewer steps of its last digit may equal a quantile by chance.
const STEPS_MIN: f64 = 100.0;
/// CPU time is not read exactly at the start and end of a load.
const CPU_ROUNDING: f64 = 0.01;
/// A smaller share of failed requests does not change a rate with three digits.
const FAILED_SHARE: f64 = 0.001;
/// Rows at this share of the fastest or above count as the top of their test.
const NEAR_THE_TOP: f64 = 0.9;
/// A server that used a smaller share of its CPUs was not at its limit.
const BUSY: f64 = 0.9;
/// Fewer rows at the same rate may be chance.
const CROWD: usize = 10;
/// If two runs of one server differ by more, a rank of either is meaningless.
const RUNS_APART: f64 = 1.1;
/// The probability from which a quantile belongs to the tail.
const TAIL: f64 = 0.9;

/// All findings about the published figures.
pub fn audit(published: &Published) -> Audit {
    let rows = published.rows.iter().enumerate();
    let of_rows = rows.flat_map(|(place, row)| of_row(row).into_iter().map(move |doubt| (place, doubt)));
    let mut of_rows: Vec<(usize, AuditIssue)> = of_rows.chain(idle_at_the_top(published)).collect();
    of_rows.extend(runs_that_differ(published));
    of_rows.sort_by_key(|(place, doubt)| (*place, doubt.rule()));
    let of_rows =
        of_rows.into_iter().map(|(place, doubt)| AuditFinding { about: DoubtSubject::Row(place), doubt });
    // Outputs of a tool are no table, so they have no ranks.
    let tests = if published.source.is_suite() { published.tests() } else { Vec::new() };
    let of_tests = tests.into_iter().flat_map(|test| {
        let doubts = [shared_ceiling(published, test), no_spread(published, test)];
        doubts
            .into_iter()
            .flatten()
            .map(|doubt| AuditFinding { about: DoubtSubject::Test(test.to_owned()), doubt })
    });
    Audit { findings: of_rows.chain(of_tests).collect() }
}

/// A rule about a single row.
type OfARow = fn(&AuditRow) -> Option<AuditIssue>;

const OF_A_ROW: [OfARow; 9] = [
    below_zero,
    out_of_order,
    mean_as_quantile,
    mislabelled,
    in_flight,
    more_cpu,
    other_rate,
    failed,
    checks_failed,
];

fn of_row(row: &AuditRow) -> Vec<AuditIssue> {
    OF_A_ROW.iter().filter_map(|rule| rule(row)).collect()
}

fn below_zero(row: &AuditRow) -> Option<AuditIssue> {
    let mean = row.latency.ns_mean.map(|ns| (Statistic::Mean, ns));
    let stated = row.latency.in_order().into_iter().chain(mean);
    let (what, ns) = stated.into_iter().find(|(_, ns)| *ns < 0.0)?;
    Some(AuditIssue::BelowZero { what, ns })
}

/// The first pair in the wrong order by more than rounding. Negative values are another rule's.
fn out_of_order(row: &AuditRow) -> Option<AuditIssue> {
    let stated: Vec<_> = row.latency.in_order().into_iter().filter(|(_, ns)| *ns >= 0.0).collect();
    let is_above = |less: f64, more: f64| less > more * (1.0 + HISTOGRAM) + row.latency.step_ns;
    let fall = stated.windows(2).find(|pair| is_above(pair[0].1, pair[1].1)).map(|pair| (pair[0], pair[1]));
    let mean = row.latency.ns_mean.filter(|ns| *ns >= 0.0).map(|ns| (Statistic::Mean, ns));
    let end = |wanted: Statistic| stated.iter().copied().find(|(what, _)| *what == wanted);
    let above = mean.zip(end(Statistic::Maximum)).filter(|(mean, max)| is_above(mean.1, max.1));
    let below = end(Statistic::Minimum).zip(mean).filter(|(min, mean)| is_above(min.1, mean.1));
    let (less, more) = fall.or(above).or(below)?;
    Some(AuditIssue::OutOfOrder { less, more })
}

/// Compares to the last published digit, if there are enough, unless all requests took the same time.
fn mean_as_quantile(row: &AuditRow) -> Option<AuditIssue> {
    let has_digits = |ns: f64| ns > 0.0 && ns >= row.latency.step_ns * STEPS_MIN;
    let mean = row.latency.ns_mean.filter(|ns| has_digits(*ns) && row.latency.ns_max != Some(*ns))?;
    let is_it = |(probability, ns): &&(f64, f64)| *probability >= TAIL && *ns == mean;
    let (probability, ns) = *row.latency.quantiles_ns.iter().find(is_it)?;
    Some(AuditIssue::QuantileIsMean { probability, ns })
}

/// Only the source itself reveals it: a p95 looks like any p99.
fn mislabelled(row: &AuditRow) -> Option<AuditIssue> {
    let label = row.mislabelled?;
    let (_, ns) = row.latency.in_order().into_iter().find(|(what, _)| *what == label.is)?;
    Some(AuditIssue::QuantileMislabelled { label, ns })
}

/// Little's law, for any mean within its last digit. If clients pause, or connections are opened during the
/// load, fewer requests than connections are normal.
fn in_flight(row: &AuditRow) -> Option<AuditIssue> {
    let slots = row.load.slots.filter(|slots| *slots > 0.0)?;
    let (per_second, ns_mean) = (row.per_second?, row.latency.ns_mean.filter(|ns| *ns > 0.0)?);
    let with_mean = |ns: f64| per_second * ns / 1e9;
    let in_flight = with_mean(ns_mean);
    if with_mean(ns_mean - row.latency.step_ns) > slots * (1.0 + ROUNDING) {
        return Some(AuditIssue::TooManyInFlight { in_flight, slots, timing: row.timing });
    }
    let slots = row.load.under_way.unwrap_or(slots);
    let reaches = with_mean(ns_mean + row.latency.step_ns) >= slots * EXPLAINED_MIN;
    let is_explained = row.load.thinks || row.load.paced || row.load.reconnects || reaches;
    (!is_explained).then_some(AuditIssue::TooFewInFlight { in_flight, slots })
}

fn more_cpu(row: &AuditRow) -> Option<AuditIssue> {
    let (used, cpus) = row.cpus_used.zip(row.cpus)?;
    (used > cpus * (1.0 + CPU_ROUNDING)).then_some(AuditIssue::MoreCpu { used, cpus })
}

fn other_rate(row: &AuditRow) -> Option<AuditIssue> {
    let (per_second, counts) = (row.per_second?, row.counts.filter(|counts| counts.judged() > 0.0)?);
    let elapsed_s = row.elapsed_s.filter(|elapsed_s| *elapsed_s > 0.0)?;
    // A rate of successes only is correct too, and so is one of all attempts.
    let all = [CountedRequests::Answered, CountedRequests::Ended, CountedRequests::Succeeded];
    let agrees = |by: &CountedRequests| {
        (per_second * elapsed_s - counts.counted(*by)).abs() <= counts.counted(*by) * ROUNDING
    };
    let counted_per_second = counts.counted(row.counted) / elapsed_s;
    (!all.iter().any(agrees)).then_some(AuditIssue::OtherRate { per_second, counted_per_second })
}

/// The share needs no time.
fn failed(row: &AuditRow) -> Option<AuditIssue> {
    let counts = row.counts?;
    (counts.failed() > counts.judged() * FAILED_SHARE)
        .then_some(AuditIssue::Failed { counts, counted: row.counted })
}

fn checks_failed(row: &AuditRow) -> Option<AuditIssue> {
    row.checks.filter(|checks| checks.failed > checks.of * FAILED_SHARE).map(AuditIssue::ChecksFailed)
}

/// Whether its rate was limited by the server or another bottleneck, and not by a requested rate.
fn is_free(row: &AuditRow) -> bool {
    !row.load.paced
}

/// The fastest row of a test, and those close to it. A test with a single row has no top.
fn idle_at_the_top(published: &Published) -> Vec<(usize, AuditIssue)> {
    let at_the_top = published.tests().into_iter().flat_map(|test| top_of(published, test));
    let idle = at_the_top.filter_map(|place| {
        let (used, cpus) = published.rows[place].cpus_used.zip(published.rows[place].cpus)?;
        (used < cpus * BUSY).then_some((place, AuditIssue::IdleAtTheTop { used, cpus }))
    });
    idle.collect()
}

/// The indices of the rows close to the fastest one, if there is more than one row.
fn top_of(published: &Published, test: &str) -> Vec<usize> {
    let mut rows = published.of_test(test);
    rows.retain(|place| is_free(&published.rows[*place]));
    let rate = |place: &usize| published.rows[*place].per_second.unwrap_or(0.0);
    let most = rows.iter().map(rate).fold(0.0, f64::max);
    if rows.len() < 2 || most <= 0.0 {
        return Vec::new();
    }
    rows.into_iter().filter(|place| rate(place) >= most * NEAR_THE_TOP).collect()
}

fn shared_ceiling(published: &Published, test: &str) -> Option<AuditIssue> {
    let top = top_of(published, test);
    let is_unknown = |place: &usize| published.rows[*place].cpus_used.is_none();
    let per_second_max = top.iter().filter_map(|place| published.rows[*place].per_second).fold(0.0, f64::max);
    let of = published.of_test(test).len();
    (top.len() >= CROWD && top.iter().all(is_unknown)).then_some(AuditIssue::SharedCeiling {
        rows: top.len(),
        of,
        per_second_max,
    })
}

/// Rows of the same server under the same load, reported at the first of them.
fn runs_that_differ(published: &Published) -> Vec<(usize, AuditIssue)> {
    let mut runs: BTreeMap<(&str, &str, Option<u64>), Vec<usize>> = BTreeMap::new();
    let are_compared = |row: &AuditRow| !row.has_interval && is_free(row);
    for (place, row) in published.rows.iter().enumerate().filter(|(_, row)| are_compared(row)) {
        let slots = row.load.slots.map(f64::to_bits);
        runs.entry((&row.test, &row.name, slots)).or_default().push(place);
    }
    let differ = runs.into_values().filter_map(|places| {
        let rates: Vec<f64> = places.iter().filter_map(|place| published.rows[*place].per_second).collect();
        let per_second_min = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let per_second_max = rates.iter().copied().fold(0.0, f64::max);
        (rates.len() > 1 && per_second_max > per_second_min * RUNS_APART).then_some((
            places[0],
            AuditIssue::RunsDiffer { runs: rates.len(), per_second_min, per_second_max },
        ))
    });
    differ.collect()
}

fn no_spread(published: &Published, test: &str) -> Option<AuditIssue> {
    let mut rows = published.of_test(test);
    rows.retain(|place| is_free(&published.rows[*place]));
    let mut names: Vec<&str> = rows.iter().map(|place| published.rows[*place].name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let is_ranked = names.len() > 1 && names.len() == rows.len();
    let has_none = rows.iter().all(|place| !published.rows[*place].has_interval);
    (is_ranked && has_none).then_some(AuditIssue::NoSpread { rows: rows.len() })
}

#[cfg(test)]
mod tests;
