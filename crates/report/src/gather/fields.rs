//! Tables from things: each column beside what is read from a thing for it.

use tare_analysis::estimate::Estimate;

use crate::document::{Column, Table, Unit, Value};

/// A column, and its value of a thing.
pub(crate) struct Field<'a, T>(Column, Box<dyn Fn(&T) -> Value + 'a>);

/// A column, and its value of a thing.
pub(crate) fn field<'a, T, V: Into<Value>>(column: Column, value: impl Fn(&T) -> V + 'a) -> Field<'a, T> {
    Field(column, Box::new(move |thing| value(thing).into()))
}

/// Three columns: a figure, and both ends of its interval.
pub(crate) fn between<'a, T>(
    column: Column,
    value: impl Fn(&T) -> Option<Estimate> + Clone + 'a,
) -> [Field<'a, T>; 3] {
    let (low, high) = (format!("{}_low", column.key), format!("{}_high", column.key));
    let end =
        |key: &str, what: &str| Column::new(key, &format!("{} {what}", column.title), column.unit).hidden();
    let ends = [end(&low, "from"), end(&high, "to")];
    let [of_low, of_high] = [value.clone(), value.clone()];
    let [low_column, high_column] = ends;
    [
        field(column.interval(&low, &high), move |thing| value(thing).map(|found| found.value)),
        field(low_column, move |thing| of_low(thing).and_then(|found| found.low)),
        field(high_column, move |thing| of_high(thing).and_then(|found| found.high)),
    ]
}

/// A table with a row for each thing.
pub(crate) fn table<T>(caption: &str, fields: Vec<Field<T>>, things: impl IntoIterator<Item = T>) -> Table {
    let row = |thing: T| fields.iter().map(|Field(_, value)| value(&thing)).collect();
    let rows = things.into_iter().map(row).collect();
    Table {
        caption: caption.to_owned(),
        rows,
        columns: fields.into_iter().map(|Field(column, _)| column).collect(),
    }
}

/// Of these columns, those in which nothing is known stand in the data only: all tables of a kind have the same columns,
/// whatever a run kept, and a reader sees none that is empty.
pub(crate) fn spare(mut table: Table, keys: &[&str]) -> Table {
    for key in keys {
        let is_empty = table.values(key).all(|value| *value == Value::None);
        if let Some(place) = table.place(key) {
            table.columns[place].hidden |= is_empty;
        }
    }
    table
}

/// Six significant digits: more than a single slice knows, and half as long to write.
pub(crate) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// `from 4.2% (flask) to 102.1% (asio)`, of a single one `102.1% (asio)`, of equal ones `600 ms (all alike)`; absent if there
/// is none.
pub(crate) fn span<'a>(unit: Unit, figures: impl IntoIterator<Item = (&'a str, f64)>) -> Option<String> {
    let mut figures: Vec<(&str, f64)> = figures.into_iter().collect();
    figures.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let text = |(label, figure): &(&str, f64)| format!("{} ({label})", unit.show(*figure));
    match figures.as_slice() {
        [] => None,
        [only] => Some(text(only)),
        [(_, least), .., (_, most)] if unit.show(*least) == unit.show(*most) => {
            Some(format!("{} (all alike)", unit.show(*most)))
        }
        [least, .., most] => Some(format!("from {} to {}", text(least), text(most))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_from_the_least_to_the_most() {
        let of = |figures: &[(&str, f64)]| span(Unit::Share, figures.iter().copied());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("a", 1.0)]).as_deref(), Some("100.0% (a)"));
        assert_eq!(of(&[("a", 0.5), ("b", 0.5), ("c", 0.50001)]).as_deref(), Some("50.0% (all alike)"));
        assert_eq!(of(&[("b", 1.2), ("a", 0.5)]).as_deref(), Some("from 50.0% (a) to 120.0% (b)"));
    }

    #[test]
    fn six_digits_are_kept() {
        assert_eq!([183_422.77, 0.001_234_567_8, 0.0].map(six_digits), [183_423.0, 0.001_234_57, 0.0]);
    }

    #[test]
    fn only_columns_that_hold_nothing_are_spared() {
        let fields = vec![
            field(Column::new("a", "a", Unit::Count), |_: &u64| None::<u64>),
            field(Column::new("b", "b", Unit::Count), |number: &u64| *number),
            field(Column::new("c", "c", Unit::Count), |_: &u64| None::<u64>),
        ];
        let table = spare(table("Numbers", fields, [1_u64, 2]), &["a", "b"]);
        let hidden: Vec<bool> = table.columns.iter().map(|column| column.hidden).collect();
        assert_eq!(hidden, [true, false, false]);
    }
}
