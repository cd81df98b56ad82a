//! The result of a run in a sentence or two, read first. It claims no order that the data do not support.

use tare_analysis::{
    findings::{Finding, Issue, RowIssue, RunIssue},
    interleaved::{
        BackingKind, Ranks, Report, Role, RowReport, RowState,
        figures::{rate, time},
    },
    loads::AtLoad,
    verdict::{Question, Verdict},
};
use tare_base::units::several;
use tare_bench::{metric::Metric, record::Ending};
use tare_service::catalogue::Style;

use super::parts;
use crate::{
    document::Unit,
    gather::words::{Headline, either, listed, span, with_interval},
};

/// What a run says, and why that is in doubt.
pub(crate) struct Answered {
    pub(crate) headline: Headline,
    /// The reference or a row in first place is not valid, or most rows were not steady.
    pub(crate) cautions: Vec<String>,
}

/// The answer and its basis. Sentences have a capital letter, even before a service's name.
pub(crate) fn answer(report: &Report) -> Answered {
    let first = First::of(report);
    let cautions = cautions(report, first.as_ref().map_or(&[], |first| &first.top));
    let headline = headline(report, first.as_ref(), !cautions.is_empty());
    Answered { headline, cautions }
}

fn headline(report: &Report, first: Option<&First>, is_doubtful: bool) -> Headline {
    let measured: Vec<&RowReport> =
        report.rows.iter().filter(|row| row.state == RowState::Measured).collect();
    match measured.as_slice() {
        [] => nothing(report),
        [only] => alone(only, report),
        all => match first {
            Some(first) => {
                let found = lead(first, report, is_doubtful);
                let ranks = first.ranks;
                let lacking = [without_figures(without_a_place(ranks, report)), not_valid(report)];
                let lacking = lacking.into_iter().flatten().chain(throughput_not_valid(report));
                let lacking: String = lacking.map(|sentence| format!(" {sentence}.")).collect();
                let found = match database(report) {
                    Some(said) => found.behind(said, ""),
                    None => found,
                };
                Headline { basis: (found.basis + &lacking).trim_start().to_owned(), ..found }
            }
            None => without_order(all, report),
        },
    }
}

/// What a database costs by service, which is the question of a run with one.
fn database(report: &Report) -> Option<String> {
    let of = parts::kind(report).filter(|kind| *kind == BackingKind::Database)?;
    let frameworks = report.rows.iter().filter(|row| row.is_asked_for(&report.reference));
    let costs = frameworks
        .filter_map(|row| Some((row.label.as_str(), row.backing.as_ref()?.cpu_ns_per_request.value)));
    let span = span(Unit::Nanoseconds, costs)?;
    Some(format!("The {} itself takes {span} of CPU per request, by service.", parts::words(of)[0]))
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
fn nothing(report: &Report) -> Headline {
    let Some(first) = report.rows.first() else {
        return "Nothing was measured: the run has no services.".to_owned().into();
    };
    let unmeasured = report.rows.iter().filter(|row| row.state == RowState::Unmeasured).count();
    let is_wrong = |row: &RowReport| matches!(row.state, RowState::Failed(_) | RowState::Invalid(_));
    if unmeasured > 0 && !report.rows.iter().any(is_wrong) {
        return format!("No figures for {}: no block is complete.", several(unmeasured, "service")).into();
    }
    let gravest = Verdict::of_all(report.rows.iter().map(|row| row.state.verdict()));
    let row = report.rows.iter().find(|row| row.state.verdict() == gravest).unwrap_or(first);
    let reason = row.state.reason().unwrap_or_default();
    let without = without(report).unwrap_or_default();
    Headline::new(
        format!("No figures for {}: {without}.", several(report.rows.len(), "service")),
        format!("The gravest reason: {}: {}.", row.label, reason.trim_end_matches('.')),
    )
}

/// `1 failed, 2 left out`; `None` if every row has figures.
fn without(report: &Report) -> Option<String> {
    let verdicts = report.rows.iter().map(|row| row.state.verdict());
    let tally = Verdict::tally(verdicts.filter(|verdict| *verdict != Verdict::Pass), Question::Row);
    (!tally.is_empty()).then_some(tally)
}

/// The text for a single row, which has nothing to compare with.
fn alone(row: &RowReport, report: &Report) -> Headline {
    let rate = row.requests_per_second.map(|found| format!("{} requests/s", rate(found.value)));
    let cpu = row.cpu_ns_per_request.map(|found| format!("{} of CPU a request", time(found.value)));
    let figures: Vec<String> = rate.into_iter().chain(cpu).collect();
    let figures = if figures.is_empty() { "no valid throughput".to_owned() } else { figures.join(" at ") };
    match without(report) {
        None => {
            Headline::new(format!("One service, {}: {figures}.", row.label), "Nothing to compare it with.")
        }
        Some(others) => Headline::new(
            format!("Only {} has figures: {figures}.", row.label),
            format!("Of the others {others}."),
        ),
    }
}

/// With too few blocks there are figures but no order.
fn without_order(measured: &[&RowReport], report: &Report) -> Headline {
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
    let figures = ratios.or_else(rates).map_or(String::new(), |span| format!("Measured: {span}."));
    Headline::new(said + ".", figures)
}

/// The requested order: the services that are no references, the cheapest first, as far as it is known. With
/// references only, these.
struct First<'a> {
    ranks: &'a Ranks,
    labels: Vec<&'a str>,
    /// The rows of them that no other is shown to beat.
    top: Vec<&'a str>,
    noun: &'static str,
}

impl<'a> First<'a> {
    /// `None` if no order is known.
    fn of(report: &'a Report) -> Option<First<'a>> {
        let ranks = report.ranks.as_ref().filter(|ranks| ranks.are_known())?;
        let asked: Vec<&RowReport> =
            report.rows.iter().filter(|row| row.is_asked_for(&report.reference)).collect();
        let is_asked = |label: &str| asked.iter().any(|row| row.label == label);
        let placed: Vec<&str> = ranks.rows.iter().map(|place| place.row.as_str()).collect();
        let known: Vec<&str> = placed.iter().copied().filter(|label| is_asked(label)).collect();
        let (labels, noun) = if known.is_empty() { (placed, noun(&[])) } else { (known, noun(&asked)) };
        Some(First { ranks, top: tops(ranks, &labels), labels, noun })
    }
}

/// The collective noun: a user's own service is no framework.
fn noun(rows: &[&RowReport]) -> &'static str {
    let brought = |row: &&RowReport| matches!(row.style, Style::Own | Style::Running);
    if rows.is_empty() || rows.iter().any(brought) { "service" } else { "framework" }
}

/// The best of these rows, which no other is shown to beat, their cost, and the figures of the others.
fn lead(first: &First, report: &Report, is_doubtful: bool) -> Headline {
    let First { ranks, labels, top, noun } = first;
    let (best, extreme) = match ranks.by {
        Metric::Throughput => ("fastest", "highest"),
        _ => ("cheapest", "lowest"),
    };
    let behind: Vec<&str> = labels.iter().copied().filter(|label| !top.contains(label)).collect();
    let shown = top.iter().find(|label| **label != report.reference).unwrap_or(&top[0]);
    let (needs, figure) = figure_of(report, shown, ranks.by);
    let said = match top.as_slice() {
        [only] if labels.len() == 1 => format!("The {noun} {only} {needs} {figure}."),
        [only] => format!("The {best} {noun} is {only}: it {needs} {figure}."),
        all if all.len() == labels.len() => {
            format!("No {noun} is shown to be the {best}; {shown}'s estimate is {extreme}: {figure}.")
        }
        tied => {
            let count = number(tied.len());
            format!("{count} {noun}s share first place; {shown}'s estimate is {extreme}: {figure}.")
        }
    };
    let is_noisy =
        report.findings.iter().any(|found| matches!(found.run_issue(), Some(RunIssue::NoisyHost { .. })));
    let said = if is_noisy || is_doubtful { format!("In doubt: {}", lower(&said)) } else { said };
    let tied = if top.len() > 1 && !behind.is_empty() {
        format!(" The {best} is {}.", either(top))
    } else {
        String::new()
    };
    let interval = interval(report, shown, ranks.by).unwrap_or_default();
    Headline::new(said, format!("{interval}{tied}{}", others(report, &behind, ranks.by)).trim_start())
}

/// The rows that no other is shown to beat.
fn tops<'a>(ranks: &Ranks, labels: &[&'a str]) -> Vec<&'a str> {
    let is_behind =
        |place: usize| labels[..place].iter().any(|ahead| ranks.are_separated(ahead, labels[place]));
    (0..labels.len()).filter(|place| !is_behind(*place)).map(|place| labels[place]).collect()
}

/// Small numbers as words, at the beginning of a sentence.
fn number(count: usize) -> String {
    const WORDS: [&str; 13] = [
        "No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven",
        "Twelve",
    ];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Reasons to doubt the answer, of which these are the first rows.
fn cautions(report: &Report, first: &[&str]) -> Vec<String> {
    let counts = |row: &&RowReport| row.label == report.reference || first.contains(&row.label.as_str());
    let doubtful: Vec<(&str, &Finding)> = report
        .rows
        .iter()
        .filter(counts)
        .filter_map(|row| Some((row.label.as_str(), row.throughput_finding.as_ref()?)))
        .collect();
    let names: Vec<&str> = doubtful.iter().map(|(label, _)| *label).collect();
    let of_rows = doubtful.first().map(|(label, finding)| match names.as_slice() {
        [_] => format!("{label}, which decides the answer, is in doubt: {finding}"),
        [..] => format!("{} decide the answer and are in doubt; {label}: {finding}", listed(&names)),
    });
    let measured: Vec<&RowReport> =
        report.rows.iter().filter(|row| row.state == RowState::Measured).collect();
    let unsteady = measured.iter().filter(|row| row.is_unsteady()).count();
    let of_pilots = (unsteady * 2 >= measured.len() && unsteady > 1).then(|| {
        format!(
            "no steady state: in {unsteady} of {} the cost of a request was still changing when the warm-up ended",
            several(measured.len(), "service")
        )
    });
    of_rows.into_iter().chain(of_pilots).collect()
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

/// ` The other 9 need 1.49x (axum) to 48.6x (flask).`
fn others(report: &Report, labels: &[&str], by: Metric) -> String {
    let row = |label: &&str| report.rows.iter().find(|row| row.label == **label);
    let ratio = |row: &RowReport| row.ratio_by(by).map(|found| found.value);
    let unit = if by == Metric::Throughput { Unit::Share } else { Unit::Times };
    let figures = labels.iter().filter_map(row).filter_map(|row| Some((row.label.as_str(), ratio(row)?)));
    let number = match (labels.len(), by) {
        (1, Metric::Throughput) => "other has".to_owned(),
        (1, _) => "other needs".to_owned(),
        (more, Metric::Throughput) => format!("other {more} have"),
        (more, _) => format!("other {more} need"),
    };
    let span = span(unit, figures);
    span.map_or(String::new(), |span| format!(" The {number} {}.", span.trim_start_matches("from ")))
}

/// The verb, and the figure without its interval: `needs` and `1.24x raw-socket's CPU per request`.
fn figure_of(report: &Report, label: &str, by: Metric) -> (&'static str, String) {
    let row = report.rows.iter().find(|row| row.label == label);
    let reference = &report.reference;
    match by {
        Metric::Throughput => {
            let ratio = row.and_then(|row| Some((row.throughput_bound, row.ratio?.value)));
            let text = ratio.map(|(bound, ratio)| {
                format!("{}{} of {reference}'s throughput", bound.words(), Unit::Share.show(ratio))
            });
            ("has", text.unwrap_or_else(|| unrelated(report, label, by)))
        }
        _ => {
            let ratio = row.and_then(|row| Some(row.ratio_by(by)?.value));
            let text =
                ratio.map(|ratio| format!("{} {reference}'s {}", Unit::Times.show(ratio), of_metric(by)));
            ("needs", text.unwrap_or_else(|| unrelated(report, label, by)))
        }
    }
}

/// `Interval of hyper (95%): 1.20 .. 1.28x; throughput 80.1% (78.0 .. 82.2%) of raw-socket's.`
fn interval(report: &Report, label: &str, by: Metric) -> Option<String> {
    let row = report.rows.iter().find(|row| row.label == label)?;
    let unit = if by == Metric::Throughput { Unit::Share } else { Unit::Times };
    let ratio = row.ratio_by(by)?;
    let ends = ratio.low.zip(ratio.high).map(|(low, high)| unit.show_interval(low, high));
    let ends = ends.map(|ends| format!("Interval of {label} (95%): {ends}"));
    let throughput = throughput(report, label).filter(|_| by != Metric::Throughput);
    let throughput = throughput.map(|ratio| format!("throughput {ratio} of {}'s", report.reference));
    let both: Vec<String> = ends.into_iter().chain(throughput).collect();
    (!both.is_empty()).then(|| both.join("; ") + ".")
}

/// `102.1% (99.5 .. 104.7%)`.
fn throughput(report: &Report, label: &str) -> Option<String> {
    let row = report.rows.iter().find(|row| row.label == label)?;
    let bound = row.throughput_bound.words();
    row.ratio.as_ref().map(|ratio| format!("{bound}{}", with_interval(ratio, Unit::Share)))
}

/// The row's own figure, if the reference has none, with the reason.
fn unrelated(report: &Report, label: &str, by: Metric) -> String {
    let row = report.rows.iter().find(|row| row.label == label);
    let figure = match by {
        Metric::Throughput => row
            .and_then(|row| row.requests_per_second)
            .map(|found| format!("{} requests/s", rate(found.value))),
        _ => row.and_then(|row| own_cost(row, by)).map(|found| format!("{} of CPU a request", time(found))),
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

fn own_cost(row: &RowReport, by: Metric) -> Option<f64> {
    let cost = match by {
        Metric::CpuWithDatabase => row.database()?.total_cpu_ns_per_request,
        _ => row.cpu_ns_per_request,
    };
    Some(cost?.value)
}

/// What ranks are made of, in a sentence.
pub(super) fn of_metric(by: Metric) -> &'static str {
    match by {
        Metric::Throughput => "throughput",
        Metric::CpuWithDatabase => "CPU per request with the database",
        _ => "CPU per request",
    }
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
fn without_figures(rows: usize) -> Option<String> {
    match rows {
        0 => None,
        1 => Some("1 service has no figures".to_owned()),
        more => Some(format!("{more} services have no figures")),
    }
}
