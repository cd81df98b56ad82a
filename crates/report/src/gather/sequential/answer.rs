//! The answer of a published experiment in a sentence or two: how its claims fared, and who is fastest here as far as intervals
//! tell. Medians alone are no ranking.

use std::collections::BTreeSet;

use tare_analysis::{
    estimate::Estimate,
    figures::{rate, time, times},
    sequential::{CellReport, PUBLISHED, PointReport},
    verdict::Verdict,
};
use tare_bench::plan::LoadSpec;

use super::{Experiment, load};
use crate::{
    document::{Status, Unit},
    gather::words::{either, span},
};

pub(crate) fn answer(run: &Experiment) -> String {
    let (done, all) = run.report.cells;
    let mut answer = match run.status() {
        Status::Complete => String::new(),
        Status::Interrupted => format!("Interrupted after {done} of {all} cells. "),
        Status::Running => format!("So far, {done} of {all} cells. "),
        Status::CutOff | Status::Unknown => format!("Cut off after {done} of {all} cells. "),
    };
    let figures = run.report.points.iter().flat_map(|point| &point.cells).any(|cell| cell.rounds > 0);
    if !figures {
        return answer + &nothing(run);
    }
    answer += &claims(run);
    if let Some(fastest) = fastest(run) {
        answer += &fastest;
    }
    answer.trim_end().to_owned()
}

fn nothing(run: &Experiment) -> String {
    let cells = run.cells(|_| true);
    let reason = cells.iter().find_map(|cell| Some(format!("{}: {}", cell.label(), cell.remarks()?)));
    match reason {
        Some(reason) => format!("No service has a figure. The first reason: {reason}"),
        None => "No service has a figure yet.".to_owned(),
    }
}

fn claims(run: &Experiment) -> String {
    let verdicts: Vec<Verdict> = run.report.claims.iter().map(|claim| claim.verdict).collect();
    let scale = match run.report.scale {
        1.0 => String::new(),
        scale => format!(" at scale {scale}"),
    };
    let directions: Vec<Verdict> = run.report.claims.iter().filter_map(|claim| claim.direction).collect();
    tally(&verdicts).map_or(String::new(), |tally| format!("{tally}{scale}. ")) + &ahead(&directions)
}

/// `In direction alone, of 4 claims 3 hold and 1 does not. `; empty if no claim names a side.
fn ahead(directions: &[Verdict]) -> String {
    let told =
        tally(directions).map(|tally| format!("In direction alone, {}. ", tally.replacen("Of", "of", 1)));
    told.unwrap_or_default()
}

/// `Of 5 claims 1 holds, 3 do not, and 1 is inconclusive`; absent if there is no claim.
pub(crate) fn tally(verdicts: &[Verdict]) -> Option<String> {
    let words = [
        (Verdict::Pass, "holds", "hold"),
        (Verdict::Fail, "does not", "do not"),
        (Verdict::Inconclusive, "is inconclusive", "are inconclusive"),
    ];
    let part = |(wanted, one, many)| match verdicts.iter().filter(|verdict| **verdict == wanted).count() {
        0 => (wanted == Verdict::Pass).then(|| "none holds".to_owned()),
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let parts: Vec<String> = words.into_iter().filter_map(part).collect();
    let told = match parts.as_slice() {
        [first, second, third] => format!("{first}, {second}, and {third}"),
        parts => parts.join(" and "),
    };
    let claims = if verdicts.len() == 1 { "claim" } else { "claims" };
    (!verdicts.is_empty()).then(|| format!("Of {} {claims} {told}", verdicts.len()))
}

/// Of batches: who has the shortest time under which load. Of others: who answers most where the load leaves it a choice.
fn fastest(run: &Experiment) -> Option<String> {
    if run.is_of_batches() {
        return shortest(run);
    }
    let is_free = |point: &&PointReport| {
        matches!(point.point.load, LoadSpec::Closed { .. } | LoadSpec::Sessions { .. })
    };
    let is_bound = |point: &PointReport| point.cells.iter().any(|cell| cell.load_bound.is_some());
    let rates = |point| figures(run, point, |cell| cell.per_second);
    let free = || run.report.points.iter().filter(is_free).filter(|point| !rates(point).is_empty());
    let unbound = || free().filter(|point| !is_bound(point));
    let Some(point) = unbound().find(|point| rates(point).len() > 1).or_else(|| unbound().next()) else {
        return free().next().map(|_| "The load and not the services set the rate.".to_owned());
    };
    let part = match point.point.part.as_str() {
        PUBLISHED => String::new(),
        part => format!(" in \"{part}\", which was not published"),
    };
    let mut rates = rates(point);
    rates.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    Some(of_rates(&rates, &part))
}

/// What rates say of who is first.
fn of_rates(best_first: &[(&str, Estimate)], part: &str) -> String {
    let shown = |value: f64| format!("{} requests/s", rate(value));
    let all = best_first.iter().map(|(label, rate)| (*label, rate.value));
    let all = span(Unit::PerSecond, all).unwrap_or_default();
    let tied = tied(best_first, |first, other| first.0 > other.1);
    match (tied.as_slice(), best_first) {
        (_, []) => String::new(),
        (_, [(label, only)]) => format!("Only {label} has a rate{part}: {}.", shown(only.value)),
        _ if best_first.iter().all(|(_, rate)| rate.interval().is_none()) => {
            format!("One round is no ranking. Measured{part}: {all} requests/s.")
        }
        ([label], [(_, first), (other, second), ..]) => {
            let ratio = times(first.value / second.value);
            format!("Fastest here{part}: {label} with {}, {ratio} the rate of {other}.", shown(first.value))
        }
        (tied, _) if tied.len() == best_first.len() => {
            format!(
                "None of {} services is shown to be the fastest here{part}: {all} requests/s.",
                tied.len()
            )
        }
        (tied, [(label, first), ..]) => {
            let first = shown(first.value);
            format!("Fastest here{part}: {}, not separable; {label} has {first}.", either(tied))
        }
    }
}

/// The figure of each service under a load. One that is wrong is not compared by how fast it is.
fn figures<'a>(
    run: &Experiment<'a>,
    point: &'a PointReport,
    of: impl Fn(&CellReport) -> Option<Estimate>,
) -> Vec<(&'a str, Estimate)> {
    let right = point.cells.iter().map(|cell| (&run.report.rows[cell.row], cell));
    let right = right.filter(|(row, _)| row.known_failure.is_none());
    right.filter_map(|(row, cell)| Some((row.label.as_str(), of(cell)?))).collect()
}

/// The first, and all that are not separated from it: those of which `is_apart` does not hold of both intervals. A figure of one
/// round has none, and is separated from nothing.
fn tied<'a>(
    best_first: &[(&'a str, Estimate)],
    is_apart: fn((f64, f64), (f64, f64)) -> bool,
) -> Vec<&'a str> {
    let Some((_, first)) = best_first.first() else { return Vec::new() };
    let is_apart = |other: &Estimate| {
        first.interval().zip(other.interval()).is_some_and(|(one, other)| is_apart(one, other))
    };
    let tied = best_first.iter().enumerate().filter(|(place, (_, other))| *place == 0 || !is_apart(other));
    tied.map(|(_, (label, _))| *label).collect()
}

/// Under how many loads which service is the shortest, where the intervals tell.
fn shortest(run: &Experiment) -> Option<String> {
    let times = |point| {
        let mut times = figures(run, point, |cell| cell.makespan_ns);
        times.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
        times
    };
    let loads: Vec<(&PointReport, Vec<(&str, Estimate)>)> = run
        .report
        .points
        .iter()
        .map(|point| (point, times(point)))
        .filter(|(_, times)| times.len() > 1)
        .collect();
    let winners: Vec<&str> = loads.iter().filter_map(|(_, times)| winner(times)).collect();
    let has_interval = loads.iter().flat_map(|(_, times)| times).any(|(_, time)| time.interval().is_some());
    let told = match loads.as_slice() {
        [] => None,
        _ if !has_interval => Some("One round is no ranking.".to_owned()),
        [(point, times)] => Some(of_one_load(point, times)),
        all => Some(of_loads(all.len(), &winners)),
    };
    let told: Vec<String> = told.into_iter().chain(stuck(run)).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// The one that is separated from all others.
fn winner<'a>(shortest_first: &[(&'a str, Estimate)]) -> Option<&'a str> {
    let tied = tied(shortest_first, is_shorter);
    tied.first().copied().filter(|_| tied.len() == 1)
}

fn is_shorter(first: (f64, f64), other: (f64, f64)) -> bool {
    first.1 < other.0
}

fn of_one_load(point: &PointReport, shortest_first: &[(&str, Estimate)]) -> String {
    let (label, took) = (shortest_first[0].0, time(shortest_first[0].1.value));
    let at = load(&point.point);
    match tied(shortest_first, is_shorter).as_slice() {
        [_] => format!("Shortest time here at {at}: {label} with {took}."),
        tied => format!("Shortest time here at {at}: {}, not separable; {label} has {took}.", either(tied)),
    }
}

/// `Shortest time here: restinio at 3 of 13 loads, pistache at 1; not separable at 9.`
fn of_loads(loads: usize, winners: &[&str]) -> String {
    let mut wins: Vec<(&str, usize)> = Vec::new();
    for winner in winners {
        match wins.iter_mut().find(|(label, _)| label == winner) {
            Some((_, count)) => *count += 1,
            None => wins.push((winner, 1)),
        }
    }
    wins.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let Some(((most, count), others)) = wins.split_first() else {
        return format!("Shortest time here: not separable at any of {loads} loads.");
    };
    let others: String = others.iter().map(|(label, count)| format!(", {label} at {count}")).collect();
    let unseparated = match loads - winners.len() {
        0 => String::new(),
        unseparated => format!("; not separable at {unseparated}"),
    };
    format!("Shortest time here: {most} at {count} of {loads} loads{others}{unseparated}.")
}

fn stuck(run: &Experiment) -> Option<String> {
    let stuck = run.report.points.iter().flat_map(|point| &point.cells).filter(|cell| cell.hung.is_some());
    let rows: BTreeSet<usize> = stuck.map(|cell| cell.row).collect();
    let labels: Vec<&str> = rows.into_iter().map(|row| run.report.rows[row].label.as_str()).collect();
    (!labels.is_empty()).then(|| format!("Stuck at some loads: {}.", labels.join(", ")))
}
