//! OpenMetrics text, for Prometheus and compatible readers: a gauge per measure, in seconds and bytes. The
//! label `stat` distinguishes the estimate from the bounds of its interval. There are no timestamps, because
//! collectors of text files reject them.

use std::fmt::Write;

use jiff::Timestamp;

use crate::exports::{ExportSubject, Exported, ExportedMeasure, Level, MEASURES};

/// The text of all subjects, which ends with `# EOF`.
#[must_use]
pub fn openmetrics(exported: &Exported) -> String {
    let mut text: String = MEASURES.iter().map(|measure| family(exported, measure)).collect();
    if let Ok(began) = exported.began.parse::<Timestamp>() {
        text += &head("tare_run_began_timestamp_seconds", "seconds", "When the run began, in Unix time.");
        let title = label("title", &exported.title);
        writeln!(text, "tare_run_began_timestamp_seconds{{{title}}} {}", began.as_second())
            .expect("memory takes all");
    }
    text + "# EOF\n"
}

/// The metric family of a measure; empty if no subject has it.
fn family(exported: &Exported, measure: &ExportedMeasure) -> String {
    let levels = exported.subjects.iter().flat_map(|subject| {
        let levels = subject.levels.iter().filter(|level| level.measure == measure);
        levels.map(move |level| samples(subject, level))
    });
    let levels: String = levels.collect();
    if levels.is_empty() {
        return levels;
    }
    let (unit, _) = measure.quantity.in_base_unit(0.0);
    head(&name(measure), unit, measure.help) + &levels
}

fn head(name: &str, unit: &str, help: &str) -> String {
    format!("# TYPE {name} gauge\n# UNIT {name} {unit}\n# HELP {name} {}\n", escaped(help))
}

/// The metric's name, which ends with its unit.
fn name(measure: &ExportedMeasure) -> String {
    let (unit, _) = measure.quantity.in_base_unit(0.0);
    let name = format!("tare_{}", measure.name.replace('-', "_"));
    if name.ends_with(&format!("_{unit}")) { name } else { format!("{name}_{unit}") }
}

fn samples(subject: &ExportSubject, level: &Level) -> String {
    let name = name(level.measure);
    let labels = labels(subject);
    let estimate = level.estimate;
    let stats = [("estimate", Some(estimate.value)), ("lower", estimate.low), ("upper", estimate.high)];
    let known = stats.into_iter().filter_map(|(stat, value)| Some((stat, value?)));
    let sample = |(stat, value): (&str, f64)| {
        let (_, value) = level.measure.quantity.in_base_unit(value);
        format!("{name}{{{labels},stat=\"{stat}\"}} {value:e}\n")
    };
    known.map(sample).collect()
}

fn labels(subject: &ExportSubject) -> String {
    let own = [
        ("service", Some(&subject.service)),
        ("contract", Some(&subject.contract)),
        ("load", subject.load.as_ref()),
    ];
    let known = own.into_iter().filter_map(|(key, value)| Some(label(key, value?)));
    known.collect::<Vec<_>>().join(",")
}

fn label(key: &str, value: &str) -> String {
    format!("{key}=\"{}\"", escaped(value))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::exports::fixture::{bad, exported, hostile};

    #[test]
    fn a_gauge_for_each_measure() {
        insta::assert_snapshot!(openmetrics(&exported()));
    }

    #[test]
    fn a_name_ends_with_its_base_unit() {
        for measure in MEASURES {
            let name = name(measure);
            assert!(
                ["_seconds", "_bytes", "_requests_per_second", "_ratio"]
                    .iter()
                    .any(|unit| name.ends_with(unit))
            );
            assert!(!name.contains("ratio_ratio"), "{name}");
        }
    }

    #[test]
    fn it_ends_with_eof_and_has_no_value_that_is_none() {
        for exported in [exported(), hostile(), bad()] {
            let text = openmetrics(&exported);
            assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1);
            assert!(!text.contains("NaN") && !text.to_lowercase().contains(" inf"), "{text}");
            let samples = text.lines().filter(|line| !line.starts_with('#'));
            assert!(
                samples.into_iter().all(|line| line.rsplit(' ').next().unwrap().parse::<f64>().is_ok()),
                "{text}"
            );
        }
    }
}
