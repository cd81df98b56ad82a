//! Builds tables from objects: each column is declared once, with the function that reads its value.

use tare_analysis::{
    estimate::UnitEstimate,
    interleaved::RatioBound,
    verdict::{Question, Verdict},
};

use tare_service::catalogue::language_name;

use crate::document::{Column, LAST, Table, Tone, Unit, Value};

const LANGUAGE: &str = "language";

/// A column, and its value for an object.
type Field<'a, T> = (Column, Box<dyn Fn(&T) -> Value + 'a>);

/// The columns of a table with a row per `T`. [`Columns::help`] and its like apply to the column before.
#[allow(missing_debug_implementations, reason = "it has closures")]
pub struct Columns<'a, T> {
    fields: Vec<Field<'a, T>>,
    /// The index of the last declared column; the bounds of its interval may follow it.
    last: usize,
}

impl<'a, T> Columns<'a, T> {
    #[allow(clippy::new_without_default, reason = "no columns are no useful value")]
    pub fn new() -> Self {
        Columns { fields: Vec::new(), last: 0 }
    }

    pub fn add<V: Into<Value>>(
        mut self,
        unit: Unit,
        key: &str,
        title: &str,
        value: impl Fn(&T) -> V + 'a,
    ) -> Self {
        self.last = self.fields.len();
        self.fields.push((Column::new(key, title, unit), Box::new(move |thing| value(thing).into())));
        self
    }

    pub fn text<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.add(Unit::Text, key, title, value)
    }

    /// A text column by which rows can be filtered.
    pub fn facet<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.text(key, title, value).with(Column::facet)
    }

    /// The language of a row: people read its name, and filter by its key.
    pub fn language<V: Into<Value>>(self, value: impl Fn(&T) -> V + 'a) -> Self {
        self.facet(LANGUAGE, "language", value)
    }

    pub fn flag<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.add(Unit::Flag, key, title, value)
    }

    pub fn count<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.add(Unit::Count, key, title, value)
    }

    pub fn number<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.add(Unit::Number, key, title, value)
    }

    pub fn rate<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.add(Unit::PerSecond, key, title, value)
    }

    pub fn ns<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.add(Unit::Nanoseconds, key, title, value)
    }

    pub fn bytes<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.add(Unit::Bytes, key, title, value)
    }

    pub fn share<V: Into<Value>>(self, key: &str, title: &str, value: impl Fn(&T) -> V + 'a) -> Self {
        self.add(Unit::Share, key, title, value)
    }

    /// A figure with both bounds of its interval, which are in the data only.
    pub fn estimate(
        self,
        unit: Unit,
        key: &str,
        title: &str,
        value: impl Fn(&T) -> Option<UnitEstimate> + Clone + 'a,
    ) -> Self {
        self.shown(unit, key, title, value, |_, value| value.into())
    }

    /// The same for a figure that may be an inequality; the data also contain its kind.
    pub fn bounded(
        self,
        unit: Unit,
        key: &str,
        title: &str,
        value: impl Fn(&T) -> Option<UnitEstimate> + Clone + 'a,
        bound: impl Fn(&T) -> RatioBound + Clone + 'a,
    ) -> Self {
        let of = bound.clone();
        let columns =
            self.shown(unit, key, title, value, move |thing, value| Value::bounded(value, of(thing)));
        let place = columns.last;
        let name = |bound: RatioBound| (bound != RatioBound::Exact).then(|| <&str>::from(bound));
        let columns = columns
            .text(&format!("{key}_bound"), &format!("{title} is"), move |thing| name(bound(thing)))
            .hidden();
        Columns { last: place, ..columns }
    }

    fn shown(
        self,
        unit: Unit,
        key: &str,
        title: &str,
        value: impl Fn(&T) -> Option<UnitEstimate> + Clone + 'a,
        shown: impl Fn(&T, f64) -> Value + 'a,
    ) -> Self {
        let place = self.fields.len();
        let (low, high) = (format!("{key}_low"), format!("{key}_high"));
        let [of_low, of_high] = [value.clone(), value.clone()];
        let figure = move |thing: &T| {
            let found = value(thing).map(|found| found.value).filter(|value| value.is_finite());
            found.map_or(Value::None, |value| shown(thing, value))
        };
        let columns = self
            .add(unit, key, title, figure)
            .with(|column| column.interval(&low, &high))
            .add(unit, &low, &format!("{title} from"), move |thing| of_low(thing)?.low)
            .hidden()
            .add(unit, &high, &format!("{title} to"), move |thing| of_high(thing)?.high)
            .hidden();
        Columns { last: place, ..columns }
    }

    /// Changes the last declared column.
    pub fn with(mut self, change: impl FnOnce(Column) -> Column) -> Self {
        if let Some((column, _)) = self.fields.get_mut(self.last) {
            *column = change(column.clone());
        }
        self
    }

    pub fn with_column(mut self, key: &str, change: impl FnOnce(Column) -> Column) -> Self {
        if let Some((column, _)) = self.fields.iter_mut().find(|(column, _)| column.key == key) {
            *column = change(column.clone());
        }
        self
    }

    pub fn help(self, help: &str) -> Self {
        self.with(|column| column.help(help))
    }

    pub fn priority(self, priority: u8) -> Self {
        self.with(|column| column.priority(priority))
    }

    pub fn hidden(self) -> Self {
        self.with(Column::hidden)
    }

    /// Later modifiers apply to the first column.
    pub fn of_first(self) -> Self {
        Columns { last: 0, ..self }
    }

    /// Hides all columns, so that they are in the data only.
    pub fn all_hidden(mut self) -> Self {
        self.fields.iter_mut().for_each(|(column, _)| column.hidden = true);
        self
    }

    pub fn and(mut self, more: Self) -> Self {
        self.last = self.fields.len() + more.last;
        self.fields.extend(more.fields);
        self
    }

    /// Makes a row per object. A column without any value is hidden: all tables of a kind have the same
    /// columns, but a reader sees no empty one.
    pub fn table(self, caption: &str, things: impl IntoIterator<Item = T>) -> Table {
        let row = |thing: T| self.fields.iter().map(|(_, value)| value(&thing)).collect();
        let rows = things.into_iter().map(row).collect();
        let columns = self.fields.into_iter().map(|(column, _)| column).collect();
        let mut table = Table { caption: caption.to_owned(), columns, rows };
        for place in 0..table.columns.len() {
            table.columns[place].hidden |= table.is_unknown(place);
        }
        table.rename(LANGUAGE, |key| language_name(key).to_owned());
        table
    }
}

/// The state of a row. Measured is the normal state, and has no colour.
pub fn state(of: Verdict) -> Value {
    match of {
        Verdict::Pass => Value::Word(of.word(Question::Row), Tone::Plain),
        _ => Value::of_verdict(of, Question::Row),
    }
}

/// Rounds to six significant digits: more than a single slice determines, and half as long to write.
pub fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Rounds nanoseconds to tenths.
pub fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

/// Rounds to four digits: one more than is shown of a ratio.
pub fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// A column with this priority, whose interval is shown beside it if there is room.
pub(crate) fn beside(column: Column, priority: u8) -> Column {
    column.priority(priority).interval_priority(LAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_kept() {
        assert_eq!([183_422.77, 0.001_234_567_8, 0.0].map(six_digits), [183_423.0, 0.001_234_57, 0.0]);
    }

    #[test]
    fn a_column_without_any_value_stands_in_the_data_only() {
        let columns = Columns::new()
            .count("a", "a", |_: &u64| None::<u64>)
            .count("b", "b", |number| *number)
            .text("c", "c", |number| (*number == 1).then_some("one"));
        let table = columns.table("Numbers", [1, 2]);
        let hidden: Vec<bool> = table.columns.iter().map(|column| column.hidden).collect();
        assert_eq!(hidden, [true, false, false]);
    }

    #[test]
    fn the_data_have_the_key_of_a_language_and_people_read_its_name() {
        let columns = Columns::new().language(|key: &&str| *key);
        let table = columns.table("Languages", ["cpp", "rust", "zig"]);
        assert_eq!(table.rows[0], ["cpp".into()]);
        let column = &table.columns[0];
        let shown: Vec<String> = table.rows.iter().map(|row| column.show(&row[0])).collect();
        assert_eq!(shown, ["C++", "Rust", "zig"]);
        assert_eq!(column.names.len(), 2, "only what has another name: {:?}", column.names);
    }

    #[test]
    fn what_is_said_behind_an_estimate_is_said_of_its_value() {
        let ends = |value: &f64| Some(UnitEstimate { low: Some(value - 1.0), ..UnitEstimate::known(*value) });
        let columns = Columns::new().estimate(Unit::Share, "ratio", "of reference", ends).help("a help");
        let table = Columns::new().text("label", "service", |_| "a").and(columns).table("Ratios", [2.0]);
        let [_, ratio, low, high] = table.columns.as_slice() else { panic!("{table:?}") };
        assert_eq!([ratio, low, high].map(|column| column.help.as_str()), ["a help", "", ""]);
        assert_eq!(ratio.interval.as_ref(), Some(&[low.key.clone(), high.key.clone()]));
        assert_eq!(table.rows, [["a".into(), 2.0.into(), 1.0.into(), Value::None]]);
    }
}
