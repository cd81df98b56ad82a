//! Words and sentences of a site's pages.

use super::row::{Figure, Pair, Row};
use crate::{document::Unit, gather::words::with_interval};

/// What a sentence ends with, and not a decimal point.
pub(crate) fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// `1 run`, `12 runs`.
pub(crate) fn several(count: usize, noun: &str) -> String {
    tare_analysis::figures::several(count, noun)
}

pub(crate) fn shown(figure: Figure, unit: Unit) -> String {
    with_interval(&figure.into(), unit)
}

/// What a pair of services says, the cheaper one first.
pub(super) fn sentence(pair: &Pair, first: Option<&Row>, second: Option<&Row>) -> Option<String> {
    let cpu = pair.cpu_ratio?;
    let Pair { first: one, second: other, .. } = pair;
    let cost = format!("{} of {other}'s CPU time per request", shown(cpu, Unit::Times));
    let mut sentence = match cpu.is_apart() {
        true => format!("{one} needs {cost}"),
        false => format!("The data do not separate {one} and {other}: {one} needs {cost}"),
    };
    if let Some(throughput) = pair.throughput_ratio {
        sentence += &format!(" and has {} of its throughput", shown(throughput, Unit::Times));
    }
    sentence.push('.');
    let beside = [
        against("p99", Unit::Nanoseconds, first, second, |row| row.latency_ns_p99),
        against("peak memory", Unit::Bytes, first, second, |row| row.rss_bytes_peak),
    ];
    let beside: Vec<String> = beside.into_iter().flatten().collect();
    if !beside.is_empty() {
        sentence += &format!(" {one} against {other}: {}.", beside.join("; "));
    }
    Some(sentence)
}

/// `p99 827 µs against 940 µs`; absent where one of them has no such figure.
fn against(
    what: &str,
    unit: Unit,
    first: Option<&Row>,
    second: Option<&Row>,
    figure: impl Fn(&Row) -> Option<Figure>,
) -> Option<String> {
    let [one, other] = [figure(first?)?, figure(second?)?].map(|figure| unit.show(figure.value));
    Some(format!("{what} {one} against {other}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(value: f64, low: f64, high: f64) -> Pair {
        let figure = |value, low, high| Some(Figure { value, low: Some(low), high: Some(high), ..Figure::default() });
        Pair {
            first: "hyper".to_owned(),
            second: "axum".to_owned(),
            cpu_ratio: figure(value, low, high),
            throughput_ratio: figure(1.12, 1.10, 1.15),
        }
    }

    #[test]
    fn a_sentence_follows_its_figures() {
        let of = |p99| Row {
            latency_ns_p99: Some(Figure { value: p99, ..Figure::default() }),
            ..Row::default()
        };
        let told = |pair: &Pair, p99: f64| sentence(pair, Some(&of(p99)), Some(&of(940e3))).unwrap();
        let one = pair(0.9, 0.88, 0.92);
        assert_eq!(
            told(&one, 827e3),
            "hyper needs 0.90x (0.88 .. 0.92x) of axum's CPU time per request and has 1.12x (1.10 .. 1.15x) of its \
             throughput. hyper against axum: p99 827 µs against 940 µs."
        );
        assert!(told(&one, 800e3).contains("p99 800 µs against"));
        assert!(told(&pair(0.99, 0.97, 1.01), 1.0).starts_with(
            "The data do not separate hyper and axum: hyper needs 0.99x (0.97 .. 1.01x) of axum's CPU time"
        ));
        let back = told(&one.inverse(), 827e3);
        assert!(back.starts_with("axum needs 1.11x (1.09 .. 1.14x) of hyper's CPU time per request and has 0.89x"), "{back}");
        assert_eq!(sentence(&Pair { cpu_ratio: None, ..one }, None, None), None);
    }

    #[test]
    fn a_decimal_point_ends_no_sentence() {
        assert_eq!(first_sentence("It has 1.5 of it. And more."), "It has 1.5 of it.");
        assert_eq!(first_sentence("All of it"), "All of it");
    }
}
