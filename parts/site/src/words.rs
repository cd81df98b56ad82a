//! Words and sentences of a site's pages.

use super::{figure::RunFigure, pair::ServicePair, row::SiteRow};
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

/// The name of a language as people write it; that of a folder is for programs.
pub(crate) fn language(name: &str) -> &str {
    match name {
        "c" => "C",
        "clojure" => "Clojure",
        "cpp" => "C++",
        "csharp" => "C#",
        "go" => "Go",
        "haskell" => "Haskell",
        "java" => "Java",
        "node" => "Node.js",
        "python" => "Python",
        "ruby" => "Ruby",
        "rust" => "Rust",
        "swift" => "Swift",
        other => other,
    }
}

pub(crate) fn shown(figure: RunFigure, unit: Unit) -> String {
    with_interval(&figure.into(), unit)
}

/// `12.0 times`, `at least 12.0 times`.
pub(crate) fn times(figure: RunFigure) -> String {
    let number = Unit::Times.show(figure.value);
    format!("{}{} times", figure.bound.words(), number.trim_end_matches('x'))
}

/// ` (11.6 .. 12.4)`; empty without an interval.
pub(crate) fn ends(figure: RunFigure) -> String {
    let interval = figure.ends().map(|(low, high)| Unit::Times.show_interval(low, high));
    interval.map_or_else(String::new, |interval| format!(" ({})", interval.replace('x', "")))
}

/// `12.0 times axum's CPU time per request (11.6 .. 12.4)`.
pub(crate) fn times_of(figure: RunFigure, other: &str, what: &str) -> String {
    format!("{} {other}'s {what}{}", times(figure), ends(figure))
}

/// The comparison of two services: the same sentence that `web/src/pair.js` makes from this row.
pub(super) fn sentence(
    pair: &ServicePair,
    first: Option<&SiteRow>,
    second: Option<&SiteRow>,
) -> Option<String> {
    let ServicePair { first: one, second: other, .. } = pair;
    let [cpu, throughput] = [pair.cpu_ratio, pair.throughput_ratio].map(|ratio| ratio.map(ratio_in_words));
    let figures = match (cpu, throughput) {
        (Some(cpu), Some(throughput)) => {
            format!("{one} needs {cpu} of {other}'s CPU per request, at {throughput} of its throughput")
        }
        (Some(cpu), None) => format!("{one} needs {cpu} of {other}'s CPU per request"),
        (None, Some(throughput)) => format!("{one} has {throughput} of {other}'s throughput"),
        (None, None) => return None,
    };
    let beside = [
        against("p99", Unit::Nanoseconds, first, second, |row| row.latency_ns_p99),
        against("peak memory", Unit::Bytes, first, second, |row| row.rss_bytes_peak),
    ];
    let beside: String = beside.into_iter().flatten().map(|part| format!("; {part}")).collect();
    let [before, after] = match (pair.separated, pair.differ_most) {
        (Some(true), _) => [String::new(), String::new()],
        (None, _) => ["There are too few blocks to say whether they differ. ".to_owned(), String::new()],
        (Some(false), most) => [
            format!("The data do not separate {one} and {other}. "),
            most.map(|most| format!(" A difference of more than {} is excluded.", Unit::Share.show(most)))
                .unwrap_or_default(),
        ],
    };
    Some(format!("{before}{figures}{beside}.{after}"))
}

fn ratio_in_words(figure: RunFigure) -> String {
    format!("{}{}", figure.bound.words(), shown(figure, Unit::Times))
}

/// `p99 827 µs against 940 µs`; `None` if one of them lacks the figure.
fn against(
    what: &str,
    unit: Unit,
    first: Option<&SiteRow>,
    second: Option<&SiteRow>,
    figure: impl Fn(&SiteRow) -> Option<RunFigure>,
) -> Option<String> {
    let [one, other] = [figure(first?)?, figure(second?)?].map(|figure| unit.show(figure.value));
    Some(format!("{what} {one} against {other}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(separated: Option<bool>) -> ServicePair {
        let figure = |value, low, high| {
            Some(RunFigure { value, low: Some(low), high: Some(high), ..RunFigure::default() })
        };
        ServicePair {
            first: "hyper".to_owned(),
            second: "axum".to_owned(),
            cpu_ratio: figure(0.9, 0.88, 0.92),
            throughput_ratio: figure(1.12, 1.10, 1.15),
            separated,
            differ_most: separated.filter(|separated| !separated).map(|_| 0.137),
        }
    }

    fn row(p99: f64) -> SiteRow {
        SiteRow {
            latency_ns_p99: Some(RunFigure { value: p99, ..RunFigure::default() }),
            ..SiteRow::default()
        }
    }

    #[test]
    fn a_sentence_follows_its_figures() {
        let told = |pair: &ServicePair, p99| sentence(pair, Some(&row(p99)), Some(&row(940e3))).unwrap();
        let one = pair(Some(true));
        assert_eq!(
            told(&one, 827e3),
            "hyper needs 0.90x (0.88 .. 0.92x) of axum's CPU per request, at 1.12x (1.10 .. 1.15x) of its throughput; p99 827 µs \
             against 940 µs."
        );
        assert!(told(&one, 800e3).ends_with("p99 800 µs against 940 µs."));
        let back = sentence(&one.inverse(), None, None).unwrap();
        assert_eq!(
            back,
            "axum needs 1.11x (1.09 .. 1.14x) of hyper's CPU per request, at 0.89x (0.87 .. 0.91x) of its throughput."
        );
    }

    #[test]
    fn what_is_not_separated_says_so_first_and_what_is_excluded_last() {
        let told = sentence(&pair(Some(false)), None, None).unwrap();
        assert!(told.starts_with("The data do not separate hyper and axum. hyper needs 0.90x"), "{told}");
        assert!(told.ends_with(" A difference of more than 13.7% is excluded."), "{told}");
        let unknown = sentence(&pair(None), None, None).unwrap();
        assert!(unknown.starts_with("There are too few blocks to say whether they differ. "), "{unknown}");
        let nothing = ServicePair { cpu_ratio: None, throughput_ratio: None, ..pair(None) };
        assert_eq!(sentence(&nothing, None, None), None);
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

    #[test]
    fn a_language_has_the_name_that_people_write() {
        assert_eq!(["cpp", "node", "rust", "zig"].map(language), ["C++", "Node.js", "Rust", "zig"]);
    }
}
