//! What came out of a run, in a sentence or two: what is read first. It claims no order that the data do not support.

use tare_analysis::{
    findings::{Issue, RowIssue},
    interleaved::{
        Ranks, Report, RowReport, State,
        figures::{rate, several, time},
    },
    loads::AtLoad,
    verdict::{Question, Verdict},
};
use tare_bench::{metric::Metric, record::Ending};

use crate::{
    document::Unit,
    gather::words::{either, span, with_interval},
};

/// A sentence or two, each beginning with a capital letter, whatever services are called.
pub(crate) fn answer(report: &Report) -> String {
    let measured: Vec<&RowReport> = report.rows.iter().filter(|row| row.state == State::Measured).collect();
    let said = match measured.as_slice() {
        [] => return nothing(report),
        [only] => alone(only, report),
        all => match report.ranks.as_ref().filter(|ranks| ranks.are_known()) {
            Some(ranks) => format!("{}. {}", first(ranks, report), extent(ranks, report)),
            None => without_order(all, report),
        },
    };
    let blocks = several(report.blocks, "block");
    match report.ending {
        // One in progress looks like one that was cut off.
        None => format!("So far, after {blocks}. {said}."),
        Some(Ending::Interrupted) => format!("Interrupted after {blocks}. {said}."),
        Some(_) => format!("{said}."),
    }
}

/// What is said before anything else: which services answered wrongly, with the first of these answers. Absent if none did.
pub(super) fn wrong_answers(loads: &[AtLoad]) -> Option<String> {
    let all = loads.iter().flat_map(|at| at.report.rows.iter().map(move |row| (at, row)));
    let wrong = all.filter_map(|(at, row)| match &row.state {
        State::Invalid(found) if matches!(found.issue, Issue::Row(RowIssue::WrongAnswers { .. })) => {
            let load = if loads.len() > 1 { format!(" at {}", at.load.label()) } else { String::new() };
            Some(format!("Invalid: {}{load}: {found}.", row.label))
        }
        _ => None,
    });
    let wrong: Vec<String> = wrong.collect();
    (!wrong.is_empty()).then(|| wrong.join(" "))
}

/// Why there is no figure at all.
fn nothing(report: &Report) -> String {
    let Some(first) = report.rows.first() else {
        return "Nothing was measured: the run has no services.".to_owned();
    };
    let unmeasured = report.rows.iter().filter(|row| row.state == State::Unmeasured).count();
    let is_wrong = |row: &RowReport| matches!(row.state, State::Failed(_) | State::Invalid(_));
    if unmeasured > 0 && !report.rows.iter().any(is_wrong) {
        return format!("No figures for {}: no block is complete.", several(unmeasured, "service"));
    }
    let gravest = Verdict::of_all(report.rows.iter().map(|row| row.state.verdict()));
    let row = report.rows.iter().find(|row| row.state.verdict() == gravest).unwrap_or(first);
    let reason = row.state.reason().unwrap_or_default();
    format!(
        "No figures for {}: {}. The gravest reason: {}: {}.",
        several(report.rows.len(), "service"),
        without(report).unwrap_or_default(),
        row.label,
        reason.trim_end_matches('.')
    )
}

/// `1 failed, 2 left out`; absent if every row has figures.
fn without(report: &Report) -> Option<String> {
    let verdicts = report.rows.iter().map(|row| row.state.verdict());
    let tally = Verdict::tally(verdicts.filter(|verdict| *verdict != Verdict::Pass), Question::Row);
    (!tally.is_empty()).then_some(tally)
}

/// There is nothing to compare it with.
fn alone(row: &RowReport, report: &Report) -> String {
    let rate = row.requests_per_second.map(|found| format!("{} requests/s", rate(found.value)));
    let cpu = row.cpu_ns_per_request.map(|found| format!("{} of CPU a request", time(found.value)));
    let figures: Vec<String> = rate.into_iter().chain(cpu).collect();
    let figures = if figures.is_empty() { "no valid throughput".to_owned() } else { figures.join(" at ") };
    match without(report) {
        None => format!("One service, {}: {figures}, and nothing to compare it with", row.label),
        Some(others) => format!("Only {} has figures: {figures}. Of the others {others}", row.label),
    }
}

/// With too few blocks there are figures and no order.
fn without_order(measured: &[&RowReport], report: &Report) -> String {
    let why = match &report.ranks {
        Some(ranks) if ranks.blocks == 1 => "1 block is not enough".to_owned(),
        Some(ranks) => format!("{} blocks are not enough", ranks.blocks),
        None => "no block has a figure of each".to_owned(),
    };
    let others = measured.iter().filter(|row| row.label != report.reference);
    let ratios = others.filter_map(|row| Some((row.label.as_str(), row.ratio?.value)));
    let ratios = span(Unit::Share, ratios).map(|span| format!("{span} of {}'s throughput", report.reference));
    let rates = measured.iter().filter_map(|row| Some((row.label.as_str(), row.requests_per_second?.value)));
    let rates = || span(Unit::PerSecond, rates).map(|span| format!("{span} requests/s"));
    let figures = ratios.or_else(rates).map_or(String::new(), |span| format!(". Measured: {span}"));
    let count = several(measured.len(), "service");
    format!("No ranking of {count}: {why}{figures}")
}

/// Who is first, as far as that is known, and how far that is from the reference.
fn first(ranks: &Ranks, report: &Report) -> String {
    let (best, worth) = match ranks.by {
        Metric::Throughput => ("Fastest", "throughput"),
        _ => ("Cheapest", "CPU per request"),
    };
    let reference = report.reference.as_str();
    // Of the rows that no other is shown to be ahead of, no two are separated: one of them would be behind.
    let of_best = |best: usize| ranks.rows.iter().filter(move |place| place.rank_best == best);
    let top: Vec<&str> = of_best(1).map(|place| place.row.as_str()).collect();
    // The reference does nothing, so it is no news that it is first: the news is who comes nearest.
    let (lead, named) = match top.as_slice() {
        [only] if *only == reference => {
            // The reference is the only row ahead of each, so of these no two are separated either.
            let behind = |row: &&str| ranks.are_separated(row, reference);
            let next: Vec<&str> = of_best(2).map(|place| place.row.as_str()).filter(behind).collect();
            if next.is_empty() {
                return format!("{best}: {reference}");
            }
            (format!("{best}: {reference}. Next: "), next)
        }
        _ => (format!("{best}: "), top.clone()),
    };
    let told = |label: &str| match related(report, label, ranks.by) {
        Some(ratio) => format!("{ratio} of {reference}'s {worth}{}", beside(report, label, ranks.by)),
        None => unrelated(report, label, ranks.by),
    };
    match named.as_slice() {
        [only] => format!("{lead}{only}, with {}", told(only)),
        tied => {
            let shown = tied.iter().find(|label| **label != reference).unwrap_or(&tied[0]);
            if tied.len() == ranks.rows.len() {
                let best = best.to_lowercase();
                return format!("No service is shown to be the {best}; {shown} has {}", told(shown));
            }
            format!("{lead}{}, not separable; {shown} has {}", either(tied), told(shown))
        }
    }
}

/// `102.1% (99.5 .. 104.7%)`, `1.24x (1.20 .. 1.28x)`.
fn related(report: &Report, label: &str, by: Metric) -> Option<String> {
    let row = report.rows.iter().find(|row| row.label == label)?;
    match by {
        Metric::Throughput => {
            let bound = row.throughput_bound.words();
            row.ratio.as_ref().map(|ratio| format!("{bound}{}", with_interval(ratio, Unit::Share)))
        }
        _ => row.cpu_ratio.as_ref().map(|ratio| with_interval(ratio, Unit::Times)),
    }
}

/// Throughput says more beside a cost than alone.
fn beside(report: &Report, label: &str, by: Metric) -> String {
    let throughput = related(report, label, Metric::Throughput).filter(|_| by != Metric::Throughput);
    throughput.map_or(String::new(), |ratio| format!(", at {ratio} of its throughput"))
}

/// A figure of its own, where there is none of the reference's, and why not.
fn unrelated(report: &Report, label: &str, by: Metric) -> String {
    let row = report.rows.iter().find(|row| row.label == label);
    let figure = match by {
        Metric::Throughput => row
            .and_then(|row| row.requests_per_second)
            .map(|found| format!("{} requests/s", rate(found.value))),
        _ => row
            .and_then(|row| row.cpu_ns_per_request)
            .map(|found| format!("{} of CPU a request", time(found.value))),
    };
    let reference = report.rows.iter().find(|row| row.label == report.reference);
    let why = match reference {
        _ if report.reference.is_empty() => ", and nothing to relate it to".to_owned(),
        None => format!(", related to nothing: the run has no row \"{}\"", report.reference),
        Some(reference) => match reference.reason() {
            Some(_) => format!(", related to nothing: {} has no valid figure", report.reference),
            None => String::new(),
        },
    };
    figure.unwrap_or("no figure".to_owned()) + &why
}

/// How much of an order there is.
fn extent(ranks: &Ranks, report: &Report) -> String {
    let by = match ranks.by {
        Metric::Throughput => " by throughput",
        _ => "",
    };
    let without = match report.rows.len() - ranks.rows.len() {
        0 => String::new(),
        more => format!(", {more} without figures"),
    };
    format!("{} of services are separated{by}{without}", ranks.extent())
}
