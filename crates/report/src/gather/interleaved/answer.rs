//! The result of a run in a sentence or two, read first. It claims no order that the data do not support.

use tare_analysis::{
    findings::{Issue, RowIssue},
    interleaved::{
        Ranks, Report, Role, RowReport, RowState,
        figures::{rate, time},
    },
    loads::AtLoad,
    verdict::{Question, Verdict},
};
use tare_base::units::several;
use tare_bench::{metric::Metric, record::Ending};
use tare_service::catalogue::Style;

use crate::{
    document::Unit,
    gather::words::{either, span, with_interval},
};

/// One or two sentences, each with a capital letter, even before a service's name.
pub(crate) fn answer(report: &Report) -> String {
    let measured: Vec<&RowReport> =
        report.rows.iter().filter(|row| row.state == RowState::Measured).collect();
    let said = match measured.as_slice() {
        [] => return nothing(report),
        [only] => alone(only, report),
        all => match report.ranks.as_ref().filter(|ranks| ranks.are_known()) {
            Some(ranks) => {
                let lacking = [not_valid(report), throughput_not_valid(report)];
                let lacking: String = lacking.into_iter().flatten().map(|rows| format!(". {rows}")).collect();
                first(ranks, report) + &without_figures(without_a_place(ranks, report)) + &lacking
            }
            None => without_order(all, report),
        },
    };
    said + "."
}

/// The first sentence: services with wrong answers, with the first such answer. `None` without any.
pub(super) fn wrong_answers(loads: &[AtLoad]) -> Option<String> {
    let all = loads.iter().flat_map(|at| at.report.rows.iter().map(move |row| (at, row)));
    let wrong = all.filter_map(|(at, row)| match &row.state {
        RowState::Invalid(found) if matches!(found.issue, Issue::Row(RowIssue::WrongAnswers { .. })) => {
            let load = if loads.len() > 1 { format!(" at {}", at.load.label()) } else { String::new() };
            Some(format!("Invalid: {}{load}: {found}.", row.label))
        }
        _ => None,
    });
    let wrong: Vec<String> = wrong.collect();
    (!wrong.is_empty()).then(|| wrong.join(" "))
}

/// Why there is no figure.
fn nothing(report: &Report) -> String {
    let Some(first) = report.rows.first() else {
        return "Nothing was measured: the run has no services.".to_owned();
    };
    let unmeasured = report.rows.iter().filter(|row| row.state == RowState::Unmeasured).count();
    let is_wrong = |row: &RowReport| matches!(row.state, RowState::Failed(_) | RowState::Invalid(_));
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

/// `1 failed, 2 left out`; `None` if every row has figures.
fn without(report: &Report) -> Option<String> {
    let verdicts = report.rows.iter().map(|row| row.state.verdict());
    let tally = Verdict::tally(verdicts.filter(|verdict| *verdict != Verdict::Pass), Question::Row);
    (!tally.is_empty()).then_some(tally)
}

/// The text for a single row, which has nothing to compare with.
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

/// With too few blocks there are figures but no order.
fn without_order(measured: &[&RowReport], report: &Report) -> String {
    let services = several(measured.len(), "service");
    let is_over = report.ending.is_some_and(|ending| ending != Ending::Interrupted);
    let said = match &report.ranks {
        // An incomplete run is reported as such in any case.
        Some(ranks) if is_over => {
            format!(
                "Undecided after {}, which is not enough to rank {services}",
                several(ranks.blocks, "block")
            )
        }
        Some(ranks) => format!("No ranking of {services}: {} is not enough", several(ranks.blocks, "block")),
        None => format!("No ranking of {services}: no block has a figure of each"),
    };
    let others = measured.iter().filter(|row| row.label != report.reference);
    let ratios = others.filter_map(|row| Some((row.label.as_str(), row.ratio?.value)));
    let ratios = span(Unit::Share, ratios).map(|span| format!("{span} of {}'s throughput", report.reference));
    let rates = measured.iter().filter_map(|row| Some((row.label.as_str(), row.requests_per_second?.value)));
    let rates = || span(Unit::PerSecond, rates).map(|span| format!("{span} requests/s"));
    let figures = ratios.or_else(rates).map_or(String::new(), |span| format!(". Measured: {span}"));
    said + &figures
}

/// The requested order: the services that are no references, the cheapest first, as far as it is known. With
/// references only, the first of them.
fn first(ranks: &Ranks, report: &Report) -> String {
    let asked: Vec<&RowReport> =
        report.rows.iter().filter(|row| row.is_asked_for(&report.reference)).collect();
    let placed: Vec<&str> = ranks.rows.iter().map(|place| place.row.as_str()).collect();
    let known: Vec<&str> =
        placed.iter().copied().filter(|label| asked.iter().any(|row| row.label == *label)).collect();
    match known.as_slice() {
        [] => lead(ranks, report, &placed, noun(&[])),
        labels => lead(ranks, report, labels, noun(&asked)),
    }
}

/// The collective noun: a user's own service is no framework.
fn noun(rows: &[&RowReport]) -> &'static str {
    let brought = |row: &&RowReport| matches!(row.style, Style::Own | Style::Running);
    if rows.is_empty() || rows.iter().any(brought) { "service" } else { "framework" }
}

/// The best of these rows, which no other is shown to beat, their cost, and the figures of the others.
fn lead(ranks: &Ranks, report: &Report, labels: &[&str], noun: &str) -> String {
    let best = match ranks.by {
        Metric::Throughput => "fastest",
        _ => "cheapest",
    };
    let is_behind =
        |place: usize| labels[..place].iter().any(|ahead| ranks.are_separated(ahead, labels[place]));
    let (behind, top): (Vec<usize>, Vec<usize>) = (0..labels.len()).partition(|place| is_behind(*place));
    let top: Vec<&str> = top.into_iter().map(|place| labels[place]).collect();
    let behind: Vec<&str> = behind.into_iter().map(|place| labels[place]).collect();
    let shown = top.iter().find(|label| **label != report.reference).unwrap_or(&top[0]);
    let told = figures_of(report, shown, ranks.by);
    let is =
        if report.rows.iter().any(|row| row.verdict() == Verdict::Invalid) { "seems to be" } else { "is" };
    let lead = match top.as_slice() {
        [only] if labels.len() == 1 => return format!("The {} {only} has {told}", noun),
        [only] => format!("The {best} {} {is} {only}, with {told}", noun),
        all if all.len() == labels.len() => {
            return format!("No {} is shown to be the {best}; {shown} has {told}", noun);
        }
        tied => format!("The {best} {} {is} {}, not separable; {shown} has {told}", noun, either(tied)),
    };
    format!("{lead}{}", others(report, &behind, ranks.by))
}

/// `3 of 8 rows are not valid`; `None` if all are.
fn not_valid(report: &Report) -> Option<String> {
    let count = report.rows.iter().filter(|row| matches!(row.state, RowState::Invalid(_))).count();
    let are = if count == 1 { "is" } else { "are" };
    (count > 0).then(|| format!("{count} of {} {are} not valid", several(report.rows.len(), "row")))
}

/// `The throughput of 3 of 8 rows is not valid`; their CPU time is.
fn throughput_not_valid(report: &Report) -> Option<String> {
    let has_cpu_alone =
        |row: &&RowReport| row.state == RowState::Measured && row.throughput_finding.is_some();
    let count = report.rows.iter().filter(has_cpu_alone).count();
    (count > 0)
        .then(|| format!("The throughput of {count} of {} is not valid", several(report.rows.len(), "row")))
}

/// `. The 9 others have from 1.49x (axum) to 48.6x (flask)`.
fn others(report: &Report, labels: &[&str], by: Metric) -> String {
    let row = |label: &&str| report.rows.iter().find(|row| row.label == **label);
    let ratio = |row: &RowReport| match by {
        Metric::Throughput => row.ratio.map(|found| found.value),
        _ => row.cpu_ratio.map(|found| found.value),
    };
    let unit = if by == Metric::Throughput { Unit::Share } else { Unit::Times };
    let figures = labels.iter().filter_map(row).filter_map(|row| Some((row.label.as_str(), ratio(row)?)));
    let number = match labels.len() {
        1 => "other has".to_owned(),
        more => format!("{more} others have"),
    };
    span(unit, figures).map_or(String::new(), |span| format!(". The {number} {span}"))
}

/// `1.24x (1.20 .. 1.28x) of raw-socket's CPU per request, at 80.1% (..) of its throughput`.
fn figures_of(report: &Report, label: &str, by: Metric) -> String {
    let worth = match by {
        Metric::Throughput => "throughput",
        _ => "CPU per request",
    };
    match related(report, label, by) {
        Some(ratio) => format!("{ratio} of {}'s {worth}{}", report.reference, beside(report, label, by)),
        None => unrelated(report, label, by),
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

/// The throughput, which is useful only beside a cost.
fn beside(report: &Report, label: &str, by: Metric) -> String {
    let throughput = related(report, label, Metric::Throughput).filter(|_| by != Metric::Throughput);
    throughput.map_or(String::new(), |ratio| format!(", at {ratio} of its throughput"))
}

/// The row's own figure, if the reference has none, with the reason.
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

/// The number of rows without figures, or without a place in the order. References have none in any case.
fn without_a_place(ranks: &Ranks, report: &Report) -> usize {
    let is_placed = |row: &RowReport| ranks.rows.iter().any(|place| place.row == row.label);
    let is_one = |row: &&RowReport| match row.role {
        Role::Reference => row.state != RowState::Measured,
        Role::Ranked => !is_placed(row),
    };
    report.rows.iter().filter(is_one).count()
}

/// The text for rows without a place in the order.
fn without_figures(rows: usize) -> String {
    match rows {
        0 => String::new(),
        1 => ". 1 service has no figures".to_owned(),
        more => format!(". {more} services have no figures"),
    }
}
