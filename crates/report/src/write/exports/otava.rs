//! CSV for Apache Otava, which finds change points: a row per run, a column for each measure of each service.
//!
//! Otava parses every cell of a configured column as a number, and aborts if that fails. So a column is
//! written only if every run has its value.

use std::collections::{BTreeMap, BTreeSet};

use csv::{Terminator, WriterBuilder};

use crate::exports::Exported;

/// The table, and the measures that are not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtavaTable {
    pub csv: String,
    /// Columns for which some run has no value.
    pub left_out: Vec<String>,
}

/// One row per run, in order of time.
#[must_use]
pub fn otava(runs: &[Exported]) -> OtavaTable {
    let mut runs: Vec<(&Exported, BTreeMap<String, f64>)> =
        runs.iter().map(|run| (run, values(run))).collect();
    runs.sort_by(|(one, _), (other, _)| (&one.began, &one.run).cmp(&(&other.began, &other.run)));
    let (columns, left_out): (Vec<String>, Vec<String>) = columns(runs.iter().map(|(run, _)| *run))
        .into_iter()
        .partition(|column| runs.iter().all(|(_, values)| values.contains_key(column)));
    let mut writer = WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::new());
    let mut write = |line: Vec<String>| writer.write_record(line).expect("memory takes all");
    write(["time", "run", "commit"].map(str::to_owned).into_iter().chain(columns.iter().cloned()).collect());
    for (run, values) in &runs {
        let attributes = [run.began.clone(), run.run.clone(), run.commit.clone().unwrap_or_default()];
        write(
            attributes.into_iter().chain(columns.iter().map(|column| values[column].to_string())).collect(),
        );
    }
    let csv = String::from_utf8(writer.into_inner().expect("memory takes all")).expect("all of it is text");
    OtavaTable { csv, left_out }
}

/// The values by column, such as `axum hello.cpu_per_request_ns`.
fn values(run: &Exported) -> BTreeMap<String, f64> {
    named(run).collect()
}

fn named(run: &Exported) -> impl Iterator<Item = (String, f64)> {
    run.subjects.iter().flat_map(|subject| {
        subject.levels.iter().map(|level| (column(&subject.name(), level.measure), level.estimate.value))
    })
}

fn column(subject: &str, measure: &crate::exports::ExportedMeasure) -> String {
    let name = measure.name.replace('-', "_");
    let unit = match measure.quantity.unit() {
        "requests/s" => "_per_second".to_owned(),
        unit if name.ends_with(unit) => String::new(),
        unit => format!("_{unit}"),
    };
    format!("{subject}.{name}{unit}")
}

fn columns<'a>(runs: impl Iterator<Item = &'a Exported>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = runs.flat_map(named).map(|(column, _)| column);
    all.filter(|column| seen.insert(column.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::exports::fixture::{bad, exported, hostile};

    fn lines(csv: &str) -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_bytes());
        reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn a_row_for_each_run_in_the_order_of_time() {
        let later = Exported {
            began: "2026-01-03T00:00:00Z".to_owned(),
            run: "later".to_owned(),
            commit: Some("c0ffee".to_owned()),
            ..exported()
        };
        let history = otava(&[later, exported()]);
        assert_eq!(history.left_out, [] as [&str; 0]);
        let lines = lines(&history.csv);
        assert_eq!((lines.len(), lines[1][1].as_str(), lines[2][1].as_str()), (3, "sample", "later"));
        assert_eq!(lines[2][2], "c0ffee");
        let head_and_first: Vec<&str> = history.csv.lines().take(2).collect();
        insta::assert_snapshot!(head_and_first.join("\n").replace(',', ",\n"));
    }

    #[test]
    fn a_column_that_some_run_lacks_is_left_out_and_named() {
        let mut other = exported();
        other.subjects[0].levels.retain(|level| level.measure.name != "throughput");
        let history = otava(&[exported(), other]);
        assert_eq!(history.left_out, ["raw-socket hello.throughput_per_second"]);
        assert!(!lines(&history.csv)[0].contains(&history.left_out[0]));
    }

    #[test]
    fn each_cell_of_a_measure_is_a_number() {
        for exported in [exported(), hostile(), bad()] {
            let lines = lines(&otava(&[exported]).csv);
            assert_eq!(lines[0].len(), lines[1].len());
            assert!(lines[1][3..].iter().all(|cell| cell.parse::<f64>().unwrap().is_finite()), "{lines:?}");
        }
    }
}
