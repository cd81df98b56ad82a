//! Words and sentences of a site's pages.

use super::{RunEntry, figure::RunFigure, pair::ServicePair, row::SiteRow};
use tare_report::{document::Unit, gather::words::with_interval};

/// The most letters of a description: what shows links cuts longer ones.
const DESCRIPTION_MAX: usize = 200;

/// As many whole sentences as fit into the preview of a link, and always the first.
pub(crate) fn description(text: &str) -> &str {
    let mut end = None;
    for (place, _) in text.match_indices(". ") {
        let begins = text[place + 2..].chars().next().is_some_and(char::is_uppercase);
        if begins && (end.is_none() || place < DESCRIPTION_MAX) {
            end = Some(place + 1);
        }
    }
    match end {
        Some(end) if text.len() > DESCRIPTION_MAX => &text[..end],
        _ => text,
    }
}

pub(crate) fn shown(figure: RunFigure, unit: Unit) -> String {
    with_interval(&figure.into(), unit)
}

/// `12.0x`, `at least 12.0x`.
pub(crate) fn times(figure: RunFigure) -> String {
    format!("{}{}", figure.bound.words(), Unit::Times.show(figure.value))
}

/// ` (11.6 .. 12.4x)`; empty without an interval.
pub(crate) fn ends(figure: RunFigure) -> String {
    let interval = figure.ends().map(|(low, high)| Unit::Times.show_interval(low, high));
    interval.map_or_else(String::new, |interval| format!(" ({interval})"))
}

/// `12.0x axum's CPU time per request (11.6 .. 12.4x)`.
pub(crate) fn times_of(figure: RunFigure, other: &str, what: &str) -> String {
    format!("{} {other}'s {what}{}", times(figure), ends(figure))
}

/// The pair with the service first that needs more CPU time: a ratio is the larger figure over the smaller.
pub(super) fn dearer_first(run: &RunEntry, pair: &ServicePair) -> ServicePair {
    let cost = |name: &str| Some(run.row(name)?.cost()?.value);
    let is_less = match pair.cost() {
        Some(ratio) => ratio.value < 1.0,
        None => cost(&pair.first).zip(cost(&pair.second)).is_some_and(|(one, other)| one < other),
    };
    if is_less { pair.inverse() } else { pair.clone() }
}

/// What the first service of a pair needs of the second: as `answer` of `web/src/pair.js`.
pub(super) fn answer(run: &RunEntry, pair: &ServicePair) -> String {
    let ServicePair { first, second, .. } = pair;
    let what = run.cost_name();
    let of_reference = |name: &str| run.row(name).and_then(SiteRow::cost);
    let figures = match (pair.cost(), of_reference(first), of_reference(second)) {
        (Some(cpu), _, _) => format!("{first} needs {}", times_of(cpu, second, what)),
        (None, Some(one), Some(other)) => {
            let one = times_of(one, &run.reference, what);
            format!("{first} needs {one}, and {second} {}{}", times(other), ends(other))
        }
        _ => format!("There is no valid ratio of the {what} of {first} and {second}"),
    };
    match pair.separated {
        Some(false) => format!("The data do not separate {first} and {second}: {figures}."),
        _ => format!("{figures}."),
    }
}

/// The services of a pair without a cost of their own, which no other run of both blocks would give them.
pub(super) fn lacking<'a>(run: &RunEntry, pair: &'a ServicePair) -> Vec<&'a str> {
    let lacks = |name: &&str| pair.cost().is_none() && run.row(name).and_then(SiteRow::cost).is_none();
    [pair.first.as_str(), pair.second.as_str()].into_iter().filter(lacks).collect()
}

/// Why a pair has no interval; `None` if it has one.
fn without(run: &RunEntry, pair: &ServicePair) -> Option<String> {
    let cost = pair.cost();
    if cost.is_some_and(|ratio| ratio.ends().is_some()) {
        return None;
    }
    let what = run.cost_name();
    let reason = match (lacking(run, pair).as_slice(), pair.blocks) {
        ([only], _) => format!("{only} has no valid {what}, so there is no ratio of the pair."),
        ([one, other, ..], _) => {
            format!("{one} and {other} have no valid {what}, so there is no ratio of the pair.")
        }
        ([], 0) => "No block had both of them, so there is no interval of the pair.".to_owned(),
        ([], 1) => "One block had both of them, and an interval takes two.".to_owned(),
        ([], _) if cost.is_some() => "Too few starts had both of them for an interval.".to_owned(),
        ([], _) => "A block of both lacks the CPU time of one of them.".to_owned(),
    };
    Some(reason)
}

/// Why there is no interval, the ratio of throughputs, and what is excluded.
pub(super) fn more(run: &RunEntry, pair: &ServicePair) -> Vec<String> {
    let throughput = pair.throughput_ratio.map(|ratio| {
        let is_more = ratio.value >= 1.0;
        let ratio = if is_more { ratio } else { ratio.inverse() };
        let [faster, slower] =
            if is_more { [&pair.first, &pair.second] } else { [&pair.second, &pair.first] };
        format!("{faster} has {}.", times_of(ratio, slower, "throughput"))
    });
    let has_throughput = |name: &str| run.row(name).is_some_and(|row| row.requests_per_second.is_some());
    let no_throughput = match throughput {
        None if !has_throughput(&pair.first) || !has_throughput(&pair.second) => {
            Some("There is no valid ratio of their throughputs.")
        }
        _ => None,
    };
    let few = pair.separated.is_none().then_some("There are too few blocks to say whether they differ.");
    let most = pair.differ_most.filter(|_| pair.separated == Some(false)).map(|most| {
        let most = Unit::Share.show(most);
        format!("A difference of more than {most} is excluded, with 95% for all pairs together.")
    });
    let [few, no_throughput] = [few, no_throughput].map(|sentence| sentence.map(str::to_owned));
    let fixed = [few, without(run, pair), no_throughput].into_iter().flatten();
    throughput.into_iter().chain(fixed).chain(most).collect()
}

/// All that is known of a pair, as text.
pub(super) fn sentence(run: &RunEntry, pair: &ServicePair) -> String {
    let pair = dearer_first(run, pair);
    let rows = [&pair.first, &pair.second].map(|name| run.row(name));
    let beside = [
        beside("p99", Unit::Nanoseconds, rows, |row| row.latency_ns_p99),
        beside("Peak memory", Unit::Bytes, rows, |row| row.rss_bytes_peak),
    ];
    let all = std::iter::once(answer(run, &pair)).chain(more(run, &pair));
    all.chain(beside.into_iter().flatten()).collect::<Vec<_>>().join(" ")
}

/// `p99: axum 940 µs, hyper 827 µs.`; `None` if one of them lacks the figure.
fn beside(
    what: &str,
    unit: Unit,
    rows: [Option<&SiteRow>; 2],
    figure: impl Fn(&SiteRow) -> Option<RunFigure>,
) -> Option<String> {
    let [one, other] = rows;
    let text = |row: &SiteRow| Some(format!("{} {}", row.service, unit.show(figure(row)?.value)));
    Some(format!("{what}: {}, {}.", text(one?)?, text(other?)?))
}

#[cfg(test)]
mod tests {
    use tare_analysis::interleaved::RatioBound;

    use super::{
        super::entry::{row_of, run_of},
        *,
    };

    fn pair(separated: Option<bool>) -> ServicePair {
        let figure = |value, low, high| {
            Some(RunFigure { value, low: Some(low), high: Some(high), ..RunFigure::default() })
        };
        ServicePair {
            first: "hyper".to_owned(),
            second: "axum".to_owned(),
            cpu_ratio: figure(0.9, 0.88, 0.92),
            total_cpu_ratio: None,
            throughput_ratio: figure(1.12, 1.10, 1.15),
            blocks: 12,
            separated,
            differ_most: separated.filter(|separated| !separated).map(|_| 0.137),
        }
    }

    fn run() -> RunEntry {
        let figure = |value| Some(RunFigure { value, ..RunFigure::default() });
        let row = |name, cost, p99| SiteRow {
            latency_ns_p99: figure(p99),
            requests_per_second: figure(1e5),
            ..row_of(name, "rust", cost)
        };
        run_of(vec![row("hyper", 1.3, 827e3), row("axum", 1.5, 940e3)])
    }

    #[test]
    fn a_ratio_is_the_larger_over_the_smaller() {
        let told = sentence(&run(), &pair(Some(true)));
        assert_eq!(
            told,
            "axum needs 1.11x hyper's CPU time per request (1.09 .. 1.14x). hyper has 1.12x axum's throughput \
             (1.10 .. 1.15x). p99: axum 940 µs, hyper 827 µs."
        );
        assert_eq!(sentence(&run(), &pair(Some(true)).inverse()), told, "in either order");
        let bounded = RunFigure { bound: RatioBound::AtLeast, ..pair(None).throughput_ratio.unwrap() };
        let bounded = ServicePair { throughput_ratio: Some(bounded), ..pair(Some(true)) };
        assert!(sentence(&run(), &bounded).contains("hyper has at least 1.12x axum's throughput"));
        assert!(sentence(&run(), &bounded.inverse()).contains("hyper has at least 1.12x axum's"));
    }

    #[test]
    fn what_is_not_separated_says_so_first_and_what_is_excluded() {
        let told = sentence(&run(), &pair(Some(false)));
        let first = "The data do not separate axum and hyper: axum needs 1.11x hyper's CPU time per request";
        assert!(told.starts_with(first), "{told}");
        assert!(
            told.contains("A difference of more than 13.7% is excluded, with 95% for all pairs together."),
            "{told}"
        );
        let unknown = sentence(&run(), &pair(None));
        assert!(unknown.contains("There are too few blocks to say whether they differ."), "{unknown}");
    }

    #[test]
    fn a_pair_without_a_common_block_has_the_ratios_to_the_reference() {
        let apart = ServicePair { cpu_ratio: None, throughput_ratio: None, blocks: 0, ..pair(Some(true)) };
        let told = sentence(&run(), &apart);
        let expected = "axum needs 1.50x raw-socket's CPU time per request (1.35 .. 1.65x), and hyper 1.30x (1.17 .. 1.43x). \
                        No block had both of them, so there is no interval of the pair.";
        assert!(told.starts_with(expected), "{told}");
    }

    #[test]
    fn a_pair_without_an_interval_says_which_reason_it_is() {
        let bare = |blocks| ServicePair { cpu_ratio: None, blocks, ..pair(Some(true)) };
        let point = ServicePair {
            cpu_ratio: Some(RunFigure { value: 0.9, ..RunFigure::default() }),
            ..pair(Some(true))
        };
        let told = |pair: &ServicePair| without(&run(), pair).unwrap();
        assert_eq!(
            told(&ServicePair { blocks: 1, ..point.clone() }),
            "One block had both of them, and an interval takes two."
        );
        assert_eq!(told(&point), "Too few starts had both of them for an interval.");
        assert_eq!(told(&bare(5)), "A block of both lacks the CPU time of one of them.");
        assert_eq!(without(&run(), &pair(Some(true))), None);
        let gone = ServicePair { second: "gone".to_owned(), ..bare(5) };
        assert_eq!(told(&gone), "gone has no valid CPU time per request, so there is no ratio of the pair.");
    }

    /// What a service saves and its database spends is no saving.
    #[test]
    fn with_a_database_its_time_counts_too() {
        let figure = |value| Some(RunFigure { value, ..RunFigure::default() });
        let row = |name, own, total| SiteRow { total_cpu_ratio: figure(total), ..row_of(name, "rust", own) };
        let run = run_of(vec![row("light", 1.2, 3.0), row("whole", 1.4, 2.0)]);
        let pair = ServicePair {
            first: "light".to_owned(),
            second: "whole".to_owned(),
            total_cpu_ratio: figure(1.5),
            ..pair(Some(true))
        };
        let told = answer(&run, &dearer_first(&run, &pair));
        assert_eq!(told, "light needs 1.50x whole's CPU time per request with the database.");
    }

    #[test]
    fn a_preview_is_of_whole_sentences() {
        let brief = "axum needs 1.48x (1.43 .. 1.54x) of it. The others have more.";
        assert_eq!(description(brief), brief, "an interval ends no sentence");
        let rest = "x ".repeat(DESCRIPTION_MAX / 2);
        let first = "It has 1.5 (1.4 .. 1.6) of it.";
        assert_eq!(description(&format!("{first} Then {rest}. And more.")), first);
        let long = format!("It has {rest}.");
        assert_eq!(description(&format!("{long} Then more.")), long);
    }
}
