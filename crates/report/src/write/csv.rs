//! CSV: RFC 4180, UTF-8, a file per table and one that describes the columns. Numbers are raw and in base
//! units, nothing is rounded, and an unknown value is an empty field.
//!
//! A spreadsheet interprets a cell that begins with `=`, `+`, `-` or `@` as a formula, and any author of a
//! service chooses names (OWASP: "CSV Injection"). So a text with such a beginning, even after white space,
//! gets a leading apostrophe, which a spreadsheet reads as "text". Numbers are not changed. Programs that
//! need the exact names should read Parquet or JSON.

use csv::{Terminator, WriterBuilder};

use super::{Document, File, Table, tables};
use crate::document::{Column, Value};

/// The file that describes the columns of the others.
pub const COLUMNS: &str = "columns.csv";

/// A file per table, and [`COLUMNS`].
#[must_use]
pub fn csv(document: &Document) -> Vec<File> {
    let file = |name: String, bytes| File { name, bytes };
    let columns = file(COLUMNS.to_owned(), columns(document));
    let tables =
        tables(document).map(|(section, table)| file(format!("{}.csv", section.id), of_table(table)));
    [columns].into_iter().chain(tables).collect()
}

/// One table; its header has the keys of the columns.
#[must_use]
pub fn of_table(table: &Table) -> Vec<u8> {
    let head = table.columns.iter().map(|column| text(&column.key)).collect();
    written(head, table.rows.iter().map(|row| row.iter().map(field).collect()))
}

/// The meaning of the columns of all tables.
fn columns(document: &Document) -> Vec<u8> {
    let head = ["table", "column", "title", "unit", "low", "high", "help"].map(str::to_owned).to_vec();
    let columns = tables(document)
        .flat_map(|(section, table)| table.columns.iter().map(move |column| (&section.id, column)));
    let line = |(id, column): (&String, &Column)| {
        let [low, high] = column.interval.clone().unwrap_or_default();
        [id, &column.key, &column.title, column.unit.name(), &low, &high, &column.help].map(text).to_vec()
    };
    written(head, columns.map(line))
}

fn written(head: Vec<String>, lines: impl Iterator<Item = Vec<String>>) -> Vec<u8> {
    let mut writer = WriterBuilder::new().flexible(true).terminator(Terminator::CRLF).from_writer(Vec::new());
    for line in std::iter::once(head).chain(lines) {
        writer.write_record(line).expect("memory takes all");
    }
    writer.into_inner().expect("memory takes all")
}

fn field(value: &Value) -> String {
    value.text().map_or_else(|| value.raw(), text)
}

/// Protects text from being read as a formula. Some spreadsheets accept full-width signs.
fn text(of: &str) -> String {
    const SIGNS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    let hidden = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    let is_formula = of.starts_with(['\t', '\r', '\n']) || of.trim_start_matches(hidden).starts_with(SIGNS);
    if is_formula { format!("'{of}") } else { of.to_owned() }
}

#[cfg(test)]
mod tests {
    use csv::ReaderBuilder;
    use proptest::prelude::*;

    use super::*;
    use crate::write::fixture::{self, hostile, interleaved};

    fn read(bytes: &[u8]) -> Vec<Vec<String>> {
        let mut reader = ReaderBuilder::new().has_headers(false).from_reader(bytes);
        reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
    }

    #[test]
    fn a_file_for_each_table_and_one_for_the_columns() {
        let files = csv(&interleaved());
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["columns.csv", "ranks.csv", "slices.csv"]);
        let text = |file: &File| String::from_utf8(file.bytes.clone()).unwrap();
        assert!(text(&files[1]).lines().count() == 4 && text(&files[1]).ends_with("\r\n"));
        insta::assert_snapshot!(files[..2].iter().map(text).collect::<Vec<_>>().join("\n").replace('\r', ""));
    }

    #[test]
    fn names_are_no_formulas_and_numbers_stay_numbers() {
        for formula in
            ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u{feff}＝1", "\n"]
        {
            assert!(text(formula).starts_with('\''), "{formula:?}");
        }
        for name in ["hyper", "a=b", "1-2", "", "עברית"] {
            assert_eq!(text(name), name);
        }
        assert_eq!(field(&Value::Number(-0.25)), "-0.25");
        let lines = read(&of_table(hostile().sections[0].table.as_ref().unwrap()));
        assert_eq!(lines[2][0], "'=cmd|' /C calc'!A0");
        assert_eq!(lines[3][0], "a|b\nc");
        assert!(lines[2..].iter().all(|line| line.len() == 12));
    }

    proptest! {
        #[test]
        fn every_value_reads_back(table in fixture::table()) {
            let lines = read(&of_table(&table));
            // A reader may only skip a record that consists of one empty field, and tables have more columns.
            prop_assert_eq!(lines.len(), table.rows.len() + 1);
            for (line, row) in lines[1..].iter().zip(&table.rows) {
                for (field, value) in line.iter().zip(row) {
                    match value {
                        Value::None | Value::Never => prop_assert_eq!(field, ""),
                        Value::Text(of) => prop_assert_eq!(field, &text(of)),
                        Value::Sentences(of) => prop_assert_eq!(field, &text(of.text())),
                        Value::Word(word, _) => prop_assert_eq!(field, &text(word)),
                        Value::Number(number) | Value::Bounded(number, _) | Value::Ranked(number, _) => {
                            prop_assert_eq!(field.parse::<f64>().unwrap(), *number);
                        }
                        Value::Flag(flag) => prop_assert_eq!(field.parse::<bool>().unwrap(), *flag),
                    }
                }
            }
        }

        #[test]
        fn no_text_begins_like_a_formula(name in fixture::text()) {
            let written = text(&name);
            prop_assert!(!written.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝']), "{written:?}");
            prop_assert_eq!(written.strip_prefix('\'').unwrap_or(&written), name.strip_prefix('\'').unwrap_or(&name));
        }
    }
}
