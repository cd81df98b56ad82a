//! The Go benchmark format, which `benchstat` reads: a line per block of each service, so that benchstat has
//! samples for its own statistics. Its `op` is a request.

use std::fmt::Write;

use tare_stats::Better;

use crate::exports::{BlockLevels, ExportSubject, Exported, ExportedMeasure};

/// The samples of all subjects; those without blocks are left out.
#[must_use]
pub fn go_bench(exported: &Exported) -> String {
    let mut text = head(exported);
    for subject in &exported.subjects {
        let name = name(subject);
        text.extend(subject.blocks.values().map(|block| line(&name, block)));
    }
    text
}

/// The configuration, and the direction of each unit. By default benchstat assumes that smaller is better,
/// except for `.../s`.
fn head(exported: &Exported) -> String {
    let config = [
        ("goos", std::env::consts::OS),
        ("goarch", go_arch()),
        ("cpu", &exported.cpu),
        ("tare-run", &exported.run),
        ("tare-commit", exported.commit.as_deref().unwrap_or_default()),
    ];
    let mut text = String::new();
    for (key, value) in config.iter().filter(|(_, value)| !value.trim().is_empty()) {
        writeln!(text, "{key}: {}", one_line(value)).expect("memory takes all");
    }
    for measure in crate::exports::MEASURES {
        let Some(unit) = measure.go_unit else { continue };
        writeln!(text, "Unit {unit} better={}", direction(measure)).expect("memory takes all");
    }
    text
}

/// Go's name of the architecture.
fn go_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn direction(measure: &ExportedMeasure) -> &'static str {
    match measure.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    }
}

/// The name ends with the number of threads. Without it, benchstat would strip a number at the end of a name.
fn name(subject: &ExportSubject) -> String {
    let load = subject.load.iter().map(|load| format!("/load={}", word(load)));
    let name =
        format!("BenchmarkTare/contract={}/service={}", word(&subject.contract), word(&subject.service));
    load.fold(name, |name, load| name + &load) + &format!("-{}", subject.threads.max(1))
}

fn line(name: &str, block: &BlockLevels) -> String {
    let values = block.values.iter().filter_map(|(measure, value)| Some((measure.go_unit?, value)));
    let values: String = values.map(|(unit, value)| format!("\t{value} {unit}")).collect();
    format!("{name}\t{}{values}\n", block.answers)
}

/// Escapes a part of a name: white space and `/` would end it. The escape character is escaped too, so that
/// names stay distinct.
fn word(text: &str) -> String {
    let is_plain = |c: char| !(c.is_whitespace() || c.is_control() || c == '/' || c == '%');
    let mut word = String::new();
    for c in text.chars() {
        match is_plain(c) {
            true => word.push(c),
            false => write!(word, "%{:02X}", u32::from(c)).expect("memory takes all"),
        }
    }
    word
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::exports::fixture::{bad, exported, hostile};

    #[test]
    fn a_line_for_each_block() {
        let text = go_bench(&exported());
        let (head, lines): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| !line.starts_with("Benchmark"));
        let first_of_each = lines.iter().step_by(8).copied();
        assert_eq!(lines.len(), 4 * 8, "four services in eight blocks");
        let shown = head.into_iter().filter(|line| !line.starts_with("goarch")).chain(first_of_each);
        insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn a_line_is_a_name_a_count_and_pairs() {
        for exported in [exported(), hostile(), bad()] {
            let text = go_bench(&exported);
            for line in text.lines().filter(|line| line.starts_with("Benchmark")) {
                let fields: Vec<&str> = line.split_whitespace().collect();
                assert!(fields.len() >= 4 && fields.len().is_multiple_of(2), "{line}");
                assert!(fields[1].parse::<u64>().unwrap() > 0, "{line}");
                for pair in fields[2..].chunks(2) {
                    assert!(pair[0].parse::<f64>().unwrap().is_finite(), "{line}");
                    assert!(pair[1].parse::<f64>().is_err(), "{line}");
                }
            }
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }

    #[test]
    fn names_stay_apart_and_in_one_word() {
        assert_eq!(word("./shop node"), ".%2Fshop%20node");
        assert_eq!(word("a%2Fb"), "a%252Fb");
        let subject = ExportSubject { service: "net-8".to_owned(), ..exported().subjects.remove(0) };
        assert!(name(&subject).ends_with("/service=net-8-1"), "{}", name(&subject));
    }
}
