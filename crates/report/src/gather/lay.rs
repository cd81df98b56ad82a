//! What all kinds of documents lay their tables and sentences out with, above [`super::fields`].

use tare_analysis::{
    findings::{Finding, RunIssue},
    report::State,
    verdict::Question,
};

use super::fields::spare;
use crate::document::{Column, Table, Tone, Unit, Value};

/// A column of numbers.
pub(crate) fn column(key: &str, title: &str, unit: Unit) -> Column {
    Column::new(key, title, unit)
}

/// A column of text.
pub(crate) fn text(key: &str, title: &str) -> Column {
    Column::new(key, title, Unit::Text)
}

/// A column in which nothing is known stands in the data only, so that tables of one kind have the same columns.
pub(crate) fn quiet(table: Table) -> Table {
    let keys: Vec<String> = table.columns.iter().map(|column| column.key.clone()).collect();
    spare(table, &keys.iter().map(String::as_str).collect::<Vec<&str>>())
}

/// What a reader must know of a run. What cannot be read of its folder has a place of its own.
pub(crate) fn notes(findings: &[Finding]) -> Vec<String> {
    let is_damage = |found: &&Finding| matches!(found.run_issue(), Some(RunIssue::Damaged { .. }));
    findings.iter().filter(|found| !is_damage(found)).map(Finding::scoped).collect()
}

/// How a row stands. That it was measured is what a reader expects, and has no colour.
pub(crate) fn state(of: &State) -> Value {
    match of {
        State::Measured => Value::Word(of.word(), Tone::Plain),
        _ => Value::of_verdict(of.verdict(), Question::Row),
    }
}

/// As a sentence begins.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_begins_with_a_capital() {
        assert_eq!(
            ["of two", "\u{e9}t\u{e9}", "", "2 of"].map(capital),
            ["Of two", "\u{c9}t\u{e9}", "", "2 of"]
        );
    }

    #[test]
    fn an_empty_column_stands_in_the_data_only() {
        let columns = ["a", "b"].map(|key| text(key, key)).into();
        let rows = vec![vec!["x".into(), Value::None], vec![Value::None, Value::None]];
        let shown = quiet(Table { rows, ..Table::new("Letters", columns) });
        assert_eq!([shown.columns[0].hidden, shown.columns[1].hidden], [false, true]);
    }
}
